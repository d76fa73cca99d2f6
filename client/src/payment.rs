//! The 402 handshake as a person has it: the price is said, agreed to, and paid once. Money moves only after a yes,
//! given at the terminal or with the command, and never more than was agreed to.

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
/// The reason of a challenge to who buys credit: no credit pays for that.
const CREDITS: &str = "credits";
/// What stands before the header's value in the instructions of a way to pay.
const INSTRUCTION: &str = "X-PAYMENT: ";

/// What was agreed to.
pub struct Purse {
    /// Whatever it costs.
    agrees: bool,
    price_max: Option<Micro>,
    /// The price that a yes was said to at the terminal.
    agreed: Micro,
}

/// A price that was not agreed to yet, and what for.
struct Doubt<'a> {
    what: &'a str,
    price: Micro,
    may_use_credit: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Judgement {
    Pay,
    Ask,
    TooDear(Micro),
}

impl Purse {
    /// What was agreed to with the command itself.
    pub fn of(options: &Options) -> Self {
        Self { agrees: options.yes, price_max: options.max_price, agreed: Micro::ZERO }
    }

    fn judge(&self, price: Micro) -> Judgement {
        match self.price_max {
            Some(price_max) if price > price_max => Judgement::TooDear(price_max),
            Some(_) => Judgement::Pay,
            None if self.agrees || price <= self.agreed => Judgement::Pay,
            None => Judgement::Ask,
        }
    }
}

/// Agrees to a price that credit may pay, before a call that would not ask. What the purse holds then pays inline too.
pub async fn agree_beforehand(context: &Context, what: &str, price: Micro) -> Result<Purse, Failure> {
    let purse = Purse::of(&context.options);
    match purse.judge(price) {
        Judgement::Pay => Ok(purse),
        judgement => {
            let doubt = Doubt { what, price, may_use_credit: true };
            settle_doubt(context, judgement, doubt, Failure::unpaid(what)).await?;
            Ok(Purse { agreed: price, ..purse })
        }
    }
}

/// Sends a call that may cost something. A 402 is paid and the call sent again, if that is agreed to.
pub async fn call_paying(
    context: &Context,
    server: &Server,
    request: Request,
    purse: Purse,
) -> Result<Reply, Failure> {
    let reply = server.send(&request).await?;
    if reply.status != PAYMENT_REQUIRED {
        return reply.succeeded();
    }
    let challenge: Challenge = reply.read()?;
    let refused = Failure::answered(reply.status, reply.body);
    let price = Micro::from_usd(challenge.amount_usd).ok_or_else(|| {
        Failure::unreachable("the price is no amount of dollars", "do not pay; ask the operator")
    })?;
    let Some(payment) = payment_of(&challenge.accepts, price) else {
        return Err(refused.hinting(format!(
            "no payment settles here for just {}; have the account's owner buy credit on the dashboard, then try again",
            dollars(price)
        )));
    };
    match purse.judge(price) {
        Judgement::Pay => {
            context.console.note(&format!("this costs {} ({}); paying", dollars(price), challenge.reason));
        }
        judgement => {
            let doubt =
                Doubt { what: &challenge.message, price, may_use_credit: challenge.reason != CREDITS };
            settle_doubt(context, judgement, doubt, refused).await?;
        }
    }
    // A second challenge is final: the price has changed since it was agreed to.
    server.call(&request.paying(payment)).await
}

/// Asks about a price that is not agreed to yet; one beyond the bound is not asked about.
async fn settle_doubt(
    context: &Context,
    judgement: Judgement,
    doubt: Doubt<'_>,
    refused: Failure,
) -> Result<(), Failure> {
    let Doubt { what, price, .. } = doubt;
    let price_told = dollars(price);
    if let Judgement::TooDear(price_max) = judgement {
        let most = dollars(price_max);
        return Err(
            refused.hinting(format!("it costs {price_told}, more than --max-price {most}; nothing was paid"))
        );
    }
    match context.console.ask(&format!("{what}\nPay {price_told} now?")).await? {
        ConsoleLine::Yes => Ok(()),
        ConsoleLine::No => Err(refused.hinting("nothing was paid")),
        ConsoleLine::Nothing => Err(refused.hinting(doubt.advice())),
    }
}

impl Doubt<'_> {
    /// What agrees to the price where nobody can be asked.
    fn advice(&self) -> String {
        let price = self.price;
        let agreeing = format!("--yes pays {}, --max-price {price} pays up to that", dollars(price));
        if self.may_use_credit { format!("{agreeing}; `handbill credits 5` buys credit") } else { agreeing }
    }
}

/// The header's value for the first way to pay that settles here, and pays just the price: what an answer tells one to
/// send is not what was agreed to.
fn payment_of(accepts: &[Accept], price: Micro) -> Option<String> {
    let instructions = accepts.iter().filter_map(|accept| accept.instructions.as_deref());
    let mut values =
        instructions.filter_map(|text| text.split_once(INSTRUCTION)?.1.split_whitespace().next());
    let pays = |value: &&str| value.split_once(':').and_then(|(_, usd)| Micro::parse_usd(usd)) == Some(price);
    values.find(pays).map(str::to_owned)
}

/// The account's credit, if the token may know it.
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
    fn a_bound_decides_whatever_else_was_agreed_to() {
        for agrees in [false, true] {
            let purse = |price_max| Purse {
                agrees,
                price_max: Some(Micro::new(price_max)),
                agreed: Micro::new(9_999),
            };
            assert_eq!(purse(5_000).judge(PRICE), Judgement::Pay);
            assert_eq!(purse(4_999).judge(PRICE), Judgement::TooDear(Micro::new(4_999)));
        }
    }

    #[test]
    fn without_a_bound_it_is_paid_after_a_yes_only() {
        let purse = |agrees, agreed| Purse { agrees, price_max: None, agreed: Micro::new(agreed) };
        assert_eq!(purse(true, 0).judge(PRICE), Judgement::Pay);
        assert_eq!(purse(false, 0).judge(PRICE), Judgement::Ask);
    }

    #[test]
    fn a_yes_holds_for_the_price_that_it_was_said_to_and_for_no_higher_one() {
        let purse = |agreed| Purse { agrees: false, price_max: None, agreed: Micro::new(agreed) };
        assert_eq!(purse(5_000).judge(PRICE), Judgement::Pay);
        assert_eq!(purse(4_999).judge(PRICE), Judgement::Ask);
    }

    #[test]
    fn who_buys_credit_is_not_advised_to_buy_credit() {
        let advice =
            |may_use_credit| Doubt { what: "this costs something", price: PRICE, may_use_credit }.advice();
        assert!(advice(true).contains("`handbill credits 5`"));
        assert_eq!(advice(false), "--yes pays $0.005, --max-price 0.005 pays up to that");
    }

    #[test]
    fn the_payment_is_what_the_instructions_say_if_that_is_the_price() {
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
