//! What the card processor says happened. One kind of event means something here; every other is taken note of and
//! left alone, whatever it holds.

use domain::Micro;
use serde_json::Value;

use crate::is_session_id;

/// More than this in one checkout is no top-up of ours: somebody must look at it.
const CENTS_MAX: u32 = 100_000_000;

/// An event of the processor, as far as it concerns us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CardEvent {
    /// A checkout was completed and paid.
    Paid(PaidCheckout),
    /// A checkout was paid, but what the event says of it cannot be credited: somebody must look at it.
    Unusable { session: String, fault: &'static str },
    /// Anything else.
    Other,
}

/// A paid checkout, to be credited once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaidCheckout {
    pub session: String,
    /// The account's id or its handle, as the metadata has it: unchecked.
    pub account: String,
    pub amount: Micro,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is no JSON")]
pub struct NotJson;

impl CardEvent {
    pub fn read(body: &[u8]) -> Result<Self, NotJson> {
        let event: Value = serde_json::from_slice(body).map_err(|_| NotJson)?;
        let checkout = &event["data"]["object"];
        let is_paid = event["type"] == "checkout.session.completed" && checkout["payment_status"] == "paid";
        if !is_paid {
            return Ok(CardEvent::Other);
        }
        Ok(match PaidCheckout::read(checkout) {
            Ok(paid) => CardEvent::Paid(paid),
            Err(fault) => {
                let session = checkout["id"].as_str().filter(|id| is_session_id(id)).unwrap_or("-");
                CardEvent::Unusable { session: session.to_owned(), fault }
            }
        })
    }
}

impl PaidCheckout {
    fn read(checkout: &Value) -> Result<Self, &'static str> {
        let session = checkout["id"].as_str().filter(|id| is_session_id(id)).ok_or("it has no usable id")?;
        let is_usd = checkout["currency"].as_str().is_some_and(|name| name.eq_ignore_ascii_case("usd"));
        if !is_usd {
            return Err("its currency is not usd");
        }
        let cents = checkout["amount_total"].as_u64().and_then(|cents| u32::try_from(cents).ok());
        let cents = cents.filter(|cents| (1..=CENTS_MAX).contains(cents)).ok_or("its amount is none")?;
        let account = checkout["metadata"]["account_id"].as_str().ok_or("it names no account")?;
        Ok(Self {
            session: session.to_owned(),
            account: account.to_owned(),
            amount: Micro::from_cents(cents),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(change: impl FnOnce(&mut Value)) -> CardEvent {
        let mut event = json!({
            "id": "evt_1",
            "type": "checkout.session.completed",
            "data": {"object": {
                "id": "cs_1",
                "payment_status": "paid",
                "amount_total": 1_999,
                "currency": "usd",
                "metadata": {"account_id": "acct_a1"},
            }},
        });
        change(&mut event);
        CardEvent::read(event.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn a_paid_checkout_says_who_paid_how_much_and_under_which_session() {
        let paid = PaidCheckout {
            session: "cs_1".into(),
            account: "acct_a1".into(),
            amount: Micro::new(19_990_000),
        };
        assert_eq!(event(|_| {}), CardEvent::Paid(paid.clone()));
        assert_eq!(event(|event| event["data"]["object"]["currency"] = json!("USD")), CardEvent::Paid(paid));
    }

    #[test]
    fn any_other_event_is_left_alone() {
        assert_eq!(event(|event| event["type"] = json!("payout.paid")), CardEvent::Other);
        assert_eq!(event(|event| event["type"] = json!(7)), CardEvent::Other);
        for status in [json!("unpaid"), json!("no_payment_required"), json!(null), json!(true)] {
            let other = event(|event| event["data"]["object"]["payment_status"] = status);
            assert_eq!(other, CardEvent::Other);
        }
        for body in ["{}", "[]", "null", "7", r#""checkout.session.completed""#, r#"{"data":[]}"#] {
            assert_eq!(CardEvent::read(body.as_bytes()), Ok(CardEvent::Other), "{body}");
        }
    }

    #[test]
    fn what_was_paid_but_cannot_be_credited_is_told_apart() {
        let amounts =
            ["0", "-1", "5.5", "500.0", "\"500\"", "null", "1e3", "100000001", "99999999999999999999"];
        for amount in amounts {
            let amount: Value = serde_json::from_str(amount).unwrap();
            let unusable = event(|event| event["data"]["object"]["amount_total"] = amount.clone());
            let expected = CardEvent::Unusable { session: "cs_1".into(), fault: "its amount is none" };
            assert_eq!(unusable, expected, "{amount}");
        }
        for (field, value) in [
            ("currency", json!("eur")),
            ("currency", json!(null)),
            ("metadata", json!({})),
            ("metadata", json!({"account_id": 7})),
            ("id", json!("")),
            ("id", json!("two words")),
            ("id", json!("x".repeat(256))),
        ] {
            let unusable = event(|event| event["data"]["object"][field] = value.clone());
            assert!(matches!(unusable, CardEvent::Unusable { .. }), "{field} {value}");
        }
    }

    #[test]
    fn what_is_no_json_is_told() {
        let deep = "[".repeat(100_000);
        for body in [&b""[..], b"{", b"{}{}", b"\xff", b"paid", b"{\"a\":\"\xff\"}", deep.as_bytes()] {
            assert_eq!(CardEvent::read(body), Err(NotJson));
        }
    }
}
