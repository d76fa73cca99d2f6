//! The installation's secrets. Outside dev mode none of them may be short or easy to guess. A password is
//! typed, so it may be shorter than the others, and its attempts are rate-limited. A process must never start
//! without the secrets that its role needs; see [`Settings::check_role`](crate::Settings::check_role).

use std::collections::BTreeSet;

use domain::{OperatorAccount, is_common_password};

use crate::reader::{Reader, variable_of};
use crate::secret::Secret;
use crate::section::mode::Mode;
use crate::value::OperatorList;

pub(crate) const SIGNING: &str = "secrets.signing";
const LINKS: &str = "secrets.links";
const OPERATORS: &str = "secrets.operators";
const OPERATOR_PASSWORD: &str = "secrets.operator_password";
const LENGTH_BYTES_MIN: usize = 32;
/// A random secret in hexadecimal digits has more distinct bytes. A repeated word usually has fewer.
const DISTINCT_BYTES_MIN: usize = 9;
const PASSWORD_LENGTH_MIN: usize = 12;
const MADE: &str = "`openssl rand -hex 32` prints";

/// The operator's secrets.
#[derive(Clone, Debug)]
pub struct Secrets {
    /// Unset in dev mode only; see [`Settings::signing_secret`](crate::Settings::signing_secret).
    pub signing: Option<Secret>,
    /// Signs private links instead of the signing secret, so that an edge does not need that one.
    pub links: Option<Secret>,
    pub operator_password: Option<Secret>,
    /// Operators who sign in at `/admin` with their own passwords.
    pub operators: Vec<OperatorAccount>,
}

impl Secrets {
    pub(crate) fn read(reader: &mut Reader, mode: Option<Mode>) -> Self {
        let [signing, links] = [SIGNING, LINKS].map(|key| {
            let secret = reader.optional::<Secret>(key);
            if mode.is_some_and(|mode| !mode.dev_mode) {
                require_strength(reader, key, secret.as_ref());
            }
            secret
        });
        let operator_password = reader.optional::<Secret>(OPERATOR_PASSWORD);
        if mode.is_some_and(|mode| !mode.dev_mode) {
            require_good_password(reader, operator_password.as_ref());
        }
        let operators = reader.optional::<OperatorList>(OPERATORS).map_or_else(Vec::new, |list| list.0);
        Self { signing, links, operator_password, operators }
    }
}

fn require_strength(reader: &mut Reader, key: &'static str, secret: Option<&Secret>) {
    let Some(bytes) = secret.map(|secret| secret.reveal().as_bytes()) else { return };
    let distinct = bytes.iter().collect::<BTreeSet<_>>().len();
    let fault = if bytes.len() < LENGTH_BYTES_MIN {
        format!("has {} bytes, and dev mode is off", bytes.len())
    } else if distinct < DISTINCT_BYTES_MIN {
        format!("has only {distinct} distinct bytes, and dev mode is off")
    } else {
        return;
    };
    reader.fault(key, fault, expected());
}

fn require_good_password(reader: &mut Reader, password: Option<&Secret>) {
    let Some(password) = password.map(Secret::reveal) else { return };
    let length = password.chars().count();
    let fault = if length < PASSWORD_LENGTH_MIN {
        format!("has {length} characters, and dev mode is off")
    } else if is_common_password(password) {
        "is a common password, or one with digits appended, and dev mode is off".to_owned()
    } else {
        return;
    };
    let expected =
        format!("expected a password of at least {PASSWORD_LENGTH_MIN} characters, such as {MADE}");
    reader.fault(OPERATOR_PASSWORD, fault, expected);
}

pub(crate) fn expected() -> String {
    format!("expected a secret of at least {LENGTH_BYTES_MIN} bytes, such as {MADE}")
}

pub(crate) fn expected_of_an_edge() -> String {
    let links = variable_of(LINKS);
    format!("{}, here or in {links}, which is enough for an edge", expected())
}
