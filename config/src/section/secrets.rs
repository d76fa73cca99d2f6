//! The secrets that hold the whole house. Outside dev mode none of them may be short or easy to guess: a password is
//! typed, so it may be shorter than the others, and is tried at few times a minute. And there must never be a start
//! without those that the process's role needs; see [`Settings::check_role`](crate::Settings::check_role).

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
/// A random secret in hexadecimal digits has more, a word that is repeated mostly has not.
const DISTINCT_BYTES_MIN: usize = 9;
const PASSWORD_LENGTH_MIN: usize = 12;
const MADE: &str = "`openssl rand -hex 32` prints";

/// What the operator knows and nobody else.
#[derive(Clone, Debug)]
pub struct Secrets {
    /// Unset in dev mode only; see [`Settings::signing_secret`](crate::Settings::signing_secret).
    pub signing: Option<Secret>,
    /// Signs private links in the place of the signing secret, so that an edge need not know that one.
    pub links: Option<Secret>,
    pub operator_password: Option<Secret>,
    /// Those who sign in at `/admin` by a password of their own.
    pub operators: Vec<OperatorAccount>,
}

impl Secrets {
    pub(crate) fn read(reader: &mut Reader, mode: Option<Mode>) -> Self {
        let [signing, links] = [SIGNING, LINKS].map(|key| {
            let secret = reader.optional::<Secret>(key);
            if mode.is_some_and(|mode| !mode.dev_mode) {
                demand_strength(reader, key, secret.as_ref());
            }
            secret
        });
        let operator_password = reader.optional::<Secret>(OPERATOR_PASSWORD);
        if mode.is_some_and(|mode| !mode.dev_mode) {
            demand_good_password(reader, operator_password.as_ref());
        }
        let operators = reader.optional::<OperatorList>(OPERATORS).map_or_else(Vec::new, |list| list.0);
        Self { signing, links, operator_password, operators }
    }
}

fn demand_strength(reader: &mut Reader, key: &'static str, secret: Option<&Secret>) {
    let Some(bytes) = secret.map(|secret| secret.reveal().as_bytes()) else { return };
    let distinct = bytes.iter().collect::<BTreeSet<_>>().len();
    let fault = if bytes.len() < LENGTH_BYTES_MIN {
        format!("has {} bytes, and dev mode is off", bytes.len())
    } else if distinct < DISTINCT_BYTES_MIN {
        format!("has {distinct} different bytes only, and dev mode is off")
    } else {
        return;
    };
    reader.fault(key, fault, expected());
}

fn demand_good_password(reader: &mut Reader, password: Option<&Secret>) {
    let Some(password) = password.map(Secret::reveal) else { return };
    let length = password.chars().count();
    let fault = if length < PASSWORD_LENGTH_MIN {
        format!("has {length} characters, and dev mode is off")
    } else if is_common_password(password) {
        "is a common password, or one with digits after it, and dev mode is off".to_owned()
    } else {
        return;
    };
    let expected = format!("expected a password of {PASSWORD_LENGTH_MIN} characters or more, such as {MADE}");
    reader.fault(OPERATOR_PASSWORD, fault, expected);
}

pub(crate) fn expected() -> String {
    format!("expected a secret of {LENGTH_BYTES_MIN} bytes or more, such as {MADE}")
}

pub(crate) fn expected_of_an_edge() -> String {
    let links = variable_of(LINKS);
    format!("{}, here or, which is all that an edge needs, in {links}", expected())
}
