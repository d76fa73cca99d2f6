//! The entries of an account's audit log. They must never contain a password, a token's secret or a code.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use ulid::Ulid;

use crate::{AuditId, Time};

/// The interface that a call came through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Via {
    Api,
    Mcp,
    /// The pages for people: the dashboard, the claim page, the sign-in.
    Web,
    Cli,
    Operator,
    CardProcessor,
}

impl Via {
    pub fn as_str(self) -> &'static str {
        match self {
            Via::Api => "api",
            Via::Mcp => "mcp",
            Via::Web => "web",
            Via::Cli => "cli",
            Via::Operator => "operator",
            Via::CardProcessor => "card-processor",
        }
    }
}

/// Where a call came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    pub via: Via,
    /// The client's address, as reported by trusted proxies. `None` for work that no request caused.
    #[serde(default)]
    pub address: Option<IpAddr>,
}

/// The caller of an operation that the ledger settles later, and where the call came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CalledBy {
    /// A user's id, a token's id, or the name of an operator.
    pub actor: String,
    #[serde(flatten)]
    pub origin: Origin,
}

impl AuditId {
    /// The lowest id that an entry of this time can have.
    pub fn first_at(time: Time) -> Self {
        Self::from_ulid(Ulid::from_parts(u64::try_from(time.millis()).unwrap_or(0), 0))
    }
}

/// An entry of an account's audit log, as its owner sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    pub id: AuditId,
    pub created_at: Time,
    /// Such as `artifact.published`.
    pub action: String,
    /// A person's username, a token's id, `operator`, or the name of a part of the service.
    pub actor: String,
    /// The name of the token that acted, if one did and it still exists.
    pub token_name: Option<String>,
    /// `None` for entries that were written before this was stored.
    pub via: Option<String>,
    pub address: Option<String>,
    /// The object of the action: a page's host, a username, an id.
    pub subject: String,
    /// More details, as text for people.
    pub detail: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interface_of_a_caller_is_serialized_in_jobs_as_it_is_shown() {
        for via in [Via::Api, Via::Mcp, Via::Web, Via::Cli, Via::Operator, Via::CardProcessor] {
            assert_eq!(serde_json::to_value(via).unwrap(), via.as_str());
        }
        let origin = Origin { via: Via::Mcp, address: Some("192.0.2.1".parse().unwrap()) };
        let called_by = CalledBy { actor: "ada".into(), origin };
        let text = r#"{"actor":"ada","via":"mcp","address":"192.0.2.1"}"#;
        assert_eq!(serde_json::to_string(&called_by).unwrap(), text);
        assert_eq!(serde_json::from_str::<CalledBy>(text).unwrap(), called_by);
    }
}
