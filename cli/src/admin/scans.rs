//! `handbill admin rescan` and `handbill admin scans`. The work itself is queued, and the workers do it.

use std::process::ExitCode;

use serde_json::{Value, json};
use service::{COUNTED_MAX, RescanScope, ScanState, Service};

use crate::output::Form;

pub(super) async fn rescan(service: &Service, form: Form, scope: RescanScope) -> anyhow::Result<ExitCode> {
    let Some(versions) = service.ask_for_rescans(scope.clone()).await? else {
        return Ok(form.refuse(
            "there is no page at that host",
            "not_found",
            "the host is the part of the page's URL before the first dot, or after /site/",
        ));
    };
    form.print(|| rescan_text(versions, &scope), || counted_json("queued", versions));
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn show(service: &Service, form: Form) -> anyhow::Result<()> {
    let state = service.scan_state().await?;
    form.print(|| text(&state), || json(&state));
    Ok(())
}

fn rescan_text(versions: u64, scope: &RescanScope) -> String {
    match (versions, scope) {
        (0, RescanScope::Older) => {
            "Nothing to do: every scanned version has a verdict from the newest rules. \
                                    Use --all to scan them again."
                .to_owned()
        }
        (0, _) => "Nothing to do: no version has been scanned yet.".to_owned(),
        (versions, _) => format!(
            "Queued {} for a new scan, live ones first.\n\
             Each worker takes one at a time from the queue `rescan`. `handbill admin scans` shows the progress.",
            if versions == 1 { "1 version".to_owned() } else { format!("{} versions", number(versions)) }
        ),
    }
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

fn json(state: &ScanState) -> Value {
    let scanned = state.counts.judged_by.iter();
    let scanned = scanned.map(|(rules, versions)| {
        let mut counted = counted_json("versions", *versions);
        counted["rules"] = json!(rules);
        counted
    });
    let stuck = state.stuck.iter().map(|stuck| {
        json!({
            "version_id": stuck.version.to_string(),
            "host": stuck.host.to_string(),
            "attempts": stuck.tries,
            "next_attempt_at": stuck.again_at.rfc3339(),
        })
    });
    json!({
        "newest_rules": state.rules,
        "unscanned": counted_json("versions", state.counts.unscanned),
        "to_rescan": counted_json("versions", state.counts.asked_again),
        "scanned": scanned.collect::<Vec<_>>(),
        "stuck": stuck.collect::<Vec<_>>(),
    })
}

/// A count that stops at a limit, and whether there are more.
fn counted_json(name: &str, counted: u64) -> Value {
    json!({ name: counted.min(COUNTED_MAX), "more": counted > COUNTED_MAX })
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
        assert_eq!(json(&state)["stuck"][0]["version_id"], version.to_string());
    }
}
