//! Mutates seeds as a fuzzer does: flips bits, removes, repeats and exchanges pieces, and inserts words of
//! the dictionary.

use domain::Chance;

use crate::corpus::Corpus;

/// A change of this seed changes all mutations.
const SEED: u64 = 20_26;
const CHANGES_MAX: usize = 6;
const PIECE_BYTES_MAX: usize = 64;

pub struct Mutator<'a> {
    corpus: &'a Corpus,
    input_bytes_max: usize,
    chance: Chance,
    drawn: Vec<u8>,
}

impl<'a> Mutator<'a> {
    pub fn of(corpus: &'a Corpus, input_bytes_max: usize) -> Self {
        Self { corpus, input_bytes_max, chance: Chance::seeded(SEED), drawn: Vec::new() }
    }

    pub fn next(&mut self) -> Vec<u8> {
        let mut input = self.seed().to_vec();
        for _ in 0..=self.below(CHANGES_MAX) {
            self.change(&mut input);
            input.truncate(self.input_bytes_max);
        }
        input
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let at = self.below(input.len() + 1);
        let piece = at..(at + self.below(PIECE_BYTES_MAX)).min(input.len());
        match self.below(7) {
            0 if at < input.len() => input[at] ^= 1 << self.below(8),
            1 if at < input.len() => input[at] = self.draw(),
            2 => drop(input.drain(piece)),
            3 => {
                let twice = input[piece].to_vec();
                input.splice(at..at, twice);
            }
            4 => {
                let other = self.seed();
                let from = self.below(other.len() + 1);
                let to = (from + self.below(PIECE_BYTES_MAX)).min(other.len());
                input.splice(piece, other[from..to].iter().copied());
            }
            _ => {
                let word = self.word();
                let replaced = if self.below(2) == 0 { at..at } else { piece };
                input.splice(replaced, word);
            }
        }
    }

    fn seed(&mut self) -> &'a [u8] {
        let number = self.below(self.corpus.seeds.len());
        &self.corpus.seeds[number].1
    }

    fn word(&mut self) -> Vec<u8> {
        match self.corpus.words.len() {
            0 => vec![self.draw()],
            words => self.corpus.words[self.below(words)].clone(),
        }
    }

    fn below(&mut self, bound: usize) -> usize {
        let drawn = u32::from_le_bytes([self.draw(), self.draw(), self.draw(), 0]);
        usize::try_from(drawn).unwrap() % bound
    }

    fn draw(&mut self) -> u8 {
        if self.drawn.is_empty() {
            self.drawn.extend(self.chance.bytes::<4096>());
        }
        self.drawn.pop().unwrap()
    }
}
