//! The address at which an agent puts files before it publishes them, so that their bytes pass by no model. Whoever
//! has the address may put files there, so a ticket must never reach a log.

use std::fmt;
use std::time::Duration;

use subtle::ConstantTimeEq;

use crate::signing_key::SigningKey;
use crate::{AccountId, Chance, Time, UploadId};

/// The right to put files at one address, once, for an account. It is signed and kept nowhere: the upload's id says
/// when it was given.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct UploadTicket {
    pub account: AccountId,
    pub upload: UploadId,
}

impl UploadTicket {
    /// How long files may be put at the address.
    pub const LIFETIME: Duration = Duration::from_secs(15 * 60);
    /// How long they can be published after it was given.
    pub const KEPT: Duration = Duration::from_secs(3600);
    /// What a ticket looks like in an address.
    pub const PATTERN: &'static str = "^[0-9A-Z]{52}[0-9a-f]{32}$";

    const IDS_LENGTH: usize = 52;
    const ID_LENGTH: usize = 26;
    const SIGNATURE_LENGTH: usize = 32;

    pub fn new(account: AccountId, now: Time, chance: &Chance) -> Self {
        Self { account, upload: UploadId::new(now, chance) }
    }

    /// The ticket as it stands in an address.
    pub fn signed(&self, key: &SigningKey) -> String {
        let Self { account, upload } = self;
        format!("{upload}{account}{}", self.signature(key))
    }

    /// The ticket behind a text of an address; none unless we have signed it.
    pub fn read(text: &str, key: &SigningKey) -> Option<Self> {
        let (ids, signature) = text.split_at_checked(Self::IDS_LENGTH)?;
        let (upload, account) = ids.split_at_checked(Self::ID_LENGTH)?;
        let ticket = Self { account: account.parse().ok()?, upload: upload.parse().ok()? };
        let expected = ticket.signature(key);
        let is_ours = expected.len() == Self::SIGNATURE_LENGTH
            && bool::from(expected.as_bytes().ct_eq(signature.as_bytes()));
        is_ours.then_some(ticket)
    }

    /// Until when files may be put at the address.
    pub fn expires_at(&self) -> Time {
        self.given_at().plus(Self::LIFETIME)
    }

    /// Until when they can be published.
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
    fn a_signed_ticket_is_read_back_and_no_other_is() {
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
    fn a_ticket_tells_its_own_ends_and_never_shows_in_a_log() {
        let ticket = ticket();
        assert_eq!(ticket.expires_at(), NOW.plus(Duration::from_secs(900)));
        assert_eq!(ticket.kept_until(), NOW.plus(Duration::from_secs(3600)));
        assert_eq!(format!("{ticket:?}"), "UploadTicket(…)");
    }
}
