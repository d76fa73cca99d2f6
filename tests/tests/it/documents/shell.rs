//! An agent's shell, which runs the commands of a document unchanged.

use std::collections::BTreeSet;
use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use handbill_tests::Value;

/// The exit code of curl with `--fail-with-body` after a refusal.
const CURL_REFUSED: i32 = 22;

/// A POSIX shell with a directory of its own as its home. Each run is a new shell, as for agents.
pub struct Shell {
    folder: PathBuf,
    env: Vec<(String, String)>,
}

/// How a run of commands ended.
pub struct Ran {
    pub stdout: String,
    stderr: String,
    code: Option<i32>,
    script: String,
}

/// The fenced shell blocks of a document, and which of them were run.
pub struct Commands<'a> {
    blocks: Vec<&'a str>,
    run: BTreeSet<usize>,
}

impl Shell {
    pub fn in_folder(folder: &Path) -> Self {
        std::fs::create_dir_all(folder).unwrap();
        Self { folder: folder.to_owned(), env: Vec::new() }
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs commands until one fails.
    pub fn run(&self, script: &str) -> Ran {
        let ended = Command::new("sh")
            .args(["-ec", script])
            .current_dir(&self.folder)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").expect("a PATH"))
            .env("HOME", &self.folder)
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .output()
            .expect("a shell");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ran {
            stdout: text(&ended.stdout),
            stderr: text(&ended.stderr),
            code: ended.status.code(),
            script: script.to_owned(),
        }
    }

    /// Expects that only the owner may read this file.
    #[track_caller]
    pub fn assert_private(&self, file: &str) {
        let mode = self.folder.join(file).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{file} has the mode {mode:o}");
    }
}

impl Ran {
    #[track_caller]
    pub fn succeeds(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    #[track_caller]
    pub fn refused(self) -> Self {
        assert_eq!(self.code, Some(CURL_REFUSED), "{self:?}");
        self
    }

    /// The only response that was printed.
    #[track_caller]
    pub fn json(&self) -> Value {
        let [answer] = &self.all_json()[..] else { panic!("not one answer: {self:?}") };
        answer.clone()
    }

    /// Takes a response that is not JSON out of the output.
    #[track_caller]
    pub fn without(mut self, text: &str) -> Self {
        assert_eq!(self.stdout.matches(text).count(), 1, "{self:?}");
        self.stdout = self.stdout.replace(text, "");
        self
    }

    #[track_caller]
    pub fn all_json(&self) -> Vec<Value> {
        let answers: Result<_, _> = serde_json::Deserializer::from_str(&self.stdout).into_iter().collect();
        answers.unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl fmt::Debug for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { script, code, stdout, stderr } = self;
        write!(f, "{script}\nended with {code:?}\n{stdout}\n{stderr}")
    }
}

impl<'a> Commands<'a> {
    pub fn of(document: &'a str) -> Self {
        let blocks = document.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
        Self { blocks: blocks.collect(), run: BTreeSet::new() }
    }

    /// Runs the only block that contains this text.
    #[track_caller]
    pub fn run(&mut self, text: &str, shell: &Shell) -> Ran {
        self.run_with(text, &[], shell)
    }

    /// The same with placeholders replaced.
    #[track_caller]
    pub fn run_with(&mut self, text: &str, words: &[(&str, &str)], shell: &Shell) -> Ran {
        let found: Vec<_> = (0..self.blocks.len()).filter(|at| self.blocks[*at].contains(text)).collect();
        let [at] = found[..] else { panic!("{} blocks hold {text}", found.len()) };
        self.run.insert(at);
        let script = self.blocks[at].to_owned();
        let script = words.iter().fold(script, |script, (word, value)| script.replace(word, value));
        shell.run(&script)
    }

    /// The blocks that were not run.
    pub fn left(&self) -> Vec<&'a str> {
        let left = self.blocks.iter().enumerate().filter(|(at, _)| !self.run.contains(at));
        left.map(|(_, block)| *block).collect()
    }
}
