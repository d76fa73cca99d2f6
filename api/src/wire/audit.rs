//! The audit log in responses.

use domain::AuditEntry as Entry;
use poem_openapi::Object;

use super::Timestamp;

/// A change of the account, or a sign-in of one of its members.
#[derive(Debug, Object)]
pub struct AuditEntry {
    pub id: String,
    pub created_at: Timestamp,
    /// What happened, such as `artifact.published` or `person.sign_in_failed`.
    pub action: String,
    /// The actor: a username, a token id, `operator` or `card-processor`. For a failed sign-in, the username
    /// that was entered.
    pub actor: String,
    /// The interface: `api`, `mcp`, `web`, `cli`, `operator` or `card-processor`. Null for entries of earlier
    /// releases.
    #[oai(nullable)]
    pub via: Option<String>,
    /// The client's IP address. Null if no client made the call.
    #[oai(nullable)]
    pub address: Option<String>,
    /// What it was done to: a page's host, a username, an id or a ledger reason.
    pub subject: String,
}

impl From<Entry> for AuditEntry {
    fn from(entry: Entry) -> Self {
        Self {
            id: entry.id.to_string(),
            created_at: entry.created_at.into(),
            action: entry.action,
            actor: entry.actor,
            via: entry.via,
            address: entry.address,
            subject: entry.subject,
        }
    }
}
