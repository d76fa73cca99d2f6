//! An entry point for the fuzzer to code that only a route can reach. Production builds do not contain it.

use bytes::Bytes;
use domain::{Refusal, SitePath};
use poem::http::Method;
use poem::{Body, Request};
use poem_openapi::payload::ParsePayload;

use crate::http::publish_type::PublishType;
use crate::http::refusal::RefusedCall;
use crate::http::upload::{NamedUpload, PublishBody, Upload, Uploaded};

/// The form of a valid publish.
#[derive(Debug, PartialEq, Eq)]
pub struct Form {
    pub slug: Option<String>,
    pub message: Option<String>,
    pub files: Vec<(SitePath, Bytes)>,
}

/// Reads a form as a publish does, but without the limits that apply to every body before that.
pub async fn read_form(content_type: &str, body: Body) -> Result<Form, Refusal> {
    let request = Request::builder().method(Method::POST).content_type(content_type).body(body);
    let (request, mut body) = request.split();
    let upload = <Upload as ParsePayload>::from_request(&request, &mut body).await.map_err(refusal_of)?;
    Ok(upload.read().await?.into())
}

/// Reads the body of a publish of any content type, as [`read_form`] reads a form.
pub async fn read_publish(content_type: &str, body: Body) -> Result<Form, Refusal> {
    let request = Request::builder().method(Method::POST).content_type(content_type).body(body);
    let (request, mut body) = request.split();
    if PublishType::of(&request).is_none() {
        return Err(Refusal::UnsupportedMediaType { expected: String::new() });
    }
    let publish = PublishBody::of(&request, &mut body).map_err(refusal_of)?;
    Ok(publish.read(NamedUpload::default()).await?.into())
}

impl From<Uploaded> for Form {
    fn from(read: Uploaded) -> Self {
        Self {
            slug: read.slug.map(|slug| slug.to_string()),
            message: read.message.map(|message| message.to_string()),
            files: read.site.into_sent_files().into_iter().map(|file| (file.path, file.bytes)).collect(),
        }
    }
}

fn refusal_of(error: poem::Error) -> Refusal {
    error.downcast::<RefusedCall>().map_or(Refusal::Internal, |refused| *refused.0)
}
