//! What a moderator has seen of a page, as forms send it with a decision.

use std::fmt::Display;
use std::str::FromStr;

use domain::Host;
use service::{Seen, WaitingPages};

/// Stands for a missing id.
const NONE: &str = "-";

/// The value of a page's checkbox in the list: its host, its version and what was shown of it.
pub fn ticked(waiting: &WaitingPages) -> String {
    let Seen { decision, report, appeal } = waiting.seen;
    let (decision, report, appeal) = (id_or_none(decision), id_or_none(report), id_or_none(appeal));
    format!("{} {} {decision} {report} {appeal}", waiting.host, waiting.seq)
}

/// Parses the value of a checkbox; `None` if it is malformed.
pub fn read_ticked(text: &str) -> Option<(Host, u32, Seen)> {
    let [host, seq, decision, report, appeal] = text.split(' ').collect::<Vec<_>>().try_into().ok()?;
    let id = |text| if text == NONE { "" } else { text };
    let seen = Seen {
        decision: id_of(id(decision)).ok()?,
        report: id_of(id(report)).ok()?,
        appeal: id_of(id(appeal)).ok()?,
    };
    Some((host.parse().ok()?, seq.parse().ok()?, seen))
}

fn id_or_none(id: Option<impl Display>) -> String {
    id.map_or_else(|| NONE.to_owned(), |id| id.to_string())
}

/// An id that may be missing.
pub fn id_of<T: FromStr>(text: &str) -> Result<Option<T>, T::Err> {
    if text.is_empty() { Ok(None) } else { text.parse().map(Some) }
}
