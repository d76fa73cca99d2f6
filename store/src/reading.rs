//! Streams the bytes of an object to its reader, over as many connections as needed.
//!
//! An object store closes the connection of a slow reader, and a visitor may take minutes to download a large
//! file. The objects of single contents never change, so the missing bytes are requested again. The stream
//! must never contain a byte twice and never wait without a limit for a store that is unavailable. Only the
//! store's own silence counts as waiting, not the time that the reader takes.

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use object_store::path::Path as Key;
use object_store::{GetOptions, GetRange, ObjectStore};
use tokio::time::sleep;

use crate::silence::within;

/// Attempts that bring no byte before the stream fails.
const FRUITLESS_MAX: u32 = 3;
/// The pause before such an attempt. It gives a restarting store time to come up.
const FRUITLESS_PAUSE: Duration = Duration::from_millis(500);

type Chunks = BoxStream<'static, object_store::Result<Bytes>>;

pub(crate) struct Reading {
    objects: Arc<dyn ObjectStore>,
    key: Key,
    missing: Range<u64>,
    chunks: Chunks,
    /// Attempts since the store last sent a byte.
    attempts: u32,
}

impl Reading {
    /// Sends the first request at once, so that a missing object is known before the response begins.
    pub(crate) async fn begin(
        objects: Arc<dyn ObjectStore>,
        key: Key,
        range: Range<u64>,
    ) -> anyhow::Result<Self> {
        let chunks = request(objects.as_ref(), &key, range.clone()).await?;
        Ok(Self { objects, key, missing: range, chunks, attempts: 1 })
    }

    pub(crate) fn into_stream(self) -> BoxStream<'static, io::Result<Bytes>> {
        stream::try_unfold(self, Self::next).boxed()
    }

    async fn next(mut self) -> io::Result<Option<(Bytes, Self)>> {
        while !self.missing.is_empty() {
            match self.take_chunk().await {
                Ok(chunk) if chunk.is_empty() => {}
                Ok(chunk) => {
                    self.missing.start += chunk.len() as u64;
                    self.attempts = 0;
                    return Ok(Some((chunk, self)));
                }
                Err(error) => self.request_again(error).await.map_err(io::Error::other)?,
            }
        }
        Ok(None)
    }

    async fn take_chunk(&mut self) -> anyhow::Result<Bytes> {
        let chunk = within(self.chunks.next()).await?;
        Ok(chunk.context("the object ended early")??)
    }

    async fn request_again(&mut self, mut error: anyhow::Error) -> anyhow::Result<()> {
        while self.attempts < FRUITLESS_MAX {
            tracing::debug!(error = format!("{error:#}"), "requesting the missing part of an object again");
            if self.attempts > 0 {
                sleep(FRUITLESS_PAUSE).await;
            }
            self.attempts += 1;
            match request(self.objects.as_ref(), &self.key, self.missing.clone()).await {
                Ok(chunks) => {
                    self.chunks = chunks;
                    return Ok(());
                }
                Err(next_error) => error = next_error,
            }
        }
        Err(error)
    }
}

async fn request(objects: &dyn ObjectStore, key: &Key, range: Range<u64>) -> anyhow::Result<Chunks> {
    let options = GetOptions { range: Some(GetRange::Bounded(range)), ..GetOptions::default() };
    Ok(within(objects.get_opts(key, options)).await??.into_stream())
}

#[cfg(test)]
pub(crate) mod tests;
