//! Which bus this is. Two processes can hear each other when they name the same identity, whatever the addresses are by
//! which they reach Redis.

use std::sync::{Mutex, PoisonError};

use anyhow::Context;

use crate::wire::Wire;

/// What this process knows of the bus. Until Redis has been asked, it is a bus of its own.
pub(crate) struct Identity(Mutex<String>);

impl Identity {
    pub(crate) fn of_one_process(instance: &str) -> Self {
        Self(Mutex::new(instance.to_owned()))
    }

    pub(crate) fn get(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes over the identity that Redis keeps. One that is new, or has lost it, is given the one that this process knows.
    /// Nothing is written otherwise, so the login of an edge need not be allowed to.
    pub(crate) async fn agree(&self, wire: &Wire) -> anyhow::Result<()> {
        let key = wire.names().identity();
        let mut read = redis::cmd("GET");
        read.arg(&key);
        let mut kept: Option<String> = wire.command(&read).await?;
        if kept.is_none() {
            let mut write = redis::cmd("SET");
            write.arg(&key).arg(self.get()).arg("NX");
            // Another process may have come first. The login of an edge may not write: it takes over the identity as soon as
            // another process has written one.
            let written: anyhow::Result<Option<String>> = wire.command(&write).await;
            if written.is_err() {
                return Ok(());
            }
            kept = wire.command(&read).await?;
        }
        let kept = kept.context("Redis does not keep what is written to it")?;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = kept;
        Ok(())
    }
}
