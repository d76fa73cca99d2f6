//! `handbill admin rescan` and `handbill admin scans`. The work itself is queued, and the workers do it.

use std::process::ExitCode;

use service::{COUNTED_MAX, RescanScope, ScanState, Service};

use crate::{complain, say};

pub(super) async fn rescan(service: &Service, request: RescanScope) -> anyhow::Result<ExitCode> {
    match (service.ask_for_rescans(request.clone()).await?, request) {
        (None, _) => {
            return Ok(complain(
                "handbill: there is no page at that host. The host is the part of the page's URL before the first dot, or after /site/",
                1,
            ));
        }
        (Some(0), RescanScope::Older) => {
            say(
                "Nothing to do: every scanned version has a verdict from the newest rules. Use --all to scan them again.",
            );
        }
        (Some(0), _) => say("Nothing to do: no version has been scanned yet."),
        (Some(versions), _) => say(&format!(
            "Queued {} for a new scan, live ones first.\n\
             Each worker takes one at a time from the queue `rescan`. `handbill admin scans` shows the progress.",
            if versions == 1 { "1 version".to_owned() } else { format!("{} versions", number(versions)) }
        )),
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn show_scans(service: &Service) -> anyhow::Result<ExitCode> {
    say(&text(&service.scan_state().await?));
    Ok(ExitCode::SUCCESS)
}

/// The state of the scans as lines, with the versions that fail to be scanned last.
fn text(state: &ScanState) -> String {
    let counts = &state.counts;
    let mut lines = vec![
        format!("{:>16}  waiting for their first scan", number(counts.unscanned)),
        format!("{:>16}  to be rescanned because an operator requested it", number(counts.asked_again)),
    ];
    for (rules, versions) in &counts.judged_by {
        let standing = match rules.cmp(&state.rules) {
            _ if *rules == 0 => "without a number (older, to be rescanned)".to_owned(),
            std::cmp::Ordering::Less => format!("{rules} (older, to be rescanned)"),
            std::cmp::Ordering::Equal => format!("{rules} (newest)"),
            std::cmp::Ordering::Greater => format!("{rules} (newer than this program's)"),
        };
        lines.push(format!("{:>16}  scanned by rules {standing}", number(*versions)));
    }
    for stuck in &state.stuck {
        lines.push(format!(
            "version {} of {} has no verdict: its scan was retried {} times. The next attempt is at {}; \
             see the workers' logs for the error",
            stuck.version, stuck.host, stuck.tries, stuck.again_at
        ));
    }
    lines.join("\n")
}

/// The count, which stops at a limit.
fn number(versions: u64) -> String {
    if versions > COUNTED_MAX { "more than 10,000".to_owned() } else { versions.to_string() }
}

#[cfg(test)]
mod tests {
    use domain::{Chance, Time, VersionId};
    use service::{ScanCounts, StuckScan};

    use super::*;

    #[test]
    fn scan_state_text_shows_remaining_and_stuck_scans() {
        let (version, again_at) =
            (VersionId::new(Time::from_millis(0), &Chance::seeded(1)), Time::from_millis(0));
        let host = "my-page-a1b2".parse().unwrap();
        let state = ScanState {
            rules: 2,
            counts: ScanCounts {
                unscanned: 3,
                asked_again: 0,
                judged_by: [(0, COUNTED_MAX + 1), (1, COUNTED_MAX), (2, 500), (3, 6)].into(),
            },
            stuck: vec![StuckScan { version, host, tries: 4, again_at }],
        };
        let expected = [
            "               3  waiting for their first scan".to_owned(),
            "               0  to be rescanned because an operator requested it".to_owned(),
            "more than 10,000  scanned by rules without a number (older, to be rescanned)".to_owned(),
            "           10000  scanned by rules 1 (older, to be rescanned)".to_owned(),
            "             500  scanned by rules 2 (newest)".to_owned(),
            "               6  scanned by rules 3 (newer than this program's)".to_owned(),
            format!(
                "version {version} of my-page-a1b2 has no verdict: its scan was retried 4 times. The next attempt \
                 is at 1970-01-01T00:00:00Z; see the workers' logs for the error"
            ),
        ];
        assert_eq!(text(&state).lines().collect::<Vec<_>>(), expected);
    }
}
