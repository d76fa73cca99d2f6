//! The roles of people on accounts. Roles are stored and shown by name, so the meaning of a name must never
//! change.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A person's role on an account. Each role has all rights of the roles before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Publishes, reads, rolls back and deletes; creates tokens.
    Member,
    /// Also invites, removes members and revokes anyone's tokens.
    Admin,
    /// Also buys credit, rotates the claim link and decides whether agents may join.
    Owner,
}

impl Role {
    pub const ALL: [Role; 3] = [Role::Member, Role::Admin, Role::Owner];

    pub fn as_str(self) -> &'static str {
        match self {
            Role::Member => "member",
            Role::Admin => "admin",
            Role::Owner => "owner",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a role")]
pub struct UnknownRole;

impl FromStr for Role {
    type Err = UnknownRole;

    fn from_str(text: &str) -> Result<Self, UnknownRole> {
        Role::ALL.into_iter().find(|role| role.as_str() == text).ok_or(UnknownRole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_ordered_by_permission_and_parsed_by_name() {
        assert!(Role::Member < Role::Admin && Role::Admin < Role::Owner);
        for role in Role::ALL {
            assert_eq!(role.as_str().parse(), Ok(role));
        }
        assert!("Owner".parse::<Role>().is_err());
    }
}
