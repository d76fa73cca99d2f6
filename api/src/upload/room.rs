//! How much of this process's memory uploads may take together. An upload must never wait long for room: it is told
//! to come again instead.

use std::sync::Arc;
use std::time::Duration;

use domain::Refusal;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::body::UPLOAD_BYTES_MAX;

/// Bytes of uploads that may be in memory at a time, over all requests of this process.
const ROOM_BYTES: usize = 256 * 1_048_576;
const ROOM_WAIT_MAX: Duration = Duration::from_secs(1);

/// The memory that uploads share. An upload that finds no room is told to come again, and nothing swaps or dies.
#[derive(Clone, Debug)]
pub struct UploadRoom(Arc<Semaphore>);

/// The part of the room that one upload has. It is given back when this is dropped.
#[derive(Debug)]
pub struct RoomTaken(#[expect(dead_code, reason = "held, not read")] OwnedSemaphorePermit);

impl UploadRoom {
    pub fn new() -> Self {
        Self(Arc::new(Semaphore::new(ROOM_BYTES)))
    }

    /// Takes as much as the body says that it is long, or all that it may be when it does not say.
    pub async fn take(&self, declared_bytes: Option<u64>) -> Result<RoomTaken, Refusal> {
        let bytes = declared_bytes.map_or(UPLOAD_BYTES_MAX, |bytes| bytes.min(UPLOAD_BYTES_MAX));
        let permits = u32::try_from(bytes).unwrap_or(u32::MAX);
        match timeout(ROOM_WAIT_MAX, self.0.clone().acquire_many_owned(permits)).await {
            Ok(Ok(permit)) => Ok(RoomTaken(permit)),
            _ => Err(Refusal::overloaded("too many uploads at a time; nothing of this one was taken")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_upload_that_finds_no_room_is_told_to_come_again() {
        let room = UploadRoom::new();
        let mut taken = Vec::new();
        for _ in 0..ROOM_BYTES as u64 / UPLOAD_BYTES_MAX {
            taken.push(room.take(None).await.unwrap());
        }
        let refusal = room.take(None).await.unwrap_err();
        assert_eq!((refusal.code(), refusal.retry_after_seconds()), ("overloaded", Some(2)));
        assert!(room.take(Some(4096)).await.is_ok(), "a small one still fits");
        taken.pop();
        assert!(room.take(None).await.is_ok());
    }
}
