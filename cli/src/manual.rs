//! Shell completions and man pages. Both are generated from the declared arguments, so they always match
//! them.

use std::fs;
use std::path::Path;

use anyhow::Context;
use clap::builder::PossibleValue;
use clap::{Arg, Command};
use clap_complete::Shell;
use clap_mangen::Man;
use serde_json::json;

use crate::help;
use crate::output::{Form, say};

const NAME: &str = "handbill";

pub(crate) fn print_completions(shell: Shell, form: Form) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut help::completed(), NAME, &mut script);
    if shell == Shell::Fish {
        script.extend(fish_values(&built(), &[]).into_bytes());
    }
    let script = without_hidden(&String::from_utf8(script)?);
    form.print(|| script.trim_end().to_owned(), || json!({ "shell": shell.to_string(), "script": script }));
    Ok(())
}

/// clap_complete describes hidden arguments for zsh.
fn without_hidden(script: &str) -> String {
    fn hidden_in(command: &Command) -> Vec<String> {
        let own = command.get_positionals().filter(|arg| arg.is_hide_set());
        let own = own.filter_map(|arg| Some(format!(" -- {}:", arg.get_help()?)));
        own.chain(command.get_subcommands().flat_map(hidden_in)).collect()
    }
    let hidden = hidden_in(&help::command());
    let lines = script.lines().filter(|line| !hidden.iter().any(|text| line.contains(text)));
    lines.map(|line| format!("{line}\n")).collect()
}

/// The page of the program itself.
pub(crate) fn print_page(form: Form) -> anyhow::Result<()> {
    let mut page = Vec::new();
    Man::new(help::command()).render(&mut page)?;
    let page = String::from_utf8(page)?;
    form.print(|| page.trim_end().to_owned(), || json!({ "page": page }));
    Ok(())
}

/// A page for the program and one for each command, such as `handbill-publish.1`.
pub(crate) fn write_pages(folder: &Path, form: Form) -> anyhow::Result<()> {
    let context = || format!("write the man pages to {}", folder.display());
    fs::create_dir_all(folder).with_context(context)?;
    clap_mangen::generate_to(help::command(), folder).with_context(context)?;
    if form == Form::Json {
        say(&json!({ "folder": folder.display().to_string() }).to_string());
    }
    Ok(())
}

/// The command line with everything that clap derives from its definition.
fn built() -> Command {
    let mut command = help::command();
    command.build();
    command
}

/// The values of arguments without an option, such as of `visibility`. clap_complete writes them for bash and
/// zsh, but not for fish.
fn fish_values(command: &Command, path: &[&str]) -> String {
    let own = command.get_positionals().flat_map(Arg::get_possible_values);
    let own = own.filter(|value| !value.is_hide_set()).map(|value| fish_value(path, &value));
    let inner =
        command.get_subcommands().map(|inner| fish_values(inner, &[path, &[inner.get_name()]].concat()));
    own.chain(inner).collect()
}

fn fish_value(path: &[&str], value: &PossibleValue) -> String {
    let (first, rest) = path.split_first().unwrap_or((&"", &[]));
    let more = rest.iter().map(|name| format!("; and __fish_seen_subcommand_from {name}"));
    let condition = format!("__fish_{NAME}_using_subcommand {first}{}", more.collect::<String>());
    let help = value.get_help().map(ToString::to_string).unwrap_or_default().replace('\'', "");
    format!("complete -c {NAME} -n \"{condition}\" -f -a '{}' -d '{help}'\n", value.get_name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fish_completes_the_values_of_arguments() {
        let script = fish_values(&built(), &[]);
        let line =
            "complete -c handbill -n \"__fish_handbill_using_subcommand visibility\" -f -a 'unlisted' -d ";
        assert!(script.contains(line), "{script}");
        let nested = "using_subcommand admin; and __fish_seen_subcommand_from pause\" -f -a 'publish'";
        assert!(script.contains(nested), "{script}");
        assert!(script.lines().all(|line| line.matches('\'').count() == 4), "{script}");
    }
}
