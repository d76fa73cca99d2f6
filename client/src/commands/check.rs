//! `handbill check`: the warnings of a publish, without a server.

use std::process::ExitCode;

use domain::{ContentPolicy, Leaks, Refusal, Warning, WarningCode, find_leaks};
use serde_json::json;
use sitecheck::Terms;

use super::content::{read_on_thread, show_left_out};
use crate::command::Check;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::show::harmless;
use crate::upload::{Content, Selection, SiteFile};
use crate::wire;

/// A site as servers serve it by default: below a path, without TLS.
const SITE_URL: &str = "http://127.0.0.1:8081/site/my-page-a1b2/";

pub async fn check(context: &Context, args: Check) -> Result<ExitCode, Failure> {
    let site_url = args.site_url.as_deref().unwrap_or(SITE_URL);
    // Operators may allow more hosts, which only the server knows.
    let policy = ContentPolicy {
        font_hosts: ContentPolicy::DEFAULT_FONT_HOSTS.map(str::to_owned).to_vec(),
        ..ContentPolicy::default()
    };
    let terms = Terms::new(site_url, policy).ok_or_else(|| {
        Failure::usage(
            "--site-url is not the URL of a site",
            "write it like https://my-page-a1b2.pages.example",
        )
    })?;
    let Content::Files(gathered) = read_on_thread(args.path, Selection::of(args.all_files)).await? else {
        return Err(Failure::usage("an archive cannot be checked", "unpack it and check the folder"));
    };
    show_left_out(context, &gathered);
    let warnings = warnings(&gathered.files, &terms)?;
    let is_fine = warnings.is_empty();
    context.console.print_result(&json!({ "warnings": warnings }), || {
        let lines: Vec<String> = warnings.iter().map(|warning| harmless(&warning.text())).collect();
        lines.join("\n")
    });
    if is_fine {
        context.console.note("No warnings.");
        return Ok(ExitCode::SUCCESS);
    }
    Ok(ExitCode::from(Exit::Other as u8))
}

fn warnings(files: &[SiteFile], terms: &Terms) -> Result<Vec<wire::Warning>, Refusal> {
    let files = || files.iter().map(|file| (&file.path, &*file.bytes));
    let Leaks { tokens, warnings: keys } = find_leaks(files())?;
    let tokens = tokens.into_iter().map(|token| Warning {
        code: WarningCode::Secret,
        path: token.path,
        line: token.line,
        target: None,
        message: "this looks like a token of a Handbill account".to_owned(),
        hint: "remove it; a publish with an active token is refused".to_owned(),
    });
    let all = tokens.chain(keys).chain(sitecheck::check(files(), terms));
    Ok(all.take(Warning::COUNT_MAX).map(wire::Warning::from).collect())
}
