//! Operators with passwords of their own: the entry that stands for one in the settings. The password goes nowhere.

use std::process::ExitCode;

use anyhow::Context;
use domain::{Chance, OperatorAccount, Password, PasswordHash, Username, is_common_password};

use crate::{complain, say};

/// What a shell reports of a command that Ctrl-C has ended.
const INTERRUPTED: u8 = 130;

/// The same as of the shared password of the operators.
const LENGTH_MIN: usize = 12;
const TOO_EASY: &str = "handbill: the password is too easy to guess: use 12 characters or more, and no common password, also \
                        not one with digits after it; `openssl rand -hex 32` makes a good one";

pub(super) async fn add(name: &Username) -> anyhow::Result<ExitCode> {
    let read = tokio::select! {
        read = client::read_secret("Password: ") => read,
        _ = tokio::signal::ctrl_c() => None,
    };
    // The echo is back by now. The thread that still waits for a line would hold up any other end.
    let Some(password) = read else { std::process::exit(i32::from(INTERRUPTED)) };
    if password.chars().count() < LENGTH_MIN || is_common_password(&password) {
        return Ok(complain(TOO_EASY, 1));
    }
    let password = Password::new(password);
    if let Err(refusal) = password.must_suit(name) {
        return Ok(complain(&format!("handbill: {}", refusal.message()), 1));
    }
    let chance = Chance::from_system();
    let hash = PasswordHash::of(&password, &chance).context("hash the password")?;
    say(&told(&OperatorAccount::new(name, hash)));
    Ok(ExitCode::SUCCESS)
}

fn told(entry: &OperatorAccount) -> String {
    format!(
        "# Put this entry into the list in the settings file, below [secrets], and restart:\n\
         operators = [\"{entry}\"]\n\
         # or into the environment, beside other entries behind a space:\n\
         HANDBILL_SECRETS__OPERATORS='{entry}'"
    )
}
