//! How many files a process may have open. Each connection is one, and a door that runs out of them takes nobody.

use config::Settings;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::listener::WAITING_AND_TOLD_MAX;

/// For all that is no visitor: databases, the blob store, Redis, the operator's address, what scrapes and logs.
const OTHERS: u64 = 512;

/// The doors that a process has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HasListeners {
    pub(crate) api: bool,
    pub(crate) edge: bool,
}

/// What a shell or a service manager lets a process have at first is often far less than what it may have, for the sake of
/// programs that cannot count so far.
pub(crate) fn allow_all() {
    let limit = getrlimit(Resource::Nofile);
    if limit.current == limit.maximum {
        return;
    }
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::warn!(error = %error, "the limit of open files could not be raised to what is allowed");
    }
}

/// Says so where the doors of this process may not have as many connections as they are to take.
pub(crate) fn warn_if_short(settings: &Settings, doors: HasListeners) {
    let wanted = wanted(settings, doors);
    if let Some(allowed) = getrlimit(Resource::Nofile).current.filter(|allowed| *allowed < wanted) {
        tracing::warn!(
            files.allowed = allowed,
            files.wanted = wanted,
            "fewer files may be open than connections may be: raise LimitNOFILE, or lower connections_max"
        );
    }
}

/// How many may be open in a process that is started from here. `None`: any number.
pub(crate) fn allowed_at_most() -> Option<u64> {
    getrlimit(Resource::Nofile).maximum
}

/// How many the doors may come to have open, with all that is no visitor's.
pub(crate) fn wanted(settings: &Settings, doors: HasListeners) -> u64 {
    let of_door = |connections_max: usize| connections_max + WAITING_AND_TOLD_MAX;
    let api = if doors.api { of_door(settings.api.connections.max) } else { 0 };
    let edge = &settings.edge;
    // An answer that is streamed from a folder has its file open beside its connection.
    let pages = if doors.edge { of_door(edge.connections.max) + edge.streamed_answers_max } else { 0 };
    OTHERS + (api + pages) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_door_wants_what_its_settings_and_its_lines_may_hold() {
        let set = [("HANDBILL_API__CONNECTIONS_MAX", "100"), ("HANDBILL_EDGE__CONNECTIONS_MAX", "1000")];
        let env = set.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        let settings = config::load(config::Sources { file: Some("/dev/null".into()), env }).unwrap();
        let wanted = |api, edge| wanted(&settings, HasListeners { api, edge });
        assert_eq!(wanted(false, false), 512);
        assert_eq!(wanted(true, false), 512 + 100 + 3_072);
        assert_eq!(wanted(false, true), 512 + 1_000 + 3_072 + 1_024);
        assert_eq!(wanted(true, true), 512 + 100 + 1_000 + 2 * 3_072 + 1_024);
    }

    #[test]
    fn what_is_allowed_is_used() {
        let limit = getrlimit(Resource::Nofile);
        let lowered = limit.current.map(|current| current.min(512));
        setrlimit(Resource::Nofile, Rlimit { current: lowered, maximum: limit.maximum }).unwrap();
        allow_all();
        assert_eq!(getrlimit(Resource::Nofile).current, limit.maximum);
    }
}
