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
use crate::passing::PassingProxy;
use crate::powers;
use crate::process::Process;
use crate::transcript::Transcript;
use crate::wire::Wire;

/// The capacity of a stream between the test and the host, in bytes.
const PIPE: usize = 64 * 1024;

/// Cargo's target folder, found from the path of the running test.
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

/// The path of the program.
///
/// # Panics
/// If the program was not built.
#[must_use]
pub fn program() -> PathBuf {
    let test = env::current_exe().unwrap_or_default();
    let profile = test.ancestors().nth(2).unwrap_or(Path::new("target/debug"));
    built(profile.join("acp-chain"))
}

/// The path of the `xtask` program, beside that of [`program`].
///
/// # Panics
/// If the program was not built.
#[must_use]
pub fn xtask() -> PathBuf {
    built(program().with_file_name("xtask"))
}

/// The program with our extensions, made once in this process. Its folder is never removed.
static INSTALLED: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = target().join("tmp/installed");
    fs::create_dir_all(&folder).expect("a folder for the installed program");
    // Concurrent test runs make the same file.
    let installed = folder.join("acp-chain");
    let mut bundle = std::process::Command::new(program());
    bundle.arg("bundle").args(EXTENSIONS.map(component));
    let bundled = bundle.arg("--output").arg(&installed).output();
    let bundled = bundled.expect("the program runs");
    let told = String::from_utf8_lossy(&bundled.stderr);
    assert!(bundled.status.success(), "{told}");
    installed
});

/// The path of the program as users install it, with our extensions in it.
///
/// # Panics
/// If the program cannot be made.
#[must_use]
pub fn installed() -> &'static Path {
    &INSTALLED
}

/// The path of the component of a proxy of this project.
///
/// # Panics
/// If the component was not built.
#[must_use]
pub fn component(name: &str) -> PathBuf {
    built(
        target()
            .join("components")
            .join(name)
            .with_extension("wasm"),
    )
}

/// The folder for what the program caches.
#[must_use]
pub fn cache() -> PathBuf {
    target().join("test-cache")
}

/// The folder within [`cache`] in which the program keeps compiled components. Engines in the tests' own processes keep
/// theirs there, too: what one has compiled, the other finds.
#[must_use]
pub fn code_cache() -> PathBuf {
    cache().join("acp-chain/compiled")
}

/// The folder in which a toolchain caches its builds for tests.
#[must_use]
pub fn compiled(toolchain: &str) -> PathBuf {
    target().join("test-toolchains").join(toolchain)
}

/// The full path of a file or folder fetched into `target/peers`.
///
/// # Panics
/// If the file or folder was not fetched.
#[must_use]
pub fn peer(path: &str) -> PathBuf {
    built(target().join("peers").join(path))
}

/// The path of a program of the toolchains that build the examples.
///
/// # Panics
/// If the program was not fetched.
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

/// A subcommand, with separate folders for the tests' configuration, state and cache.
pub fn acp_chain(subcommand: &str) -> Command {
    let mut command = Command::new(program());
    command
        .arg(subcommand)
        .env_remove("ACP_CHAIN_LOG")
        .env_remove("ACP_CHAIN_TRACE")
        .env(
            "XDG_CONFIG_HOME",
            Path::new(env!("CARGO_MANIFEST_DIR")).join("config"),
        )
        .env("XDG_STATE_HOME", target().join("test-state"))
        .env("XDG_CACHE_HOME", cache());
    command
}

/// The variables that a command sets, for another command that starts it; variables that it removes are left out.
pub fn environment(command: &Command) -> impl Iterator<Item = (&OsStr, &OsStr)> {
    let set = command.as_std().get_envs();
    set.filter_map(|(name, value)| Some((name, value?)))
}

/// Makes a token that admits a client, and appends the token's line to the file.
///
/// # Panics
/// If no token can be made.
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

/// Writes the settings of a user who permits native proxies into a home within this folder, and returns the home.
///
/// # Panics
/// If the settings cannot be written.
#[must_use]
pub fn grants_native(folder: &Path) -> PathBuf {
    let home = folder.join("config");
    let settings = home.join("acp-chain");
    fs::create_dir_all(&settings).expect("a folder for settings");
    fs::write(
        settings.join("config.toml"),
        "native = true\nagent.hooks = \"off\"\n",
    )
    .expect("settings");
    home
}

/// The command of an agent whose input is first written to a file.
pub fn recorded<I: AsRef<OsStr>>(file: &Path, agent: impl IntoIterator<Item = I>) -> Vec<OsString> {
    // `tee` writes to its standard output first.
    let shell = ["sh", "-c", r#"tee /dev/fd/3 3>&1 >"$0" | "$@""#].map(OsString::from);
    let agent = agent.into_iter().map(|word| word.as_ref().to_owned());
    let file = file.as_os_str().to_owned();
    shell.into_iter().chain([file]).chain(agent).collect()
}

/// Writes a script of this name that runs a command, for a client that starts agents. The script
/// does not set the command's environment.
///
/// # Errors
/// If the script cannot be written.
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

/// Writes an executable file.
///
/// A separate process writes it. A file that this process has open for writing would be inherited by programs that
/// other tests fork at that moment, until they call `exec`; and the system does not execute a file that is open for
/// writing.
///
/// # Errors
/// If the file cannot be written.
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

/// Starts the program with that many proxies that see every message and change none, in front of
/// an agent. The returned folder holds the manifest and must be kept.
///
/// # Errors
/// If the program cannot be started.
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

/// Writes a manifest with that many proxies that see every message and change none, named `pass-0`
/// and so on.
///
/// # Errors
/// If the manifest cannot be written.
pub fn passes(folder: &Path, count: usize) -> io::Result<PathBuf> {
    let ids: Vec<_> = (0..count).map(|number| format!("pass-{number}")).collect();
    let pass = component("pass");
    let proxies: Vec<_> = ids.iter().map(|id| (id.as_str(), &*pass, "")).collect();
    manifest(folder, &proxies)
}

/// Writes a manifest with these proxies, each an id, a component and the content of its
/// `[proxy.config]`. The proxies get the powers of [`powers::in_one_process`], and are not restarted.
///
/// # Errors
/// If the manifest cannot be written.
pub fn manifest(folder: &Path, proxies: &[(&str, &Path, &str)]) -> io::Result<PathBuf> {
    let mut text = String::new();
    let granted = powers::in_one_process();
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

/// The engine of all chains in this process, with a cache of compiled components.
static ENGINE: LazyLock<Engine> =
    LazyLock::new(|| Engine::new(Some(&code_cache())).unwrap_or_else(|error| panic!("{error}")));

/// A chain in this process: the test plays its client and its agent.
pub struct InProcess {
    /// The client's end.
    pub client: Wire,
    /// The agent's end.
    pub agent: Wire,
    /// The transcript of both ends.
    pub transcript: Transcript,
    /// The task of the chain.
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

    /// Starts a chain of these proxies, of any kind, with this transcript for both ends.
    #[must_use]
    pub fn of(members: Vec<Member>, transcript: &Transcript) -> Self {
        Self::serve(members, None, None, transcript)
    }

    /// Like [`of`](Self::of), with newer versions of proxies from `swaps`.
    #[must_use]
    pub fn with_swaps(
        members: Vec<Member>,
        swaps: mpsc::Receiver<Swap>,
        transcript: &Transcript,
    ) -> Self {
        Self::serve(members, None, Some(swaps), transcript)
    }

    /// Like [`of`](Self::of), with projects for sessions.
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

    /// Starts a chain as [`start`](Self::start) does, and initializes it, which the transcript records.
    ///
    /// # Panics
    /// If a proxy does not start, or `initialize` does not pass the chain.
    pub async fn initialized(proxies: &[(&str, &str)]) -> Self {
        Self::initialized_with(proxies, r#"{"protocolVersion":1}"#).await
    }

    /// Like [`initialized`](Self::initialized), with an agent that answers `initialize` with this result.
    ///
    /// # Panics
    /// If a proxy does not start, or `initialize` does not pass the chain.
    pub async fn initialized_with(proxies: &[(&str, &str)], result: &str) -> Self {
        Self::start(proxies).await.initialize(result).await
    }

    /// Initializes the chain; the agent answers with this result.
    ///
    /// # Panics
    /// If `initialize` does not pass the chain.
    pub async fn initialize(mut self, result: &str) -> Self {
        let id = self.client.ask("initialize", r#"{"protocolVersion":1}"#);
        let initialize = self.agent.receive().await.expect("the agent is asked");
        for answer in initialize.result(result) {
            self.agent.send(answer);
        }
        self.client.response(&id).await;
        self
    }

    /// Sets up a session of this name with an array of the client's MCP servers. Returns the servers
    /// that the agent receives.
    ///
    /// # Panics
    /// If the agent receives another request, or the client receives an error.
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

/// A native proxy that the test plays, as it plays the ends. The proxy is not restarted.
#[must_use]
pub fn played(end: &'static str, transcript: &Transcript) -> (Native, Wire) {
    let (ours, theirs) = tokio::io::duplex(PIPE);
    let (output, input) = tokio::io::split(theirs);
    let native = Native {
        name: end.to_owned(),
        dialect: None,
        on_failure: FailurePolicy::Refuse,
        sees_tool_runs: false,
        program: Some(Program {
            io: ChildIo::over(output, input),
            launch: Box::new(|| Err(Failure::new("it is played once"))),
        }),
    };
    (native, Wire::over(end, transcript, ours))
}

/// A native proxy in this process that forwards everything. Call this within a tokio runtime.
///
/// # Panics
/// In the proxy's task, if the host sends an invalid message.
#[must_use]
pub fn passing(end: &'static str, transcript: &Transcript) -> Native {
    let (native, mut wire) = played(end, transcript);
    tokio::spawn(async move {
        let mut passing = PassingProxy::new(false, true);
        while let Some(line) = wire.line().await {
            let message = Message::parse(line).expect("a message");
            wire.send_all(passing.pass(&message).expect("a valid message"));
        }
    });
    native
}

/// The extensions that come with the program.
pub const EXTENSIONS: [&str; 7] = [
    "rules",
    "todo",
    "project-map",
    "brake",
    "two-of-three",
    "permissions",
    "redact",
];

/// The powers that one of our extensions asks for; every power for all other proxies.
fn grant(id: &str, name: &str) -> Grant {
    if EXTENSIONS.contains(&name) {
        asked(id, &component(name))
    } else {
        powers::grant(id)
    }
}

/// The powers that an extension asks for.
fn asked(id: &str, component: &Path) -> Grant {
    let component = File::open(component).expect("the component is built");
    let package = Package::read(BufReader::new(component)).expect("an extension");
    let powers = package.asks.powers.iter().map(|asked| &*asked.power);
    Grant::new(id, powers, Vec::new()).expect("known powers")
}

/// The limits of a proxy in this process.
#[must_use]
pub fn limits() -> Limits {
    Limits {
        memory: 512 << 20,
        body: 64 << 20,
        ..Limits::default()
    }
}

/// Starts a proxy for a chain. The proxy is not restarted.
///
/// # Panics
/// If the proxy does not start.
pub async fn proxy(id: &str, name: &str, config: &str) -> Proxy {
    proxy_within(limits(), id, name, config).await
}

/// Like [`proxy`], under these limits.
///
/// # Panics
/// If the proxy does not start.
pub async fn proxy_within(limits: Limits, id: &str, name: &str, config: &str) -> Proxy {
    start(id, &component(name), grant(id, name), config, limits).await
}

/// Like [`proxy`], for an extension in a file, with the powers that it asks for.
///
/// # Panics
/// If the extension does not start.
pub async fn extension(id: &str, component: &Path) -> Proxy {
    start(id, component, asked(id, component), "{}", limits()).await
}

/// Compiles a component, so that neither this process nor the program has to. For large ones that several tests need
/// at the same time: each would compile it.
///
/// # Panics
/// If it is not a proxy.
pub fn compile(component: &Path) -> Component {
    let compiled = Component::load(&ENGINE, component);
    compiled.unwrap_or_else(|error| panic!("{}: {error}", component.display()))
}

async fn start(id: &str, component: &Path, grant: Grant, config: &str, limits: Limits) -> Proxy {
    let name = component.display();
    let file = compile(component);
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
