//! How the operator's staff authenticate at `/admin`: each with a name and a password of their own, or all
//! with one password and a name of their choice. Nothing is stored: a session is signed, and ends when its
//! password or the signing secret changes.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::signing_key::SigningKey;
use crate::{Host, PasswordHash, Time, Username};

/// The name of a staff member, as in the log of decisions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorName(String);

impl OperatorName {
    pub const LENGTH_MAX: usize = 60;

    /// The name in a form that can be shown and stored: one line, limited in length, without invisible
    /// characters. `None` when nothing is left.
    pub fn cleaned(text: &str) -> Option<Self> {
        let visible: String = text.chars().map(|one| if is_invisible(one) { ' ' } else { one }).collect();
        let text = visible.split_whitespace().collect::<Vec<_>>().join(" ");
        let name: String = text.chars().take(Self::LENGTH_MAX).collect();
        let name = name.trim_end();
        (!name.is_empty()).then(|| Self(name.to_owned()))
    }

    /// Stands for a staff member without a name.
    pub fn unnamed() -> Self {
        Self("operator".to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for OperatorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

// Bidirectional controls, fillers and variation selectors can make two names look the same.
fn is_invisible(one: char) -> bool {
    one.is_control()
        || matches!(one, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{200b}'..='\u{200f}')
        || matches!(one, '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}')
        || matches!(one, '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e007f}')
}

/// A staff member with a password of their own. Written as `name=hash`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorAccount {
    pub name: OperatorName,
    pub hash: PasswordHash,
}

/// The text is not `name=hash`, with a username and a hash from this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MalformedOperator;

impl OperatorAccount {
    /// The name is a username, which needs no quotes in a list and cannot look like another.
    pub fn new(name: &Username, hash: PasswordHash) -> Self {
        Self { name: OperatorName(name.to_string()), hash }
    }

    /// Whether this is the account's name. Case does not matter, so that nobody signs in under a name that
    /// looks almost the same.
    pub fn is_named(&self, name: &OperatorName) -> bool {
        self.name.0.eq_ignore_ascii_case(&name.0)
    }
}

impl FromStr for OperatorAccount {
    type Err = MalformedOperator;

    fn from_str(text: &str) -> Result<Self, MalformedOperator> {
        let (name, hash) = text.split_once('=').ok_or(MalformedOperator)?;
        let name = name.parse().map_err(|_| MalformedOperator)?;
        let hash = PasswordHash::kept(hash.to_owned());
        hash.is_current().then(|| Self::new(&name, hash)).ok_or(MalformedOperator)
    }
}

impl fmt::Display for OperatorAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.hash.as_str())
    }
}

/// The password of `/admin`. It is never printed.
#[derive(Clone)]
pub struct OperatorPassword(String);

impl OperatorPassword {
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Whether this is the password. Hashes of equal length are compared in constant time.
    pub fn is_known_to(&self, offered: &str) -> bool {
        let [kept, offered] = [self.0.as_str(), offered].map(|text| Sha256::digest(text.as_bytes()));
        bool::from(kept.ct_eq(&offered))
    }
}

impl fmt::Debug for OperatorPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OperatorPassword(…)")
    }
}

/// The key that signs the sessions and previews of `/admin`. It is derived from the signing secret and a
/// password, so that changing either ends them.
#[derive(Clone, Debug)]
pub struct OperatorKey(SigningKey);

impl OperatorKey {
    pub fn new(signing: &SigningKey, password: Option<&OperatorPassword>) -> Self {
        let password = password.map_or("", |password| &password.0);
        let password_hash = hex::encode(Sha256::digest(password.as_bytes()));
        Self(SigningKey::new(&signing.authenticate(&format!("operator:{password_hash}"))))
    }

    /// The key of a staff member with a password of their own. It changes with that password.
    pub fn of_account(signing: &SigningKey, account: &OperatorAccount) -> Self {
        Self(SigningKey::new(&signing.authenticate(&format!("operator-account:{account}"))))
    }

    /// The key of what every staff member may open. It changes with any of their passwords.
    pub fn of_all(
        signing: &SigningKey,
        password: Option<&OperatorPassword>,
        accounts: &[OperatorAccount],
    ) -> Self {
        let Self(shared) = Self::new(signing, password);
        let accounts: Vec<String> = accounts.iter().map(OperatorAccount::to_string).collect();
        if accounts.is_empty() {
            return Self(shared);
        }
        Self(SigningKey::new(&shared.authenticate(&format!("operator-accounts:{}", accounts.join(" ")))))
    }

    fn verifies(&self, text: &str, signature: &str) -> bool {
        bool::from(self.0.authenticate(text).as_bytes().ct_eq(signature.as_bytes()))
    }
}

/// The session of a staff member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorSession {
    pub name: OperatorName,
    pub expires_at: Time,
}

impl OperatorSession {
    pub const LIFETIME: Duration = Duration::from_secs(12 * 3600);

    pub fn begin(name: OperatorName, now: Time) -> Self {
        Self { name, expires_at: now.plus(Self::LIFETIME) }
    }

    /// The session as a cookie's value: its end, the name, the signature.
    pub fn signed(&self, key: &OperatorKey) -> String {
        let said = self.said();
        let signature = key.0.authenticate(&signable_session(&said));
        format!("{said}.{signature}")
    }

    /// The name in a cookie's value. It may be forged: only [`Self::read`] checks the signature.
    pub fn claimed_name(text: &str) -> Option<OperatorName> {
        let name = hex::decode(text.split('.').nth(1)?).ok()?;
        OperatorName::cleaned(&String::from_utf8(name).ok()?)
    }

    /// The session in a cookie's value; `None` unless its signature is valid and it has not ended.
    pub fn read(text: &str, key: &OperatorKey, now: Time) -> Option<Self> {
        let (said, signature) = text.rsplit_once('.')?;
        if !key.verifies(&signable_session(said), signature) {
            return None;
        }
        let (expires_at, name) = said.split_once('.')?;
        let name = String::from_utf8(hex::decode(name).ok()?).ok()?;
        let expires_at = Time::from_millis(expires_at.parse().ok()?);
        let session = Self { name: OperatorName::cleaned(&name)?, expires_at };
        (now < expires_at).then_some(session)
    }

    fn said(&self) -> String {
        format!("{}.{}", self.expires_at.millis(), hex::encode(self.name.as_str()))
    }
}

fn signable_session(said: &str) -> String {
    format!("session:{said}")
}

/// The right to load the files of one version for a limited time, as a part of their URL, because a sandboxed
/// frame sends no cookies. It must never be logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviewTicket {
    pub host: Host,
    pub seq: u32,
}

impl PreviewTicket {
    pub const LIFETIME: Duration = Duration::from_secs(3600);
    /// The prefix of a ticket, which distinguishes it from a file name.
    pub const MARK: &'static str = "~";

    pub fn signed(&self, key: &OperatorKey, now: Time) -> String {
        let expires_at = now.plus(Self::LIFETIME).millis();
        format!("{}{expires_at}.{}", Self::MARK, key.0.authenticate(&self.signable(expires_at)))
    }

    /// Whether this part of a URL is a valid ticket that has not ended.
    pub fn is(&self, text: &str, key: &OperatorKey, now: Time) -> bool {
        let parts = text.strip_prefix(Self::MARK).and_then(|text| text.split_once('.'));
        let Some((expires_at, signature)) = parts else { return false };
        let Ok(expires_at) = expires_at.parse() else { return false };
        now < Time::from_millis(expires_at) && key.verifies(&self.signable(expires_at), signature)
    }

    fn signable(&self, expires_at: i64) -> String {
        format!("preview:{}:{}:{expires_at}", self.host, self.seq)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time::from_millis(1_790_000_000_000);

    fn key(signing: &str, password: &str) -> OperatorKey {
        OperatorKey::new(&SigningKey::new(signing), Some(&OperatorPassword::new(password)))
    }

    fn name(text: &str) -> OperatorName {
        OperatorName::cleaned(text).unwrap()
    }

    #[test]
    fn operator_name_is_cleaned_to_one_line_of_visible_characters() {
        assert_eq!(name("  Ada \t Lovelace\n").as_str(), "Ada Lovelace");
        assert_eq!(name("a\u{202e}d\u{200b}a\0").as_str(), "a d a");
        assert_eq!(name(&"ü".repeat(100)).as_str().chars().count(), OperatorName::LENGTH_MAX);
        let fillers = "\u{3164}\u{115f}\u{1160}\u{ffa0}\u{2800}\u{34f}\u{fe00}\u{fe0f}\u{e0000}\u{e007f}";
        for nobody in ["", " ", "\u{200b}\u{feff}", "\r\n", fillers] {
            assert_eq!(OperatorName::cleaned(nobody), None, "{nobody:?}");
        }
    }

    #[test]
    fn operator_password_must_match_fully_and_is_not_shown_in_debug_output() {
        let password = OperatorPassword::new("open sesame");
        assert!(password.is_known_to("open sesame"));
        for wrong in ["", "open sesam", "open sesame ", "Open sesame"] {
            assert!(!password.is_known_to(wrong), "{wrong}");
        }
        assert!(!format!("{password:?}").contains("sesame"));
    }

    #[test]
    fn operator_session_is_valid_until_it_expires() {
        let (key, session) = (key("s", "p"), OperatorSession::begin(name("Ada. Ü"), NOW));
        let text = session.signed(&key);
        assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.'), "{text}");
        assert_eq!(OperatorSession::read(&text, &key, NOW), Some(session.clone()));
        let last = session.expires_at.minus(Duration::from_millis(1));
        assert!(OperatorSession::read(&text, &key, last).is_some());
        assert_eq!(OperatorSession::read(&text, &key, session.expires_at), None);
    }

    #[test]
    fn operator_session_is_invalid_after_a_change_of_key_password_or_any_byte() {
        let text = OperatorSession::begin(name("Ada"), NOW).signed(&key("s", "p"));
        for other in [key("s", "q"), key("t", "p"), OperatorKey::new(&SigningKey::new("s"), None)] {
            assert_eq!(OperatorSession::read(&text, &other, NOW), None);
        }
        for at in 0..text.len() {
            let mut forged = text.clone().into_bytes();
            forged[at] = if forged[at] == b'0' { b'1' } else { b'0' };
            let forged = String::from_utf8(forged).unwrap();
            assert_eq!(OperatorSession::read(&forged, &key("s", "p"), NOW), None, "{forged}");
        }
        for none in ["", ".", "..", "a.b.c"] {
            assert_eq!(OperatorSession::read(none, &key("s", "p"), NOW), None);
        }
    }

    fn account(name: &str, seed: u64) -> OperatorAccount {
        let password = crate::Password::new("a password of their own".into());
        let hash = PasswordHash::of(&password, &crate::Chance::seeded(seed)).unwrap();
        OperatorAccount::new(&name.parse().unwrap(), hash)
    }

    #[test]
    fn operator_account_is_a_name_and_a_hash_with_the_full_iteration_count() {
        let ada = account("ada", 1);
        assert_eq!(ada.to_string().parse(), Ok(ada.clone()));
        assert!(ada.is_named(&name("ADA")) && !ada.is_named(&name("ad")));
        let hash = ada.hash.as_str();
        let weak = hash.replace("i=600000", "i=1000");
        for wrong in [
            hash.to_owned(),
            "ada=".into(),
            format!("={hash}"),
            format!("a da={hash}"),
            format!("ada={weak}"),
        ] {
            assert_eq!(wrong.parse::<OperatorAccount>(), Err(MalformedOperator), "{wrong}");
        }
    }

    #[test]
    fn operator_account_session_ends_when_its_password_changes() {
        let (signing, ada, ben) = (SigningKey::new("s"), account("ada", 1), account("ben", 2));
        let key = OperatorKey::of_account(&signing, &ada);
        let text = OperatorSession::begin(ada.name.clone(), NOW).signed(&key);
        assert_eq!(OperatorSession::claimed_name(&text), Some(ada.name.clone()));
        assert!(OperatorSession::read(&text, &key, NOW).is_some());
        let renewed = account("ada", 3);
        let others = [
            OperatorKey::of_account(&signing, &renewed),
            OperatorKey::of_account(&signing, &ben),
            OperatorKey::of_account(&SigningKey::new("t"), &ada),
            OperatorKey::new(&signing, None),
        ];
        for other in &others {
            assert_eq!(OperatorSession::read(&text, other, NOW), None);
        }
        let ticket = PreviewTicket { host: "my-page-a1b2".parse().unwrap(), seq: 2 };
        let both = OperatorKey::of_all(&signing, None, &[ada.clone(), ben]);
        let text = ticket.signed(&both, NOW);
        assert!(ticket.is(&text, &both, NOW));
        assert!(!ticket.is(&text, &OperatorKey::of_all(&signing, None, &[ada]), NOW));
    }

    #[test]
    fn preview_ticket_is_valid_for_one_version_of_one_page_for_an_hour() {
        let key = key("s", "p");
        let ticket = PreviewTicket { host: "my-page-a1b2".parse().unwrap(), seq: 2 };
        let text = ticket.signed(&key, NOW);
        assert!(ticket.is(&text, &key, NOW));
        assert!(!ticket.is(&text, &key, NOW.plus(PreviewTicket::LIFETIME)));
        assert!(!PreviewTicket { seq: 3, ..ticket.clone() }.is(&text, &key, NOW));
        let other = PreviewTicket { host: "my-page-a1b3".parse().unwrap(), ..ticket.clone() };
        assert!(!other.is(&text, &key, NOW));
        for none in ["", "~", "~1.2", "index.html", &text[1..]] {
            assert!(!ticket.is(none, &key, NOW), "{none}");
        }
        // A session is not a ticket, and a ticket is not a session.
        assert_eq!(OperatorSession::read(&text, &key, NOW), None);
    }
}
