//! acp-chain under test: its program, and its library in this process.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::LazyLock;

use acp_chain::chain::{
    self, Chain, ChildIo, Exit, Member, Native, Program, Projects, Proxy, Settings, StartError,
    Swap, Terms,
};
use acp_chain::channel::{Failure, FailurePolicy, Grant};
use acp_chain::limits::{LINE, Limits};
use acp_chain::sandbox::{Component, Engine, Guest};
use acp_chain::transport::Transport;
use acp_chain_package::Package;
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Command;
use tokio::sync::mpsc;

use crate::envelope::Message;
use crate::passing::Passing;
use crate::powers;
use crate::process::Process;
use crate::transcript::Transcript;
use crate::wire::Wire;

/// What a stream between the test and the host holds before its writer waits.
const PIPE: usize = 64 * 1024;

/// The folder in which cargo puts what it builds, from the place of the test that runs.
fn target() -> PathBuf {
    let test = env::current_exe().unwrap_or_default();
    // target/PROFILE/deps/TEST
    test.ancestors()
        .nth(3)
        .unwrap_or(Path::new("target"))
        .to_owned()
}

fn built(path: PathBuf) -> PathBuf {
    assert!(
        path.exists(),
        "{} is missing; `cargo xtask test` makes it",
        path.display()
    );
    path
}

/// The program.
///
/// # Panics
/// If it was not built.
#[must_use]
pub fn program() -> PathBuf {
    let test = env::current_exe().unwrap_or_default();
    let profile = test.ancestors().nth(2).unwrap_or(Path::new("target/debug"));
    built(profile.join("acp-chain"))
}

/// The program of the checkout's own commands, as [`program`] is found.
///
/// # Panics
/// If it was not built.
#[must_use]
pub fn xtask() -> PathBuf {
    built(program().with_file_name("xtask"))
}

/// The program that carries the extensions. It stays as long as this process, and its folder for ever.
static INSTALLED: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = target().join("tmp/installed");
    fs::create_dir_all(&folder).expect("a folder for the installed program");
    // Two runs of the tests at once make the same.
    let installed = folder.join("acp-chain");
    let mut bundle = std::process::Command::new(program());
    bundle.arg("bundle").args(EXTENSIONS.map(component));
    let bundled = bundle.arg("--output").arg(&installed).output();
    let bundled = bundled.expect("the program runs");
    let told = String::from_utf8_lossy(&bundled.stderr);
    assert!(bundled.status.success(), "{told}");
    installed
});

/// The program as people install it, with our extensions in it.
///
/// # Panics
/// If it cannot be made.
#[must_use]
pub fn installed() -> &'static Path {
    &INSTALLED
}

/// The component of a proxy of this project.
///
/// # Panics
/// If it was not built.
#[must_use]
pub fn component(name: &str) -> PathBuf {
    built(
        target()
            .join("components")
            .join(name)
            .with_extension("wasm"),
    )
}

/// The folder in which the program keeps compiled components for its next run.
#[must_use]
pub fn cache() -> PathBuf {
    target().join("test-cache")
}

/// A folder in which a toolchain keeps what it has compiled for tests.
#[must_use]
pub fn compiled(toolchain: &str) -> PathBuf {
    target().join("test-toolchains").join(toolchain)
}

/// Something that was fetched for the tests, by its path in `target/peers`.
///
/// # Panics
/// If it was not fetched.
#[must_use]
pub fn peer(path: &str) -> PathBuf {
    built(target().join("peers").join(path))
}

/// A program of the toolchain in which the examples in a language are built.
///
/// # Panics
/// If it was not fetched.
#[must_use]
pub fn toolchain(path: &str) -> PathBuf {
    built(target().join("toolchains").join(path))
}

/// `acp-chain run`, with a manifest if there is one, in front of an agent.
pub fn run<I: AsRef<OsStr>>(
    manifest: Option<&Path>,
    agent: impl IntoIterator<Item = I>,
) -> Command {
    let manifest = manifest.map(|path| ["--manifest".as_ref(), path.as_os_str()]);
    run_with(manifest.into_iter().flatten(), agent)
}

/// `acp-chain run` with these options, in front of an agent.
pub fn run_with<O: AsRef<OsStr>, I: AsRef<OsStr>>(
    options: impl IntoIterator<Item = O>,
    agent: impl IntoIterator<Item = I>,
) -> Command {
    let mut command = acp_chain("run");
    command.args(options).arg("--").args(agent);
    command
}

/// A subcommand, with folders of the tests' own.
pub fn acp_chain(subcommand: &str) -> Command {
    let mut command = Command::new(program());
    command
        .arg(subcommand)
        .env_remove("ACP_CHAIN_LOG")
        .env_remove("ACP_CHAIN_TRACE")
        .env("XDG_CONFIG_HOME", target().join("test-config"))
        .env("XDG_STATE_HOME", target().join("test-state"))
        .env("XDG_CACHE_HOME", cache());
    command
}

/// The environment that a command sets, for another that starts it; what the command only takes away stays.
pub fn environment(command: &Command) -> impl Iterator<Item = (&OsStr, &OsStr)> {
    let set = command.as_std().get_envs();
    set.filter_map(|(name, value)| Some((name, value?)))
}

/// A token with which somebody comes in, whose line is appended to the file.
///
/// # Panics
/// If there is none.
pub async fn token(file: &Path, name: &str, options: &[&str]) -> String {
    let mut command = acp_chain("serve-token");
    command.arg(name).args(options).arg("--file").arg(file);
    let output = command.output().await.expect("the program runs");
    assert!(output.status.success(), "{output:?}");
    let token = String::from_utf8(output.stdout).expect("a token is text");
    token.trim().to_owned()
}

/// `acp-chain check` of a manifest.
#[must_use]
pub fn check(manifest: &Path) -> Command {
    let mut command = acp_chain("check");
    command.arg("--manifest").arg(manifest);
    command
}

/// A home for settings, within a folder, of a user who lets programs be proxies.
///
/// # Panics
/// If it cannot be written.
#[must_use]
pub fn grants_native(folder: &Path) -> PathBuf {
    let home = folder.join("config");
    let settings = home.join("acp-chain");
    fs::create_dir_all(&settings).expect("a folder for settings");
    fs::write(settings.join("config.toml"), "native = true\n").expect("settings");
    home
}

/// An agent of which all that it receives is written to a file before.
pub fn recorded<I: AsRef<OsStr>>(file: &Path, agent: impl IntoIterator<Item = I>) -> Vec<OsString> {
    // The first that it writes to is its output.
    let shell = ["sh", "-c", r#"tee /dev/fd/3 3>&1 >"$0" | "$@""#].map(OsString::from);
    let agent = agent.into_iter().map(|word| word.as_ref().to_owned());
    let file = file.as_os_str().to_owned();
    shell.into_iter().chain([file]).chain(agent).collect()
}

/// A script of this name which does what a command does, for a client that starts agents. The
/// command's environment is not in it.
///
/// # Errors
/// If it cannot be written.
pub fn script(folder: &Path, name: &str, command: &Command) -> io::Result<PathBuf> {
    let quoted = |word: &OsStr| format!("'{}'", word.to_string_lossy().replace('\'', r"'\''"));
    let command = command.as_std();
    let words = [command.get_program()]
        .into_iter()
        .chain(command.get_args());
    let words: Vec<_> = words.map(quoted).collect();
    let script = folder.join(name);
    executable(&script, format!("#!/bin/sh\nexec {}\n", words.join(" ")))?;
    Ok(script)
}

/// Writes a file that can be executed.
///
/// Another process does so. What this one has open for writing, a program that another test starts at that moment has
/// open too, until it is executed itself; and the system executes nothing that is open for writing.
///
/// # Errors
/// If it cannot be written.
pub fn executable(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    let mut writer = std::process::Command::new("sh")
        .args(["-c", r#"cat >"$0" && chmod 755 "$0""#])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()?;
    let mut input = writer.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
    input.write_all(content.as_ref())?;
    drop(input);
    if writer.wait()?.success() {
        Ok(())
    } else {
        Err(io::Error::other(format!(
            "{} is not written",
            path.display()
        )))
    }
}

/// The program with that many proxies which see every message and change none, in front of an
/// agent. The folder has the manifest and must stay.
///
/// # Errors
/// If it cannot be started.
pub fn through<I: AsRef<OsStr>>(
    count: usize,
    agent: impl IntoIterator<Item = I>,
) -> io::Result<(Process, TempDir)> {
    let folder = tempfile::tempdir()?;
    let manifest = passes(folder.path(), count)?;
    let program = run(Some(&manifest), agent);
    let client = Process::start("client", &Transcript::new(), program)?;
    Ok((client, folder))
}

/// A manifest with that many proxies which see every message and change none, called `pass-0`
/// and so on.
///
/// # Errors
/// If it cannot be written.
pub fn passes(folder: &Path, count: usize) -> io::Result<PathBuf> {
    let ids: Vec<_> = (0..count).map(|number| format!("pass-{number}")).collect();
    let pass = component("pass");
    let proxies: Vec<_> = ids.iter().map(|id| (id.as_str(), &*pass, "")).collect();
    manifest(folder, &proxies)
}

/// Writes a manifest with these proxies, each an id, a component and the inside of its
/// `[proxy.config]`. They may do everything, and are not started again.
///
/// # Errors
/// If it cannot be written.
pub fn manifest(folder: &Path, proxies: &[(&str, &Path, &str)]) -> io::Result<PathBuf> {
    let mut text = String::new();
    let granted = powers::everything();
    for (id, path, config) in proxies {
        let path = path.display();
        let _ = write!(
            text,
            "[[proxy]]\nid = {id:?}\npath = '{path}'\nlimits = {{ memory = '512 MiB', body = '64 MiB' }}\n\
             on-failure = 'refuse'\n{granted}\
             [proxy.config]\n{config}\n\n"
        );
    }
    let path = folder.join("acp-chain.toml");
    fs::write(&path, text)?;
    Ok(path)
}

/// The engine of all chains in this process. Compiled components are kept for the next run.
static ENGINE: LazyLock<Engine> =
    LazyLock::new(|| Engine::new(Some(&cache())).unwrap_or_else(|error| panic!("{error}")));

/// A chain in this process: the test is its client and its agent.
pub struct InProcess {
    /// The client's end.
    pub client: Wire,
    /// The agent's end.
    pub agent: Wire,
    /// The record of both ends.
    pub transcript: Transcript,
    /// How it ends.
    pub host: tokio::task::JoinHandle<Exit>,
}

impl InProcess {
    /// Starts a chain of these proxies, each a component and its configuration as JSON.
    ///
    /// # Panics
    /// If a proxy does not start.
    pub async fn start(proxies: &[(&str, &str)]) -> Self {
        let mut members = Vec::new();
        for (at, (name, config)) in proxies.iter().enumerate() {
            members.push(proxy(&format!("{name}-{at}"), name, config).await.into());
        }
        Self::of(members, &Transcript::new())
    }

    /// Starts a chain of these proxies, of any sort, whose ends write into this record.
    #[must_use]
    pub fn of(members: Vec<Member>, transcript: &Transcript) -> Self {
        Self::serve(members, None, None, transcript)
    }

    /// The same, where newer versions of proxies come.
    #[must_use]
    pub fn with_swaps(
        members: Vec<Member>,
        swaps: mpsc::Receiver<Swap>,
        transcript: &Transcript,
    ) -> Self {
        Self::serve(members, None, Some(swaps), transcript)
    }

    /// The same, where sessions have projects.
    #[must_use]
    pub fn with_projects(
        members: Vec<Member>,
        projects: impl Projects + 'static,
        transcript: &Transcript,
    ) -> Self {
        Self::serve(members, Some(Box::new(projects)), None, transcript)
    }

    fn serve(
        members: Vec<Member>,
        projects: Option<Box<dyn Projects>>,
        swaps: Option<mpsc::Receiver<Swap>>,
        transcript: &Transcript,
    ) -> Self {
        let (client, client_end) = tokio::io::duplex(PIPE);
        let (agent, agent_end) = tokio::io::duplex(PIPE);
        let (reader, writer) = tokio::io::split(client_end);
        let client_end = Transport {
            is_read: || true,
            ..Transport::lines(reader, writer, LINE)
        };
        let (output, input) = tokio::io::split(agent_end);
        let mut chain = Some(Chain {
            projects,
            ..Chain::new(members, ChildIo::over(output, input))
        });
        let start = async move |_| {
            chain.take().ok_or_else(|| StartError {
                message: "this chain starts once".to_owned(),
                code: 0,
            })
        };
        let host = tokio::spawn(chain::serve(
            client_end,
            start,
            std::future::pending(),
            Settings {
                program: program(),
                swaps,
                ..Settings::default()
            },
        ));
        Self {
            client: Wire::over("client", transcript, client),
            agent: Wire::over("agent", transcript, agent),
            transcript: transcript.clone(),
            host,
        }
    }

    /// The same, past the `initialize` of client and agent, which the transcript then holds.
    ///
    /// # Panics
    /// If a proxy does not start, or `initialize` does not get through.
    pub async fn initialized(proxies: &[(&str, &str)]) -> Self {
        Self::initialized_with(proxies, r#"{"protocolVersion":1}"#).await
    }

    /// The same, with an agent that answers `initialize` with this result.
    ///
    /// # Panics
    /// If a proxy does not start, or `initialize` does not get through.
    pub async fn initialized_with(proxies: &[(&str, &str)], result: &str) -> Self {
        Self::start(proxies).await.initialize(result).await
    }

    /// The same chain, past an `initialize` that the agent answers with this result.
    ///
    /// # Panics
    /// If `initialize` does not get through.
    pub async fn initialize(mut self, result: &str) -> Self {
        let id = self.client.ask("initialize", r#"{"protocolVersion":1}"#);
        let initialize = self.agent.receive().await.expect("the agent is asked");
        for answer in initialize.result(result) {
            self.agent.send(answer);
        }
        self.client.response(&id).await;
        self
    }

    /// Sets up a session of this name with these servers of the client's, an array. Gives those that
    /// the agent is told of.
    ///
    /// # Panics
    /// If the agent is asked something else, or the client is told of an error.
    pub async fn session(&mut self, name: &str, servers: &str) -> Vec<Value> {
        let params = format!(r#"{{"cwd":"/project","mcpServers":{servers}}}"#);
        let id = self.client.ask("session/new", &params);
        let asked = self.agent.receive().await.expect("a session is asked for");
        assert_eq!(asked.method.as_deref(), Some("session/new"));
        for line in asked.result(&format!(r#"{{"sessionId":"{name}"}}"#)) {
            self.agent.send(line);
        }
        let answer = self.client.response(&id).await;
        assert!(answer.result.is_some(), "{}", answer.line);
        let params: Value = serde_json::from_str(&asked.params.unwrap_or_default())
            .unwrap_or_else(|error| panic!("{error}: {}", asked.line));
        params["mcpServers"].as_array().cloned().unwrap_or_default()
    }
}

/// A native proxy that the test plays, as it plays the ends. It is not started again.
#[must_use]
pub fn played(end: &'static str, transcript: &Transcript) -> (Native, Wire) {
    let (ours, theirs) = tokio::io::duplex(PIPE);
    let (output, input) = tokio::io::split(theirs);
    let native = Native {
        name: end.to_owned(),
        dialect: None,
        on_failure: FailurePolicy::Refuse,
        program: Some(Program {
            io: ChildIo::over(output, input),
            launch: Box::new(|| Err(Failure::new("it is played once"))),
        }),
    };
    (native, Wire::over(end, transcript, ours))
}

/// A native proxy that the test plays, and that passes everything on. Call it within a tokio runtime.
///
/// # Panics
/// In the task that plays it, if the host sends what is not a message.
#[must_use]
pub fn passing(end: &'static str, transcript: &Transcript) -> Native {
    let (native, mut wire) = played(end, transcript);
    tokio::spawn(async move {
        let mut passing = Passing::new(false, true);
        while let Some(line) = wire.line().await {
            let message = Message::parse(line).expect("a message");
            wire.send_all(passing.pass(&message).expect("what a host may send"));
        }
    });
    native
}

/// The extensions that come with the program.
pub const EXTENSIONS: [&str; 5] = ["rules", "todo", "project-map", "permissions", "redact"];

/// What our extensions ask for; all others may do everything.
fn grant(id: &str, name: &str) -> Grant {
    if EXTENSIONS.contains(&name) {
        asked(id, &component(name))
    } else {
        powers::grant(id)
    }
}

/// What an extension asks for.
fn asked(id: &str, component: &Path) -> Grant {
    let component = File::open(component).expect("the component is built");
    let package = Package::read(BufReader::new(component)).expect("it is an extension");
    let powers = package.asks.powers.iter().map(|asked| &*asked.power);
    Grant::new(id, powers, Vec::new()).expect("there are such powers")
}

/// What a proxy in this process may use.
#[must_use]
pub fn limits() -> Limits {
    Limits {
        memory: 512 << 20,
        body: 64 << 20,
        ..Limits::default()
    }
}

/// A proxy that is ready for a chain. It is not started again.
///
/// # Panics
/// If it does not start.
pub async fn proxy(id: &str, name: &str, config: &str) -> Proxy {
    proxy_within(limits(), id, name, config).await
}

/// The same under these limits.
///
/// # Panics
/// If it does not start.
pub async fn proxy_within(limits: Limits, id: &str, name: &str, config: &str) -> Proxy {
    start(id, &component(name), grant(id, name), config, limits).await
}

/// The same of an extension in a file, which has the powers that it asks for.
///
/// # Panics
/// If it does not start.
pub async fn extension(id: &str, component: &Path) -> Proxy {
    start(id, component, asked(id, component), "{}", limits()).await
}

async fn start(id: &str, component: &Path, grant: Grant, config: &str, limits: Limits) -> Proxy {
    let name = component.display();
    let file = Component::load(&ENGINE, component);
    let file = file.unwrap_or_else(|error| panic!("{name}: {error}"));
    let terms = Terms {
        limits: limits.into(),
        grant: grant.into(),
        on_failure: FailurePolicy::Refuse,
        sleep_after: None,
    };
    let guest = Guest {
        config: config.into(),
        limits: terms.limits.clone(),
        grant: terms.grant.clone(),
        ..Guest::new(&ENGINE, file, id)
    };
    let started = Proxy::start(id, guest, terms).await;
    started.unwrap_or_else(|error| panic!("{name}: {error}"))
}
