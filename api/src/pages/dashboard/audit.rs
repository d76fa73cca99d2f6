//! The account's audit log, as text.

use askama::Template;
use domain::{AuditEntry, List};
use poem::web::Data;
use poem::{Request, Response, handler};
use service::Service;

use super::page::{DashboardPage, Frame, Tab, render_page, to_sign_in};
use super::pager::{Pager, page_of};
use crate::html::figures::Moment;
use crate::http::refusal::RefusedCall;

#[derive(Template)]
#[template(path = "dashboard/audit.html")]
pub struct TrailPage<'a> {
    pub frame: &'a Frame,
    pub rows: Vec<TrailRow>,
    pub pager: Option<Pager>,
}

/// An entry of an audit trail.
pub struct TrailRow {
    pub at: Moment,
    pub text: &'static str,
    /// The name of the action in the API.
    pub action: String,
    pub subject: String,
    pub detail: String,
    pub actor: String,
    pub via: String,
    pub address: String,
}

#[handler]
pub async fn show(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let Some(dashboard) = DashboardPage::begin(request, &service, Tab::Audit).await? else {
        return Ok(to_sign_in(request));
    };
    let page = page_of(request, List::Audit)?;
    let entries = service.audit(&dashboard.caller, &page).await?;
    let pager = Pager::of(&page, &entries, &dashboard.path("/audit"), "entries");
    let rows = entries.rows.into_iter().map(TrailRow::new).collect();
    render_page(request, &service, None, &TrailPage { frame: &dashboard.frame, rows, pager })
}

impl TrailRow {
    pub fn new(entry: AuditEntry) -> Self {
        Self {
            at: Moment(entry.created_at),
            text: label(&entry.action),
            actor: match entry.token_name {
                Some(name) => format!("token {name}"),
                None => entry.actor,
            },
            via: entry.via.as_deref().map_or("–", via_label).to_owned(),
            address: entry.address.unwrap_or_else(|| "–".to_owned()),
            action: entry.action,
            subject: entry.subject,
            detail: entry.detail,
        }
    }
}

fn via_label(via: &str) -> &str {
    match via {
        "api" => "API",
        "mcp" => "MCP",
        "web" => "website",
        "cli" => "command line",
        "card-processor" => "card processor",
        via => via,
    }
}

fn label(action: &str) -> &'static str {
    match action {
        "account.claimed" => "Account claimed",
        "account.agent_join_set" => "Agent joining changed",
        "account.claim_link_rotated" => "Claim link replaced",
        "account.retention_set" | "artifact.retention_set" => "Kept versions changed",
        "account.named" => "Account renamed",
        "account.suspended" => "Account suspended",
        "account.suspension_lifted" => "Suspension lifted",
        "agent.joined" => "Agent joined",
        "artifact.activated" => "Version made live",
        "artifact.deleted" => "Page deleted",
        "artifact.private_link_rotated" => "Private link replaced",
        "artifact.renamed" => "Page renamed",
        "artifact.appealed" => "Moderation decision appealed",
        "artifact.published" => "Page published",
        "artifact.versions_deleted" => "Old versions deleted",
        "artifact.visibility_set" => "Visibility changed",
        "credit.added" => "Credit added",
        "credit.given" => "Credit given",
        "credit.refunded" => "Credit refunded",
        "credit.taken" => "Credit taken",
        "invite.made" => "Invite created",
        "invite.revoked" => "Invite revoked",
        "member.joined" => "Member joined",
        "member.removed" => "Member removed",
        "person.password_changed" => "Password changed",
        "person.registered" => "User account created",
        "person.session_ended" => "Session ended",
        "person.sign_in_failed" => "Sign-in failed",
        "person.signed_in" => "Signed in",
        "person.signed_out_everywhere" => "Signed out everywhere",
        "oauth.granted" => "App connected",
        "token.minted" => "Token created",
        "token.revoked" => "Token revoked",
        "token.rotated" => "Token secret replaced",
        "version.moderated" => "Page reviewed by a moderator",
        _ => "Other",
    }
}
