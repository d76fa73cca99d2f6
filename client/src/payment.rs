//! The 402 handshake: the price is shown, confirmed, and paid once. Money moves only after a confirmation, at
//! the terminal or on the command line, and never more than was confirmed.

use domain::Micro;

use crate::console::ConsoleLine;
use crate::context::Context;
use crate::failure::Failure;
use crate::options::Options;
use crate::reply::Reply;
use crate::request::Request;
use crate::server::Server;
use crate::show::dollars;
use crate::wire::{Accept, AccountDetail, Challenge};

const PAYMENT_REQUIRED: u16 = 402;
/// The challenge's reason when credit is being bought, which credit cannot pay.
const CREDITS: &str = "credits";
/// The prefix of the header's value in a payment method's instructions.
const INSTRUCTION: &str = "X-PAYMENT: ";

/// What was confirmed for a command, which may pay several times.
pub struct Purse {
    /// Any price.
    accepts_any: bool,
    price_max: Option<Micro>,
    /// The next price, if it was confirmed at the terminal.
    confirmed: Micro,
    /// What the command has paid so far.
    spent: Micro,
}

/// A price that is not confirmed yet, and what it is for.
struct UnconfirmedPrice<'a> {
    what: &'a str,
    price: Micro,
    may_use_credit: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum PriceDecision {
    Pay,
    NeedsConfirmation,
    TooDear(Micro),
}

impl Purse {
    /// The confirmation given on the command line.
    pub fn of(options: &Options) -> Self {
        let (confirmed, spent) = (Micro::ZERO, Micro::ZERO);
        Self { accepts_any: options.yes, price_max: options.max_price, confirmed, spent }
    }

    /// The same for another price of the command, which is not confirmed yet.
    pub fn for_another_price(&self) -> Self {
        Self { confirmed: Micro::ZERO, ..*self }
    }

    /// Continues with what another purse of the command has spent since it was made from this one.
    pub fn take_over(&mut self, other: &Self) {
        self.spent = self.spent.max(other.spent);
    }

    /// A confirmation is for one payment.
    fn pay(&mut self, price: Micro) {
        self.spent = self.spent + price;
        self.confirmed = Micro::ZERO;
    }

    fn decide(&self, price: Micro) -> PriceDecision {
        match self.price_max {
            Some(price_max) if self.spent + price > price_max => PriceDecision::TooDear(price_max),
            Some(_) => PriceDecision::Pay,
            None if self.accepts_any || price <= self.confirmed => PriceDecision::Pay,
            None => PriceDecision::NeedsConfirmation,
        }
    }
}

/// Confirms a price that credit may pay, before a call that would not ask. The confirmation also covers an
/// inline payment.
pub async fn confirm_beforehand(
    context: &Context,
    what: &str,
    price: Micro,
    purse: &mut Purse,
) -> Result<(), Failure> {
    match purse.decide(price) {
        PriceDecision::Pay => {}
        decision => {
            let unconfirmed = UnconfirmedPrice { what, price, may_use_credit: true };
            confirm_price(context, decision, unconfirmed, Failure::unpaid(what)).await?;
            purse.confirmed = price;
        }
    }
    Ok(())
}

/// Sends a call that may cost something. After a 402 the price is confirmed and paid, and the call is sent
/// again.
pub async fn call_paying(
    context: &Context,
    server: &Server,
    request: &mut Request,
    purse: &mut Purse,
) -> Result<Reply, Failure> {
    let reply = server.send_with_missing(request).await?;
    if reply.status != PAYMENT_REQUIRED {
        return reply.succeeded();
    }
    let challenge: Challenge = reply.read()?;
    let refused = Failure::answered(reply.status, reply.body);
    let price = Micro::from_usd(challenge.amount_usd).ok_or_else(|| {
        Failure::unreachable("the server returned an invalid price", "do not pay; ask the operator")
    })?;
    let Some(payment) = payment_of(&challenge.accepts, price) else {
        return Err(refused.hinting(format!(
            "no payment method here pays exactly {}; ask the account's owner to buy credit on the dashboard, then try again",
            dollars(price)
        )));
    };
    match purse.decide(price) {
        PriceDecision::Pay => {
            context.console.note(&format!("Paying {} ({}).", dollars(price), challenge.reason));
        }
        decision => {
            let unconfirmed = UnconfirmedPrice {
                what: &challenge.message,
                price,
                may_use_credit: challenge.reason != CREDITS,
            };
            confirm_price(context, decision, unconfirmed, refused).await?;
        }
    }
    // A second challenge is final: the price has changed since it was confirmed.
    request.pay(payment);
    let reply = server.send_with_missing(request).await?.succeeded()?;
    purse.pay(price);
    Ok(reply)
}

/// Asks to confirm a price. A price beyond the limit is refused without asking.
async fn confirm_price(
    context: &Context,
    decision: PriceDecision,
    unconfirmed: UnconfirmedPrice<'_>,
    refused: Failure,
) -> Result<(), Failure> {
    let UnconfirmedPrice { what, price, .. } = unconfirmed;
    let price_text = dollars(price);
    if let PriceDecision::TooDear(price_max) = decision {
        let most = dollars(price_max);
        return Err(refused
            .hinting(format!("the price of {price_text} exceeds --max-price {most}; nothing was paid")));
    }
    match context.console.ask(&format!("{what}\nPay {price_text} now?")).await? {
        ConsoleLine::Yes => Ok(()),
        ConsoleLine::No => Err(refused.hinting("nothing was paid")),
        ConsoleLine::Nothing => Err(refused.hinting(unconfirmed.advice())),
    }
}

impl UnconfirmedPrice<'_> {
    /// How to confirm the price when the command cannot ask.
    fn advice(&self) -> String {
        let price = self.price;
        let advice = format!("pay {} with --yes, or with --max-price {price} or more", dollars(price));
        if self.may_use_credit {
            format!("{advice}; or buy credit with `handbill credits buy 5`")
        } else {
            advice
        }
    }
}

/// The header's value for the first payment method that pays exactly the price. A response could instruct the
/// client to pay more than was confirmed.
fn payment_of(accepts: &[Accept], price: Micro) -> Option<String> {
    let instructions = accepts.iter().filter_map(|accept| accept.instructions.as_deref());
    let mut values =
        instructions.filter_map(|text| text.split_once(INSTRUCTION)?.1.split_whitespace().next());
    let pays = |value: &&str| value.split_once(':').and_then(|(_, usd)| Micro::parse_usd(usd)) == Some(price);
    values.find(pays).map(str::to_owned)
}

/// The account's credit, if the token may read it.
pub async fn credit_of(server: &Server) -> Option<Micro> {
    let account: AccountDetail = server.get("/v1/account").await.ok()?.read().ok()?;
    Micro::from_usd(account.credits_usd)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICE: Micro = Micro::new(5_000);

    fn accept(instructions: Option<&str>) -> Accept {
        Accept { instructions: instructions.map(str::to_owned) }
    }

    #[test]
    fn max_price_overrides_other_confirmations() {
        for accepts_any in [false, true] {
            let purse = |price_max| Purse {
                accepts_any,
                price_max: Some(Micro::new(price_max)),
                confirmed: Micro::new(9_999),
                spent: Micro::ZERO,
            };
            assert_eq!(purse(5_000).decide(PRICE), PriceDecision::Pay);
            assert_eq!(purse(4_999).decide(PRICE), PriceDecision::TooDear(Micro::new(4_999)));
        }
    }

    #[test]
    fn without_max_price_payment_needs_confirmation() {
        let purse = |accepts_any, confirmed| Purse {
            accepts_any,
            price_max: None,
            confirmed: Micro::new(confirmed),
            spent: Micro::ZERO,
        };
        assert_eq!(purse(true, 0).decide(PRICE), PriceDecision::Pay);
        assert_eq!(purse(false, 0).decide(PRICE), PriceDecision::NeedsConfirmation);
    }

    #[test]
    fn confirmation_covers_no_higher_price() {
        let purse = |confirmed| Purse {
            accepts_any: false,
            price_max: None,
            confirmed: Micro::new(confirmed),
            spent: Micro::ZERO,
        };
        assert_eq!(purse(5_000).decide(PRICE), PriceDecision::Pay);
        assert_eq!(purse(4_999).decide(PRICE), PriceDecision::NeedsConfirmation);
        let mut used = purse(5_000);
        used.pay(PRICE);
        assert_eq!(used.decide(PRICE), PriceDecision::NeedsConfirmation, "it was for one payment");
    }

    #[test]
    fn max_price_is_for_all_payments_of_a_command() {
        let limit = Some(Micro::new(9_999));
        let mut purse =
            Purse { accepts_any: true, price_max: limit, confirmed: Micro::ZERO, spent: Micro::ZERO };
        let mut other = purse.for_another_price();
        other.pay(PRICE);
        assert_eq!(purse.decide(PRICE), PriceDecision::Pay);
        purse.take_over(&other);
        assert_eq!(purse.decide(PRICE), PriceDecision::TooDear(Micro::new(9_999)));
        assert_eq!(purse.decide(Micro::new(4_999)), PriceDecision::Pay);
    }

    #[test]
    fn credit_purchase_is_not_advised_to_buy_credit() {
        let advice = |may_use_credit| {
            UnconfirmedPrice { what: "this costs something", price: PRICE, may_use_credit }.advice()
        };
        assert!(advice(true).contains("`handbill credits buy 5`"));
        assert_eq!(advice(false), "pay $0.005 with --yes, or with --max-price 0.005 or more");
    }

    #[test]
    fn payment_header_is_taken_from_the_instructions_only_if_it_matches_the_price() {
        let api_error = |value: &str| {
            let text = format!("resend the identical request with the header X-PAYMENT: {value}");
            accept(Some(&text))
        };
        assert_eq!(payment_of(&[accept(None), api_error("dev:0.005")], PRICE).as_deref(), Some("dev:0.005"));
        assert_eq!(payment_of(&[accept(None), accept(Some("see the website"))], PRICE), None);
        for other in ["dev:500", "dev:0.0051", "dev:0.005:9", "dev:-0.005", "dev:", "dev", "0.005"] {
            assert_eq!(payment_of(&[api_error(other)], PRICE), None, "{other}");
        }
        let several = [api_error("dev:500"), api_error("dev:0.0050")];
        assert_eq!(payment_of(&several, PRICE).as_deref(), Some("dev:0.0050"));
    }
}
