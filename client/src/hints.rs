//! What to do after a no, said in commands: the API's own hints name calls, and no hint at a shell may. `--json` passes
//! the API's words on as they came.

use domain::Slug;

use crate::command::{Command, Invites, Members, Tokens};

/// The hint for a code, whatever the command was. `None` leaves the API's own, which names no call then.
pub fn for_everyone(code: &str) -> Option<&'static str> {
    Some(match code {
        "unauthorized" => {
            "run `handbill signup` for a new account, or `handbill login` with a token that you have"
        }
        "account_expired" => "run `handbill signup --yes` for a new account, and publish there",
        "account_suspended" => {
            "`handbill account` shows the reason; only the operator can lift the suspension"
        }
        "already_appealed" | "nothing_to_appeal" => "`handbill show SLUG` shows the moderation status",
        "insufficient_scope" => {
            "use a token that has it; one that may can mint it: `handbill tokens mint --scopes …`"
        }
        "payment_required" => {
            "--yes pays it, --max-price 0.50 pays up to that; or buy credit first: `handbill credits 5`"
        }
        "forbidden" => "an admin or the owner of the account may; `handbill members` lists them",
        "not_found" => "`handbill list` shows what there is",
        "already_claimed" => "nothing is left to claim; `handbill account` shows the account",
        "secret_in_publish" => {
            "remove the token from that file and publish again; `handbill tokens revoke ID` revokes it"
        }
        "idempotency_conflict" => "use another --idempotency-key, or none",
        "invalid_request" | "invalid_body" => {
            "correct that and run the command again; its --help says what it takes"
        }
        "too_large" => {
            "publish less: .handbillignore names what stays behind; where the account is full, its claim link, which \
             `handbill account` shows, lifts that"
        }
        "quota_exceeded" => "`handbill delete` what is no longer needed, then run the command again",
        "slug_taken" => "run the command again to add a version to it, or choose another --slug",
        "agent_join_disabled" => {
            "have the owner let agents join, on the dashboard, or give you a token: `handbill login` takes it"
        }
        "invite_revoked" | "invite_expired" | "invite_used_up" => FRESH_INVITE,
        "not_configured" => "`handbill credits 5` buys credit where that settles; else ask the operator",
        "session_required" => "a person does this, signed in on the dashboard",
        "invalid_credentials" | "username_taken" | "weak_password" | "processor_error" => {
            "a person does this, on the pages of the server"
        }
        "version_changed" | "job_state" => "the operator's people do this, on the pages of the server",
        "method_not_allowed" | "upload_taken" => "see that the server is no older than this program",
        "outcome_unknown" => {
            "run the same command again with the same --idempotency-key; without one, look first whether it was done"
        }
        "overloaded" => "run the command again in a while; under one --idempotency-key it publishes once",
        "internal_error" => "run the command again once; if that fails too, tell the operator when it was",
        _ => return None,
    })
}

const FRESH_INVITE: &str = "ask someone on the account for a fresh invite: `handbill invites create`";

/// What a command is about, as far as its hints go.
#[derive(Clone, Debug)]
pub enum Subject {
    Page,
    Version(Slug),
    Minting,
    Token,
    Inviting,
    Invite,
    Joining,
    Member,
    Other,
}

impl Subject {
    pub fn of(command: &Command) -> Self {
        match command {
            Command::Activate { named, .. } | Command::Rollback { named, version: Some(_) } => {
                Subject::Version(named.slug.clone())
            }
            Command::Publish(_)
            | Command::List
            | Command::Show(_)
            | Command::Versions(_)
            | Command::Rollback { version: None, .. }
            | Command::Visibility { .. }
            | Command::Delete(_)
            | Command::Open(_) => Subject::Page,
            Command::Tokens { command: Some(Tokens::Mint(_)) } => Subject::Minting,
            Command::Tokens { .. } => Subject::Token,
            Command::Invites { command: Some(Invites::Create(_)) } => Subject::Inviting,
            Command::Invites { .. } => Subject::Invite,
            Command::Members { command: Some(Members::Remove { .. }) } => Subject::Member,
            Command::Join { .. } => Subject::Joining,
            Command::Signup
            | Command::Account
            | Command::Usage
            | Command::ClaimLink
            | Command::Members { .. }
            | Command::Credits { .. }
            | Command::Login
            | Command::Whoami => Subject::Other,
        }
    }

    /// The hint for a code of the API that means something of its own after this command.
    pub fn hint(&self, code: &str) -> Option<String> {
        let hint = match (self, code) {
            (Subject::Version(slug), "not_found") => {
                return Some(format!(
                    "`handbill versions {slug}` lists the versions, `handbill list` the pages and sites"
                ));
            }
            (Subject::Token, "not_found") => "`handbill tokens` lists the tokens with their ids",
            (Subject::Invite, "not_found") => "`handbill invites` lists the invites with their codes",
            (Subject::Member, "not_found") => "`handbill members` lists the people with their ids",
            (Subject::Joining, "not_found") => FRESH_INVITE,
            (Subject::Other, "not_found") => "see that --url or HANDBILL_URL names the right server",
            (Subject::Minting, "insufficient_scope") => {
                "ask for no more than your own token may (--scopes, --slug, --expires-in), or use one that may more"
            }
            (Subject::Minting | Subject::Joining, "quota_exceeded") => {
                "have tokens that are no longer needed revoked: `handbill tokens revoke ID`, then try again"
            }
            (Subject::Inviting, "quota_exceeded") => {
                "revoke invites with `handbill invites revoke CODE`, then try again"
            }
            (Subject::Inviting, "forbidden") => {
                "claim the account first: a person opens the claim link that `handbill account` shows"
            }
            (Subject::Member, "forbidden") => "the owner stays; `handbill members` lists who may be removed",
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use domain::Refusal;

    use super::*;
    use crate::failure::{ApiError, Failure};

    fn names_a_call(hint: &str) -> bool {
        ["/v1/", "/auth/", "GET ", "POST ", "DELETE ", "PATCH ", "tools/", "Idempotency-Key"]
            .iter()
            .any(|call| hint.contains(call))
    }

    #[test]
    fn no_hint_names_a_call_of_the_api_at_a_shell() {
        for entry in Refusal::catalogue() {
            let refusal = entry.example;
            let (code, message, hint) = (refusal.code().to_owned(), refusal.message(), refusal.hint());
            let body = serde_json::to_string(&ApiError { code, message, hint }).unwrap();
            let api_error = Failure::answered(400, body).api_error;
            assert!(!names_a_call(&api_error.hint), "{api_error:?}");
            assert!(!names_a_call(&Failure::from(refusal).api_error.hint), "{api_error:?}");
        }
    }

    #[test]
    fn what_is_not_found_is_looked_for_where_it_would_be() {
        let hint = |subject: Subject| subject.hint("not_found").unwrap_or_default();
        assert!(hint(Subject::Version("my-page".parse().unwrap())).contains("handbill versions my-page"));
        assert!(hint(Subject::Token).contains("handbill tokens"));
        assert!(hint(Subject::Invite).contains("handbill invites"));
        assert!(hint(Subject::Joining).contains("handbill invites create"));
        assert!(hint(Subject::Member).contains("handbill members"));
        assert_eq!(Subject::Page.hint("not_found"), None);
    }
}
