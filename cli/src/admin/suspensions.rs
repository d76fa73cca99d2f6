//! `handbill admin suspend` and `handbill admin lift`.

use api::operator_json;
use domain::{Origin, Via};
use service::{Failure, Service};

use super::command::{AccountNamed, SuspensionOrder};
use crate::output::Form;

const ORIGIN: Origin = Origin { via: Via::Operator, address: None };

pub(super) async fn suspend(service: &Service, form: Form, order: &SuspensionOrder) -> Result<(), Failure> {
    let AccountNamed { account, signed } = &order.account;
    let set = service.suspend(&signed.name(), ORIGIN, account, order.reason.clone()).await?;
    let text = || {
        format!(
            "Suspended {0}. Its writes are refused, and its pages return 451 within two seconds.\n\
             Lift the suspension with `handbill admin lift {0}`.",
            set.handle
        )
    };
    form.print(text, || operator_json::suspension(&set));
    Ok(())
}

pub(super) async fn lift(service: &Service, form: Form, order: &AccountNamed) -> Result<(), Failure> {
    let set = service.lift_suspension(&order.signed.name(), ORIGIN, &order.account).await?;
    let text =
        || format!("Lifted the suspension of {}. Its pages are served again within two seconds.", set.handle);
    form.print(text, || operator_json::suspension(&set));
    Ok(())
}
