//! How long a response may be cached by the wish of its site.

use super::lines::{LineFault, shown};
use crate::ManifestFile;

/// What limits the caching of a response.
#[derive(Clone, Copy, Debug)]
pub struct CacheTerms {
    pub is_private: bool,
    /// Whether the address has a name that changes with the content. Only then is a long time possible.
    pub is_fingerprinted: bool,
}

/// A change of the site, or a decision about it, must reach visitors within this time.
const SECONDS_MAX: u32 = 60;
const FINGERPRINTED_SECONDS_MAX: u32 = 31_536_000;
const FINGERPRINT_LENGTH_MIN: usize = 8;

/// A directive of `Cache-Control`, as far as a site may use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Directive {
    Public,
    Private,
    NoStore,
    NoCache,
    /// The directive has no effect on the time.
    Plain(&'static str),
    Immutable,
    MaxAge(u32),
    SharedMaxAge(u32),
    /// Allows use after the time is over.
    Stale(&'static str, u32),
}

use Directive::{Immutable, MaxAge, NoCache, NoStore, Plain, Private, Public, SharedMaxAge, Stale};

/// Whether a file name changes with the content: its last part before the extension, after a `-` or `.`, has
/// eight or more letters and digits, with at least one digit.
pub fn is_fingerprinted(name: &str) -> bool {
    let Some((stem, extension)) = name.rsplit_once('.') else { return false };
    let Some((_, part)) = stem.rsplit_once(['-', '.']) else { return false };
    !extension.is_empty()
        && part.len() >= FINGERPRINT_LENGTH_MIN
        && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && part.bytes().any(|byte| byte.is_ascii_digit())
}

/// Whether a file name may change with the content. It is a wider rule than that of [`is_fingerprinted`], for
/// uses in which a name that never changes does no harm: the part may have letters only. Vite's fingerprints
/// are in base64url, so the part may also contain `-` and `_` if it has capitals and small letters.
pub fn may_be_fingerprinted(name: &str) -> bool {
    let Some((stem, extension)) = name.rsplit_once('.') else { return false };
    let parts = stem.match_indices(['-', '.']).map(|(at, _)| &stem[at + 1..]);
    !extension.is_empty() && parts.into_iter().any(may_be_fingerprint)
}

fn may_be_fingerprint(part: &str) -> bool {
    let has = |is_kind: fn(&u8) -> bool| part.bytes().any(|byte| is_kind(&byte));
    let is_base64url = || {
        part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
            && has(u8::is_ascii_uppercase)
            && has(u8::is_ascii_lowercase)
    };
    let is_plain = part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    part.len() >= FINGERPRINT_LENGTH_MIN && (is_plain || is_base64url())
}

impl CacheTerms {
    /// The terms for a file at its own address. A page is never cached for long, whatever its name, because a
    /// moderator's decision must take effect.
    pub fn of_file(file: &ManifestFile, is_private: bool) -> Self {
        let name = file.path.as_str().rsplit('/').next().unwrap_or_default();
        Self { is_private, is_fingerprinted: is_fingerprinted(name) && !file.runs_as_document() }
    }

    fn seconds_max(self) -> u32 {
        if self.is_fingerprinted { FINGERPRINTED_SECONDS_MAX } else { SECONDS_MAX }
    }

    /// The directive as it may be sent.
    fn limited(self, directive: Directive) -> Option<Directive> {
        let seconds_max = self.seconds_max();
        match directive {
            Public | SharedMaxAge(_) if self.is_private => None,
            Immutable | Stale(..) if !self.is_fingerprinted => None,
            MaxAge(seconds) => Some(MaxAge(seconds.min(seconds_max))),
            SharedMaxAge(seconds) => Some(SharedMaxAge(seconds.min(seconds_max))),
            Stale(name, seconds) => Some(Stale(name, seconds.min(seconds_max))),
            other => Some(other),
        }
    }
}

/// The value to send for the value that a site wants. It always limits the time.
pub fn cache_control(wanted: &str, terms: CacheTerms) -> String {
    let mut kept: Vec<Directive> = Vec::new();
    if terms.is_private {
        kept.push(Private);
    }
    for directive in directives(wanted).flatten().filter_map(|directive| terms.limited(directive)) {
        // The strictest of several values applies. `private` takes precedence over `public`.
        match kept.iter_mut().find(|other| other.name() == directive.name()) {
            Some(other) => *other = other.stricter(directive),
            None => kept.push(directive),
        }
    }
    if kept.contains(&Private) {
        kept.retain(|directive| !matches!(directive, Public | SharedMaxAge(_)));
    }
    if !kept.iter().any(|directive| matches!(directive, NoStore | NoCache | MaxAge(_))) {
        kept.push(MaxAge(SECONDS_MAX));
    }
    kept.iter().map(|directive| directive.text()).collect::<Vec<_>>().join(", ")
}

/// The longest time that a value asks for, if it is longer than every file may have.
pub(super) fn is_long(wanted: &str) -> bool {
    let is_long = |directive| match directive {
        MaxAge(seconds) | SharedMaxAge(seconds) => seconds > SECONDS_MAX,
        _ => false,
    };
    directives(wanted).flatten().any(is_long)
}

/// The fault of directives that are left out.
pub(super) fn check(value: &str) -> Result<Option<LineFault>, LineFault> {
    let fault = |part: &str| {
        LineFault::new(
            format!("{} is not possible in Cache-Control and is left out", shown(part)),
            "use max-age=SECONDS, no-cache, no-store, private or public",
        )
    };
    let unknown = value.split(',').map(str::trim).find(|part| !part.is_empty() && parse(part).is_none());
    if directives(value).flatten().next().is_none() {
        return Err(fault(unknown.unwrap_or(value)));
    }
    Ok(unknown.map(fault))
}

fn directives(value: &str) -> impl Iterator<Item = Option<Directive>> {
    value.split(',').map(|part| parse(part.trim()))
}

fn parse(part: &str) -> Option<Directive> {
    let (name, seconds) = match part.split_once('=') {
        Some((name, text)) => (name.trim(), Some(parse_seconds(text)?)),
        None => (part, None),
    };
    Some(match (name.to_ascii_lowercase().as_str(), seconds) {
        ("public", None) => Public,
        ("private", None) => Private,
        ("no-store", None) => NoStore,
        ("no-cache", None) => NoCache,
        ("immutable", None) => Immutable,
        ("must-revalidate", None) => Plain("must-revalidate"),
        ("proxy-revalidate", None) => Plain("proxy-revalidate"),
        ("no-transform", None) => Plain("no-transform"),
        ("max-age", Some(seconds)) => MaxAge(seconds),
        ("s-maxage", Some(seconds)) => SharedMaxAge(seconds),
        ("stale-while-revalidate", Some(seconds)) => Stale("stale-while-revalidate", seconds),
        ("stale-if-error", Some(seconds)) => Stale("stale-if-error", seconds),
        _ => return None,
    })
}

/// Seconds, possibly in quotes. A number that is too large becomes the maximum.
fn parse_seconds(text: &str) -> Option<u32> {
    let text = text.trim();
    let digits = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u32::MAX))
}

impl Directive {
    fn name(self) -> &'static str {
        match self {
            Public => "public",
            Private => "private",
            NoStore => "no-store",
            NoCache => "no-cache",
            Immutable => "immutable",
            MaxAge(_) => "max-age",
            SharedMaxAge(_) => "s-maxage",
            Plain(name) | Stale(name, _) => name,
        }
    }

    fn seconds(self) -> Option<u32> {
        match self {
            MaxAge(seconds) | SharedMaxAge(seconds) | Stale(_, seconds) => Some(seconds),
            _ => None,
        }
    }

    fn stricter(self, other: Self) -> Self {
        if other.seconds() < self.seconds() { other } else { self }
    }

    fn text(self) -> String {
        match self.seconds() {
            Some(seconds) => format!("{}={seconds}", self.name()),
            None => self.name().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_with_a_part_like_a_hash_are_fingerprinted() {
        for name in
            ["app.3f2a9c1b.js", "app-3f2a9c1b.js", "index-BxY12345.css", "a.b-00000000.woff2", "-12345678.x"]
        {
            assert!(is_fingerprinted(name), "{name}");
        }
        for name in [
            "app.js",
            "app.3f2a9c1.js",
            "app.abcdefgh.js",
            "3f2a9c1b.js",
            "app.3f2a9c1b.min.js",
            "app-3f2a_9c1b.js",
            "app-3f2a9c1b",
            "app-3f2a9c1b.",
            "app.3f2a9c1é.js",
            "",
        ] {
            assert!(!is_fingerprinted(name), "{name}");
        }
    }

    #[test]
    fn names_of_old_tabs_may_have_letters_only_or_base64url() {
        for name in [
            "app.3f2a9c1b.js",
            "app.abcdefgh.js",
            "app-ABCDEFGH.css",
            "index-DiwrgT_a.js",
            "index-aB-cdEf1.js",
            "index--AbCdEf_.js",
            "a-b-12345678.woff2",
        ] {
            assert!(may_be_fingerprinted(name), "{name}");
        }
        for name in [
            "app.js",
            "app.3f2a9c1.js",
            "3f2a9c1b.js",
            "abcdefgh.js",
            "app.3f2a9c1b.min.js",
            "app-3f2a_9c1b.js",
            "app-big-name.js",
            "app-3f2a9c1b",
            "app-3f2a9c1b.",
            "app.3f2a9c1é.js",
            "",
        ] {
            assert!(!may_be_fingerprinted(name), "{name}");
        }
    }

    #[test]
    fn time_is_limited_and_private_pages_stay_out_of_shared_caches() {
        let plain = CacheTerms { is_private: false, is_fingerprinted: false };
        let hashed = CacheTerms { is_fingerprinted: true, ..plain };
        let private = CacheTerms { is_private: true, ..plain };
        let both = CacheTerms { is_private: true, ..hashed };
        for (wanted, terms, expected) in [
            ("public, max-age=31536000, immutable", plain, "public, max-age=60"),
            ("public, max-age=31536000, immutable", hashed, "public, max-age=31536000, immutable"),
            ("public, max-age=31536000, immutable", private, "private, max-age=60"),
            ("public, max-age=31536000, immutable", both, "private, max-age=31536000, immutable"),
            ("max-age=99999999999", hashed, "max-age=31536000"),
            ("Max-Age = \"30\"", plain, "max-age=30"),
            ("max-age=0, must-revalidate", plain, "max-age=0, must-revalidate"),
            ("no-store", plain, "no-store"),
            ("no-store", private, "private, no-store"),
            ("no-cache", plain, "no-cache"),
            ("public", plain, "public, max-age=60"),
            ("public", private, "private, max-age=60"),
            ("private", plain, "private, max-age=60"),
            ("public, private, s-maxage=9", plain, "private, max-age=60"),
            ("s-maxage=600", plain, "s-maxage=60, max-age=60"),
            ("s-maxage=600", private, "private, max-age=60"),
            ("max-age=20, max-age=10, max-age=30", plain, "max-age=10"),
            ("max-age=5, stale-while-revalidate=600", plain, "max-age=5"),
            ("max-age=5, stale-while-revalidate=600", hashed, "max-age=5, stale-while-revalidate=600"),
            ("max-age=-1", plain, "max-age=60"),
            ("whatever, private=\"x\"", hashed, "max-age=60"),
            ("", plain, "max-age=60"),
        ] {
            assert_eq!(cache_control(wanted, terms), expected, "{wanted} {terms:?}");
        }
    }
}
