//! Encodes a dressed page once, before it is cached.
//!
//! Stored files were encoded at publish time with higher levels. This is for dressed pages only.

use std::io::{self, Write};

use anyhow::Context;
use brotli::CompressorWriter;
use bytes::Bytes;
use domain::Encoding;
use flate2::write::GzEncoder;

const BROTLI_QUALITY: i32 = 5;
/// The window size, which is about as much of a page as is in memory at once.
const BROTLI_WINDOW_BITS: i32 = 20;
const GZIP_LEVEL: u32 = 6;
const ZSTD_LEVEL: i32 = 3;
const BUFFER_BYTES: usize = 4096;

/// Takes a page piece by piece and builds a result of limited size.
pub trait Maker: Send + Sized + 'static {
    type Made: Send + 'static;

    fn write(&mut self, piece: &[u8]) -> anyhow::Result<()>;

    /// Whether the result exceeds its limit.
    fn is_full(&self) -> bool;

    /// Returns the whole result, or `None` if it exceeds the limit.
    fn finish(self) -> anyhow::Result<Option<Self::Made>>;
}

/// Encodes a page in this encoding.
pub enum Press {
    Plain(CompressionBudget),
    Brotli(Box<CompressorWriter<CompressionBudget>>),
    Zstd(zstd::Encoder<'static, CompressionBudget>),
    Gzip(GzEncoder<CompressionBudget>),
}

/// A bounded output buffer. When it overflows, all of its content is discarded.
pub struct CompressionBudget {
    bytes: Vec<u8>,
    bytes_max: u64,
    is_full: bool,
}

impl Press {
    pub fn new(encoding: Option<Encoding>, bytes_max: u64) -> anyhow::Result<Self> {
        let output = CompressionBudget { bytes: vec![], bytes_max, is_full: false };
        Ok(match encoding {
            None => Self::Plain(output),
            Some(Encoding::Brotli) => {
                let parameters = brotli::enc::BrotliEncoderParams {
                    quality: BROTLI_QUALITY,
                    lgwin: BROTLI_WINDOW_BITS,
                    ..brotli::enc::BrotliEncoderParams::default()
                };
                Self::Brotli(Box::new(CompressorWriter::with_params(output, BUFFER_BYTES, &parameters)))
            }
            Some(Encoding::Zstd) => {
                Self::Zstd(zstd::Encoder::new(output, ZSTD_LEVEL).context("open an encoder")?)
            }
            Some(Encoding::Gzip) => Self::Gzip(GzEncoder::new(output, flate2::Compression::new(GZIP_LEVEL))),
        })
    }
}

impl Maker for Press {
    type Made = Bytes;

    fn write(&mut self, piece: &[u8]) -> anyhow::Result<()> {
        let encoder: &mut dyn Write = match self {
            Self::Plain(output) => output,
            Self::Brotli(encoder) => encoder,
            Self::Zstd(encoder) => encoder,
            Self::Gzip(encoder) => encoder,
        };
        encoder.write_all(piece).context("encode a page")
    }

    fn is_full(&self) -> bool {
        match self {
            Self::Plain(output) => output.is_full,
            Self::Brotli(encoder) => encoder.get_ref().is_full,
            Self::Zstd(encoder) => encoder.get_ref().is_full,
            Self::Gzip(encoder) => encoder.get_ref().is_full,
        }
    }

    fn finish(self) -> anyhow::Result<Option<Bytes>> {
        let output = match self {
            Self::Plain(output) => output,
            Self::Brotli(encoder) => encoder.into_inner(),
            Self::Zstd(encoder) => encoder.finish().context("encode the end of a page")?,
            Self::Gzip(encoder) => encoder.finish().context("encode the end of a page")?,
        };
        // Drops the spare capacity, which is not counted.
        Ok((!output.is_full).then(|| output.bytes.into_boxed_slice().into()))
    }
}

impl Write for CompressionBudget {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.is_full |= (self.bytes.len() + piece.len()) as u64 > self.bytes_max;
        if self.is_full {
            self.bytes = Vec::new();
        } else {
            self.bytes.extend_from_slice(piece);
        }
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn encodings() -> impl Iterator<Item = Option<Encoding>> {
        Encoding::ALL.into_iter().map(Some).chain([None])
    }

    fn press(page: &[u8], encoding: Option<Encoding>, bytes_max: u64) -> Option<Bytes> {
        let mut press = Press::new(encoding, bytes_max).unwrap();
        for piece in page.chunks(777) {
            press.write(piece).unwrap();
        }
        press.finish().unwrap()
    }

    #[test]
    fn compressed_pages_decompress_to_the_same_bytes() {
        let page = "<p>again and again</p>".repeat(100);
        for encoding in encodings() {
            let pressed = press(page.as_bytes(), encoding, 1 << 20).unwrap();
            let mut plain = String::new();
            match encoding {
                None => plain.push_str(str::from_utf8(&pressed).unwrap()),
                Some(Encoding::Brotli) => {
                    brotli::Decompressor::new(&pressed[..], 4096).read_to_string(&mut plain).unwrap();
                }
                Some(Encoding::Zstd) => {
                    zstd::Decoder::new(&pressed[..]).unwrap().read_to_string(&mut plain).unwrap();
                }
                Some(Encoding::Gzip) => {
                    flate2::read::GzDecoder::new(&pressed[..]).read_to_string(&mut plain).unwrap();
                }
            }
            assert_eq!(plain, page, "{encoding:?}");
            assert!(encoding.is_none() || pressed.len() < page.len() / 4, "{encoding:?}");
        }
    }

    #[test]
    fn oversized_compressed_page_is_dropped_early() {
        let mut noise = domain::BlobHash::of(b"noise");
        let mut page = Vec::new();
        for _ in 0..2_000 {
            noise = domain::BlobHash::of(noise.to_string().as_bytes());
            page.extend_from_slice(noise.to_string().as_bytes());
        }
        for encoding in encodings() {
            let whole = press(&page, encoding, 10 << 20).unwrap().len() as u64;
            assert_eq!(press(&page, encoding, whole).unwrap().len() as u64, whole, "{encoding:?}");
            assert_eq!(press(&page, encoding, whole - 1), None, "{encoding:?}");
            let mut press = Press::new(encoding, 1000).unwrap();
            let mut written_bytes = 0;
            while !press.is_full() {
                press.write(&page).unwrap();
                written_bytes += page.len();
                assert!(written_bytes < 5 << 20, "{encoding:?} is not seen to be too large before its end");
            }
        }
    }
}
