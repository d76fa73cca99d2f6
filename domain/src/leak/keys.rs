//! The formats of other providers' keys: a prefix, and the characters after it.

use std::ops::{Range, RangeInclusive};

/// The format of a key.
pub(super) struct KeyFormat {
    /// The key's name in messages.
    pub(super) name: &'static str,
    pub(super) prefix: &'static str,
    pub(super) hint: &'static str,
    /// The characters that may follow the prefix.
    is_body: fn(u8) -> bool,
    /// The number of these characters.
    lengths: RangeInclusive<usize>,
}

/// Strings with fewer different characters are placeholders, such as `AKIAXXXXXXXXXXXXXXXX`.
const DISTINCT_CHARACTERS_MIN: usize = 6;
/// Providers use this word in the keys of their documentation.
const EXAMPLE: &[u8] = b"EXAMPLE";
/// No upper limit: the key ends where its characters end.
const ANY: usize = usize::MAX;
/// The number of characters that are read. Without a limit, a file that repeats a prefix would be read once
/// for each repetition.
const BODY_READ_MAX: usize = 512;

const REVOKE: &str = "if it is real, revoke it at its provider and publish again without it: anyone who can open the page can \
                      read it, and earlier versions stay stored";
const RESTRICT: &str = "if the page needs it in the browser, restrict it to this site and to the APIs that it calls, in the \
                        provider's console; otherwise revoke it and publish again without it";

pub(super) const KEY_FORMATS: &[KeyFormat] = &[
    key("a live secret key of Stripe", "sk_live_", is_alphanumeric, 16..=ANY),
    key("a live restricted key of Stripe", "rk_live_", is_alphanumeric, 16..=ANY),
    key("an access key ID of AWS", "AKIA", is_base_32, 16..=16),
    key("a temporary access key ID of AWS", "ASIA", is_base_32, 16..=16),
    key("a personal access token of GitHub", "ghp_", is_alphanumeric, 36..=ANY),
    key("an OAuth token of GitHub", "gho_", is_alphanumeric, 36..=ANY),
    key("a user token of a GitHub app", "ghu_", is_alphanumeric, 36..=ANY),
    key("a server token of a GitHub app", "ghs_", is_alphanumeric, 36..=ANY),
    key("a refresh token of a GitHub app", "ghr_", is_alphanumeric, 36..=ANY),
    key("a fine-grained token of GitHub", "github_pat_", is_word, 40..=ANY),
    key("an access token of GitLab", "glpat-", is_word, 20..=ANY),
    key("a project key of OpenAI", "sk-proj-", is_word, 40..=ANY),
    key("a service account key of OpenAI", "sk-svcacct-", is_word, 40..=ANY),
    key("a key of Anthropic", "sk-ant-", is_word, 40..=ANY),
    key("a key of OpenRouter", "sk-or-v1-", is_hexadecimal, 64..=64),
    key("an access token of Hugging Face", "hf_", is_alphanumeric, 34..=34),
    KeyFormat { hint: RESTRICT, ..key("an API key of Google", "AIza", is_word, 35..=35) },
    key("a bot token of Slack", "xoxb-", is_word, 24..=ANY),
    key("a user token of Slack", "xoxp-", is_word, 24..=ANY),
    key("an access token of npm", "npm_", is_alphanumeric, 36..=36),
    key("an API token of PyPI", "pypi-AgEIcHlwaS5vcmc", is_word, 50..=ANY),
    key("a key of SendGrid", "SG.", is_word_or_dot, 66..=ANY),
    key("an access token of DigitalOcean", "dop_v1_", is_hexadecimal, 64..=64),
    key("an access token of Shopify", "shpat_", is_hexadecimal, 32..=32),
    key("a private key", "-----BEGIN PRIVATE KEY-----", is_pem, 40..=ANY),
    key("an RSA private key", "-----BEGIN RSA PRIVATE KEY-----", is_pem, 40..=ANY),
    key("an EC private key", "-----BEGIN EC PRIVATE KEY-----", is_pem, 40..=ANY),
    key("a DSA private key", "-----BEGIN DSA PRIVATE KEY-----", is_pem, 40..=ANY),
    key("an OpenSSH private key", "-----BEGIN OPENSSH PRIVATE KEY-----", is_pem, 40..=ANY),
    key("a PGP private key", "-----BEGIN PGP PRIVATE KEY BLOCK-----", is_pem, 40..=ANY),
];

const fn key(
    name: &'static str,
    prefix: &'static str,
    is_body: fn(u8) -> bool,
    lengths: RangeInclusive<usize>,
) -> KeyFormat {
    KeyFormat { name, prefix, hint: REVOKE, is_body, lengths }
}

impl KeyFormat {
    /// Whether a key starts at this prefix, and the position up to which the text was read.
    pub(super) fn read_at(&self, text: &[u8], prefix: Range<usize>) -> (bool, usize) {
        if text[..prefix.start].last().is_some_and(u8::is_ascii_alphanumeric) {
            return (false, prefix.end);
        }
        let rest = &text[prefix.end..];
        let length = rest.iter().take(BODY_READ_MAX).take_while(|byte| (self.is_body)(**byte)).count();
        (self.lengths.contains(&length) && looks_random(&rest[..length]), prefix.end + length)
    }
}

fn looks_random(body: &[u8]) -> bool {
    let mut is_seen = [false; 256];
    body.iter().for_each(|byte| is_seen[usize::from(*byte)] = true);
    let distinct = is_seen.iter().filter(|is_seen| **is_seen).count();
    distinct >= DISTINCT_CHARACTERS_MIN && !body.windows(EXAMPLE.len()).any(|part| part == EXAMPLE)
}

fn is_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn is_hexadecimal(byte: u8) -> bool {
    byte.is_ascii_hexdigit()
}

fn is_base_32(byte: u8) -> bool {
    byte.is_ascii_uppercase() || matches!(byte, b'2'..=b'7')
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn is_word_or_dot(byte: u8) -> bool {
    is_word(byte) || byte == b'.'
}

/// Base64 with line breaks, which are written as `\n` in JSON and scripts.
fn is_pem(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'\\' | b'\r' | b'\n')
}
