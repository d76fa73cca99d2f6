//! Listing what the account has published.

use serde_json::Value;

use super::NoArguments;
use crate::mcp::arguments;
use crate::mcp::endpoint::Visit;
use crate::mcp::tool::{Effect, Tool};
use crate::refusal::RefusedCall;
use crate::wire;

pub struct ListArtifacts;

impl Tool for ListArtifacts {
    const NAME: &'static str = "list_artifacts";
    const TITLE: &'static str = "List the published pages";
    const DESCRIPTION: &'static str = "\
List every page and site that your account has published and not deleted. Use it to find the slug or the URL of \
something, or to see what is there before you publish under a slug.

Returns an array with, for each: slug (its name in all other calls), url (where it is served), visibility (public, \
unlisted or private), moderation_status (pending, pass, review or blocked; blocked pages are not served) and version \
(the live one's number, null if none is live). Free. Next: get_artifact for the versions of one.";
    const EFFECT: Effect = Effect::Reads;

    type Arguments = NoArguments;
    type Answer = Vec<wire::Artifact>;

    fn schema() -> Value {
        arguments::none()
    }

    async fn run(visit: &Visit, _arguments: NoArguments) -> Result<Self::Answer, RefusedCall> {
        let artifacts = visit.service.artifacts(&visit.caller).await?;
        let addresses = visit.service.addresses();
        Ok(artifacts.iter().map(|artifact| wire::Artifact::new(artifact, addresses)).collect())
    }
}
