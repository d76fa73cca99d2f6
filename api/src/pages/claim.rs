//! Claiming an account: the page behind a claim link, and its form. Whoever is not signed in signs in or registers
//! with the same form.

use std::time::Duration;

use askama::Template;
use domain::{Password, Refusal};
use poem::http::StatusCode;
use poem::web::{Data, Path};
use poem::{IntoResponse, Request, Response, handler};
use poem_openapi::payload::Json;
use serde::Deserialize;
use service::{Claimable, Credentials, Person, Service};

use super::fields::Fields;
use super::{NextPath, PageLink, asks_for_json, found, links_of, page, person_if_any, with_cookie};
use crate::client_ip::ClientIp;
use crate::refusal::RefusedCall;
use crate::{same_site, session_cookie, wire};

#[derive(Template)]
#[template(path = "claim.html")]
struct ClaimPage<'a> {
    handle: &'a str,
    code: &'a str,
    time_left: String,
    links: Vec<PageLink>,
    signed_in_as: Option<&'a str>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct ClaimForm {
    username: Option<String>,
    password: Option<String>,
}

#[handler]
pub async fn show(
    request: &Request,
    Path(code): Path<String>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let Claimable { account, artifacts, time_left } = service.claimable(&code).await?;
    let person = person_if_any(request, &service).await?;
    let template = ClaimPage {
        handle: &account.handle,
        code: &code,
        time_left: in_words(time_left),
        links: links_of(&artifacts, &service),
        signed_in_as: person.as_ref().map(|person| person.username.as_str()),
    };
    page(StatusCode::OK, &template)
}

#[handler]
pub async fn claim(
    request: &Request,
    Path(code): Path<String>,
    from: ClientIp,
    Fields(form): Fields<ClaimForm>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    same_site::demand(request, service.addresses())?;
    // What cannot be claimed is told before anybody is asked for a password.
    service.claimable(&code).await?;
    let (claimer, session) = match person_if_any(request, &service).await? {
        Some(person) => (person, None),
        None => enter(form, from, &service).await?,
    };
    let account = service.claim(&code, &claimer).await?;
    let answer = if asks_for_json(request) {
        Json(wire::Claimed { account: (&account).into() }).into_response()
    } else {
        found(&NextPath::dashboard())
    };
    Ok(match session {
        Some(secret) => with_cookie(answer, &session_cookie::kept(&secret, service.addresses())),
        None => answer,
    })
}

/// Who the form's name and password stand for, with the session that this opens.
async fn enter(
    form: ClaimForm,
    from: ClientIp,
    service: &Service,
) -> Result<(Person, Option<String>), RefusedCall> {
    let (username, password) = match (form.username, form.password) {
        (Some(username), Some(password)) => (username, password),
        (None, None) => return Err(Refusal::NotSignedIn.into()),
        (None, Some(_)) => return Err(Refusal::invalid("username", "is missing").into()),
        (Some(_), None) => return Err(Refusal::invalid("password", "is missing").into()),
    };
    let credentials = Credentials { username, password: Password::new(password) };
    let signed_in = service.log_in_or_register(credentials, from.0).await?;
    Ok((signed_in.person, Some(signed_in.session)))
}

/// A duration as people say it, never more than is left.
fn in_words(left: Duration) -> String {
    const MINUTE_SECONDS: u64 = 60;
    const HOUR_SECONDS: u64 = 60 * MINUTE_SECONDS;
    const DAY_SECONDS: u64 = 24 * HOUR_SECONDS;
    let (count, unit) = match left.as_secs() {
        seconds @ 0..MINUTE_SECONDS => (seconds, "second"),
        seconds @ MINUTE_SECONDS..HOUR_SECONDS => (seconds / MINUTE_SECONDS, "minute"),
        seconds @ HOUR_SECONDS..DAY_SECONDS => (seconds / HOUR_SECONDS, "hour"),
        seconds => (seconds / DAY_SECONDS, "day"),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_told_in_words_and_rounded_down() {
        for (seconds, words) in [
            (0, "0 seconds"),
            (59, "59 seconds"),
            (60, "1 minute"),
            (1_799, "29 minutes"),
            (3_600, "1 hour"),
            (200_000, "2 days"),
        ] {
            assert_eq!(in_words(Duration::from_secs(seconds)), words);
        }
    }
}
