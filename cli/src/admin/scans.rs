//! The scans by hand: having versions judged again, and how far that is. The work itself is queued: the workers do it.

use std::process::ExitCode;

use service::{COUNTED_MAX, RescanWish, ScanState, Service};

use crate::{complain, say};

pub(super) async fn rescan(service: &Service, wish: RescanWish) -> anyhow::Result<ExitCode> {
    match (service.ask_for_rescans(wish.clone()).await?, wish) {
        (None, _) => {
            return Ok(complain(
                "handbill: there is no page at that host; it stands before the first dot of the page's address, or behind /site/",
                1,
            ));
        }
        (Some(0), RescanWish::Older) => {
            say(
                "nothing to do: the newest rules have judged every version that was scanned; --all has them judged once more",
            );
        }
        (Some(0), _) => say("nothing to do: no version has been scanned yet"),
        (Some(versions), _) => say(&format!(
            "{} queued to be judged again, live ones first.\n\
             Workers take them from the queue `rescan`, one at a time each. See how far they are: handbill admin scans",
            if versions == 1 {
                "1 version is".to_owned()
            } else {
                format!("{} versions are", number(versions))
            }
        )),
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn show_scans(service: &Service) -> anyhow::Result<ExitCode> {
    say(&told(&service.scan_state().await?));
    Ok(ExitCode::SUCCESS)
}

/// The state of the scans in lines, the versions that come to nothing last.
fn told(state: &ScanState) -> String {
    let counts = &state.counts;
    let mut lines = vec![
        format!("{:>16}  wait for their first scan", number(counts.unscanned)),
        format!("{:>16}  are to be judged again because an operator asked", number(counts.asked_again)),
    ];
    for (rules, versions) in &counts.judged_by {
        let standing = match rules.cmp(&state.rules) {
            _ if *rules == 0 => "without a number, older ones: they are to be judged again".to_owned(),
            std::cmp::Ordering::Less => format!("{rules}, older ones: they are to be judged again"),
            std::cmp::Ordering::Equal => format!("{rules}, the newest"),
            std::cmp::Ordering::Greater => format!("{rules}, newer ones than this program's"),
        };
        lines.push(format!("{:>16}  are judged by rules {standing}", number(*versions)));
    }
    for stuck in &state.stuck {
        lines.push(format!(
            "version {} of {} comes to no verdict: its scan began anew {} times, and will be after {}; \
             the workers' logs have the error",
            stuck.version, stuck.host, stuck.tries, stuck.again_at
        ));
    }
    lines.join("\n")
}

/// What was counted, as far as it was.
fn number(versions: u64) -> String {
    if versions > COUNTED_MAX { "more than 10,000".to_owned() } else { versions.to_string() }
}

#[cfg(test)]
mod tests {
    use domain::{Chance, Time, VersionId};
    use service::{ScanCounts, StuckScan};

    use super::*;

    #[test]
    fn the_state_of_the_scans_says_what_is_left_and_what_comes_to_nothing() {
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
            "               3  wait for their first scan".to_owned(),
            "               0  are to be judged again because an operator asked".to_owned(),
            "more than 10,000  are judged by rules without a number, older ones: they are to be judged again"
                .to_owned(),
            "           10000  are judged by rules 1, older ones: they are to be judged again".to_owned(),
            "             500  are judged by rules 2, the newest".to_owned(),
            "               6  are judged by rules 3, newer ones than this program's".to_owned(),
            format!(
                "version {version} of my-page-a1b2 comes to no verdict: its scan began anew 4 times, and will be \
                 after 1970-01-01T00:00:00Z; the workers' logs have the error"
            ),
        ];
        assert_eq!(told(&state).lines().collect::<Vec<_>>(), expected);
    }
}
