//! A wrong command line. With `--json` it is reported as JSON, as every other failure.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use client::ApiError;

use crate::output::{EXIT_USAGE, complain};

const JSON: &str = "--json";

/// Prints why a command line is refused, or the help or version that it asks for.
pub(crate) fn refuse(refused: &clap::Error, line: &[OsString]) -> ExitCode {
    if refused.use_stderr() && asks_for_json(line) {
        let (message, hint) = message_and_hint(refused);
        let error = ApiError::new("invalid_request", message, hint);
        return complain(&error.json(), EXIT_USAGE);
    }
    // A closed pipe is not an error.
    let _ = refused.print();
    ExitCode::from(u8::try_from(refused.exit_code()).unwrap_or(EXIT_USAGE))
}

/// The line is refused, so that only its words are known.
fn asks_for_json(line: &[OsString]) -> bool {
    line.iter().take_while(|word| *word != "--").any(|word| word == JSON)
}

fn message_and_hint(refused: &clap::Error) -> (String, String) {
    let help = "`handbill --help` lists the commands, and `handbill COMMAND --help` shows examples";
    let is_missing = [ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand, ErrorKind::MissingSubcommand];
    if is_missing.contains(&refused.kind()) {
        return ("the command is missing".to_owned(), help.to_owned());
    }
    let text = refused.render().to_string();
    let mut paragraphs = text.split("\n\n").map(in_one_line);
    let message = paragraphs.next().unwrap_or_default();
    let message = message.strip_prefix("error: ").unwrap_or(&message).to_owned();
    let more: Vec<_> = paragraphs
        .filter(|paragraph| paragraph.starts_with("tip: ") || paragraph.starts_with("Usage: "))
        .map(|paragraph| paragraph.trim_start_matches("tip: ").to_owned())
        .collect();
    (message, if more.is_empty() { help.to_owned() } else { more.join(". ") })
}

fn in_one_line(paragraph: &str) -> String {
    paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Arguments;

    fn refused(line: &[&str]) -> (String, String) {
        message_and_hint(&Arguments::read([&["handbill"][..], line].concat()).unwrap_err())
    }

    #[test]
    fn message_says_what_is_wrong_and_hint_how_to_write_it() {
        let (message, hint) = refused(&["show"]);
        assert_eq!(message, "the following required arguments were not provided: <SLUG>");
        assert!(hint.contains("Usage: handbill show"), "{hint}");
        let (message, hint) = refused(&["list", "--jsno"]);
        assert!(message.contains("'--jsno'") && hint.contains("'--json'"), "{message}: {hint}");
        assert_eq!(refused(&[]).0, "the command is missing");
        assert_eq!(refused(&["--json"]).0, "the command is missing");
        for line in [&["publihs"][..], &["activate", "my-page", "0"], &["visibility", "my-page", "secret"]] {
            let (message, hint) = refused(line);
            assert!(
                !message.contains('\n') && !message.starts_with("error") && !hint.is_empty(),
                "{message}"
            );
        }
    }

    #[test]
    fn json_option_counts_only_before_a_double_dash() {
        let asks = |line: &[&str]| asks_for_json(&line.iter().map(OsString::from).collect::<Vec<_>>());
        assert!(asks(&["handbill", "show", "--json"]));
        assert!(!asks(&["handbill", "publish", "--", "--json"]) && !asks(&["handbill", "show"]));
    }
}
