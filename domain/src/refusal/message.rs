//! The text of each refusal.

use super::Refusal;

impl Refusal {
    #[expect(clippy::too_many_lines, reason = "an arm for each refusal")]
    pub fn message(&self) -> String {
        match self {
            Refusal::Unauthorized => "the token is missing, unknown, revoked or expired".into(),
            Refusal::NotSignedIn => "sign-in required: this endpoint needs a person's session".into(),
            Refusal::AccountExpired => "this provisional account has expired and is read-only".into(),
            Refusal::ClaimExpired => "this account expired before it was claimed".into(),
            Refusal::AccountSuspended => {
                "this account is suspended: it is read-only and cannot be claimed or joined".into()
            }
            Refusal::PaymentRequired(challenge) => challenge.message.clone(),
            Refusal::InsufficientScope(right) => right.message().into(),
            Refusal::InvalidRequest { field, fault } => format!("{field}: {fault}"),
            Refusal::InvalidBody { fault } => format!("invalid request body: {fault}"),
            Refusal::WeakPassword { rule } => format!("the password is too weak: {rule}"),
            Refusal::InvalidCredentials => "wrong username or password".into(),
            Refusal::RateLimited { retry_after_seconds } => {
                format!("too many requests; try again in {retry_after_seconds} s")
            }
            Refusal::TooLarge { limit }
            | Refusal::PublishTooLarge { limit }
            | Refusal::StorageFull { limit } => format!("too large: {limit}"),
            Refusal::SlugTaken { slug } => format!("the slug {slug:?} was just taken on this account"),
            Refusal::SlugInUse { slug } => format!("another artifact of this account has the slug {slug:?}"),
            Refusal::VersionLive { seq } => format!("version {seq} is live"),
            Refusal::VersionHeld { seq } => {
                format!("version {seq} is kept as evidence, because it is blocked")
            }
            Refusal::AmbiguousSlug { slug } => format!("several artifacts have the slug {slug:?}"),
            Refusal::NotFound(missing) => format!("there is no such {}", missing.name()),
            Refusal::MethodNotAllowed { allowed } => format!("this path supports only {allowed}"),
            Refusal::UnsupportedMediaType { expected } => format!("the content type must be {expected}"),
            Refusal::NotConfigured { what } => format!("{what} is not configured on this deployment"),
            Refusal::SessionRequired => "this endpoint needs a person's session, not a bearer token".into(),
            Refusal::AgentJoinDisabled => "the owner does not allow agents to join".into(),
            Refusal::Forbidden { fault } => fault.clone(),
            Refusal::NoAccount => "you are not a member of any account yet".into(),
            Refusal::ForeignAccount => "you are not a member of the account in X-Account".into(),
            Refusal::OwnerStays => "the owner cannot be removed".into(),
            Refusal::UsernameTaken { username } => format!("the username {username:?} is taken"),
            Refusal::InviteRevoked => "this invite has been revoked".into(),
            Refusal::InviteExpired => "this invite has expired".into(),
            Refusal::InviteUsedUp => "this invite has been used up".into(),
            Refusal::AlreadyClaimed => "this account has been claimed already".into(),
            Refusal::ForeignPage => "cross-site requests are not allowed".into(),
            Refusal::DevModeIsLocal => {
                "dev mode allows this only on the machine that runs the service; the request came through a \
                 proxy or has another host name"
                    .into()
            }
            Refusal::NotClaimed => "only claimed accounts can invite, and this one is provisional".into(),
            Refusal::ProcessorError => "the card processor refused to open a checkout".into(),
            Refusal::QuotaExceeded { limit } => format!("the account is at its limit: {limit}"),
            Refusal::TooMany(crowd) => format!("the account has reached its limit of {}", crowd.name()),
            Refusal::TooManyAccounts { limit } => {
                format!("you have reached the limit of {limit} accounts per person")
            }
            Refusal::IdempotencyConflict => {
                "this Idempotency-Key was used for another request in the last 24 hours".into()
            }
            Refusal::VersionConflict { live: Some(live) } => {
                format!("the condition of this publish is not met: version {} is live", live.seq)
            }
            Refusal::VersionConflict { live: None } => {
                "the condition of this publish is not met: the slug has no live version".into()
            }
            Refusal::ContentMissing { missing } => {
                let count = missing.len();
                format!("the account does not hold {count} of the contents that are given by sha256")
            }
            Refusal::EditMismatch(mismatch) => mismatch.message(),
            Refusal::SecretInPublish { path, line } => {
                let line = line.map(|line| format!(" on line {line}")).unwrap_or_default();
                format!(
                    "files: {path:?} holds an active token of this service (svc_sk_…){line}; nothing was published"
                )
            }
            Refusal::InvalidArguments { fault, .. } => fault.clone(),
            Refusal::UploadTaken => "this upload URL has already been used; it accepts one upload".into(),
            Refusal::VersionChanged { current: Some(seq) } => {
                format!("the version to decide on has changed: it is now version {seq}")
            }
            Refusal::VersionChanged { current: None } => "the page no longer has a version".into(),
            Refusal::DecidedMeanwhile { status } => {
                format!(
                    "another decision was made since you opened the page; its status is now {}",
                    status.as_str()
                )
            }
            Refusal::AlreadyAppealed => "this version has already been appealed".into(),
            Refusal::NothingToAppeal { status } => {
                format!(
                    "there is nothing to appeal: the moderation status of the page is {}",
                    status.as_str()
                )
            }
            Refusal::NotPrivate => "the artifact is not private, so it has no link to replace".into(),
            Refusal::JobIs { state } => format!("this is not possible while the job is {state}"),
            Refusal::Overloaded { fault, .. } => fault.clone(),
            Refusal::OutcomeUnknown(_) => {
                "the database stopped responding, so it is unknown whether the request succeeded".into()
            }
            Refusal::Internal => "something went wrong on our side".into(),
        }
    }
}
