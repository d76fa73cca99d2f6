//! The REST endpoints, one file for each group.
//!
//! To add an endpoint, write a method in its group, its types in `wire`, and a line in the table of routes.
//! Its handler calls `service` once. A new group also joins [`Groups`].

mod account;
mod archives;
mod artifacts;
mod audit;
mod auth;
mod blocked_contents;
mod checkout;
mod credits;
mod differences;
mod exports;
mod files;
mod internal;
mod invites;
mod join;
mod ledger;
mod members;
mod moderation;
mod publish;
mod queues;
mod reports;
mod review;
mod schedules;
mod signup;
mod status;
mod suspensions;
mod tokens;
mod uploads;
mod usage;
mod versions;
mod webhook;

use poem_openapi::{OpenApiService, Tags};

/// The groups, by topic. A tuple of poem-openapi holds 2 to 16 groups.
type Groups = (
    AboutService,
    AboutPeople,
    AboutAccount,
    AboutTeam,
    AboutArtifacts,
    AboutMoney,
    AboutModeration,
    AboutOperator,
);
type AboutService = status::Status;
type AboutPeople = auth::Auth;
type AboutAccount = (signup::SignUp, account::Account, usage::Usage, audit::Audit, exports::Exports);
type AboutTeam = (tokens::Tokens, invites::Invites, join::Join, members::Members);
type AboutArtifacts = (
    publish::Publish,
    artifacts::Artifacts,
    versions::Versions,
    files::Files,
    differences::Diffs,
    archives::Archives,
    uploads::Uploads,
);
type AboutMoney = (credits::Credits, checkout::Checkout, ledger::Ledger, webhook::Webhook);
type AboutModeration = (reports::Reports, moderation::Moderation);
type AboutOperator = (
    internal::Internal,
    review::Review,
    blocked_contents::BlockedContents,
    suspensions::Suspensions,
    queues::Queues,
    schedules::Schedules,
);

#[derive(Tags)]
enum Tag {
    /// Status of the service.
    Service,
    /// The account and its first token, which every other call needs.
    Account,
    /// User accounts and sign-in.
    People,
    /// Create, list and revoke tokens.
    Tokens,
    /// The people and agents of an account.
    Team,
    /// Published pages and sites, and their versions.
    Artifacts,
    /// Credit, and how to buy it.
    Money,
    /// Reports of abuse, and moderation.
    Moderation,
    /// For the operator of the service, not for agents.
    Operator,
}

const DESCRIPTION: &str = "\
Publish static HTML and get a URL.

1. `POST /v1/signup` returns a token, without an email or a browser. Send it as `Authorization: Bearer <token>`.
2. `POST /v1/publish` with `html` or `files` returns a URL. The same `slug` adds a version and keeps the URL.
3. A new account expires soon. Give its `claim_url` to a person, who opens it to keep the account and its pages.
4. After the free allowance a publish returns 402 with its price. Tell your human the price before you pay.

Every error is `{code, message, hint}`; the hint names the next call.";

/// The endpoints, with the texts of the OpenAPI document.
pub fn open_api(base_url: &str) -> OpenApiService<Groups, ()> {
    let groups: Groups = Default::default();
    OpenApiService::new(groups, "Handbill", env!("CARGO_PKG_VERSION"))
        .description(DESCRIPTION)
        .server(base_url)
}
