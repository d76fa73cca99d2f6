//! The tools, one a file; [`publication`] is what the two publishing tools share. Where a tool and an endpoint do the
//! same, they return the same wire type.

mod add_credits;
mod create_claim_link;
mod create_invite;
mod delete_artifact;
mod get_account;
mod get_artifact;
mod list_artifacts;
mod publication;
mod publish_artifact;
mod publish_upload;
mod rollback_artifact;
mod stage_upload;

use super::tool::Listed;

/// Every tool, in the order in which a model reads of them.
pub const ALL: &[Listed] = &[
    Listed::of::<publish_artifact::PublishArtifact>(),
    Listed::of::<stage_upload::StageUpload>(),
    Listed::of::<publish_upload::PublishUpload>(),
    Listed::of::<list_artifacts::ListArtifacts>(),
    Listed::of::<get_artifact::GetArtifact>(),
    Listed::of::<rollback_artifact::RollbackArtifact>(),
    Listed::of::<delete_artifact::DeleteArtifact>(),
    Listed::of::<get_account::GetAccount>(),
    Listed::of::<create_claim_link::CreateClaimLink>(),
    Listed::of::<create_invite::CreateInvite>(),
    Listed::of::<add_credits::AddCredits>(),
];

/// The arguments of a tool that takes none.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoArguments {}

#[cfg(test)]
mod tests;
