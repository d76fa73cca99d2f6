//! Room for a bounded number of connections: a door's, or one address's part of it. Whoever finds it full waits for a
//! moment while the longest idle are told to leave. Nobody is told twice, and nobody is told for newcomers who is in the
//! middle of something.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout_at};

use crate::connections::RequestCounter;

/// A connection that was used, or opened, within this time is not told to leave: its next request may be on its way.
const IDLE_AFTER: Duration = Duration::from_secs(1);
/// At least one in so many is told to leave when room is wanted: who comes next finds it at once.
const LEAVE_SHARE: usize = 100;
/// Who waits looks again after this whether somebody may leave: some have become idle by then.
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// All are looked through no sooner than this after the last time, however many come.
const LOOK_PAUSE: Duration = Duration::from_millis(50);

pub(super) struct IdleConnections {
    max: usize,
    permits: Arc<Semaphore>,
    waiting_max: usize,
    line: Semaphore,
    guests: Mutex<Guests>,
}

#[derive(Default)]
struct Guests {
    next_number: u64,
    by_number: HashMap<u64, RequestCounter>,
    last_look: Option<IdleCheck>,
}

#[derive(Clone, Copy)]
struct IdleCheck {
    at: Instant,
    /// Whether somebody is about to leave, or idle.
    gives_hope: bool,
}

/// A place in a room that nobody sits on yet.
pub(super) struct Free {
    room: Arc<IdleConnections>,
    permit: OwnedSemaphorePermit,
}

/// A connection's place in a room, as long as this is there.
pub(super) struct IdleEntry {
    room: Arc<IdleConnections>,
    number: u64,
    _permit: OwnedSemaphorePermit,
}

impl IdleConnections {
    /// Room for so many, and a line before it for so many.
    pub(super) fn of(max: usize, waiting_max: usize) -> Arc<Self> {
        let max = max.min(Semaphore::MAX_PERMITS);
        let (permits, line) = (Arc::new(Semaphore::new(max)), Semaphore::new(waiting_max));
        Arc::new(Self { max, permits, waiting_max, line, guests: Mutex::default() })
    }

    pub(super) fn free_now(self: &Arc<Self>) -> Option<Free> {
        let permit = self.permits.clone().try_acquire_owned().ok()?;
        Some(Free { room: self.clone(), permit })
    }

    /// Somebody's place in its line; none when that is full.
    pub(super) fn stand_in_line(&self) -> Option<SemaphorePermit<'_>> {
        self.line.try_acquire().ok()
    }

    /// A place for somebody who stands in its line, as soon as one is left. None when nobody can leave, or nobody has in
    /// time.
    pub(super) async fn free_by(self: &Arc<Self>, deadline: Instant) -> Option<Free> {
        let permit = self.wait_by(deadline).await?;
        Some(Free { room: self.clone(), permit })
    }

    async fn wait_by(&self, deadline: Instant) -> Option<OwnedSemaphorePermit> {
        // One wait throughout: who came first is first.
        let mut left = std::pin::pin!(self.permits.clone().acquire_owned());
        while self.make_room() {
            let look_again = deadline.min(Instant::now() + LOOK_AGAIN);
            match timeout_at(look_again, left.as_mut()).await {
                Ok(permit) => return permit.ok(),
                Err(_) if Instant::now() >= deadline => return None,
                Err(_) => {}
            }
        }
        None
    }

    /// Tells as many of the longest idle to leave as there are newcomers; whether there is hope for these.
    pub(super) fn make_room(&self) -> bool {
        let mut guests = self.guests();
        if let Some(look) = guests.last_look.filter(|look| look.at.elapsed() < LOOK_PAUSE) {
            return look.gives_hope;
        }
        let wanted = self.waiting().max(self.max / LEAVE_SHARE).max(1);
        let gives_hope = tell_longest_idle(guests.by_number.values(), wanted);
        guests.last_look = Some(IdleCheck { at: Instant::now(), gives_hope });
        gives_hope
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting_max - self.line.available_permits()
    }

    #[cfg(test)]
    pub(super) fn taken(&self) -> usize {
        self.guests().by_number.len()
    }

    /// Nobody finds room any more, and all leave as soon as what they have begun is answered.
    pub(super) fn close(&self) {
        self.permits.close();
        self.guests().by_number.values().for_each(RequestCounter::tell_to_leave);
    }

    fn guests(&self) -> MutexGuard<'_, Guests> {
        self.guests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells so many to leave, less those who are about to; whether any will, or may soon.
fn tell_longest_idle<'a>(guests: impl Iterator<Item = &'a RequestCounter>, wanted: usize) -> bool {
    let (mut idle, mut leaving, mut is_any_young) = (Vec::new(), 0, false);
    for requests in guests {
        match requests.idle_for() {
            None => {}
            Some(_) if requests.makes_room() => leaving += 1,
            Some(idle_for) if idle_for < IDLE_AFTER => is_any_young = true,
            Some(idle_for) => idle.push((idle_for, requests)),
        }
    }
    let told = wanted.saturating_sub(leaving).min(idle.len());
    if told > 0 {
        idle.select_nth_unstable_by(told - 1, |(one, _), (other, _)| other.cmp(one));
        idle[..told].iter().for_each(|(_, requests)| requests.tell_to_make_room());
    }
    told > 0 || leaving > 0 || is_any_young
}

impl Free {
    pub(super) fn take(self, requests: &RequestCounter) -> IdleEntry {
        let Self { room, permit } = self;
        let mut guests = room.guests();
        let number = guests.next_number;
        guests.next_number += 1;
        guests.by_number.insert(number, requests.clone());
        drop(guests);
        // Whoever sits down while the room is closed may have been overlooked.
        if room.permits.is_closed() {
            requests.tell_to_leave();
        }
        IdleEntry { room, number, _permit: permit }
    }
}

impl Drop for IdleEntry {
    fn drop(&mut self) {
        self.room.guests().by_number.remove(&self.number);
    }
}
