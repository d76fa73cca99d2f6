//! Where the bytes of a content are, and how they become the body of a response. Contents in memory need no
//! permit and no stream slot.

use std::future::ready;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use anyhow::{Context, ensure};
use async_stream::try_stream;
use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use poem::Body;
use poem::http::HeaderValue;
use store::{ContentAddress, ContentReader};
use tokio::time::timeout_at;

use super::SILENT;
use crate::chunks::Chunks;
use crate::pack::Packed;
use crate::patience::Patience;
use crate::streams::StreamShare;

/// The location of the bytes. Their length is known, and any range of them can be read.
pub enum Source {
    Loaded(Arc<LoadedContent>),
    Packed(PackedPage),
    Stored(Stored),
}

/// A content in memory, with the headers that never change.
pub struct LoadedContent {
    pub bytes: Bytes,
    pub etag: HeaderValue,
    pub length: HeaderValue,
}

/// A large page in memory. It is decompressed while it is sent, so each response takes a stream slot.
pub struct PackedPage {
    pub page: Arc<Packed>,
    pub streams: StreamShare,
}

/// A content, or one of its encodings, in the blob store.
#[derive(Clone)]
pub struct Stored {
    pub contents: ContentReader,
    pub streams: StreamShare,
    pub address: ContentAddress,
    pub range: Range<u64>,
}

impl Source {
    pub fn size_bytes(&self) -> u64 {
        match self {
            Source::Loaded(held) => held.bytes.len() as u64,
            Source::Packed(packed) => packed.page.size_bytes(),
            Source::Stored(stored) => stored.size_bytes(),
        }
    }

    /// `Content-Length`
    pub fn length(&self) -> HeaderValue {
        match self {
            Source::Loaded(held) => held.length.clone(),
            Source::Packed(_) | Source::Stored(_) => HeaderValue::from(self.size_bytes()),
        }
    }

    pub async fn whole(&self, patience: Patience) -> anyhow::Result<Body> {
        match self {
            Source::Loaded(held) => Ok(Body::from_bytes(held.bytes.clone())),
            Source::Packed(packed) => packed.body(0..packed.page.size_bytes(), patience).await,
            Source::Stored(stored) => stored.body(0..stored.size_bytes(), patience).await,
        }
    }

    pub async fn part(&self, part: Range<u64>, patience: Patience) -> anyhow::Result<Body> {
        match self {
            Source::Loaded(held) => Ok(Body::from_bytes(held.part(part)?)),
            Source::Packed(packed) => packed.body(part, patience).await,
            Source::Stored(stored) => stored.body(part, patience).await,
        }
    }

    /// Several parts in sequence, each preceded by its opening bytes, and the closing bytes at the end.
    pub async fn parts(
        self,
        parts: Vec<(Bytes, Range<u64>)>,
        closing: Bytes,
        patience: Patience,
    ) -> anyhow::Result<Body> {
        let streams = match &self {
            Source::Loaded(_) => return Ok(Body::from_bytes_stream(self.in_turn(parts, closing))),
            Source::Packed(packed) => &packed.streams,
            Source::Stored(stored) => &stored.streams,
        };
        let slot = streams.enter(patience.for_permit()).await?;
        Ok(slot.deliver(self.in_turn(parts, closing)))
    }

    /// Each part is opened only when it is to be sent.
    fn in_turn(self, parts: Vec<(Bytes, Range<u64>)>, closing: Bytes) -> Chunks {
        let chunks = try_stream! {
            for (opening, part) in parts {
                yield opening;
                let mut chunks = self.open(part).await.map_err(io::Error::other)?;
                while let Some(chunk) = chunks.try_next().await? {
                    yield chunk;
                }
            }
            yield closing;
        };
        chunks.boxed()
    }

    async fn open(&self, part: Range<u64>) -> anyhow::Result<Chunks> {
        match self {
            Source::Loaded(held) => Ok(stream::once(ready(Ok(held.part(part)?))).boxed()),
            Source::Packed(packed) => Ok(packed.page.clone().chunks(part)),
            Source::Stored(stored) => stored.part(part).await,
        }
    }
}

impl LoadedContent {
    fn part(&self, part: Range<u64>) -> anyhow::Result<Bytes> {
        let (start, end) = (usize::try_from(part.start)?, usize::try_from(part.end)?);
        ensure!(start <= end && end <= self.bytes.len(), "the range is beyond the end of the content");
        Ok(self.bytes.slice(start..end))
    }
}

impl PackedPage {
    fn body(&self, part: Range<u64>, patience: Patience) -> BoxFuture<'_, anyhow::Result<Body>> {
        let opening = async move {
            let slot = self.streams.enter(patience.for_permit()).await?;
            Ok(slot.deliver(self.page.clone().chunks(part)))
        };
        opening.boxed()
    }
}

impl Stored {
    pub fn size_bytes(&self) -> u64 {
        self.range.end - self.range.start
    }

    /// Reads all of it at once. For small contents only.
    pub async fn read(self) -> anyhow::Result<Bytes> {
        let expected_bytes = self.size_bytes();
        let bytes = self.contents.read(self.address, self.range).await?;
        ensure!(bytes.len() as u64 == expected_bytes, "the blob {} was cut short", self.address.hash);
        Ok(bytes)
    }

    /// Streams all of it.
    pub async fn whole(&self) -> anyhow::Result<Chunks> {
        self.part(0..self.size_bytes()).await
    }

    async fn part(&self, part: Range<u64>) -> anyhow::Result<Chunks> {
        let from = self.range.start;
        self.contents.stream(self.address, from + part.start..from + part.end).await
    }

    /// Streams a range. Boxed, so that the future of a response from memory does not include its size.
    fn body(&self, part: Range<u64>, patience: Patience) -> BoxFuture<'_, anyhow::Result<Body>> {
        let opening = async move {
            let slot = self.streams.enter(patience.for_permit()).await?;
            let opened = timeout_at(patience.for_store(), self.part(part)).await;
            Ok(slot.deliver(opened.context(SILENT)??))
        };
        opening.boxed()
    }
}
