//! The visitor of the front page: signed in or not, and the account that the form publishes on.

use domain::Role;
use poem::Request;
use serde::Deserialize;
use service::{Person, Service};

use crate::html::figures::{Count, Dollars};
use crate::html::person_if_any;
use crate::http::refusal::RefusedCall;

/// Who looks at the page.
#[derive(Default)]
pub struct HomeVisitor {
    pub signed_in_as: Option<String>,
    /// The account that the form publishes on. `None`: a new one.
    pub account: Option<PublishingAccount>,
}

pub struct PublishingAccount {
    pub handle: String,
    /// The account's name, or its handle.
    pub label: String,
    /// All accounts of the person, including this one.
    pub choices: Vec<HomeAccountChoice>,
    pub free_left: Count,
    pub credit: Dollars,
}

pub struct HomeAccountChoice {
    pub handle: String,
    pub label: String,
    pub role: Role,
    pub is_current: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct HomeQuery {
    account: Option<String>,
}

/// The account that the address of the page or of its form names.
pub fn account_named(request: &Request) -> Option<String> {
    let HomeQuery { account } = request.params().unwrap_or_default();
    account
}

impl HomeVisitor {
    pub async fn of(request: &Request, service: &Service) -> Result<Self, RefusedCall> {
        let Some(person) = person_if_any(request, service).await? else { return Ok(Self::default()) };
        let named = account_named(request);
        let account = PublishingAccount::of(&person, named.as_deref(), service).await?;
        Ok(Self { signed_in_as: Some(person.username), account })
    }

    /// The address of the forms.
    pub fn action(&self) -> String {
        self.account.as_ref().map_or_else(|| "/".to_owned(), |own| format!("/?account={}", own.handle))
    }
}

impl PublishingAccount {
    /// The named account, or else the first one. `None` if the person has none.
    async fn of(
        person: &Person,
        named: Option<&str>,
        service: &Service,
    ) -> Result<Option<Self>, RefusedCall> {
        let memberships = service.memberships(person).await?;
        let is_named = |handle: &str| named.is_some_and(|named| handle == named);
        let chosen = memberships.iter().find(|one| is_named(&one.account.handle)).or(memberships.first());
        let Some(chosen) = chosen else { return Ok(None) };
        let handle = chosen.account.handle.clone();
        let caller = service.caller_of(person, Some(&handle)).await?;
        let summary = service.account(&caller).await?;
        let choices = memberships.iter().map(|one| HomeAccountChoice {
            handle: one.account.handle.clone(),
            label: one.account.label().to_owned(),
            role: one.role,
            is_current: one.account.handle == handle,
        });
        Ok(Some(Self {
            choices: choices.collect(),
            free_left: Count(service.tariff().free_publishes_left(summary.standing())),
            credit: Dollars(summary.account.balance),
            label: summary.account.label().to_owned(),
            handle,
        }))
    }

    pub fn is_free(&self) -> bool {
        self.free_left.0 > 0
    }
}

#[cfg(test)]
impl HomeVisitor {
    /// A person with this many accounts.
    pub fn sample(accounts: usize, free_left: u64) -> Self {
        let all = [("acct_k3x9m2", Role::Owner), ("acct_b7", Role::Member)];
        let choice = |(handle, role): &(&str, Role)| HomeAccountChoice {
            handle: (*handle).to_owned(),
            label: if *role == Role::Owner { "Design team".to_owned() } else { (*handle).to_owned() },
            role: *role,
            is_current: *handle == "acct_k3x9m2",
        };
        let account = (accounts > 0).then(|| PublishingAccount {
            handle: "acct_k3x9m2".into(),
            label: "Design team".into(),
            choices: all.iter().take(accounts).map(choice).collect(),
            free_left: Count(free_left),
            credit: Dollars(domain::Micro::new(1_250_000)),
        });
        Self { signed_in_as: Some("ada".into()), account }
    }
}
