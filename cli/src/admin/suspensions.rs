//! Suspending an account at a shell, and lifting it.

use api::told_in_json;
use domain::{Origin, Via};
use service::{Failure, Service};

use super::Form;
use super::command::{AccountNamed, SuspensionOrder};

const ORIGIN: Origin = Origin { via: Via::Operator, address: None };

pub(super) async fn suspend(service: &Service, form: Form, order: &SuspensionOrder) -> Result<(), Failure> {
    let AccountNamed { account, signed } = &order.account;
    let set = service.suspend(&signed.name(), ORIGIN, account, order.reason.clone()).await?;
    let words = || {
        format!(
            "{0} is suspended: it takes no writes, and within two seconds its pages answer 451.\n\
             Lift the suspension: handbill admin lift {0}",
            set.handle
        )
    };
    form.answer(words, || told_in_json::suspension(&set));
    Ok(())
}

pub(super) async fn lift(service: &Service, form: Form, order: &AccountNamed) -> Result<(), Failure> {
    let set = service.lift_suspension(&order.signed.name(), ORIGIN, &order.account).await?;
    let words = || format!("{} is not suspended; within two seconds its pages are served", set.handle);
    form.answer(words, || told_in_json::suspension(&set));
    Ok(())
}
