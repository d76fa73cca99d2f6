//! Synchronizes the clock of a process with the database's, so that all processes agree on what has expired
//! even if their machines' clocks differ.

use std::time::Duration;

use domain::{Clock, ClockReading};
use store::Store;
use tokio::time::{MissedTickBehavior, interval};

const MEASURED_EVERY: Duration = Duration::from_secs(10);
/// A larger difference is logged, because an operator should fix the machine's clock.
const SKEW_MAX: Duration = Duration::from_secs(5);
/// Times are truncated to milliseconds on both sides.
const ROUNDING: Duration = Duration::from_millis(1);

/// Measures periodically. While the database does not respond, the last measurement stays in use.
pub(crate) async fn follow(store: Store, clock: Clock) {
    let mut ticks = interval(MEASURED_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut was_off = false;
    loop {
        ticks.tick().await;
        if let Err(error) = measure(&store, &clock).await {
            tracing::debug!(error = format!("{error:#}"), "could not read the database's clock");
            continue;
        }
        let ahead_ms = clock.ahead_ms();
        let is_off = u128::from(ahead_ms.unsigned_abs()) > SKEW_MAX.as_millis();
        match (was_off, is_off) {
            (false, true) => tracing::warn!(
                clock.ahead_ms = ahead_ms,
                "this machine's clock is wrong; using the database's clock"
            ),
            (true, false) => {
                tracing::info!(clock.ahead_ms = ahead_ms, "this machine's clock is correct again")
            }
            _ => {}
        }
        was_off = is_off;
    }
}

/// Sets the clock by one reading of the database's, which was taken at an unknown time within the round trip.
pub(crate) async fn measure(store: &Store, clock: &Clock) -> anyhow::Result<()> {
    let sent_at = clock.elapsed();
    let database = store.now().await?;
    let round_trip = clock.elapsed().saturating_sub(sent_at);
    clock.follow(ClockReading {
        elapsed: sent_at + round_trip / 2,
        database,
        off_by_at_most: round_trip / 2 + ROUNDING,
    });
    Ok(())
}
