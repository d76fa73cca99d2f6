//! The scopes of a token. They are stored and shown by name, so the meaning of a name must never change.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Role;

/// One right of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    ArtifactsWrite,
    ArtifactsRead,
    TokensManage,
    AccountManage,
}

impl Scope {
    pub const ALL: [Scope; 4] =
        [Scope::ArtifactsWrite, Scope::ArtifactsRead, Scope::TokensManage, Scope::AccountManage];

    pub fn as_str(self) -> &'static str {
        match self {
            Scope::ArtifactsWrite => "artifacts:write",
            Scope::ArtifactsRead => "artifacts:read",
            Scope::TokensManage => "tokens:manage",
            Scope::AccountManage => "account:manage",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The scopes of a token, written as a comma-separated list everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Scopes(u8);

impl Scopes {
    pub const fn all() -> Self {
        Self(0b1111)
    }

    pub const fn none() -> Self {
        Self(0)
    }

    /// The scopes of an invited agent: work on artifacts, nothing else (spec 4.5).
    pub fn of_invited_agent() -> Self {
        Self::none().with(Scope::ArtifactsWrite).with(Scope::ArtifactsRead)
    }

    /// The scopes that a person with this role may grant to a token.
    pub fn of_role(role: Role) -> Self {
        let member = Self::of_invited_agent();
        match role {
            Role::Member => member,
            Role::Admin => member.with(Scope::TokensManage),
            Role::Owner => Self::all(),
        }
    }

    #[must_use]
    pub const fn with(self, scope: Scope) -> Self {
        Self(self.0 | 1 << scope as u8)
    }

    pub const fn has(self, scope: Scope) -> bool {
        self.0 & 1 << scope as u8 != 0
    }

    pub const fn contains(self, other: Scopes) -> bool {
        self.0 & other.0 == other.0
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = Scope::ALL.into_iter().filter(|s| self.has(*s)).map(Scope::as_str).collect();
        f.write_str(&names.join(","))
    }
}

/// The unknown name in a list of scopes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a scope")]
pub struct UnknownScope(pub String);

impl FromStr for Scopes {
    type Err = UnknownScope;

    fn from_str(text: &str) -> Result<Self, UnknownScope> {
        text.split(',').map(str::trim).filter(|name| !name.is_empty()).try_fold(
            Self::none(),
            |scopes, name| {
                let scope = Scope::ALL.into_iter().find(|scope| scope.as_str() == name);
                Ok(scopes.with(scope.ok_or_else(|| UnknownScope(name.to_owned()))?))
            },
        )
    }
}

impl From<Scopes> for String {
    fn from(scopes: Scopes) -> String {
        scopes.to_string()
    }
}

impl TryFrom<String> for Scopes {
    type Error = UnknownScope;

    fn try_from(text: String) -> Result<Self, UnknownScope> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_written_and_read_as_one_comma_separated_list() {
        let all = "artifacts:write,artifacts:read,tokens:manage,account:manage";
        assert_eq!(Scopes::all().to_string(), all);
        assert_eq!(all.parse(), Ok(Scopes::all()));
        assert_eq!(" artifacts:read , artifacts:write ".parse(), Ok(Scopes::of_invited_agent()));
        assert_eq!("artifacts:admin".parse::<Scopes>(), Err(UnknownScope("artifacts:admin".into())));
    }

    #[test]
    fn scope_set_contains_only_its_scopes() {
        assert!(Scopes::all().contains(Scopes::of_invited_agent()));
        assert!(!Scopes::of_invited_agent().contains(Scopes::all()));
    }
}
