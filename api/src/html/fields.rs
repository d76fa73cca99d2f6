//! The fields of a form that a page posts. A program may send the same as JSON.

use domain::Refusal;
use poem::error::{ParseFormError, ParseJsonError};
use poem::web::{Form, Json};
use poem::{FromRequest, Request, RequestBody};
use serde::de::DeserializeOwned;

use crate::http::refusal::RefusedCall;

const FORM: &str = "application/x-www-form-urlencoded";

/// A form's fields as an argument of a handler. A body that is empty and of no type is a form without fields.
pub struct Fields<T>(pub T);

impl<'a, T: DeserializeOwned + Default + Send> FromRequest<'a> for Fields<T> {
    async fn from_request(request: &'a Request, body: &mut RequestBody) -> poem::Result<Self> {
        let kind = request.content_type().map(|kind| kind.split(';').next().unwrap_or(kind).trim());
        match kind.map(str::to_ascii_lowercase).as_deref() {
            Some(FORM) => match Form::<T>::from_request(request, body).await {
                Ok(Form(fields)) => Ok(Self(fields)),
                Err(error) => Err(told(error)),
            },
            Some("application/json") => match Json::<T>::from_request(request, body).await {
                Ok(Json(fields)) => Ok(Self(fields)),
                Err(error) => Err(told(error)),
            },
            None if body.take()?.into_bytes().await?.is_empty() => Ok(Self(T::default())),
            _ => Err(RefusedCall::from(Refusal::UnsupportedMediaType { expected: FORM.to_owned() }).into()),
        }
    }
}

/// Only what does not fit is told in our words here; a body that could not be read is told as for every request.
fn told(error: poem::Error) -> poem::Error {
    let fault = match (error.downcast_ref::<ParseFormError>(), error.downcast_ref::<ParseJsonError>()) {
        (Some(fault), _) => fault.to_string(),
        (_, Some(fault)) => fault.to_string(),
        _ => return error,
    };
    RefusedCall::from(Refusal::InvalidBody { fault }).into()
}
