//! The text that a person sees when something was refused: what happened, what to do next, and a link for it.
//! A program gets a hint with the next call instead. Neither text may reveal more than the other.

use domain::{Missing, Refusal};

/// A refusal as text for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorText {
    pub what: String,
    pub next: String,
    pub link: Link,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub href: String,
    pub text: &'static str,
}

impl ErrorText {
    /// `path` is the path of the request that was refused.
    pub fn of(refusal: &Refusal, path: &str) -> Self {
        let (next, link) = if is_operator_path(path) {
            next_step_for_operators(refusal, path)
        } else {
            next_step(refusal, path)
        };
        Self { what: what(refusal), next, link }
    }

    /// What happened, as a page heading.
    pub fn title(&self) -> &str {
        self.what.trim_end_matches('.')
    }
}

/// Text as a sentence.
pub fn sentence(text: &str) -> String {
    let mut letters = text.trim_end_matches('.').chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

fn what(refusal: &Refusal) -> String {
    match refusal {
        Refusal::NotSignedIn => "You are not signed in.".into(),
        Refusal::NotFound(Missing::ClaimLink) => "This claim link is not valid.".into(),
        Refusal::NotFound(Missing::Invite) => "This invite link is not valid.".into(),
        Refusal::NotFound(Missing::Endpoint | Missing::Artifact | Missing::DeletedArtifact) => {
            "Page not found.".into()
        }
        Refusal::NotFound(Missing::Version | Missing::ReviewedVersion) => "Version not found.".into(),
        Refusal::NotFound(Missing::Member) => "Member not found.".into(),
        Refusal::NotFound(Missing::Token) => "Token not found or already revoked.".into(),
        Refusal::NotFound(Missing::Job) => "Job not found in this queue.".into(),
        Refusal::JobIs { state } => format!("Nothing was changed: the job is now {state}."),
        Refusal::MethodNotAllowed { .. } => "This URL does not support that request.".into(),
        Refusal::ForeignPage => "This request came from another site and was rejected.".into(),
        Refusal::RateLimited { .. } => "Too many attempts.".into(),
        refusal => sentence(&refusal.message()),
    }
}

/// What to do next, and the link for it.
#[expect(clippy::too_many_lines, reason = "an arm for each refusal")]
fn next_step(refusal: &Refusal, path: &str) -> (String, Link) {
    let to = |href: &str, text| Link { href: href.to_owned(), text };
    let again = |text| to(page_to_open(path), text);
    let dashboard = || match page_to_open(path) {
        // The page itself was refused, or it is not part of the dashboard.
        page if page == path || !page.starts_with("/dashboard/") => to("/dashboard", "Go to your dashboard"),
        page => to(page, "Go back"),
    };
    let (next, link) = match refusal {
        Refusal::Unauthorized | Refusal::NotSignedIn => ("Sign in to continue.", sign_in(path)),
        Refusal::InvalidCredentials => ("Check both, or create an account.", sign_in(path)),
        Refusal::ClaimExpired | Refusal::AccountExpired => (
            "Its pages cannot be restored. Ask your agent to sign up and publish again. You get a new claim \
             link.",
            to("/", "Publish a page yourself"),
        ),
        Refusal::AccountSuspended => (
            "Members can read the reason on the dashboard. Only the operator of this service can lift the \
             suspension.",
            dashboard(),
        ),
        Refusal::AlreadyClaimed => {
            ("If you claimed it, open your dashboard. If not, ask its owner for an invite.", dashboard())
        }
        Refusal::NotFound(Missing::ClaimLink) => (
            "It may be incomplete or replaced by a newer one, or the account may be deleted. Ask your agent \
             for a new claim link.",
            to("/", "About Handbill"),
        ),
        Refusal::NotFound(Missing::Invite) if !path.starts_with("/dashboard") => {
            ("It may be incomplete. Ask the sender for a new one.", to("/", "About Handbill"))
        }
        Refusal::InviteRevoked | Refusal::InviteExpired | Refusal::InviteUsedUp => (
            "Ask for a new invite. If you have already joined, the account is on your dashboard.",
            dashboard(),
        ),
        Refusal::NotFound(Missing::Endpoint) if !path.starts_with("/dashboard") => (
            "It may have been moved or deleted, or the address may be wrong.",
            to("/", "Go to the front page"),
        ),
        Refusal::NotFound(Missing::Artifact) if path.starts_with("/dashboard/") => {
            ("It may have been deleted.", to(account_of(path), "View all pages"))
        }
        Refusal::NotFound(_) => ("It may have been deleted.", dashboard()),
        Refusal::ForeignPage | Refusal::MethodNotAllowed { .. } => {
            ("Open the page and try again from there.", again("Open the page"))
        }
        Refusal::DevModeIsLocal => {
            ("Open it on the machine that runs Handbill, at the API's address.", to("/", "About Handbill"))
        }
        Refusal::RateLimited { retry_after_seconds } => {
            return (format!("Wait {}, then try again.", wait(*retry_after_seconds)), again("Try again"));
        }
        Refusal::Overloaded { .. } => ("Wait a few seconds, then try again.", again("Try again")),
        Refusal::OutcomeUnknown(_) => {
            ("Wait a few seconds, then check whether it succeeded.", again("Back to the page"))
        }
        Refusal::Internal | Refusal::ProcessorError => {
            ("Try again in a minute. If it fails again, contact the operator.", again("Try again"))
        }
        Refusal::NotConfigured { .. } => ("Contact the operator.", dashboard()),
        Refusal::PaymentRequired(_) => ("Buy credit, then try again.", dashboard()),
        Refusal::NotClaimed => ("Claim the account first: open its claim link.", dashboard()),
        Refusal::NoAccount | Refusal::ForeignAccount => ("Open a claim link or an invite.", dashboard()),
        Refusal::Forbidden { .. } | Refusal::InsufficientScope(_) => {
            ("Ask an admin or the owner of the account.", dashboard())
        }
        Refusal::QuotaExceeded { .. } | Refusal::TooMany(_) => {
            ("Remove what you no longer need, then try again.", dashboard())
        }
        Refusal::TooManyAccounts { .. } => (
            "Your agent can publish to one of your accounts: create a token for it on the dashboard. If you \
             need more accounts, contact the operator.",
            to("/dashboard", "Go to your dashboard"),
        ),
        Refusal::AlreadyAppealed | Refusal::NothingToAppeal { .. } => {
            ("The page's dashboard shows its moderation status.", again("Back to the page"))
        }
        Refusal::NotPrivate => {
            ("Make the page private first. It then has its own link.", again("Back to the page"))
        }
        _ => ("Go back, correct it and try again.", again("Back to the page")),
    };
    (next.to_owned(), link)
}

/// A waiting time in a unit that suits it.
fn wait(seconds: u64) -> String {
    if seconds < 600 {
        format!("{seconds} seconds")
    } else if seconds < 2 * 3600 {
        format!("{} minutes", seconds.div_ceil(60))
    } else {
        format!("{} hours", seconds.div_ceil(3600))
    }
}

/// Whether a path belongs to the operator's pages, which have no dashboard to go back to.
fn is_operator_path(path: &str) -> bool {
    path == "/admin" || path.starts_with("/admin/")
}

fn next_step_for_operators(refusal: &Refusal, path: &str) -> (String, Link) {
    if is_board_path(path) {
        return next_step_for_board(refusal, path);
    }
    let queue = Link { href: "/admin/moderation".to_owned(), text: "Go to the queue" };
    let next = match refusal {
        Refusal::NotFound(_) => "It may have been deleted.".to_owned(),
        Refusal::VersionChanged { .. } => "Review the current version, then decide.".to_owned(),
        Refusal::DecidedMeanwhile { .. } => "Review the new decision, then decide.".to_owned(),
        refusal => next_step(refusal, path).0,
    };
    (next, queue)
}

/// Whether a path belongs to the queue board.
fn is_board_path(path: &str) -> bool {
    path == "/admin/queues" || path.starts_with("/admin/queues/")
}

fn next_step_for_board(refusal: &Refusal, path: &str) -> (String, Link) {
    let board = Link { href: "/admin/queues".to_owned(), text: "Go to the queues" };
    let next = match refusal {
        Refusal::NotFound(Missing::Job) => {
            "Completed jobs are deleted after 48 hours. To find a job's queue, look for queue.name in the log.".to_owned()
        }
        Refusal::NotFound(_) => "Choose a queue from the list.".to_owned(),
        Refusal::JobIs { .. } => "Check its current state, then decide.".to_owned(),
        refusal => next_step(refusal, path).0,
    };
    (next, board)
}

fn sign_in(path: &str) -> Link {
    let next = page_to_open(path);
    let is_plain = next.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/-_".contains(&byte));
    let href = if is_plain && next != "/signin" { format!("/signin?next={next}") } else { "/signin".into() };
    Link { href, text: "Sign in" }
}

/// Some paths only accept forms. On the dashboard, the page that has the form is a prefix of such a path.
pub fn page_to_open(path: &str) -> &str {
    if path == "/signout" {
        return "/signin";
    }
    let mut segments = path.split('/').skip(1);
    if segments.next() != Some("dashboard") {
        return path;
    }
    let segments = [segments.next(), segments.next(), segments.next()];
    first_segments(
        path,
        match segments {
            [None | Some(""), ..] => 1,
            [_, Some("pages"), Some(_)] => 4,
            [_, Some("usage" | "credit" | "team" | "tokens" | "deleted"), _] => 3,
            _ => 2,
        },
    )
}

/// The account's own page, for a path below it.
fn account_of(path: &str) -> &str {
    first_segments(path, 2)
}

fn first_segments(path: &str, count: usize) -> &str {
    let end = path.match_indices('/').nth(count).map_or(path.len(), |(at, _)| at);
    &path[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_start_with_a_capital_and_end_with_one_full_stop() {
        assert_eq!(sentence("it must have 10 characters"), "It must have 10 characters.");
        assert_eq!(sentence("Done."), "Done.");
        assert_eq!(sentence(""), ".");
    }

    #[test]
    fn error_link_points_to_the_page_for_the_next_step() {
        let href = |refusal, path| ErrorText::of(&refusal, path).link.href;
        assert_eq!(href(Refusal::NotSignedIn, "/invite/abc"), "/signin?next=/invite/abc");
        assert_eq!(href(Refusal::NotSignedIn, "/invite/a&b=c"), "/signin");
        assert_eq!(
            href(Refusal::NotSignedIn, "/dashboard/acct_x/pages/y/delete"),
            "/signin?next=/dashboard/acct_x/pages/y"
        );
        assert_eq!(href(Refusal::AlreadyClaimed, "/claim/abc"), "/dashboard");
        assert_eq!(href(Refusal::ForeignPage, "/signout"), "/signin");
        assert_eq!(href(Refusal::RateLimited { retry_after_seconds: 7 }, "/report"), "/report");
    }

    #[test]
    fn queue_board_errors_link_back_to_the_board() {
        let told = |refusal, path| ErrorText::of(&refusal, path);
        for path in ["/admin/queues", "/admin/queues/scan", "/admin/queues/scan/01KC4GZJ2Q8W5T7RXN3VB6M9DE"] {
            for missing in [Missing::Job, Missing::Queue, Missing::Schedule] {
                assert_eq!(told(Refusal::NotFound(missing), path).link.href, "/admin/queues", "{path}");
            }
        }
        let late = told(Refusal::JobIs { state: "running".into() }, "/admin/queues/scan/01");
        assert_eq!(late.what, "Nothing was changed: the job is now running.");
        assert_eq!(told(Refusal::NotFound(Missing::Host), "/admin/queuesx").link.href, "/admin/moderation");
    }

    #[test]
    fn dashboard_errors_link_back_to_the_enclosing_page() {
        for (path, page) in [
            ("/dashboard", "/dashboard"),
            ("/dashboard/", "/dashboard"),
            ("/dashboard/acct_x", "/dashboard/acct_x"),
            ("/dashboard/acct_x/nothing", "/dashboard/acct_x"),
            ("/dashboard/acct_x/team/invites", "/dashboard/acct_x/team"),
            ("/dashboard/acct_x/team/members/1/remove", "/dashboard/acct_x/team"),
            ("/dashboard/acct_x/tokens/mint", "/dashboard/acct_x/tokens"),
            ("/dashboard/acct_x/pages/y/visibility", "/dashboard/acct_x/pages/y"),
            ("/dashboards/x", "/dashboards/x"),
        ] {
            assert_eq!(page_to_open(path), page);
        }
        let href = |refusal, path| ErrorText::of(&refusal, path).link.href;
        let forbidden = || Refusal::Forbidden { fault: String::new() };
        assert_eq!(href(forbidden(), "/dashboard/acct_x/tokens/1/revoke"), "/dashboard/acct_x/tokens");
        // This tab itself was refused, so it is not the way back.
        assert_eq!(href(forbidden(), "/dashboard/acct_x/tokens"), "/dashboard");
        let missing = Refusal::NotFound(Missing::Artifact);
        assert_eq!(href(missing, "/dashboard/acct_x/pages/y/delete"), "/dashboard/acct_x");
    }

    #[test]
    fn admin_errors_link_back_to_the_review_queue() {
        for refusal in [Refusal::NotFound(Missing::Host), Refusal::ForeignPage, Refusal::Internal] {
            for path in ["/admin", "/admin/moderation/my-page-a1b2", "/admin/signout"] {
                assert_eq!(ErrorText::of(&refusal, path).link.href, "/admin/moderation");
            }
        }
        assert_ne!(ErrorText::of(&Refusal::Internal, "/administration").link.href, "/admin/moderation");
    }

    #[test]
    fn not_found_pages_avoid_the_word_artifact() {
        for missing in [Missing::Artifact, Missing::Version, Missing::Member, Missing::Token] {
            let what = ErrorText::of(&Refusal::NotFound(missing), "/dashboard/acct_x").what;
            assert!(!what.contains("artifact"), "{what}");
        }
    }

    #[test]
    fn rate_limit_page_says_how_long_to_wait() {
        for (seconds, told) in [(599, "599 seconds"), (3_601, "61 minutes"), (86_400, "24 hours")] {
            let refusal = Refusal::RateLimited { retry_after_seconds: seconds };
            assert_eq!(ErrorText::of(&refusal, "/claim/abc").next, format!("Wait {told}, then try again."));
        }
        let told = ErrorText::of(&Refusal::RateLimited { retry_after_seconds: 7 }, "/signin");
        assert!(told.next.contains("7 seconds"), "{told:?}");
    }
}
