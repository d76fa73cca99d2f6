//! Keeps the clock of a process with the database's, so that all processes agree on what has expired, whatever the clocks
//! of their machines say.

use std::time::Duration;

use domain::{Clock, ClockReading};
use store::Store;
use tokio::time::{MissedTickBehavior, interval};

const MEASURED_EVERY: Duration = Duration::from_secs(10);
/// A machine whose clock is off by more needs somebody's attention.
const SKEW_MAX: Duration = Duration::from_secs(5);
/// Times are cut to milliseconds, on both sides.
const ROUNDING: Duration = Duration::from_millis(1);

/// Measures again and again. While the database does not answer, the last measurement stays in force.
pub(crate) async fn follow(store: Store, clock: Clock) {
    let mut ticks = interval(MEASURED_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut was_off = false;
    loop {
        ticks.tick().await;
        if let Err(error) = measure(&store, &clock).await {
            tracing::debug!(error = format!("{error:#}"), "the database's clock was not read");
            continue;
        }
        let ahead_ms = clock.ahead_ms();
        let is_off = u128::from(ahead_ms.unsigned_abs()) > SKEW_MAX.as_millis();
        match (was_off, is_off) {
            (false, true) => tracing::warn!(
                clock.ahead_ms = ahead_ms,
                "the clock of this machine is off: times follow the database's clock"
            ),
            (true, false) => {
                tracing::info!(clock.ahead_ms = ahead_ms, "the clock of this machine is right again")
            }
            _ => {}
        }
        was_off = is_off;
    }
}

/// Sets the clock by one reading of the database's. It was taken at an unknown moment of the round trip.
pub(crate) async fn measure(store: &Store, clock: &Clock) -> anyhow::Result<()> {
    let asked_at = clock.elapsed();
    let database = store.now().await?;
    let round_trip = clock.elapsed().saturating_sub(asked_at);
    clock.follow(ClockReading {
        elapsed: asked_at + round_trip / 2,
        database,
        off_by_at_most: round_trip / 2 + ROUNDING,
    });
    Ok(())
}
