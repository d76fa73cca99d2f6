//! The list of the processes that change routes, in Redis.
//!
//! While every process in the list has renewed its entry recently, each can send its notices. An edge that
//! loses only the database then still receives a notice of every change, and may trust its cache. A process
//! that loses Redis delays its changes until no edge trusts its cache because of that process's entry. A
//! process must never leave the list while it may still write.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::wire::{LEASE_VALID_FOR, Wire};

/// A listed process that has not renewed its entry for this long may have lost Redis.
const HEARD_WITHIN: Duration = Duration::from_secs(2);
/// How old the server's time in a registration may be. A registration that was stuck on its way for longer
/// must not make its process appear connected.
const TIME_VALID_FOR: Duration = Duration::from_secs(1);
/// How long after the last response from Redis an edge may trust its cache because it believes that this
/// process is connected.
const BELIEVED_FOR: Duration =
    Duration::from_secs(TIME_VALID_FOR.as_secs() + HEARD_WITHIN.as_secs() + LEASE_VALID_FOR.as_secs());
/// A process that was killed stays in the list for this long.
const KEPT: Duration = Duration::from_secs(600);

/// Like the list of edges, this list holds its creation time, which shows whether Redis has lost it.
const REGISTER: &str = r"
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if now - tonumber(ARGV[2]) > tonumber(ARGV[3]) then return {now, 0} end
if not redis.call('ZRANGEBYSCORE', KEYS[1], '+inf', '+inf')[1] then
  redis.call('ZADD', KEYS[1], '+inf', now)
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[4]))
redis.call('ZADD', KEYS[1], now, ARGV[1])
return {now, 1}
";

/// Returns the creation time of the list if every process in it has renewed its entry recently.
const ALL_HEARD: &str = r"
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if redis.call('ZCOUNT', KEYS[1], '-inf', now - tonumber(ARGV[1])) > 0 then return '' end
return redis.call('ZRANGEBYSCORE', KEYS[1], '+inf', '+inf')[1] or ''
";

/// The registration of this process.
#[derive(Default)]
pub(crate) struct WriterRegistration {
    last_heard: Mutex<Option<Heard>>,
    /// Registering and leaving exclude each other.
    is_writer: tokio::sync::Mutex<bool>,
}

/// The server's time in its last response, and when that arrived.
#[derive(Clone, Copy)]
struct Heard {
    server_millis: i64,
    at: Instant,
}

impl WriterRegistration {
    /// Call it before the first change of this process.
    pub(crate) async fn join(&self, wire: &Wire, instance: &str) -> anyhow::Result<()> {
        *self.is_writer.lock().await = true;
        self.renew(wire, instance).await
    }

    /// Renews the registration of a process that changes routes.
    pub(crate) async fn renew(&self, wire: &Wire, instance: &str) -> anyhow::Result<()> {
        let is_writer = self.is_writer.lock().await;
        if !*is_writer {
            return Ok(());
        }
        // The first response may only have returned the server's time.
        for _ in 0..2 {
            let script = redis::Script::new(REGISTER);
            let mut call = script.key(wire.names().writers());
            call.arg(instance).arg(self.last_heard().map_or(0, |heard| heard.server_millis));
            call.arg(TIME_VALID_FOR.as_millis() as u64).arg(KEPT.as_millis() as u64);
            let (server_millis, is_registered): (i64, bool) = wire.run(&call).await?;
            *self.last_heard() = Some(Heard { server_millis, at: Instant::now() });
            if is_registered {
                return Ok(());
            }
        }
        anyhow::bail!("Redis responds too slowly to register this process")
    }

    /// From this time on, no edge trusts its cache because it believes that this process is connected.
    pub(crate) fn edges_miss_notices_from(&self) -> Instant {
        self.last_heard().map_or_else(Instant::now, |heard| heard.at + BELIEVED_FOR)
    }

    /// Call it after the last change of this process.
    pub(crate) async fn leave(&self, wire: &Wire, instance: &str) -> anyhow::Result<()> {
        *self.is_writer.lock().await = false;
        let mut command = redis::cmd("ZREM");
        command.arg(wire.names().writers()).arg(instance);
        wire.command::<u64>(&command).await.map(drop)
    }

    fn last_heard(&self) -> MutexGuard<'_, Option<Heard>> {
        self.last_heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The list, identified by its creation time, if every process in it has renewed its entry recently.
pub(crate) async fn list_if_all_heard(wire: &Wire) -> anyhow::Result<Option<String>> {
    let script = redis::Script::new(ALL_HEARD);
    let mut call = script.key(wire.names().writers());
    call.arg(HEARD_WITHIN.as_millis() as u64);
    let list: String = wire.run(&call).await?;
    Ok(Some(list).filter(|list| !list.is_empty()))
}
