//! The help: the commands in groups, an example for each, and only the options that a command uses. clap has
//! no groups of commands, so the list in `handbill --help` is written here.

mod examples;

use clap::builder::StyledStr;
use clap::builder::styling::Styles;
use clap::{Arg, Command, CommandFactory};

use crate::args::Arguments;
use examples::EXAMPLES;

/// The groups of `handbill --help`. A command in none of them is listed in the last one.
static GROUPS: [(&str, &[&str]); 5] = [
    (
        "Publish",
        &[
            "publish",
            "check",
            "list",
            "show",
            "open",
            "versions",
            "diff",
            "download",
            "rollback",
            "activate",
            "visibility",
            "private-link",
            "delete",
            "undelete",
        ],
    ),
    (
        "Account",
        &[
            "signup",
            "login",
            "whoami",
            "account",
            "usage",
            "credits",
            "claim-link",
            "tokens",
            "invites",
            "members",
            "join",
            "export",
        ],
    ),
    ("Shell", &["completions", "man"]),
    ("Server", &["serve", "api", "edge", "worker", "migrate", "config"]),
    ("Operate", &["doctor", "admin", "ledger", "backup", "restore", "scrub", "migrate-data", "size"]),
];
/// The groups whose commands call a server, and use the client's options.
const CLIENT_GROUPS: [&str; 2] = ["Publish", "Account"];
/// Commands that neither call a server nor read its settings, or that get them otherwise.
const WITHOUT_SETTINGS: [&str; 4] = ["completions", "man", "migrate-data", "size"];
/// Commands that can cost money.
const PAID: [&str; 3] = ["publish", "visibility", "credits"];
/// Other commands that ask for confirmation.
const CONFIRMED: [&str; 6] = ["private-link", "delete", "members", "signup", "login", "join"];
/// Longer than any name of a command.
const NAME_WIDTH: usize = 12;

/// The whole command line, with examples, as completions and man pages describe it.
pub(crate) fn command() -> Command {
    let root = Arguments::command();
    let globals: Vec<Arg> = root.get_arguments().filter(|arg| arg.is_global_set()).cloned().collect();
    let names: Vec<String> = root.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    names.iter().fold(root, |root, name| {
        root.mut_subcommand(name, |command| with_examples(with_own_options(command, &globals), name))
    })
}

/// The same for completions. Most shells complete hidden options too, so that each command gets only its own.
pub(crate) fn completed() -> Command {
    let root = Arguments::command();
    let globals: Vec<Arg> = root.get_arguments().filter(|arg| arg.is_global_set()).cloned().collect();
    let globals: Vec<Arg> = globals.into_iter().map(|arg| arg.global(false)).collect();
    let names: Vec<String> = root.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let root = root.mut_args(|arg| arg.global(false));
    names.iter().fold(root, |root, name| {
        let own: Vec<Arg> =
            globals.iter().filter(|arg| is_used(arg.get_id().as_str(), name)).cloned().collect();
        root.mut_subcommand(name, |command| with_options(command, &own))
    })
}

fn with_options(command: Command, options: &[Arg]) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|inner| inner.get_name().to_owned()).collect();
    names.iter().fold(command.args(options), |command, name| {
        command.mut_subcommand(name, |inner| with_options(inner, options))
    })
}

/// The same for parsing, whose help lists the commands in groups.
pub(crate) fn parser() -> Command {
    let described = command();
    let groups = groups_of(&described);
    let names: Vec<String> =
        described.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let root =
        names.iter().fold(described, |root, name| root.mut_subcommand(name, |command| command.hide(true)));
    root.override_usage("handbill [OPTIONS] <COMMAND>").help_template(StyledStr::from(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}{{all-args}}{{after-help}}"
    )))
}

/// Hides the options that have no effect on a command. They are still accepted, as everywhere.
fn with_own_options(command: Command, globals: &[Arg]) -> Command {
    let name = command.get_name().to_owned();
    globals.iter().fold(command, |command, arg| {
        if is_used(arg.get_id().as_str(), &name) { command } else { command.arg(arg.clone().hide(true)) }
    })
}

/// Whether an option of the whole program has an effect on a command.
fn is_used(option: &str, command: &str) -> bool {
    match option {
        "json" => true,
        "config" => !is_client(command) && !WITHOUT_SETTINGS.contains(&command),
        "url" | "profile" => is_client(command) && command != "check",
        "yes" => CONFIRMED.contains(&command) || PAID.contains(&command),
        "max_price" => PAID.contains(&command),
        _ => is_client(command),
    }
}

fn is_client(command: &str) -> bool {
    CLIENT_GROUPS.contains(&group_of(command))
}

fn group_of(name: &str) -> &'static str {
    let found = GROUPS.iter().find(|(_, names)| names.contains(&name));
    found.or(GROUPS.last()).map_or("", |(group, _)| *group)
}

/// Adds the examples of a command and of its subcommands. A command that has none shows one of each subcommand.
fn with_examples(command: Command, path: &str) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let command = names.iter().fold(command, |command, name| {
        command.mut_subcommand(name, |inner| with_examples(inner, &format!("{path} {name}")))
    });
    let of_inner =
        || names.iter().filter_map(|name| examples_of(&format!("{path} {name}"))?.first().copied());
    let lines = examples_of(path).map_or_else(|| of_inner().collect(), <[_]>::to_vec);
    if lines.is_empty() { command } else { command.after_help(examples_text(&lines)) }
}

fn examples_of(path: &str) -> Option<&'static [&'static str]> {
    EXAMPLES.iter().find(|(command, _)| *command == path).map(|(_, lines)| *lines)
}

fn examples_text(lines: &[&str]) -> StyledStr {
    let lines: Vec<_> = lines.iter().map(|line| format!("  {line}")).collect();
    StyledStr::from(format!("{}\n{}", heading("Examples"), lines.join("\n")))
}

fn groups_of(root: &Command) -> String {
    let group = |group: &str| {
        let commands = root.get_subcommands().filter(|command| group_of(command.get_name()) == group);
        let mut commands: Vec<_> = commands.collect();
        commands.sort_by_key(|command| position_of(command.get_name()));
        let lines: Vec<_> = commands.into_iter().map(summary_of).collect();
        format!("{}\n{}\n\n", heading(group), lines.join("\n"))
    };
    GROUPS.iter().map(|(name, _)| group(name)).collect()
}

fn position_of(name: &str) -> usize {
    let names = GROUPS.iter().flat_map(|(_, names)| names.iter());
    names.enumerate().find(|(_, known)| **known == name).map_or(usize::MAX, |(position, _)| position)
}

/// The name of a command and the first sentence of its description.
fn summary_of(command: &Command) -> String {
    let about = command.get_about().map(StyledStr::to_string).unwrap_or_default();
    let sentence = about.split_once(". ").map_or(about.as_str(), |(first, _)| first);
    let style = Styles::styled();
    let name = style.get_literal();
    format!("  {name}{:NAME_WIDTH$}{name:#}  {}", command.get_name(), sentence.trim_end_matches('.'))
}

fn heading(text: &str) -> String {
    let styles = Styles::styled();
    let style = styles.get_header();
    format!("{style}{text}:{style:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The commands without subcommands, with their paths.
    fn leaves(command: &Command, path: &str) -> Vec<String> {
        let inner = command.get_subcommands().filter(|inner| inner.get_name() != "help");
        let found: Vec<_> =
            inner.flat_map(|inner| leaves(inner, &format!("{path} {}", inner.get_name()))).collect();
        if found.is_empty() { vec![path.trim().to_owned()] } else { found }
    }

    fn help_of(line: &[&str]) -> String {
        let line = ["handbill"].iter().chain(line).chain(&["--help"]);
        parser().try_get_matches_from(line).unwrap_err().to_string()
    }

    #[test]
    fn definition_with_examples_and_groups_is_valid() {
        command().debug_assert();
        parser().debug_assert();
    }

    #[test]
    fn every_command_has_examples_that_parse() {
        for leaf in leaves(&command(), "") {
            let examples = examples_of(&leaf).unwrap_or_else(|| panic!("{leaf} has no example"));
            for example in examples {
                let line = example.split('#').next().unwrap_or_default();
                let (line, _) = line.split_once(" > ").unwrap_or((line, ""));
                let (_, line) = line.rsplit_once("| ").unwrap_or(("", line));
                let words: Vec<_> = line.split_whitespace().map(|word| word.trim_matches('\'')).collect();
                assert!(line.starts_with(&format!("handbill {leaf}")), "{example}");
                if let Err(refused) = Arguments::read(&words) {
                    panic!("{example}: {refused}");
                }
            }
            assert!(help_of(&leaf.split(' ').collect::<Vec<_>>()).contains("Examples:"), "{leaf}");
        }
    }

    #[test]
    fn commands_with_subcommands_show_an_example_of_each() {
        let help = help_of(&["tokens"]);
        for name in ["list", "mint", "revoke"] {
            let example = examples_of(&format!("tokens {name}")).unwrap()[0];
            assert!(help.contains(example), "{help}");
        }
        assert!(help_of(&["admin", "operator"]).contains("Examples:"));
    }

    #[test]
    fn every_example_is_of_a_command() {
        let leaves = leaves(&command(), "");
        let roots: Vec<_> = command().get_subcommands().map(|inner| inner.get_name().to_owned()).collect();
        for (path, _) in EXAMPLES {
            assert!(leaves.iter().chain(&roots).any(|leaf| leaf == path), "{path}");
        }
    }

    #[test]
    fn every_command_is_in_one_group_and_listed_with_a_summary_that_fits() {
        let help = help_of(&[]);
        for inner in command().get_subcommands() {
            let name = inner.get_name();
            let listed: Vec<_> =
                help.lines().filter(|line| line.starts_with(&format!("  {name:NAME_WIDTH$}  "))).collect();
            assert_eq!(listed.len(), 1, "{name}: {help}");
            assert!(listed[0].chars().count() <= 80, "{}", listed[0]);
        }
        let at = |text: &str| help.find(text).unwrap_or_else(|| panic!("{text}: {help}"));
        assert!(at("Publish:\n") < at("Account:\n") && at("Account:\n") < at("Server:\n"), "{help}");
        assert!(at("Server:\n") < at("Operate:\n") && at("Operate:\n") < at("Exit codes:"), "{help}");
    }

    #[test]
    fn help_shows_only_the_options_that_a_command_uses() {
        for (line, options) in [
            (&["publish"][..], &["--json", "--max-price", "--profile", "--quiet", "--url", "--yes"][..]),
            (&["credits", "buy"], &["--json", "--max-price", "--profile", "--quiet", "--url", "--yes"]),
            (&["delete"], &["--json", "--profile", "--quiet", "--url", "--yes"]),
            (&["tokens", "mint"], &["--json", "--profile", "--quiet", "--url"]),
            (&["check"], &["--json", "--quiet"]),
            (&["serve"], &["--config", "--json"]),
            (&["backup"], &["--config", "--json"]),
            (&["admin", "jobs"], &["--config", "--json"]),
            (&["ledger", "check"], &["--config", "--json"]),
            (&["migrate-data"], &["--json"]),
            (&["man"], &["--json"]),
        ] {
            assert_eq!(global_options_in(&help_of(line)), options, "{line:?}");
        }
    }

    /// The options of the whole program that a help describes, in alphabetical order.
    fn global_options_in(help: &str) -> Vec<&str> {
        let globals = ["--config", "--json", "--max-price", "--profile", "--quiet", "--url", "--yes"];
        // Descriptions are indented further.
        let is_option = |line: &&str| line.trim_start().starts_with('-') && line.find('-') < Some(10);
        let names = help.lines().filter(is_option);
        let names = names.filter_map(|line| line.split_whitespace().find(|word| word.starts_with("--")));
        let mut found: Vec<_> = names.filter(|name| globals.contains(name)).collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn hidden_options_are_still_accepted_everywhere() {
        for line in [
            &["handbill", "--json", "admin", "queues"][..],
            &["handbill", "admin", "queues", "--json"],
            &["handbill", "list", "--json"],
        ] {
            assert!(Arguments::read(line).unwrap().client.json, "{line:?}");
        }
        let read = Arguments::read(["handbill", "list", "--config", "a.toml"]).unwrap();
        assert_eq!(read.config, Some("a.toml".into()));
    }
}
