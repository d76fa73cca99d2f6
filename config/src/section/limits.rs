//! What an operator may tune of what is free, how long things live and how often one may knock. Prices are not among
//! them: those are the tariff's own.

use std::time::Duration;

use crate::reader::Reader;

/// How much is free, how long things live and how often one may knock.
#[derive(Clone, Debug)]
pub struct Limits {
    pub provisional_lifetime: Duration,
    pub purge_grace: Duration,
    pub signups_per_minute: u32,
    pub logins_per_minute: u32,
    pub registrations_per_minute: u32,
    pub reports_per_minute: u32,
    pub provisional_free_publishes: u64,
    pub claimed_free_publishes: u64,
    pub claimed_artifacts: u64,
    pub free_views: u64,
    pub free_storage_bytes: u64,
}

impl Limits {
    pub(crate) fn read(reader: &mut Reader) -> Option<Self> {
        let provisional_lifetime = reader.required("limits.provisional_lifetime");
        let purge_grace = reader.required("limits.purge_grace");
        let signups_per_minute = reader.required("limits.signups_per_minute");
        let logins_per_minute = reader.required("limits.logins_per_minute");
        let registrations_per_minute = reader.required("limits.registrations_per_minute");
        let reports_per_minute = reader.required("limits.reports_per_minute");
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
            provisional_free_publishes: provisional_free_publishes?,
            claimed_free_publishes: claimed_free_publishes?,
            claimed_artifacts: claimed_artifacts?,
            free_views: free_views?,
            free_storage_bytes: free_storage_bytes?,
        })
    }
}
