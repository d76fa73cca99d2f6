//! The page for the code that a device shows.

use domain::{Missing, Refusal};
use poem::http::StatusCode;
use poem::web::{Data, Query};
use poem::{Request, Response, handler};
use serde::Deserialize;
use service::{Service, WaitingDevice};

use super::{
    ClientOrigin, ConsentForm, ConsentPage, Decision, EndPage, NewAccountPage, abilities, accounts_of,
    path_of, sign_in_path,
};
use crate::html::error_text::ErrorText;
use crate::html::faults::Faults;
use crate::html::fields::Fields;
use crate::html::{again, found_at, page, person_if_any};
use crate::http::client_ip::ClientIp;
use crate::http::refusal::{RefusedCall, status_of};
use crate::http::same_site;

pub const PATH: &str = "/device";

/// The form for the code.
#[derive(askama::Template)]
#[template(path = "oauth_device.html")]
pub(super) struct CodePage<'a> {
    pub user_code: &'a str,
    pub faults: Faults,
}

#[derive(Deserialize)]
pub struct DeviceLink {
    user_code: Option<String>,
}

#[handler]
pub async fn show(
    request: &Request,
    from: ClientIp,
    Query(link): Query<DeviceLink>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let Some(typed) = link.user_code.filter(|code| !code.is_empty()) else {
        return page(StatusCode::OK, &CodePage { user_code: "", faults: Faults::default() });
    };
    match service.waiting_device(&typed, from.0).await {
        Ok(waiting) => consent(request, &waiting, None, &service).await,
        Err(failure) => ask_again(&typed, failure.into()),
    }
}

#[handler]
pub async fn decide(
    request: &Request,
    from: ClientIp,
    Query(link): Query<DeviceLink>,
    Fields(form): Fields<ConsentForm>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    same_site::demand(request, service.addresses())?;
    let typed = link.user_code.unwrap_or_default();
    let waiting = match service.waiting_device(&typed, from.0).await {
        Ok(waiting) => waiting,
        Err(failure) => return ask_again(&typed, failure.into()),
    };
    let decided = match form.decision {
        Decision::Deny => {
            service.deny_device(&waiting).await?;
            return end("Sign-in cancelled", "The device gets no access. You can close this page.");
        }
        Decision::Allow => {
            let Some(person) = person_if_any(request, &service).await? else {
                return Ok(found_at(&sign_in_path(&path_of(request))));
            };
            service.allow_device(&waiting, &person, &form.account).await
        }
        Decision::NewAccount => match service.allow_device_with_new_account(&waiting, from.0).await {
            Ok(account) => {
                let client = waiting.client.to_string();
                return page(StatusCode::OK, &NewAccountPage::new(client, &account, &service, None));
            }
            Err(failure) => Err(failure),
        },
    };
    match decided {
        Ok(()) => end("Device signed in", "Go back to your device. You can close this page."),
        Err(failure) => consent(request, &waiting, Some(failure.into()), &service).await,
    }
}

async fn consent(
    request: &Request,
    waiting: &WaitingDevice,
    refused: Option<RefusedCall>,
    service: &Service,
) -> Result<Response, RefusedCall> {
    let person = person_if_any(request, service).await?;
    let consent = ConsentPage {
        client: waiting.client.to_string(),
        from: ClientOrigin::Device { code: waiting.user_code.to_string() },
        abilities: abilities(waiting.scopes),
        accounts: accounts_of(person.as_ref(), service).await?,
        signed_in_as: person.map(|person| person.username),
        action: path_of(request),
        error: refused.as_ref().map(|refused| ErrorText::of(&refused.0, PATH)),
    };
    page(refused.map_or(StatusCode::OK, |refused| status_of(&refused.0)), &consent)
}

fn ask_again(typed: &str, refused: RefusedCall) -> Result<Response, RefusedCall> {
    let faults = faults_of(&refused.0);
    again(&refused.0, &CodePage { user_code: typed, faults })
}

pub(super) fn faults_of(refusal: &Refusal) -> Faults {
    match refusal {
        Refusal::NotFound(Missing::DeviceCode) => Faults::beside_field(
            "user_code",
            "No device waits for this code. Check the code on your device, or start again there.",
        ),
        refusal => Faults::of(refusal, &["user_code"], PATH),
    }
}

fn end(title: &'static str, text: &str) -> Result<Response, RefusedCall> {
    page(StatusCode::OK, &EndPage { title, text: text.to_owned(), onward: None })
}
