//! The account's credit: the balance, the ledger, and buying more. A dev payment settles in the call. A card
//! payment is made at the processor, and credit is added only when the processor confirms it.

use askama::Template;
use domain::{
    AccountSummary, CheckoutAmount, DevPaymentTerms, List, Micro, Payment, PaymentMethod, Refusal, Slug,
    Tariff, Visibility,
};
use poem::web::Data;
use poem::{Request, Response, handler};
use serde::Deserialize;
use service::{CheckoutRequest, CreditRequest, Failure, Service};

use super::amounts::{AmountFields, AmountForm};
use super::ledger::{EntryRow, Slugs, artifact_of};
use super::page::{DashboardPage, Frame, Tab, render_page, to_show, to_sign_in};
use super::pager::{Pager, page_of};
use super::visibility::visibility_named;
use crate::html::faults::Faults;
use crate::html::fields::Fields;
use crate::html::figures::{Count, DayOfMonth, Dollars};
use crate::html::found_at;
use crate::http::dev_mode::DevPayment;
use crate::http::refusal::RefusedCall;
use crate::wire::{CreditPurchase, Purchasable};

const AMOUNT_FIELDS: &[&str] = &["amount_usd"];
const KEY_LENGTH: usize = 24;

#[derive(Template)]
#[template(path = "dashboard/credit.html")]
pub struct CreditPage<'a> {
    pub frame: &'a Frame,
    pub balance: Dollars,
    pub is_owing: bool,
    pub upcoming: Option<Upcoming>,
    /// The change of visibility that the credit is for.
    pub step: Option<CreditStep>,
    /// The payment methods of this server. The dev method is for development and moves no money.
    pub dev: Option<AmountForm>,
    pub card: Option<AmountForm>,
    /// The idempotency key of a purchase, so that a form that is sent twice buys once.
    pub key: String,
    pub entries: Vec<EntryRow>,
    pub pager: Option<Pager>,
}

/// The charges of the next metering, if nothing changes until then.
pub struct Upcoming {
    pub on: DayOfMonth,
    /// What is charged, and how much.
    pub charges: Vec<(String, Dollars)>,
    pub total: Dollars,
}

/// A form that was refused, and its refusal.
struct Refused<'a> {
    method: PaymentMethod,
    fields: &'a AmountFields,
    refusal: Refusal,
}

/// A page that is to become unlisted or private, for which credit is bought first.
pub struct CreditStep {
    pub slug: String,
    pub to: Visibility,
    pub price: Dollars,
    /// The missing amount; `None` when there is enough.
    pub missing: Option<Dollars>,
}

/// The change of visibility that led here, in the query.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct StepLink {
    page: String,
    visibility: String,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub struct CreditForm {
    #[serde(flatten)]
    amount: AmountFields,
    key: String,
    page: String,
    visibility: String,
}

#[handler]
pub async fn show(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let Some(dashboard) = DashboardPage::begin(request, &service, Tab::Credit).await? else {
        return Ok(to_sign_in(request));
    };
    let link: StepLink = request.params().unwrap_or_default();
    render(request, &service, &dashboard, &link, None).await
}

/// Buys credit with the dev payment. A person who came for a page goes back to it.
#[handler]
pub async fn top_up(
    request: &Request,
    Fields(form): Fields<CreditForm>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let dashboard = DashboardPage::change(request, &service, Tab::Credit).await?;
    DevPayment::of(request, &service).demand()?;
    match bought(&dashboard, &form, &service).await {
        Ok(()) => {
            let back = match step_of(&form.link()) {
                Some((slug, _)) => format!("/pages/{slug}"),
                None => "/credit".to_owned(),
            };
            Ok(found_at(&dashboard.path(&format!("{back}?done=credited"))))
        }
        Err(refused) => refuse(refused, PaymentMethod::Dev, request, &service, &dashboard, &form).await,
    }
}

#[derive(Template)]
#[template(path = "dashboard/checkout.html")]
pub struct CheckoutPage<'a> {
    pub frame: &'a Frame,
    pub amount: Dollars,
    pub url: &'a str,
    pub back: &'a str,
}

/// Opens a checkout. The page links to the processor, because our policy does not let a form lead to another
/// site.
#[handler]
pub async fn check_out(
    request: &Request,
    Fields(form): Fields<CreditForm>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let dashboard = DashboardPage::change(request, &service, Tab::Credit).await?;
    match opened(&dashboard, &form, &service).await {
        Ok(checkout) => {
            let template = CheckoutPage {
                frame: &dashboard.frame,
                amount: Dollars(checkout.amount.micro()),
                url: &checkout.url,
                back: &checkout.return_path,
            };
            render_page(request, &service, None, &template)
        }
        Err(refused) => refuse(refused, PaymentMethod::Card, request, &service, &dashboard, &form).await,
    }
}

async fn bought(dashboard: &DashboardPage, form: &CreditForm, service: &Service) -> Result<(), RefusedCall> {
    let amount = dollars(form.amount.chosen())
        .and_then(Purchasable::new)
        .ok_or_else(|| Refusal::invalid("amount_usd", amount_rule()))?
        .0;
    let request = CreditRequest {
        amount,
        payment: Some(Payment::Dev(amount)),
        idempotency_key: is_key(&form.key).then(|| form.key.clone()),
    };
    service.buy_credit(&dashboard.caller, request).await?;
    Ok(())
}

fn amount_rule() -> String {
    format!("must be from {} to {} dollars", CreditPurchase::USD_MIN, CreditPurchase::USD_MAX)
}

async fn opened(
    dashboard: &DashboardPage,
    form: &CreditForm,
    service: &Service,
) -> Result<service::Checkout, RefusedCall> {
    let amount = dollars(form.amount.chosen())
        .and_then(CheckoutAmount::new)
        .ok_or_else(|| Refusal::invalid("amount_usd", "must be from 5 to 500, in whole cents"))?;
    let change = step_of(&form.link()).map(|(page, visibility)| CheckoutRequest { page, visibility });
    Ok(service.open_checkout(&dashboard.person, Some(&dashboard.frame.handle), amount, change).await?)
}

async fn refuse(
    refused: RefusedCall,
    method: PaymentMethod,
    request: &Request,
    service: &Service,
    dashboard: &DashboardPage,
    form: &CreditForm,
) -> Result<Response, RefusedCall> {
    // Without a form on the page there is no place to show the fault.
    if !dashboard.frame.owns() || !has_method(method, request, service) {
        return Err(refused);
    }
    let refused = Refused { method, fields: &form.amount, refusal: to_show(refused, request)? };
    render(request, service, dashboard, &form.link(), Some(refused)).await
}

async fn render(
    request: &Request,
    service: &Service,
    dashboard: &DashboardPage,
    link: &StepLink,
    refused: Option<Refused<'_>>,
) -> Result<Response, RefusedCall> {
    let summary = service.account(&dashboard.caller).await?;
    let balance = summary.account.balance;
    let page = page_of(request, List::Ledger)?;
    let entries = service.ledger(&dashboard.caller, &page).await?;
    let artifacts: Vec<_> = entries.rows.iter().filter_map(artifact_of).collect();
    let slugs = Slugs::new(service.slugs(&dashboard.caller, &artifacts).await?);
    let step = find_step(dashboard, link, balance, service).await?;
    let needed = needed(balance, step.as_ref());
    let form = |method| {
        let form = AmountForm::suggesting(method, needed);
        match &refused {
            Some(refused) if refused.method == method => {
                form.refused(refused.fields, faults(&refused.refusal, dashboard))
            }
            _ => form,
        }
    };
    let template = CreditPage {
        frame: &dashboard.frame,
        balance: Dollars(balance),
        is_owing: balance.is_negative(),
        upcoming: Upcoming::of(&summary, service.tariff()),
        dev: has_method(PaymentMethod::Dev, request, service).then(|| form(PaymentMethod::Dev)),
        card: has_method(PaymentMethod::Card, request, service).then(|| form(PaymentMethod::Card)),
        key: service.chance().alphanumeric(KEY_LENGTH),
        entries: entries.rows.iter().map(|entry| EntryRow::new(entry, &slugs)).collect(),
        pager: Pager::of(&page, &entries, &dashboard.path("/credit"), "entries"),
        step,
    };
    render_page(request, service, refused.as_ref().map(|refused| &refused.refusal), &template)
}

fn has_method(method: PaymentMethod, request: &Request, service: &Service) -> bool {
    match method {
        PaymentMethod::Dev => {
            service.tariff().dev_rail == DevPaymentTerms::Open
                && DevPayment::of(request, service) == DevPayment::ByTariff
        }
        PaymentMethod::Card => service.accepts_cards(),
    }
}

pub fn faults(refusal: &Refusal, dashboard: &DashboardPage) -> Faults {
    Faults::of(refusal, AMOUNT_FIELDS, &dashboard.path("/credit"))
}

async fn find_step(
    dashboard: &DashboardPage,
    link: &StepLink,
    balance: Micro,
    service: &Service,
) -> Result<Option<CreditStep>, RefusedCall> {
    let Some((slug, to)) = step_of(link) else { return Ok(None) };
    let artifact = match service.artifact_alone(&dashboard.caller, &slug).await {
        // The page already has this visibility.
        Ok(artifact) if artifact.visibility == to => return Ok(None),
        Ok(artifact) => artifact,
        Err(failure) => {
            return failure.handle().map(|_| None).map_err(|bug| Failure::Bug(bug).into());
        }
    };
    let price = service.visibility_price(&dashboard.caller, &artifact).await?;
    // A change that costs nothing needs no credit, whatever the balance.
    let missing = (!price.is_zero() && price > balance).then(|| Dollars(price - balance));
    Ok(Some(CreditStep { slug: slug.to_string(), to, price: Dollars(price), missing }))
}

fn step_of(link: &StepLink) -> Option<(Slug, Visibility)> {
    let to = visibility_named(&link.visibility).filter(|to| *to != Visibility::Public)?;
    Some((link.page.parse().ok()?, to))
}

/// What the account owes, or what a change of visibility lacks. The latter includes the former.
fn needed(balance: Micro, step: Option<&CreditStep>) -> Micro {
    let missing = step.and_then(|step| step.missing).map(|missing| missing.0);
    missing.unwrap_or((-balance).max(Micro::ZERO))
}

impl Upcoming {
    /// `None` if nothing is to be charged.
    pub fn of(summary: &AccountSummary, tariff: &Tariff) -> Option<Self> {
        let next = tariff.next_charges(summary);
        let pages = match summary.restricted_artifacts {
            1 => "1 unlisted or private page".to_owned(),
            count => format!("{} unlisted or private pages", Count(count)),
        };
        let charges = [
            (pages, next.visibility),
            ("Storage above the free amount, as it is now".to_owned(), next.storage),
            ("Views above the free amount, so far".to_owned(), next.views),
        ];
        let charges = charges.into_iter().filter(|(_, amount)| !amount.is_zero());
        let charges: Vec<_> = charges.map(|(text, amount)| (text, Dollars(amount))).collect();
        let on = DayOfMonth(summary.month.next().start().day());
        (!charges.is_empty()).then(|| Self { on, charges, total: Dollars(next.total()) })
    }
}

/// A dollar amount as people type it.
fn dollars(text: &str) -> Option<Micro> {
    let text = text.trim();
    Micro::parse_usd(text.strip_prefix('$').unwrap_or(text).trim())
}

fn is_key(key: &str) -> bool {
    key.len() == KEY_LENGTH && key.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

impl CreditForm {
    fn link(&self) -> StepLink {
        StepLink { page: self.page.clone(), visibility: self.visibility.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_dollar_amounts_may_have_a_dollar_sign_and_spaces() {
        let five = Some(Micro::new(5_000_000));
        for text in ["5", "5.00", "$5", " $ 5.0 "] {
            assert_eq!(dollars(text), five, "{text}");
        }
        for text in ["", "five", "5 dollars", "$", "1e3"] {
            assert_eq!(dollars(text), None, "{text}");
        }
    }

    #[test]
    fn the_missing_amount_or_the_debt_is_needed() {
        let (micro, step) = (Micro::new, |missing: Option<i64>| CreditStep {
            slug: "my-page".into(),
            to: Visibility::Private,
            price: Dollars(Micro::new(500_000)),
            missing: missing.map(|missing| Dollars(Micro::new(missing))),
        });
        assert_eq!(needed(micro(4_000_000), None), Micro::ZERO);
        assert_eq!(needed(micro(-1_230_000), None), micro(1_230_000));
        assert_eq!(needed(micro(-1_230_000), Some(&step(Some(1_730_000)))), micro(1_730_000));
        assert_eq!(needed(micro(4_000_000), Some(&step(None))), Micro::ZERO);
    }
}
