//! Why a command failed. It has the shape of the API's errors wherever it comes from, so that a program that reads
//! them reads one shape.

use domain::Refusal;
use serde::{Deserialize, Serialize};

use crate::exit::Exit;
use crate::hints;

pub const INSUFFICIENT_SCOPE: &str = "insufficient_scope";

/// A failure, as it is told and as the program exits with it.
#[derive(Debug)]
pub struct Failure {
    pub exit: Exit,
    pub api_error: ApiError,
    /// The API's own words as they came, for `--json`.
    body: Option<String>,
}

/// `{code, message, hint}`, as every error of the API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiError {
    pub code: String,
    pub message: String,
    pub hint: String,
}

impl Failure {
    /// What the person or the script at the command line can mend.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Exit::Usage, "invalid_request", message, hint)
    }

    pub fn signed_out(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Exit::SignIn, "unauthorized", message, hint)
    }

    /// What credit would pay without a question, and nobody agreed to.
    pub fn unpaid(message: impl Into<String>) -> Self {
        Self::new(Exit::Payment, "payment_required", message, "--yes or --max-price agrees to it")
    }

    /// The server cannot be reached, or does not answer as a Handbill does.
    pub fn unreachable(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Exit::Server, "unreachable", message, hint)
    }

    /// Something is the matter with this machine: a file, a folder, the terminal.
    pub fn of_this_machine(message: impl Into<String>) -> Self {
        Self::new(Exit::Other, "local_error", message, "mend that and run the command again")
    }

    /// The server said no.
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
                    format!("the server answered {status} with something that is no word of Handbill's");
                let hint =
                    "check the address: --url, HANDBILL_URL or the profile; a proxy may stand before it";
                Self { exit, api_error: ApiError::new("unreadable_answer", message, hint), body: None }
            }
        }
    }

    /// One JSON object on one line.
    pub fn json(&self) -> String {
        let body = self.body.clone().map(|body| body.trim().to_owned());
        body.unwrap_or_else(|| serde_json::to_string(&self.api_error).unwrap_or_default())
    }

    /// The same failure with another hint, where the caller knows a better one.
    #[must_use]
    pub fn hinting(mut self, hint: impl Into<String>) -> Self {
        self.api_error.hint = hint.into();
        self
    }

    fn new(exit: Exit, code: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { exit, api_error: ApiError::new(code, message, hint), body: None }
    }
}

impl ApiError {
    fn new(code: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into(), hint: hint.into() }
    }
}

impl From<Refusal> for Failure {
    /// A rule of the trade that is looked at before anything is sent.
    fn from(refusal: Refusal) -> Self {
        let hint = hints::for_everyone(refusal.code()).map_or_else(|| refusal.hint(), str::to_owned);
        Self::new(Exit::Usage, refusal.code(), refusal.message(), hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_the_api_are_kept_for_machines_and_its_hint_becomes_a_command_for_people() {
        let body = r#"{"code":"unauthorized","message":"no token","hint":"POST /v1/signup"}"#;
        let failure = Failure::answered(401, body.to_owned());
        assert_eq!((failure.exit, failure.json().as_str()), (Exit::SignIn, body));
        assert!(failure.api_error.hint.contains("handbill signup"), "{failure:?}");
        let kept = r#"{"code":"rate_limited","message":"too many","hint":"another"}"#;
        assert_eq!(Failure::answered(429, kept.to_owned()).api_error.hint, "another");
    }

    #[test]
    fn what_a_proxy_says_becomes_an_error_of_the_same_shape() {
        let failure = Failure::answered(502, "<html>Bad Gateway</html>".to_owned());
        assert_eq!(failure.exit, Exit::Server);
        let json: ApiError = serde_json::from_str(&failure.json()).unwrap();
        assert!(json.message.contains("502"), "{json:?}");
    }
}
