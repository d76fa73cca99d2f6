//! `handbill credits`: shows or buys credit. The amount is confirmed like any other payment.

use domain::Micro;
use serde_json::json;

use crate::command::Credits;
use crate::context::Context;
use crate::failure::Failure;
use crate::payment::{Purse, call_paying};
use crate::request::Request;
use crate::show::usd;
use crate::wire::{AccountDetail, CreditBought};

pub async fn run(context: &Context, command: Option<Credits>, amount: Option<Micro>) -> Result<(), Failure> {
    match (command, amount) {
        (Some(Credits::Buy { amount }), _) | (None, Some(amount)) => buy(context, amount).await,
        (Some(Credits::Show) | None, _) => balance(context).await,
    }
}

async fn balance(context: &Context) -> Result<(), Failure> {
    let reply = context.server()?.get("/v1/account").await?;
    let account: AccountDetail = reply.read()?;
    let balance = json!({ "credits_usd": account.credits_usd });
    context.console.print_result(&balance, || usd(account.credits_usd));
    Ok(())
}

async fn buy(context: &Context, amount: Micro) -> Result<(), Failure> {
    let key = context.chance.ulid(context.clock.now()).to_string();
    let mut request = Request::make_once("/v1/credits", key).json(json!({ "amount_usd": amount.usd() }));
    let reply =
        call_paying(context, &context.server()?, &mut request, &mut Purse::of(&context.options)).await?;
    context.console.print_reply(&reply, |bought: CreditBought| usd(bought.credits_usd))?;
    let bought: CreditBought = reply.read()?;
    let receipt = bought.receipt;
    let amount = usd(receipt.amount_usd);
    context.console.note(&format!("Bought {amount} by {}, receipt {}.", receipt.rail, receipt.id));
    Ok(())
}
