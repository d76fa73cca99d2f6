//! A month's usage in responses. All prices come from the tariff and must not be calculated here.

use domain::{AccountSummary, Tariff};
use poem_openapi::Object;

use super::Usd;
use super::account::AccountStatus;

const BYTES_PER_GB: f64 = 1_000_000_000.0;

/// The account's usage of the month and its estimated cost.
#[derive(Debug, Object)]
pub struct Usage {
    /// The UTC month, `YYYY-MM`.
    pub month: String,
    pub publishes: PublishUsage,
    pub storage: StorageUsage,
    pub traffic: TrafficUsage,
    pub private_artifacts: PrivateArtifacts,
    /// The balance. It can be negative.
    pub credits_usd: Usd,
    pub status: AccountStatus,
}

#[derive(Debug, Object)]
pub struct PublishUsage {
    pub used: u64,
    /// The number of free publishes: in total while provisional, per month once claimed.
    pub free_limit: u64,
    pub free_left: u64,
}

#[derive(Debug, Object)]
pub struct StorageUsage {
    pub bytes: u64,
    /// 1 GB is 10^9 bytes.
    pub gb: f64,
    /// What the next metering would charge for storage. The free storage is shared by all accounts of one
    /// owner, in the order in which they were claimed.
    pub est_monthly_cost_usd: Usd,
}

#[derive(Debug, Object)]
pub struct TrafficUsage {
    /// The number of page views this month.
    pub views: u64,
    pub free_limit: u64,
    /// The number of views above the free ones. They are billed.
    pub overage_views: u64,
}

#[derive(Debug, Object)]
pub struct PrivateArtifacts {
    /// The number of artifacts that are unlisted or private now.
    pub count: u64,
    pub monthly_cost_usd: Usd,
}

impl Usage {
    pub fn new(summary: &AccountSummary, tariff: &Tariff) -> Self {
        let (account, standing) = (&summary.account, summary.standing());
        Self {
            month: summary.month.to_string(),
            publishes: PublishUsage {
                used: standing.publishes_used,
                free_limit: tariff.free_publishes(account.status),
                free_left: tariff.free_publishes_left(standing),
            },
            storage: StorageUsage {
                bytes: account.storage_bytes,
                gb: account.storage_bytes as f64 / BYTES_PER_GB,
                est_monthly_cost_usd: tariff.storage_charge(summary.stored).into(),
            },
            traffic: TrafficUsage {
                views: summary.used.views,
                free_limit: tariff.free_views,
                overage_views: tariff.overage_views(summary.used.views),
            },
            private_artifacts: PrivateArtifacts {
                count: summary.restricted_artifacts,
                monthly_cost_usd: tariff.visibility_charge(summary.restricted_artifacts).into(),
            },
            credits_usd: account.balance.into(),
            status: account.status.into(),
        }
    }
}
