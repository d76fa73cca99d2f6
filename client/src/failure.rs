//! Why a command failed. Every failure has the shape of the API's errors, wherever it comes from, so that
//! programs parse one format.

use domain::Refusal;
use serde::{Deserialize, Serialize};

use crate::exit::Exit;
use crate::hints;

pub const INSUFFICIENT_SCOPE: &str = "insufficient_scope";
pub const NOT_FOUND: &str = "not_found";
/// A problem of the machine that the command runs on.
pub const LOCAL_ERROR: &str = "local_error";

/// A failure, with its message and its exit code.
#[derive(Debug)]
pub struct Failure {
    pub exit: Exit,
    pub api_error: ApiError,
    /// The API's response body as received, for `--json`.
    body: Option<String>,
}

/// `{code, message, hint}`, as in every API error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiError {
    pub code: String,
    pub message: String,
    pub hint: String,
}

impl Failure {
    /// A mistake that the user or the script can fix.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Exit::Usage, "invalid_request", message, hint)
    }

    pub fn signed_out(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Exit::SignIn, "unauthorized", message, hint)
    }

    /// Something that a response does not list.
    pub fn missing(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Exit::NotFound, NOT_FOUND, message, hint)
    }

    /// A price that credit would pay, and that was not confirmed.
    pub fn unpaid(message: impl Into<String>) -> Self {
        Self::new(Exit::Payment, "payment_required", message, "confirm with --yes or --max-price")
    }

    /// The server is unreachable, or does not respond like a Handbill server.
    pub fn unreachable(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Exit::Server, "unreachable", message, hint)
    }

    /// A problem of this machine: a file, a directory, the terminal.
    pub fn of_this_machine(message: impl Into<String>) -> Self {
        Self::new(Exit::Other, LOCAL_ERROR, message, "fix this and run the command again")
    }

    /// An error response of the server.
    pub fn answered(status: u16, body: String) -> Self {
        let exit = Exit::of_status(status);
        match serde_json::from_str::<ApiError>(&body) {
            Ok(mut api_error) => {
                if let Some(hint) = hints::for_everyone(&api_error.code) {
                    api_error.hint = hint.to_owned();
                }
                Self { exit, api_error, body: Some(body) }
            }
            Err(_) => {
                let message =
                    format!("the server returned status {status} with a response that is not from Handbill");
                let hint =
                    "check the address in --url, HANDBILL_URL or the profile, and any proxy in front of it";
                Self { exit, api_error: ApiError::new("unreadable_answer", message, hint), body: None }
            }
        }
    }

    /// One JSON object on one line.
    pub fn json(&self) -> String {
        let body = self.body.clone().map(|body| body.trim().to_owned());
        body.unwrap_or_else(|| self.api_error.json())
    }

    /// The same failure with a more specific hint.
    #[must_use]
    pub fn hinting(mut self, hint: impl Into<String>) -> Self {
        self.api_error.hint = hint.into();
        self
    }

    /// The same failure with what it means for the command, also in JSON.
    #[must_use]
    pub fn explained(self, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(self.exit, &self.api_error.code, message, hint)
    }

    fn new(exit: Exit, code: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { exit, api_error: ApiError::new(code, message, hint), body: None }
    }
}

impl ApiError {
    pub fn new(code: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into(), hint: hint.into() }
    }

    /// One JSON object on one line.
    pub fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl From<Refusal> for Failure {
    /// A rule of the service that is checked before anything is sent.
    fn from(refusal: Refusal) -> Self {
        let hint = hints::for_everyone(refusal.code()).map_or_else(|| refusal.hint(), str::to_owned);
        Self::new(Exit::Usage, refusal.code(), refusal.message(), hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_keeps_the_api_error_and_the_text_hint_names_a_command() {
        let body = r#"{"code":"unauthorized","message":"no token","hint":"POST /v1/signup"}"#;
        let failure = Failure::answered(401, body.to_owned());
        assert_eq!((failure.exit, failure.json().as_str()), (Exit::SignIn, body));
        assert!(failure.api_error.hint.contains("handbill signup"), "{failure:?}");
        let kept = r#"{"code":"rate_limited","message":"too many","hint":"another"}"#;
        assert_eq!(Failure::answered(429, kept.to_owned()).api_error.hint, "another");
    }

    #[test]
    fn non_json_error_responses_become_api_errors() {
        let failure = Failure::answered(502, "<html>Bad Gateway</html>".to_owned());
        assert_eq!(failure.exit, Exit::Server);
        let json: ApiError = serde_json::from_str(&failure.json()).unwrap();
        assert!(json.message.contains("502"), "{json:?}");
    }
}
