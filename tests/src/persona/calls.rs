//! The calls that people and agents have in common.

/// Adds these calls to a persona that has a `call`. A macro rather than a trait, so that tests need no
/// import.
macro_rules! calls_of_the_team {
    () => {
        pub fn account(&self) -> $crate::Call {
            self.get("/v1/account")
        }

        pub fn tokens(&self) -> $crate::Call {
            self.get("/v1/tokens")
        }

        pub fn mint(&self, terms: &::serde_json::Value) -> $crate::Call {
            self.post("/v1/tokens").json(terms)
        }

        pub fn revoke_token(&self, id: &str) -> $crate::Call {
            self.call(::reqwest::Method::DELETE, &format!("/v1/tokens/{id}"))
        }

        pub fn invite(&self, terms: &::serde_json::Value) -> $crate::Call {
            self.post("/v1/account/invites").json(terms)
        }

        pub fn invites(&self) -> $crate::Call {
            self.get("/v1/account/invites")
        }

        pub fn revoke_invite(&self, code: &str) -> $crate::Call {
            self.call(::reqwest::Method::DELETE, &format!("/v1/account/invites/{code}"))
        }

        pub fn members(&self) -> $crate::Call {
            self.get("/v1/account/members")
        }

        pub fn remove_member(&self, user_id: &str) -> $crate::Call {
            self.call(::reqwest::Method::DELETE, &format!("/v1/account/members/{user_id}"))
        }

        pub fn allow_agent_join(&self, allowed: bool) -> $crate::Call {
            self.call(::reqwest::Method::PATCH, "/v1/account").json(&::serde_json::json!({ "allow_agent_join": allowed }))
        }

        pub fn get(&self, path: &str) -> $crate::Call {
            self.call(::reqwest::Method::GET, path)
        }

        pub fn post(&self, path: &str) -> $crate::Call {
            self.call(::reqwest::Method::POST, path)
        }
    };
}
pub(super) use calls_of_the_team;
