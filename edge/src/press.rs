//! Press: encodes what had to be made here, once, before it is kept in memory.
//!
//! Stored files were encoded at publish time with more patience; this is for dressed pages only.

use std::io::Write;

use anyhow::Context;
use bytes::Bytes;
use domain::Encoding;

const BROTLI_QUALITY: i32 = 5;
const GZIP_LEVEL: u32 = 6;
const ZSTD_LEVEL: i32 = 3;

pub fn press(plain: &[u8], encoding: Encoding) -> anyhow::Result<Bytes> {
    let pressed = match encoding {
        Encoding::Brotli => brotli(plain),
        Encoding::Zstd => zstd::bulk::compress(plain, ZSTD_LEVEL),
        Encoding::Gzip => gzip(plain),
    };
    pressed.map(Bytes::from).context("encode a page")
}

fn brotli(mut plain: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut pressed = Vec::new();
    let parameters = brotli::enc::BrotliEncoderParams {
        quality: BROTLI_QUALITY,
        ..brotli::enc::BrotliEncoderParams::default()
    };
    brotli::BrotliCompress(&mut plain, &mut pressed, &parameters)?;
    Ok(pressed)
}

fn gzip(plain: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(GZIP_LEVEL));
    encoder.write_all(plain)?;
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn what_is_pressed_unfolds_to_the_same_bytes() {
        let page = "<p>again and again</p>".repeat(100);
        for encoding in Encoding::ALL {
            let pressed = press(page.as_bytes(), encoding).unwrap();
            assert!(pressed.len() < page.len() / 4);
            let mut plain = String::new();
            match encoding {
                Encoding::Brotli => brotli::Decompressor::new(&pressed[..], 4096).read_to_string(&mut plain),
                Encoding::Zstd => zstd::Decoder::new(&pressed[..]).unwrap().read_to_string(&mut plain),
                Encoding::Gzip => flate2::read::GzDecoder::new(&pressed[..]).read_to_string(&mut plain),
            }
            .unwrap();
            assert_eq!(plain, page, "{encoding:?}");
        }
    }
}
