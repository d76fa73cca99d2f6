//! One API call, complete, so that it can be repeated unchanged.

use reqwest::{Method, RequestBuilder};
use serde_json::Value;
use url::form_urlencoded;

use crate::reply::Reply;
use crate::retry::Repeat;
use crate::upload::{ArchiveUpload, SentFiles, Upload};

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
    Form(String),
    Upload(Upload),
    Archive(ArchiveUpload),
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
    pub fn form(self, parameters: &[(&str, &str)]) -> Self {
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.extend_pairs(parameters);
        Self { body: Body::Form(form.finish()), ..self }
    }

    #[must_use]
    pub fn upload(self, upload: Upload) -> Self {
        Self { body: Body::Upload(upload), ..self }
    }

    /// The path gets the slug and the message, for which an archive has no field.
    #[must_use]
    pub fn archive(self, archive: ArchiveUpload) -> Self {
        let path = archive.named_in(&self.path);
        Self { path, body: Body::Archive(archive), ..self }
    }

    pub fn pay(&mut self, payment: String) {
        self.payment = Some(payment);
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
            Body::Form(form) => {
                call.header("Content-Type", "application/x-www-form-urlencoded").body(form.clone())
            }
            Body::Upload(upload) => call.multipart(upload.form()),
            Body::Archive(archive) => archive.put_into(call),
        }
    }

    /// Adds the contents that the server lacks, according to its response. Returns whether the call is to be
    /// sent again.
    pub fn add_missing(&mut self, reply: &Reply) -> bool {
        match &mut self.body {
            Body::Upload(upload) => upload.add_missing(reply),
            _ => false,
        }
    }

    /// The files whose content the call sends.
    pub fn sent_files(&self) -> Option<SentFiles> {
        match &self.body {
            Body::Upload(upload) => Some(upload.sent_files()),
            _ => None,
        }
    }

    /// Hides the progress bar until the call is repeated.
    pub fn hide_progress(&self) {
        match &self.body {
            Body::Upload(upload) => upload.hide_bar(),
            Body::Archive(archive) => archive.hide_bar(),
            Body::Empty | Body::Json(_) | Body::Form(_) => {}
        }
    }

    fn new(method: Method, path: impl Into<String>, repeat: Repeat) -> Self {
        let path = path.into();
        let (key, payment, condition, accept) = (None, None, None, None);
        Self { method, path, repeat, body: Body::Empty, key, payment, condition, accept }
    }
}
