//! Charges what recurs by the month. Idempotent by the reasons of the charges, and cheap when there is nothing to do:
//! that the month's pass is done is noted in the database, so a firing that was lost costs an hour and no money.

use service::Service;

pub(super) async fn run(service: &Service) -> anyhow::Result<()> {
    if service.meter_if_due().await?.is_none() {
        tracing::debug!("this month's metering is done already");
    }
    Ok(())
}
