//! The next step for the caller of a refused request.

use super::Refusal;

impl Refusal {
    /// The next call to make.
    #[expect(clippy::too_many_lines, reason = "an arm for each refusal")]
    pub fn hint(&self) -> String {
        match self {
            Refusal::Unauthorized => {
                "sign up with POST /v1/signup to get a token, then send it as Authorization: Bearer <token>".into()
            }
            Refusal::NotSignedIn => {
                "sign in with POST /auth/login or at /signin; agents sign up with POST /v1/signup to get a \
                 token"
                    .into()
            }
            Refusal::AccountExpired | Refusal::ClaimExpired => {
                "sign up again with POST /v1/signup and publish to the new account".into()
            }
            Refusal::AccountSuspended => {
                "read suspended.reason in GET /v1/account or in the tool get_account; if you have only a \
                 claim link or an invite, ask the person who sent it"
                    .into()
            }
            Refusal::PaymentRequired(challenge) => challenge.hint.clone(),
            Refusal::InsufficientScope(right) => right.hint().into(),
            Refusal::InvalidRequest { field, .. } => {
                format!(
                    "correct {field} and send the request again; GET /skill/reference/contents.md leads \
                     to its description"
                )
            }
            Refusal::InvalidBody { .. } => {
                "send a JSON object with Content-Type: application/json; GET /skill/reference/contents.md \
                 leads to its fields"
                    .into()
            }
            Refusal::WeakPassword { rule } => {
                format!("choose another password ({rule}) and send the same request again")
            }
            Refusal::InvalidCredentials => {
                "correct the username or the password and send the request again, or register with POST \
                 /auth/register; agents sign up with POST /v1/signup to get a token"
                    .into()
            }
            Refusal::RateLimited { retry_after_seconds } => {
                format!("wait {retry_after_seconds} s, then send the request again")
            }
            Refusal::TooLarge { .. } => {
                "send a shorter body; GET /skill/reference/contents.md leads to the maximum length of each \
                 field"
                    .into()
            }
            // A second publish does not add files to the first, it replaces them.
            Refusal::PublishTooLarge { .. } => {
                "publish again with fewer or smaller files; publish the other files under another slug with \
                 POST /v1/publish, because each publish replaces all files of its slug"
                    .into()
            }
            Refusal::StorageFull { .. } => {
                "ask a person to open the claim_url from GET /v1/account, which removes the limit, or \
                 free storage with DELETE /v1/artifacts/{slug}?purge=true; then publish again"
                    .into()
            }
            Refusal::SlugTaken { .. } => {
                "send POST /v1/publish again to add a version to it, or choose another slug".into()
            }
            Refusal::SlugInUse { .. } => {
                "delete the other artifact with DELETE /v1/artifacts/{slug}, then repeat this call with \
                 ?host= and its host"
                    .into()
            }
            Refusal::VersionLive { .. } => {
                "make another version live with POST /v1/artifacts/{slug}/activate, then send this \
                 request again"
                    .into()
            }
            Refusal::VersionHeld { .. } => {
                "make it live with POST /v1/artifacts/{slug}/activate, then appeal with POST \
                 /v1/artifacts/{slug}/appeal"
                    .into()
            }
            Refusal::AmbiguousSlug { .. } => {
                "use the artifact's host instead of the slug; the host is the part of the page's URL such \
                 as my-page-a1b2".into()
            }
            Refusal::NotFound(missing) => missing.hint().into(),
            Refusal::MethodNotAllowed { allowed } => {
                format!(
                    "send the request again with {allowed}; GET /skill/reference/contents.md lists the \
                     methods of REST paths"
                )
            }
            Refusal::UnsupportedMediaType { expected } => format!("send the request again as {expected}"),
            Refusal::NotConfigured { .. } => {
                "ask the operator to set up card payments; in dev mode, buy credit with POST /v1/credits".into()
            }
            Refusal::SessionRequired => "agents buy credit with POST /v1/credits; people sign in at /signin".into(),
            Refusal::AgentJoinDisabled => {
                "ask the owner to allow it with PATCH /v1/account, or to create a token for you with POST \
                 /v1/tokens".into()
            }
            Refusal::Forbidden { .. } => {
                "ask an admin or the owner of the account; GET /v1/account/members lists them".into()
            }
            Refusal::NoAccount => "open a claim link or an invite in the browser where you are signed in".into(),
            Refusal::ForeignAccount => {
                "set X-Account to one of the accounts that GET /auth/me lists, or omit the header; to join \
                 this account, open an invite to it"
                    .into()
            }
            Refusal::OwnerStays => {
                "the owner of an account cannot be removed or leave; GET /v1/account/members lists the \
                 other members"
                    .into()
            }
            Refusal::UsernameTaken { .. } => {
                "choose another username, or sign in with POST /auth/login if it is yours".into()
            }
            Refusal::InviteRevoked | Refusal::InviteExpired | Refusal::InviteUsedUp => {
                "ask the account's owner for a new invite (POST /v1/account/invites)".into()
            }
            Refusal::AlreadyClaimed => "if you claimed it, sign in at /signin; the account is on your \
                 dashboard".into(),
            Refusal::ForeignPage => {
                "use this service's own pages, starting at /signin, or send the request from a program \
                 without an Origin header".into()
            }
            Refusal::DevModeIsLocal => {
                "send the request from the machine that runs the service, without a proxy, to the API's \
                 address, such as http://127.0.0.1:8080; on a public server set HANDBILL_DEV_MODE=false and \
                 sign in with POST /auth/login"
                    .into()
            }
            Refusal::NotClaimed => {
                "ask a person to claim the account with the claim_url from GET /v1/account, then send POST \
                 /v1/account/invites again"
                    .into()
            }
            Refusal::ProcessorError => "try POST /v1/credits/checkout again in a minute".into(),
            Refusal::QuotaExceeded { .. } => {
                "delete artifacts that you no longer need with DELETE /v1/artifacts/{slug}, then publish \
                 again".into()
            }
            Refusal::TooMany(crowd) => crowd.hint().into(),
            Refusal::TooManyAccounts { .. } => {
                "publish to an account that you own already: GET /auth/me lists your accounts, and POST \
                 /v1/tokens creates a token; if you need more accounts, ask the operator"
                    .into()
            }
            Refusal::IdempotencyConflict => "send this request with a new Idempotency-Key".into(),
            Refusal::VersionConflict { live: Some(live) } => {
                let seq = live.seq;
                format!(
                    "read the live version (GET /v1/artifacts/{{slug}}/files), add its changes to your files, and \
                     publish them with If-Match: \"v{seq}\" or expected_version {seq}"
                )
            }
            Refusal::VersionConflict { live: None } => {
                "GET /v1/artifacts lists your slugs and their live versions; correct the slug, or publish \
                 without the condition"
                    .into()
            }
            Refusal::ContentMissing { .. } => {
                "send the request again with the content of the files in missing; give the others by \
                 sha256"
                    .into()
            }
            Refusal::EditMismatch(_) => {
                "call edit_artifact again with an old text that occurs exactly once; read_file shows the \
                 text"
                    .into()
            }
            Refusal::SecretInPublish { .. } => {
                "remove the token from that file and publish again; if anyone else may have seen it, revoke it with POST \
                 /v1/tokens/revoke"
                    .into()
            }
            Refusal::InvalidArguments { tool, .. } => {
                format!("correct the argument and call {tool} again; tools/list describes the arguments")
            }
            Refusal::UploadTaken => {
                "publish the uploaded files with the tool publish_upload, or get a new upload URL with \
                 stage_upload".into()
            }
            Refusal::VersionChanged { .. } => {
                "get the page again with GET /internal/moderation/{host} and decide on its version".into()
            }
            Refusal::DecidedMeanwhile { .. } => {
                "get the page again with GET /internal/moderation/{host} and send its seen with the \
                 decision".into()
            }
            Refusal::AlreadyAppealed => {
                "GET /v1/artifacts/{slug} shows the moderation status; to change the page, send POST \
                 /v1/artifacts/{slug}/versions, and you can appeal the new version"
                    .into()
            }
            Refusal::NothingToAppeal { .. } => {
                "GET /v1/artifacts/{slug} shows the moderation status; appeal when it is review or blocked".into()
            }
            Refusal::NotPrivate => {
                "PATCH /v1/artifacts/{slug} with {\"visibility\": \"private\"} makes it private and returns its \
                 signed_url"
                    .into()
            }
            Refusal::JobIs { .. } => {
                "get its state with GET /internal/queues/{queue}/jobs/{id}: dead, cancelled and failed jobs \
                 can be retried, waiting and failed jobs can be cancelled, dead jobs can be discarded, and \
                 running jobs cannot be changed"
                    .into()
            }
            Refusal::Overloaded { retry_after_seconds, .. } => {
                format!("send the request again in {retry_after_seconds} s")
            }
            Refusal::OutcomeUnknown(repeating) => repeating.hint().into(),
            Refusal::Internal => {
                "retry once; if it fails again, check GET /v1/status and send the X-Request-Id to the \
                 operator".into()
            }
        }
    }
}
