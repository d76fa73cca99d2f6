//! Words as a tree of characters, for text without word boundaries: Chinese, `seedphrase`, `s e e d`.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A hash that is not resistant to collisions. The words of the tables are known at build time, so that
/// nobody can choose them.
#[derive(Default)]
pub(super) struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    fn write_u32(&mut self, number: u32) {
        self.0 = (self.0 ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
    }
}

pub(super) type Map<K, V> = HashMap<K, V, BuildHasherDefault<Fnv>>;

/// Node 0 is the root.
pub(super) struct Tree {
    edges: Map<(u32, char), u32>,
    is_end: Vec<bool>,
}

impl Default for Tree {
    fn default() -> Self {
        Tree { edges: Map::default(), is_end: vec![false] }
    }
}

impl Tree {
    pub(super) fn add(&mut self, word: &str) {
        let mut node = 0;
        for character in word.chars() {
            let next = self.is_end.len() as u32;
            node = *self.edges.entry((node, character)).or_insert(next);
            if node == next {
                self.is_end.push(false);
            }
        }
        self.is_end[node as usize] = true;
    }

    /// Calls back with the length in characters of every word that the text begins with, shortest first.
    pub(super) fn words_at(&self, text: impl Iterator<Item = char>, mut found: impl FnMut(usize)) {
        let mut node = 0;
        for (at, character) in text.enumerate() {
            let Some(next) = self.edges.get(&(node, character)) else { return };
            node = *next;
            if self.is_end[node as usize] {
                found(at + 1);
            }
        }
    }
}
