//! Waits for the first verdict on a version that was just published.

use std::time::Duration;

use domain::{ModerationStatus, VersionId};
use tokio::time::{Instant, sleep, timeout_at};

use crate::{ModerationNotice, Service};

/// How long to wait for a verdict.
const WAIT_MAX: Duration = Duration::from_secs(10);
/// Most scans end within milliseconds, and slow ones are not worth many queries.
const FIRST_PAUSE: Duration = Duration::from_millis(25);
const PAUSE_MAX: Duration = Duration::from_millis(400);

impl Service {
    /// The moderation notice of a version once it has a verdict, or `pending` after ten seconds. The publish
    /// is committed, so a database that fails meanwhile is no error.
    pub async fn await_verdict(&self, version: VersionId) -> ModerationNotice {
        let (until, mut pause) = (Instant::now() + WAIT_MAX, FIRST_PAUSE);
        loop {
            let found = timeout_at(until, self.0.store.moderation().find_live(version)).await;
            if let Ok(Ok(Some(found))) = found
                && found.status != ModerationStatus::Pending
            {
                return ModerationNotice::of(&found);
            }
            if Instant::now() + pause >= until {
                return ModerationNotice::plain(ModerationStatus::Pending);
            }
            sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }
}
