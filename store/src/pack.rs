//! The layout of a content and its variants in its own object: the plain bytes, the variants that save
//! enough, a trailer. In a bundle, a content has the same layout without the trailer.
//!
//! One object needs one put and one fsync, and no state exists in which some variants are missing. The
//! trailer describes the layout, so a worker that finds the object needs no other source.

use std::io::Write;

use anyhow::{Context, ensure};
use brotli::enc::{BrotliCompressCustomAlloc, StandardAlloc};
use bytes::Bytes;
use domain::{Encoding, Variant};
use object_store::PutPayload;

/// The trailer holds the sizes and a marker.
pub(crate) const TRAILER_BYTES: u64 = SIZES_BYTES as u64 + MARK.len() as u64;
/// The size of the plain bytes, and that of each encoding or 0.
pub(crate) const SIZES_BYTES: usize = 8 * (1 + Encoding::ALL.len());
const MARK: &[u8; 8] = b"HNDBILL1";

/// Smaller responses fit into one packet anyway.
const COMPRESS_FROM_BYTES: usize = 256;
/// From this size on, a content is first tried with the fastest encoder. One that this cannot shorten, such
/// as an archive, would take the others seconds. Small contents gain from brotli's dictionary in any case.
const TRY_FROM_BYTES: usize = 64 * 1024;
const TRY_LEVEL: i32 = 1;
/// A variant must save at least a sixteenth. Otherwise decoding costs the reader more than it saves.
const SAVING_MIN_DIVISOR: usize = 16;
/// Chosen on pages of 4 to 10 KB: brotli 6 saved nothing and took a fifth longer than 5, because it clears
/// twice as much memory. Brotli 9 took 20 times as long and saved 0.3 percent. Zstd 9 took up to twice as long
/// as 6 and saved 0.1 to 1.5 percent.
const LEVELS: Levels = Levels { brotli: 5, zstd: 6 };
/// Contents of earlier builds were compressed at these levels.
const EARLIER_LEVELS: [Levels; 2] = [Levels { brotli: 5, zstd: 9 }, Levels { brotli: 6, zstd: 9 }];
/// The size of brotli's blocks.
const BROTLI_PIECE_BYTES: usize = 64 * 1024;
const BROTLI_OUTPUT_BYTES: usize = 4096;
const GZIP_LEVEL: u32 = 6;

/// The levels of two encoders. That of gzip is the same in all builds.
#[derive(Clone, Copy, Debug)]
struct Levels {
    brotli: i32,
    zstd: i32,
}

/// A content's variants, in the form in which they follow it in its object.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    plain_bytes: usize,
    encoded: Vec<(Encoding, Bytes)>,
}

impl Layout {
    /// Compresses the content. This is CPU-bound: call it off the async threads.
    pub fn of(content: &[u8], content_type: &str) -> anyhow::Result<Self> {
        let mut layout = Self { plain_bytes: content.len(), encoded: Vec::new() };
        if content.len() < COMPRESS_FROM_BYTES || !is_compressible(content_type) {
            return Ok(layout);
        }
        let is_shorter = |encoded: &[u8]| encoded.len() + content.len() / SAVING_MIN_DIVISOR <= content.len();
        if content.len() >= TRY_FROM_BYTES && !is_shorter(&zstd::bulk::compress(content, TRY_LEVEL)?) {
            return Ok(layout);
        }
        for encoding in Encoding::ALL {
            let encoded = encode(encoding, content)?;
            if is_shorter(&encoded) {
                layout.encoded.push((encoding, encoded.into()));
            }
        }
        Ok(layout)
    }

    /// Recreates the variants of a content at their earlier positions, because manifests refer to these.
    /// `None` if the encoders produce other sizes, at these levels and all earlier ones. CPU-bound, too.
    pub fn again(content: &[u8], variants: &[Variant]) -> anyhow::Result<Option<Self>> {
        for levels in std::iter::once(LEVELS).chain(EARLIER_LEVELS) {
            let encoded = variants
                .iter()
                .map(|variant| {
                    let encoded = encode_at(variant.encoding, content, levels)?;
                    Ok((variant.encoding, encoded.into()))
                })
                .collect::<anyhow::Result<_>>()?;
            let layout = Self { plain_bytes: content.len(), encoded };
            if layout.variants() == variants {
                return Ok(Some(layout));
            }
        }
        Ok(None)
    }

    pub(crate) fn variants(&self) -> Vec<Variant> {
        lay_out(
            self.plain_bytes as u64,
            self.encoded.iter().map(|(encoding, bytes)| (*encoding, bytes.len() as u64)),
        )
    }

    pub(crate) fn object(&self, content: &Bytes) -> PutPayload {
        let variants = self.variants();
        let trailer = sizes(self.plain_bytes as u64, &variants).chain(*MARK).collect();
        self.segment(content).chain([trailer]).collect()
    }

    /// The plain bytes and the variants after them.
    pub(crate) fn segment(&self, content: &Bytes) -> impl Iterator<Item = Bytes> {
        std::iter::once(content.clone()).chain(self.encoded.iter().map(|(_, bytes)| bytes.clone()))
    }
}

/// The sizes of a content and its variants, in the form in which a trailer holds them.
pub(crate) fn sizes(plain_bytes: u64, variants: &[Variant]) -> impl Iterator<Item = u8> {
    let size_of = move |wanted: Encoding| {
        variants.iter().find(|variant| variant.encoding == wanted).map_or(0, |variant| variant.size_bytes)
    };
    std::iter::once(plain_bytes).chain(Encoding::ALL.into_iter().map(size_of)).flat_map(u64::to_be_bytes)
}

/// The size of a content and its variants.
pub(crate) fn read_sizes(sizes: &[u8]) -> anyhow::Result<(u64, Vec<Variant>)> {
    ensure!(sizes.len() == SIZES_BYTES, "the sizes of a blob are cut short");
    let mut sizes = sizes.chunks_exact(8).map(number);
    let plain_bytes = sizes.next().context("a blob's sizes are empty")?;
    Ok((
        plain_bytes,
        lay_out(plain_bytes, Encoding::ALL.into_iter().zip(sizes).filter(|(_, size)| *size > 0)),
    ))
}

pub(crate) fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte))
}

/// The variants that an object's trailer lists.
pub(crate) fn read_trailer(trailer: &[u8]) -> anyhow::Result<Vec<Variant>> {
    ensure!(trailer.len() as u64 == TRAILER_BYTES, "a blob is too short to have a trailer");
    let (sizes, mark) = trailer.split_at(trailer.len() - MARK.len());
    ensure!(mark == MARK, "a blob's trailer has an unknown format");
    Ok(read_sizes(sizes)?.1)
}

fn lay_out(plain_bytes: u64, encoded: impl Iterator<Item = (Encoding, u64)>) -> Vec<Variant> {
    let mut offset_bytes = plain_bytes;
    encoded
        .map(|(encoding, size_bytes)| {
            let variant = Variant { encoding, offset_bytes, size_bytes };
            offset_bytes += size_bytes;
            variant
        })
        .collect()
}

fn is_compressible(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default();
    essence.starts_with("text/")
        || essence.ends_with("+xml")
        || essence.ends_with("+json")
        || matches!(
            essence,
            "application/json"
                | "application/javascript"
                | "application/xml"
                | "application/wasm"
                | "application/octet-stream"
                | "application/vnd.ms-fontobject"
                | "font/ttf"
                | "font/otf"
                | "image/bmp"
                | "image/x-icon"
        )
}

/// Compresses a content at a level that is worth its cost for contents that are written once and read often.
pub fn encode(encoding: Encoding, content: &[u8]) -> anyhow::Result<Vec<u8>> {
    encode_at(encoding, content, LEVELS)
}

fn encode_at(encoding: Encoding, content: &[u8], levels: Levels) -> anyhow::Result<Vec<u8>> {
    match encoding {
        Encoding::Brotli => {
            let params = brotli::enc::BrotliEncoderParams {
                quality: levels.brotli,
                size_hint: content.len(),
                ..Default::default()
            };
            let mut encoded = Vec::with_capacity(content.len() / 3);
            // Before a second piece, brotli clears a window of 8 MB. Most contents fit into one.
            let mut piece = vec![0; content.len().clamp(1, BROTLI_PIECE_BYTES)];
            let mut output = [0; BROTLI_OUTPUT_BYTES];
            let memory = StandardAlloc::default();
            BrotliCompressCustomAlloc(
                &mut &content[..],
                &mut encoded,
                &mut piece,
                &mut output,
                &params,
                memory,
            )?;
            Ok(encoded)
        }
        Encoding::Zstd => Ok(zstd::bulk::compress(content, levels.zstd)?),
        Encoding::Gzip => {
            let level = flate2::Compression::new(GZIP_LEVEL);
            let mut encoder = flate2::write::GzEncoder::new(Vec::with_capacity(content.len() / 3), level);
            encoder.write_all(content)?;
            Ok(encoder.finish()?)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object_bytes(layout: &Layout, content: &Bytes) -> Vec<u8> {
        layout.object(content).iter().flat_map(|part| part.to_vec()).collect()
    }

    #[test]
    fn object_starts_with_the_plain_bytes_and_describes_its_layout() {
        let content = Bytes::from("<p>hello</p>".repeat(500));
        let layout = Layout::of(&content, "text/html; charset=utf-8").unwrap();
        let object = object_bytes(&layout, &content);
        assert_eq!(&object[..content.len()], &content[..]);
        let trailer = &object[object.len() - usize::try_from(TRAILER_BYTES).unwrap()..];
        let variants = read_trailer(trailer).unwrap();
        assert_eq!(variants, layout.variants());
        assert_eq!(variants.len(), 3);
        let slice = |variant: &Variant| {
            let start = usize::try_from(variant.offset_bytes).unwrap();
            &object[start..start + usize::try_from(variant.size_bytes).unwrap()]
        };
        let zstd = variants.iter().find(|variant| variant.encoding == Encoding::Zstd).unwrap();
        assert_eq!(zstd::bulk::decompress(slice(zstd), content.len()).unwrap(), content);
        let gzip = variants.iter().find(|variant| variant.encoding == Encoding::Gzip).unwrap();
        let mut plain = Vec::new();
        std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(slice(gzip)), &mut plain).unwrap();
        assert_eq!(plain, content);
    }

    #[test]
    fn repeated_content_gets_the_same_layout_or_none() {
        let content = Bytes::from("<p>hello</p>".repeat(500));
        for content_type in ["text/html", "image/png"] {
            let layout = Layout::of(&content, content_type).unwrap();
            let again = Layout::again(&content, &layout.variants()).unwrap().unwrap();
            assert_eq!(object_bytes(&again, &content), object_bytes(&layout, &content));
        }
        let mut others = Layout::of(&content, "text/html").unwrap().variants();
        others[1].size_bytes += 1;
        assert!(Layout::again(&content, &others).unwrap().is_none());
    }

    #[test]
    fn a_content_of_an_earlier_build_gets_its_earlier_layout() {
        let content: String = (0..5_000_u64).map(|n| format!("<p>{}</p>", n * n % 977)).collect();
        let content = Bytes::from(content);
        let changed: [Encoding; EARLIER_LEVELS.len()] = [Encoding::Zstd, Encoding::Brotli];
        for (levels, changed) in EARLIER_LEVELS.into_iter().zip(changed) {
            let encoded_at = |encoding| (encoding, encode_at(encoding, &content, levels).unwrap().into());
            let encoded = Encoding::ALL.map(encoded_at).to_vec();
            let earlier = Layout { plain_bytes: content.len(), encoded };
            let size = |layout: &Layout| {
                layout.variants().iter().find(|known| known.encoding == changed).unwrap().size_bytes
            };
            assert_ne!(size(&earlier), size(&Layout::of(&content, "text/html").unwrap()));
            let again = Layout::again(&content, &earlier.variants()).unwrap().unwrap();
            assert_eq!(object_bytes(&again, &content), object_bytes(&earlier, &content));
        }
    }

    #[test]
    fn brotli_of_a_content_in_one_piece_is_that_of_earlier_builds() {
        let content: String = (0..100_000_u64).map(|n| format!("<p>{}</p>", n * n % 977)).collect();
        let sizes = [0, 1, 4_096, 4_097, 65_535, 65_536, 65_537, 131_073, content.len()];
        let levels = EARLIER_LEVELS.into_iter().chain([LEVELS]);
        for (bytes, levels) in levels.flat_map(|levels| sizes.map(|bytes| (bytes, levels))) {
            let content = &content.as_bytes()[..bytes];
            let params = brotli::enc::BrotliEncoderParams {
                quality: levels.brotli,
                size_hint: bytes,
                ..Default::default()
            };
            let mut in_pieces = Vec::new();
            brotli::BrotliCompress(&mut &content[..], &mut in_pieces, &params).unwrap();
            let encoded = encode_at(Encoding::Brotli, content, levels).unwrap();
            assert!(encoded == in_pieces, "{bytes} bytes, {levels:?}");
        }
    }

    #[test]
    fn encodings_that_save_too_little_are_dropped() {
        let small = Bytes::from_static(b"<p>hi</p>");
        assert!(Layout::of(&small, "text/html").unwrap().variants().is_empty());
        let photo = Bytes::from(vec![7_u8; 10_000]);
        assert!(Layout::of(&photo, "image/jpeg").unwrap().variants().is_empty());
        let noise = Bytes::from(
            (0..4096_u32)
                .map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8 ^ (n >> 3) as u8)
                .collect::<Vec<_>>(),
        );
        for variant in Layout::of(&noise, "text/plain").unwrap().variants() {
            assert!(variant.size_bytes <= 4096 - 256);
        }
    }

    #[test]
    fn large_contents_are_compressed_only_if_that_shortens_them() {
        let noise = domain::Chance::seeded(7).bytes::<TRY_FROM_BYTES>();
        assert!(Layout::of(&noise, "application/octet-stream").unwrap().variants().is_empty());
        let text = "<p>hello</p>".repeat(TRY_FROM_BYTES);
        assert_eq!(Layout::of(text.as_bytes(), "text/html").unwrap().variants().len(), 3);
    }

    #[test]
    fn a_trailer_of_no_known_kind_is_refused() {
        assert!(read_trailer(b"short").is_err());
        assert!(read_trailer(&vec![0; usize::try_from(TRAILER_BYTES).unwrap()]).is_err());
    }
}
