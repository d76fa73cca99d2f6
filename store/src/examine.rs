//! Checks that an object holds the content of its hash: the plain bytes by their hash, every variant by
//! decoding it, the trailer by comparing it with the database. Of a bundle it checks one content. It decodes
//! the stream as it arrives, so a large object needs no more memory than a small one. It never decodes more
//! bytes than the content has.

use std::cell::RefCell;
use std::fmt;
use std::io::{self, Write};
use std::ops::Range;
use std::rc::Rc;

use anyhow::Context;
use bytes::Bytes;
use domain::{BlobHash, BlobHasher, BundledAt, Encoding};
use futures::TryStreamExt;
use futures::stream::BoxStream;
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

use crate::Blobs;
use crate::blobs::{KnownBlob, StorageKey};
use crate::objects::is_missing;
use crate::pack::{self, TRAILER_BYTES};

/// How much the brotli decoder decodes at a time.
const BROTLI_BUFFER_BYTES: usize = 16 * 1024;

/// What is wrong with a stored content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlobFault {
    Missing,
    /// The store responds but does not return the object, for this reason.
    Unreadable(String),
    Size {
        expected_bytes: u64,
        found_bytes: u64,
    },
    Content,
    Variant(Encoding),
    Trailer,
}

impl fmt::Display for BlobFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BlobFault::Missing => f.write_str("it is not in the blob store"),
            BlobFault::Unreadable(why) => write!(f, "it cannot be read: {why}"),
            BlobFault::Size { expected_bytes, found_bytes } => {
                write!(f, "its object has {found_bytes} bytes instead of {expected_bytes}")
            }
            BlobFault::Content => f.write_str("its bytes do not match its hash"),
            BlobFault::Variant(encoding) => {
                write!(f, "its {} encoding does not decode to it", encoding.token())
            }
            BlobFault::Trailer => f.write_str("the layout in its object differs from that in the database"),
        }
    }
}

impl Blobs {
    /// Reads a stored content completely and returns the first fault. It fails only if the store itself is
    /// unavailable, which says nothing about the content.
    pub async fn examine(&self, blob: &KnownBlob) -> anyhow::Result<Option<BlobFault>> {
        if let Ok(fault) = self.examine_once(blob).await {
            return Ok(fault);
        }
        self.ping().await.with_context(|| format!("examine the content {}", blob.hash))?;
        // A second attempt rules out a temporary fault.
        let again = self.examine_once(blob).await;
        Ok(again.unwrap_or_else(|error| Some(BlobFault::Unreadable(format!("{error:#}")))))
    }

    async fn examine_once(&self, blob: &KnownBlob) -> anyhow::Result<Option<BlobFault>> {
        let (key, range) = blob.place();
        let expected_bytes = range.end;
        match self.size_of(&self.key(key)).await? {
            None => return Ok(Some(BlobFault::Missing)),
            // A bundle may have other contents after this one.
            Some(found_bytes) if found_bytes < expected_bytes => {
                return Ok(Some(BlobFault::Size { expected_bytes, found_bytes }));
            }
            Some(found_bytes) if found_bytes > expected_bytes && blob.bundled.is_none() => {
                return Ok(Some(BlobFault::Size { expected_bytes, found_bytes }));
            }
            Some(_) => {}
        }
        let chunks = match self.stream_range(key, range).await {
            Ok(chunks) => chunks,
            Err(error) if is_missing(&error) => return Ok(Some(BlobFault::Missing)),
            Err(error) => return Err(error),
        };
        let (blob, runtime) = (blob.clone(), Handle::current());
        // Hashing and decoding are CPU-bound, so they run off the async threads.
        spawn_blocking(move || read_through(&blob, chunks, &runtime)).await.context("examine a blob")?
    }
}

impl KnownBlob {
    /// The size of the content with its variants.
    pub fn segment_bytes(&self) -> u64 {
        self.size_bytes + self.variants.iter().map(|variant| variant.size_bytes).sum::<u64>()
    }

    /// The size of the content's own object, including variants and trailer.
    pub fn object_bytes(&self) -> u64 {
        self.segment_bytes() + TRAILER_BYTES
    }

    /// The object that holds the content, and the bytes of it that belong to the content.
    fn place(&self) -> (StorageKey, Range<u64>) {
        match self.bundled {
            None => (StorageKey::Blob(self.hash), 0..self.object_bytes()),
            Some(BundledAt { bundle, offset_bytes }) => {
                (StorageKey::Bundle(bundle), offset_bytes..offset_bytes + self.segment_bytes())
            }
        }
    }
}

fn read_through(
    blob: &KnownBlob,
    mut chunks: BoxStream<'static, io::Result<Bytes>>,
    runtime: &Handle,
) -> anyhow::Result<Option<BlobFault>> {
    let mut reading = ObjectReading::of(blob)?;
    while let Some(chunk) = runtime.block_on(chunks.try_next()).context("read a blob")? {
        if let Err(fault) = reading.take(chunk) {
            return Ok(Some(fault));
        }
    }
    Ok(reading.finish().err())
}

/// The parts of an object that are still to come, beginning with the current one.
struct ObjectReading {
    parts: std::collections::VecDeque<Part>,
}

struct Part {
    left_bytes: u64,
    check: Check,
}

enum Check {
    Plain { hash: BlobHash, seen: BlobHasher },
    Encoded { encoding: Encoding, decoder: Decoder, decoded: Decoded },
    Trailer { blob: KnownBlob, seen: Vec<u8> },
}

impl ObjectReading {
    fn of(blob: &KnownBlob) -> anyhow::Result<Self> {
        let plain = Check::Plain { hash: blob.hash, seen: BlobHasher::default() };
        let mut parts =
            std::collections::VecDeque::from([Part { left_bytes: blob.size_bytes, check: plain }]);
        for variant in &blob.variants {
            let decoded = Decoded::of(blob);
            let decoder = Decoder::of(variant.encoding, decoded.clone())?;
            let check = Check::Encoded { encoding: variant.encoding, decoder, decoded };
            parts.push_back(Part { left_bytes: variant.size_bytes, check });
        }
        if blob.bundled.is_none() {
            let trailer = Check::Trailer { blob: blob.clone(), seen: Vec::new() };
            parts.push_back(Part { left_bytes: TRAILER_BYTES, check: trailer });
        }
        Ok(Self { parts })
    }

    fn take(&mut self, mut chunk: Bytes) -> Result<(), BlobFault> {
        while !chunk.is_empty() {
            let Some(part) = self.parts.front_mut() else { return Err(BlobFault::Trailer) };
            let here = chunk.len().min(usize::try_from(part.left_bytes).unwrap_or(usize::MAX));
            part.check.take(&chunk.split_to(here))?;
            part.left_bytes -= here as u64;
            if part.left_bytes == 0
                && let Some(part) = self.parts.pop_front()
            {
                part.check.finish()?;
            }
        }
        Ok(())
    }

    /// The remaining parts must be empty; otherwise bytes are missing.
    fn finish(self) -> Result<(), BlobFault> {
        self.parts.into_iter().try_for_each(|part| part.check.finish())
    }
}

impl Check {
    fn take(&mut self, bytes: &[u8]) -> Result<(), BlobFault> {
        match self {
            Check::Plain { seen, .. } => seen.take(bytes),
            Check::Encoded { encoding, decoder, .. } => {
                decoder.write_all(bytes).map_err(|_| BlobFault::Variant(*encoding))?;
            }
            Check::Trailer { seen, .. } => seen.extend_from_slice(bytes),
        }
        Ok(())
    }

    fn finish(self) -> Result<(), BlobFault> {
        let (holds, fault) = match self {
            Check::Plain { hash, seen } => (seen.finish() == hash, BlobFault::Content),
            Check::Encoded { encoding, decoder, decoded } => {
                (decoder.finish().is_ok() && decoded.is_whole(), BlobFault::Variant(encoding))
            }
            Check::Trailer { blob, seen } => (
                pack::read_trailer(&seen).is_ok_and(|variants| variants == blob.variants),
                BlobFault::Trailer,
            ),
        };
        if holds { Ok(()) } else { Err(fault) }
    }
}

/// A hash of the decoded bytes. It never accepts more bytes than the content has.
#[derive(Clone)]
struct Decoded(Rc<RefCell<DecodedSoFar>>);

struct DecodedSoFar {
    hash: BlobHash,
    left_bytes: u64,
    seen: BlobHasher,
}

impl Decoded {
    fn of(blob: &KnownBlob) -> Self {
        let nothing =
            DecodedSoFar { hash: blob.hash, left_bytes: blob.size_bytes, seen: BlobHasher::default() };
        Self(Rc::new(RefCell::new(nothing)))
    }

    fn is_whole(&self) -> bool {
        let so_far = self.0.borrow();
        so_far.left_bytes == 0 && so_far.seen.clone().finish() == so_far.hash
    }
}

impl Write for Decoded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut so_far = self.0.borrow_mut();
        so_far.left_bytes = so_far
            .left_bytes
            .checked_sub(bytes.len() as u64)
            .ok_or_else(|| io::Error::other("more is decoded than the content has"))?;
        so_far.seen.take(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

enum Decoder {
    Brotli(Box<brotli::DecompressorWriter<Decoded>>),
    Zstd(Box<zstd::stream::write::Decoder<'static, Decoded>>),
    Gzip(Box<flate2::write::GzDecoder<Decoded>>),
}

impl Decoder {
    fn of(encoding: Encoding, decoded: Decoded) -> anyhow::Result<Self> {
        Ok(match encoding {
            Encoding::Brotli => {
                Self::Brotli(Box::new(brotli::DecompressorWriter::new(decoded, BROTLI_BUFFER_BYTES)))
            }
            Encoding::Zstd => Self::Zstd(Box::new(zstd::stream::write::Decoder::new(decoded)?)),
            Encoding::Gzip => Self::Gzip(Box::new(flate2::write::GzDecoder::new(decoded))),
        })
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Decoder::Brotli(decoder) => decoder.write_all(bytes),
            Decoder::Zstd(decoder) => decoder.write_all(bytes),
            Decoder::Gzip(decoder) => decoder.write_all(bytes),
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Decoder::Brotli(mut decoder) => decoder.close(),
            Decoder::Zstd(mut decoder) => decoder.flush(),
            Decoder::Gzip(decoder) => decoder.finish().map(drop),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Layout;

    struct StoredCopy {
        folder: tempfile::TempDir,
        blobs: Blobs,
        blob: KnownBlob,
    }

    async fn stored(content: &Bytes) -> StoredCopy {
        let folder = tempfile::tempdir().unwrap();
        let blobs = Blobs::local(folder.path()).unwrap();
        let hash = BlobHash::of(content);
        let variants =
            blobs.put(hash, content.clone(), Layout::of(content, "text/html").unwrap()).await.unwrap();
        StoredCopy {
            folder,
            blobs,
            blob: KnownBlob { hash, size_bytes: content.len() as u64, variants, bundled: None },
        }
    }

    impl StoredCopy {
        /// The fault that is found after the object's bytes were changed.
        async fn found_after(&self, change: impl FnOnce(&mut Vec<u8>)) -> Option<BlobFault> {
            let hash = self.blob.hash.to_string();
            let path = self.folder.path().join(format!("blobs/{}/{hash}", &hash[..2]));
            let whole = std::fs::read(&path).unwrap();
            let mut changed = whole.clone();
            change(&mut changed);
            std::fs::write(&path, changed).unwrap();
            let found = self.blobs.examine(&self.blob).await.unwrap();
            std::fs::write(&path, whole).unwrap();
            found
        }
    }

    #[tokio::test]
    async fn every_part_of_an_object_is_checked() {
        let content = Bytes::from("<p>a page with many words</p>".repeat(20_000));
        let stored = stored(&content).await;
        assert_eq!(stored.blob.variants.len(), 3);
        assert_eq!(stored.found_after(|_| {}).await, None);
        assert_eq!(stored.found_after(|bytes| bytes[7] ^= 4).await, Some(BlobFault::Content));
        for variant in &stored.blob.variants {
            let middle = usize::try_from(variant.offset_bytes + variant.size_bytes / 2).unwrap();
            let fault = Some(BlobFault::Variant(variant.encoding));
            assert_eq!(stored.found_after(|bytes| bytes[middle] ^= 0x55).await, fault);
        }
        let end = usize::try_from(stored.blob.object_bytes()).unwrap() - 1;
        assert_eq!(stored.found_after(|bytes| bytes[end] ^= 1).await, Some(BlobFault::Trailer));
        let (expected_bytes, found_bytes) = (end as u64 + 1, end as u64);
        assert_eq!(
            stored.found_after(|bytes| bytes.truncate(end)).await,
            Some(BlobFault::Size { expected_bytes, found_bytes })
        );
        stored.blobs.delete_blob(stored.blob.hash).await.unwrap();
        assert_eq!(stored.blobs.examine(&stored.blob).await.unwrap(), Some(BlobFault::Missing));
    }

    #[tokio::test]
    async fn unreadable_object_is_a_fault_and_unreachable_store_is_not() {
        let stored = stored(&Bytes::from_static(b"content")).await;
        let hash = stored.blob.hash.to_string();
        let path = stored.folder.path().join(format!("blobs/{}/{hash}", &hash[..2]));
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(&path, &path).unwrap();
        let found = stored.blobs.examine(&stored.blob).await.unwrap();
        assert!(matches!(found, Some(BlobFault::Unreadable(_))), "{found:?}");
        std::os::unix::fs::symlink("probe", stored.folder.path().join("probe")).unwrap();
        assert!(stored.blobs.examine(&stored.blob).await.is_err());
    }

    #[tokio::test]
    async fn empty_blobs_and_blobs_without_variants_are_sound() {
        for content in [Bytes::new(), Bytes::from_static(b"short")] {
            let stored = stored(&content).await;
            assert_eq!(stored.found_after(|_| {}).await, None);
        }
    }

    #[test]
    fn decompression_stops_when_a_variant_exceeds_the_content() {
        let content = vec![b'a'; 1_000_000];
        let bomb = zstd::bulk::compress(&content, 3).unwrap();
        let blob = KnownBlob { hash: BlobHash::of(b"a"), size_bytes: 1, variants: vec![], bundled: None };
        let decoded = Decoded::of(&blob);
        let mut decoder = Decoder::of(Encoding::Zstd, decoded.clone()).unwrap();
        let refused = decoder.write_all(&bomb).and_then(|()| decoder.finish());
        assert!(refused.is_err() && !decoded.is_whole());
    }
}
