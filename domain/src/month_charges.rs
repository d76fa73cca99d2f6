//! What a month costs an account: charged so far, expected until its end, and due at the next metering.

use std::time::Duration;

use crate::{AccountSummary, Micro, Tariff, Time};

const DAY: Duration = Duration::from_secs(24 * 3600);

/// The charges of a month, by what they are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MonthCharges {
    /// Publishes above the allowance.
    pub publishes: Micro,
    /// Views above the free amount.
    pub views: Micro,
    pub storage: Micro,
    /// Pages that are unlisted or private.
    pub visibility: Micro,
}

impl MonthCharges {
    pub fn total(&self) -> Micro {
        [self.publishes, self.views, self.storage, self.visibility].into_iter().sum()
    }
}

impl Tariff {
    /// The charges of the current month if publishes and views go on at their rate so far, and the stored
    /// bytes and the visibility of pages stay as they are.
    pub fn expected_charges(
        &self,
        summary: &AccountSummary,
        charged: MonthCharges,
        now: Time,
    ) -> MonthCharges {
        let publishes = at_this_rate(summary.publishes_used(), now);
        let paid_publishes = publishes.saturating_sub(self.free_publishes(summary.account.status));
        let paid_publishes = i64::try_from(paid_publishes).unwrap_or(i64::MAX);
        MonthCharges {
            publishes: Micro::new(self.publish_price.get().saturating_mul(paid_publishes))
                .max(charged.publishes),
            views: self.traffic_charge(at_this_rate(summary.used.views, now)),
            storage: self.storage_charge(summary.stored),
            // A page may have been made public again after its month was charged.
            visibility: self.visibility_charge(summary.restricted_artifacts).max(charged.visibility),
        }
    }

    /// The charges of the next metering if nothing changes until then. Publishes are charged at once.
    pub fn next_charges(&self, summary: &AccountSummary) -> MonthCharges {
        MonthCharges {
            publishes: Micro::ZERO,
            views: self.traffic_charge(summary.used.views),
            storage: self.storage_charge(summary.stored),
            visibility: self.visibility_charge(summary.restricted_artifacts),
        }
    }
}

/// A count for the whole month, from its count so far. The first day counts as whole, because the rate of a
/// few hours says little about a month.
fn at_this_rate(so_far: u64, now: Time) -> u64 {
    let month = now.month();
    let passed = now.since(month.start()).max(DAY).as_millis();
    let whole = DAY.as_millis().saturating_mul(month.days().count() as u128);
    u64::try_from(u128::from(so_far).saturating_mul(whole) / passed).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Account, AccountStatus, Chance, MonthlyUse, StoredBytes};

    fn at(text: &str) -> Time {
        Time::parse_rfc3339(text).unwrap()
    }

    fn summary(publishes: u64, views: u64) -> AccountSummary {
        let now = at("2026-11-16T00:00:00Z");
        let mut account = Account::provisional(now, Duration::ZERO, &Chance::seeded(1));
        (account.status, account.expires_at) = (AccountStatus::Claimed, None);
        AccountSummary {
            account,
            month: now.month(),
            used: MonthlyUse { publishes, views },
            restricted_artifacts: 2,
            stored: StoredBytes { own: 3_000_000_000, claimed_earlier: 0 },
        }
    }

    #[test]
    fn charges_are_expected_at_the_rate_so_far() {
        let (tariff, half) = (Tariff::default(), at("2026-11-16T00:00:00Z"));
        let expected = tariff.expected_charges(&summary(60, 1_000_000), MonthCharges::default(), half);
        let charges = MonthCharges {
            publishes: Micro::new(20 * 5_000),
            views: Micro::new(1_000_000),
            storage: Micro::new(100_000),
            visibility: Micro::new(1_000_000),
        };
        assert_eq!(expected, charges);
        assert_eq!(expected.total(), Micro::new(2_200_000));
    }

    #[test]
    fn the_first_hours_of_a_month_count_as_a_day() {
        assert_eq!(at_this_rate(10, at("2026-11-01T00:00:00Z")), 300);
        assert_eq!(at_this_rate(10, at("2026-11-01T12:00:00Z")), 300);
        assert_eq!(at_this_rate(10, at("2026-11-03T00:00:00Z")), 150);
        assert_eq!(at_this_rate(10, at("2026-11-30T23:59:59.999Z")), 10);
        assert_eq!(at_this_rate(u64::MAX, at("2026-11-02T00:00:00Z")), u64::MAX);
    }

    #[test]
    fn a_month_is_never_expected_to_cost_less_than_was_charged() {
        let charged = MonthCharges {
            publishes: Micro::new(9_000_000),
            visibility: Micro::new(1_500_000),
            ..MonthCharges::default()
        };
        let now = at("2026-11-16T00:00:00Z");
        let expected = Tariff::default().expected_charges(&summary(60, 0), charged, now);
        assert_eq!((expected.publishes, expected.visibility), (charged.publishes, charged.visibility));
    }

    #[test]
    fn the_next_metering_charges_what_is_used_now() {
        let next = Tariff::default().next_charges(&summary(500, 1_500_000));
        assert_eq!((next.publishes, next.views), (Micro::ZERO, Micro::new(500_000)));
        assert_eq!((next.storage, next.visibility), (Micro::new(100_000), Micro::new(1_000_000)));
    }
}
