//! Which characters a WOFF2 font has, read from its `cmap` table.

use std::collections::BTreeSet;
use std::io::Read as _;

const HEADER_LENGTH: usize = 48;
/// The index of `cmap`, `glyf` and `loca` among the known tags of WOFF2.
const CMAP: u8 = 0;
const GLYF: u8 = 10;
const LOCA: u8 = 11;
const NO_KNOWN_TAG: u8 = 0x3f;

/// Reads big-endian numbers one after the other.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn u8(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().expect("a byte");
        self.0 = rest;
        *first
    }

    /// Seven bits in each byte, the highest ones first.
    fn base_128(&mut self) -> usize {
        let mut number = 0;
        loop {
            let byte = self.u8();
            number = number << 7 | usize::from(byte & 0x7f);
            if byte & 0x80 == 0 {
                return number;
            }
        }
    }
}

fn u16_at(table: &[u8], at: usize) -> u16 {
    u16::from_be_bytes(table[at..at + 2].try_into().expect("two bytes"))
}

fn u32_at(table: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(table[at..at + 4].try_into().expect("four bytes"))
}

/// The characters for which the font has a glyph.
pub fn characters_of(font: &[u8]) -> BTreeSet<char> {
    assert!(font.starts_with(b"wOF2"));
    let cmap = cmap_of(font);
    let subtables = (0..u16_at(&cmap, 2)).map(|index| 4 + 8 * usize::from(index));
    let of_basic_plane = subtables.map(|record| &cmap[u32_at(&cmap, record + 4) as usize..]);
    of_basic_plane.filter(|table| u16_at(table, 0) == 4).flat_map(mapped).collect()
}

fn cmap_of(font: &[u8]) -> Vec<u8> {
    let mut directory = Reader(&font[HEADER_LENGTH..]);
    let (mut start, mut cmap) = (0, None);
    for _ in 0..u16_at(font, 12) {
        let flags = directory.u8();
        let (tag, transform) = (flags & 0x3f, flags >> 6);
        if tag == NO_KNOWN_TAG {
            directory.0 = &directory.0[4..];
        }
        let mut length = directory.base_128();
        let is_transformed = if matches!(tag, GLYF | LOCA) { transform == 0 } else { transform != 0 };
        if is_transformed {
            length = directory.base_128();
        }
        if tag == CMAP {
            cmap = Some(start..start + length);
        }
        start += length;
    }
    let mut tables = Vec::new();
    brotli::Decompressor::new(directory.0, 4096).read_to_end(&mut tables).expect("the tables");
    tables[cmap.expect("a cmap table")].to_vec()
}

/// The characters of a subtable of format 4, in which each segment is a range of characters.
fn mapped(table: &[u8]) -> Vec<char> {
    let segments = usize::from(u16_at(table, 6)) / 2;
    let (ends, starts) = (14, 16 + 2 * segments);
    let segment = |at: usize| u16_at(table, starts + 2 * at)..=u16_at(table, ends + 2 * at);
    let codes = (0..segments).flat_map(segment).filter(|code| *code != u16::MAX);
    codes.filter_map(|code| char::from_u32(code.into())).collect()
}
