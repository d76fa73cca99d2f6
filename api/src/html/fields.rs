//! The fields of a form. A program may send the same fields as JSON.

use domain::Refusal;
use poem::error::{ParseFormError, ParseJsonError};
use poem::web::{Form, Json};
use poem::{FromRequest, Request, RequestBody};
use serde::de::DeserializeOwned;

use crate::http::refusal::RefusedCall;

const FORM: &str = "application/x-www-form-urlencoded";

/// A form's fields as an argument of a handler. An empty body without a content type is a form without
/// fields.
pub struct Fields<T>(pub T);

impl<'a, T: DeserializeOwned + Default + Send> FromRequest<'a> for Fields<T> {
    async fn from_request(request: &'a Request, body: &mut RequestBody) -> poem::Result<Self> {
        let kind = request.content_type().map(|kind| kind.split(';').next().unwrap_or(kind).trim());
        match kind.map(str::to_ascii_lowercase).as_deref() {
            Some(FORM) => match Form::<T>::from_request(request, body).await {
                Ok(Form(fields)) => Ok(Self(fields)),
                Err(error) => Err(fault_of(error)),
            },
            Some("application/json") => match Json::<T>::from_request(request, body).await {
                Ok(Json(fields)) => Ok(Self(fields)),
                Err(error) => Err(fault_of(error)),
            },
            None if body.take()?.into_bytes().await?.is_empty() => Ok(Self(T::default())),
            _ => Err(RefusedCall::from(Refusal::UnsupportedMediaType { expected: FORM.to_owned() }).into()),
        }
    }
}

/// Turns a mismatch into a fault of the body. Other errors, such as an interrupted body, are handled as for
/// every request.
fn fault_of(error: poem::Error) -> poem::Error {
    let fault = match (error.downcast_ref::<ParseFormError>(), error.downcast_ref::<ParseJsonError>()) {
        (Some(fault), _) => fault.to_string(),
        (_, Some(fault)) => fault.to_string(),
        _ => return error,
    };
    RefusedCall::from(Refusal::InvalidBody { fault }).into()
}
