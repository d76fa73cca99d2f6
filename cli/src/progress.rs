//! What a long command tells people while it works: a line now and then, beside what it prints in the end. A log of a
//! nightly run has no use for it, so it is told on terminals alone.

use std::io::IsTerminal;
use std::time::Duration;

use tokio::time::Instant;

const EVERY: Duration = Duration::from_secs(2);

pub(crate) struct Progress {
    told_at: Instant,
}

impl Progress {
    pub(crate) fn begin() -> Self {
        Self { told_at: Instant::now() }
    }

    /// Tells how far it is, if that was not told just now.
    #[allow(clippy::print_stderr)]
    pub(crate) fn tell(&mut self, how_far: impl FnOnce() -> String) {
        if self.told_at.elapsed() >= EVERY && std::io::stderr().is_terminal() {
            self.told_at = Instant::now();
            eprintln!("… {}", how_far());
        }
    }
}

/// A size as people read it.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    let mut shown = (bytes as f64, "bytes");
    for unit in UNITS {
        if shown.0 < 1000.0 {
            break;
        }
        shown = (shown.0 / 1000.0, unit);
    }
    match shown {
        (bytes, "bytes") => format!("{bytes:.0} bytes"),
        (amount, unit) => format!("{amount:.1} {unit}"),
    }
}

/// A number of things, with the right ending.
pub(crate) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_told_in_the_unit_that_fits() {
        let told = [0, 999, 1_000, 1_250_000, 7_000_000_000, 9_000_000_000_000_000].map(size);
        assert_eq!(told, ["0 bytes", "999 bytes", "1.0 kB", "1.2 MB", "7.0 GB", "9000.0 TB"]);
    }
}
