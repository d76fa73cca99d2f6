//! Progress of long commands: a line now and then on standard error. Logs of nightly runs do not need it, so
//! it is printed on terminals only.

use std::io::IsTerminal;
use std::time::Duration;

use tokio::time::Instant;

const EVERY: Duration = Duration::from_secs(2);

pub(crate) struct Progress {
    printed_at: Instant,
}

impl Progress {
    pub(crate) fn begin() -> Self {
        Self { printed_at: Instant::now() }
    }

    /// Prints the progress, unless it was printed a moment ago.
    #[allow(clippy::print_stderr)]
    pub(crate) fn print(&mut self, text: impl FnOnce() -> String) {
        if self.printed_at.elapsed() >= EVERY && std::io::stderr().is_terminal() {
            self.printed_at = Instant::now();
            eprintln!("… {}", text());
        }
    }
}

/// A human-readable size.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    let mut scaled = (bytes as f64, "bytes");
    for unit in UNITS {
        if scaled.0 < 1000.0 {
            break;
        }
        scaled = (scaled.0 / 1000.0, unit);
    }
    match scaled {
        (bytes, "bytes") => format!("{bytes:.0} bytes"),
        (amount, unit) => format!("{amount:.1} {unit}"),
    }
}

/// A number with the right form of its noun.
pub(crate) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_formatted_in_a_fitting_unit() {
        let sizes = [0, 999, 1_000, 1_250_000, 7_000_000_000, 9_000_000_000_000_000].map(size);
        assert_eq!(sizes, ["0 bytes", "999 bytes", "1.0 kB", "1.2 MB", "7.0 GB", "9.0 PB"]);
    }
}
