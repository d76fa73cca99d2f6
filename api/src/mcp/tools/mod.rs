//! The tools, one file each; [`publication`] is shared by the two publishing tools. A tool returns the same
//! wire type as its REST endpoint.

mod add_credits;
mod create_claim_link;
mod create_invite;
mod delete_artifact;
mod diff_versions;
mod edit_artifact;
mod get_account;
mod get_artifact;
mod list_artifacts;
mod list_files;
mod publication;
mod publish_artifact;
mod publish_upload;
mod read_file;
mod rollback_artifact;
mod set_visibility;
mod stage_upload;

use super::tool::ListedTool;

/// Every tool, in the order in which models see them.
pub const ALL: &[ListedTool] = &[
    ListedTool::of::<publish_artifact::PublishArtifact>(),
    ListedTool::of::<edit_artifact::EditArtifact>(),
    ListedTool::of::<stage_upload::StageUpload>(),
    ListedTool::of::<publish_upload::PublishUpload>(),
    ListedTool::of::<list_artifacts::ListArtifacts>(),
    ListedTool::of::<get_artifact::GetArtifact>(),
    ListedTool::of::<list_files::ListFiles>(),
    ListedTool::of::<read_file::ReadFile>(),
    ListedTool::of::<diff_versions::DiffVersions>(),
    ListedTool::of::<rollback_artifact::RollbackArtifact>(),
    ListedTool::of::<set_visibility::SetVisibility>(),
    ListedTool::of::<delete_artifact::DeleteArtifact>(),
    ListedTool::of::<get_account::GetAccount>(),
    ListedTool::of::<create_claim_link::CreateClaimLink>(),
    ListedTool::of::<create_invite::CreateInvite>(),
    ListedTool::of::<add_credits::AddCredits>(),
];

/// The arguments of a tool without any.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoArguments {}

#[cfg(test)]
mod tests;
