//! The audit trail as callers see it.

use domain::AuditEntry as Entry;
use poem_openapi::Object;

use super::Timestamp;

/// Something that was done to the account, or by one of its members to their own sign-in.
#[derive(Debug, Object)]
pub struct AuditEntry {
    pub id: String,
    pub created_at: Timestamp,
    /// What was done, such as `artifact.published` or `person.sign_in_failed`.
    pub action: String,
    /// Who did it: a person's username, a token's id, `operator` or `card-processor`. For a failed sign-in, the
    /// username that was tried.
    pub actor: String,
    /// The way in: `api`, `mcp`, `web`, `cli`, `operator` or `card-processor`; null for entries of earlier releases.
    #[oai(nullable)]
    pub via: Option<String>,
    /// The client's IP address, if a client made the call.
    #[oai(nullable)]
    pub address: Option<String>,
    /// What it was done to: a page's host, a username, an id, a reason of the ledger.
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
