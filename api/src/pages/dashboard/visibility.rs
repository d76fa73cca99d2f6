//! The visibility of a page, and its price.

use domain::{Micro, Refusal, Visibility};
use poem::web::Data;
use poem::{Request, Response, handler};
use serde::Deserialize;
use service::{Service, VisibilityRequest};

use super::page::{DashboardPage, Tab, slug_of};
use crate::html::fields::Fields;
use crate::html::figures::Dollars;
use crate::html::{accepts_html, found_at};
use crate::http::refusal::RefusedCall;

/// The price of an unlisted or private page.
#[derive(Clone, Copy, Debug)]
pub struct Price {
    /// Charged immediately when a public page becomes unlisted or private.
    pub due: Micro,
    pub month: Micro,
}

/// The choice of a visibility, with its price.
pub struct VisibilityControl {
    pub choices: [VisibilityChoice; 3],
    pub price: String,
}

pub struct VisibilityChoice {
    pub to: Visibility,
    pub name: &'static str,
    pub text: &'static str,
    pub is_current: bool,
}

const ALL: [Visibility; 3] = [Visibility::Public, Visibility::Unlisted, Visibility::Private];

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct VisibilityForm {
    visibility: String,
}

/// Without enough credit, redirects to the page where credit is bought.
#[handler]
pub async fn set(
    request: &Request,
    Fields(form): Fields<VisibilityForm>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let dashboard = DashboardPage::change(request, &service, Tab::Pages).await?;
    let slug = slug_of(request)?;
    let to = visibility_named(&form.visibility)
        .ok_or_else(|| Refusal::invalid("visibility", "must be public, unlisted or private"))?;
    let change = VisibilityRequest { slug: slug.clone(), to, payment: None };
    let done = to.as_str();
    match service.set_visibility(&dashboard.caller, change).await.map_err(RefusedCall::from) {
        Ok(_) => Ok(found_at(&dashboard.path(&format!("/pages/{slug}?done={done}")))),
        Err(RefusedCall(refusal)) if lacks_credit(&refusal, request) => {
            Ok(found_at(&dashboard.path(&format!("/credit?page={slug}&visibility={done}"))))
        }
        Err(refused) => Err(refused),
    }
}

pub fn visibility_named(name: &str) -> Option<Visibility> {
    ALL.into_iter().find(|visibility| visibility.as_str() == name)
}

fn lacks_credit(refusal: &Refusal, request: &Request) -> bool {
    matches!(refusal, Refusal::PaymentRequired(_)) && accepts_html(request)
}

impl VisibilityControl {
    pub fn new(current: Visibility, price: Price) -> Self {
        let choice = |to| VisibilityChoice { to, name: name(to), text: text(to), is_current: to == current };
        Self { choices: ALL.map(choice), price: price_text(price) }
    }
}

fn price_text(price: Price) -> String {
    let month = Dollars(price.month);
    let cost =
        format!("Public is free. Unlisted and private cost {month} a month, paid from the account's credit.");
    if price.due.is_zero() { format!("{cost} This month is already paid.") } else { cost }
}

fn name(visibility: Visibility) -> &'static str {
    match visibility {
        Visibility::Public => "Public",
        Visibility::Unlisted => "Unlisted",
        Visibility::Private => "Private",
    }
}

fn text(visibility: Visibility) -> &'static str {
    match visibility {
        Visibility::Public => "Everyone can see it, and search engines can list it.",
        Visibility::Unlisted => "Anyone with the link can see it. Search engines are asked not to list it.",
        Visibility::Private => "Only people with the signed link can see it.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visibility_control_has_one_price_and_marks_the_current_choice() {
        let month = Micro::new(500_000);
        let public = VisibilityControl::new(Visibility::Public, Price { due: month, month });
        let current = public.choices.map(|choice| (choice.to.as_str(), choice.is_current));
        assert_eq!(current, [("public", true), ("unlisted", false), ("private", false)]);
        assert!(public.price.contains("$0.50 a month") && !public.price.contains("already paid"));
        let paid = VisibilityControl::new(Visibility::Private, Price { due: Micro::ZERO, month });
        assert!(paid.choices[2].is_current && paid.price.ends_with("This month is already paid."));
    }
}
