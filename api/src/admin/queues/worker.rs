//! A worker in a short form. Its full name is `<instance>-<start>-<queue>-<restart>`, of some forty
//! characters.

use super::BOARD;

/// Characters of an instance that tell processes apart: the end of a ULID is random.
const INSTANCE_LENGTH: usize = 6;

pub struct WorkerText {
    pub full: String,
    /// Such as `…EV8DCYY, scan`.
    pub short: String,
    /// The process on the board.
    pub path: String,
}

impl WorkerText {
    pub fn new(full: String) -> Self {
        let mut parts = full.rsplitn(4, '-');
        let (restart, queue, _start) = (parts.next(), parts.next(), parts.next());
        match (parts.next(), queue, restart) {
            (Some(instance), Some(queue), Some(_)) => Self {
                short: format!("{}, {queue}", short_instance(instance)),
                path: format!("{BOARD}#process-{instance}"),
                full,
            },
            _ => Self { short: full.clone(), path: format!("{BOARD}#processes"), full },
        }
    }
}

/// The end of a long instance name.
pub fn short_instance(instance: &str) -> String {
    let length = instance.chars().count();
    if length <= INSTANCE_LENGTH + 2 {
        return instance.to_owned();
    }
    let end: String = instance.chars().skip(length - INSTANCE_LENGTH).collect();
    format!("…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worker_names_are_shortened_and_lead_to_their_process() {
        let worker = WorkerText::new("01M82W34FZRKXAFBHKBEV8DCYY-jmf6nt6o97-scan-0".into());
        assert_eq!((worker.short.as_str(), worker.full.len()), ("…V8DCYY, scan", 44));
        assert_eq!(worker.path, "/admin/queues#process-01M82W34FZRKXAFBHKBEV8DCYY");
        assert_eq!(WorkerText::new("nobody".into()).short, "nobody");
        assert_eq!(short_instance("api-1"), "api-1");
    }
}
