//! The amounts that can be paid by card. Cards are charged in cents, so no other amount may reach the
//! processor.

use crate::Micro;

/// A top-up by card: whole cents, within the limits of spec 4.8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckoutAmount {
    cents: u32,
}

impl CheckoutAmount {
    pub const CENTS_MIN: u32 = 500;
    pub const CENTS_MAX: u32 = 50_000;

    /// `None` when cards cannot pay this amount.
    pub fn new(amount: Micro) -> Option<Self> {
        let cents = amount.cents()?;
        (Self::CENTS_MIN..=Self::CENTS_MAX).contains(&cents).then_some(Self { cents })
    }

    pub const fn cents(self) -> u32 {
        self.cents
    }

    pub const fn micro(self) -> Micro {
        Micro::from_cents(self.cents)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkout_amount_is_5_to_500_dollars_in_whole_cents() {
        for (micro, cents) in [(5_000_000, 500), (19_990_000, 1_999), (500_000_000, 50_000)] {
            let amount = CheckoutAmount::new(Micro::new(micro)).unwrap();
            assert_eq!((amount.cents(), amount.micro().get()), (cents, micro));
        }
        for bad in [4_990_000, 0, -5_000_000, 500_010_000, i64::MAX, 5_001_000, 19_990_001] {
            assert_eq!(CheckoutAmount::new(Micro::new(bad)), None, "{bad}");
        }
    }
}
