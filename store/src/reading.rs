//! Reading: the bytes of an object for as long as its reader takes, over as many connections as that needs.
//!
//! A store hangs up on who reads slowly, and a visitor may take minutes over a large file. Objects never change, so what
//! is still missing is asked for anew. It must never send a byte twice, and never wait without a bound for a store that
//! is gone: only the store's own silence counts, not the time that the reader takes.

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

/// How often it is asked anew without bringing a single byte.
const FRUITLESS_MAX: u32 = 3;
/// Between two such attempts, so that a store that starts anew has a moment for it.
const FRUITLESS_PAUSE: Duration = Duration::from_millis(500);

type Chunks = BoxStream<'static, object_store::Result<Bytes>>;

pub(crate) struct Reading {
    objects: Arc<dyn ObjectStore>,
    key: Key,
    missing: Range<u64>,
    chunks: Chunks,
    /// How often the store was asked since it last brought something.
    asked: u32,
}

impl Reading {
    /// Begins at once, so that what is not there is known before the first byte is sent.
    pub(crate) async fn begin(
        objects: Arc<dyn ObjectStore>,
        key: Key,
        range: Range<u64>,
    ) -> anyhow::Result<Self> {
        let chunks = ask(objects.as_ref(), &key, range.clone()).await?;
        Ok(Self { objects, key, missing: range, chunks, asked: 1 })
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
                    self.asked = 0;
                    return Ok(Some((chunk, self)));
                }
                Err(error) => self.ask_anew(error).await.map_err(io::Error::other)?,
            }
        }
        Ok(None)
    }

    async fn take_chunk(&mut self) -> anyhow::Result<Bytes> {
        let chunk = within(self.chunks.next()).await?;
        Ok(chunk.context("the object ended early")??)
    }

    async fn ask_anew(&mut self, mut error: anyhow::Error) -> anyhow::Result<()> {
        while self.asked < FRUITLESS_MAX {
            tracing::debug!(error = format!("{error:#}"), "what is missing of an object is asked for anew");
            if self.asked > 0 {
                sleep(FRUITLESS_PAUSE).await;
            }
            self.asked += 1;
            match ask(self.objects.as_ref(), &self.key, self.missing.clone()).await {
                Ok(chunks) => {
                    self.chunks = chunks;
                    return Ok(());
                }
                Err(again) => error = again,
            }
        }
        Err(error)
    }
}

async fn ask(objects: &dyn ObjectStore, key: &Key, range: Range<u64>) -> anyhow::Result<Chunks> {
    let options = GetOptions { range: Some(GetRange::Bounded(range)), ..GetOptions::default() };
    Ok(within(objects.get_opts(key, options)).await??.into_stream())
}

#[cfg(test)]
pub(crate) mod tests;
