//! The identity of the bus. Processes with the same identity can exchange signals, whatever addresses they
//! use to reach Redis.

use std::sync::{Mutex, PoisonError};

use anyhow::Context;

use crate::wire::Wire;

/// The known identity of the bus. Until it is read from Redis, this process is a bus of its own.
pub(crate) struct Identity(Mutex<String>);

impl Identity {
    pub(crate) fn of_one_process(instance: &str) -> Self {
        Self(Mutex::new(instance.to_owned()))
    }

    pub(crate) fn get(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adopts the identity that Redis stores. A server without one, new or after a data loss, gets the
    /// identity that this process knows. Otherwise nothing is written, so an edge's login needs no permission
    /// to write.
    pub(crate) async fn agree(&self, wire: &Wire) -> anyhow::Result<()> {
        let key = wire.names().identity();
        let mut read = redis::cmd("GET");
        read.arg(&key);
        let mut kept: Option<String> = wire.command(&read).await?;
        if kept.is_none() {
            let mut write = redis::cmd("SET");
            write.arg(&key).arg(self.get()).arg("NX");
            // Another process may have written first. An edge's login may not write: it adopts the identity
            // as soon as another process has written one.
            let written: anyhow::Result<Option<String>> = wire.command(&write).await;
            if written.is_err() {
                return Ok(());
            }
            kept = wire.command(&read).await?;
        }
        let kept = kept.context("Redis does not store what is written to it")?;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = kept;
        Ok(())
    }
}
