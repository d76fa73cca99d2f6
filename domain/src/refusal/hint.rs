//! What the caller of a refused call does next.

use super::Refusal;

impl Refusal {
    /// The next call to make.
    pub fn hint(&self) -> String {
        match self {
            Refusal::Unauthorized => {
                "sign up with POST /v1/signup to get a token, then send it as Authorization: Bearer <token>".into()
            }
            Refusal::NotSignedIn => {
                "sign in with POST /auth/login or at /signin; an agent needs no sign-in: it signs up with \
                 POST /v1/signup to get a token"
                    .into()
            }
            Refusal::AccountExpired | Refusal::ClaimExpired => {
                "sign up again with POST /v1/signup and publish there".into()
            }
            Refusal::AccountSuspended => {
                "members and tokens of the account read the reason in suspended.reason of GET /v1/account, or of the tool \
                 get_account; with a claim or an invite link, ask the person who sent it"
                    .into()
            }
            Refusal::PaymentRequired(challenge) => challenge.hint.clone(),
            Refusal::InsufficientScope(right) => right.hint().into(),
            Refusal::InvalidRequest { field, .. } => {
                format!("correct {field} and send the request again; GET /openapi.json describes every field")
            }
            Refusal::InvalidBody { .. } => {
                "send a JSON object as GET /openapi.json describes it, with Content-Type: application/json".into()
            }
            Refusal::WeakPassword { rule } => {
                format!("choose another password ({rule}) and send the same request again")
            }
            Refusal::InvalidCredentials => {
                "check both and send the same request again, or create a sign-in with POST /auth/register; an agent \
                 signs up with POST /v1/signup to get a token"
                    .into()
            }
            Refusal::RateLimited { retry_after_seconds } => {
                format!("wait {retry_after_seconds} s, then send the request again")
            }
            Refusal::TooLarge { .. } => {
                "shorten the body and send the same request again; GET /openapi.json tells how long each field may be"
                    .into()
            }
            // A second publish does not add to the first: it takes its place.
            Refusal::PublishTooLarge { .. } => {
                "publish again with fewer or smaller files; what does not fit goes to a site of its own, with POST \
                 /v1/publish under another slug, because each publish replaces all files of its slug"
                    .into()
            }
            Refusal::StorageFull { .. } => {
                "have a person open the claim_url of GET /v1/account, which lifts this, then publish again; deleting \
                 pages does not free it"
                    .into()
            }
            Refusal::SlugTaken { .. } => {
                "send POST /v1/publish again to add a version to it, or choose another slug".into()
            }
            Refusal::AmbiguousSlug { .. } => {
                "name the artifact by its host instead, such as my-page-a1b2; it stands in the page's address".into()
            }
            Refusal::NotFound(missing) => missing.hint().into(),
            Refusal::MethodNotAllowed { allowed } => {
                format!("send the request again with {allowed}; GET /openapi.json lists the methods of REST paths")
            }
            Refusal::UnsupportedMediaType { expected } => format!("send the request again as {expected}"),
            Refusal::NotConfigured { .. } => {
                "buy credit with POST /v1/credits where the dev rail is open, or ask the operator".into()
            }
            Refusal::SessionRequired => "agents buy credit with POST /v1/credits; people sign in at /signin".into(),
            Refusal::AgentJoinDisabled => {
                "ask the owner to switch it on with PATCH /v1/account, or to mint a token with POST /v1/tokens".into()
            }
            Refusal::Forbidden { .. } => {
                "ask an admin or the owner of the account; GET /v1/account/members lists them".into()
            }
            Refusal::NoAccount => "open a claim link or an invite in the browser where you are signed in".into(),
            Refusal::ForeignAccount => {
                "name one of the accounts that GET /auth/me lists, or leave X-Account out; to come onto this one, open \
                 an invite to it"
                    .into()
            }
            Refusal::OwnerStays => {
                "nobody can remove the owner, not even they themselves; GET /v1/account/members lists who else there is"
                    .into()
            }
            Refusal::UsernameTaken { .. } => {
                "choose another username, or sign in with POST /auth/login if it is yours".into()
            }
            Refusal::InviteRevoked | Refusal::InviteExpired | Refusal::InviteUsedUp => {
                "ask the account's owner for a fresh invite (POST /v1/account/invites)".into()
            }
            Refusal::AlreadyClaimed => "sign in at /signin; the account is on the dashboard of who claimed it".into(),
            Refusal::ForeignPage => {
                "send it from the service's own pages, beginning at /signin, or from a program without Origin".into()
            }
            Refusal::DevModeIsLocal => {
                "send it from the machine itself to the API's own address, such as http://127.0.0.1:8080, without a proxy; \
                 in public set HANDBILL_DEV_MODE=false, and POST /auth/login signs in"
                    .into()
            }
            Refusal::NotClaimed => {
                "claim it first: a person opens the claim_url of GET /v1/account; then POST /v1/account/invites again"
                    .into()
            }
            Refusal::ProcessorError => "try POST /v1/credits/checkout again in a minute".into(),
            Refusal::QuotaExceeded { .. } => {
                "delete what is no longer needed with DELETE /v1/artifacts/{slug}, then publish again".into()
            }
            Refusal::TooMany(crowd) => crowd.hint().into(),
            Refusal::TooManyAccounts { .. } => {
                "publish to an account that you own instead: GET /auth/me lists them, and POST /v1/tokens makes a token \
                 for one; if you need more accounts, ask the operator"
                    .into()
            }
            Refusal::IdempotencyConflict => "send this request with a new Idempotency-Key".into(),
            Refusal::SecretInPublish { .. } => {
                "remove the token from that file and publish again; if anyone else may have seen it, revoke it with POST \
                 /v1/tokens/revoke"
                    .into()
            }
            Refusal::InvalidArguments { tool, .. } => {
                format!("correct it and call {tool} again; tools/list describes its arguments")
            }
            Refusal::UploadTaken => {
                "publish what is there with the tool publish_upload, or get a fresh address with stage_upload".into()
            }
            Refusal::VersionChanged { .. } => {
                "look at what is live now with GET /internal/moderation/{host}, and decide on that version".into()
            }
            Refusal::DecidedMeanwhile { .. } => {
                "look again with GET /internal/moderation/{host}, and send its seen along with the decision".into()
            }
            Refusal::AlreadyAppealed => {
                "GET /v1/artifacts/{slug} shows the moderation status; to change the page, send POST \
                 /v1/artifacts/{slug}/versions, and you can appeal the new version"
                    .into()
            }
            Refusal::NothingToAppeal { .. } => {
                "GET /v1/artifacts/{slug} shows the moderation status; appeal when it is review or blocked".into()
            }
            Refusal::JobIs { .. } => {
                "look at it with GET /internal/queues/{queue}/jobs/{id}: what is dead, cancelled or failed can be \
                 retried, what waits or failed can be cancelled, what is dead can be discarded, what runs ends by itself"
                    .into()
            }
            Refusal::Overloaded { retry_after_seconds, .. } => {
                format!("send the request again in {retry_after_seconds} s")
            }
            Refusal::OutcomeUnknown(repeating) => repeating.hint().into(),
            Refusal::Internal => {
                "retry once; if it happens again, GET /v1/status, and tell the operator the X-Request-Id".into()
            }
        }
    }
}
