//! The messages that a running chain sends to listeners, and the screen of `acp-chain top`.

use std::fs::{self, DirBuilder};
use std::io::{Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::thread;

use acp_chain_tests::host;
use acp_chain_tests::process::Process;
use acp_chain_tests::terminal::Terminal;
use acp_chain_tests::transcript::Transcript;
use acp_chain_tests::wire::in_time;
use acp_chain_trace::{Line, State};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};

use super::{AGENT, looks, run};

/// A chain of `first`, which forwards everything, and `second`, which writes capitals, and the folder of its socket.
struct Chain {
    client: Process,
    folder: TempDir,
}

impl Chain {
    async fn begin(change: impl FnOnce(&mut Command)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (pass, shout) = (host::component("pass"), host::component("shout-rust"));
        let proxies = [("first", &*pass, ""), ("second", &*shout, "")];
        let manifest = host::manifest(folder.path(), &proxies).unwrap();
        let mut command = run(folder.path(), &manifest, &[AGENT]);
        change(&mut command);
        let mut client = Process::start("client", &Transcript::new(), command).unwrap();
        client.initialize().await;
        Self { client, folder }
    }

    fn sockets(&self) -> PathBuf {
        self.folder.path().join("acp-chain")
    }

    /// Its socket, if there is one.
    fn socket(&self) -> Option<PathBuf> {
        socket_of(self.folder.path(), &self.client)
    }

    async fn listen(&self) -> Listener {
        Listener::to(&self.socket().unwrap()).await
    }
}

/// The socket of a chain in the folder of all, if there is one.
pub fn socket_of(folder: &Path, client: &Process) -> Option<PathBuf> {
    let beginning = format!("{}-", client.id()?);
    let mut entries = fs::read_dir(folder.join("acp-chain")).ok()?.flatten();
    let entry = entries.find(|entry| {
        let name = entry.file_name();
        name.to_string_lossy().starts_with(&beginning)
    });
    Some(entry?.path())
}

pub struct Listener(Lines<BufReader<UnixStream>>);

impl Listener {
    pub async fn to(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).await.unwrap();
        Self(BufReader::new(stream).lines())
    }

    pub async fn next(&mut self) -> Option<Line> {
        let line = in_time("a line of the chain", self.0.next_line()).await;
        Some(serde_json::from_str(&line.unwrap()?).unwrap())
    }

    pub async fn rest(&mut self) -> Vec<Line> {
        let mut lines = Vec::new();
        while let Some(line) = self.next().await {
            lines.push(line);
        }
        lines
    }
}

#[tokio::test]
async fn who_listens_hears_how_things_stand_then_what_happens_then_the_end() {
    let mut chain = Chain::begin(|_| {}).await;
    let mut late = chain.listen().await;
    let heading = late.next().await.unwrap();
    assert_eq!(heading.agent.as_deref(), Some("wild-agent"));
    let socket = chain.socket().unwrap();
    assert!(socket.ends_with(format!(
        "{}-{}.sock",
        chain.client.id().unwrap(),
        heading.connection
    )));
    for id in ["first", "second"] {
        let line = late.next().await.unwrap();
        assert_eq!(line.proxy.as_deref(), Some(id));
        assert_eq!(line.state, Some(State::Running));
        assert!(line.memory.unwrap() > 0);
    }
    chain.client.turn("hello").await;
    let sockets = chain.sockets();
    assert!(chain.client.finish().await.unwrap().status.success());
    let rest = late.rest().await;
    let said = |line: &&Line| line.from.as_deref() == Some("client");
    let prompt = rest.iter().find(said).unwrap();
    assert_eq!(prompt.method.as_deref(), Some("session/prompt"));
    let ended = |line: &&Line| line.state == Some(State::Ended);
    assert_eq!(rest.iter().filter(ended).count(), 2);
    assert_eq!(fs::read_dir(sockets).unwrap().count(), 0);
}

#[tokio::test]
async fn a_user_who_does_not_want_it_is_not_watched() {
    let chain = Chain::begin(|command| {
        command.env("ACP_CHAIN_LIVE", "0");
    })
    .await;
    assert_eq!(chain.socket(), None);
    let unwanted = |command: &mut Command| {
        let home = tempfile::tempdir().unwrap().keep();
        fs::create_dir(home.join("acp-chain")).unwrap();
        fs::write(home.join("acp-chain/config.toml"), "live = false\n").unwrap();
        command.env("XDG_CONFIG_HOME", home);
    };
    let chain = Chain::begin(unwanted).await;
    assert_eq!(chain.socket(), None);
}

#[tokio::test]
async fn a_chain_without_a_place_for_its_socket_runs_all_the_same() {
    let taken = |command: &mut Command| {
        let folder = tempfile::tempdir().unwrap().keep();
        fs::write(folder.join("acp-chain"), "no folder").unwrap();
        command.env("XDG_RUNTIME_DIR", folder);
    };
    let mut chain = Chain::begin(taken).await;
    chain.client.turn("hello").await;
    assert!(chain.client.finish().await.unwrap().status.success());
}

/// The output of `acp-chain top`.
pub async fn top(folder: &Path, options: &[&str]) -> String {
    let mut command = looks(folder, "top");
    let output = in_time("the end of top", command.args(options).output()).await;
    let output = output.unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test]
async fn top_prints_all_chains_and_clears_away_what_a_killed_one_left() {
    let mut chain = Chain::begin(|_| {}).await;
    let process = chain.client.id().unwrap();
    let table = top(chain.folder.path(), &["--once"]).await;
    let expected = format!("process {process}: wild-agent, since ");
    assert!(table.contains(&expected), "{table}");
    let text = top(chain.folder.path(), &["--json"]).await;
    let all: Value = serde_json::from_str(&text).unwrap();
    let chains = all["chains"].as_array().unwrap();
    let ours = chains.iter().find(|chain| chain["process"] == process);
    let proxies = &ours.unwrap()["proxies"];
    assert_eq!(proxies[0]["id"], "first");
    assert_eq!(proxies[1]["state"], "running");
    let socket = chain.socket().unwrap();
    chain.client.kill().await.unwrap();
    assert!(socket.exists());
    top(chain.folder.path(), &["--once"]).await;
    assert!(!socket.exists());
}

#[tokio::test]
async fn top_without_a_terminal_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let output = looks(folder.path(), "top").output().await.unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && told.contains("`--once` prints a table"),
        "{told}"
    );
}

/// Starts `acp-chain top` on a terminal.
fn on_a_terminal(folder: &Path) -> (Child, Terminal) {
    let terminal = Terminal::open().unwrap();
    terminal.resize(30, 100).unwrap();
    let mut command = looks(folder, "top");
    terminal.attach(command.as_std_mut()).unwrap();
    (command.spawn().unwrap(), terminal)
}

#[tokio::test]
async fn top_draws_what_runs_on_a_terminal_until_its_user_has_seen_enough() {
    let chain = Chain::begin(|_| {}).await;
    let (mut running, mut terminal) = on_a_terminal(chain.folder.path());
    let seen = tokio::task::spawn_blocking(move || {
        let screen = terminal.draws("second")?;
        terminal.types("q")?;
        Ok::<_, std::io::Error>((screen, terminal.shown()))
    });
    let (screen, _) = in_time("the screen of top", seen).await.unwrap().unwrap();
    let process = chain.client.id().unwrap();
    assert!(screen.contains(&format!("process {process}: ")), "{screen}");
    let status = in_time("the end of top", running.wait()).await.unwrap();
    assert!(status.success());
}

#[tokio::test]
async fn top_restores_the_terminal_when_it_is_asked_to_stop() {
    for signal in [Signal::TERM, Signal::HUP] {
        let folder = tempfile::tempdir().unwrap();
        let (mut running, mut terminal) = on_a_terminal(folder.path());
        let process = i32::try_from(running.id().unwrap()).unwrap();
        let seen = tokio::task::spawn_blocking(move || {
            terminal.shows("quit")?;
            kill_process(Pid::from_raw(process).unwrap(), signal)?;
            Ok::<_, std::io::Error>(terminal.shown())
        });
        let shown = in_time("the end of its output", seen).await;
        let shown = shown.unwrap().unwrap();
        let (alternate, cursor) = ("\u{1b}[?1049l", "\u{1b}[?25h");
        assert!(
            shown.contains(alternate) && shown.contains(cursor),
            "{shown:?}"
        );
        let status = in_time("the end of top", running.wait()).await.unwrap();
        assert!(status.success(), "{signal:?}");
    }
}

/// A socket that looks like that of a chain. The test decides how each listener is served.
fn like_a_chain(folder: &Path) -> UnixListener {
    let sockets = folder.join("acp-chain");
    DirBuilder::new().mode(0o700).create(&sockets).unwrap();
    let name = format!("{}-like.sock", std::process::id());
    UnixListener::bind(sockets.join(name)).unwrap()
}

#[tokio::test]
async fn top_says_so_of_a_chain_that_it_does_not_understand() {
    let folder = tempfile::tempdir().unwrap();
    let socket = like_a_chain(folder.path());
    let chain = thread::spawn(move || {
        for _ in 0..2 {
            let (mut listener, _) = socket.accept().unwrap();
            listener.write_all(b"{\"version\":99}\n").unwrap();
            // Until the listener disconnects.
            let _ = listener.read(&mut [0]);
        }
    });
    for option in ["--once", "--json"] {
        let mut command = looks(folder.path(), "top");
        let output = in_time("the end of top", command.arg(option).output()).await;
        let output = output.unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let (said, told) = (text(output.stdout), text(output.stderr));
        let expected = format!(
            "process {}: cannot be read: line 1: the trace has version 99",
            std::process::id()
        );
        assert!(told.contains(&expected), "{told}");
        assert!(!said.contains("No chain runs."), "{said}");
    }
    chain.join().unwrap();
}

#[tokio::test]
async fn top_asks_a_chain_again_that_had_no_room_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let socket = like_a_chain(folder.path());
    let chain = thread::spawn(move || {
        drop(socket.accept().unwrap());
        let (mut listener, _) = socket.accept().unwrap();
        let heading = r#"{"version":1,"connection":"x","role":"agent","proxies":["asked-again"]}"#;
        writeln!(listener, "{heading}").unwrap();
        let _ = listener.read(&mut [0]);
    });
    let (mut running, mut terminal) = on_a_terminal(folder.path());
    let seen = tokio::task::spawn_blocking(move || {
        terminal.shows("asked-again")?;
        terminal.types("q")?;
        Ok::<_, std::io::Error>(terminal.shown())
    });
    in_time("the screen of top", seen).await.unwrap().unwrap();
    let status = in_time("the end of top", running.wait()).await.unwrap();
    assert!(status.success());
    chain.join().unwrap();
}
