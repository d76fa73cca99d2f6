//! Help, completions and man pages.

use std::path::Path;

use super::shell::Shell;

const COMMANDS: [&str; 22] = [
    "signup",
    "publish",
    "list",
    "show",
    "versions",
    "rollback",
    "activate",
    "visibility",
    "private-link",
    "delete",
    "open",
    "account",
    "usage",
    "claim-link",
    "export",
    "tokens",
    "invites",
    "members",
    "join",
    "credits",
    "login",
    "whoami",
];

fn anyone() -> Shell {
    Shell::at("http://127.0.0.1:9")
}

#[tokio::test]
async fn help_lists_every_command_and_every_exit_code() {
    let shell = anyone();
    let help = shell.run(&["--help"]).await.ok();
    for command in COMMANDS {
        assert!(help.out.contains(&format!("  {command} ")), "{command}: {}", help.out);
        assert!(shell.run(&[command, "--help"]).await.ok().out.contains("Usage:"), "{command}");
    }
    let publish = shell.run(&["publish", "--help"]).await.ok().out;
    assert!(publish.contains(".handbillignore") && publish.contains(".well-known"), "{publish}");
    for code in ["0", "1", "2", "3", "4", "5", "6", "7", "130"] {
        assert!(help.out.lines().any(|line| line.trim_start().starts_with(&format!("{code}  "))), "{code}");
    }
    for bad in [&["publish"][..], &["show", "No Slug"], &["no-such-command"], &["activate", "my-page", "0"]] {
        shell.run(bad).await.failed(2);
    }
    shell.run(&["publish", ".", "--stage"]).await.failed(2);
}

#[tokio::test]
async fn help_has_groups_and_examples_and_only_a_command_s_own_options() {
    let shell = anyone();
    let help = shell.run(&["--help"]).await.ok().out;
    for group in ["Publish:", "Account:", "Shell:", "Server:", "Operate:", "Start here:"] {
        assert!(help.lines().any(|line| line == group), "{group}: {help}");
    }
    let publish = shell.run(&["publish", "--help"]).await.ok().out;
    assert!(publish.contains("handbill publish dist --watch") && !publish.contains("--config"), "{publish}");
    let serve = shell.run(&["serve", "--help"]).await.ok().out;
    assert!(serve.contains("Examples:") && serve.contains("--config"), "{serve}");
    assert!(!serve.contains("--max-price") && !serve.contains("--profile"), "{serve}");
    assert!(!shell.run(&["list", "--help"]).await.ok().out.contains("--max-price"));
}

#[tokio::test]
async fn completions_for_each_shell_list_the_commands() {
    let shell = anyone();
    for name in ["bash", "zsh", "fish"] {
        let script = shell.run(&["completions", name]).await.ok().out;
        for word in COMMANDS.into_iter().chain(["max-price", "idempotency-key"]) {
            assert!(script.contains(word), "{name}: {word}");
        }
        shell.write(name, &script);
        // If the shell is installed, it checks whether it can read the completions.
        let mut command = shell.command(Path::new(name));
        if let Ok(read) = command.args(["-n", name]).output().await {
            assert!(read.status.success(), "{read:?}");
        }
    }
    for name in ["bash", "zsh", "fish"] {
        let script = shell.run(&["completions", name]).await.ok().out;
        assert!(!script.contains("The same as"), "{name} completes a deprecated argument");
    }
    let fish = shell.run(&["completions", "fish"]).await.ok().out;
    for (command, option) in [("serve", "max-price"), ("list", "config"), ("check", "url")] {
        let line = format!("using_subcommand {command}\" -l {option} ");
        assert!(!fish.contains(&line), "fish completes --{option} of {command}, which has no effect");
    }
    assert!(fish.contains("using_subcommand list\" -l json "), "{fish}");
    assert!(fish.contains("using_subcommand visibility\" -f -a 'private'"), "{fish}");
    assert_eq!(completed_by_bash(&shell, &["pub"]).await, "publish");
    assert_eq!(completed_by_bash(&shell, &["serve", "--"]).await, "--config --json --help");
    assert_eq!(completed_by_bash(&shell, &["completions", "z"]).await, "zsh");
}

/// What bash offers for the last word.
async fn completed_by_bash(shell: &Shell, words: &[&str]) -> String {
    let (line, count) = (words.join(" "), words.len());
    let (last, before) = (words[count - 1], if count == 1 { "handbill" } else { words[count - 2] });
    let words = format!("COMP_WORDS=(handbill {line}); COMP_CWORD={count}");
    let complete =
        format!("source ./bash; {words}; _handbill handbill '{last}' '{before}'; echo ${{COMPREPLY[@]}}");
    let mut bash = shell.command(Path::new("bash"));
    let completed = bash.args(["-c", &complete]).output().await.unwrap();
    String::from_utf8_lossy(&completed.stdout).trim().to_owned()
}

#[tokio::test]
async fn the_man_pages_render() {
    let shell = anyone();
    let page = shell.run(&["man"]).await.ok().out;
    assert!(page.contains(".TH handbill 1") && page.contains("Exit codes"), "{page}");
    shell.run(&["man", "--folder", "pages"]).await.ok();
    for command in COMMANDS {
        assert!(shell.path(&format!("pages/handbill-{command}.1")).exists(), "{command}");
    }
    let mut groff = shell.command(Path::new("groff"));
    if let Ok(rendered) = groff.args(["-man", "-Tutf8", "-ww", "pages/handbill.1"]).output().await {
        let text = String::from_utf8_lossy(&rendered.stdout);
        assert!(rendered.status.success() && text.contains("claim-link"), "{rendered:?}");
        assert!(rendered.stderr.is_empty(), "{}", String::from_utf8_lossy(&rendered.stderr));
    }
}
