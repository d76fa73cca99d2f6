//! Charges the monthly fees. Idempotent by the reasons of the charges. The database records that the month's
//! pass is done, so a repetition is cheap, and a lost run costs an hour and no money.

use service::Service;

pub(super) async fn run(service: &Service) -> anyhow::Result<()> {
    if service.meter_if_due().await?.is_none() {
        tracing::debug!("this month's metering is done already");
    }
    Ok(())
}
