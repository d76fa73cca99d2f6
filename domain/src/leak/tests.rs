//! The strings that count as secrets.

use super::*;
use crate::{Chance, hash_secret};

fn leaks_in(content: &[u8]) -> Leaks {
    find_leaks([(&SitePath::index(), content)]).unwrap()
}

fn token(seed: u64) -> String {
    TokenSecret::generate(&Chance::seeded(seed)).reveal()
}

/// A string that secret scanners do not report when they scan this repository.
fn key(prefix: &str, length: usize) -> String {
    let digits = "Q7RTWXK4ZB2MNV6".chars().cycle();
    prefix.chars().chain(digits.take(length)).collect()
}

#[test]
fn tokens_are_found_in_any_file_each_once_with_the_line_of_the_first() {
    let (one, other) = (token(1), token(2));
    let page = format!("<p>\n{one}\n<p>{one}\nx{other}9");
    let found = leaks_in(page.as_bytes()).tokens;
    let hashes: Vec<_> = found.iter().map(|token| (token.secret_hash.clone(), token.line)).collect();
    assert_eq!(hashes, [(hash_secret(&one), Some(2)), (hash_secret(&other), Some(4))]);

    let binary = [b"\0\xff", one.as_bytes(), b"\n"].concat();
    assert_eq!(leaks_in(&binary).tokens[0].line, None);
}

#[test]
fn refresh_tokens_are_found_by_the_part_that_their_grant_shares() {
    let first = RefreshToken::generate(&Chance::seeded(3));
    let next = first.next(&Chance::seeded(4));
    let page = format!("<p>{}</p>\n<p>{}</p>", first.clone().reveal(), next.reveal());
    let found = leaks_in(page.as_bytes()).tokens;
    let hashes: Vec<_> = found.iter().map(|token| (token.secret_hash.clone(), token.line)).collect();
    assert_eq!(hashes, [(first.family_hash(), Some(1))]);
    assert!(leaks_in(&first.reveal().as_bytes()[..70]).tokens.is_empty());
}

#[test]
fn a_token_in_utf_16_is_found() {
    let text = format!("\u{feff}<p>\n{}", token(1));
    for bytes_of in [u16::to_le_bytes, u16::to_be_bytes] {
        let bytes: Vec<u8> = text.encode_utf16().flat_map(bytes_of).collect();
        let found = leaks_in(&bytes).tokens;
        assert_eq!((found.len(), found[0].line), (1, Some(2)));
    }
}

#[test]
fn strings_shorter_than_a_token_are_ignored() {
    let token = token(1);
    for text in ["svc_sk_", "svc_sk_ü", &token[..38], &format!("{}-", &token[..38]), "svc_sk_…"] {
        assert!(leaks_in(text.as_bytes()).tokens.is_empty(), "{text}");
    }
}

#[test]
fn tokens_above_the_lookup_limit_are_refused() {
    let tokens = |count| (0..count).map(|number| format!("svc_sk_{number:032}")).collect::<String>();
    assert_eq!(leaks_in(tokens(TOKENS_MAX).as_bytes()).tokens.len(), TOKENS_MAX);
    let refusal = find_leaks([(&SitePath::index(), tokens(TOKENS_MAX + 1).as_bytes())]).unwrap_err();
    assert_eq!(refusal.code(), "invalid_request");
    assert!(refusal.message().contains("svc_sk_…"), "{refusal}");
}

#[test]
fn every_key_format_is_found_and_warnings_do_not_show_the_key() {
    let keys = [
        key("sk_live_", 24),
        key("rk_live_", 99),
        key("AKIA", 16),
        key("ASIA", 16),
        key("ghp_", 36),
        key("gho_", 36),
        key("ghs_", 36),
        key("github_pat_", 82),
        key("glpat-", 20),
        key("sk-proj-", 156),
        key("sk-ant-", 101),
        key("AIza", 35),
        key("xoxb-", 50),
        key("xoxp-", 50),
        key("npm_", 36),
        key("SG.", 66),
        key("-----BEGIN PRIVATE KEY-----\\n", 64),
        key("-----BEGIN RSA PRIVATE KEY-----\r\n", 64),
        key("-----BEGIN OPENSSH PRIVATE KEY-----\n", 64),
    ];
    for key in keys {
        let found = leaks_in(format!("<script>\nlet key = '{key}';").as_bytes()).warnings;
        let [warning] = &found[..] else { panic!("{key}: {found:?}") };
        assert_eq!((warning.code, warning.line), (WarningCode::Secret, Some(2)));
        assert!(!format!("{warning:?}").contains(&key[key.len() - 8..]), "{warning:?}");
    }
}

#[test]
fn every_key_format_has_a_unique_prefix() {
    for (index, format) in KEY_FORMATS.iter().enumerate() {
        let others = KEY_FORMATS.iter().enumerate().filter(|(other, _)| *other != index);
        for (_, other) in others {
            assert!(!other.prefix.starts_with(format.prefix), "{} {}", format.prefix, other.prefix);
        }
    }
}

#[test]
fn strings_that_resemble_a_key_give_no_warning() {
    let resembling = [
        "AKIAIOSFODNN7EXAMPLE".to_owned(),
        "AKIAXXXXXXXXXXXXXXXX".to_owned(),
        key("AKIA", 15),
        key("AKIA", 17),
        key("xAKIA", 16),
        key("pk_live_", 24),
        key("sk_test_", 24),
        "sk_live_…".to_owned(),
        "-----BEGIN PRIVATE KEY-----\n…".to_owned(),
        key("-----BEGIN PUBLIC KEY-----\n", 64),
        key("MSG.", 66),
    ];
    for text in resembling {
        assert!(leaks_in(text.as_bytes()).warnings.is_empty(), "{text}");
    }
}

#[test]
fn leak_warnings_are_limited_to_one_per_format_and_line_and_in_total() {
    let key = key("AKIA", 16);
    assert_eq!(leaks_in(format!("{key} {key}").as_bytes()).warnings.len(), 1);
    let lines = format!("{key}\n").repeat(Warning::COUNT_MAX + 1);
    assert_eq!(leaks_in(lines.as_bytes()).warnings.len(), Warning::COUNT_MAX);
}
