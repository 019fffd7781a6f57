//! `acp-chain run`: the command that editors launch.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::agent::AgentArgs;
use super::plan::{Failed, Plan, failed};
use super::project::{self, client::Finding, client::Options};
use super::protected::{self, Named};
use super::trace::{self, Target, Traced};
use super::{folders, open, otel, words};
use acp_chain_channel::limits::LINE;
use acp_chain_conductor::native::{self, CommandLine, SpawnError, Supervisor};
use acp_chain_conductor::trace::Trace;
use acp_chain_conductor::{self as chain, Chain, Exit, Role, Settings, StartError};
use acp_chain_manifest::{Manifest, Remote, User};
use acp_chain_rpc::code;
use acp_chain_rpc::transport::Transport;
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_sandbox::Directories;
use acp_chain_system::{descriptors, stdio, stop, terminal};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain run --with rules --with redact -- claude-agent-acp
  acp-chain run --with redact gemini
  acp-chain run --with redact --connect https://agents.example/acp
  acp-chain run --manifest acp-chain.toml
  acp-chain run --trace trace.jsonl -- claude-agent-acp

In a terminal:
  it hands the terminal to the agent, without proxies, and refuses if that would leave out some that you named or have in
  your config.toml; `acp-chain try` takes turns there. `ACP_CHAIN_SIGN_IN=1` in the environment says that it is to sign in

Exit codes:
  the agent's own  once it has run; 128 and the signal's number if a signal ended it
  1                the manifest, a proxy or the agent does not start
  2                the command line is wrong, no agent is named, or a stream or the trace cannot be used
  126              the agent's command cannot be run
  127              the agent's command was not found")]
pub struct Run {
    /// The manifest; by default, the chain in the user's config.toml
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    /// Also append this extension to the chain; guards go next to the agent
    #[arg(long, value_name = "EXTENSION")]
    with: Vec<String>,
    /// Give all sessions the project of this folder, whatever their working directory
    #[arg(long, value_name = "DIR", conflicts_with = "no_project")]
    project: Option<PathBuf>,
    /// Give no session the proxies of a project; so does `--manifest`, which names the whole chain
    #[arg(long)]
    no_project: bool,
    #[command(flatten)]
    pub target: Target,
    /// The trace file, once the settings are read.
    #[arg(skip)]
    pub traced: Option<Traced>,
    #[command(flatten)]
    pub agent: AgentArgs,
    /// More arguments for the manifest's agent. Editors append them, and open a terminal, to let the user
    /// sign in.
    #[arg(skip)]
    pub appended: Vec<OsString>,
    /// Further files that no proxy may write to, each with its description.
    #[arg(skip)]
    pub protected: Vec<(&'static str, PathBuf)>,
    /// The `--settings` of an editor's command line.
    #[arg(skip)]
    pub settings: Option<PathBuf>,
    /// The log arguments, for programs of ours that this starts.
    #[arg(skip)]
    pub logging: Vec<OsString>,
    /// The supervisor, if it is running already.
    #[arg(skip)]
    pub supervisor: Option<Supervisor>,
}

impl Run {
    /// A run with the same proxies for all sessions.
    pub fn of_all(manifest: Option<PathBuf>, with: Vec<String>, agent: AgentArgs) -> Self {
        Self {
            manifest,
            with,
            project: None,
            no_project: true,
            target: Target::default(),
            traced: None,
            agent,
            appended: Vec::new(),
            protected: Vec::new(),
            settings: None,
            logging: Vec::new(),
            supervisor: None,
        }
    }

    pub fn main(mut self, log: Option<PathBuf>) -> ExitCode {
        if super::has_terminal() {
            return self.hand_over().unwrap_or_else(|error| {
                tell!("acp-chain: {}", error.error);
                ExitCode::from(error.exit_code)
            });
        }
        on_a_runtime(self.serve(log))
    }

    async fn serve(mut self, log: Option<PathBuf>) -> Result<u8, String> {
        self.traced = self.target.traced();
        let trace = trace::open_target(self.traced.as_ref())?;
        let trace = otel::exported(trace, self.target.propagates(), log.as_deref());
        let unusable = |error| format!("standard input or output cannot be used: {error}");
        let streams = Transport::lines(
            stdio::input().map_err(unusable)?,
            stdio::output().map_err(unusable)?,
            LINE,
        );
        let client = Transport {
            is_read: stdio::is_output_read,
            ..streams
        };
        self.serve_client(client, trace, log, stop::requested(), |_| ())
            .await
    }

    /// Serves a client, until either end disconnects, or until `stop`; `begun` is called with the chain once it has
    /// started. Returns the exit code.
    pub async fn serve_client(
        mut self,
        client: Transport,
        trace: Option<Trace>,
        log: Option<PathBuf>,
        stop: impl Future<Output = ()>,
        begun: impl Fn(&Chain),
    ) -> Result<u8, String> {
        let live = trace.as_ref().and_then(trace::live_folder);
        let settings = Settings {
            trace: trace.map(Trace::tracer),
            log: log.clone(),
            tells_of_unused_tools: true,
            ..Settings::default()
        };
        let program = settings.program.clone();
        let mut supervisor = self.supervisor.take();
        let mut broken: Option<Failed> = None;
        let mut start = async |role| {
            if let Some(failed) = &broken {
                return Err(failed.clone());
            }
            let plan = self.plan(role, log.as_deref())?;
            let supervisor = match supervisor.take() {
                Some(early) => early,
                None => supervise(&program)?,
            };
            // Components open files. Programs that the supervisor starts keep the usual limit.
            descriptors::raise();
            let loaded = plan.load(Some(supervisor)).await?;
            let started = loaded.start(live.as_ref()).await.inspect(&begun);
            started.inspect_err(|failed| broken = Some(with_advice(failed)))
        };
        let mut exit_code = 0;
        let start = async |role| start(role).await.map_err(start_error(&mut exit_code));
        let exit = chain::serve(client, start, stop, settings).await;
        Ok(code_of(exit, exit_code))
    }

    /// Hands the terminal to the agent: not an editor, but a user has started this, perhaps to sign in (RFD
    /// auth-methods).
    fn hand_over(&mut self) -> Result<ExitCode, Failed> {
        let (_, manifest) = self.read()?;
        let is_sign_in =
            env::var_os(chain::sign_in::VARIABLE).is_some_and(|value| !value.is_empty());
        let has_proxies = manifest.as_ref().is_some_and(|all| !all.proxies.is_empty());
        if has_proxies && !is_sign_in {
            return Err(Failed {
                exit_code: 2,
                ..failed(&format!(
                    "in a terminal, the agent would run without the proxies of your chain: `acp-chain try` takes \
                     turns with them. To sign in to the agent, set {}=1",
                    chain::sign_in::VARIABLE
                ))
            });
        }
        tell!("acp-chain: this terminal is the agent's, and no proxies run");
        if manifest
            .as_ref()
            .is_some_and(|manifest| manifest.agent.is_some())
        {
            // An editor appends arguments without a `--`, so a name may be the agent's first argument.
            self.appended.splice(0..0, self.agent.take_unknown());
        }
        let mut command = self.command(manifest.as_ref())?;
        if Remote::is_behind(&command) {
            return Err(Failed {
                exit_code: 2,
                ..failed(
                    &"a remote agent cannot use this terminal; `acp-chain try --connect URL` takes a \
                      turn with it, and its operator knows how to sign in there",
                )
            });
        }
        command.args.append(&mut self.appended);
        terminal::hand_over(command.plain()).map_err(|error| {
            let error = SpawnError::new("agent", &command, error);
            Failed {
                exit_code: error.exit_code(),
                ..failed(&error)
            }
        })
    }

    /// The agent's command line.
    pub fn agent_command(&self) -> Result<CommandLine, Failed> {
        let (_, manifest) = self.read()?;
        self.command(manifest.as_ref())
    }

    /// The user's settings, and the chain if there is one.
    fn read(&self) -> Result<(User, Option<Manifest>), Failed> {
        let user = super::user().map_err(|error| failed(&error))?;
        if self.manifest.is_none() && self.with.is_empty() && !user.has_chain() {
            return Ok((user, None));
        }
        let installed = super::installed(&user).map_err(|error| failed(&error))?;
        let manifest = match &self.manifest {
            Some(path) => Manifest::read(path, &user, &installed),
            None => Manifest::of_user(&user, &installed),
        };
        let mut manifest = manifest.map_err(|error| failed(&error))?;
        let present = manifest.add(&self.with, &user, &installed);
        for name in present.map_err(|error| failed(&error))? {
            tracing::info!("`--with {name}` adds nothing: the chain has `{name}` already");
        }
        Ok((user, Some(manifest)))
    }

    /// Checks the chain of this command line without starting it. The user's own chain is not checked if the command
    /// line adds nothing to it.
    pub fn check(&self) -> Result<(), String> {
        if let Some(settings) = &self.settings {
            let user = User::read_named(settings).and_then(super::checked);
            user.map_err(|error| error.to_string())?;
        }
        let own = || {
            let user = super::user().ok()?;
            let installed = super::installed(&user).ok()?;
            Manifest::of_user(&user, &installed).ok()
        };
        if self.manifest.is_none() && (self.with.is_empty() || own().is_none()) {
            return Ok(());
        }
        let wrong = |failed: Failed| failed.error.to_string();
        let (user, manifest) = self.read().map_err(wrong)?;
        let Some(manifest) = manifest else {
            return Ok(());
        };
        check_grant(&manifest, &user).map_err(wrong)?;
        manifest.check_guards()?;
        let directories = open(&manifest)?;
        protected::check(&manifest, &directories, &Named::default())
    }

    /// The plan of the chain in this role.
    pub fn plan(&self, role: Role, log: Option<&Path>) -> Result<Plan, Failed> {
        folders::check_owners().map_err(|error| failed(&error))?;
        let (user, manifest) = self.read()?;
        if let Some(manifest) = &manifest {
            check_grant(manifest, &user)?;
        }
        let directories = match &manifest {
            Some(manifest) => self.open(manifest, log).map_err(|error| failed(&error))?,
            None => Vec::new(),
        };
        let agent = match role {
            Role::Agent => Some(self.command(manifest.as_ref())?),
            Role::Proxy(_) if self.agent.is_empty() => None,
            Role::Proxy(dialect) => {
                let message = format!(
                    "an agent is named, so this chain is not a proxy, and does not support {}; leave out its \
                     name, and the command after `--`",
                    dialect.initialize()
                );
                return Err(Failed {
                    error: StartError {
                        message,
                        code: code::INVALID_REQUEST,
                    },
                    exit_code: 2,
                });
            }
        };
        let reach = manifest.as_ref().map(|manifest| manifest.reach);
        let projects = match role {
            Role::Agent if self.has_projects() => Some(self.finding(manifest.as_ref(), &user)?),
            // The parent decides about projects.
            Role::Agent | Role::Proxy(_) => None,
        };
        Ok(Plan {
            manifest,
            directories,
            agent,
            reach: user.reach.or(reach.unwrap_or_default()),
            projects,
            engine: None,
        })
    }

    /// Whether sessions get the proxies of their projects.
    fn has_projects(&self) -> bool {
        // Without a home folder, no project can be trusted.
        let may_be_trusted = folders::trust().is_some();
        may_be_trusted && !self.no_project && (self.manifest.is_none() || self.project.is_some())
    }

    /// How to find projects, and the files that their proxies may not write to.
    fn finding(&self, manifest: Option<&Manifest>, user: &User) -> Result<Finding, Failed> {
        let project = self.project.as_deref().map(project::root).transpose();
        let project = project.map_err(|error| failed(&format!("--project: {error}")))?;
        let options = Options {
            project: project.as_deref(),
            logging: &self.logging,
            refuses: project::refuses(user),
            traced: self.traced.as_ref(),
        };
        let beside = Named::new(self.command(manifest).ok(), None);
        let beside = match manifest {
            Some(manifest) => beside.and(manifest),
            None => beside,
        };
        let program = std::env::current_exe();
        program
            .and_then(|program| Finding::new(&program, &options, beside))
            .map_err(|error| failed(&format!("projects cannot be found: {error}")))
    }

    /// Opens the directories of all proxies, in the manifest's order.
    fn open(&self, manifest: &Manifest, log: Option<&Path>) -> Result<Vec<Directories>, String> {
        let directories = open(manifest)?;
        let traced = self.traced.as_ref().map(Traced::files);
        let files = log.into_iter().map(Path::to_owned);
        let files: Vec<_> = files.chain(traced.into_iter().flatten()).collect();
        let files = files.iter().map(PathBuf::as_path);
        let named = Named::new(self.command(Some(manifest)).ok(), files).with(&self.protected);
        protected::check(manifest, &directories, &named)?;
        Ok(directories)
    }

    fn command(&self, manifest: Option<&Manifest>) -> Result<CommandLine, Failed> {
        let named = self.agent.command().map_err(|error| Failed {
            exit_code: 2,
            ..failed(&error)
        })?;
        named
            .or_else(|| manifest.and_then(|manifest| manifest.agent.clone()))
            .ok_or_else(|| Failed {
                exit_code: 2,
                ..failed(
                    &"no agent is named; give the name of one that `acp-chain agent list` shows, or a command after \
                      `--`, or a URL with `--connect`, or one in the manifest's `[agent]`, or let a conductor start this as a proxy",
                )
            })
    }
}

/// Serves on one thread, since other threads would keep their rights. Returns the exit code.
pub fn on_a_runtime(serve: impl Future<Output = Result<u8, String>>) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let served = match runtime {
        Ok(runtime) => {
            let served = runtime.block_on(serve);
            // A thread that reads a terminal, or compiles, would delay the end.
            runtime.shutdown_background();
            served
        }
        Err(error) => Err(format!("the runtime does not start: {error}")),
    };
    match served {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            tell!("acp-chain: {error}");
            ExitCode::from(2)
        }
    }
}

/// The error for the client about a failed chain; records the exit code for it.
pub fn start_error(exit_code: &mut u8) -> impl FnOnce(Failed) -> StartError {
    |failed| {
        *exit_code = failed.exit_code;
        failed.error
    }
}

/// The exit code after a connection: the agent's, or `failed` if no chain started.
pub fn code_of(exit: Exit, failed: u8) -> u8 {
    match exit {
        Exit::NeverBegan => failed,
        Exit::Ended { agent } => agent.map_or(0, native::exit_code),
    }
}

/// Starts the supervisor, which starts programs and opens sockets for this process.
pub fn supervise(program: &Path) -> Result<Supervisor, Failed> {
    Supervisor::start(program).map_err(|error| {
        let program = Untrusted::new(program.display());
        failed(&format!("`{program} supervise` cannot be started: {error}"))
    })
}

/// The error of a chain that broke after rights had been given up.
fn with_advice(failed: &Failed) -> Failed {
    let mut failed = failed.clone();
    let message = &mut failed.error.message;
    message.push_str(". To try again, restart acp-chain");
    failed
}

/// Fails if the manifest has a native proxy, and the user does not allow native proxies.
pub fn check_grant(manifest: &Manifest, user: &User) -> Result<(), Failed> {
    match manifest.natives().next().filter(|_| !user.native) {
        Some((entry, _)) => {
            let file = folders::config_file();
            let wrong = format!(
                "it is a program with all of your rights: {}",
                words::not_granted(file.as_deref())
            );
            Err(failed(&manifest.about(entry, &wrong)))
        }
        None => Ok(()),
    }
}
