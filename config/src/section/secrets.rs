//! The secrets that hold the whole house. Outside dev mode there must never be a start without a signing secret, or
//! with a short one.

use crate::reader::Reader;
use crate::secret::Secret;
use crate::section::mode::Mode;

const SIGNING_LENGTH_MIN: usize = 32;

/// What the operator knows and nobody else.
#[derive(Clone, Debug)]
pub struct Secrets {
    /// Unset in dev mode only; see [`Settings::signing_secret`](crate::Settings::signing_secret).
    pub signing: Option<Secret>,
    pub operator_password: Option<Secret>,
}

impl Secrets {
    pub(crate) fn read(reader: &mut Reader, mode: Option<Mode>) -> Self {
        let signing = reader.optional::<Secret>("secrets.signing");
        let operator_password = reader.optional("secrets.operator_password");
        if mode.is_some_and(|mode| !mode.dev_mode) {
            demand_length(reader, signing.as_ref());
        }
        Self { signing, operator_password }
    }
}

fn demand_length(reader: &mut Reader, signing: Option<&Secret>) {
    let fault = match signing {
        None => "is not set, and dev mode is off".to_owned(),
        Some(secret) if secret.reveal().len() < SIGNING_LENGTH_MIN => {
            format!("has {} bytes, and dev mode is off", secret.reveal().len())
        }
        Some(_) => return,
    };
    reader.fault(
        "secrets.signing",
        fault,
        format!("expected a secret of {SIGNING_LENGTH_MIN} bytes or more"),
    );
}
