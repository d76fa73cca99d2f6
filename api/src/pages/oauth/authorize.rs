//! The consent page of a client that returns by a redirect.

use domain::oauth::RedirectTarget;
use poem::http::StatusCode;
use poem::web::Data;
use poem::{Request, Response, handler};
use service::{
    AuthorizationParameters, AuthorizationRequest, BadAuthorization, ClientSource, OAuthFailure, Service,
};

use super::{
    ClientOrigin, ConsentForm, ConsentPage, Decision, EndPage, NewAccountPage, abilities, accounts_of,
    path_of, sign_in_path,
};
use crate::html::error_text::ErrorText;
use crate::html::fields::Fields;
use crate::html::{found_at, page, page_leading_to, person_if_any};
use crate::http::client_ip::ClientIp;
use crate::http::oauth_parameters::OAuthParameters;
use crate::http::refusal::{RefusedCall, status_of};
use crate::http::same_site;

#[handler]
pub async fn show(
    request: &Request,
    from: ClientIp,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    match checked(request, from, &service).await {
        Ok(asked) => consent(request, &asked, None, &service).await,
        Err(bad) => bad_request(bad),
    }
}

#[handler]
pub async fn decide(
    request: &Request,
    from: ClientIp,
    Fields(form): Fields<ConsentForm>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    same_site::demand(request, service.addresses())?;
    let address = from.0;
    let asked = match checked(request, from, &service).await {
        Ok(asked) => asked,
        Err(bad) => return bad_request(bad),
    };
    let decided = match form.decision {
        Decision::Deny => return Ok(found_at(&service.deny(&asked))),
        Decision::Allow => {
            let Some(person) = person_if_any(request, &service).await? else {
                return Ok(found_at(&sign_in_path(&path_of(request))));
            };
            service.consent(&asked, &person, &form.account).await.map(|to| found_at(&to))
        }
        Decision::NewAccount => match service.consent_with_new_account(&asked, address).await {
            Ok(granted) => {
                let client = asked.client.metadata.name.to_string();
                let account = NewAccountPage::new(client, &granted.account, &service, Some(granted.redirect));
                return page(StatusCode::OK, &account);
            }
            Err(failure) => Err(failure),
        },
    };
    match decided {
        Ok(response) => Ok(response),
        Err(failure) => consent(request, &asked, Some(failure.into()), &service).await,
    }
}

async fn checked(
    request: &Request,
    from: ClientIp,
    service: &Service,
) -> Result<AuthorizationRequest, BadAuthorization> {
    let query = request.uri().query().unwrap_or_default();
    let mut sent = OAuthParameters::parse(query.as_bytes())
        .map_err(|error| BadAuthorization::Shown(OAuthFailure::Refused(error)))?;
    let sent = AuthorizationParameters {
        response_type: sent.take("response_type"),
        client_id: sent.take("client_id"),
        redirect_uri: sent.take("redirect_uri"),
        code_challenge: sent.take("code_challenge"),
        code_challenge_method: sent.take("code_challenge_method"),
        scope: sent.take("scope"),
        state: sent.take("state"),
        resource: sent.take("resource"),
    };
    service.check_authorization(sent, from.0).await
}

/// The question, again with the reason if a decision was refused.
async fn consent(
    request: &Request,
    asked: &AuthorizationRequest,
    refused: Option<RefusedCall>,
    service: &Service,
) -> Result<Response, RefusedCall> {
    let person = person_if_any(request, service).await?;
    let target = asked.redirect.target().to_string();
    let from = match &asked.client.source {
        ClientSource::Document { host } => ClientOrigin::Described { host: host.clone(), target },
        ClientSource::Registered | ClientSource::CommandLine => ClientOrigin::Named { target },
    };
    let path = request.uri().path();
    let consent = ConsentPage {
        client: asked.client.metadata.name.to_string(),
        from,
        abilities: abilities(asked.scopes),
        accounts: accounts_of(person.as_ref(), service).await?,
        signed_in_as: person.map(|person| person.username),
        action: path_of(request),
        error: refused.as_ref().map(|refused| ErrorText::of(&refused.0, path)),
    };
    let status = refused.map_or(StatusCode::OK, |refused| status_of(&refused.0));
    // Browsers apply the policy for forms to the redirect that follows, too.
    page_leading_to(status, &consent, &asked.redirect.policy_source())
}

/// A request without a known client is only shown. The client of any other gets the error: at once on
/// this machine, and else when the person wants it, because anybody can register a client to get a redirect
/// from here to a site of theirs (RFC 9700, 4.11.2).
fn bad_request(bad: BadAuthorization) -> Result<Response, RefusedCall> {
    let title = "This app cannot be connected";
    match bad {
        BadAuthorization::Redirected { to, target: RedirectTarget::ThisComputer, .. } => Ok(found_at(&to)),
        BadAuthorization::Redirected { to, target, fault } => {
            let text = format!("The app's request is faulty: {fault}.");
            page(StatusCode::BAD_REQUEST, &EndPage { title, text, onward: Some((to, target.to_string())) })
        }
        BadAuthorization::Shown(OAuthFailure::Refused(error)) => {
            let text = format!("The app's request is faulty: {}.", error.description);
            page(StatusCode::BAD_REQUEST, &EndPage { title, text, onward: None })
        }
        BadAuthorization::Shown(OAuthFailure::Failed(failure)) => Err(failure.into()),
    }
}
