//! Operators with their own passwords: prints the settings entry of one. The password is not stored.

use std::process::ExitCode;

use anyhow::Context;
use domain::{Chance, OperatorAccount, Password, PasswordHash, Username, is_common_password};
use serde_json::json;

use crate::output::Form;

/// The exit code that shells report for a command that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

/// The same as for the operators' shared password.
const LENGTH_MIN: usize = 12;
const TOO_EASY: &str = "the password is too easy to guess";
const WEAK: &str = "weak_password";
const STRONGER: &str = "choose another password; `openssl rand -hex 32` prints a good one";

pub(super) async fn add(name: &Username, form: Form) -> anyhow::Result<ExitCode> {
    let read = tokio::select! {
        read = client::read_secret("Password: ") => read,
        _ = tokio::signal::ctrl_c() => None,
    };
    // The echo is restored by now. Exits at once, because the thread that still waits for a line would block
    // any other exit.
    let Some(password) = read else { std::process::exit(i32::from(INTERRUPTED)) };
    if password.chars().count() < LENGTH_MIN || is_common_password(&password) {
        return Ok(form.refuse(TOO_EASY, WEAK, STRONGER));
    }
    let password = Password::new(password);
    if let Err(refusal) = password.must_suit(name) {
        return Ok(form.refuse(&refusal.message(), WEAK, STRONGER));
    }
    let chance = Chance::from_system();
    let hash = PasswordHash::of(&password, &chance).context("hash the password")?;
    let entry = OperatorAccount::new(name, hash);
    form.print(|| entry_text(&entry), || json!({ "name": name.to_string(), "entry": entry.to_string() }));
    Ok(ExitCode::SUCCESS)
}

fn entry_text(entry: &OperatorAccount) -> String {
    format!(
        "# Add this entry to the list in the settings file, under [secrets], and restart:\n\
         operators = [\"{entry}\"]\n\
         # Or add it to the environment variable, separated from other entries by a space:\n\
         HANDBILL_SECRETS__OPERATORS='{entry}'"
    )
}
