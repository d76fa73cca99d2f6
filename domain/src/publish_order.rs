//! What a publish asks for, once: the queue's job and the ledger's operation both carry it. It is written to the queue,
//! so a new field needs a default, and no value may change its written form.

use serde::{Deserialize, Serialize};

use crate::{AccountId, ArtifactId, CalledBy, JobId, Message, Payment, Slug, Time, TokenId, VersionId};

/// A publish as the API accepted it: checked and parsed. Its content is not part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishOrder {
    pub account: AccountId,
    pub version: VersionId,
    pub slug: Slug,
    pub target: Target,
    pub activation: Activation,
    /// The artifact that the token is pinned to, if it is.
    #[serde(default)]
    pub pinned_to: Option<ArtifactId>,
    #[serde(default)]
    pub payment: Option<Payment>,
    pub created_via: CreatedVia,
    #[serde(default)]
    pub message: Option<Message>,
    #[serde(default)]
    pub created_by: Option<TokenId>,
    /// For the audit trail. A job that an earlier release pushed has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called_by: Option<CalledBy>,
    /// When the publish must be settled, by the database's clock; from then on it is refused. A job that an earlier
    /// release pushed has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Time>,
}

/// Which artifact a publish may go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// The artifact that bears the slug, or a new one.
    NewOrExisting,
    /// Only one that exists: `POST …/versions`.
    Existing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activation {
    /// The new version becomes the live one.
    Live,
    /// The pointer stays where it is.
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
    /// A publish is known by the version that it makes.
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
    fn the_interface_is_written_in_a_job_as_it_is_stored_and_shown() {
        for via in CreatedVia::ALL {
            assert_eq!(serde_json::to_value(via).unwrap(), via.as_str());
        }
    }
}
