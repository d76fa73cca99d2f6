//! The texts of an account's export. A tar needs the size of a file before its content, so each text is first
//! made in memory, row by row and compressed.

use std::future::Future;
use std::io::{self, Read, Write};
use std::pin::pin;

use domain::{
    Account, AccountId, Artifact, AuditEntry, LedgerEntry, Manifest, ManifestFile, Page, PageStart, Paged,
    Token, Version,
};
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use futures::{Stream, TryStreamExt, stream};
use serde_json::{Value, json};
use store::{Member, Store};

/// Rows that are read at a time.
const ROWS_AT_ONCE: u32 = 500;

/// A text that is being made.
pub(crate) struct TextSpool {
    packed: DeflateEncoder<Vec<u8>>,
}

/// A text that is complete.
pub(crate) struct SpooledText {
    packed: Vec<u8>,
    size_bytes: u64,
}

impl TextSpool {
    pub(crate) fn begin() -> Self {
        Self { packed: DeflateEncoder::new(Vec::new(), Compression::fast()) }
    }

    pub(crate) fn push(&mut self, text: &str) -> io::Result<()> {
        self.packed.write_all(text.as_bytes())
    }

    /// Adds a field of an object that already has a field.
    pub(crate) async fn push_list(
        &mut self,
        name: &str,
        rows: impl Stream<Item = anyhow::Result<String>>,
    ) -> anyhow::Result<()> {
        self.push(&format!(",\"{name}\":["))?;
        let (mut rows, mut comma) = (pin!(rows), "");
        while let Some(row) = rows.try_next().await? {
            self.push(comma)?;
            self.push(&row)?;
            comma = ",\n";
        }
        Ok(self.push("]")?)
    }

    pub(crate) fn finish(self) -> anyhow::Result<SpooledText> {
        let size_bytes = self.packed.total_in();
        Ok(SpooledText { packed: self.packed.finish()?, size_bytes })
    }
}

impl SpooledText {
    pub(crate) fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    pub(crate) fn read(&self) -> impl Read {
        DeflateDecoder::new(&self.packed[..])
    }
}

/// All rows of a list, read page by page.
pub(crate) fn rows<T, R: Future<Output = anyhow::Result<Paged<T>>>>(
    read: impl Fn(Page) -> R,
) -> impl Stream<Item = anyhow::Result<T>> {
    let pages = stream::try_unfold(Some(Page::new(PageStart::First, ROWS_AT_ONCE)), move |page| {
        let reading = page.map(&read);
        async move {
            let Some(reading) = reading else { return Ok(None) };
            let Paged { rows, next, .. } = reading.await?;
            let rows = stream::iter(rows.into_iter().map(anyhow::Ok));
            anyhow::Ok(Some((rows, next.map(|next| Page::after(next, ROWS_AT_ONCE)))))
        }
    });
    pages.try_flatten()
}

/// The whole ledger, newest entry first.
pub(crate) async fn ledger_csv(store: &Store, account: AccountId) -> anyhow::Result<SpooledText> {
    let mut text = TextSpool::begin();
    text.push("id,created_at,delta_micro,reason,balance_micro\r\n")?;
    let mut entries = pin!(rows(move |page| async move { store.ledger().list(account, &page).await }));
    while let Some(entry) = entries.try_next().await? {
        text.push(&csv_line(&entry))?;
    }
    text.finish()
}

fn csv_line(entry: &LedgerEntry) -> String {
    let LedgerEntry { seq, delta, reason, balance_after, created_at } = entry;
    let reason = reason.replace('"', "\"\"");
    format!("{seq},{created_at},{},\"{reason}\",{}\r\n", delta.get(), balance_after.get())
}

/// Without the claim code, which is a credential.
pub(crate) fn account_json(account: &Account) -> String {
    let value = json!({
        "id": account.id.to_string(),
        "handle": account.handle,
        "status": account.status.as_str(),
        "created_at": account.created_at.rfc3339(),
        "expires_at": account.expires_at.map(|at| at.rfc3339()),
        "balance_micro": account.balance.get(),
        "storage_bytes": account.storage_bytes,
        "allow_agent_join": account.allow_agent_join,
        "versions_kept": account.retention.versions_kept,
        "versions_days": account.retention.versions_days,
    });
    value.to_string()
}

pub(crate) fn member_json(member: &Member) -> String {
    let value = json!({
        "user_id": member.user.to_string(),
        "username": member.username,
        "role": member.role.as_str(),
        "joined_at": member.joined_at.rfc3339(),
    });
    value.to_string()
}

/// Without the time of the last use, which the export itself would change, and without an invite code that
/// the name may contain.
pub(crate) fn token_json(token: &Token) -> String {
    let value = json!({
        "id": token.id.to_string(),
        "name": token.name.without_code().to_string(),
        "scopes": token.rights.scopes.to_string(),
        "artifact_id": token.rights.pinned_to.map(|id| id.to_string()),
        "created_by": token.made_by.shown(),
        "created_at": token.created_at.rfc3339(),
        "expires_at": token.rights.expires_at.map(|at| at.rfc3339()),
    });
    value.to_string()
}

/// Without its versions. It has at least one field.
pub(crate) fn artifact_json(artifact: &Artifact) -> String {
    let value = json!({
        "id": artifact.id.to_string(),
        "slug": artifact.slug.as_str(),
        "host": artifact.host.as_str(),
        "visibility": artifact.visibility.as_str(),
        "version": artifact.live.map(|live| live.seq),
        "created_at": artifact.created_at.rfc3339(),
        "updated_at": artifact.updated_at.rfc3339(),
        "versions_kept": artifact.retention.versions_kept,
        "versions_days": artifact.retention.versions_days,
    });
    value.to_string()
}

pub(crate) fn version_json(version: &Version, manifest: &Manifest) -> String {
    let file = |file: &ManifestFile| {
        json!({
            "path": file.path.as_str(),
            "size_bytes": file.size_bytes,
            "content_type": file.content_type,
            "sha256": file.hash.to_string(),
        })
    };
    let value = json!({
        "id": version.id.to_string(),
        "seq": version.seq,
        "total_bytes": version.total_bytes,
        "created_via": version.created_via.as_str(),
        "message": version.message.as_ref().map(ToString::to_string),
        "created_at": version.created_at.rfc3339(),
        "moderation_status": version.moderation.as_str(),
        "files": manifest.files().iter().map(file).collect::<Vec<Value>>(),
    });
    value.to_string()
}

/// The same fields as in the audit log of the API.
pub(crate) fn audit_json(entry: &AuditEntry) -> String {
    let value = json!({
        "id": entry.id.to_string(),
        "created_at": entry.created_at.rfc3339(),
        "action": entry.action,
        "actor": entry.actor,
        "via": entry.via,
        "address": entry.address,
        "subject": entry.subject,
    });
    value.to_string()
}

#[cfg(test)]
mod tests {
    use domain::{Micro, Time};

    use super::*;

    #[test]
    fn a_reason_is_one_field_of_a_csv_line() {
        let entry = LedgerEntry {
            seq: 2,
            delta: Micro::new(-5),
            reason: "a \"b\", c".into(),
            balance_after: Micro::new(7),
            created_at: Time::from_millis(0),
        };
        assert_eq!(csv_line(&entry), "2,1970-01-01T00:00:00Z,-5,\"a \"\"b\"\", c\",7\r\n");
    }

    #[tokio::test]
    async fn a_text_is_read_as_it_was_written() {
        let mut spool = TextSpool::begin();
        spool.push("{\"a\":1").unwrap();
        let rows = stream::iter(["1", "2"].map(|row| anyhow::Ok(row.to_owned())));
        spool.push_list("list", rows).await.unwrap();
        spool.push("}").unwrap();
        let text = spool.finish().unwrap();
        let mut read = String::new();
        text.read().read_to_string(&mut read).unwrap();
        assert_eq!((read.as_str(), text.size_bytes()), ("{\"a\":1,\"list\":[1,\n2]}", read.len() as u64));
    }
}
