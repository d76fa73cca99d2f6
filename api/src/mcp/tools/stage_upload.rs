//! Creates an address for uploads that do not pass through the model. The address is a credential and must
//! never be logged.

use serde_json::Value;

use super::NoArguments;
use crate::http::refusal::RefusedCall;
use crate::mcp::arguments;
use crate::mcp::endpoint::McpExchange;
use crate::mcp::tool::{Effect, Tool};
use crate::wire;

pub struct StageUpload;

impl Tool for StageUpload {
    const NAME: &'static str = "stage_upload";
    const TITLE: &'static str = "Get a URL to upload files to";
    const DESCRIPTION: &'static str = "\
Get a short-lived URL to upload files to directly from disk, so that their bytes do not pass through \
you. Use it when you can run a shell command and the files are large, many or binary (images, fonts, \
video). For a short page, send the content with publish_artifact.

Returns {upload, url, curl, expires_at, hint}. Run the curl command in the folder of the files, with one \
-F 'files=@LOCAL;filename=PATH' for each file, where PATH is its path within the site (index.html, \
css/app.css). The URL needs no token, accepts one upload and expires after 15 minutes. At most 50 \
files and 10 MB. Nothing is published yet and nothing is charged. The newest 5 uploads of an account are \
kept. Next: call publish_upload with this upload within the hour. If that call is refused, the same \
upload can be published again. Needs the scope artifacts:write.";
    const EFFECT: Effect = Effect::Adds;

    type Arguments = NoArguments;
    type Output = wire::StagedUpload;

    fn schema() -> Value {
        arguments::none()
    }

    async fn run(exchange: &McpExchange, _arguments: NoArguments) -> Result<Self::Output, RefusedCall> {
        Ok(exchange.service.stage_upload(&exchange.caller).await?.into())
    }
}
