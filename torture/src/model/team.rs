//! Tokens and invites of an account, as far as responses show.

/// Whether a token or an invite is still valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validity {
    Valid,
    /// A revocation had no response.
    Unknown,
    Revoked,
}

#[derive(Clone, Debug)]
pub struct TokenModel {
    pub secret: String,
    /// The id for revocation. Tokens from a signup or an invite come without one.
    pub id: Option<String>,
    pub validity: Validity,
}

#[derive(Clone, Debug)]
pub struct InviteModel {
    pub code: String,
    pub uses_max: u32,
    /// Acknowledged joins, and joins without a response.
    pub joined: u32,
    pub joined_perhaps: u32,
    pub validity: Validity,
}

#[derive(Debug, Default)]
pub struct Team {
    pub tokens: Vec<TokenModel>,
    /// Tokens that may exist although no response contained them.
    pub unknown_tokens: u32,
    pub invites: Vec<InviteModel>,
}

impl Team {
    pub fn note_token(&mut self, secret: &str, id: Option<String>) {
        self.tokens.push(TokenModel { secret: secret.to_owned(), id, validity: Validity::Valid });
    }

    pub fn token_mut(&mut self, secret: &str) -> Option<&mut TokenModel> {
        self.tokens.iter_mut().find(|token| token.secret == secret)
    }

    pub fn validity_of(&self, secret: &str) -> Option<Validity> {
        self.tokens.iter().find(|token| token.secret == secret).map(|token| token.validity)
    }

    pub fn invite_mut(&mut self, code: &str) -> Option<&mut InviteModel> {
        self.invites.iter_mut().find(|invite| invite.code == code)
    }
}
