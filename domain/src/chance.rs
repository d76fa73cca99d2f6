//! The only source of randomness, so that tests can seed it. Tokens are generated from it, so the generator
//! must be unpredictable.

use std::sync::{Arc, Mutex, PoisonError};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use ulid::Ulid;

use crate::Time;

const ALPHANUMERIC: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const BASE36: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// The source of ids and secrets: a cryptographic generator that the system or a test seeds.
#[derive(Clone, Debug)]
pub struct Chance(Arc<Mutex<StdRng>>);

impl Chance {
    #[expect(clippy::disallowed_methods, reason = "the only place that reads the system's randomness")]
    pub fn from_system() -> Self {
        Self(Arc::new(Mutex::new(rand::make_rng())))
    }

    pub fn seeded(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(StdRng::seed_from_u64(seed))))
    }

    pub fn ulid(&self, now: Time) -> Ulid {
        Ulid::from_parts(u64::try_from(now.millis()).unwrap_or(0), self.with(|rng| rng.random()))
    }

    pub fn alphanumeric(&self, length: usize) -> String {
        self.text(ALPHANUMERIC, length)
    }

    pub fn base36(&self, length: usize) -> String {
        self.text(BASE36, length)
    }

    /// Random letters of an alphabet, which must not be empty.
    pub fn letters(&self, alphabet: &[u8], length: usize) -> String {
        self.text(alphabet, length)
    }

    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        self.with(|rng| rng.random())
    }

    fn text(&self, alphabet: &[u8], length: usize) -> String {
        self.with(|rng| {
            (0..length).map(|_| char::from(alphabet[rng.random_range(0..alphabet.len())])).collect()
        })
    }

    fn with<T>(&self, roll: impl FnOnce(&mut StdRng) -> T) -> T {
        roll(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_ids_and_secrets_again() {
        let (one, other) = (Chance::seeded(7), Chance::seeded(7));
        let now = Time::from_millis(1_700_000_000_000);
        assert_eq!(one.ulid(now), other.ulid(now));
        assert_eq!(one.alphanumeric(32), other.alphanumeric(32));
        assert_ne!(one.base36(12), one.base36(12));
    }
}
