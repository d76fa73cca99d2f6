//! A month's use as callers see it. Every price in it comes from the tariff and must never be worked out here.

use domain::{AccountSummary, Tariff};
use poem_openapi::Object;

use super::Usd;
use super::account::AccountStatus;

const BYTES_PER_GB: f64 = 1_000_000_000.0;

/// What the account used this month, and what that will cost.
#[derive(Debug, Object)]
pub struct Usage {
    /// The UTC month, `YYYY-MM`.
    pub month: String,
    pub publishes: PublishUsage,
    pub storage: StorageUsage,
    pub traffic: TrafficUsage,
    pub private_artifacts: PrivateArtifacts,
    /// The balance; it may be negative.
    pub credits_usd: Usd,
    pub status: AccountStatus,
}

#[derive(Debug, Object)]
pub struct PublishUsage {
    pub used: u64,
    /// In the account's whole life while provisional, in the month once claimed.
    pub free_limit: u64,
    pub free_left: u64,
}

#[derive(Debug, Object)]
pub struct StorageUsage {
    pub bytes: u64,
    /// 1 GB is 10^9 bytes.
    pub gb: f64,
    /// What the next metering would charge for storage. The free storage belongs to the owner: it is shared by their
    /// accounts in the order in which they were claimed.
    pub est_monthly_cost_usd: Usd,
}

#[derive(Debug, Object)]
pub struct TrafficUsage {
    /// Views of HTML documents this month.
    pub views: u64,
    pub free_limit: u64,
    /// Views beyond the free ones; they are billed.
    pub overage_views: u64,
}

#[derive(Debug, Object)]
pub struct PrivateArtifacts {
    /// Artifacts that are private or unlisted now.
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
