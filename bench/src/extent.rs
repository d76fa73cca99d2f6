//! How long the measurements take.

use std::time::Duration;

/// All sizes in the code are those of a full run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    Full,
    Quick,
}

impl Extent {
    /// The number of runs of one measurement.
    pub fn runs(self, full: usize) -> usize {
        match self {
            Self::Full => full,
            Self::Quick => full.div_ceil(5),
        }
    }

    /// The time of one measurement.
    pub fn time(self, full: Duration) -> Duration {
        match self {
            Self::Full => full,
            Self::Quick => full / 4,
        }
    }

    /// The number of artifacts in a filled system.
    pub fn artifacts(self, full: usize) -> usize {
        match self {
            Self::Full => full,
            Self::Quick => full / 100,
        }
    }
}
