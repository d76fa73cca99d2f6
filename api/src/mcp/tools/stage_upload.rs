//! Giving an address at which files can be put without passing through the model. The address is a credential: it must
//! never reach a log.

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
    const TITLE: &'static str = "Get an address to upload files to";
    const DESCRIPTION: &'static str = "\
Get a short-lived address to which files are uploaded directly from disk, so that their bytes do not pass through you. \
Use it when you can run a shell command and the files are large, many or binary (images, fonts, video). For a short \
page, send the content with publish_artifact.

Returns {upload, url, curl, expires_at, hint}. Run the curl line from the folder of the files, with one \
-F 'files=@LOCAL;filename=PATH' for each file, PATH being its path within the site (index.html, css/app.css). The \
address needs no token, takes one upload, and lasts 15 minutes; at most 50 files and 10 MB. Nothing is published yet, \
and nothing is charged. The newest 5 uploads of an account are kept. Next: publish_upload with this upload, within the \
hour. If that call is refused, the same upload can be published again. Needs the scope artifacts:write.";
    const EFFECT: Effect = Effect::Adds;

    type Arguments = NoArguments;
    type Answer = wire::StagedUpload;

    fn schema() -> Value {
        arguments::none()
    }

    async fn run(visit: &McpExchange, _arguments: NoArguments) -> Result<Self::Answer, RefusedCall> {
        Ok(visit.service.stage_upload(&visit.caller).await?.into())
    }
}
