//! A large dressed page in memory, as independently compressed blocks, so that any part of it can be sent
//! without decompressing the rest.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use anyhow::Context;
use async_stream::try_stream;
use bytes::Bytes;
use futures::StreamExt;
use zstd::bulk::{Compressor, decompress};

use crate::chunks::Chunks;
use crate::press::Maker;

/// The plain size of a block. Each response has one of them in memory.
const BLOCK_BYTES: usize = 32 << 10;
const ZSTD_LEVEL: i32 = 1;

/// Compresses a page piece by piece until a limit is reached.
pub struct Packer {
    compressor: Compressor<'static>,
    /// The start of the current block, not compressed yet.
    block: Vec<u8>,
    packed: Vec<u8>,
    block_ends: Vec<usize>,
    size_bytes: u64,
    bytes_max: u64,
}

pub struct Packed {
    bytes: Bytes,
    block_ends: Vec<usize>,
    size_bytes: u64,
}

impl Packer {
    pub fn new(bytes_max: u64) -> anyhow::Result<Self> {
        Ok(Self {
            compressor: Compressor::new(ZSTD_LEVEL).context("open an encoder")?,
            block: Vec::with_capacity(BLOCK_BYTES),
            packed: vec![],
            block_ends: vec![],
            size_bytes: 0,
            bytes_max,
        })
    }

    fn end_block(&mut self) -> anyhow::Result<()> {
        let compressed = self.compressor.compress(&self.block).context("pack a page")?;
        self.packed.extend_from_slice(&compressed);
        self.block_ends.push(self.packed.len());
        self.size_bytes += self.block.len() as u64;
        self.block.clear();
        Ok(())
    }
}

impl Maker for Packer {
    type Made = Packed;

    fn write(&mut self, mut piece: &[u8]) -> anyhow::Result<()> {
        while !piece.is_empty() && !self.is_full() {
            let (now, later) = piece.split_at(piece.len().min(BLOCK_BYTES - self.block.len()));
            self.block.extend_from_slice(now);
            if self.block.len() == BLOCK_BYTES {
                self.end_block()?;
            }
            piece = later;
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.packed.len() as u64 > self.bytes_max
    }

    fn finish(mut self) -> anyhow::Result<Option<Packed>> {
        self.end_block()?;
        let Self { packed, block_ends, size_bytes, .. } = self;
        let is_full = packed.len() as u64 > self.bytes_max;
        let bytes = packed.into_boxed_slice().into();
        Ok((!is_full).then_some(Packed { bytes, block_ends, size_bytes }))
    }
}

impl Packed {
    /// The decompressed size.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// The size in memory.
    pub fn packed_bytes(&self) -> u64 {
        (self.bytes.len() + self.block_ends.len() * size_of::<usize>()) as u64
    }

    /// Replaces the bytes by what `map` makes of them.
    pub fn map_bytes(self, map: impl FnOnce(Bytes) -> Bytes) -> Self {
        Self { bytes: map(self.bytes), ..self }
    }

    /// A part of the page, decompressed block by block.
    pub fn chunks(self: Arc<Self>, part: Range<u64>) -> Chunks {
        let chunks = try_stream! {
            let mut at = part.start;
            while at < part.end {
                let chunk = self.chunk(at, part.end)?;
                at += chunk.len() as u64;
                yield chunk;
            }
        };
        chunks.boxed()
    }

    /// The rest of the block at this offset, up to `end`.
    fn chunk(&self, at: u64, end: u64) -> io::Result<Bytes> {
        let block_bytes = BLOCK_BYTES as u64;
        let index = usize::try_from(at / block_bytes).map_err(io::Error::other)?;
        let starts_at = index.checked_sub(1).map_or(Some(0), |before| self.block_ends.get(before).copied());
        let block = starts_at.zip(self.block_ends.get(index).copied()).map(|(start, end)| start..end);
        let block = block.and_then(|block| self.bytes.get(block)).ok_or(io::ErrorKind::UnexpectedEof)?;
        let plain = Bytes::from(decompress(block, BLOCK_BYTES)?);
        let from = usize::try_from(at % block_bytes).map_err(io::Error::other)?;
        let left = usize::try_from(end - at).unwrap_or(usize::MAX);
        let to = plain.len().min(from.saturating_add(left));
        if from >= to {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(plain.slice(from..to))
    }
}

#[cfg(test)]
mod tests {
    use futures::TryStreamExt;

    use super::*;

    const SIZES: [usize; 6] = [0, 1, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 5 * BLOCK_BYTES / 2];

    fn page(size_bytes: usize) -> Vec<u8> {
        (0..size_bytes).map(|at| (at / 700 % 251) as u8).collect()
    }

    fn pack(page: &[u8], bytes_max: u64) -> Option<Packed> {
        let mut packer = Packer::new(bytes_max).unwrap();
        for piece in page.chunks(7777) {
            packer.write(piece).unwrap();
        }
        packer.finish().unwrap()
    }

    async fn unfold(packed: &Arc<Packed>, part: Range<u64>) -> Vec<u8> {
        let chunks: Vec<Bytes> = packed.clone().chunks(part).try_collect().await.unwrap();
        assert!(chunks.iter().all(|chunk| chunk.len() <= BLOCK_BYTES));
        chunks.concat()
    }

    #[tokio::test]
    async fn packed_pages_and_their_ranges_unpack_to_the_same_bytes() {
        for size in SIZES {
            let page = page(size);
            let packed = Arc::new(pack(&page, 1 << 20).unwrap());
            assert_eq!(packed.size_bytes(), size as u64);
            assert!(packed.packed_bytes() <= page.len() as u64 / 10 + 100);
            for (from, to) in
                [(0, size), (size / 2, size), (size / 3, size / 2), (size.saturating_sub(1), size)]
            {
                assert_eq!(
                    unfold(&packed, from as u64..to as u64).await,
                    page[from..to],
                    "{from}..{to} of {size}"
                );
            }
        }
    }

    #[tokio::test]
    async fn a_part_beyond_the_page_is_an_error() {
        for size in SIZES {
            let packed = Arc::new(pack(&page(size), 1 << 20).unwrap());
            let beyond: io::Result<Vec<Bytes>> =
                packed.chunks(size as u64..size as u64 + 1).try_collect().await;
            assert!(beyond.is_err(), "{size}");
        }
    }

    #[test]
    fn oversized_packed_page_is_refused_early() {
        let chance = domain::Chance::seeded(1);
        let noise: Vec<u8> = (0..40).flat_map(|_| chance.bytes::<4096>()).collect();
        assert!(pack(&noise, 2 * noise.len() as u64).is_some());
        assert!(pack(&noise, 100_000).is_none());
        let mut packer = Packer::new(100_000).unwrap();
        packer.write(&noise).unwrap();
        assert!(packer.is_full() && packer.packed.len() < 300_000);
    }
}
