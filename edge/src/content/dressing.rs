//! Dresses a page on its way from the store to the visitor, either into a small result that can be cached or
//! as a stream.
//!
//! A small page is read whole and dressed in one step. A large page must never be whole in memory. Each read
//! from the store has its own timeout.

use anyhow::ensure;
use async_stream::try_stream;
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use super::Stored;
use super::loading::{Loader, NotHeld};
use crate::chunks::Chunks;
use crate::form::{HELD_BYTES_MAX, Markup};
use crate::press::Maker;
use crate::rewrite::{Badge, Rewriter};
use crate::sign_links::LinkSigner;

pub struct Dressing {
    pub stored: Stored,
    /// The whole page, if it is small and was loaded.
    pub loaded: Option<Bytes>,
    pub markup: Markup,
    pub badge: Option<Badge>,
    pub signer: Option<LinkSigner>,
}

/// A page in the middle of being dressed, and its output.
struct Work<M> {
    rewriter: Rewriter,
    maker: M,
}

/// A loaded page is dressed in pieces of this size, so that a result that becomes too large is noticed early.
const PIECE_BYTES: usize = 64 << 10;

impl Dressing {
    /// Loads the page, if it is small.
    pub async fn load(&mut self, loader: &Loader, permit_until: Instant) -> Result<(), NotHeld> {
        if self.stored.size_bytes() <= HELD_BYTES_MAX {
            self.loaded = Some(loader.load(self.stored.clone(), permit_until).await?);
        }
        Ok(())
    }

    /// Dresses the whole page. Returns `None` when the output is too large.
    pub async fn make<M: Maker>(
        &self,
        maker: impl Fn() -> anyhow::Result<M>,
    ) -> anyhow::Result<Option<M::Made>> {
        let made = self.make_once(maker()?).await?;
        match &self.signer {
            // The base of the links before a late `<base>` is known only now.
            Some(signer) if made.is_some() && signer.settle_late_base() => self.make_once(maker()?).await,
            _ => Ok(made),
        }
    }

    /// Dresses the page as a stream. It is never encoded, because its size is not known in advance.
    pub async fn stream(&self) -> anyhow::Result<Chunks> {
        let (mut plain, mut rewriter) = (self.stored.whole().await?, self.rewriter()?);
        let dressed = try_stream! {
            while let Some(chunk) = plain.try_next().await? {
                yield rewriter.feed(&chunk).map_err(std::io::Error::other)?;
            }
            yield rewriter.finish().map_err(std::io::Error::other)?;
        };
        Ok(dressed.boxed())
    }

    /// The work is CPU-bound, so it runs on the blocking pool.
    async fn make_once<M: Maker>(&self, maker: M) -> anyhow::Result<Option<M::Made>> {
        let work = Work { rewriter: self.rewriter()?, maker };
        match self.loaded.clone() {
            Some(page) => spawn_blocking(move || work.make(&page)).await?,
            None => self.make_streamed(work).await,
        }
    }

    /// Works chunk by chunk, so that the page is never whole in memory before it is compressed.
    async fn make_streamed<M: Maker>(&self, mut work: Work<M>) -> anyhow::Result<Option<M::Made>> {
        let (mut plain, mut plain_bytes) = (self.stored.whole().await?, 0);
        while let Some(chunk) = plain.try_next().await? {
            plain_bytes += chunk.len() as u64;
            work = spawn_blocking(move || work.take(&chunk)).await??;
            if work.maker.is_full() {
                return Ok(None);
            }
        }
        ensure!(
            plain_bytes == self.stored.size_bytes(),
            "the blob {} was cut short",
            self.stored.address.hash
        );
        spawn_blocking(move || work.finish()).await?
    }

    fn rewriter(&self) -> anyhow::Result<Rewriter> {
        Rewriter::new(self.markup, self.badge.as_ref(), self.signer.clone())
    }
}

impl<M: Maker> Work<M> {
    fn make(mut self, page: &[u8]) -> anyhow::Result<Option<M::Made>> {
        for piece in page.chunks(PIECE_BYTES) {
            self = self.take(piece)?;
            if self.maker.is_full() {
                return Ok(None);
            }
        }
        self.finish()
    }

    fn take(mut self, chunk: &[u8]) -> anyhow::Result<Self> {
        self.maker.write(&self.rewriter.feed(chunk)?)?;
        Ok(self)
    }

    fn finish(mut self) -> anyhow::Result<Option<M::Made>> {
        self.maker.write(&self.rewriter.finish()?)?;
        self.maker.finish()
    }
}
