//! The tokens of an account, and the rule for creating them: a new token never has more rights than its
//! creator. A token's secret must never be in here.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use crate::{ArtifactId, InviteCode, Maker, MissingRight, Refusal, Scopes, Time, TokenId};

/// A token, as in the account's list.
#[derive(Clone, Debug)]
pub struct Token {
    pub id: TokenId,
    pub name: TokenName,
    pub rights: Rights,
    pub made_by: Maker,
    pub created_at: Time,
    pub last_used_at: Option<Time>,
    /// The address of the last use.
    pub last_used_from: Option<IpAddr>,
    /// The beginning of its secret, by which its owner recognizes it.
    pub secret_start: Option<String>,
    /// Until when its OAuth client can renew it, if one holds it.
    pub renewable_until: Option<Time>,
}

/// The name of a token. It is shown in lists, so it is short and contains no characters that control a
/// terminal. It may contain an invite's code, which `Debug` does not print.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenName(String);

/// The rights of a token: its scopes, its pin and its expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rights {
    pub scopes: Scopes,
    /// The only artifact that it has access to, if it is pinned.
    pub pinned_to: Option<ArtifactId>,
    pub expires_at: Option<Time>,
}

/// The requested rights of a new token. By default it gets those of the token that creates it.
#[derive(Clone, Copy, Debug, Default)]
pub struct AskedRights {
    pub scopes: Option<Scopes>,
    pub pinned_to: Option<ArtifactId>,
    pub expires_at: Option<Time>,
}

impl Rights {
    /// All scopes on all artifacts without expiry, as for an account's first token.
    pub const fn all() -> Self {
        Self { scopes: Scopes::all(), pinned_to: None, expires_at: None }
    }

    /// The rights of a new token, which never exceed these.
    pub fn hand_on(self, asked: AskedRights, now: Time) -> Result<Rights, Refusal> {
        if asked.expires_at.is_some_and(|expires_at| expires_at <= now) {
            return Err(Refusal::invalid("expires_at", "must lie in the future"));
        }
        let new = Rights {
            scopes: asked.scopes.unwrap_or(self.scopes),
            pinned_to: asked.pinned_to.or(self.pinned_to),
            expires_at: asked.expires_at.or(self.expires_at),
        };
        self.must_cover(new)?;
        Ok(new)
    }

    /// Whether a holder of these rights may have a token with the others.
    pub fn must_cover(self, others: Rights) -> Result<(), Refusal> {
        if !self.scopes.contains(others.scopes) {
            return Err(Refusal::InsufficientScope(MissingRight::ToHandOnScopes));
        }
        if self.pinned_to.is_some() && others.pinned_to != self.pinned_to {
            return Err(Refusal::InsufficientScope(MissingRight::ToHandOnOtherArtifact));
        }
        let outlives = |end: Time| others.expires_at.is_none_or(|expires_at| expires_at > end);
        if self.expires_at.is_some_and(outlives) {
            return Err(Refusal::InsufficientScope(MissingRight::ToOutliveIt));
        }
        Ok(())
    }
}

impl TokenName {
    pub const LENGTH_MAX: usize = 100;
    const OF_INVITE: &'static str = "invite:";

    /// The name of an account's first token.
    pub fn of_signup() -> Self {
        Self("signup".to_owned())
    }

    /// The name of a token that was created without one.
    pub fn unnamed() -> Self {
        Self("token".to_owned())
    }

    /// Spec 4.5: the name of the token of an agent that joined with this code.
    pub fn of_invite(code: &InviteCode) -> Self {
        Self(format!("{}{}", Self::OF_INVITE, code.as_str()))
    }

    /// The name of the token of an OAuth client. Client names are shorter.
    pub(crate) fn of_client(name: &str) -> Self {
        Self(format!("oauth:{name}").chars().take(Self::LENGTH_MAX).collect())
    }

    /// The name for those who may not see the code: with the code they could join, and an invite may have the
    /// role admin.
    pub fn without_code(&self) -> Self {
        let code = self.0.strip_prefix(Self::OF_INVITE).and_then(|code| code.parse::<InviteCode>().ok());
        code.map_or_else(|| self.clone(), |code| Self(format!("{}{}…", Self::OF_INVITE, code.mark())))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to {} characters, none of them a control character", TokenName::LENGTH_MAX)]
pub struct MalformedTokenName;

impl FromStr for TokenName {
    type Err = MalformedTokenName;

    fn from_str(text: &str) -> Result<Self, MalformedTokenName> {
        let fits = (1..=Self::LENGTH_MAX).contains(&text.chars().count());
        if fits && !text.chars().any(char::is_control) {
            Ok(Self(text.to_owned()))
        } else {
            Err(MalformedTokenName)
        }
    }
}

impl fmt::Debug for TokenName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TokenName({:?})", self.without_code().0)
    }
}

impl fmt::Display for TokenName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{Chance, Scope};

    const NOW: Time = Time::from_millis(1_790_000_000_000);
    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn invite_code_in_a_token_name_is_not_shown_in_debug_output() {
        let code = InviteCode::generate(&Chance::seeded(1));
        let shown = format!("{:?}", TokenName::of_invite(&code));
        assert!(shown.contains(code.mark()) && !shown.contains(code.as_str()), "{shown}");
        assert_eq!(format!("{:?}", TokenName::unnamed()), "TokenName(\"token\")");
    }

    fn asking() -> AskedRights {
        AskedRights::default()
    }

    fn artifact(seed: u64) -> ArtifactId {
        ArtifactId::new(NOW, &Chance::seeded(seed))
    }

    fn code_and_message(refused: Result<Rights, Refusal>) -> (&'static str, String) {
        let refusal = refused.unwrap_err();
        (refusal.code(), refusal.message())
    }

    #[test]
    fn minted_token_has_the_minters_rights_by_default() {
        let bound = Rights {
            scopes: Scopes::none().with(Scope::TokensManage),
            pinned_to: Some(artifact(1)),
            expires_at: Some(NOW.plus(HOUR)),
        };
        for minter in [Rights::all(), bound] {
            assert_eq!(minter.hand_on(asking(), NOW), Ok(minter));
        }
    }

    #[test]
    fn minted_token_cannot_have_more_rights_than_its_minter() {
        let minter = Rights { scopes: Scopes::of_invited_agent(), ..Rights::all() };
        let less = Scopes::none().with(Scope::ArtifactsRead);
        let minted = minter.hand_on(AskedRights { scopes: Some(less), ..asking() }, NOW).unwrap();
        assert_eq!(minted.scopes, less);
        let refused = minter.hand_on(AskedRights { scopes: Some(Scopes::all()), ..asking() }, NOW);
        assert_eq!(code_and_message(refused).0, "insufficient_scope");
    }

    #[test]
    fn minted_token_inherits_the_pin_of_its_minter() {
        let pinned = Rights { pinned_to: Some(artifact(1)), ..Rights::all() };
        let to = |artifact| AskedRights { pinned_to: Some(artifact), ..asking() };
        assert_eq!(pinned.hand_on(to(artifact(1)), NOW), Ok(pinned));
        assert_eq!(Rights::all().hand_on(to(artifact(1)), NOW), Ok(pinned));
        let (code, message) = code_and_message(pinned.hand_on(to(artifact(2)), NOW));
        assert_eq!(code, "insufficient_scope");
        assert!(message.contains("pinned"), "{message}");
    }

    #[test]
    fn a_token_that_expires_mints_none_that_outlives_it() {
        let minter = Rights { expires_at: Some(NOW.plus(HOUR)), ..Rights::all() };
        let until = |expires_at| AskedRights { expires_at: Some(expires_at), ..asking() };
        let sooner = minter.hand_on(until(NOW.plus(HOUR / 2)), NOW).unwrap();
        assert_eq!(sooner.expires_at, Some(NOW.plus(HOUR / 2)));
        let (code, message) = code_and_message(minter.hand_on(until(NOW.plus(2 * HOUR)), NOW));
        assert_eq!(code, "insufficient_scope");
        assert!(message.contains("later than"), "{message}");
        let (code, message) = code_and_message(Rights::all().hand_on(until(NOW), NOW));
        assert_eq!(code, "invalid_request");
        assert!(message.contains("expires_at"), "{message}");
    }

    #[test]
    fn rights_cover_only_tokens_that_they_could_mint() {
        let bound = Rights {
            scopes: Scopes::of_invited_agent(),
            pinned_to: Some(artifact(1)),
            expires_at: Some(NOW.plus(HOUR)),
        };
        assert_eq!(Rights::all().must_cover(bound), Ok(()));
        assert_eq!(bound.must_cover(bound), Ok(()));
        for more in [
            Rights { scopes: Scopes::all(), ..bound },
            Rights { pinned_to: None, ..bound },
            Rights { pinned_to: Some(artifact(2)), ..bound },
            Rights { expires_at: None, ..bound },
            Rights { expires_at: Some(NOW.plus(2 * HOUR)), ..bound },
        ] {
            assert_eq!(bound.must_cover(more).unwrap_err().code(), "insufficient_scope", "{more:?}");
        }
    }

    #[test]
    fn invite_token_name_can_be_shown_without_its_code() {
        let code = InviteCode::generate(&Chance::seeded(1));
        let told = TokenName::of_invite(&code).without_code().to_string();
        assert!(told.starts_with("invite:") && !told.contains(code.as_str()), "{told}");
        let own: TokenName = "invite: mine".parse().unwrap();
        assert_eq!(own.without_code(), own);
    }

    #[test]
    fn token_name_is_short_and_has_no_control_characters() {
        assert_eq!(
            "deploy bot ü".parse::<TokenName>().map(|name| name.to_string()),
            Ok("deploy bot ü".into())
        );
        assert!("ü".repeat(TokenName::LENGTH_MAX).parse::<TokenName>().is_ok());
        let code = InviteCode::generate(&Chance::seeded(1));
        assert_eq!(TokenName::of_invite(&code).to_string().parse(), Ok(TokenName::of_invite(&code)));
        for bad in ["", "a\nb", "a\0", &"x".repeat(TokenName::LENGTH_MAX + 1)] {
            assert!(bad.parse::<TokenName>().is_err(), "{bad:?}");
        }
    }
}
