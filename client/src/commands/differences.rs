//! `handbill diff`: prints a unified diff, or with --json the files that differ.

use std::io::{self, IsTerminal};

use domain::Slug;

use super::artifacts::{detail_of, version_before};
use crate::context::Context;
use crate::failure::Failure;
use crate::request::Request;

const DIFF: &str = "text/x-diff";

pub async fn diff(context: &Context, slug: &Slug, from: Option<u32>, to: Option<u32>) -> Result<(), Failure> {
    let server = context.server()?;
    let from = match from {
        Some(from) => from,
        None => version_before(&detail_of(&server, slug).await?).ok_or_else(|| {
            let hint = format!("name two versions: `handbill versions {slug}` lists them");
            Failure::usage(format!("{slug} has no version before the live one"), hint)
        })?,
    };
    let to = to.map_or_else(|| "live".to_owned(), |to| to.to_string());
    let request = Request::get(format!("/v1/artifacts/{slug}/diff?from={from}&to={to}"));
    if context.options.json {
        context.console.print(&server.call(&request).await?.body);
        return Ok(());
    }
    let text = server.call(&request.accepting(DIFF)).await?.body;
    if text.is_empty() {
        context.console.note("The versions have the same files.");
    }
    // A program such as `git apply` needs the bytes as they are.
    context.console.print(&if io::stdout().is_terminal() { harmless_lines(&text) } else { text });
    Ok(())
}

/// Without the control characters that a terminal would interpret.
fn harmless_lines(text: &str) -> String {
    text.chars().filter(|character| !character.is_control() || matches!(character, '\n' | '\t')).collect()
}
