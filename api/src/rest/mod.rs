//! The REST endpoints, one group a file. The code of a path is found by walking the path.
//!
//! To add an endpoint: a method in its group, its shapes in `wire`, one call of `service`. A new group joins
//! [`Groups`]; the document, the 405s and the log follow by themselves.

mod account;
mod artifacts;
mod audit;
mod auth;
mod blocked_contents;
mod checkout;
mod credits;
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

/// The groups, by what they are about. A tuple takes 2 to 16 of them.
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
type AboutAccount = (signup::SignUp, account::Account, usage::Usage, audit::Audit);
type AboutTeam = (tokens::Tokens, invites::Invites, join::Join, members::Members);
type AboutArtifacts = (publish::Publish, artifacts::Artifacts, versions::Versions, uploads::Uploads);
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
    /// The service itself.
    Service,
    /// The account and its first token. Everything else needs that token.
    Account,
    /// People, and how they sign in.
    People,
    /// Tokens for other agents.
    Tokens,
    /// The people and agents that share an account.
    Team,
    /// Pages and sites that were published, and their versions.
    Artifacts,
    /// Credit, and how it is bought.
    Money,
    /// Reports of abuse, and what comes of them.
    Moderation,
    /// For whoever runs the service; not for agents.
    Operator,
}

const DESCRIPTION: &str = "\
Publish static HTML and get a URL.

1. `POST /v1/signup` gives a token; no email, no browser. Send it as `Authorization: Bearer <token>`.
2. `POST /v1/publish` with `html` or `files` gives a URL. The same `slug` again adds a version and keeps the URL.
3. A new account expires soon. Hand its `claim_url` to a person: opening it makes the account and its pages permanent.
4. Past the free allowance a publish answers 402 with what settles it. Tell your human the price before you pay.

Every error is `{code, message, hint}`; the hint names the next call to make.";

/// The endpoints, with all that the document says of them.
pub fn open_api(base_url: &str) -> OpenApiService<Groups, ()> {
    let groups: Groups = Default::default();
    OpenApiService::new(groups, "Handbill", env!("CARGO_PKG_VERSION"))
        .description(DESCRIPTION)
        .server(base_url)
}
