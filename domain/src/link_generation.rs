//! How often the link of a private page has been replaced.

use serde::{Deserialize, Serialize};

/// The generation of a private page's link. Replacing the link raises it, and only the `sig` of the current
/// generation opens the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkGeneration(u32);

impl LinkGeneration {
    /// The generation of a link that was never replaced.
    pub const FIRST: Self = Self(0);

    pub fn new(number: u32) -> Self {
        Self(number)
    }

    pub fn is_first(&self) -> bool {
        *self == Self::FIRST
    }

    pub fn number(self) -> u32 {
        self.0
    }
}
