//! One API call, complete, so that it can be repeated unchanged.

use reqwest::{Method, RequestBuilder};
use serde_json::Value;

use crate::retry::Repeat;
use crate::upload::Upload;

/// An API call. Paths consist of parsed values only.
pub struct Request {
    pub method: Method,
    pub path: String,
    pub repeat: Repeat,
    body: Body,
    key: Option<String>,
    payment: Option<String>,
    condition: Option<Condition>,
    accept: Option<&'static str>,
}

/// What must be true of the live version.
#[derive(Clone, Copy, Debug)]
pub enum Condition {
    LiveVersion(u32),
    SlugIsNew,
}

enum Body {
    Empty,
    Json(Value),
    Upload(Upload),
}

impl Request {
    pub fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path, Repeat::Harmless)
    }

    /// An idempotent call that sets a state.
    pub fn set(method: Method, path: impl Into<String>) -> Self {
        Self::new(method, path, Repeat::Harmless)
    }

    /// A call that creates something new each time.
    pub fn make(path: impl Into<String>) -> Self {
        Self::new(Method::POST, path, Repeat::Twice)
    }

    /// A call with an idempotency key, which creates something new only once.
    pub fn make_once(path: impl Into<String>, key: String) -> Self {
        Self { key: Some(key), ..Self::new(Method::POST, path, Repeat::Keyed) }
    }

    #[must_use]
    pub fn json(self, body: Value) -> Self {
        Self { body: Body::Json(body), ..self }
    }

    #[must_use]
    pub fn upload(self, upload: Upload) -> Self {
        Self { body: Body::Upload(upload), ..self }
    }

    #[must_use]
    pub fn paying(self, payment: String) -> Self {
        Self { payment: Some(payment), ..self }
    }

    #[must_use]
    pub fn only_if(self, condition: Option<Condition>) -> Self {
        Self { condition, ..self }
    }

    /// Asks for a response of this type.
    #[must_use]
    pub fn accepting(self, content_type: &'static str) -> Self {
        Self { accept: Some(content_type), ..self }
    }

    /// Adds everything to a call that is about to be sent.
    pub fn put_into(&self, mut call: RequestBuilder) -> RequestBuilder {
        if let Some(key) = &self.key {
            call = call.header("Idempotency-Key", key);
        }
        if let Some(payment) = &self.payment {
            call = call.header("X-PAYMENT", payment);
        }
        if let Some(accept) = self.accept {
            call = call.header("Accept", accept);
        }
        match self.condition {
            None => {}
            Some(Condition::LiveVersion(seq)) => call = call.header("If-Match", format!("\"v{seq}\"")),
            Some(Condition::SlugIsNew) => call = call.header("If-None-Match", "*"),
        }
        match &self.body {
            Body::Empty => call,
            Body::Json(body) => call.json(body),
            Body::Upload(upload) => call.multipart(upload.form()),
        }
    }

    /// Hides the progress bar until the call is repeated.
    pub fn hide_progress(&self) {
        if let Body::Upload(upload) = &self.body {
            upload.hide_bar();
        }
    }

    fn new(method: Method, path: impl Into<String>, repeat: Repeat) -> Self {
        let path = path.into();
        let (key, payment, condition, accept) = (None, None, None, None);
        Self { method, path, repeat, body: Body::Empty, key, payment, condition, accept }
    }
}
