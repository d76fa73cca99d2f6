//! `handbill tokens`. A new token is printed once, because it is not stored. No other secret is ever printed.

use domain::Slug;
use reqwest::Method;
use serde_json::{Map, Value};

use super::path_part;
use crate::command::{Mint, Tokens};
use crate::context::Context;
use crate::failure::Failure;
use crate::request::Request;
use crate::server::Server;
use crate::show::{Fit, count, or_nothing, table, when, when_ever};
use crate::wire::{ArtifactDetail, MintedToken, RevokedToken, Token};

pub async fn run(context: &Context, command: Option<Tokens>) -> Result<(), Failure> {
    match command {
        None | Some(Tokens::List) => list(context).await,
        Some(Tokens::Mint(args)) => mint(context, args).await,
        Some(Tokens::Revoke { id, with_minted }) => revoke(context, &id, with_minted).await,
    }
}

async fn list(context: &Context) -> Result<(), Failure> {
    let reply = context.server()?.get("/v1/tokens").await?;
    let now = context.clock.now();
    context.console.print_reply(&reply, |tokens: Vec<Token>| {
        let rows = tokens.into_iter().map(|token| {
            let used = when_ever(token.last_used_at.as_deref(), now);
            let expires = when_ever(token.expires_at.as_deref(), now);
            let created = when(&token.created_at, now);
            [token.id, token.name, token.scopes, or_nothing(token.artifact_id), created, used, expires]
        });
        let names = ["ID", "NAME", "SCOPES", "PAGE", "CREATED", "USED", "EXPIRES"];
        let fit =
            Fit { shortened: Some("SCOPES"), left_out: &["CREATED", "PAGE", "SCOPES", "EXPIRES", "USED"] };
        table(names, fit, rows, "No tokens.")
    })
}

async fn mint(context: &Context, args: Mint) -> Result<(), Failure> {
    let server = context.server()?;
    let expires_at = args.expires_at.or_else(|| Some(context.clock.now().plus(args.expires_in?)));
    let pin = match &args.slug {
        Some(slug) => Some(id_of(&server, slug).await?),
        None => None,
    };
    let fields = [
        ("name", args.name),
        ("scopes", args.scopes),
        ("artifact_id", pin),
        ("expires_at", expires_at.map(|moment| moment.rfc3339())),
    ];
    let fields =
        fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), Value::String(value?))));
    let body = Value::Object(fields.collect::<Map<_, _>>());
    let reply = server.call(&Request::make("/v1/tokens").json(body)).await?;
    context.console.print_reply(&reply, |minted: MintedToken| minted.token)?;
    let minted: MintedToken = reply.read()?;
    let expires = match &minted.minted.expires_at {
        Some(at) => format!("It expires {}.", when(at, context.clock.now())),
        None => "It does not expire.".to_owned(),
    };
    context.console.note(&format!(
        "{} has the scopes {}. {expires} The token is not shown again.",
        minted.minted.name, minted.minted.scopes
    ));
    Ok(())
}

async fn id_of(server: &Server, slug: &Slug) -> Result<String, Failure> {
    let detail: ArtifactDetail = server.get(&format!("/v1/artifacts/{slug}")).await?.read()?;
    Ok(detail.id)
}

async fn revoke(context: &Context, id: &str, with_minted: bool) -> Result<(), Failure> {
    let query = if with_minted { "?with_minted=true" } else { "" };
    let request = Request::set(Method::DELETE, format!("/v1/tokens/{}{query}", path_part(id)?));
    let reply = context.server()?.call(&request).await?;
    context.console.print_reply(&reply, |revoked: RevokedToken| {
        match (revoked.minted_revoked, revoked.invites_revoked) {
            (Some(tokens), Some(invites)) => format!(
                "Revoked {}, and with it {} and {}.",
                revoked.id,
                count(tokens, "token", "tokens"),
                count(invites, "invite", "invites")
            ),
            _ => format!("Revoked {}", revoked.id),
        }
    })
}
