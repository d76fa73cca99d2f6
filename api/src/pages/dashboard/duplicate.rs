//! A copy of a page under a new name, with a URL of its own.

use askama::Template;
use domain::{CreatedVia, Refusal, Slug, Tariff, Visibility};
use poem::web::Data;
use poem::{Request, Response, handler};
use serde::Deserialize;
use service::{Addressed, BegunDuplicate, DuplicateRequest, Service};

use super::page::{DashboardPage, Frame, Tab, render_page, slug_of, to_show, to_sign_in};
use super::rename::slug_typed;
use crate::html::faults::Faults;
use crate::html::fields::Fields;
use crate::html::figures::{Count, Dollars};
use crate::html::found_at;
use crate::http::permits::RequestPermit;
use crate::http::publishing::{self, Planned};
use crate::http::refusal::RefusedCall;
use crate::http::upload_budget::BodyShare;

const SLUG_LENGTH_MAX: usize = 40;
const SUFFIX: &str = "-copy";

#[derive(Template)]
#[template(path = "dashboard/duplicate.html")]
pub struct DuplicatePage<'a> {
    pub frame: &'a Frame,
    pub of: &'a str,
    /// What it costs, in words.
    pub price: String,
    /// The new name, as it was typed.
    pub slug: String,
    pub faults: Faults,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct DuplicateForm {
    slug: String,
}

#[handler]
pub async fn show(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let Some(dashboard) = DashboardPage::begin(request, &service, Tab::Pages).await? else {
        return Ok(to_sign_in(request));
    };
    let slug = suggested(&slug_of(request)?);
    render(request, &service, &dashboard, slug, None).await
}

#[handler]
pub async fn duplicate(
    request: &Request,
    Fields(form): Fields<DuplicateForm>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let dashboard = DashboardPage::change(request, &service, Tab::Pages).await?;
    let typed = form.slug.trim();
    match copy(request, &service, &dashboard, typed).await {
        Ok(slug) => Ok(found_at(&dashboard.path(&format!("/pages/{slug}?done=duplicated")))),
        Err(refused) => {
            let refusal = to_show(refused, request)?;
            render(request, &service, &dashboard, typed.to_owned(), Some(&refusal)).await
        }
    }
}

async fn copy(
    request: &Request,
    service: &Service,
    dashboard: &DashboardPage,
    typed: &str,
) -> Result<Slug, RefusedCall> {
    let slug = slug_typed(typed)?;
    let (caller, permit) = (&dashboard.caller, RequestPermit::of(request));
    let wanted = DuplicateRequest { of: slug_of(request)?, slug: slug.clone(), created_via: CreatedVia::Web };
    let mut visibility = Visibility::Public;
    let check = async {
        service.check_publish(caller, Addressed::ByBody, None, None).await?;
        Ok(())
    };
    let load = Box::pin(async {
        let BegunDuplicate { publish, site, visibility: of_original } =
            service.begin_duplicate(caller, &wanted).await?;
        visibility = of_original;
        let planned = Planned { request: publish, site, memory: BodyShare::of(request).enter() };
        publishing::complete(service, caller, &permit, planned).await
    });
    let publish = async |(), publish| Ok(service.publish(caller, publish).await?);
    publishing::publish(&permit, check, load, publish).await?;
    service.finish_duplicate(caller, &slug, visibility).await?;
    Ok(slug)
}

async fn render(
    request: &Request,
    service: &Service,
    dashboard: &DashboardPage,
    slug: String,
    refusal: Option<&Refusal>,
) -> Result<Response, RefusedCall> {
    let original = service.artifact_alone(&dashboard.caller, &slug_of(request)?).await?;
    let (tariff, account) = (service.tariff(), service.account(&dashboard.caller).await?);
    let template = DuplicatePage {
        frame: &dashboard.frame,
        of: original.slug.as_str(),
        price: price_text(tariff.free_publishes_left(account.standing()), tariff, original.visibility),
        slug,
        faults: refusal
            .map(|refusal| Faults::of(refusal, &["slug"], request.uri().path()))
            .unwrap_or_default(),
    };
    render_page(request, service, refusal, &template)
}

/// The slug with a suffix, within the maximum length.
fn suggested(slug: &Slug) -> String {
    let kept: String = slug.as_str().chars().take(SLUG_LENGTH_MAX - SUFFIX.len()).collect();
    format!("{kept}{SUFFIX}")
}

/// The price of the copy, which is a publish like any other.
pub fn price_text(free_left: u64, tariff: &Tariff, visibility: Visibility) -> String {
    let publish = match free_left {
        0 => format!("Counts as one publish, which costs {}.", Dollars(tariff.publish_price)),
        1 => "Counts as one publish. You have 1 free publish left.".to_owned(),
        left => format!("Counts as one publish. You have {} free publishes left.", Count(left)),
    };
    match visibility {
        Visibility::Public => publish,
        hidden => {
            let month = Dollars(tariff.visibility_price);
            format!("{publish} The copy is {} too, for {month} a month.", hidden.as_str())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggested_name_of_a_copy_is_a_valid_slug() {
        for slug in ["my-page", &"a".repeat(40)] {
            let copy = suggested(&slug.parse().unwrap());
            assert!(copy.parse::<Slug>().is_ok() && copy.ends_with(SUFFIX), "{copy}");
        }
    }

    #[test]
    fn price_of_a_copy_depends_on_the_free_publishes_left() {
        let tariff = Tariff::default();
        for (free_left, text) in [
            (1_200, "Counts as one publish. You have 1,200 free publishes left."),
            (1, "Counts as one publish. You have 1 free publish left."),
            (0, "Counts as one publish, which costs $0.005."),
        ] {
            assert_eq!(price_text(free_left, &tariff, Visibility::Public), text);
        }
        let private = price_text(0, &tariff, Visibility::Private);
        assert!(private.ends_with("$0.005. The copy is private too, for $0.50 a month."), "{private}");
    }
}
