//! The name of the account, on the Team tab.

use domain::{AccountName, Refusal};
use poem::web::Data;
use poem::{Request, Response, handler};
use serde::Deserialize;
use service::{AccountSettings, Service};

use super::page::{DashboardPage, Tab};
use crate::html::fields::Fields;
use crate::html::found_at;
use crate::http::refusal::RefusedCall;

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct NameForm {
    name: String,
}

/// An empty name takes the name away.
#[handler]
pub async fn set(
    request: &Request,
    Fields(form): Fields<NameForm>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let dashboard = DashboardPage::change(request, &service, Tab::Team).await?;
    let name = match form.name.trim() {
        "" => None,
        name => {
            Some(name.parse::<AccountName>().map_err(|fault| Refusal::invalid("name", fault.to_string()))?)
        }
    };
    let settings = AccountSettings { name: Some(name), ..Default::default() };
    service.change_account(&dashboard.caller, settings).await?;
    Ok(found_at(&dashboard.path("/team?done=named")))
}
