//! Living: the bytes of contents that are in memory: what is kept, what is being read, and what left the cache while
//! answers still carry it, which whoever takes them slowly may prolong.
//!
//! A content counts from before it is read until the last piece of it has been taken. What is found in memory costs no
//! more than it did: the count hangs on the bytes themselves.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;

/// Clones count together.
#[derive(Clone)]
pub struct Living(Arc<Count>);

struct Count {
    bytes: AtomicU64,
    bytes_max: u64,
}

/// Room for a content that is about to be in memory.
pub struct CacheBudget {
    living: Living,
    bytes: u64,
}

/// A content, and the room that it has.
struct BudgetedContent {
    bytes: Bytes,
    _room: CacheBudget,
}

impl Living {
    pub fn new(bytes_max: u64) -> Self {
        Self(Arc::new(Count { bytes: AtomicU64::new(0), bytes_max }))
    }

    /// None where so many more were too many.
    pub fn take(&self, bytes: u64) -> Option<CacheBudget> {
        let with = |living: u64| living.checked_add(bytes).filter(|all| *all <= self.0.bytes_max);
        let taken = self.0.bytes.fetch_update(Ordering::AcqRel, Ordering::Acquire, with);
        taken.ok().map(|_| CacheBudget { living: self.clone(), bytes })
    }

    #[cfg(test)]
    pub fn bytes(&self) -> u64 {
        self.0.bytes.load(Ordering::Acquire)
    }
}

impl CacheBudget {
    /// What came, with as much of the room as it needs, for as long as any piece of it is anywhere.
    pub fn harness(mut self, bytes: Bytes) -> Bytes {
        self.give_back(self.bytes.saturating_sub(bytes.len() as u64));
        Bytes::from_owner(BudgetedContent { bytes, _room: self })
    }

    fn give_back(&mut self, bytes: u64) {
        self.bytes -= bytes;
        self.living.0.bytes.fetch_sub(bytes, Ordering::AcqRel);
    }
}

impl Drop for CacheBudget {
    fn drop(&mut self) {
        self.give_back(self.bytes);
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
    fn a_content_counts_until_its_last_piece_is_gone_and_no_more_than_it_has_bytes() {
        let living = Living::new(100);
        let content = living.take(60).unwrap().harness(Bytes::from(vec![7; 40]));
        assert_eq!(living.bytes(), 40);
        let piece = content.slice(3..4);
        drop(content);
        assert_eq!((living.bytes(), &piece[..]), (40, &[7][..]));
        assert!(living.take(61).is_none());
        assert!(living.take(u64::MAX).is_none());
        let being_read = living.take(60).unwrap();
        drop(piece);
        assert_eq!(living.bytes(), 60);
        drop(being_read);
        assert_eq!(living.bytes(), 0);
    }
}
