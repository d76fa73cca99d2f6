//! The account's tokens: listed without their secrets, created, given a new secret and revoked. A secret is
//! shown once, on the page after the form that created it, which is never cached. Reloading that page creates
//! no second token.

use std::collections::HashMap;
use std::net::IpAddr;

use askama::Template;
use domain::{
    AskedRights, List, Maker, Missing, Page, Refusal, Scope, Slug, Time, Token, TokenId, TokenName, UserId,
};
use poem::web::Data;
use poem::{Request, Response, handler};
use serde::{Deserialize, Serialize};
use service::{MintRequest, Minted, Service, TokenFate};

use super::ledger::Slugs;
use super::mint_form::{DAYS_OFFERED, MintForm, PresetChoice, ScopeChoice, preset_name};
use super::page::{DashboardPage, Frame, Tab, render_page, to_show, to_sign_in};
use super::pager::{Pager, page_of};
use super::question::{Question, QuestionOption};
use super::team::{maker_label, names_of};
use crate::html::ago::Ago;
use crate::html::faults::Faults;
use crate::html::fields::Fields;
use crate::html::found_at;
use crate::http::refusal::RefusedCall;
use crate::pages::result_notes;

const MINT_FIELDS: &[&str] = &["name", "scopes", "page", "days"];
/// With more pages than these, the name is typed instead of chosen from a menu.
const PAGES_OFFERED_MAX: u32 = 100;

#[derive(Template)]
#[template(path = "dashboard/tokens.html")]
pub struct TokensPage<'a> {
    pub frame: &'a Frame,
    pub minted: Option<MintedTokenBox>,
    pub tokens: Vec<TokenRow>,
    pub pager: Option<Pager>,
    pub presets: Vec<PresetChoice>,
    /// The scopes to choose from instead of a preset.
    pub scopes: Vec<ScopeChoice>,
    /// The newest pages, to which a token can be pinned.
    pub slugs: Vec<Slug>,
    /// Whether `slugs` has every page. If not, the person types the page's name.
    pub offers_every_page: bool,
    pub days_offered: &'static [u32],
    pub form: MintForm,
    pub faults: Faults,
}

/// A token with its new secret, shown once.
#[derive(Serialize, Deserialize)]
pub struct MintedTokenBox {
    pub name: String,
    pub done: SecretChange,
    pub secret: String,
}

/// Why a token has a new secret.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretChange {
    Created,
    Replaced,
}

impl SecretChange {
    /// What was done, after the token's name.
    fn text(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Replaced => "has a new secret",
        }
    }
}

pub struct TokenRow {
    /// Identifies the token in the API, the shell and the audit log.
    pub id: String,
    /// The beginning of the secret.
    pub secret_start: Option<String>,
    pub name: String,
    pub scopes: String,
    pub preset: Option<&'static str>,
    /// The only page that the token is pinned to.
    pub page: Option<String>,
    pub made_by: String,
    pub last_used_at: Option<Ago>,
    pub last_used_from: Option<IpAddr>,
    pub expires_at: Option<Ago>,
    /// Shown to those who may revoke the token.
    pub revoke: Option<Question>,
    /// The path of the question whether to replace the secret, for those who may.
    pub rotate: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct RevokeForm {
    with_minted: bool,
}

/// What the page shows besides the lists.
struct TokenContext {
    minted: Option<MintedTokenBox>,
    form: MintForm,
    refusal: Option<Refusal>,
}

impl TokenContext {
    fn fresh(minted: Option<MintedTokenBox>) -> Self {
        Self { minted, form: MintForm::fresh(), refusal: None }
    }
}

#[handler]
pub async fn show(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let Some(dashboard) = DashboardPage::begin(request, &service, Tab::Tokens).await? else {
        return Ok(to_sign_in(request));
    };
    let minted = result_notes::kept_secret(request, dashboard.person.user, &service);
    let is_shown_now = minted.is_some();
    let page = render(request, &service, &dashboard, TokenContext::fresh(minted)).await?;
    Ok(if is_shown_now { result_notes::clear_token(page, request, &service) } else { page })
}

#[handler]
pub async fn mint(
    request: &Request,
    Fields(form): Fields<MintForm>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let dashboard = DashboardPage::change(request, &service, Tab::Tokens).await?;
    match minted(&dashboard, &form, &service).await {
        Ok(minted) => Ok(to_secret(&MintedTokenBox::of(minted, SecretChange::Created), &dashboard, &service)),
        Err(refused) => {
            let again = TokenContext { minted: None, form, refusal: Some(to_show(refused, request)?) };
            render(request, &service, &dashboard, again).await
        }
    }
}

async fn minted(
    dashboard: &DashboardPage,
    form: &MintForm,
    service: &Service,
) -> Result<Minted, RefusedCall> {
    let name = match form.name.trim() {
        "" => None,
        name => Some(name.parse::<TokenName>().map_err(|fault| Refusal::invalid("name", fault.to_string()))?),
    };
    let scopes = form.scopes(dashboard.caller.scopes())?;
    let pinned_to = match form.page.as_str() {
        "" => None,
        slug => {
            let slug = slug.parse().map_err(|_| Refusal::invalid("page", "is not a page of this account"))?;
            Some(service.artifact_alone(&dashboard.caller, &slug).await?.id)
        }
    };
    let expires_at = form.end(service.clock().now())?;
    let rights = AskedRights { scopes: Some(scopes), pinned_to, expires_at };
    Ok(service.mint(&dashboard.caller, MintRequest { name, rights }).await?)
}

#[handler]
pub async fn ask_to_revoke(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    ask(request, &service, offered_revocation).await
}

#[handler]
pub async fn ask_to_rotate(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    ask(request, &service, offered_rotation).await
}

/// The page with a question about a token, if this person may change it.
async fn ask(
    request: &Request,
    service: &Service,
    offered: impl FnOnce(&Token, &DashboardPage) -> Option<Question>,
) -> Result<Response, RefusedCall> {
    let Some(dashboard) = DashboardPage::begin(request, service, Tab::Tokens).await? else {
        return Ok(to_sign_in(request));
    };
    let id = token_of(request)?;
    let tokens = service.team_tokens(&dashboard.caller, &Page::whole()).await?.rows;
    let found = tokens.iter().find(|token| token.id == id);
    let token = found.ok_or(Refusal::NotFound(Missing::Token))?;
    let fault = || "your role does not allow this for this token".to_owned();
    let question = offered(token, &dashboard).ok_or_else(|| Refusal::Forbidden { fault: fault() })?;
    question.render(request, service, &dashboard.frame, &dashboard.path("/tokens"))
}

#[handler]
pub async fn revoke(
    request: &Request,
    Fields(form): Fields<RevokeForm>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let dashboard = DashboardPage::change(request, &service, Tab::Tokens).await?;
    let (minted, done) = if form.with_minted {
        (TokenFate::Revoke, "token-revoked-with-minted")
    } else {
        (TokenFate::Keep, "token-revoked")
    };
    service.revoke_token(&dashboard.caller, id_in(request), minted).await?;
    Ok(found_at(&dashboard.path(&format!("/tokens?done={done}"))))
}

/// Replaces the secret of a token, and shows the new one.
#[handler]
pub async fn rotate(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let dashboard = DashboardPage::change(request, &service, Tab::Tokens).await?;
    let rotated = service.rotate_token(&dashboard.caller, id_in(request)).await?;
    Ok(to_secret(&MintedTokenBox::of(rotated, SecretChange::Replaced), &dashboard, &service))
}

/// Redirects to the page that shows the secret.
fn to_secret(minted: &MintedTokenBox, dashboard: &DashboardPage, service: &Service) -> Response {
    let path = dashboard.path("/tokens");
    result_notes::keep_secret(found_at(&path), minted, &path, dashboard.person.user, service)
}

async fn render(
    request: &Request,
    service: &Service,
    dashboard: &DashboardPage,
    beside: TokenContext,
) -> Result<Response, RefusedCall> {
    let members = service.members(&dashboard.caller, &Page::whole()).await?.rows;
    let page = page_of(request, List::Tokens)?;
    let tokens = service.team_tokens(&dashboard.caller, &page).await?;
    let pins: Vec<_> = tokens.rows.iter().filter_map(|token| token.rights.pinned_to).collect();
    let slugs = Slugs::new(service.slugs(&dashboard.caller, &pins).await?);
    let artifacts = service.artifacts(&dashboard.caller, &Page::first(PAGES_OFFERED_MAX)).await?;
    let names = names_of(&members);
    let minters = service.minters_of(&dashboard.caller, &tokens.rows).await?;
    let now = service.clock().now();
    let row = |token| TokenRow::new(token, &minters, &names, &slugs, dashboard, now);
    let TokenContext { minted, form, refusal } = beside;
    let faults = refusal.as_ref().map(|refusal| faults(refusal, &dashboard.path("/tokens")));
    let template = TokensPage {
        frame: &dashboard.frame,
        minted,
        tokens: tokens.rows.iter().map(row).collect(),
        pager: Pager::of(&page, &tokens, &dashboard.path("/tokens"), "tokens"),
        presets: form.presets(dashboard.caller.scopes()),
        scopes: form.scope_choices(dashboard.caller.scopes()),
        offers_every_page: artifacts.next.is_none(),
        slugs: artifacts.rows.into_iter().map(|artifact| artifact.slug).collect(),
        days_offered: &DAYS_OFFERED,
        form,
        faults: faults.unwrap_or_default(),
    };
    render_page(request, service, refusal.as_ref(), &template)
}

/// Some refusals name no field, although one field is at fault.
pub fn faults(refusal: &Refusal, path: &str) -> Faults {
    match refusal {
        Refusal::InsufficientScope(_) => {
            Faults::beside_field("scopes", "Your role does not allow all of these scopes. Select fewer.")
        }
        Refusal::NotFound(Missing::Artifact) => {
            Faults::beside_field("page", "This page no longer exists. Choose another.")
        }
        refusal => Faults::of(refusal, MINT_FIELDS, path),
    }
}

impl MintedTokenBox {
    fn of(minted: Minted, done: SecretChange) -> Self {
        let name = minted.token.name.without_code().to_string();
        Self { name, done, secret: minted.secret.reveal() }
    }
}

impl TokenRow {
    pub fn new(
        token: &Token,
        minters: &HashMap<TokenId, TokenName>,
        names: &HashMap<UserId, String>,
        slugs: &Slugs,
        dashboard: &DashboardPage,
        now: Time,
    ) -> Self {
        let page = |id| slugs.find(id).map_or_else(|| "a deleted page".to_owned(), Slug::to_string);
        Self {
            id: token.id.to_string(),
            secret_start: token.secret_start.clone(),
            name: token.name.without_code().to_string(),
            scopes: token.rights.scopes.to_string(),
            preset: preset_name(token.rights.scopes),
            page: token.rights.pinned_to.map(page),
            made_by: maker_text(token, minters, names),
            last_used_at: token.last_used_at.map(|at| Ago::new(at, now)),
            last_used_from: token.last_used_from,
            expires_at: token.renewable_until.or(token.rights.expires_at).map(|at| Ago::new(at, now)),
            revoke: offered_revocation(token, dashboard),
            rotate: offered_rotation(token, dashboard).map(|question| question.path),
        }
    }
}

/// Who created a token, and with which of the account's tokens.
fn maker_text(
    token: &Token,
    minters: &HashMap<TokenId, TokenName>,
    names: &HashMap<UserId, String>,
) -> String {
    let Maker { user, token: minter } = token.made_by;
    let with = minter.map(|minter| format!("with {}", minter_label(minter, minters)));
    match (user, with) {
        (_, None) => maker_label(token.made_by, names),
        (Some(_), Some(with)) => format!("{}, {with}", maker_label(token.made_by, names)),
        (None, Some(with)) => format!("an agent {with}"),
    }
}

/// The name of the token that created another. A token that is no longer in the database has none.
pub fn minter_label(minter: TokenId, minters: &HashMap<TokenId, TokenName>) -> String {
    let name = minters.get(&minter);
    name.map_or_else(|| "another token".to_owned(), |name| name.without_code().to_string())
}

fn token_of(request: &Request) -> Result<TokenId, Refusal> {
    id_in(request).parse().map_err(|_| Refusal::NotFound(Missing::Token))
}

fn id_in(request: &Request) -> &str {
    request.raw_path_param("id").unwrap_or_default()
}

/// The question, if this person may revoke the token.
fn offered_revocation(token: &Token, dashboard: &DashboardPage) -> Option<Question> {
    let may_revoke = dashboard.frame.leads() || token.made_by.user == Some(dashboard.person.user);
    may_revoke.then(|| revocation(token, &dashboard.frame))
}

/// The question, if this person may revoke the token and mint one like it. An app renews its token itself.
fn offered_rotation(token: &Token, dashboard: &DashboardPage) -> Option<Question> {
    let may_mint = dashboard.caller.scopes().contains(token.rights.scopes);
    let may_revoke = offered_revocation(token, dashboard).is_some();
    let may_rotate = may_mint && may_revoke && token.renewable_until.is_none();
    may_rotate.then(|| rotation(token, &dashboard.frame))
}

pub fn revocation(token: &Token, frame: &Frame) -> Question {
    let name = token.name.without_code();
    Question {
        id: format!("revoke-{}", token.id),
        path: frame.path(&format!("/tokens/{}/revoke", token.id)),
        verb: "Revoke",
        subject: format!("the token {name}"),
        title: format!("Revoke the token {name}?"),
        text: "Programs that use this token lose access at once. Pages that they published stay. This cannot be undone."
            .to_owned(),
        keep: "Cancel",
        option: may_have_minted(token).then_some(QuestionOption {
            field: "with_minted",
            label: if frame.leads() {
                "Also revoke the tokens and invites that it created"
            } else {
                "Also revoke the tokens that it created"
            },
            is_checked: true,
        }),
    }
}

pub fn rotation(token: &Token, frame: &Frame) -> Question {
    let name = token.name.without_code();
    Question {
        id: format!("rotate-{}", token.id),
        path: frame.path(&format!("/tokens/{}/rotate", token.id)),
        verb: "Replace secret",
        subject: format!("of the token {name}"),
        title: format!("Replace the secret of {name}?"),
        text: format!(
            "The token gets a new secret, which is shown once. The old secret stops working at once. Name, \
             scopes and expiry stay, and the token is then listed as yours.{}",
            if may_have_minted(token) {
                " Tokens and invites that it created keep working: if the secret leaked, revoke the token instead."
            } else {
                ""
            }
        ),
        keep: "Cancel",
        option: None,
    }
}

/// Whether the token can create others, or invite agents that get one.
fn may_have_minted(token: &Token) -> bool {
    [Scope::TokensManage, Scope::AccountManage].into_iter().any(|scope| token.rights.scopes.has(scope))
}
