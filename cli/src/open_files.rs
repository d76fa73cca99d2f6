//! The limit of open files. Each connection is an open file, and a listener without any left accepts nobody.

use config::Settings;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::listener::WAITING_AND_REFUSED_MAX;

/// For everything else: databases, the blob store, Redis, the operator's address, logs.
const OTHERS: u64 = 512;

/// The listeners of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HasListeners {
    pub(crate) api: bool,
    pub(crate) edge: bool,
}

/// Raises the soft limit to the hard limit. The soft limit is often far lower, for programs that cannot
/// handle many files.
pub(crate) fn allow_all() {
    let limit = getrlimit(Resource::Nofile);
    if limit.current == limit.maximum {
        return;
    }
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::warn!(error = %error, "could not raise the limit of open files");
    }
}

/// Warns if the listeners of this process may not have as many connections as configured.
pub(crate) fn warn_if_short(settings: &Settings, listeners: HasListeners) {
    let wanted = wanted(settings, listeners);
    if let Some(allowed) = getrlimit(Resource::Nofile).current.filter(|allowed| *allowed < wanted) {
        tracing::warn!(
            files.allowed = allowed,
            files.wanted = wanted,
            "the limit of open files is below the limit of connections: raise LimitNOFILE, or lower connections_max"
        );
    }
}

/// The limit of a process that is started from here. `None`: no limit.
pub(crate) fn allowed_at_most() -> Option<u64> {
    getrlimit(Resource::Nofile).maximum
}

/// How many files the process may have open, with everything besides connections.
pub(crate) fn wanted(settings: &Settings, listeners: HasListeners) -> u64 {
    let of_listener = |connections_max: usize| connections_max + WAITING_AND_REFUSED_MAX;
    let api = if listeners.api { of_listener(settings.api.connections.max) } else { 0 };
    let edge = &settings.edge;
    // A response that is streamed from a directory has its file open, too.
    let pages =
        if listeners.edge { of_listener(edge.connections.max) + edge.streamed_answers_max } else { 0 };
    OTHERS + (api + pages) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn required_open_files_depend_on_the_listeners_limits() {
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
    fn soft_open_file_limit_is_raised_to_the_hard_limit() {
        let limit = getrlimit(Resource::Nofile);
        let lowered = limit.current.map(|current| current.min(512));
        setrlimit(Resource::Nofile, Rlimit { current: lowered, maximum: limit.maximum }).unwrap();
        allow_all();
        assert_eq!(getrlimit(Resource::Nofile).current, limit.maximum);
    }
}
