//! One function per command: one or two API calls, and the output. Business rules belong to the service.

use std::process::ExitCode;

mod account;
mod artifacts;
mod check;
mod content;
mod credits;
mod deletions;
mod device;
mod differences;
mod download;
mod export;
mod folder;
mod invites;
mod members;
mod publish;
mod publisher;
mod sign_in;
mod tokens;
mod visibility;
mod watch;

use crate::command::Command;
use crate::console::ConsoleLine;
use crate::context::Context;
use crate::failure::Failure;
use crate::hints::Subject;
use crate::oauth;

pub async fn run(command: Command, context: &Context) -> Result<ExitCode, Failure> {
    let subject = Subject::of(&command);
    let takes_new_token =
        matches!(command, Command::Check(_) | Command::Signup | Command::Login(_) | Command::Join { .. });
    if !takes_new_token {
        oauth::renew_if_due(context).await?;
    }
    dispatch(command, context).await.map_err(|failure| match subject.hint(&failure.api_error.code) {
        Some(hint) => failure.hinting(hint),
        None => failure,
    })
}

async fn dispatch(command: Command, context: &Context) -> Result<ExitCode, Failure> {
    let done = match command {
        Command::Check(check) => return check::check(context, check).await,
        Command::Signup => sign_in::signup(context).await,
        Command::Login(login) => sign_in::login(context, login).await,
        Command::Join { code } => sign_in::join(context, code).await,
        Command::Whoami => sign_in::whoami(context).await,
        Command::Publish(publish) => publish::publish(context, publish).await,
        Command::List => artifacts::list(context).await,
        Command::Show(named) => artifacts::show(context, &named.slug).await,
        Command::Versions(named) => artifacts::versions(context, &named.slug).await,
        Command::Diff { named, from, to } => differences::diff(context, &named.slug, from, to).await,
        Command::Download(download) => download::download(context, download).await,
        Command::Rollback { named, version } => artifacts::rollback(context, &named.slug, version).await,
        Command::Activate { named, version } => artifacts::activate(context, &named.slug, version).await,
        Command::Visibility { named, visibility } => {
            visibility::set_visibility(context, &named.slug, visibility).await
        }
        Command::PrivateLink(named) => visibility::replace_link(context, &named.slug).await,
        Command::Delete { named, version: Some(version), .. } => {
            deletions::delete_version(context, &named.slug, version).await
        }
        Command::Delete { named, purge: true, .. } => deletions::purge(context, &named.slug).await,
        Command::Delete { named, .. } => artifacts::delete(context, &named.slug).await,
        Command::Undelete(named) => deletions::restore(context, &named.slug).await,
        Command::Open(named) => artifacts::open(context, &named.slug).await,
        Command::Account => account::account(context).await,
        Command::Usage => account::usage(context).await,
        Command::ClaimLink => account::claim_link(context).await,
        Command::Export { file } => export::export(context, file).await,
        Command::Credits { command, amount } => credits::run(context, command, amount).await,
        Command::Tokens { command } => tokens::run(context, command).await,
        Command::Invites { command } => invites::run(context, command).await,
        Command::Members { command } => members::run(context, command).await,
    };
    done.map(|()| ExitCode::SUCCESS)
}

/// Asks for confirmation before an irreversible operation. Scripts confirm with --yes.
async fn confirm(context: &Context, question: &str) -> Result<(), Failure> {
    if context.options.yes {
        return Ok(());
    }
    match context.console.ask(question).await? {
        ConsoleLine::Yes => Ok(()),
        ConsoleLine::No => Err(Failure::usage("cancelled", "answer y, or use --yes, to do it")),
        ConsoleLine::Nothing => Err(Failure::usage("the command needs confirmation", "use --yes to confirm")),
    }
}

/// Checks that a user's text is a single path segment, so that an id cannot lead to another path.
fn path_part(text: &str) -> Result<&str, Failure> {
    let fits = (1..=100).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    let fault = || Failure::usage("an id or code is 1 to 100 letters and digits", "copy it from the list");
    fits.then_some(text).ok_or_else(fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_cannot_inject_url_paths() {
        for bad in ["", "..", "a/b", "a?b", "a%2fb", "ü", &"a".repeat(101)] {
            assert!(path_part(bad).is_err(), "{bad}");
        }
        assert!(path_part("01K0000000000000000000000A").is_ok());
    }
}
