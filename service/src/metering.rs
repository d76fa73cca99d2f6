//! The monthly metering charges storage, traffic and visibility, whatever the balance. Every charge has a
//! reason that is unique in its account, so a pass may run twice, in part, or on two machines at once.

use std::time::Duration;

use actors::LedgerError;
use anyhow::anyhow;
use domain::{ChargeOperation, LedgerOperation, Micro, Month, Moved, Outcome, Reason, Refusal, Tariff, Time};
use futures::StreamExt;
use futures::future::join_all;
use store::{MeterPage, MeteredAccount};

use crate::{Failure, Service, ServiceResult};

/// The scheduled pass is due this long after a month began, when the last views of the old month have been
/// counted.
const DUE_AFTER: Duration = Duration::from_secs(5 * 60);
/// A finished pass is recorded as a schedule with this name, with the time at which the pass was due.
const DONE: &str = "metering-done";
const ACCOUNTS_A_PAGE: u64 = 500;
const ACCOUNTS_AT_ONCE: usize = 8;

/// The result of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metered {
    pub month: Month,
    /// Claimed accounts that were checked.
    pub accounts: u64,
    /// New charges.
    pub charges: u64,
    pub total: Micro,
}

/// The months that a pass charges for.
#[derive(Clone, Copy, Debug)]
struct Pass {
    /// Storage and traffic.
    used: Month,
    /// Pages that are not public.
    restricted: Month,
    /// Accounts created from then on used nothing in the month.
    used_until: Option<Time>,
}

impl Service {
    /// An operator's pass: charges a month as it stands now, once.
    pub async fn run_metering(&self, month: Option<Month>) -> ServiceResult<Metered> {
        let this_month = self.0.clock.now().month();
        let month = month.unwrap_or(this_month);
        if month > this_month && !self.is_dev_mode() {
            return Err(Refusal::invalid("month", "lies in the future").into());
        }
        self.meter(&Pass { used: month, restricted: month, used_until: None }).await
    }

    /// The scheduled pass: charges the usage of the month that ended and the pages of the one that began,
    /// unless that is done.
    pub async fn meter_if_due(&self) -> anyhow::Result<Option<Metered>> {
        self.note_limits().await?;
        let due_at = last_due(self.0.clock.now());
        if self.0.store.schedules().last_fire_time(DONE).await?.is_some_and(|done| done >= due_at) {
            return Ok(None);
        }
        let begun = due_at.month();
        let pass = Pass { used: begun.previous(), restricted: begun, used_until: Some(begun.start()) };
        let metered = self.meter(&pass).await.map_err(|failure| anyhow!("metering failed: {failure:?}"))?;
        self.0.store.schedules().record_fire_time(DONE, due_at).await?;
        Ok(Some(metered))
    }

    /// Records this month's free limits, for the ledger check.
    pub async fn note_limits(&self) -> anyhow::Result<()> {
        self.0.store.metering().record_limits(self.tariff(), self.0.clock.now()).await
    }

    /// An account that cannot be charged does not stop the others, but the pass fails in the end.
    async fn meter(&self, pass: &Pass) -> ServiceResult<Metered> {
        let mut metered = Metered { month: pass.restricted, accounts: 0, charges: 0, total: Micro::ZERO };
        let (mut after, mut bug) = (None, None);
        loop {
            let page = MeterPage { views_of: pass.used, after, at_most: ACCOUNTS_A_PAGE };
            let accounts = self.0.store.metering().list_accounts(&page).await?;
            let charging: Vec<_> =
                accounts.iter().map(|account| charges(account, pass, self.tariff())).collect();
            let charging = charging.into_iter().map(|charges| self.charge(charges));
            let mut charging = futures::stream::iter(charging).buffer_unordered(ACCOUNTS_AT_ONCE);
            while let Some(charged) = charging.next().await {
                match charged {
                    Ok(amounts) => {
                        metered.charges += amounts.len() as u64;
                        metered.total = metered.total + amounts.into_iter().sum();
                    }
                    Err(LedgerError::Bug(fault)) => bug = Some(fault),
                    Err(error) => return Err(error.into()),
                }
            }
            metered.accounts += accounts.len() as u64;
            after = accounts.last().map(|account| account.account);
            if (accounts.len() as u64) < ACCOUNTS_A_PAGE {
                break;
            }
        }
        if let Some(fault) = bug {
            return Err(Failure::Bug(anyhow!("an account could not be metered: {fault}")));
        }
        log(&metered);
        Ok(metered)
    }

    /// Returns the new charges. A reason that was charged already is not charged again.
    pub(crate) async fn charge(&self, charges: Vec<ChargeOperation>) -> Result<Vec<Micro>, LedgerError> {
        let settled = join_all(charges.into_iter().map(|charge| async move {
            let amount = charge.amount;
            let outcome = self.0.ledgers.settle(LedgerOperation::Charge(charge)).await?;
            let is_new = matches!(outcome, Outcome::Moved(Moved { is_new: true, .. }));
            Ok::<_, LedgerError>(is_new.then_some(amount))
        }));
        settled.await.into_iter().filter_map(Result::transpose).collect()
    }
}

/// When the last pass was due: five minutes into its month.
fn last_due(now: Time) -> Time {
    now.minus(DUE_AFTER).month().start().plus(DUE_AFTER)
}

/// All charges of an account for a pass. Free usage is not charged.
fn charges(account: &MeteredAccount, pass: &Pass, tariff: &Tariff) -> Vec<ChargeOperation> {
    let mut owed = Vec::new();
    if pass.used_until.is_none_or(|until| account.created_at < until) {
        owed.push((Reason::Storage(pass.used), tariff.storage_charge(account.stored)));
        owed.push((Reason::Traffic(pass.used), tariff.traffic_charge(account.views)));
    }
    let of_page = |artifact| (Reason::Visibility(artifact, pass.restricted), tariff.visibility_price);
    owed.extend(account.restricted_artifacts.iter().copied().map(of_page));
    let charge = |(reason, amount): (Reason, Micro)| ChargeOperation {
        account: account.account,
        amount,
        reason: reason.to_string(),
    };
    owed.into_iter().filter(|(_, amount)| *amount > Micro::ZERO).map(charge).collect()
}

fn log(metered: &Metered) {
    tracing::info!(
        metering.month = %metered.month,
        metering.accounts = metered.accounts,
        metering.charges = metered.charges,
        metering.total_micro = metered.total.get(),
        "metering done"
    );
}

#[cfg(test)]
mod tests {
    use domain::{AccountId, ArtifactId, Chance, StoredBytes};

    use super::*;

    const GB: u64 = 1_000_000_000;

    fn at(text: &str) -> Time {
        Time::parse_rfc3339(text).unwrap()
    }

    fn month(text: &str) -> Month {
        text.parse().unwrap()
    }

    fn account(created_at: Time) -> MeteredAccount {
        let chance = Chance::seeded(5);
        MeteredAccount {
            account: AccountId::new(created_at, &chance),
            created_at,
            stored: StoredBytes { own: 3 * GB, claimed_earlier: 0 },
            views: 1_000_007,
            restricted_artifacts: vec![ArtifactId::new(created_at, &chance)],
        }
    }

    fn owed(account: &MeteredAccount, pass: &Pass) -> Vec<(String, i64)> {
        let charges = charges(account, pass, &Tariff::default());
        charges.into_iter().map(|charge| (charge.reason, charge.amount.get())).collect()
    }

    #[test]
    fn metering_is_due_five_minutes_into_the_month() {
        for (now, due) in [
            ("2026-03-01T00:04:59.999Z", "2026-02-01T00:05:00Z"),
            ("2026-03-01T00:05:00Z", "2026-03-01T00:05:00Z"),
            ("2026-03-31T23:59:59Z", "2026-03-01T00:05:00Z"),
            ("2026-01-01T00:00:00Z", "2025-12-01T00:05:00Z"),
        ] {
            assert_eq!(last_due(at(now)), at(due), "{now}");
        }
    }

    #[test]
    fn schedule_charges_usage_of_the_old_month_and_visibility_of_the_new_one() {
        let pass = Pass {
            used: month("2026-02"),
            restricted: month("2026-03"),
            used_until: Some(at("2026-03-01T00:00:00Z")),
        };
        let old = account(at("2026-02-28T23:59:59Z"));
        let page = format!("visibility:{}:2026-03", old.restricted_artifacts[0]);
        let expected = [("storage:2026-02", 100_000), ("traffic:2026-02", 7), (page.as_str(), 500_000)];
        assert_eq!(owed(&old, &pass), expected.map(|(reason, micro)| (reason.to_owned(), micro)));
        let young = account(at("2026-03-01T00:00:00Z"));
        let page = format!("visibility:{}:2026-03", young.restricted_artifacts[0]);
        assert_eq!(owed(&young, &pass), [(page, 500_000)]);
    }

    #[test]
    fn free_usage_is_not_charged() {
        let pass = Pass { used: month("2026-03"), restricted: month("2026-03"), used_until: None };
        let free = MeteredAccount {
            stored: StoredBytes { own: GB, claimed_earlier: 0 },
            views: 1_000_000,
            restricted_artifacts: vec![],
            ..account(at("2026-03-02T00:00:00Z"))
        };
        assert!(owed(&free, &pass).is_empty());
    }
}
