//! The rules of OAuth: which clients, redirect addresses and proofs are accepted, and what its secrets look
//! like.

mod client;
mod pkce;
mod public_address;
mod redirect;
mod secrets;

pub use client::{ClientMetadata, ClientName, DocumentAddress};
pub use pkce::CodeChallenge;
pub use public_address::is_public_address;
pub use redirect::{MalformedRedirect, RedirectTarget, RedirectUri};
pub use secrets::{RefreshToken, UserCode};

use crate::{Scope, Scopes};

/// The scopes of a token whose client requests none.
pub fn default_scopes() -> Scopes {
    Scopes::of_invited_agent()
}

/// The requested scopes, which OAuth separates by spaces. Names of other systems, such as `offline_access`,
/// are ignored; `None` if no known name is left.
pub fn requested_scopes(text: Option<&str>) -> Option<Scopes> {
    let names = || text.unwrap_or_default().split(' ').filter(|name| !name.is_empty());
    if names().next().is_none() {
        return Some(default_scopes());
    }
    let known = Scope::ALL.into_iter().filter(|scope| names().any(|name| name == scope.as_str()));
    let scopes = known.fold(Scopes::none(), Scopes::with);
    (scopes != Scopes::none()).then_some(scopes)
}

/// Scopes as OAuth writes them.
pub fn scope_text(scopes: Scopes) -> String {
    scopes.to_string().replace(',', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requested_scopes_are_separated_by_spaces_and_unknown_names_are_ignored() {
        assert_eq!(requested_scopes(None), Some(default_scopes()));
        assert_eq!(requested_scopes(Some("  ")), Some(default_scopes()));
        let read = Scopes::none().with(Scope::ArtifactsRead);
        assert_eq!(requested_scopes(Some("offline_access artifacts:read")), Some(read));
        assert_eq!(requested_scopes(Some("openid")), None);
        assert_eq!(requested_scopes(Some("artifacts:read,artifacts:write")), None);
        assert_eq!(requested_scopes(Some(&scope_text(Scopes::all()))), Some(Scopes::all()));
    }
}
