//! Fault points: named points at which a test makes a process crash, fail or wait.
//!
//! A test sets `HANDBILL_TEST_FAULTS=publish.before_commit:kill` for a process that it starts. In a release
//! build the points do nothing, and the variable is not read.

use std::time::Duration;

/// What happens at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Abort the process at once, as `kill -9` would.
    Kill,
    /// Fail the operation.
    Fail,
    /// Panic with a text that must not appear in a log.
    Panic,
    /// Wait first.
    Pause(Duration),
    /// Use this number instead of the real one.
    Instead(u32),
}

/// The fault that a test has set for this point.
#[cfg(debug_assertions)]
pub fn at(point: &str) -> Option<Fault> {
    use std::sync::LazyLock;
    static FAULTS: LazyLock<Vec<(String, Fault)>> =
        LazyLock::new(|| parse(&std::env::var("HANDBILL_TEST_FAULTS").unwrap_or_default()));
    FAULTS.iter().find(|(name, _)| name == point).map(|(_, fault)| *fault)
}

#[cfg(not(debug_assertions))]
pub fn at(_point: &str) -> Option<Fault> {
    None
}

/// Executes the fault of this point, if there is one. On `Err` the caller fails as the real operation would.
#[expect(clippy::panic, reason = "a test requests it")]
pub fn pass(point: &'static str) -> Result<(), InjectedFault> {
    match at(point) {
        None | Some(Fault::Instead(_)) => Ok(()),
        Some(Fault::Kill) => std::process::abort(),
        Some(Fault::Fail) => Err(InjectedFault(point)),
        Some(Fault::Panic) => panic!("the payload of a requested panic at {point}"),
        Some(Fault::Pause(wait)) => {
            std::thread::sleep(wait);
            Ok(())
        }
    }
}

#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("injected fault at {0}")]
pub struct InjectedFault(&'static str);

#[cfg(any(debug_assertions, test))]
fn parse(text: &str) -> Vec<(String, Fault)> {
    let fault = |action: &str| match action.split_once('=') {
        Some(("pause_ms", millis)) => millis.parse().ok().map(|ms| Fault::Pause(Duration::from_millis(ms))),
        Some(("instead", number)) => number.parse().ok().map(Fault::Instead),
        None if action == "kill" => Some(Fault::Kill),
        None if action == "fail" => Some(Fault::Fail),
        None if action == "panic" => Some(Fault::Panic),
        _ => None,
    };
    text.split(',')
        .filter_map(|entry| entry.split_once(':'))
        .filter_map(|(point, action)| Some((point.trim().to_owned(), fault(action.trim())?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read_from_a_comma_separated_list() {
        let faults = parse("a.b:kill, c:fail,d:pause_ms=20,nonsense,e:what,f:instead=7,g:panic");
        assert_eq!(
            faults,
            [
                ("a.b".to_owned(), Fault::Kill),
                ("c".to_owned(), Fault::Fail),
                ("d".to_owned(), Fault::Pause(Duration::from_millis(20))),
                ("f".to_owned(), Fault::Instead(7)),
                ("g".to_owned(), Fault::Panic),
            ]
        );
    }

    #[test]
    fn fault_point_without_a_fault_does_nothing() {
        assert!(pass("nowhere").is_ok());
    }
}
