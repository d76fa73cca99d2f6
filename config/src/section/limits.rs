//! Free amounts, lifetimes and rate limits. Prices are not settings: they belong to the tariff.

use std::time::Duration;

use crate::reader::Reader;
use crate::section::mode::Mode;

// Defaults outside dev mode. In dev mode these limits are 0.
const CLAIMS_PER_PERSON: u32 = 20;
const CLAIMS_PER_ADDRESS_PER_DAY: u32 = 30;
const PUBLISHES_PER_MINUTE: u32 = 60;
const EDGE_MISSES_PER_MINUTE: u32 = 120;

/// Free amounts, lifetimes and rate limits.
#[derive(Clone, Debug)]
pub struct Limits {
    pub provisional_lifetime: Duration,
    pub purge_grace: Duration,
    pub signups_per_minute: u32,
    pub logins_per_minute: u32,
    pub registrations_per_minute: u32,
    pub reports_per_minute: u32,
    /// Accounts that a person may own through claims. 0: no limit.
    pub claims_per_person: u32,
    /// Claims per IP address in 24 hours. 0: no limit.
    pub claims_per_address_per_day: u32,
    /// Publishes of one account per minute. 0: no limit.
    pub publishes_per_minute: u32,
    /// Requests for sites that do not exist, per IP address and minute, on one edge. 0: no limit.
    pub edge_misses_per_minute: u32,
    /// Scan time of one account in one process per minute. Beyond it the scans of other accounts come first.
    /// 0: no limit.
    pub scan_seconds_per_minute: u32,
    pub provisional_free_publishes: u64,
    pub claimed_free_publishes: u64,
    pub claimed_artifacts: u64,
    pub free_views: u64,
    pub free_storage_bytes: u64,
}

impl Limits {
    pub(crate) fn read(reader: &mut Reader, mode: Option<Mode>) -> Option<Self> {
        let mut limit = |key, outside_dev_mode| {
            let default = mode.map_or(outside_dev_mode, |mode| mode.limit_outside_dev_mode(outside_dev_mode));
            reader.derived(key, "dev_mode", || default)
        };
        let claims_per_person = limit("limits.claims_per_person", CLAIMS_PER_PERSON);
        let claims_per_address_per_day =
            limit("limits.claims_per_address_per_day", CLAIMS_PER_ADDRESS_PER_DAY);
        let publishes_per_minute = limit("limits.publishes_per_minute", PUBLISHES_PER_MINUTE);
        let edge_misses_per_minute = limit("limits.edge_misses_per_minute", EDGE_MISSES_PER_MINUTE);
        let provisional_lifetime = reader.required("limits.provisional_lifetime");
        let purge_grace = reader.required("limits.purge_grace");
        let signups_per_minute = reader.required("limits.signups_per_minute");
        let logins_per_minute = reader.required("limits.logins_per_minute");
        let registrations_per_minute = reader.required("limits.registrations_per_minute");
        let reports_per_minute = reader.required("limits.reports_per_minute");
        let scan_seconds_per_minute = reader.required("limits.scan_seconds_per_minute");
        let provisional_free_publishes = reader.required("limits.provisional_free_publishes");
        let claimed_free_publishes = reader.required("limits.claimed_free_publishes");
        let claimed_artifacts = reader.required("limits.claimed_artifacts");
        let free_views = reader.required("limits.free_views");
        let free_storage_bytes = reader.required("limits.free_storage_bytes");
        Some(Self {
            provisional_lifetime: provisional_lifetime?,
            purge_grace: purge_grace?,
            signups_per_minute: signups_per_minute?,
            logins_per_minute: logins_per_minute?,
            registrations_per_minute: registrations_per_minute?,
            reports_per_minute: reports_per_minute?,
            claims_per_person,
            claims_per_address_per_day,
            publishes_per_minute,
            edge_misses_per_minute,
            scan_seconds_per_minute: scan_seconds_per_minute?,
            provisional_free_publishes: provisional_free_publishes?,
            claimed_free_publishes: claimed_free_publishes?,
            claimed_artifacts: claimed_artifacts?,
            free_views: free_views?,
            free_storage_bytes: free_storage_bytes?,
        })
    }
}
