//! `handbill publish --watch`: publishes again after changes.
//!
//! It compares the sizes and times of the files twice a second. There are at most 50 files to publish, and
//! this also works on network file systems and in containers, where the notifications of the system do not.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::sleep;

use super::publisher::Publisher;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::upload::{Content, Snapshot};

const POLL_EVERY: Duration = Duration::from_millis(500);
/// A build writes many files. The publish waits until none has changed for this long.
const QUIET_FOR: Duration = Duration::from_millis(300);
/// Files that never stop changing are published nevertheless.
const QUIET_WAITS_MAX: u32 = 20;
/// The server was unreachable, or limits the rate.
const RETRY_AFTER: Duration = Duration::from_secs(10);

/// Publishes after every change of the files, until the process is interrupted. `published` is what was last
/// published, and `seen` the state of the files before they were read for it.
pub async fn watch(
    publisher: &mut Publisher<'_>,
    mut published: Content,
    mut seen: Snapshot,
) -> Result<(), Failure> {
    let context = publisher.context;
    context
        .console
        .note(&format!("Watching {} for changes. Press Ctrl-C to stop.", publisher.target.path.display()));
    let mut is_due = false;
    loop {
        context.is_watching.store(true, Ordering::Relaxed);
        sleep(if is_due { RETRY_AFTER } else { POLL_EVERY }).await;
        // While a build replaces the folder, it may not exist.
        let Ok(now) = publisher.snapshot().await else { continue };
        if now == seen && !is_due {
            continue;
        }
        let Ok(quiet) = quiet(publisher, now).await else { continue };
        seen = quiet;
        is_due = match publish_change(publisher, &published).await {
            Ok(Some(content)) => {
                published = content;
                false
            }
            Ok(None) => false,
            Err(failure) if is_final(&failure) => return Err(failure),
            Err(failure) => {
                context.console.fail(&failure);
                matches!(failure.exit, Exit::Server | Exit::RateLimited)
            }
        };
    }
}

/// Publishes the files unless they are the same as before, which would create an equal version.
async fn publish_change(
    publisher: &mut Publisher<'_>,
    published: &Content,
) -> Result<Option<Content>, Failure> {
    let content = publisher.read().await?;
    if content == *published {
        return Ok(None);
    }
    publisher.context.is_watching.store(false, Ordering::Relaxed);
    publisher.publish_again(content.clone()).await?;
    Ok(Some(content))
}

async fn quiet(publisher: &Publisher<'_>, mut seen: Snapshot) -> Result<Snapshot, Failure> {
    for _ in 0..QUIET_WAITS_MAX {
        sleep(QUIET_FOR).await;
        let now = publisher.snapshot().await?;
        if now == seen {
            break;
        }
        seen = now;
    }
    Ok(seen)
}

/// Another change of the files would not help.
fn is_final(failure: &Failure) -> bool {
    matches!(failure.exit, Exit::SignIn | Exit::Payment | Exit::NotFound)
}
