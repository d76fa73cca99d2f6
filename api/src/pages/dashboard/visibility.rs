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

/// A visibility that the page does not have, with its button.
pub struct VisibilityChoice {
    pub to: Visibility,
    pub button: String,
    pub text: &'static str,
}

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
    let all = [Visibility::Public, Visibility::Unlisted, Visibility::Private];
    all.into_iter().find(|visibility| visibility.as_str() == name)
}

fn lacks_credit(refusal: &Refusal, request: &Request) -> bool {
    matches!(refusal, Refusal::PaymentRequired(_)) && accepts_html(request)
}

/// The visibilities that the page does not have.
pub fn choices(now: Visibility, price: Price) -> Vec<VisibilityChoice> {
    let others = [Visibility::Public, Visibility::Unlisted, Visibility::Private];
    let others = others.into_iter().filter(|to| *to != now);
    others.map(|to| VisibilityChoice { to, button: button(now, to, price), text: text(to) }).collect()
}

fn button(now: Visibility, to: Visibility, price: Price) -> String {
    let (name, month) = (to.as_str(), Dollars(price.month));
    match (now, to) {
        (_, Visibility::Public) => "Make public (free)".to_owned(),
        (Visibility::Public, _) if price.due.is_zero() => {
            format!("Make {name} (this month is already paid, then {month} a month)")
        }
        (Visibility::Public, _) => format!("Make {name} ({month} a month)"),
        _ => format!("Make {name} (still {month} a month)"),
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
    fn visibility_buttons_show_the_price() {
        let month = Micro::new(500_000);
        let buttons = |now, due| {
            let choices = choices(now, Price { due, month }).into_iter();
            choices.map(|choice| choice.button).collect::<Vec<_>>()
        };
        assert_eq!(
            buttons(Visibility::Public, month),
            ["Make unlisted ($0.50 a month)", "Make private ($0.50 a month)"]
        );
        assert_eq!(
            buttons(Visibility::Public, Micro::ZERO)[1],
            "Make private (this month is already paid, then $0.50 a month)"
        );
        assert_eq!(
            buttons(Visibility::Unlisted, Micro::ZERO),
            ["Make public (free)", "Make private (still $0.50 a month)"]
        );
    }
}
