//! The parameters of a publish, shared by the queue's job and the ledger's operation. It is serialized to the
//! queue, so a new field needs a default, and the serialized form of a value must never change.

use serde::{Deserialize, Serialize};

use crate::{
    AccountId, ArtifactId, CalledBy, JobId, Message, Payment, PublishCondition, Slug, Time, TokenId,
    VersionId,
};

/// A publish that the API has checked and parsed, without its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishOrder {
    pub account: AccountId,
    pub version: VersionId,
    pub slug: Slug,
    pub target: Target,
    pub activation: Activation,
    /// The artifact that the token is pinned to, if any.
    #[serde(default)]
    pub pinned_to: Option<ArtifactId>,
    #[serde(default)]
    pub payment: Option<Payment>,
    pub created_via: CreatedVia,
    #[serde(default)]
    pub message: Option<Message>,
    #[serde(default)]
    pub created_by: Option<TokenId>,
    /// For the audit log. Jobs of an earlier release have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called_by: Option<CalledBy>,
    /// The deadline for settling the publish, by the database's clock. After it the publish is refused. Jobs
    /// of an earlier release have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Time>,
    /// Whether the account was provisional when it sent the request. Jobs of an earlier release do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_provisional: Option<bool>,
}

/// The artifact that a publish may go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// The artifact with the slug, or a new one.
    NewOrExisting,
    /// Only an existing artifact: `POST …/versions`.
    Existing,
    /// The artifact with the slug, or a new one, but only if the condition is met. Earlier releases cannot
    /// decode such a job, so none of their workers publishes without checking the condition.
    If(PublishCondition),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activation {
    /// The new version becomes the live one.
    Live,
    /// The live version does not change.
    Staged,
}

/// The interface that a version was published through. It is stored with the version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CreatedVia {
    Api,
    Mcp,
    /// The form on the home page.
    Web,
}

impl PublishOrder {
    /// A publish has the id of its version.
    pub fn job(&self) -> JobId {
        self.version.into()
    }
}

impl CreatedVia {
    pub const ALL: [CreatedVia; 3] = [CreatedVia::Api, CreatedVia::Mcp, CreatedVia::Web];

    pub fn as_str(self) -> &'static str {
        match self {
            CreatedVia::Api => "api",
            CreatedVia::Mcp => "mcp",
            CreatedVia::Web => "web",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interface_of_a_publish_is_serialized_in_jobs_as_it_is_stored() {
        for via in CreatedVia::ALL {
            assert_eq!(serde_json::to_value(via).unwrap(), via.as_str());
        }
    }
}
