//! The layout of a bundle: the contents in sequence, each with its variants after it, and an index. The index
//! lists the hash and the sizes of each content, so a bundle can be read without the database. It ends with
//! the number of contents and a marker.

use anyhow::{Context, ensure};
use bytes::{BufMut, Bytes, BytesMut};
use domain::{BlobHash, BundleId, BundledAt, WrittenBundle};
use object_store::PutPayload;

use crate::blobs::KnownBlob;
use crate::pack::{self, Layout, SIZES_BYTES};

/// A larger content gets its own object. At this size, one more PUT costs as much as storing the content and
/// its encodings for two months.
pub const BUNDLED_BYTES_MAX: u64 = 64 * 1024;
/// Enough for every publish, which has 50 files at most.
pub const BUNDLE_CONTENTS_MAX: usize = 64;

const MARK: &[u8; 8] = b"HNDBUND1";
const HASH_BYTES: usize = 32;
const ENTRY_BYTES: usize = HASH_BYTES + SIZES_BYTES;
const END_BYTES: usize = 8 + MARK.len();
/// The maximum size of an index.
pub(crate) const INDEX_BYTES_MAX: u64 = (BUNDLE_CONTENTS_MAX * ENTRY_BYTES + END_BYTES) as u64;

/// A content to be stored in a bundle.
#[derive(Clone, Debug)]
pub struct NewContent {
    pub hash: BlobHash,
    pub bytes: Bytes,
    pub layout: Layout,
}

/// A bundle in the blob store, and its contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredBundle {
    pub written: WrittenBundle,
    pub contents: Vec<KnownBlob>,
}

/// A content and its variants, as a bundle stores them: one after another. In a repack, `blob` has the
/// location in the old bundle.
pub(crate) struct Segment {
    pub(crate) blob: KnownBlob,
    pub(crate) parts: Vec<Bytes>,
}

impl From<&NewContent> for Segment {
    fn from(new: &NewContent) -> Self {
        let (size_bytes, variants) = (new.bytes.len() as u64, new.layout.variants());
        let blob = KnownBlob { hash: new.hash, size_bytes, variants, bundled: None };
        Self { blob, parts: new.layout.segment(&new.bytes).collect() }
    }
}

/// The object of a bundle, and where its contents are in it.
pub(crate) fn assemble(id: BundleId, segments: Vec<Segment>) -> (PutPayload, StoredBundle) {
    let mut index = BytesMut::with_capacity(segments.len() * ENTRY_BYTES + END_BYTES);
    let (mut parts, mut contents, mut offset_bytes) = (Vec::new(), Vec::new(), 0);
    for Segment { blob, parts: of_segment } in segments {
        index.extend_from_slice(&blob.hash.bytes());
        index.extend(pack::sizes(blob.size_bytes, &blob.variants));
        parts.extend(of_segment);
        let next_bytes = offset_bytes + blob.segment_bytes();
        contents.push(KnownBlob { bundled: Some(BundledAt { bundle: id, offset_bytes }), ..blob });
        offset_bytes = next_bytes;
    }
    index.put_u64(contents.len() as u64);
    index.extend_from_slice(MARK);
    let size_bytes = offset_bytes + index.len() as u64;
    let payload = parts.into_iter().chain([index.freeze()]).collect();
    (payload, StoredBundle { written: WrittenBundle { id, size_bytes }, contents })
}

/// Reads the index at the end of an object of this size.
pub(crate) fn read_index(id: BundleId, tail: &[u8], size_bytes: u64) -> anyhow::Result<StoredBundle> {
    let entries_end = tail.len().checked_sub(END_BYTES).context("a bundle is too short to have an index")?;
    let (entries, end) = tail.split_at(entries_end);
    let (number, mark) = end.split_at(end.len() - MARK.len());
    ensure!(mark == MARK, "a bundle's index has an unknown format");
    let number = usize::try_from(pack::number(number))?;
    ensure!(number <= BUNDLE_CONTENTS_MAX, "a bundle's index lists too many contents");
    let start = entries.len().checked_sub(number * ENTRY_BYTES).context("a bundle's index is cut short")?;
    let (mut contents, mut offset_bytes) = (Vec::with_capacity(number), 0);
    for entry in entries[start..].chunks_exact(ENTRY_BYTES) {
        let (hash, sizes) = entry.split_at(HASH_BYTES);
        let (size_bytes, variants) = pack::read_sizes(sizes)?;
        let hash = BlobHash::from_bytes(hash.try_into().context("a hash has another length")?);
        let bundled = Some(BundledAt { bundle: id, offset_bytes });
        let blob = KnownBlob { hash, size_bytes, variants, bundled };
        offset_bytes += blob.segment_bytes();
        contents.push(blob);
    }
    let index_bytes = (number * ENTRY_BYTES + END_BYTES) as u64;
    ensure!(offset_bytes + index_bytes == size_bytes, "a bundle does not have the size that its index says");
    Ok(StoredBundle { written: WrittenBundle { id, size_bytes }, contents })
}

/// The hash of an erased content in the index of a bundle. No content has it.
pub(crate) const ERASED: BlobHash = BlobHash::from_bytes([0; HASH_BYTES]);

/// A bundle with the same locations, in which some contents are zeros and not in the index.
pub(crate) fn erase(
    object: &Bytes,
    bundle: &StoredBundle,
    is_erased: impl Fn(&BlobHash) -> bool,
) -> anyhow::Result<Bytes> {
    let mut erased = BytesMut::from(object.as_ref());
    let index = object.len().checked_sub(bundle.contents.len() * ENTRY_BYTES + END_BYTES);
    let index = index.context("a bundle is shorter than its index")?;
    for (number, blob) in bundle.contents.iter().enumerate().filter(|(_, blob)| is_erased(&blob.hash)) {
        let start = blob.bundled.context("a content of a bundle has no location")?.offset_bytes;
        let start = usize::try_from(start)?;
        let end = start + usize::try_from(blob.segment_bytes())?;
        erased.get_mut(start..end).context("a bundle is cut short")?.fill(0);
        let entry = index + number * ENTRY_BYTES;
        erased[entry..entry + HASH_BYTES].fill(0);
    }
    Ok(erased.freeze())
}

#[cfg(test)]
mod tests {
    use domain::{Chance, Time};

    use super::*;

    fn contents() -> Vec<NewContent> {
        let texts = ["<p>hello</p>".repeat(500), String::new(), "short".to_owned()];
        let content = |text: String| {
            let bytes = Bytes::from(text);
            let layout = Layout::of(&bytes, "text/html").unwrap();
            NewContent { hash: BlobHash::of(&bytes), bytes, layout }
        };
        texts.map(content).into()
    }

    fn object() -> (Vec<u8>, StoredBundle) {
        let id = BundleId::new(Time::from_millis(0), &Chance::seeded(1));
        let (payload, stored) = assemble(id, contents().iter().map(Segment::from).collect());
        (payload.iter().flat_map(|part| part.to_vec()).collect(), stored)
    }

    #[test]
    fn a_bundle_tells_its_own_contents_and_each_is_where_its_index_says() {
        let (object, stored) = object();
        let size_bytes = object.len() as u64;
        assert_eq!(read_index(stored.written.id, &object, size_bytes).unwrap(), stored);
        assert_eq!(stored.written.size_bytes, size_bytes);
        for (new, blob) in contents().iter().zip(&stored.contents) {
            let start = usize::try_from(blob.bundled.unwrap().offset_bytes).unwrap();
            assert_eq!(object[start..start + new.bytes.len()], new.bytes);
            for variant in &blob.variants {
                let start = start + usize::try_from(variant.offset_bytes).unwrap();
                let encoded = &object[start..start + usize::try_from(variant.size_bytes).unwrap()];
                assert_eq!(encoded, pack::encode(variant.encoding, &new.bytes).unwrap());
            }
        }
        assert_eq!(stored.contents[0].variants.len(), 3);
    }

    #[test]
    fn an_index_that_is_cut_short_or_unknown_or_contradicts_the_size_is_refused() {
        let (object, stored) = object();
        let size_bytes = object.len() as u64;
        let read = |tail: &[u8], size_bytes| read_index(stored.written.id, tail, size_bytes);
        for (tail, size_bytes) in [
            (&object[..], size_bytes - 1),
            (&object[..object.len() - 1], size_bytes - 1),
            (&object[object.len() - 40..], size_bytes),
            (&object[object.len() - 3..], size_bytes),
            (&[0; 200][..], 200),
            (&[][..], 0),
        ] {
            assert!(read(tail, size_bytes).is_err(), "{}", tail.len());
        }
        let mut endless = object.clone();
        let number_at = object.len() - END_BYTES;
        endless[number_at..number_at + 8].copy_from_slice(&u64::MAX.to_be_bytes());
        assert!(read(&endless, size_bytes).is_err());
    }
}
