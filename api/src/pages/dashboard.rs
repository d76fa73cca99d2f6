//! What a person has: their accounts, and the pages of each.

use askama::Template;
use domain::{AccountStatus, Role};
use poem::http::StatusCode;
use poem::web::Data;
use poem::{Request, Response, handler};
use service::{Holding, Service};

use super::{PageLink, found_at, links_of, page, person_if_any, with_cookie};
use crate::refusal::RefusedCall;
use crate::session_cookie;

#[derive(Template)]
#[template(path = "dashboard.html")]
struct DashboardPage<'a> {
    username: &'a str,
    accounts: Vec<AccountShown>,
}

struct AccountShown {
    handle: String,
    status: AccountStatus,
    role: Role,
    links: Vec<PageLink>,
}

#[handler]
pub async fn show(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let Some(person) = person_if_any(request, &service).await? else {
        return Ok(found_at("/signin?next=/dashboard"));
    };
    let holdings = service.holdings(&person).await?;
    let accounts = holdings.into_iter().map(|holding| AccountShown::new(holding, &service)).collect();
    let shown = page(StatusCode::OK, &DashboardPage { username: &person.username, accounts })?;
    Ok(match session_cookie::kept_on(request, service.addresses()) {
        Some(cookie) => with_cookie(shown, &cookie),
        None => shown,
    })
}

impl AccountShown {
    fn new(holding: Holding, service: &Service) -> Self {
        let Holding { membership, artifacts } = holding;
        Self {
            handle: membership.account.handle,
            status: membership.account.status,
            role: membership.role,
            links: links_of(&artifacts, service),
        }
    }
}
