//! One change of the pages that are selected in the list. A page asks first: it names the pages and the
//! price.

use askama::Template;
use domain::{Refusal, Slug, Visibility};
use poem::web::Data;
use poem::{Request, Response, handler};
use service::{CHANGES_MAX, ChangedPage, PageChange, PlannedChange, Service};

use super::page::{DashboardPage, Frame, Tab, render_page, to_sign_in};
use super::visibility::visibility_named;
use crate::html::error_text::sentence;
use crate::html::fields::Fields;
use crate::html::figures::Dollars;
use crate::html::found_at;
use crate::http::refusal::RefusedCall;

const DELETE: &str = "delete";

#[derive(Template)]
#[template(path = "dashboard/bulk.html")]
pub struct BulkPage<'a> {
    pub frame: &'a Frame,
    pub question: BulkQuestion,
}

/// What the page asks.
pub struct BulkQuestion {
    pub change: &'static str,
    pub title: String,
    pub text: String,
    pub price: Option<BulkPrice>,
    pub button: String,
    pub slugs: Vec<String>,
}

/// The price of making pages unlisted or private.
pub struct BulkPrice {
    pub due: Dollars,
    pub month: Dollars,
    pub balance: Dollars,
    /// `None` if there is enough credit.
    pub missing: Option<Dollars>,
}

/// Shown when some of the pages could not be changed.
#[derive(Template)]
#[template(path = "dashboard/bulk_outcome.html")]
pub struct BulkOutcomePage<'a> {
    pub frame: &'a Frame,
    pub changed: usize,
    pub failed: Vec<FailedRow>,
}

pub struct FailedRow {
    pub slug: String,
    pub why: String,
    /// Whether credit lets it be changed.
    pub needs_credit: bool,
}

/// The fields. `page` occurs once for each selected page.
struct Selected {
    change: PageChange,
    slugs: Vec<Slug>,
}

#[handler]
pub async fn ask(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let Some(dashboard) = DashboardPage::begin(request, &service, Tab::Pages).await? else {
        return Ok(to_sign_in(request));
    };
    let fields: Vec<(String, String)> = request.params().unwrap_or_default();
    let Selected { change, slugs } = Selected::read(fields)?;
    let plan = service.plan_changes(&dashboard.caller, &slugs, change).await?;
    if plan.pages.is_empty() {
        return Ok(found_at(&dashboard.path("?done=none-selected")));
    }
    let template = BulkPage { frame: &dashboard.frame, question: BulkQuestion::new(change, &plan) };
    render_page(request, &service, None, &template)
}

#[handler]
pub async fn start(
    request: &Request,
    Fields(fields): Fields<Vec<(String, String)>>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let dashboard = DashboardPage::change(request, &service, Tab::Pages).await?;
    let Selected { change, slugs } = Selected::read(fields)?;
    if slugs.is_empty() {
        return Ok(found_at(&dashboard.path("?done=none-selected")));
    }
    let changed = service.change_each(&dashboard.caller, slugs, change).await;
    let count = changed.iter().filter(|page| page.result.is_ok()).count();
    if count == changed.len() {
        return Ok(found_at(&dashboard.path(&format!("?done={}", done_after(change)))));
    }
    let failed = changed.into_iter().filter_map(FailedRow::of).collect();
    let template = BulkOutcomePage { frame: &dashboard.frame, changed: count, failed };
    render_page(request, &service, None, &template)
}

impl Selected {
    fn read(fields: Vec<(String, String)>) -> Result<Self, Refusal> {
        let (mut chosen, mut slugs) = (None, Vec::new());
        for (name, value) in fields {
            match name.as_str() {
                "change" => chosen = change_named(&value),
                "page" => {
                    let slug: Slug = value.parse().map_err(|_| Refusal::invalid("page", "is not a slug"))?;
                    if !slugs.contains(&slug) {
                        slugs.push(slug);
                    }
                }
                _ => {}
            }
        }
        if slugs.len() > CHANGES_MAX {
            return Err(Refusal::invalid("page", format!("occurs more than {CHANGES_MAX} times")));
        }
        let rule = "must be delete, public, unlisted or private";
        Ok(Self { change: chosen.ok_or_else(|| Refusal::invalid("change", rule))?, slugs })
    }
}

fn change_named(name: &str) -> Option<PageChange> {
    if name == DELETE { Some(PageChange::Delete) } else { visibility_named(name).map(PageChange::Show) }
}

fn done_after(change: PageChange) -> &'static str {
    match change {
        PageChange::Delete => "bulk-deleted",
        PageChange::Show(Visibility::Public) => "bulk-public",
        PageChange::Show(Visibility::Unlisted) => "bulk-unlisted",
        PageChange::Show(Visibility::Private) => "bulk-private",
    }
}

impl BulkQuestion {
    pub fn new(change: PageChange, plan: &PlannedChange) -> Self {
        let pages = super::artifacts::found(plan.pages.len() as u64);
        let (title, text, button) = match change {
            PageChange::Delete => (
                format!("Delete {pages}?"),
                "Their URLs stop working at once. You can restore them for 30 days.".to_owned(),
                format!("Delete {pages}"),
            ),
            PageChange::Show(to) => {
                let name = to.as_str();
                (format!("Make {pages} {name}?"), explained(to).to_owned(), format!("Make {name}"))
            }
        };
        let price = BulkPrice {
            due: Dollars(plan.due),
            month: Dollars(plan.monthly),
            balance: Dollars(plan.balance),
            missing: plan.missing().map(Dollars),
        };
        Self {
            change: match change {
                PageChange::Delete => DELETE,
                PageChange::Show(to) => to.as_str(),
            },
            title,
            text,
            price: (!plan.monthly.is_zero()).then_some(price),
            button,
            slugs: plan.pages.iter().map(|page| page.slug.to_string()).collect(),
        }
    }

    /// Whether the credit covers the price.
    pub fn can_start(&self) -> bool {
        self.price.as_ref().is_none_or(|price| price.missing.is_none())
    }
}

fn explained(to: Visibility) -> &'static str {
    match to {
        Visibility::Public => "Everyone can see them, and search engines can list them. This is free.",
        Visibility::Unlisted => {
            "Anyone with a link can see the page. Search engines are asked not to list it."
        }
        Visibility::Private => {
            "Only people with the signed link can see a page. The current URL stops working without the \
             signature."
        }
    }
}

impl FailedRow {
    /// `None` if the page was changed. A bug is logged; the other pages' results are shown nevertheless.
    fn of(page: ChangedPage) -> Option<Self> {
        let RefusedCall(refusal) = page.result.err()?.into();
        let needs_credit = matches!(*refusal, Refusal::PaymentRequired(_));
        Some(Self { slug: page.slug.to_string(), why: sentence(&refusal.message()), needs_credit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str) -> Vec<(String, String)> {
        text.split('&').filter_map(|pair| pair.split_once('=')).map(|(a, b)| (a.into(), b.into())).collect()
    }

    #[test]
    fn each_selected_page_is_read_once() {
        let read = Selected::read(fields("page=my-page&change=private&page=plans&page=my-page")).unwrap();
        assert_eq!(read.change, PageChange::Show(Visibility::Private));
        assert_eq!(read.slugs.iter().map(Slug::as_str).collect::<Vec<_>>(), ["my-page", "plans"]);
        assert!(Selected::read(fields("change=delete")).unwrap().slugs.is_empty());
    }

    #[test]
    fn page_that_fails_by_a_bug_is_listed_with_an_internal_error() {
        let slug: Slug = "my-page".parse().unwrap();
        let failed = |result| FailedRow::of(ChangedPage { slug: slug.clone(), result });
        assert!(failed(Ok(())).is_none());
        let row = failed(Err(service::Failure::Bug(anyhow::anyhow!("secret detail")))).unwrap();
        assert_eq!((row.slug.as_str(), row.why.as_str()), ("my-page", "Something went wrong on our side."));
        assert!(!row.needs_credit);
    }

    #[test]
    fn unknown_changes_malformed_slugs_and_too_many_pages_are_refused() {
        let many: String = (0..=CHANGES_MAX).map(|number| format!("&page=page-{number}")).collect();
        for bad in [
            "page=my-page",
            "change=burn&page=my-page",
            "change=delete&page=My",
            &format!("change=delete{many}"),
        ] {
            assert!(Selected::read(fields(bad)).is_err(), "{bad}");
        }
    }
}
