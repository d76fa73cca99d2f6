//! Hints for API errors, as commands: the API's own hints name HTTP calls, which do not help at a shell.
//! `--json` prints the API's errors unchanged.

use domain::Slug;

use crate::command::{Command, Download, Invites, Members, Tokens};

/// The hint for an error code after any command. `None` keeps the API's own hint, which names no call.
pub fn for_everyone(code: &str) -> Option<&'static str> {
    Some(match code {
        "unauthorized" => "run `handbill signup` for a new account, or `handbill login` to sign in to yours",
        "account_expired" => "run `handbill signup --yes` for a new account, and publish there",
        "account_suspended" => {
            "`handbill account` shows the reason; only the operator can lift the suspension"
        }
        "already_appealed" | "nothing_to_appeal" => "`handbill show SLUG` shows the moderation status",
        "insufficient_scope" => "use a token with that scope; `handbill tokens mint --scopes …` creates one",
        "payment_required" => {
            "pay with --yes or --max-price 0.50, or buy credit first with `handbill credits buy 5`"
        }
        "forbidden" => "ask an admin or the owner of the account; `handbill members` lists them",
        "not_private" => "make the page private first, with `handbill visibility SLUG private`",
        "not_found" => "`handbill list` lists the pages and sites",
        "already_claimed" => "the account is already claimed; `handbill account` shows it",
        "secret_in_publish" => {
            "remove the token from that file and publish again; `handbill tokens revoke ID` revokes it"
        }
        "idempotency_conflict" => "use another --idempotency-key, or omit it",
        "invalid_request" | "invalid_body" => {
            "correct the input and run the command again; see --help for its arguments"
        }
        "too_large" => {
            "publish less, for example with a .handbillignore file; a provisional account gets more storage when it is \
             claimed (`handbill account` shows the claim link)"
        }
        "quota_exceeded" => "delete unneeded pages with `handbill delete`, then run the command again",
        "version_conflict" => {
            "`handbill versions SLUG` lists the versions; add the changes of the live one to your files, then \
             publish them with its number as --if-version"
        }
        "version_live" => "make another version live with `handbill activate`, then run the command again",
        "version_held" => {
            "the moderators keep this version as evidence; its owner can appeal on the dashboard"
        }
        "slug_taken" => "run the command again to add a version to it, or choose another --slug",
        "agent_join_disabled" => {
            "ask the owner to let agents join, on the dashboard, or for a token to use with `handbill login`"
        }
        "invite_revoked" | "invite_expired" | "invite_used_up" => NEW_INVITE,
        "not_configured" => "ask the operator; this server has not configured it",
        "session_required" => "a person can do this on the dashboard, after signing in",
        "invalid_credentials" | "username_taken" | "weak_password" | "processor_error" => {
            "a person can do this in the browser"
        }
        "version_changed" | "job_state" => "an operator can do this in the browser",
        "method_not_allowed" | "upload_taken" => "check that the server is not older than this program",
        "outcome_unknown" => {
            "run the command again with the same --idempotency-key; without one, first check whether it succeeded"
        }
        "overloaded" => {
            "run the command again later; with the same --idempotency-key it publishes at most once"
        }
        "internal_error" => "run the command again; if it still fails, report the time to the operator",
        _ => return None,
    })
}

const NEW_INVITE: &str = "ask a member of the account for a new invite (`handbill invites create`)";

/// The subject of a command, as far as hints depend on it.
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
            Command::Activate { named, .. }
            | Command::Diff { named, .. }
            | Command::Download(Download { named, .. })
            | Command::Rollback { named, version: Some(_) } => Subject::Version(named.slug.clone()),
            Command::Publish(_)
            | Command::List
            | Command::Show(_)
            | Command::Versions(_)
            | Command::Rollback { version: None, .. }
            | Command::Visibility { .. }
            | Command::PrivateLink(_)
            | Command::Delete { .. }
            | Command::Undelete(_)
            | Command::Open(_) => Subject::Page,
            Command::Tokens { command: Some(Tokens::Mint(_)) } => Subject::Minting,
            Command::Tokens { .. } => Subject::Token,
            Command::Invites { command: Some(Invites::Create(_)) } => Subject::Inviting,
            Command::Invites { .. } => Subject::Invite,
            Command::Members { command: Some(Members::Remove { .. }) } => Subject::Member,
            Command::Join { .. } => Subject::Joining,
            Command::Signup
            | Command::Check(_)
            | Command::Account
            | Command::Usage
            | Command::ClaimLink
            | Command::Export { .. }
            | Command::Members { .. }
            | Command::Credits { .. }
            | Command::Login(_)
            | Command::Whoami => Subject::Other,
        }
    }

    /// The hint for an error code that means something specific after this command.
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
            (Subject::Joining, "not_found") => NEW_INVITE,
            (Subject::Other, "not_found") => "check that --url or HANDBILL_URL points to the right server",
            (Subject::Minting, "insufficient_scope") => {
                "request no more than your own token has (--scopes, --slug, --expires-in), or use a token with more"
            }
            (Subject::Minting | Subject::Joining, "quota_exceeded") => {
                "revoke unneeded tokens with `handbill tokens revoke ID`, then try again"
            }
            (Subject::Inviting, "quota_exceeded") => {
                "revoke invites with `handbill invites revoke CODE`, then try again"
            }
            (Subject::Inviting, "forbidden") => {
                "claim the account first: a person opens the claim link that `handbill account` shows"
            }
            (Subject::Member, "forbidden") => {
                "the owner cannot be removed; `handbill members` lists the others"
            }
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
    fn cli_hints_name_commands_and_no_api_calls() {
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
    fn not_found_hints_name_the_command_that_lists_the_subject() {
        let hint = |subject: Subject| subject.hint("not_found").unwrap_or_default();
        assert!(hint(Subject::Version("my-page".parse().unwrap())).contains("handbill versions my-page"));
        assert!(hint(Subject::Token).contains("handbill tokens"));
        assert!(hint(Subject::Invite).contains("handbill invites"));
        assert!(hint(Subject::Joining).contains("handbill invites create"));
        assert!(hint(Subject::Member).contains("handbill members"));
        assert_eq!(Subject::Page.hint("not_found"), None);
    }
}
