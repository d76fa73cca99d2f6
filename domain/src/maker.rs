//! The person or token that made a token or an invite.

use crate::{TokenId, UserId};

/// Who made a token or an invite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Maker {
    /// The person who answers for it: who made it, or who answers for the token that made it. What a person answers
    /// for ends when that person is removed.
    pub user: Option<UserId>,
    /// The token that made it, if one did.
    pub token: Option<TokenId>,
}

impl Maker {
    /// What `created_by` shows: the person, else the token, else nobody, as for the token of a signup.
    pub fn shown(self) -> Option<String> {
        self.user.map(|user| user.to_string()).or_else(|| self.token.map(|token| token.to_string()))
    }
}
