//! Invites: a code for people and agents to join an account, and when it stops working. A code is a
//! credential and must never be logged.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::{AccountId, Chance, Maker, Refusal, Role, Time};

/// An invite.
#[derive(Clone, Debug)]
pub struct Invite {
    pub code: InviteCode,
    pub account: AccountId,
    pub role: Role,
    pub max_uses: u32,
    pub uses: u32,
    pub expires_at: Time,
    pub revoked_at: Option<Time>,
    pub created_at: Time,
    pub made_by: Maker,
}

/// The terms of a new invite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InviteTerms {
    pub role: Role,
    pub max_uses: u32,
    pub ttl: Duration,
}

/// The secret that lets its holder join an account: long and random.
#[derive(Clone, PartialEq, Eq)]
pub struct InviteCode(String);

impl Invite {
    // Spec 3.4: the refusal says which of the three conditions failed.
    pub fn must_be_usable(&self, now: Time) -> Result<(), Refusal> {
        if self.revoked_at.is_some() {
            return Err(Refusal::InviteRevoked);
        }
        if now >= self.expires_at {
            return Err(Refusal::InviteExpired);
        }
        if self.uses >= self.max_uses {
            return Err(Refusal::InviteUsedUp);
        }
        Ok(())
    }
}

impl InviteTerms {
    pub const USES_MAX: u32 = 100;
    pub const TTL_HOURS_MAX: u32 = 720;
    pub const USES: u32 = 1;
    pub const TTL_HOURS: u32 = 72;

    /// Spec 4.5: the default is a member's invite for one use within three days.
    pub fn new(role: Option<Role>, max_uses: Option<u32>, ttl_hours: Option<u32>) -> Result<Self, Refusal> {
        let role = role.unwrap_or(Role::Member);
        if role == Role::Owner {
            return Err(misfit("role", "must be member or admin; an account has one owner"));
        }
        let max_uses = max_uses.unwrap_or(Self::USES);
        if !(1..=Self::USES_MAX).contains(&max_uses) {
            return Err(misfit("max_uses", &format!("must be 1 to {}", Self::USES_MAX)));
        }
        let ttl_hours = ttl_hours.unwrap_or(Self::TTL_HOURS);
        if !(1..=Self::TTL_HOURS_MAX).contains(&ttl_hours) {
            return Err(misfit("ttl_hours", &format!("must be 1 to {}", Self::TTL_HOURS_MAX)));
        }
        Ok(Self { role, max_uses, ttl: Duration::from_secs(u64::from(ttl_hours) * 3600) })
    }
}

fn misfit(field: &str, fault: &str) -> Refusal {
    Refusal::InvalidBody { fault: format!("{field} {fault}") }
}

impl InviteCode {
    const LENGTH: usize = 24;
    pub const MARK_LENGTH: usize = 6;

    pub fn generate(chance: &Chance) -> Self {
        Self(chance.alphanumeric(Self::LENGTH))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first characters of the code: enough to recognize an invite in the audit log, and not enough to
    /// join.
    pub fn mark(&self) -> &str {
        &self.0[..Self::MARK_LENGTH]
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an invite code")]
pub struct MalformedCode;

impl FromStr for InviteCode {
    type Err = MalformedCode;

    fn from_str(text: &str) -> Result<Self, MalformedCode> {
        let is_code = text.len() == Self::LENGTH && text.bytes().all(|b| b.is_ascii_alphanumeric());
        if is_code { Ok(Self(text.to_owned())) } else { Err(MalformedCode) }
    }
}

impl fmt::Debug for InviteCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InviteCode(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time::from_millis(1_790_000_000_000);
    const HOUR: Duration = Duration::from_secs(3600);

    fn invite() -> Invite {
        let chance = Chance::seeded(5);
        Invite {
            code: InviteCode::generate(&chance),
            account: AccountId::new(NOW, &chance),
            role: Role::Member,
            max_uses: 2,
            uses: 1,
            expires_at: NOW.plus(HOUR),
            revoked_at: None,
            created_at: NOW,
            made_by: Maker::default(),
        }
    }

    #[test]
    fn invite_reports_whether_it_is_revoked_expired_or_used_up() {
        assert_eq!(invite().must_be_usable(NOW), Ok(()));
        assert_eq!(invite().must_be_usable(NOW.plus(HOUR)), Err(Refusal::InviteExpired));
        let used_up = Invite { uses: 2, ..invite() };
        assert_eq!(used_up.must_be_usable(NOW), Err(Refusal::InviteUsedUp));
        let revoked = Invite { revoked_at: Some(NOW), ..invite() };
        assert_eq!(revoked.must_be_usable(NOW), Err(Refusal::InviteRevoked));
    }

    #[test]
    fn invite_terms_have_defaults_and_limits() {
        let usual = InviteTerms::new(None, None, None).unwrap();
        assert_eq!(usual, InviteTerms { role: Role::Member, max_uses: 1, ttl: 72 * HOUR });
        assert!(InviteTerms::new(Some(Role::Admin), Some(100), Some(720)).is_ok());
        for (field, refused) in [
            ("role", InviteTerms::new(Some(Role::Owner), None, None)),
            ("max_uses", InviteTerms::new(None, Some(0), None)),
            ("max_uses", InviteTerms::new(None, Some(101), None)),
            ("ttl_hours", InviteTerms::new(None, None, Some(0))),
            ("ttl_hours", InviteTerms::new(None, None, Some(721))),
        ] {
            let refusal = refused.unwrap_err();
            assert_eq!(refusal.code(), "invalid_body");
            assert!(refusal.message().contains(field), "{refusal}");
        }
    }

    #[test]
    fn invite_code_is_not_shown_in_debug_output_and_malformed_codes_are_refused() {
        let code = InviteCode::generate(&Chance::seeded(6));
        assert!(!format!("{code:?}").contains(code.mark()));
        assert_eq!(code.as_str().parse(), Ok(code.clone()));
        for bad in ["", "short", "has a space in it, anyhow", "\0"] {
            assert!(bad.parse::<InviteCode>().is_err(), "{bad:?}");
        }
    }
}
