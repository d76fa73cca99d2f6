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
Get a URL to upload files to from a shell, so that their bytes do not pass through you. Use it for \
large, many or binary files. Returns {upload, url, curl, expires_at, hint}. Run the curl command with \
one -F 'files=@LOCAL;filename=PATH' for each file. The URL accepts one upload, at most 50 files and 10 \
MB, for 15 minutes. Then call publish_upload within the hour. The newest 5 uploads of an account are \
kept. Nothing is charged. Needs the scope artifacts:write.";
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
