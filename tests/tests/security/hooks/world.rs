//! A user with an agent that has hooks, and the program in front of it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use acp_chain_tests::chain::error_of;
use acp_chain_tests::envelope::Message;
use acp_chain_tests::host;
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use acp_chain_tests::tree::{self, MARK};
use acp_chain_tests::wire::in_time;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

const AGENT: &str = include_str!("agent.js");

/// The package of the agent that is like Claude Code.
pub(super) const CLAUDE: &str = "@agentclientprotocol/claude-agent-acp";

/// A user's folders, with an installed agent.
pub(super) struct World {
    _folder: TempDir,
    root: PathBuf,
    /// The words that start the agent.
    pub(super) agent: Vec<String>,
    program: PathBuf,
    /// The words in front of the program.
    pub(super) launcher: &'static [&'static str],
    /// `XDG_RUNTIME_DIR`.
    pub(super) run: PathBuf,
    /// `TMPDIR`.
    pub(super) tmp: PathBuf,
    /// Further variables of the program.
    pub(super) variables: Vec<(&'static str, String)>,
}

/// What the agent was told to run at an event, as any other process could run it.
#[derive(Clone)]
pub(super) struct Hook {
    pub(super) command: String,
    pub(super) socket: String,
    pub(super) token: String,
}

impl World {
    pub(super) fn claude() -> Self {
        Self::with(CLAUDE, "0.101.0")
    }

    pub(super) fn opencode() -> Self {
        Self::with("opencode-ai", "1.18.33")
    }

    pub(super) fn cline() -> Self {
        Self::with("cline", "3.0.65")
    }

    /// With an agent of this package, in this version.
    pub(super) fn with(package: &str, version: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        Self::at(folder, root, package, version)
    }

    /// In a folder of this name, which also has the program, and is not in the system's folder for temporary files.
    pub(super) fn named(name: &str) -> Self {
        let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let root = folder.path().canonicalize().unwrap().join(name);
        let mut world = Self::at(folder, root, CLAUDE, "0.101.0");
        let program = world.path("bin/acp-chain");
        fs::hard_link(&world.program, &program).unwrap();
        world.program = program;
        world
    }

    fn at(folder: TempDir, root: PathBuf, package: &str, version: &str) -> Self {
        let installed = root.join("lib/node_modules").join(package);
        for name in [
            "bin", "config", "home", "other", "project", "run", "state", "tmp",
        ] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        fs::set_permissions(root.join("run"), Permissions::from_mode(0o700)).unwrap();
        fs::create_dir_all(installed.join("dist")).unwrap();
        let about = json!({ "name": package, "version": version });
        fs::write(installed.join("package.json"), about.to_string()).unwrap();
        let script = installed.join("dist/index.js");
        host::executable(&script, AGENT).unwrap();
        let agent = root.join("bin/agent");
        symlink(script, &agent).unwrap();
        Self {
            _folder: folder,
            agent: vec![agent.into_os_string().into_string().unwrap()],
            program: host::program(),
            launcher: &[],
            run: root.join("run"),
            tmp: root.join("tmp"),
            variables: Vec::new(),
            root,
        }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Writes the user's settings.
    pub(super) fn config(&self, text: &str) {
        let folder = self.path("config/acp-chain");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("config.toml"), text).unwrap();
    }

    /// Starts `acp-chain run` with these options and this manifest, in front of the agent.
    pub(super) fn start(&self, options: &[&str], manifest: &str) -> Process {
        let path = self.path("acp-chain.toml");
        fs::write(&path, manifest).unwrap();
        let named = [OsStr::new("--manifest"), path.as_os_str()];
        self.launch(options.iter().map(OsStr::new).chain(named))
    }

    /// Starts `acp-chain run` with these options, in front of the agent.
    pub(super) fn launch(&self, options: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Process {
        let mut command = self.command("run");
        command.args(options);
        command.arg("--log-file").arg(self.path("log"));
        command.arg("--").args(&self.agent);
        Process::start("client", &Transcript::new(), command).unwrap()
    }

    /// A subcommand of the program, for this user.
    fn command(&self, subcommand: &str) -> Command {
        let launcher = self.launcher.iter().map(OsStr::new);
        let mut words = launcher.chain([self.program.as_os_str()]);
        let mut command = Command::new(words.next().unwrap());
        command.args(words).arg(subcommand);
        let usual = host::acp_chain(subcommand);
        command
            .env_remove("ACP_CHAIN_LOG")
            .env_remove("ACP_CHAIN_TRACE")
            .envs(host::environment(&usual))
            .env("HOME", self.path("home"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_DATA_HOME", self.path("data"))
            .env("XDG_STATE_HOME", self.path("state"))
            .env("XDG_RUNTIME_DIR", &self.run)
            .env("TMPDIR", &self.tmp)
            .env("ACP_CHAIN_TEST_AGENT", self.path("agent.jsonl"))
            .env(MARK, &self.root)
            .envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Agrees to the proxies of the project.
    pub(super) async fn trust(&self) {
        let shown = self.trust_with(&["--show", "--json"]).await;
        let shown: Value = serde_json::from_str(&shown).unwrap();
        let key = shown["key"].as_str().unwrap();
        self.trust_with(&["--digest", key]).await;
    }

    async fn trust_with(&self, options: &[&str]) -> String {
        let mut command = self.command("trust");
        command.args(options).arg(self.path("project"));
        let output = command.stdin(Stdio::null()).output().await.unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Starts the program, and begins the session `s`.
    pub(super) async fn begin(&self, options: &[&str], manifest: &str) -> Process {
        let mut client = self.start(options, manifest);
        client.initialize().await;
        self.set_up(&mut client, "session/new", json!({})).await;
        client
    }

    /// Sets up a session by this method; `params` has what else the request says. It is in the project, unless that
    /// says otherwise.
    pub(super) async fn set_up(&self, client: &mut Process, method: &str, params: Value) {
        let answer = self.ask_for_session(client, method, params).await;
        assert!(answer.result.is_some(), "{}", answer.line);
    }

    /// The answer to a request for a session, in the project unless `params` says otherwise.
    pub(super) async fn ask_for_session(
        &self,
        client: &mut Process,
        method: &str,
        mut params: Value,
    ) -> Message {
        if params["cwd"].is_null() {
            params["cwd"] = json!(self.path("project"));
        }
        params["mcpServers"] = json!([]);
        client.wire.request(method, &params.to_string()).await
    }

    /// The error of the program, which has to refuse to start.
    pub(super) async fn refusal(&self, options: &[&str], manifest: &str) -> String {
        let mut client = self.start(options, manifest);
        let begin = r#"{"protocolVersion":1}"#;
        let answer = client.wire.request("initialize", begin).await;
        let exit = client.finish().await.unwrap();
        assert_eq!(exit.status.code(), Some(1), "{exit:?}");
        error_of(&answer)
    }

    /// Whether the project has a file of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.path("project").join(name).exists()
    }

    /// What the agent has noted under this name.
    pub(super) fn noted(&self, name: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.path("agent.jsonl")).unwrap_or_default();
        let entries = text.lines().map(|line| serde_json::from_str(line).unwrap());
        entries
            .filter_map(|mut entry: Value| entry.get_mut(name).map(Value::take))
            .collect()
    }

    /// All that a model would have got from tools.
    pub(super) fn model(&self) -> String {
        Value::from(self.noted("model")).to_string()
    }

    /// The host's log.
    pub(super) fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap()
    }

    /// The first hook of an event, in the first session.
    pub(super) fn hook(&self, event: &str) -> Hook {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let (setup, started) = (&self.noted("setup")[0], &self.noted("started")[0]);
        let hooks = &setup["_meta"]["claudeCode"]["options"]["settings"]["hooks"];
        Hook {
            command: text(&hooks[event][0]["hooks"][0]["command"]),
            socket: text(&started["socket"]),
            token: text(&started["token"]),
        }
    }

    /// The contents of the user's own files.
    pub(super) fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        for folder in ["bin", "config", "home", "lib"] {
            collect(&self.path(folder), &mut found);
        }
        let is_ours = |path: &Path| {
            let path = path.strip_prefix(&self.root).unwrap();
            path.iter().any(|name| name == "acp-chain")
        };
        found.retain(|path, _| !is_ours(path));
        found
    }

    /// Waits until none of the program's processes runs, and checks that they have left nothing.
    pub(super) async fn is_left_clean(&self) {
        tree::is_gone(&Transcript::new(), &self.root).await;
        for place in [&self.run, &self.tmp] {
            let entries = fs::read_dir(place).unwrap();
            let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
            // This one is for the sockets of watchers, and stays.
            names.retain(|name| name != "acp-chain");
            assert!(names.is_empty(), "{names:?}");
        }
    }
}

impl Hook {
    /// Runs it with this report.
    pub(super) async fn report(&self, report: &Value) -> Output {
        let mut hook = Command::new("sh")
            .args(["-c", &self.command])
            .env("ACP_CHAIN_HOOK_SOCKET", &self.socket)
            .env("ACP_CHAIN_HOOK_TOKEN", &self.token)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut input = hook.stdin.take().unwrap();
        // One that cannot reach a host need not read.
        let _ = input.write_all(report.to_string().as_bytes()).await;
        drop(input);
        in_time("the hook", hook.wait_with_output()).await.unwrap()
    }

    /// Whether it refuses what is reported.
    pub(super) async fn refuses(&self, report: &Value) -> bool {
        is_refusal(&self.report(report).await)
    }
}

/// Whether Claude takes this for a refusal.
fn is_refusal(answer: &Output) -> bool {
    let told = String::from_utf8_lossy(&answer.stdout);
    match answer.status.code() {
        Some(0) => told.contains(r#""permissionDecision":"deny""#),
        Some(2) => !answer.stderr.is_empty(),
        _ => false,
    }
}

/// Adds the files below a folder, with their contents.
fn collect(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let about = fs::symlink_metadata(&path).unwrap();
        if about.is_dir() {
            collect(&path, found);
        } else {
            let content = about.is_file().then(|| fs::read(&path).unwrap());
            found.insert(path, content.unwrap_or_default());
        }
    }
}
