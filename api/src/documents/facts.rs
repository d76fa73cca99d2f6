//! The facts of this deployment for the documents: addresses, prices and limits. They come from the settings
//! and from `domain`, and must never be written into a template.

use std::time::Duration;

use domain::link::Addresses;
use domain::{
    CardTerms, DevPaymentTerms, FileSet, Host, InviteTerms, Micro, PaymentMethods, SiteLabel, Slug, Tariff,
};

use crate::html::figures::{Count, Dollars};
use crate::wire::CreditPurchase;

const BYTES_PER_MB: u64 = 1_048_576;
const BYTES_PER_GB: f64 = 1e9;

/// The facts, in units for people. Prices are in US dollars.
#[derive(Clone, Debug)]
pub struct Facts {
    pub base_url: String,
    pub serve_url: String,
    /// The URL of a page with the host `my-page-a1b2`.
    pub page_url: String,
    /// The URL of one of its versions.
    pub version_url: String,
    pub rails: PaymentMethods,
    pub publish_price: Micro,
    pub visibility_price: Micro,
    pub storage_price_per_gb: Micro,
    pub traffic_price_per_million: Micro,
    /// As text, such as `30 minutes`.
    pub provisional_lifetime: String,
    pub provisional_publishes: Count,
    pub provisional_mb: u64,
    pub claimed_publishes: Count,
    pub claimed_artifacts: Count,
    pub free_storage_gb: f64,
    pub free_views: Count,
    pub credit_usd_min: i64,
    pub credit_usd_max: i64,
}

// Facts that are the same in every deployment.
impl Facts {
    pub const FILES_MAX: usize = FileSet::FILES_MAX;
    pub const PUBLISH_MB_MAX: u64 = FileSet::BYTES_MAX / BYTES_PER_MB;
    pub const SLUG: &str = Slug::PATTERN;
    pub const INVITE_USES: u32 = InviteTerms::USES;
    pub const INVITE_HOURS: u32 = InviteTerms::TTL_HOURS;
    pub const VERSION: &str = env!("CARGO_PKG_VERSION");

    pub fn of(addresses: &Addresses, tariff: &Tariff) -> Self {
        Self {
            base_url: addresses.base_url.clone(),
            serve_url: addresses.serve_url.clone(),
            page_url: "my-page-a1b2"
                .parse()
                .map_or_else(|_| String::new(), |host: Host| addresses.page(&host)),
            version_url: "my-page-a1b2-0z9y8x7w"
                .parse()
                .map_or_else(|_| String::new(), |label: SiteLabel| addresses.site(&label)),
            rails: tariff.rails(),
            publish_price: tariff.publish_price,
            visibility_price: tariff.visibility_price,
            storage_price_per_gb: tariff.storage_price_per_gb,
            traffic_price_per_million: tariff.traffic_price_per_million,
            provisional_lifetime: duration_text(tariff.provisional_lifetime),
            provisional_publishes: Count(tariff.provisional_free_publishes),
            provisional_mb: tariff.provisional_storage_bytes_max / BYTES_PER_MB,
            claimed_publishes: Count(tariff.claimed_free_publishes),
            claimed_artifacts: Count(tariff.claimed_artifacts_max),
            free_storage_gb: tariff.free_storage_bytes as f64 / BYTES_PER_GB,
            free_views: Count(tariff.free_views),
            credit_usd_min: CreditPurchase::USD_MIN,
            credit_usd_max: CreditPurchase::USD_MAX,
        }
    }
}

impl Facts {
    /// Whether a call can pay with `X-PAYMENT`.
    pub fn takes_payments(&self) -> bool {
        self.rails.dev == DevPaymentTerms::Open
    }

    pub fn publish_usd(&self) -> Dollars {
        Dollars(self.publish_price)
    }

    pub fn visibility_usd(&self) -> Dollars {
        Dollars(self.visibility_price)
    }

    pub fn storage_usd_per_gb(&self) -> Dollars {
        Dollars(self.storage_price_per_gb)
    }

    pub fn traffic_usd_per_million(&self) -> Dollars {
        Dollars(self.traffic_price_per_million)
    }

    pub fn takes_cards(&self) -> bool {
        self.rails.card == CardTerms::Open
    }
}

/// The duration in the largest unit that divides it.
fn duration_text(time: Duration) -> String {
    let seconds = time.as_secs();
    let (count, unit) = match seconds {
        _ if seconds.is_multiple_of(86_400) => (seconds / 86_400, "day"),
        _ if seconds.is_multiple_of(3_600) => (seconds / 3_600, "hour"),
        _ if seconds.is_multiple_of(60) => (seconds / 60, "minute"),
        _ => (seconds, "second"),
    };
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
impl Facts {
    /// The facts of a deployment with default settings.
    pub fn sample() -> Self {
        Self::of(&Self::sample_addresses(), &Tariff::default())
    }

    pub fn sample_addresses() -> Addresses {
        Addresses {
            base_url: "http://127.0.0.1:8080".into(),
            serve_url: "http://127.0.0.1:8081".into(),
            edge_domain: "localhost".into(),
            url_style: domain::link::UrlStyle::Path,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_written_in_the_largest_whole_unit() {
        let text = |seconds| duration_text(Duration::from_secs(seconds));
        assert_eq!([text(1800), text(60), text(2)], ["30 minutes", "1 minute", "2 seconds"]);
        assert_eq!([text(7200), text(86_400), text(90)], ["2 hours", "1 day", "90 seconds"]);
    }
}
