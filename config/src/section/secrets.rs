//! The secrets that hold the whole house. Outside dev mode none of them may be short: a password is typed, so it may be
//! shorter than the others, and is tried at few times a minute. And there must never be a start
//! without those that the process's role needs; see [`Settings::check_role`](crate::Settings::check_role).

use crate::reader::{Reader, variable_of};
use crate::secret::Secret;
use crate::section::mode::Mode;

pub(crate) const SIGNING: &str = "secrets.signing";
const LINKS: &str = "secrets.links";
const OPERATOR_PASSWORD: &str = "secrets.operator_password";
const LENGTH_BYTES_MIN: usize = 32;
const PASSWORD_LENGTH_MIN: usize = 12;

/// What the operator knows and nobody else.
#[derive(Clone, Debug)]
pub struct Secrets {
    /// Unset in dev mode only; see [`Settings::signing_secret`](crate::Settings::signing_secret).
    pub signing: Option<Secret>,
    /// Signs private links in the place of the signing secret, so that an edge need not know that one.
    pub links: Option<Secret>,
    pub operator_password: Option<Secret>,
}

impl Secrets {
    pub(crate) fn read(reader: &mut Reader, mode: Option<Mode>) -> Self {
        let [signing, links] = [SIGNING, LINKS].map(|key| {
            let secret = reader.optional::<Secret>(key);
            if mode.is_some_and(|mode| !mode.dev_mode) {
                demand_length(reader, key, secret.as_ref());
            }
            secret
        });
        let operator_password = reader.optional::<Secret>(OPERATOR_PASSWORD);
        if mode.is_some_and(|mode| !mode.dev_mode) {
            demand_password_length(reader, operator_password.as_ref());
        }
        Self { signing, links, operator_password }
    }
}

fn demand_length(reader: &mut Reader, key: &'static str, secret: Option<&Secret>) {
    if let Some(length_bytes) = secret.map(|secret| secret.reveal().len())
        && length_bytes < LENGTH_BYTES_MIN
    {
        reader.fault(key, format!("has {length_bytes} bytes, and dev mode is off"), expected());
    }
}

fn demand_password_length(reader: &mut Reader, password: Option<&Secret>) {
    if let Some(length) = password.map(|password| password.reveal().chars().count())
        && length < PASSWORD_LENGTH_MIN
    {
        let expected = format!("expected a password of {PASSWORD_LENGTH_MIN} characters or more");
        reader.fault(OPERATOR_PASSWORD, format!("has {length} characters, and dev mode is off"), expected);
    }
}

pub(crate) fn expected() -> String {
    format!("expected a secret of {LENGTH_BYTES_MIN} bytes or more")
}

pub(crate) fn expected_of_an_edge() -> String {
    let links = variable_of(LINKS);
    format!("{}, here or, which is all that an edge needs, in {links}", expected())
}
