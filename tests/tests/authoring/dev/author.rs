//! An author at work: a project, `acp-chain dev` that watches it, and its output.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use acp_chain_author::Language;
use acp_chain_tests::host;
use acp_chain_tests::transcript::Transcript;
use acp_chain_tests::wire::{Wire, in_time};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// The name of every project here.
pub const NAME: &str = "tried";

/// A project in its own folder.
pub struct Project(TempDir);

impl Project {
    /// Creates a project.
    pub fn new(lang: &str, template: &str) -> Self {
        let world = tempfile::tempdir().unwrap();
        let language = Language::named(lang).unwrap();
        acp_chain_author::new(language, template, NAME, &world.path().join(NAME)).unwrap();
        Self(world)
    }

    /// A project in JavaScript with this source.
    pub fn in_javascript(source: &str, powers: &str) -> Self {
        let project = Self::new("js", "prompt");
        project.save("src/proxy.js", source);
        let granted = format!(r#""powers": {{{powers}}}"#);
        let package = fs::read_to_string(project.path("package.json")).unwrap();
        let (before, rest) = package.split_once(r#""powers": {"#).unwrap();
        let (_, behind) = rest.split_once('}').unwrap();
        project.save("package.json", &format!("{before}{granted}{behind}"));
        project
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(NAME).join(name)
    }

    pub fn save(&self, file: &str, text: &str) {
        fs::write(self.path(file), text).unwrap();
    }

    /// Replaces a text in a file of the project.
    pub fn change(&self, file: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.path(file)).unwrap();
        assert!(text.contains(from), "{file} has no {from}");
        self.save(file, &text.replace(from, to));
    }

    /// A subcommand of `acp-chain`, in the project.
    pub fn acp_chain(&self, subcommand: &str) -> Command {
        let toolchains = ["javascript/node_modules/.bin", "c/bin"].map(host::toolchain);
        let path = env::var_os("PATH").unwrap();
        let all = toolchains.into_iter().chain(env::split_paths(&path));
        let mut command = host::acp_chain(subcommand);
        command
            .env("PATH", env::join_paths(all).unwrap())
            .env("XDG_DATA_HOME", self.0.path().join("data"))
            .env("ZIG_GLOBAL_CACHE_DIR", host::compiled("zig"))
            .current_dir(self.path("."))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    /// `acp-chain dev` in front of an agent, with an initialized client.
    pub async fn dev(&self, options: &[&str]) -> Dev {
        let mut dev = self.dev_for(options);
        let answer = dev.client.request("initialize", BEGIN).await;
        assert!(answer.result.is_some(), "{}", answer.line);
        dev
    }

    /// The command, with a client that has sent nothing yet.
    pub fn dev_for(&self, options: &[&str]) -> Dev {
        self.dev_with(options, |_| {})
    }

    /// The command with more settings, and a client that has sent nothing yet.
    pub fn dev_with(&self, options: &[&str], more: impl FnOnce(&mut Command)) -> Dev {
        let mut command = self.acp_chain("dev");
        more(command.args(options));
        command.args(["--", env!("CARGO_BIN_EXE_wild-agent")]);
        let (child, input, output, said) = start(command);
        Dev {
            client: Wire::new("client", &Transcript::new(), output, input),
            said,
            child,
        }
    }
}

/// The parameters of `initialize`.
pub const BEGIN: &str = r#"{"protocolVersion":1}"#;

/// A program's messages to the user, line by line.
pub struct OutputLines {
    lines: Lines<BufReader<Box<dyn AsyncRead + Unpin + Send>>>,
    all: Vec<String>,
}

/// Starts a program. Returns it with its streams.
pub fn start(mut command: Command) -> (Child, ChildStdin, ChildStdout, OutputLines) {
    let mut child = command.spawn().unwrap();
    let stderr: Box<dyn AsyncRead + Unpin + Send> = Box::new(child.stderr.take().unwrap());
    let lines = BufReader::new(stderr).lines();
    let said = OutputLines {
        lines,
        all: Vec::new(),
    };
    let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    (child, input, output, said)
}

impl OutputLines {
    /// Waits for the next line with this text.
    pub async fn next(&mut self, text: &str) -> String {
        loop {
            let line = in_time(text, self.lines.next_line()).await.unwrap();
            let line = line.unwrap_or_else(|| panic!("no line has {text}: {:#?}", self.all));
            self.all.push(line.clone());
            if line.contains(text) {
                return line;
            }
        }
    }

    /// Closes our end of the stream.
    fn close(&mut self) {
        let nothing: Box<dyn AsyncRead + Unpin + Send> = Box::new(tokio::io::empty());
        self.lines = BufReader::new(nothing).lines();
    }

    /// All lines until the program ends.
    pub async fn rest(mut self) -> Vec<String> {
        while let Some(line) = in_time("the end", self.lines.next_line()).await.unwrap() {
            self.all.push(line);
        }
        self.all
    }
}

/// A running `acp-chain dev`.
pub struct Dev {
    pub client: Wire,
    pub said: OutputLines,
    pub child: Child,
}

impl Dev {
    /// Closes the author's end of stderr.
    pub fn close_stderr(&mut self) {
        self.said.close();
    }

    /// Disconnects the client from a chain that has not started.
    pub async fn finish_refused(mut self) {
        self.client.close();
        let status = in_time("the end of acp-chain dev", self.child.wait()).await;
        assert!(!status.unwrap().success());
    }

    /// Disconnects the client. Returns the lines to the author.
    pub async fn finish(mut self) -> Vec<String> {
        self.client.close();
        let status = in_time("the end of acp-chain dev", self.child.wait()).await;
        let said = self.said.rest().await;
        assert!(status.unwrap().success(), "{said:#?}");
        said
    }
}
