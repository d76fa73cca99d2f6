//! Reads the card processor's events: payments, refunds and disputes. Every other event is acknowledged and
//! ignored.

use domain::{CardReversal, Micro, ReversalExtent};
use serde_json::Value;

use crate::is_processor_id;

/// A larger amount in one event is not a top-up of ours. An operator must check it.
const CENTS_MAX: u32 = 100_000_000;

/// An event of the processor, reduced to what matters here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CardEvent {
    /// A checkout was completed and paid, at once or after a delay.
    Paid(PaidCheckout),
    /// Money went back to the card.
    Reversed(CardReversal),
    /// Money moved, but the event cannot be booked. An operator must check it.
    Unusable { kind: EventKind, id: String, fault: &'static str },
    /// Anything else.
    Other,
}

/// The events that move money.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    Paid,
    Refunded,
    Disputed,
    /// Money came back to us: a dispute was won or a refund failed. It is not credited automatically.
    Reinstated,
}

/// A paid checkout, to be credited once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaidCheckout {
    pub session: String,
    /// The payment of the session, which refunds and disputes refer to.
    pub payment_intent: Option<String>,
    /// The account's id or its handle, as in the metadata. It is not validated.
    pub account: String,
    pub amount: Micro,
}

/// Whether the processor's events are about real money. `None`: both kinds are accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Livemode(pub Option<bool>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is not JSON")]
pub struct NotJson;

impl EventKind {
    pub fn as_str(self) -> &'static str {
        match self {
            EventKind::Paid => "paid",
            EventKind::Refunded => "refunded",
            EventKind::Disputed => "disputed",
            EventKind::Reinstated => "reinstated",
        }
    }

    fn of(event: &Value) -> Option<Self> {
        let object = &event["data"]["object"];
        match event["type"].as_str()? {
            "checkout.session.completed" | "checkout.session.async_payment_succeeded" => {
                (object["payment_status"] == "paid").then_some(EventKind::Paid)
            }
            "charge.refunded" => Some(EventKind::Refunded),
            "charge.dispute.created" => {
                // An inquiry takes no money. If it becomes a dispute, the funds are withdrawn.
                let status = object["status"].as_str().unwrap_or_default();
                (!status.starts_with("warning_")).then_some(EventKind::Disputed)
            }
            "charge.dispute.funds_withdrawn" => Some(EventKind::Disputed),
            "charge.dispute.funds_reinstated" | "refund.failed" => Some(EventKind::Reinstated),
            // The older and the newer name of one event.
            "charge.refund.updated" | "refund.updated" => {
                matches!(object["status"].as_str(), Some("failed" | "canceled"))
                    .then_some(EventKind::Reinstated)
            }
            _ => None,
        }
    }
}

impl Livemode {
    /// The mode of the processor's key, by its prefix.
    pub fn of_key(secret_key: &str) -> Self {
        let is_of = |mode: &str| {
            secret_key
                .split_once('_')
                .is_some_and(|(kind, rest)| matches!(kind, "sk" | "rk") && rest.starts_with(mode))
        };
        Self(if is_of("live_") {
            Some(true)
        } else if is_of("test_") {
            Some(false)
        } else {
            None
        })
    }

    /// An absent field matches.
    fn fits(self, event: &Value) -> bool {
        let named = [&event["livemode"], &event["data"]["object"]["livemode"]];
        self.0.is_none_or(|wanted| {
            named.into_iter().all(|mode| mode.is_null() || mode.as_bool() == Some(wanted))
        })
    }
}

impl CardEvent {
    pub fn read(body: &[u8], livemode: Livemode) -> Result<Self, NotJson> {
        let event: Value = serde_json::from_slice(body).map_err(|_| NotJson)?;
        let Some(kind) = EventKind::of(&event) else { return Ok(CardEvent::Other) };
        let object = &event["data"]["object"];
        let read = if livemode.fits(&event) {
            Self::of_object(kind, object)
        } else {
            Err("its livemode differs from the configured one")
        };
        Ok(read.unwrap_or_else(|fault| {
            let id = object["id"].as_str().filter(|id| is_processor_id(id)).unwrap_or("-");
            CardEvent::Unusable { kind, id: id.to_owned(), fault }
        }))
    }

    fn of_object(kind: EventKind, object: &Value) -> Result<Self, &'static str> {
        let id = id_in(object, "id").ok_or("it has no usable id")?;
        Ok(match kind {
            EventKind::Paid => CardEvent::Paid(PaidCheckout::read(id, object)?),
            EventKind::Refunded => {
                let total = usd_in(object, "amount_refunded")?;
                CardEvent::Reversed(CardReversal {
                    id: refund_id(&id, object, total).ok_or("it has no usable id")?,
                    payment_intent: payment_intent(object)?,
                    extent: ReversalExtent::RefundedInAll(total),
                })
            }
            EventKind::Disputed => CardEvent::Reversed(CardReversal {
                id,
                payment_intent: payment_intent(object)?,
                extent: ReversalExtent::Disputed(usd_in(object, "amount")?),
            }),
            EventKind::Reinstated => return Err("money came back and must be credited by hand"),
        })
    }
}

impl PaidCheckout {
    fn read(session: String, checkout: &Value) -> Result<Self, &'static str> {
        let mode = &checkout["mode"];
        if !mode.is_null() && mode != "payment" {
            return Err("its mode is not payment");
        }
        let amount = usd_in(checkout, "amount_total")?;
        let account = checkout["metadata"]["account_id"].as_str().ok_or("it has no account")?;
        let payment_intent = id_in(checkout, "payment_intent");
        Ok(Self { session, payment_intent, account: account.to_owned(), amount })
    }
}

/// The id of the event's refund. Newer events of the processor omit the list of refunds; then the charge and
/// the amount refunded so far identify it.
fn refund_id(charge: &str, object: &Value, total: Micro) -> Option<String> {
    // The list has the newest refund first.
    let id = id_in(&object["refunds"]["data"][0], "id");
    id.or_else(|| Some(format!("{charge}-{}", total.get())).filter(|id| is_processor_id(id)))
}

fn payment_intent(object: &Value) -> Result<String, &'static str> {
    id_in(object, "payment_intent").ok_or("it has no payment_intent")
}

/// An id, or the id of the object that the processor expanded in its place.
fn id_in(object: &Value, field: &str) -> Option<String> {
    let value = &object[field];
    let id = value.as_str().or_else(|| value["id"].as_str());
    id.filter(|id| is_processor_id(id)).map(str::to_owned)
}

fn usd_in(object: &Value, field: &str) -> Result<Micro, &'static str> {
    let is_usd = object["currency"].as_str().is_some_and(|name| name.eq_ignore_ascii_case("usd"));
    if !is_usd {
        return Err("its currency is not usd");
    }
    let cents = object[field].as_u64().and_then(|cents| u32::try_from(cents).ok());
    let cents = cents
        .filter(|cents| (1..=CENTS_MAX).contains(cents))
        .ok_or("its amount is missing or out of range")?;
    Ok(Micro::from_cents(cents))
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
        CardEvent::read(event.to_string().as_bytes(), Livemode(Some(false))).unwrap()
    }

    #[test]
    fn paid_checkout_has_account_amount_and_session() {
        let paid = PaidCheckout {
            session: "cs_1".into(),
            payment_intent: None,
            account: "acct_a1".into(),
            amount: Micro::new(19_990_000),
        };
        assert_eq!(event(|_| {}), CardEvent::Paid(paid.clone()));
        assert_eq!(event(|event| event["data"]["object"]["currency"] = json!("USD")), CardEvent::Paid(paid));
    }

    #[test]
    fn other_event_types_are_ignored() {
        assert_eq!(event(|event| event["type"] = json!("payout.paid")), CardEvent::Other);
        assert_eq!(event(|event| event["type"] = json!(7)), CardEvent::Other);
        for status in [json!("unpaid"), json!("no_payment_required"), json!(null), json!(true)] {
            let other = event(|event| event["data"]["object"]["payment_status"] = status);
            assert_eq!(other, CardEvent::Other);
        }
        for body in ["{}", "[]", "null", "7", r#""checkout.session.completed""#, r#"{"data":[]}"#] {
            assert_eq!(CardEvent::read(body.as_bytes(), Livemode(None)), Ok(CardEvent::Other), "{body}");
        }
    }

    #[test]
    fn payments_that_cannot_be_credited_are_reported_as_unusable() {
        let amounts =
            ["0", "-1", "5.5", "500.0", "\"500\"", "null", "1e3", "100000001", "99999999999999999999"];
        for amount in amounts {
            let amount: Value = serde_json::from_str(amount).unwrap();
            let unusable = event(|event| event["data"]["object"]["amount_total"] = amount.clone());
            let expected = CardEvent::Unusable {
                kind: EventKind::Paid,
                id: "cs_1".into(),
                fault: "its amount is missing or out of range",
            };
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
    fn delayed_payment_is_handled_like_an_immediate_one() {
        let later = event(|event| {
            event["type"] = json!("checkout.session.async_payment_succeeded");
            event["data"]["object"]["payment_intent"] = json!({"id": "pi_1", "object": "payment_intent"});
        });
        let CardEvent::Paid(paid) = later else { panic!("{later:?}") };
        assert_eq!((paid.session.as_str(), paid.payment_intent.as_deref()), ("cs_1", Some("pi_1")));
    }

    #[test]
    fn only_payments_in_the_configured_mode_are_credited() {
        for (field, value) in [
            ("/livemode", json!(true)),
            ("/data/object/livemode", json!(true)),
            ("/livemode", json!("false")),
            ("/data/object/mode", json!("subscription")),
            ("/data/object/mode", json!("setup")),
        ] {
            let unusable = event(|event| set(event, field, value.clone()));
            assert!(matches!(unusable, CardEvent::Unusable { kind: EventKind::Paid, .. }), "{field} {value}");
        }
        for (field, value) in [("/livemode", json!(false)), ("/data/object/mode", json!("payment"))] {
            assert!(matches!(event(|event| set(event, field, value.clone())), CardEvent::Paid(_)), "{field}");
        }
    }

    #[test]
    fn live_mode_is_derived_from_the_key_prefix() {
        for (key, mode) in [
            ("sk_live_1", Some(true)),
            ("rk_live_1", Some(true)),
            ("sk_test_1", Some(false)),
            ("pk_live_1", None),
            ("a key", None),
        ] {
            assert_eq!(Livemode::of_key(key), Livemode(mode), "{key}");
        }
    }

    fn refund(change: impl FnOnce(&mut Value)) -> CardEvent {
        event(|event| {
            event["type"] = json!("charge.refunded");
            event["data"]["object"] = json!({
                "id": "ch_1", "payment_intent": "pi_1", "amount": 1_999, "amount_refunded": 500, "currency": "usd",
            });
            change(event);
        })
    }

    #[test]
    fn a_refund_is_named_by_its_id_or_by_its_charge_and_amount() {
        let expected = |id: &str| {
            CardEvent::Reversed(CardReversal {
                id: id.to_owned(),
                payment_intent: "pi_1".into(),
                extent: ReversalExtent::RefundedInAll(Micro::new(5_000_000)),
            })
        };
        assert_eq!(refund(|_| {}), expected("ch_1-5000000"));
        let listed = json!({"data": [{"id": "re_2"}, {"id": "re_1"}]});
        assert_eq!(refund(|event| set(event, "/data/object/refunds", listed)), expected("re_2"));
    }

    #[test]
    fn a_dispute_takes_back_its_amount() {
        let dispute = event(|event| {
            event["type"] = json!("charge.dispute.created");
            event["data"]["object"] = json!({"id": "dp_1", "charge": "ch_1", "payment_intent": "pi_1", "amount": 1_999, "currency": "usd"});
        });
        let extent = ReversalExtent::Disputed(Micro::new(19_990_000));
        let reversal = CardReversal { id: "dp_1".into(), payment_intent: "pi_1".into(), extent };
        assert_eq!(dispute, CardEvent::Reversed(reversal));
    }

    #[test]
    fn a_reversal_that_cannot_be_booked_is_reported() {
        for (field, value) in [
            ("/data/object/payment_intent", json!(null)),
            ("/data/object/currency", json!("eur")),
            ("/data/object/amount_refunded", json!(0)),
            ("/livemode", json!(true)),
            ("/type", json!("refund.failed")),
            ("/type", json!("charge.dispute.funds_reinstated")),
        ] {
            let unusable = refund(|event| set(event, field, value.clone()));
            assert!(matches!(unusable, CardEvent::Unusable { .. }), "{field} {value}");
        }
    }

    #[test]
    fn failed_or_cancelled_refund_is_reported() {
        for kind in ["charge.refund.updated", "refund.updated"] {
            let updated = |status: &str| {
                refund(|event| {
                    event["type"] = json!(kind);
                    event["data"]["object"] = json!({
                        "id": "re_1", "payment_intent": "pi_1", "amount": 500, "currency": "usd", "status": status,
                    });
                })
            };
            for status in ["failed", "canceled"] {
                let unusable = updated(status);
                let kind_and_id = matches!(
                    &unusable,
                    CardEvent::Unusable { kind: EventKind::Reinstated, id, .. } if id == "re_1"
                );
                assert!(kind_and_id, "{kind} {status}: {unusable:?}");
            }
            assert_eq!(updated("succeeded"), CardEvent::Other, "{kind}");
        }
    }

    /// Sets a field that may be absent.
    fn set(event: &mut Value, pointer: &str, value: Value) {
        let (parent, field) = pointer.rsplit_once('/').unwrap();
        event.pointer_mut(parent).unwrap()[field] = value;
    }

    #[test]
    fn invalid_json_event_is_reported() {
        let deep = "[".repeat(100_000);
        for body in [&b""[..], b"{", b"{}{}", b"\xff", b"paid", b"{\"a\":\"\xff\"}", deep.as_bytes()] {
            assert_eq!(CardEvent::read(body, Livemode(None)), Err(NotJson));
        }
    }
}
