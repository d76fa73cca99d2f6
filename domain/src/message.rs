//! A publisher's message for a version: one line that is shown in lists.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The message of a version: short, and without characters that control a terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Message(String);

impl Message {
    pub const LENGTH_MAX: usize = 200;
    pub const PATTERN: &'static str = r"^[^\x00-\x1F\x7F-\x9F]*$";
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to {} characters, none of them a control character", Message::LENGTH_MAX)]
pub struct MalformedMessage;

impl FromStr for Message {
    type Err = MalformedMessage;

    fn from_str(text: &str) -> Result<Self, MalformedMessage> {
        let fits = (1..=Self::LENGTH_MAX).contains(&text.chars().count());
        if fits && !text.chars().any(char::is_control) {
            Ok(Self(text.to_owned()))
        } else {
            Err(MalformedMessage)
        }
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Message> for String {
    fn from(message: Message) -> String {
        message.0
    }
}

impl TryFrom<String> for Message {
    type Error = MalformedMessage;

    fn try_from(text: String) -> Result<Self, MalformedMessage> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_short_line() {
        let longest = "ü".repeat(Message::LENGTH_MAX);
        for good in ["Fix the typo", " ", longest.as_str()] {
            assert!(good.parse::<Message>().is_ok(), "{good}");
        }
        for bad in ["", &format!("{longest}x"), "two\nlines", "a\u{1b}[0m", "\0"] {
            assert_eq!(bad.parse::<Message>(), Err(MalformedMessage), "{bad:?}");
        }
    }
}
