//! The form for an amount of credit: a few amounts to choose from, or one that is typed.

use domain::{CheckoutAmount, Micro, PaymentMethod};
use serde::Deserialize;

use crate::html::faults::Faults;
use crate::html::figures::Dollars;
use crate::wire::Purchasable;

/// The choice to type an amount.
pub const OTHER: &str = "other";
const DOLLARS_OFFERED: [u32; 3] = [5, 10, 25];
const CENT_MICRO: i64 = 10_000;

#[derive(Default)]
pub struct AmountForm {
    pub offers: Vec<Offer>,
    pub is_other: bool,
    /// The amount as it was typed, and its faults.
    pub amount: String,
    pub faults: Faults,
}

/// An amount to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The amount in dollars, as the form sends it.
    pub value: String,
    pub label: String,
    pub is_chosen: bool,
}

/// The fields of the form.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct AmountFields {
    pub offer: String,
    pub amount_usd: String,
}

impl AmountFields {
    /// The chosen amount, or the typed one.
    pub fn chosen(&self) -> &str {
        if self.is_typed() { &self.amount_usd } else { &self.offer }
    }

    fn is_typed(&self) -> bool {
        self.offer.is_empty() || self.offer == OTHER
    }
}

impl AmountForm {
    /// The form with the amount that covers what is needed.
    pub fn suggesting(method: PaymentMethod, needed: Micro) -> Self {
        let offers = offers(method, needed);
        let covering = offers.iter().position(|(amount, _)| *amount >= needed).unwrap_or(offers.len() - 1);
        let offer = |(at, (amount, label)): (usize, (Micro, String))| Offer {
            value: amount.to_string(),
            label,
            is_chosen: at == covering,
        };
        Self { offers: offers.into_iter().enumerate().map(offer).collect(), ..Self::default() }
    }

    /// The form as it was sent, with its faults.
    pub fn refused(self, fields: &AmountFields, faults: Faults) -> Self {
        let choose = |offer: Offer| Offer { is_chosen: offer.value == fields.offer, ..offer };
        let offers: Vec<_> = self.offers.into_iter().map(choose).collect();
        let is_other = !offers.iter().any(|offer| offer.is_chosen);
        Self { offers, is_other, amount: fields.amount_usd.clone(), faults }
    }
}

/// What is needed comes first, rounded up to a cent, if it can be paid and is not one of the usual amounts.
fn offers(method: PaymentMethod, needed: Micro) -> Vec<(Micro, String)> {
    let cents = Micro::new(needed.get().saturating_add(CENT_MICRO - 1) / CENT_MICRO * CENT_MICRO);
    let usual = DOLLARS_OFFERED.map(|dollars| Micro::from_cents(dollars * 100));
    let mut offers: Vec<_> = usual.map(|amount| (amount, Dollars(amount).to_string())).into();
    if is_payable(method, cents) && !usual.contains(&cents) {
        offers.insert(0, (cents, format!("{} needed", Dollars(cents))));
    }
    offers
}

fn is_payable(method: PaymentMethod, amount: Micro) -> bool {
    match method {
        PaymentMethod::Dev => Purchasable::new(amount).is_some(),
        PaymentMethod::Card => CheckoutAmount::new(amount).is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggested(method: PaymentMethod, needed: i64) -> (Vec<String>, String) {
        let form = AmountForm::suggesting(method, Micro::new(needed));
        let chosen: Vec<_> = form.offers.iter().filter(|offer| offer.is_chosen).collect();
        assert_eq!(chosen.len(), 1, "{:?}", form.offers);
        let chosen = chosen[0].value.clone();
        (form.offers.into_iter().map(|offer| offer.label).collect(), chosen)
    }

    #[test]
    fn suggested_amount_covers_what_is_needed() {
        let usual = ["$5.00", "$10.00", "$25.00"].map(str::to_owned).to_vec();
        assert_eq!(suggested(PaymentMethod::Card, 0), (usual.clone(), "5".into()));
        assert_eq!(suggested(PaymentMethod::Card, 1_230_000), (usual.clone(), "5".into()));
        assert_eq!(suggested(PaymentMethod::Dev, 10_000_000), (usual, "10".into()));
        let (offers, chosen) = suggested(PaymentMethod::Dev, 1_230_001);
        assert_eq!((offers[0].as_str(), chosen.as_str()), ("$1.24 needed", "1.24"));
        assert_eq!(suggested(PaymentMethod::Dev, 100_000_001).1, "25", "no purchase is that large");
        let (offers, chosen) = suggested(PaymentMethod::Card, 40_000_000);
        assert_eq!((offers[0].as_str(), chosen.as_str()), ("$40.00 needed", "40"));
    }

    #[test]
    fn refused_form_keeps_the_choice_or_what_was_typed() {
        let refused = |offer: &str, amount_usd: &str| {
            let fields = AmountFields { offer: offer.into(), amount_usd: amount_usd.into() };
            let form = AmountForm::suggesting(PaymentMethod::Card, Micro::ZERO);
            let form = form.refused(&fields, Faults::default());
            let chosen = form.offers.iter().find(|offer| offer.is_chosen).map(|offer| offer.value.clone());
            (fields.chosen().to_owned(), chosen, form.is_other, form.amount)
        };
        assert_eq!(refused("10", ""), ("10".into(), Some("10".into()), false, String::new()));
        assert_eq!(refused(OTHER, "x"), ("x".into(), None, true, "x".into()));
        assert_eq!(refused("", "7"), ("7".into(), None, true, "7".into()));
    }
}
