//! The account's team: members, invites, and whether agents may join.

use std::collections::HashMap;

use askama::Template;
use domain::link::Addresses;
use domain::{Invite, InviteTerms, List, Missing, Page, Paged, Refusal, Role, Time, UserId};
use poem::web::Data;
use poem::{Request, Response, handler};
use serde::Deserialize;
use service::{AccountSettings, AgentJoin, Member, Service};

use super::page::{DashboardPage, Frame, Tab, render_page, to_show, to_sign_in};
use super::pager::{Pager, page_of};
use super::question::Question;
use crate::html::ago::Ago;
use crate::html::faults::Faults;
use crate::html::fields::Fields;
use crate::html::found_at;
use crate::http::refusal::RefusedCall;

pub const INVITE_FIELDS: &[&str] = &["role", "max_uses", "ttl_hours"];

#[derive(Template)]
#[template(path = "dashboard/team.html")]
pub struct TeamPage<'a> {
    pub frame: &'a Frame,
    pub members: Vec<MemberRow>,
    /// Usable invites, newest first.
    pub invites: Vec<InviteRow>,
    pub past_invites: Vec<InviteRow>,
    /// The pages of all invites, usable or not.
    pub pager: Option<Pager>,
    pub form: InviteForm,
    pub faults: Faults,
    pub do_agents_join: bool,
}

pub struct MemberRow {
    pub username: String,
    pub role: Role,
    pub joined_at: Ago,
    pub is_self: bool,
    /// Shown to those who may remove the member.
    pub remove: Option<Question>,
}

pub struct InviteRow {
    pub code: String,
    pub url: String,
    pub role: Role,
    pub uses: u32,
    pub max_uses: u32,
    pub made_by: String,
    pub expires_at: Ago,
    /// Why the invite is no longer usable.
    pub end: Option<&'static str>,
    pub revoke: Question,
}

#[derive(Clone, Deserialize)]
#[serde(default)]
pub struct InviteForm {
    pub role: String,
    pub max_uses: String,
    pub ttl_hours: String,
}

impl Default for InviteForm {
    fn default() -> Self {
        Self {
            role: Role::Member.to_string(),
            max_uses: InviteTerms::USES.to_string(),
            ttl_hours: InviteTerms::TTL_HOURS.to_string(),
        }
    }
}

#[handler]
pub async fn show(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let Some(dashboard) = DashboardPage::begin(request, &service, Tab::Team).await? else {
        return Ok(to_sign_in(request));
    };
    render(request, &service, &dashboard, InviteForm::default(), None).await
}

#[handler]
pub async fn make_invite(
    request: &Request,
    Fields(form): Fields<InviteForm>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let dashboard = DashboardPage::change(request, &service, Tab::Team).await?;
    match invited(&dashboard, &form, &service).await {
        Ok(()) => Ok(found_at(&dashboard.path("/team?done=invited"))),
        // A person who may not invite sees no form, so the refusal gets a page of its own.
        Err(refused) if !dashboard.frame.leads() => Err(refused),
        Err(refused) => {
            let refusal = to_show(refused, request)?;
            render(request, &service, &dashboard, form, Some(&refusal)).await
        }
    }
}

async fn invited(dashboard: &DashboardPage, form: &InviteForm, service: &Service) -> Result<(), RefusedCall> {
    let role = form.role.parse().map_err(|_| Refusal::invalid("role", "must be member or admin"))?;
    let number = |field: &'static str, text: &str| {
        text.trim().parse::<u32>().map_err(|_| Refusal::invalid(field, "must be a whole number"))
    };
    let (uses, hours) = (number("max_uses", &form.max_uses)?, number("ttl_hours", &form.ttl_hours)?);
    let terms = InviteTerms::new(Some(role), Some(uses), Some(hours)).map_err(with_field)?;
    service.invite(&dashboard.caller, terms).await?;
    Ok(())
}

/// A refusal that begins with a field's name, as a refusal of that field.
fn with_field(refusal: Refusal) -> Refusal {
    match &refusal {
        Refusal::InvalidBody { fault } => match fault.split_once(' ') {
            Some((field, fault)) if INVITE_FIELDS.contains(&field) => Refusal::invalid(field, fault),
            _ => refusal,
        },
        _ => refusal,
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct AgentJoinForm {
    allow: String,
}

#[handler]
pub async fn set_agent_join(
    request: &Request,
    Fields(form): Fields<AgentJoinForm>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let dashboard = DashboardPage::change(request, &service, Tab::Team).await?;
    let (agent_join, done) = match form.allow.as_str() {
        "true" => (AgentJoin::Allowed, "agents-join"),
        "false" => (AgentJoin::Disabled, "agents-stay-out"),
        _ => return Err(Refusal::invalid("allow", "must be true or false").into()),
    };
    let settings = AccountSettings { agent_join: Some(agent_join), ..Default::default() };
    service.change_account(&dashboard.caller, settings).await?;
    Ok(found_at(&dashboard.path(&format!("/team?done={done}"))))
}

#[handler]
pub async fn ask_to_revoke(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let Some(dashboard) = DashboardPage::begin(request, &service, Tab::Team).await? else {
        return Ok(to_sign_in(request));
    };
    let code = request.raw_path_param("code").unwrap_or_default();
    if service.invite_of(&dashboard.caller, code).await?.revoked_at.is_some() {
        return Err(Refusal::NotFound(Missing::Invite).into());
    }
    let back = dashboard.path("/team");
    revocation(code, &dashboard.frame).render(request, &service, &dashboard.frame, &back)
}

#[handler]
pub async fn revoke(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let dashboard = DashboardPage::change(request, &service, Tab::Team).await?;
    let code = request.raw_path_param("code").unwrap_or_default();
    service.revoke_invite(&dashboard.caller, code).await?;
    Ok(found_at(&dashboard.path("/team?done=invite-revoked")))
}

#[handler]
pub async fn ask_to_remove(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let Some(dashboard) = DashboardPage::begin(request, &service, Tab::Team).await? else {
        return Ok(to_sign_in(request));
    };
    let id = member_of(request)?;
    let members = service.members(&dashboard.caller, &Page::whole()).await?.rows;
    let found = members.iter().find(|member| member.user == id);
    let member = found.ok_or(Refusal::NotFound(Missing::Member))?;
    let question = offered_removal(member, &dashboard).ok_or_else(|| Refusal::Forbidden {
        fault: "only admins and the owner can remove others, and the owner cannot be removed".to_owned(),
    })?;
    let back = dashboard.path("/team");
    question.render(request, &service, &dashboard.frame, &back)
}

/// Removes a member, or lets the person leave.
#[handler]
pub async fn remove(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let dashboard = DashboardPage::change(request, &service, Tab::Team).await?;
    let (removed, _) = service.remove_member(&dashboard.caller, id_in(request)).await?;
    let is_self = removed == dashboard.person.user;
    Ok(found_at(&if is_self {
        "/dashboard?done=left".to_owned()
    } else {
        dashboard.path("/team?done=removed")
    }))
}

async fn render(
    request: &Request,
    service: &Service,
    dashboard: &DashboardPage,
    form: InviteForm,
    refusal: Option<&Refusal>,
) -> Result<Response, RefusedCall> {
    let members = service.members(&dashboard.caller, &Page::whole()).await?.rows;
    let page = page_of(request, List::Invites)?;
    let leads = dashboard.frame.leads();
    let invites = if leads { service.invites(&dashboard.caller, &page).await? } else { Paged::empty() };
    let pager = Pager::of(&page, &invites, &dashboard.path("/team"), "invites");
    let do_agents_join = service.account(&dashboard.caller).await?.account.allow_agent_join;
    let now = service.clock().now();
    let names = names_of(&members);
    let rows = invites
        .rows
        .iter()
        .map(|invite| InviteRow::new(invite, &names, now, &dashboard.frame, service.addresses()));
    let (invites, past_invites) = rows.partition(|row| row.end.is_none());
    let members = members.iter().map(|member| MemberRow::new(member, dashboard, now)).collect();
    let faults = refusal.map(|refusal| Faults::of(refusal, INVITE_FIELDS, &dashboard.path("/team")));
    let (frame, faults) = (&dashboard.frame, faults.unwrap_or_default());
    let template = TeamPage { frame, members, invites, past_invites, pager, form, faults, do_agents_join };
    render_page(request, service, refusal, &template)
}

fn member_of(request: &Request) -> Result<UserId, Refusal> {
    id_in(request).parse().map_err(|_| Refusal::NotFound(Missing::Member))
}

fn id_in(request: &Request) -> &str {
    request.raw_path_param("id").unwrap_or_default()
}

/// The usernames of a team, by user id.
pub fn names_of(members: &[Member]) -> HashMap<UserId, String> {
    members.iter().map(|member| (member.user, member.username.clone())).collect()
}

/// The name of a token's or an invite's creator: a member or an agent.
pub fn maker_label(made_by: domain::Maker, names: &HashMap<UserId, String>) -> String {
    match made_by.user {
        Some(user) => names.get(&user).cloned().unwrap_or_else(|| "a former member".to_owned()),
        None => "an agent".to_owned(),
    }
}

impl MemberRow {
    pub fn new(member: &Member, dashboard: &DashboardPage, now: Time) -> Self {
        let is_self = member.user == dashboard.person.user;
        Self {
            username: member.username.clone(),
            role: member.role,
            joined_at: Ago::new(member.joined_at, now),
            is_self,
            remove: offered_removal(member, dashboard),
        }
    }
}

impl InviteRow {
    pub fn new(
        invite: &Invite,
        names: &HashMap<UserId, String>,
        now: Time,
        frame: &Frame,
        addresses: &Addresses,
    ) -> Self {
        let code = invite.code.as_str();
        let end = invite.must_be_usable(now).err().map(|refusal| match refusal {
            Refusal::InviteRevoked => "revoked",
            Refusal::InviteUsedUp => "used up",
            _ => "expired",
        });
        Self {
            code: code.to_owned(),
            url: addresses.invite(code),
            role: invite.role,
            uses: invite.uses,
            max_uses: invite.max_uses,
            made_by: maker_label(invite.made_by, names),
            expires_at: Ago::new(invite.expires_at, now),
            end,
            revoke: revocation(code, frame),
        }
    }
}

pub fn revocation(code: &str, frame: &Frame) -> Question {
    Question {
        id: format!("revoke-{code}"),
        path: frame.path(&format!("/team/invites/{code}/revoke")),
        verb: "Revoke",
        subject: "the invite".to_owned(),
        title: "Revoke the invite?".to_owned(),
        text: "Its link stops working at once. People who have joined stay. This cannot be undone, but you can create a \
                new invite."
            .to_owned(),
        keep: "Cancel",
        option: None,
    }
}

/// The question, if this person may remove the member or leave.
fn offered_removal(member: &Member, dashboard: &DashboardPage) -> Option<Question> {
    let may_go = member.user == dashboard.person.user || dashboard.frame.leads();
    (may_go && member.role != Role::Owner).then(|| removal(member, dashboard))
}

pub fn removal(member: &Member, dashboard: &DashboardPage) -> Question {
    let (is_self, frame) = (member.user == dashboard.person.user, &dashboard.frame);
    let (verb, subject, title, who) = if is_self {
        ("Leave", frame.handle.clone(), format!("Leave {}?", frame.handle), "You lose".to_owned())
    } else {
        let name = &member.username;
        ("Remove", name.clone(), format!("Remove {name}?"), format!("{name} loses"))
    };
    let maker = if is_self { "you" } else { "they" };
    Question {
        id: format!("remove-{}", member.user),
        path: frame.path(&format!("/team/members/{}/remove", member.user)),
        verb,
        subject,
        title,
        text: format!(
            "{who} access to the account at once, and every token and active invite that {maker} created is revoked. \
             Pages stay. Only a new invite restores access."
        ),
        keep: "Cancel",
        option: None,
    }
}
