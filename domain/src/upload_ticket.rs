//! The URL to which an agent uploads files before it publishes them, so that their bytes do not pass through
//! a model. Anyone with the URL may upload, so a ticket must never be logged.

use std::fmt;
use std::time::Duration;

use subtle::ConstantTimeEq;

use crate::signing_key::SigningKey;
use crate::{AccountId, Chance, Time, UploadId};

/// The right to upload files to one URL, once, for an account. It is signed and not stored: the upload's id
/// contains the time of issue.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct UploadTicket {
    pub account: AccountId,
    pub upload: UploadId,
}

impl UploadTicket {
    /// How long files can be uploaded.
    pub const LIFETIME: Duration = Duration::from_secs(15 * 60);
    /// How long after the time of issue the files can be published.
    pub const KEPT: Duration = Duration::from_secs(3600);
    /// The format of a ticket in a URL.
    pub const PATTERN: &'static str = "^[0-9A-Z]{52}[0-9a-f]{32}$";

    const IDS_LENGTH: usize = 52;
    const ID_LENGTH: usize = 26;
    const SIGNATURE_LENGTH: usize = 32;

    pub fn new(account: AccountId, now: Time, chance: &Chance) -> Self {
        Self { account, upload: UploadId::new(now, chance) }
    }

    /// The ticket as a part of a URL.
    pub fn signed(&self, key: &SigningKey) -> String {
        let Self { account, upload } = self;
        format!("{upload}{account}{}", self.signature(key))
    }

    /// The ticket in a part of a URL; `None` unless its signature is valid.
    pub fn read(text: &str, key: &SigningKey) -> Option<Self> {
        let (ids, signature) = text.split_at_checked(Self::IDS_LENGTH)?;
        let (upload, account) = ids.split_at_checked(Self::ID_LENGTH)?;
        let ticket = Self { account: account.parse().ok()?, upload: upload.parse().ok()? };
        let expected = ticket.signature(key);
        let is_ours = expected.len() == Self::SIGNATURE_LENGTH
            && bool::from(expected.as_bytes().ct_eq(signature.as_bytes()));
        is_ours.then_some(ticket)
    }

    /// The end of the time for uploading.
    pub fn expires_at(&self) -> Time {
        self.given_at().plus(Self::LIFETIME)
    }

    /// The end of the time for publishing.
    pub fn kept_until(&self) -> Time {
        self.given_at().plus(Self::KEPT)
    }

    fn given_at(&self) -> Time {
        Time::from_millis(i64::try_from(self.upload.ulid().timestamp_ms()).unwrap_or(0))
    }

    // A host has no colon, so this is never the signature of a private page.
    fn signature(&self, key: &SigningKey) -> String {
        let mut signature = key.authenticate(&format!("upload:{}:{}", self.account, self.upload));
        signature.truncate(Self::SIGNATURE_LENGTH);
        signature
    }
}

impl fmt::Debug for UploadTicket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UploadTicket(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time::from_millis(1_790_000_000_000);

    fn ticket() -> UploadTicket {
        let chance = Chance::seeded(8);
        UploadTicket::new(AccountId::new(NOW, &chance), NOW, &chance)
    }

    #[test]
    fn only_correctly_signed_upload_tickets_are_accepted() {
        let (ticket, key) = (ticket(), SigningKey::new("a secret"));
        let text = ticket.signed(&key);
        assert_eq!(UploadTicket::read(&text, &key), Some(ticket));
        assert_eq!(UploadTicket::read(&text, &SigningKey::new("another")), None);
        for at in 0..text.len() {
            let other = if text.as_bytes()[at] == b'0' { "1" } else { "0" };
            let tampered = format!("{}{other}{}", &text[..at], &text[at + 1..]);
            assert_eq!(UploadTicket::read(&tampered, &key), None, "{tampered}");
        }
        for bad in ["", "short", &text[..83], &format!("{text}0"), &"ü".repeat(42)] {
            assert_eq!(UploadTicket::read(bad, &key), None, "{bad}");
        }
    }

    #[test]
    fn upload_ticket_has_its_expiry_times_and_is_not_shown_in_debug_output() {
        let ticket = ticket();
        assert_eq!(ticket.expires_at(), NOW.plus(Duration::from_secs(900)));
        assert_eq!(ticket.kept_until(), NOW.plus(Duration::from_secs(3600)));
        assert_eq!(format!("{ticket:?}"), "UploadTicket(…)");
    }
}
