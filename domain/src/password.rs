//! Rules for passwords, and their stored hashes. A password itself must never be stored, logged or
//! serialized. Hashing takes a large part of a second, so it must not run on an async thread.

use std::collections::HashSet;
use std::fmt;
use std::sync::LazyLock;

use pbkdf2::password_hash::{CustomizedPasswordHasher, Error, PasswordVerifier};
use pbkdf2::phc::PasswordHash as PhcHash;
use pbkdf2::{Params, Pbkdf2};

use crate::{Chance, Refusal, Username};

/// A password as it was typed, valid or not.
#[derive(Clone)]
pub struct Password(String);

impl Password {
    const LENGTHS: std::ops::RangeInclusive<usize> = 10..=200;
    const CLASSES_MIN: usize = 2;

    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// Spec 2.11. The refusal names every rule that the password breaks, so that nobody learns of them one by
    /// one.
    pub fn must_suit(&self, username: &Username) -> Result<(), Refusal> {
        self.must_hold(Some(username))
    }

    /// As [`Self::must_suit`], for a username that is not valid.
    pub fn must_suit_anybody(&self) -> Result<(), Refusal> {
        self.must_hold(None)
    }

    fn must_hold(&self, username: Option<&Username>) -> Result<(), Refusal> {
        let broken: Vec<&str> =
            RULES.iter().filter(|rule| !(rule.holds)(&self.0, username)).map(|rule| rule.text).collect();
        if broken.is_empty() { Ok(()) } else { Err(Refusal::WeakPassword { rule: broken.join("; ") }) }
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(…)")
    }
}

struct Rule {
    text: &'static str,
    holds: fn(&str, Option<&Username>) -> bool,
}

const RULES: [Rule; 4] = [
    Rule {
        text: "it must have 10 to 200 characters",
        holds: |password, _| Password::LENGTHS.contains(&password.chars().count()),
    },
    Rule {
        text: "it must have at least two of: lowercase letters, uppercase letters, digits, symbols",
        holds: |password, _| classes_in(password) >= Password::CLASSES_MIN,
    },
    Rule {
        text: "it must not contain the username",
        holds: |password, username| {
            username.is_none_or(|username| !password.to_lowercase().contains(username.as_str()))
        },
    },
    Rule {
        text: "it must not be one of the 100 most common passwords",
        holds: |password, _| !COMMON.contains(password.to_lowercase().as_str()),
    },
];

fn classes_in(password: &str) -> usize {
    let classes: [fn(char) -> bool; 3] = [char::is_lowercase, char::is_uppercase, char::is_numeric];
    let is_other = |character: char| !classes.iter().any(|is_in| is_in(character));
    let known = classes.iter().filter(|is_in| password.chars().any(**is_in)).count();
    known + usize::from(password.chars().any(is_other))
}

/// The most common entries of leaked password lists, in lowercase.
static COMMON: LazyLock<HashSet<&str>> =
    LazyLock::new(|| include_str!("common_passwords.txt").lines().collect());

/// A stored password hash: `$pbkdf2-sha256$i=600000,l=32$<salt>$<hash>`.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash(String);

impl PasswordHash {
    // Spec 2.11.
    const ROUNDS: u32 = 600_000;
    const SALT_BYTES: usize = 16;

    /// Slow by design.
    pub fn of(password: &Password, chance: &Chance) -> Result<Self, Error> {
        let salt = chance.bytes::<{ Self::SALT_BYTES }>();
        Ok(Self(stretched(password, &salt)?.to_string()))
    }

    /// The hash of a person without a password. No password matches it.
    pub fn unusable() -> Self {
        Self("!".to_owned())
    }

    /// Whether the hash has the current format and number of rounds, so that checking a password against it
    /// takes as long as against any other.
    pub fn is_current(&self) -> bool {
        let has_our_cost = self.0.starts_with(&format!("$pbkdf2-sha256$i={},l=32$", Self::ROUNDS));
        has_our_cost && self.0.parse::<PhcHash>().is_ok_and(|hash| hash.hash.is_some())
    }

    /// A hash from the database.
    pub fn kept(text: String) -> Self {
        Self(text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the password matches. It takes the same time when there is no hash or an unusable one. This
    /// prevents user enumeration.
    pub fn verifies(kept: Option<&PasswordHash>, password: &Password) -> bool {
        match kept.and_then(|hash| hash.0.parse::<PhcHash>().ok()) {
            Some(hash) => Pbkdf2::default().verify_password(password.0.as_bytes(), &hash).is_ok(),
            None => {
                let _ = std::hint::black_box(stretched(password, &[0; Self::SALT_BYTES]));
                false
            }
        }
    }
}

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHash(…)")
    }
}

fn stretched(password: &Password, salt: &[u8]) -> Result<PhcHash, Error> {
    let params = Params::new(PasswordHash::ROUNDS)?;
    Pbkdf2::default().hash_password_customized(password.0.as_bytes(), salt, None, None, params)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rules that a password of `ada` breaks, in the refusal's words.
    fn broken(password: &str) -> Option<String> {
        let refusal = Password::new(password.to_owned()).must_suit(&"ada".parse().unwrap()).err()?;
        let said = refusal.message();
        assert!(
            refusal.code() == "weak_password" && refusal.hint().contains(said.split_once(": ").unwrap().1)
        );
        Some(said)
    }

    #[test]
    fn strong_passwords_are_accepted() {
        for good in ["correct horse", "abcdefghi1", "ÄÖÜäöüßéèê", "пароль-пароль", &"xY".repeat(100)]
        {
            assert_eq!(broken(good), None, "{good}");
        }
    }

    #[test]
    fn weak_password_error_lists_exactly_the_broken_rules() {
        let long = "xY".repeat(101);
        let (length, classes, name, common) = ("10 to 200", "at least two of", "the username", "most common");
        for (weak, rules) in [
            ("short-1", vec![length]),
            (&long, vec![length]),
            ("abcdefghij", vec![classes]),
            ("7391846205", vec![classes]),
            ("xx-AdA-yy-zz", vec![name]),
            ("Password123", vec![common]),
            ("qwerty", vec![length, classes, common]),
            ("1234567890", vec![classes, common]),
            ("", vec![length, classes]),
        ] {
            let said = broken(weak).unwrap_or_default();
            for rule in [length, classes, name, common] {
                assert_eq!(said.contains(rule), rules.contains(&rule), "{weak}: {said}");
            }
        }
    }

    #[test]
    fn length_is_counted_in_characters_not_in_bytes() {
        assert!(broken("äöüäöüäö1").is_some_and(|said| said.contains("10 to 200")));
        assert_eq!(broken(&"ä1".repeat(100)), None);
    }

    #[test]
    fn common_password_list_has_a_hundred_lowercase_entries() {
        assert_eq!(COMMON.len(), 100);
        for common in COMMON.iter() {
            assert!(
                !common.is_empty() && common.trim() == *common && common.to_lowercase() == *common,
                "{common}"
            );
        }
    }

    #[test]
    fn password_hash_is_salted_and_matches_only_its_password() {
        let chance = Chance::seeded(5);
        let password = Password::new("correct horse".into());
        let hash = PasswordHash::of(&password, &chance).unwrap();
        assert!(hash.as_str().starts_with("$pbkdf2-sha256$i=600000,l=32$"), "{}", hash.as_str());
        assert_ne!(hash, PasswordHash::of(&password, &chance).unwrap());
        let kept = PasswordHash::kept(hash.as_str().to_owned());
        assert!(PasswordHash::verifies(Some(&kept), &password));
        assert!(!PasswordHash::verifies(Some(&kept), &Password::new("Correct horse".into())));
    }

    #[test]
    fn no_password_matches_a_missing_or_unusable_hash() {
        let password = Password::new("!".into());
        assert!(!PasswordHash::verifies(None, &password));
        for kept in [None, Some(PasswordHash::unusable()), Some(PasswordHash::kept("$argon2id$v=19".into()))]
        {
            assert!(!PasswordHash::verifies(kept.as_ref(), &password), "{kept:?}");
        }
    }
}
