//! A user at a command line: a home directory of their own, and the program as they run it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use handbill_tests::{Mode, Value, World, program};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

/// A command that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// A home directory and the address of a server.
pub struct Shell {
    home: TempDir,
    env: Vec<(String, String)>,
}

/// How a command ended, and its output.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Shell {
    /// A user without an account.
    pub fn new(world: &World) -> Self {
        Self::at(&world.base_url())
    }

    /// A user of the server at this address.
    pub fn at(url: &str) -> Self {
        let home = tempfile::Builder::new().prefix("handbill-home-").tempdir().expect("a home");
        Self { home, env: vec![("HANDBILL_URL".to_owned(), url.to_owned())] }
    }

    /// A user with a new account.
    pub async fn signed_up(world: &World) -> Self {
        let shell = Self::new(world);
        shell.run(&["signup"]).await.ok();
        shell
    }

    /// The same home directory, with this variable set.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.retain(|(known, _)| known != name);
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.home.path().join(path)
    }

    pub fn profile(&self) -> PathBuf {
        self.path(".config/handbill/default.toml")
    }

    /// The token in the profile.
    pub fn token(&self) -> String {
        let profile = fs::read_to_string(self.profile()).expect("a profile");
        let at = profile.find("svc_sk_").expect("a token in the profile");
        profile[at..].chars().take(39).collect()
    }

    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let place = self.path(path);
        fs::create_dir_all(place.parent().expect("a folder")).expect("a folder is made");
        fs::write(place, content).expect("a file is written");
    }

    pub async fn run(&self, arguments: &[&str]) -> Ran {
        self.run_reading(arguments, "").await
    }

    /// Runs a command with this standard input.
    pub async fn run_reading(&self, arguments: &[&str], input: &str) -> Ran {
        let mut command = self.command(Path::new(program!()));
        finish(command.args(arguments), input).await
    }

    /// Runs a line of a shell without a terminal. `$handbill` is the program.
    pub async fn run_line(&self, line: &str) -> Ran {
        let mut command = self.command(Path::new("sh"));
        finish(command.args(["-c", line]).env("handbill", program!()), "").await
    }

    /// Runs a line of a shell at a terminal of its own. Once the terminal shows the first text of a pair, the
    /// keys of its second are typed. `out` contains everything that the terminal shows. `$handbill` is the
    /// program.
    pub async fn at_terminal(&self, line: &str, presses: &[(&str, &str)]) -> Ran {
        let mut command = self.command(Path::new("script"));
        let command =
            command.args(["-qec", line, "/dev/null"]).env("handbill", program!()).env("TERM", "xterm");
        let mut child = command.spawn().expect("script(1) makes a terminal");
        let (mut keys, mut screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut shown = String::new();
        let pressed = async {
            let mut seen = 0;
            for (prompt, pressed) in presses {
                while !shown[seen..].contains(prompt) {
                    let mut some = [0; 4096];
                    let count = screen.read(&mut some).await.expect("the terminal can be read");
                    assert!(count > 0, "the terminal never showed {prompt:?}: {shown:?}");
                    shown.push_str(&String::from_utf8_lossy(&some[..count]));
                }
                seen = shown.len();
                keys.write_all(pressed.as_bytes()).await.expect("keys are pressed");
            }
            let mut rest = Vec::new();
            screen.read_to_end(&mut rest).await.expect("the terminal can be read");
            shown.push_str(&String::from_utf8_lossy(&rest));
        };
        tokio::time::timeout(PATIENCE, pressed).await.expect("the command ends");
        let output = child.wait_with_output().await.expect("its end");
        Ran { code: output.status.code(), out: shown, err: String::new() }
    }

    /// A command that the test itself starts and watches.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home.path())
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir(self.home.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    /// A server of its own data at a terminal, until Ctrl-C. Returns what the terminal shows.
    pub async fn serve_at_terminal(&self) -> Ran {
        self.at_terminal("exec \"$handbill\" serve", &[("Press Ctrl-C to stop.", "\u{3}")]).await
    }

    pub async fn versions_of(&self, slug: &str) -> usize {
        self.run(&["versions", slug, "--json"]).await.ok().json().as_array().expect("an array").len()
    }
}

async fn finish(command: &mut Command, input: &str) -> Ran {
    let mut child = command.spawn().expect("the program under test starts");
    let mut stdin = child.stdin.take().expect("standard input");
    // A command may end without reading. A terminal gets the keys as typed ahead.
    let _ = stdin.write_all(input.as_bytes()).await;
    drop(stdin);
    let output = tokio::time::timeout(PATIENCE, child.wait_with_output()).await.expect("the command ends");
    let output = output.expect("its output");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ran { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

impl Ran {
    #[track_caller]
    pub fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    /// Expects this exit code, and an error message with a next step.
    #[track_caller]
    pub fn failed(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert!(self.out.is_empty(), "a failure says nothing on standard output: {self:?}");
        assert!(!self.err.trim().is_empty(), "{self:?}");
        self
    }

    /// The only line of standard output.
    #[track_caller]
    pub fn line(&self) -> String {
        assert_eq!(self.out.lines().count(), 1, "{self:?}");
        self.out.trim_end().to_owned()
    }

    /// Standard output, which must contain only JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        assert!(self.err.is_empty(), "{self:?}");
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("no JSON ({error}): {self:?}"))
    }

    /// Standard error as the JSON of an error.
    #[track_caller]
    pub fn error(&self) -> Value {
        let error: Value =
            serde_json::from_str(&self.err).unwrap_or_else(|error| panic!("no JSON ({error}): {self:?}"));
        for field in ["code", "message", "hint"] {
            assert!(error[field].as_str().is_some_and(|text| !text.is_empty()), "{field}: {self:?}");
        }
        error
    }
}

/// A world for the command line with one process. The mode makes no difference here.
pub async fn world() -> World {
    World::with(Mode::Embedded, program!()).start().await
}
