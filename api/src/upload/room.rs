//! How much of this process's memory uploads may take together. An upload must never wait long for room: it is told
//! to come again instead. It takes room for what has come of it, never for what it says that will come: who only says
//! so would keep everybody else out.

use std::sync::Arc;
use std::time::Duration;

use domain::{FileSet, Refusal};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Bytes of uploads that may be in memory at a time, over all requests of this process.
const ROOM_BYTES: usize = 256 * 1_048_576;
const ROOM_WAIT_MAX: Duration = Duration::from_secs(1);

/// The memory that uploads share. An upload that finds no room is told to come again, and nothing swaps or dies.
#[derive(Clone, Debug)]
pub struct UploadRoom(Arc<Semaphore>);

/// The part of the room that one upload has so far. It is given back when this is dropped.
#[derive(Debug)]
pub struct RoomTaken {
    room: UploadRoom,
    held: Option<OwnedSemaphorePermit>,
}

impl UploadRoom {
    pub fn new() -> Self {
        Self(Arc::new(Semaphore::new(ROOM_BYTES)))
    }

    /// For an upload of which nothing has come yet.
    pub fn enter(&self) -> RoomTaken {
        RoomTaken { room: self.clone(), held: None }
    }

    /// For the largest upload, where all of it comes at once.
    pub async fn take_for_largest(&self) -> Result<RoomTaken, Refusal> {
        let mut taken = self.enter();
        taken.grow(usize::try_from(FileSet::BYTES_MAX).unwrap_or(ROOM_BYTES)).await?;
        Ok(taken)
    }
}

impl RoomTaken {
    /// Takes room for so much more.
    pub async fn grow(&mut self, bytes: usize) -> Result<(), Refusal> {
        let permits = u32::try_from(bytes).unwrap_or(u32::MAX);
        let Ok(Ok(more)) = timeout(ROOM_WAIT_MAX, self.room.0.clone().acquire_many_owned(permits)).await
        else {
            return Err(Refusal::overloaded("too many uploads at a time; nothing of this one was taken"));
        };
        match &mut self.held {
            Some(held) => held.merge(more),
            None => self.held = Some(more),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_upload_that_finds_no_room_is_told_to_come_again() {
        let room = UploadRoom::new();
        let mut taken = Vec::new();
        for _ in 0..ROOM_BYTES as u64 / FileSet::BYTES_MAX {
            taken.push(room.take_for_largest().await.unwrap());
        }
        let refusal = room.take_for_largest().await.unwrap_err();
        assert_eq!((refusal.code(), refusal.retry_after_seconds()), ("overloaded", Some(2)));
        assert!(room.enter().grow(4096).await.is_ok(), "a small one still fits");
        taken.pop();
        assert!(room.take_for_largest().await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn what_has_not_come_takes_no_room_and_what_has_come_is_given_back() {
        let room = UploadRoom::new();
        let waiting: Vec<_> = (0..1000).map(|_| room.enter()).collect();
        let mut first = room.enter();
        for _ in 0..4 {
            first.grow(ROOM_BYTES / 4).await.unwrap();
        }
        assert!(room.enter().grow(1).await.is_err(), "all of it is taken");
        drop(first);
        assert!(room.enter().grow(ROOM_BYTES).await.is_ok());
        drop(waiting);
    }
}
