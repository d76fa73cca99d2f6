//! The person or token that made a token or an invite.

use crate::{TokenId, UserId};

/// The creator of a token or an invite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Maker {
    /// The responsible person: its creator, or the person responsible for the token that created it. It is
    /// revoked when this person is removed.
    pub user: Option<UserId>,
    /// The token that created it, if any.
    pub token: Option<TokenId>,
}

impl Maker {
    /// The value of `created_by`: the person, otherwise the token, otherwise nothing, as for the token of a
    /// signup.
    pub fn shown(self) -> Option<String> {
        self.user.map(|user| user.to_string()).or_else(|| self.token.map(|token| token.to_string()))
    }
}
