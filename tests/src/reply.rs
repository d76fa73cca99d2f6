//! A response, with the assertions that tests need. Every failure prints the whole response, so that nobody
//! has to run the test again.

use std::fmt;

use bytes::Bytes;
use reqwest::header::HeaderMap;
use serde_json::Value;

/// A complete response. A failed expectation is printed with the body.
#[derive(Clone)]
pub struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
    /// The call that it responds to, such as `POST /v1/publish`.
    pub call: String,
}

impl Reply {
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    /// Expects a refusal with this status and code, and a message and a hint that are not empty.
    #[track_caller]
    pub fn refused(self, status: u16, code: &str) -> Self {
        let reply = self.expect(status);
        let body = reply.json();
        assert_eq!(body["code"], code, "{reply:?}");
        for field in ["message", "hint"] {
            assert!(
                body[field].as_str().is_some_and(|text| !text.is_empty()),
                "{field} is missing: {reply:?}"
            );
        }
        reply
    }

    /// Expects a refusal whose message names this field.
    #[track_caller]
    pub fn naming(self, field: &str) -> Self {
        assert!(self.string("message").contains(field), "the message does not name {field}: {self:?}");
        self
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        match serde_json::from_slice(&self.body) {
            Ok(json) => json,
            Err(error) => panic!("no JSON ({error}): {self:?}"),
        }
    }

    /// A text in the JSON body, by its path: `account.handle`, `versions.0.id`.
    #[track_caller]
    pub fn string(&self, path: &str) -> String {
        match self.at(path).as_str() {
            Some(text) => text.to_owned(),
            None => panic!("{path} is no text: {self:?}"),
        }
    }

    #[track_caller]
    pub fn number(&self, path: &str) -> f64 {
        match self.at(path).as_f64() {
            Some(number) => number,
            None => panic!("{path} is no number: {self:?}"),
        }
    }

    #[track_caller]
    pub fn integer(&self, path: &str) -> i64 {
        match self.at(path).as_i64() {
            Some(integer) => integer,
            None => panic!("{path} is no integer: {self:?}"),
        }
    }

    /// A value in the JSON body, by its path.
    #[track_caller]
    pub fn at(&self, path: &str) -> Value {
        let pointer = format!("/{}", path.replace('.', "/"));
        match self.json().pointer(&pointer) {
            Some(value) => value.clone(),
            None => panic!("{path} is missing: {self:?}"),
        }
    }

    /// The names of the JSON body's fields, sorted.
    #[track_caller]
    pub fn field_names(&self) -> Vec<String> {
        fields_of(&self.json())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// A header's value, or an empty text.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

/// The names of a JSON object's fields, sorted.
#[track_caller]
pub fn fields_of(value: &Value) -> Vec<String> {
    let mut names: Vec<_> = value.as_object().expect("a JSON object").keys().cloned().collect();
    names.sort();
    names
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN_BYTES_MAX: usize = 4_000;
        let body = String::from_utf8_lossy(&self.body[..self.body.len().min(SHOWN_BYTES_MAX)]);
        write!(f, "{} answered {}\n{:#?}\n{body}", self.call, self.status, self.headers)
    }
}
