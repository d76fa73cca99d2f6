//! `handbill admin credit`.

use api::operator_json;
use client::show::dollars;
use domain::{JobId, Micro, Origin, Via};
use service::{CreditGrant, Failure, Granted, Service};

use super::command::CreditOrder;
use crate::output::{Form, complain};

pub(super) async fn grant(service: &Service, form: Form, order: &CreditOrder) -> Result<(), Failure> {
    let mut id = order.id;
    if form == Form::People {
        let id = *id.get_or_insert_with(|| JobId::new(service.clock().now(), service.chance()));
        let note = "If this command fails, repeat it with";
        complain(&format!("{note} --id {id}. The credit is added at most once."), 0);
    }
    let grant =
        CreditGrant { account: order.account.clone(), amount: order.usd, note: order.reason.clone(), id };
    let origin = Origin { via: Via::Operator, address: None };
    let granted = service.grant_credit(&order.signed.name(), origin, grant).await?;
    form.print(|| text(&granted), || operator_json::granted(&granted));
    Ok(())
}

fn text(granted: &Granted) -> String {
    let Granted { handle, amount, balance, .. } = granted;
    let balance = dollars(*balance);
    if !granted.is_new {
        return format!(
            "Nothing to do: this credit was already applied. The balance of {handle} is {balance}."
        );
    }
    let done = if *amount < Micro::ZERO { "Removed" } else { "Added" };
    let size = if *amount < Micro::ZERO { -*amount } else { *amount };
    format!("{done} {}. The balance of {handle} is {balance}.", dollars(size))
}
