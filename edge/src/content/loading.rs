//! Reads small contents from the store into memory. The number of concurrent reads and their memory are
//! limited.

use admission::Slots;
use bytes::Bytes;
use tokio::time::Instant;

use super::Stored;
use super::budget::ContentMemory;

pub struct Loader {
    pub reads: Slots,
    pub memory: ContentMemory,
}

/// Why a content was not loaded into memory.
pub enum NotHeld {
    /// No permit to read was free in time.
    Shed,
    /// No press permit or no memory is available. The content streams from the store instead.
    Crowded,
    Trouble(anyhow::Error),
}

impl Loader {
    /// Reads the whole content. Its memory is counted until its last slice is dropped.
    pub async fn load(&self, stored: Stored, permit_until: Instant) -> Result<Bytes, NotHeld> {
        let _permit = self.reads.acquire(permit_until).await.map_err(|_| NotHeld::Shed)?;
        let budget = self.memory.take(stored.size_bytes()).ok_or(NotHeld::Crowded)?;
        Ok(budget.attach(stored.read().await?))
    }
}

impl From<anyhow::Error> for NotHeld {
    fn from(error: anyhow::Error) -> Self {
        Self::Trouble(error)
    }
}
