//! Accounts for the bytes of contents in memory: cached ones, those being read, and those that were evicted
//! while responses still send them, which slow clients can prolong.
//!
//! A content is counted from before it is read until its last slice is dropped. Serving a content that is
//! already in memory adds nothing, because the count belongs to the bytes themselves.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;

/// Clones share one count.
#[derive(Clone)]
pub struct ContentMemory(Arc<Count>);

struct Count {
    bytes: AtomicU64,
    bytes_max: u64,
}

/// Memory that is reserved for a content.
pub struct CacheBudget {
    memory: ContentMemory,
    bytes: u64,
}

/// A content and its reservation.
struct BudgetedContent {
    bytes: Bytes,
    _budget: CacheBudget,
}

impl ContentMemory {
    pub fn new(bytes_max: u64) -> Self {
        Self(Arc::new(Count { bytes: AtomicU64::new(0), bytes_max }))
    }

    /// Reserves memory, or returns `None` when that would exceed the limit.
    pub fn take(&self, bytes: u64) -> Option<CacheBudget> {
        let with = |memory: u64| memory.checked_add(bytes).filter(|all| *all <= self.0.bytes_max);
        let taken = self.0.bytes.fetch_update(Ordering::AcqRel, Ordering::Acquire, with);
        taken.ok().map(|_| CacheBudget { memory: self.clone(), bytes })
    }

    #[cfg(test)]
    pub fn bytes(&self) -> u64 {
        self.0.bytes.load(Ordering::Acquire)
    }
}

impl CacheBudget {
    /// Attaches the reservation to the bytes, reduced to their size. It lasts until the last slice of them is
    /// dropped.
    pub fn attach(mut self, bytes: Bytes) -> Bytes {
        self.release(self.bytes.saturating_sub(bytes.len() as u64));
        Bytes::from_owner(BudgetedContent { bytes, _budget: self })
    }

    fn release(&mut self, bytes: u64) {
        self.bytes -= bytes;
        self.memory.0.bytes.fetch_sub(bytes, Ordering::AcqRel);
    }
}

impl Drop for CacheBudget {
    fn drop(&mut self) {
        self.release(self.bytes);
    }
}

impl AsRef<[u8]> for BudgetedContent {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_counts_its_exact_size_until_its_last_slice_is_dropped() {
        let memory = ContentMemory::new(100);
        let content = memory.take(60).unwrap().attach(Bytes::from(vec![7; 40]));
        assert_eq!(memory.bytes(), 40);
        let piece = content.slice(3..4);
        drop(content);
        assert_eq!((memory.bytes(), &piece[..]), (40, &[7][..]));
        assert!(memory.take(61).is_none());
        assert!(memory.take(u64::MAX).is_none());
        let being_read = memory.take(60).unwrap();
        drop(piece);
        assert_eq!(memory.bytes(), 60);
        drop(being_read);
        assert_eq!(memory.bytes(), 0);
    }
}
