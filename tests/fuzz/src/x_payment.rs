//! `X-PAYMENT`: a header, and in the next line the account's balance in micro-dollars. A payment is parsed
//! exactly or rejected. It settles a call if and only if it is the amount of the call's challenge.

use domain::{AccountStatus, BillingState, Challenge, DevPaymentTerms, Micro, Payment, Settlement, Tariff};

pub fn judge(input: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(input) else { return false };
    let (header, balance) = text.split_once('\n').unwrap_or((text, "0"));
    let balance = Micro::new(balance.trim().parse().unwrap_or_default());
    let payment = Payment::parse(header);
    let offered = amount_of(header);
    match payment {
        Payment::Dev(amount) => {
            assert_eq!(Some(amount.get()), offered, "{header:?}");
            assert_eq!(Payment::parse(&format!("dev:{amount}")), payment, "{header:?} is parsed as {amount}");
        }
        Payment::Unreadable => assert_eq!(offered, None, "{header:?}"),
    }
    let json = serde_json::to_string(&payment).unwrap();
    assert_eq!(serde_json::from_str::<Payment>(&json).unwrap(), payment);
    judge_prices(&payment, balance);
    offered.is_some()
}

/// The amount due, and the result of a payment for it.
struct Due {
    amount: Micro,
    charged: Micro,
}

type Outcome = Result<Settlement, Box<Challenge>>;

fn judge_prices(payment: &Payment, balance: Micro) {
    let tariff = |dev_rail| Tariff { dev_rail, ..Tariff::default() };
    let standing = BillingState { status: AccountStatus::Claimed, balance, publishes_used: u64::MAX };
    let arrears = Micro::new(balance.get().min(0).saturating_neg());
    for (rail, settle) in [DevPaymentTerms::Open, DevPaymentTerms::Closed].map(|rail| (rail, tariff(rail))) {
        for price in [settle.publish_price, settle.visibility_price] {
            let due = Due { amount: price + arrears, charged: price };
            judge_offer(rail, payment, &due, |payment| {
                if price == settle.publish_price {
                    settle.settle_publish(standing, Some(payment))
                } else {
                    settle.settle_visibility(balance, Some(payment))
                }
            });
        }
        let credit = Due { amount: Micro::new(arrears.get().max(1)), charged: Micro::ZERO };
        judge_offer(rail, payment, &credit, |payment| settle.settle_credit(credit.amount, Some(payment)));
    }
}

fn judge_offer(rail: DevPaymentTerms, payment: &Payment, due: &Due, settle: impl Fn(&Payment) -> Outcome) {
    let fits = rail == DevPaymentTerms::Open && *payment == Payment::Dev(due.amount);
    let challenge = match settle(payment) {
        Ok(settled) => {
            assert!(fits, "{payment:?} settled {}", due.amount);
            assert_eq!(settled, Settlement { credited: due.amount, charged: due.charged });
            return;
        }
        Err(challenge) => challenge,
    };
    assert!(!fits, "{payment:?} did not settle {}", due.amount);
    assert_eq!(challenge.amount, due.amount);
    let instructions = challenge.accepts.iter().find_map(|accept| accept.instructions.as_deref());
    assert_eq!(instructions.is_some(), rail == DevPaymentTerms::Open);
    // The payment that a challenge asks for settles it.
    if let Some((_, header)) = instructions.and_then(|text| text.split_once("X-PAYMENT: ")) {
        assert!(settle(&Payment::parse(header)).is_ok(), "{header:?} does not settle {:?}", due.amount);
    }
}

/// The amount of a payment in micro-dollars, by a second implementation that reads digit by digit.
fn amount_of(header: &str) -> Option<i64> {
    let text = header.trim().strip_prefix("dev:")?;
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let (mut micro, mut decimals, mut is_begun) = (0_i128, None::<u32>, false);
    for letter in digits.chars() {
        if letter == '.' && is_begun && decimals.is_none() {
            (decimals, is_begun) = (Some(0), false);
            continue;
        }
        let digit = i128::from(letter.to_digit(10)?);
        is_begun = true;
        match &mut decimals {
            None => micro = (micro * 10 + digit * 1_000_000).min(i128::from(u64::MAX) * 1_000_000),
            Some(at) if *at < 6 => {
                *at += 1;
                micro += digit * 10_i128.pow(6 - *at);
            }
            Some(_) if digit == 0 => {}
            Some(_) => return None,
        }
    }
    if is_begun { i64::try_from(micro).ok().map(|micro| sign * micro) } else { None }
}
