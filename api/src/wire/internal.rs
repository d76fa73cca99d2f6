//! Requests and responses of the operator's calls.

use domain::{Host, Micro, Month, Refusal};
use poem_openapi::Object;
use poem_openapi::types::Example;

use super::Usd;
use super::moderation::{TypedHost, read_host};
use super::text::typed_texts;

typed_texts! {
    TypedMonth: pattern: Some("^[0-9]{4}-(0[1-9]|1[0-2])$".to_owned());
}

/// The month to charge.
#[derive(Default, Object)]
#[oai(example)]
pub struct RunMetering {
    /// The UTC month, `YYYY-MM`. The default is the current month. A later month is accepted only in dev
    /// mode.
    pub month: Option<TypedMonth>,
}

/// The result of a metering.
#[derive(Debug, Object)]
#[oai(example)]
pub struct Metered {
    pub month: String,
    /// The number of claimed accounts that were checked.
    pub accounts: u64,
    /// The number of new charges.
    pub charges: u64,
    /// The sum of the new charges.
    pub total_usd: Usd,
}

/// The result of a cleanup.
#[derive(Debug, Object)]
#[oai(example)]
pub struct CleanedUp {
    /// The number of expired accounts that were purged.
    pub purged: u64,
    pub blobs_deleted: u64,
    pub bytes_freed: u64,
}

/// A view to count.
#[derive(Object)]
#[oai(example)]
pub struct CountView {
    /// The page's host, as in its address.
    pub host: TypedHost,
}

/// A counted view.
#[derive(Debug, Object)]
#[oai(example)]
pub struct ViewCounted {
    pub host: String,
    /// Always 1.
    pub counted: u64,
}

impl RunMetering {
    pub fn read(&self) -> Result<Option<Month>, Refusal> {
        let malformed = |()| Refusal::InvalidBody { fault: "month: must be of the form YYYY-MM".to_owned() };
        self.month.as_ref().map(|month| month.0.parse()).transpose().map_err(malformed)
    }
}

impl CountView {
    pub fn read(&self) -> Result<Host, Refusal> {
        read_host(&self.host.0)
    }
}

impl From<service::Metered> for Metered {
    fn from(metered: service::Metered) -> Self {
        Self {
            month: metered.month.to_string(),
            accounts: metered.accounts,
            charges: metered.charges,
            total_usd: metered.total.into(),
        }
    }
}

impl From<service::CleanedUp> for CleanedUp {
    fn from(cleaned: service::CleanedUp) -> Self {
        Self {
            purged: cleaned.accounts,
            blobs_deleted: cleaned.blobs.blobs,
            bytes_freed: cleaned.blobs.bytes,
        }
    }
}

impl From<Host> for ViewCounted {
    fn from(host: Host) -> Self {
        Self { host: host.to_string(), counted: 1 }
    }
}

impl Example for RunMetering {
    fn example() -> Self {
        Self { month: Some(TypedMonth("2026-01".to_owned())) }
    }
}

impl Example for Metered {
    fn example() -> Self {
        Self {
            month: "2026-01".to_owned(),
            accounts: 12,
            charges: 3,
            total_usd: Micro::new(1_050_000).into(),
        }
    }
}

impl Example for CleanedUp {
    fn example() -> Self {
        Self { purged: 2, blobs_deleted: 5, bytes_freed: 48_213 }
    }
}

impl Example for CountView {
    fn example() -> Self {
        Self { host: TypedHost("my-page-a1b2".to_owned()) }
    }
}

impl Example for ViewCounted {
    fn example() -> Self {
        Self { host: "my-page-a1b2".to_owned(), counted: 1 }
    }
}
