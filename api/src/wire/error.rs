//! The bodies of error responses. [`crate::http::refusal`] sets status and headers, and `domain` defines the
//! texts; neither belongs here.

use domain::{BlobHash, CurrentVersion, Refusal};
use poem_openapi::Object;

use super::{Timestamp, Usd};

/// The body of every error except 402, which has a challenge, and 412, which also has the live version.
#[derive(Debug, Object)]
#[oai(example)]
pub struct Error {
    /// The error code. The same cause always has the same code.
    pub code: String,
    /// What is wrong with this request.
    pub message: String,
    /// The next call to make.
    pub hint: String,
    /// Only for `content_missing`: the SHA-256 of each content that the account does not hold.
    #[oai(skip_serializing_if_is_none)]
    pub missing: Option<Vec<String>>,
}

/// The price of this request and how to pay it.
#[derive(Debug, Object)]
#[oai(example)]
pub struct Challenge {
    /// Always `payment_required`.
    pub code: String,
    /// What the payment is for, such as `publish`.
    pub reason: String,
    /// The price, plus the account's negative balance if it has one. An inline payment must equal it exactly.
    pub amount_usd: Usd,
    /// The payment methods.
    pub accepts: Vec<Accept>,
    /// What is wrong with this request.
    pub message: String,
    /// The next call to make.
    pub hint: String,
}

/// A payment method. It has `instructions` if it is available here, and a `status` if it is not.
#[derive(Debug, Object)]
pub struct Accept {
    /// `dev`, `x402-usdc-base` or `mpp-card`.
    pub scheme: String,
    #[oai(skip_serializing_if_is_none)]
    pub instructions: Option<String>,
    #[oai(skip_serializing_if_is_none)]
    pub status: Option<String>,
}

/// A publish whose condition is not met. `live_version`, `created_by` and `created_at` describe the live
/// version; they are null if the slug has none.
#[derive(Debug, Object)]
#[oai(example)]
pub struct VersionConflict {
    /// Always `version_conflict`.
    pub code: String,
    /// What is wrong with this request.
    pub message: String,
    /// The next call to make.
    pub hint: String,
    /// The live version's `seq`.
    #[oai(nullable)]
    pub live_version: Option<u32>,
    /// The id of the token that published it. Also null if a person did.
    #[oai(nullable)]
    pub created_by: Option<String>,
    /// When it was published.
    #[oai(nullable)]
    pub created_at: Option<Timestamp>,
}

/// An edit whose old text does not occur exactly once. Only the tool `edit_artifact` returns it.
#[derive(Debug, Object)]
pub struct EditMismatch {
    /// Always `edit_mismatch`.
    pub code: String,
    /// What is wrong with this request.
    pub message: String,
    /// The next call to make.
    pub hint: String,
    /// The position of the edit, from 0.
    pub edit: u64,
    /// The file.
    pub path: String,
    /// How often the old text occurs.
    pub hits: u64,
    /// The lines of the first hits. Without a hit, the lines that are most similar to the old text.
    pub nearest: Vec<NearestLine>,
}

/// A line of the file of an edit. A long one is cut.
#[derive(Debug, Object)]
pub struct NearestLine {
    /// Counted from 1.
    pub line: u64,
    pub text: String,
}

impl EditMismatch {
    /// `mismatch` is that of the refusal.
    pub fn new(refusal: &Refusal, mismatch: &domain::EditMismatch) -> Self {
        let Error { code, message, hint, .. } = Error::from(refusal);
        let domain::EditMismatch { edit, path, hits, nearest } = mismatch;
        let shown =
            |near: &domain::NearestLine| NearestLine { line: near.line as u64, text: near.text.clone() };
        Self {
            code,
            message,
            hint,
            edit: *edit as u64,
            path: path.clone(),
            hits: *hits as u64,
            nearest: nearest.iter().map(shown).collect(),
        }
    }
}

impl VersionConflict {
    /// `live` is that of the refusal.
    pub fn new(refusal: &Refusal, live: Option<CurrentVersion>) -> Self {
        let Error { code, message, hint, .. } = Error::from(refusal);
        Self {
            code,
            message,
            hint,
            live_version: live.map(|live| live.seq),
            created_by: live.and_then(|live| live.created_by).map(|token| token.to_string()),
            created_at: live.map(|live| live.created_at.into()),
        }
    }
}

impl From<&Refusal> for Error {
    fn from(refusal: &Refusal) -> Self {
        let missing = match refusal {
            Refusal::ContentMissing { missing } => Some(missing.iter().map(BlobHash::to_string).collect()),
            _ => None,
        };
        Self { code: refusal.code().to_owned(), message: refusal.message(), hint: refusal.hint(), missing }
    }
}

impl From<&domain::Challenge> for Challenge {
    fn from(challenge: &domain::Challenge) -> Self {
        Self {
            code: "payment_required".to_owned(),
            reason: challenge.reason.clone(),
            amount_usd: challenge.amount.into(),
            accepts: challenge.accepts.iter().map(Accept::from).collect(),
            message: challenge.message.clone(),
            hint: challenge.hint.clone(),
        }
    }
}

impl From<&domain::Accept> for Accept {
    fn from(accept: &domain::Accept) -> Self {
        let domain::Accept { scheme, instructions, status } = accept.clone();
        Self { scheme, instructions, status }
    }
}

impl poem_openapi::types::Example for Error {
    fn example() -> Self {
        Self::from(&Refusal::NotFound(domain::Missing::Artifact))
    }
}

impl poem_openapi::types::Example for VersionConflict {
    fn example() -> Self {
        let created_at = domain::Time::from_millis(1_767_225_600_000);
        let live = Some(CurrentVersion { seq: 8, created_by: None, created_at });
        Self::new(&Refusal::VersionConflict { live }, live)
    }
}

impl poem_openapi::types::Example for Challenge {
    fn example() -> Self {
        let price = domain::Micro::new(5_000);
        Self::from(&domain::Challenge::new("publish", price, domain::PaymentMethods::DEFAULT))
    }
}
