//! Joining an account as a person: the page behind an invite link, and its button. A signed-out visitor signs
//! in first and then comes back.

use askama::Template;
use domain::Role;
use poem::http::StatusCode;
use poem::web::{Data, Path};
use poem::{Request, Response, handler};
use service::{InviteOffer, Service};

use super::dashboard::arrival::{Arrival, How};
use super::names_of;
use crate::html::figures::Moment;
use crate::html::{NextPath, found, page, person_if_any};
use crate::http::caller;
use crate::http::refusal::RefusedCall;

#[derive(Template)]
#[template(path = "invite.html")]
struct InvitePage<'a> {
    handle: &'a str,
    /// The account's name, or its handle.
    label: &'a str,
    /// The names of the pages. Empty if there are none.
    named: String,
    /// The person who created the invite. `None`: an agent did.
    invited_by: Option<&'a str>,
    role: Role,
    expires_at: Moment,
    uses_left: u32,
    code: &'a str,
    signed_in_as: Option<&'a str>,
    is_member: bool,
}

impl<'a> InvitePage<'a> {
    fn new(offer: &'a InviteOffer) -> Self {
        let InviteOffer { invite, account, invited_by, artifacts } = offer;
        Self {
            handle: &account.handle,
            label: account.label(),
            named: names_of(artifacts),
            invited_by: invited_by.as_deref(),
            role: invite.role,
            expires_at: Moment(invite.expires_at),
            uses_left: invite.max_uses.saturating_sub(invite.uses),
            code: invite.code.as_str(),
            signed_in_as: None,
            is_member: false,
        }
    }

    fn heading(&self) -> String {
        match self.invited_by {
            Some(name) if self.label == self.handle => format!("Join {name}"),
            _ => format!("Join {}", self.label),
        }
    }

    fn person(&self) -> Option<&str> {
        self.signed_in_as
    }
}

#[handler]
pub async fn show(
    request: &Request,
    Path(code): Path<String>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let offer = service.open_invite(&code).await?;
    let person = person_if_any(request, &service).await?;
    let mut shown = InvitePage::new(&offer);
    if let Some(person) = &person {
        shown.signed_in_as = Some(&person.username);
        let memberships = service.memberships(person).await?;
        shown.is_member = memberships.iter().any(|one| one.account.id == offer.account.id);
    }
    page(StatusCode::OK, &shown)
}

#[handler]
pub async fn join(
    request: &Request,
    Path(code): Path<String>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let person = caller::person(request, &service).await?;
    let handle = service.join(&person, &code).await?;
    Ok(Arrival::set_on(found(&NextPath::dashboard()), &handle, How::Joined, service.addresses()))
}

#[cfg(test)]
pub fn samples() -> Vec<(String, String)> {
    let sample = || InvitePage {
        handle: "acct_k3x9m2",
        label: "Design team",
        named: "demo-deck and 1 more".into(),
        invited_by: Some("olga"),
        role: Role::Member,
        expires_at: Moment(domain::Time::from_millis(1_790_000_000_000)),
        uses_left: 1,
        code: "abc",
        signed_in_as: None,
        is_member: false,
    };
    let unnamed = InvitePage { label: "acct_k3x9m2", ..sample() };
    let by_agent =
        InvitePage { invited_by: None, label: "acct_k3x9m2", named: String::new(), uses_left: 3, ..sample() };
    let signed_in = InvitePage { role: Role::Admin, signed_in_as: Some("ada"), ..sample() };
    let member = InvitePage { is_member: true, signed_in_as: Some("ada"), ..sample() };
    vec![
        ("invite-member".into(), member.render().unwrap()),
        ("invite".into(), sample().render().unwrap()),
        ("invite-unnamed".into(), unnamed.render().unwrap()),
        ("invite-by-agent".into(), by_agent.render().unwrap()),
        ("invite-signed-in".into(), signed_in.render().unwrap()),
    ]
}
