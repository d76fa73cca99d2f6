//! Finds secrets in the files of a publish. Possible bearer tokens of this service are returned as hashes,
//! for the caller to look up. Keys of other providers become warnings. No secret leaves this module.
//!
//! Files are searched as they are. Secrets in compressed or encoded content are not found.

mod keys;

use std::borrow::Cow;
use std::collections::HashSet;
use std::str::FromStr;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, BuildError};

use crate::oauth::RefreshToken;
use crate::{Refusal, SitePath, TokenSecret, Warning, WarningCode};
use keys::{KEY_FORMATS, KeyFormat};

/// The number of different possible tokens that are looked up for one publish.
const TOKENS_MAX: usize = 1_000;
/// A file with a zero byte in its first bytes is not text, so it has no line numbers.
const TEXT_CHECKED_BYTES: usize = 8_192;

/// The secrets in the files of a publish.
#[derive(Debug, Default)]
pub struct Leaks {
    /// Possible tokens, without duplicates.
    pub tokens: Vec<LeakedToken>,
    pub warnings: Vec<Warning>,
}

/// A string with the format of a token. Only the database knows whether it is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeakedToken {
    /// Of a token its hash, of a refresh token the hash of the part that a grant's refresh tokens share.
    pub secret_hash: String,
    /// The file of its first occurrence.
    pub path: SitePath,
    pub line: Option<u32>,
}

/// A secret of this service that somebody found.
#[derive(Clone, Debug)]
pub enum LeakedSecret {
    Access(TokenSecret),
    Refresh(RefreshToken),
}

impl FromStr for LeakedSecret {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        text.parse().map(Self::Access).or_else(|()| text.parse().map(Self::Refresh))
    }
}

/// The prefixes of our own secrets.
const OWN_PREFIXES: [&str; 2] = [TokenSecret::PREFIX, RefreshToken::PREFIX];

/// All prefixes: our own first, then those of [`KEY_FORMATS`] in order.
static PREFIXES: LazyLock<Result<AhoCorasick, BuildError>> = LazyLock::new(|| {
    AhoCorasick::new(OWN_PREFIXES.into_iter().chain(KEY_FORMATS.iter().map(|format| format.prefix)))
});

/// The hash under which the database may know the secret that the text begins with.
fn secret_hash_at(text: &[u8]) -> Option<String> {
    let secret = [TokenSecret::LENGTH, RefreshToken::LENGTH].into_iter().find_map(|length| {
        let text = std::str::from_utf8(text.get(..length)?).ok()?;
        text.parse::<LeakedSecret>().ok()
    })?;
    Some(match secret {
        LeakedSecret::Access(token) => token.hash(),
        LeakedSecret::Refresh(token) => token.family_hash(),
    })
}

/// Searches the files of a publish for secrets. Refuses more possible tokens than can be looked up.
pub fn find_leaks<'a>(files: impl IntoIterator<Item = (&'a SitePath, &'a [u8])>) -> Result<Leaks, Refusal> {
    let prefixes = PREFIXES.as_ref().map_err(|_| Refusal::Internal)?;
    let mut search = Search::default();
    for (path, bytes) in files {
        search.read(prefixes, path, &in_one_byte(bytes))?;
    }
    Ok(search.leaks)
}

#[derive(Default)]
struct Search {
    leaks: Leaks,
    token_hashes: HashSet<String>,
}

impl Search {
    fn read(&mut self, prefixes: &AhoCorasick, path: &SitePath, text: &[u8]) -> Result<(), Refusal> {
        let mut lines = Lines::of(text);
        // The position up to which each format was read, so that no byte is read twice for one format.
        let mut read_to = vec![0; KEY_FORMATS.len()];
        for found in prefixes.find_iter(text) {
            let Some(index) = found.pattern().as_usize().checked_sub(OWN_PREFIXES.len()) else {
                self.take_token(path, &text[found.start()..], lines.line_at(found.start()))?;
                continue;
            };
            let (Some(format), Some(read_to)) = (KEY_FORMATS.get(index), read_to.get_mut(index)) else {
                continue;
            };
            if found.start() < *read_to || self.leaks.warnings.len() == Warning::COUNT_MAX {
                continue;
            }
            let (is_key, end) = format.read_at(text, found.range());
            *read_to = end;
            if is_key {
                self.warn(path, format, lines.line_at(found.start()));
            }
        }
        Ok(())
    }

    fn take_token(&mut self, path: &SitePath, text: &[u8], line: Option<u32>) -> Result<(), Refusal> {
        let Some(secret_hash) = secret_hash_at(text) else { return Ok(()) };
        if !self.token_hashes.insert(secret_hash.clone()) {
            return Ok(());
        }
        if self.token_hashes.len() > TOKENS_MAX {
            let fault = format!(
                "the files contain more than {TOKENS_MAX} different strings that look like tokens ({}…)",
                TokenSecret::PREFIX
            );
            return Err(Refusal::invalid("files", fault));
        }
        self.leaks.tokens.push(LeakedToken { secret_hash, path: path.clone(), line });
        Ok(())
    }

    /// Adds one warning for each format and line: a minified file can contain many.
    fn warn(&mut self, path: &SitePath, format: &KeyFormat, line: Option<u32>) {
        let warnings = &mut self.leaks.warnings;
        let warning = Warning {
            code: WarningCode::Secret,
            path: path.clone(),
            line,
            target: None,
            message: format!("this looks like {} ({}…)", format.name, format.prefix),
            hint: format.hint.to_owned(),
        };
        if warnings.len() < Warning::COUNT_MAX && !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
}

/// Counts lines up to increasing offsets.
struct Lines<'a> {
    text: &'a [u8],
    is_text: bool,
    offset: usize,
    line: u32,
}

impl<'a> Lines<'a> {
    fn of(text: &'a [u8]) -> Self {
        let is_text = !text[..text.len().min(TEXT_CHECKED_BYTES)].contains(&0);
        Self { text, is_text, offset: 0, line: 1 }
    }

    fn line_at(&mut self, offset: usize) -> Option<u32> {
        if !self.is_text {
            return None;
        }
        let breaks = self.text[self.offset..offset].iter().filter(|byte| **byte == b'\n').count();
        self.line = self.line.saturating_add(u32::try_from(breaks).unwrap_or(u32::MAX));
        self.offset = offset;
        Some(self.line)
    }
}

/// One byte for each character, if the byte order mark says that the file is UTF-16.
fn in_one_byte(bytes: &[u8]) -> Cow<'_, [u8]> {
    let unit_of = match bytes {
        [0xFF, 0xFE, ..] => u16::from_le_bytes,
        [0xFE, 0xFF, ..] => u16::from_be_bytes,
        _ => return Cow::Borrowed(bytes),
    };
    let (units, _) = bytes.as_chunks::<2>();
    Cow::Owned(units.iter().map(|unit| u8::try_from(unit_of(*unit)).unwrap_or(b'?')).collect())
}

#[cfg(test)]
mod tests;
