//! What a person sees after claiming an account: that it is theirs, and what to do next.

use askama::Template;
use domain::Page;
use poem::http::StatusCode;
use poem::web::Data;
use poem::{Request, Response, handler};
use service::Service;

use super::dashboard::page::{DashboardPage, Frame, Tab, kept_alive, to_sign_in};
use super::{PageLink, links_of};
use crate::documents::Facts;
use crate::html::figures::Dollars;
use crate::html::page;
use crate::http::refusal::RefusedCall;

/// Pages that are listed, newest first.
const PAGES_SHOWN_MAX: u32 = 3;

#[derive(Template)]
#[template(path = "welcome.html")]
struct WelcomePage<'a> {
    frame: &'a Frame,
    facts: &'a Facts,
    links: Vec<PageLink>,
    private_price: Dollars,
}

#[handler]
pub async fn show(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let Some(dashboard) = DashboardPage::begin(request, &service, Tab::Pages).await? else {
        return Ok(to_sign_in(request));
    };
    let newest = service.artifacts(&dashboard.caller, &Page::first(PAGES_SHOWN_MAX)).await?;
    let facts = Facts::of(service.addresses(), service.tariff());
    let template = WelcomePage {
        frame: &dashboard.frame,
        private_price: Dollars(facts.visibility_price),
        facts: &facts,
        links: links_of(&newest.rows, &service),
    };
    Ok(kept_alive(request, &service, page(StatusCode::OK, &template)?))
}

#[cfg(test)]
pub fn samples() -> Vec<(String, String)> {
    use domain::Role;

    let facts = Facts::sample();
    let frame = Frame {
        username: "ada".into(),
        handle: "acct_k3x9m2".into(),
        name: None,
        role: Role::Owner,
        accounts: vec![],
        suspension: None,
        arrears: None,
        tab: Tab::Pages,
        done: Some("Account claimed."),
    };
    let link =
        |slug: &str| PageLink { slug: slug.into(), url: format!("http://127.0.0.1:8081/site/{slug}-a1b2/") };
    let render = |links| {
        let private_price = Dollars(facts.visibility_price);
        WelcomePage { frame: &frame, facts: &facts, links, private_price }.render().unwrap()
    };
    vec![
        ("welcome".into(), render(vec![link("demo-deck"), link("notes")])),
        ("welcome-no-pages".into(), render(vec![])),
    ]
}
