//! Prices, allowances and quotes. The API's early check and the ledger's commit call the same functions.
//! These must be pure, so that both get the same price.

use std::time::Duration;

use crate::{
    AccountStatus, CardTerms, Challenge, DevPaymentTerms, Micro, Payment, PaymentMethods, StoredBytes,
};

/// All prices and free amounts.
#[derive(Clone, Debug)]
pub struct Tariff {
    pub publish_price: Micro,
    pub visibility_price: Micro,
    pub storage_price_per_gb: Micro,
    pub traffic_price_per_million: Micro,
    pub provisional_lifetime: Duration,
    pub provisional_free_publishes: u64,
    pub provisional_storage_bytes_max: u64,
    pub claimed_free_publishes: u64,
    pub claimed_artifacts_max: u64,
    /// Per owner.
    pub free_storage_bytes: u64,
    pub free_views: u64,
    /// Whether `X-PAYMENT: dev:…` settles.
    pub dev_rail: DevPaymentTerms,
    /// Whether credit can be bought by card.
    pub card_rail: CardTerms,
}

/// The state of an account when a price is quoted.
#[derive(Clone, Copy, Debug)]
pub struct BillingState {
    pub status: AccountStatus,
    pub balance: Micro,
    /// The publishes that count against the allowance: all of them while provisional, afterwards those of the
    /// month.
    pub publishes_used: u64,
}

/// The effect of one metered call on the account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// Credited first, by the inline payment.
    pub credited: Micro,
    /// Charged afterwards.
    pub charged: Micro,
}

impl Settlement {
    /// Costs nothing: arrears are not demanded either, and a payment is ignored.
    pub const FREE: Settlement = Settlement { credited: Micro::ZERO, charged: Micro::ZERO };
}

impl Default for Tariff {
    fn default() -> Self {
        Self {
            publish_price: Micro::new(5_000),
            visibility_price: Micro::new(500_000),
            storage_price_per_gb: Micro::new(50_000),
            traffic_price_per_million: Micro::new(1_000_000),
            provisional_lifetime: Duration::from_secs(30 * 60),
            provisional_free_publishes: 5,
            provisional_storage_bytes_max: 20 * 1_048_576,
            claimed_free_publishes: 100,
            claimed_artifacts_max: 100,
            free_storage_bytes: 1_000_000_000,
            free_views: 1_000_000,
            dev_rail: PaymentMethods::DEFAULT.dev,
            card_rail: PaymentMethods::DEFAULT.card,
        }
    }
}

impl Tariff {
    pub fn rails(&self) -> PaymentMethods {
        PaymentMethods { dev: self.dev_rail, card: self.card_rail }
    }

    pub fn free_publishes(&self, status: AccountStatus) -> u64 {
        match status {
            AccountStatus::Provisional => self.provisional_free_publishes,
            AccountStatus::Claimed => self.claimed_free_publishes,
        }
    }

    pub fn free_publishes_left(&self, standing: BillingState) -> u64 {
        self.free_publishes(standing.status).saturating_sub(standing.publishes_used)
    }

    /// The effect of a publish or a new version on this account, or the challenge to meet first.
    pub fn settle_publish(
        &self,
        standing: BillingState,
        payment: Option<&Payment>,
    ) -> Result<Settlement, Box<Challenge>> {
        let has_allowance = self.free_publishes_left(standing) > 0;
        let price = if has_allowance { Micro::ZERO } else { self.publish_price };
        self.settle(standing.balance, price, "publish", payment)
    }

    /// The part of the owner's free storage that earlier claimed accounts leave.
    pub fn free_storage_left(&self, stored: StoredBytes) -> u64 {
        self.free_storage_bytes.saturating_sub(stored.claimed_earlier)
    }

    /// A month of storage above the free amount, in whole micro-dollars. 1 GB is 10^9 bytes.
    pub fn storage_charge(&self, stored: StoredBytes) -> Micro {
        let billed_bytes = stored.own.saturating_sub(self.free_storage_left(stored));
        let micro = i128::from(self.storage_price_per_gb.get()) * i128::from(billed_bytes) / 1_000_000_000;
        Micro::new(i64::try_from(micro).unwrap_or(i64::MAX))
    }

    /// A month of the pages that are private or unlisted.
    pub fn visibility_charge(&self, restricted_artifacts: u64) -> Micro {
        let count = i64::try_from(restricted_artifacts).unwrap_or(i64::MAX);
        Micro::new(self.visibility_price.get().saturating_mul(count))
    }

    /// Views of a month above the free amount.
    pub fn overage_views(&self, views: u64) -> u64 {
        views.saturating_sub(self.free_views)
    }

    /// The charge for a month's views above the free amount, in whole micro-dollars.
    pub fn traffic_charge(&self, views: u64) -> Micro {
        let overage = i128::from(self.overage_views(views));
        let micro = i128::from(self.traffic_price_per_million.get()) * overage / 1_000_000;
        Micro::new(i64::try_from(micro).unwrap_or(i64::MAX))
    }

    /// The first month of a page that is no longer public.
    pub fn settle_visibility(
        &self,
        balance: Micro,
        payment: Option<&Payment>,
    ) -> Result<Settlement, Box<Challenge>> {
        self.settle(balance, self.visibility_price, "visibility", payment)
    }

    /// Credit costs its face value: arrears are not added, and the balance cannot pay for it.
    pub fn settle_credit(
        &self,
        amount: Micro,
        payment: Option<&Payment>,
    ) -> Result<Settlement, Box<Challenge>> {
        let challenge = Challenge::of_credit(amount, self.rails());
        match payment {
            Some(payment) if self.covers(payment, amount) => {
                Ok(Settlement { credited: amount, charged: Micro::ZERO })
            }
            Some(payment) => Err(Box::new(challenge.refusing(payment))),
            None => Err(Box::new(challenge)),
        }
    }

    // Spec 4.9: the amount must match exactly.
    fn covers(&self, payment: &Payment, due: Micro) -> bool {
        self.dev_rail == DevPaymentTerms::Open && *payment == Payment::Dev(due)
    }

    // Spec 2.9: the amount due is the price plus the arrears of a negative balance. A call that costs nothing
    // ignores a payment.
    fn settle(
        &self,
        balance: Micro,
        price: Micro,
        reason: &str,
        payment: Option<&Payment>,
    ) -> Result<Settlement, Box<Challenge>> {
        let arrears = if balance.is_negative() { -balance } else { Micro::ZERO };
        let due = price + arrears;
        if due.is_zero() {
            return Ok(Settlement::FREE);
        }
        match payment {
            Some(payment) if self.covers(payment, due) => Ok(Settlement { credited: due, charged: price }),
            Some(payment) => Err(Box::new(self.challenge(reason, due, arrears).refusing(payment))),
            None if arrears.is_zero() && balance >= price => {
                Ok(Settlement { credited: Micro::ZERO, charged: price })
            }
            None => Err(Box::new(self.challenge(reason, due, arrears))),
        }
    }

    fn challenge(&self, reason: &str, due: Micro, arrears: Micro) -> Challenge {
        let challenge = Challenge::new(reason, due, self.rails());
        if arrears.is_zero() {
            return challenge;
        }
        challenge
            .saying(format!("the account owes {arrears} USD; {due} USD settles that together with this call"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(balance: i64, publishes_used: u64) -> BillingState {
        BillingState { status: AccountStatus::Provisional, balance: Micro::new(balance), publishes_used }
    }

    fn paid(credited: i64, charged: i64) -> Settlement {
        Settlement { credited: Micro::new(credited), charged: Micro::new(charged) }
    }

    const DEV: fn(i64) -> Payment = |micro| Payment::Dev(Micro::new(micro));

    #[test]
    fn free_operation_ignores_a_payment() {
        let tariff = Tariff::default();
        assert_eq!(tariff.settle_publish(standing(0, 4), Some(&DEV(5_000))), Ok(paid(0, 0)));
        assert_eq!(tariff.settle_publish(standing(0, 4), Some(&Payment::Unreadable)), Ok(paid(0, 0)));
    }

    #[test]
    fn credit_or_exact_payment_settles_beyond_the_allowance() {
        let tariff = Tariff::default();
        assert_eq!(tariff.settle_publish(standing(5_000, 5), None), Ok(paid(0, 5_000)));
        assert_eq!(tariff.settle_publish(standing(4_999, 5), Some(&DEV(5_000))), Ok(paid(5_000, 5_000)));
        for wrong in [4_999, 5_001, 1_000_000] {
            let challenge = tariff.settle_publish(standing(0, 5), Some(&DEV(wrong))).unwrap_err();
            assert_eq!(challenge.amount, Micro::new(5_000));
            assert!(challenge.message.contains("does not match"));
        }
    }

    #[test]
    fn arrears_must_be_paid_even_with_allowance_left() {
        let tariff = Tariff::default();
        assert_eq!(tariff.settle_publish(standing(-20_000, 0), None).unwrap_err().amount, Micro::new(20_000));
        assert_eq!(tariff.settle_publish(standing(-20_000, 5), None).unwrap_err().amount, Micro::new(25_000));
        assert_eq!(tariff.settle_publish(standing(-20_000, 5), Some(&DEV(25_000))), Ok(paid(25_000, 5_000)));
        assert_eq!(tariff.settle_publish(standing(-20_000, 0), Some(&DEV(20_000))), Ok(paid(20_000, 0)));
    }

    #[test]
    fn closed_dev_payment_method_settles_nothing() {
        let tariff = Tariff { dev_rail: DevPaymentTerms::Closed, ..Tariff::default() };
        assert!(tariff.settle_publish(standing(0, 5), Some(&DEV(5_000))).is_err());
        let refused = tariff.settle_credit(Micro::new(5_000), Some(&DEV(5_000))).unwrap_err();
        assert!(refused.message.contains("does not settle here"), "{}", refused.message);
    }

    #[test]
    fn credit_purchase_needs_the_exact_amount() {
        let (tariff, ten) = (Tariff::default(), Micro::new(10_000_000));
        assert_eq!(tariff.settle_credit(ten, Some(&DEV(10_000_000))), Ok(paid(10_000_000, 0)));
        assert_eq!(tariff.settle_credit(ten, None).unwrap_err().amount, ten);
        let refused = tariff.settle_credit(ten, Some(&DEV(9_999_999))).unwrap_err();
        assert!(refused.message.contains("does not match"), "{}", refused.message);
    }

    #[test]
    fn recurring_charges_start_above_the_free_amounts() {
        let tariff = Tariff::default();
        let storage_charge =
            |own, claimed_earlier| tariff.storage_charge(StoredBytes { own, claimed_earlier });
        assert_eq!(storage_charge(1_000_000_000, 0), Micro::ZERO);
        assert_eq!(storage_charge(3_500_000_000, 0), Micro::new(125_000));
        assert_eq!(storage_charge(1_000_000_000, 500_000_000), Micro::new(25_000));
        assert_eq!(storage_charge(1_000_000_000, 9_000_000_000), Micro::new(50_000));
        assert_eq!(storage_charge(0, 9_000_000_000), Micro::ZERO);
        assert_eq!(tariff.visibility_charge(3), Micro::new(1_500_000));
        assert_eq!((tariff.overage_views(1_000_000), tariff.overage_views(1_000_007)), (0, 7));
        assert_eq!(tariff.traffic_charge(1_000_000), Micro::ZERO);
        assert_eq!(tariff.traffic_charge(1_000_007), Micro::new(7));
        assert_eq!(tariff.traffic_charge(u64::MAX), Micro::new(i64::MAX));
    }
}
