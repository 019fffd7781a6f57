//! A chain as a command line describes it: how it is planned, and served to one client.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use acp_chain_conductor::native::{self, CommandLine, SpawnError, Supervisor};
use acp_chain_conductor::trace::Trace;
use acp_chain_conductor::{self as chain, Chain, Exit, Role, Settings};
use acp_chain_extension::Installed;
use acp_chain_manifest::{HooksMode, Manifest, ManifestError, ReceiptsEntry, User};
use acp_chain_rpc::transport::Transport;
use acp_chain_sandbox::Directories;
use acp_chain_system::descriptors;

use crate::agent::{self, AgentChoice};
use crate::dry_run;
use crate::hooks::HooksPlan;
use crate::plan::{Plan, check_grant, supervise};
use crate::project::{self, Finder};
use crate::protected::{self, NamedFiles};
use crate::receipts::{self, AgreedBy};
use crate::trace::{self, TraceTarget};
use crate::values::ValuesPlan;
use crate::{ChainError, Error, Report, home, proxies};

/// What a command line says about a chain.
#[derive(Clone, Debug, Default)]
pub struct ChainOptions {
    /// The manifest; by default, the chain in the user's config.toml.
    pub manifest: Option<PathBuf>,
    /// Extensions that are appended to the chain.
    pub with: Vec<String>,
    /// The project of every session.
    pub project: Option<PathBuf>,
    /// Whether no session gets the proxies of a project.
    pub no_project: bool,
    pub agent: AgentChoice,
    /// Whether the agent's hooks are attached; by default, as the user's config.toml says. A manifest may be stricter.
    pub hooks: Option<HooksMode>,
    /// The trace file.
    pub target: Option<TraceTarget>,
    /// The log of receipts; its folder is absolute.
    pub receipts: Option<ReceiptsEntry>,
    /// The log file.
    pub log: Option<PathBuf>,
    /// Further files that no proxy may write to, each with its description.
    pub protected: Vec<(&'static str, PathBuf)>,
    /// Whether proxies are only called, and nothing that they do has an effect.
    pub is_dry_run: bool,
    /// The folder in which this process keeps reading and writing files, as those of its client.
    pub served: Option<Directories>,
    /// The log arguments, for programs of ours that this starts.
    pub logging: Vec<OsString>,
    /// The settings that an editor's command line names.
    pub settings: Option<PathBuf>,
    /// Why the chain cannot start, if that is known before its client says anything.
    pub failed: Option<ChainError>,
}

impl ChainOptions {
    /// The user's settings, and the chain, which may have no proxies.
    pub fn read(&self) -> Result<(User, Manifest), ChainError> {
        let user = self.user()?;
        let may_have_proxies = self.manifest.is_some() || !self.with.is_empty() || user.has_chain();
        let installed = if may_have_proxies {
            home::installed_in(self.agent.data.as_deref(), &user)?
        } else {
            Installed::default()
        };
        let mut manifest = Manifest::of(self.manifest.as_deref(), &user, &installed)?;
        let present = manifest.add(&self.with, &user, &installed);
        for name in present.map_err(ChainError::new)? {
            tracing::info!("`--with {name}` adds nothing: the chain has `{name}` already");
        }
        Ok((user, manifest))
    }

    fn user(&self) -> Result<User, ManifestError> {
        match &self.settings {
            Some(settings) => home::named_user(settings),
            None => home::user(),
        }
    }

    /// Checks the chain without starting it. The user's own chain is not checked if the command line adds nothing to
    /// it.
    pub fn check(&self) -> Result<(), ChainError> {
        if self.settings.is_some() {
            self.user()?;
        }
        let data = self.agent.data.as_deref();
        data.map_or(Ok(()), home::check_data)?;
        let own = || {
            let user = self.user().ok()?;
            let installed = home::installed_in(data, &user).ok()?;
            Manifest::of_user(&user, &installed).ok()
        };
        if self.manifest.is_none() && (self.with.is_empty() || own().is_none()) {
            return Ok(());
        }
        self.check_all()
    }

    /// Checks the whole chain, but not its agent, which a proxy does not have.
    fn check_all(&self) -> Result<(), ChainError> {
        let (user, manifest) = self.read()?;
        check_grant(&manifest, &user)?;
        Ok(protected::check_chain(&manifest)?)
    }

    /// The agent's command line.
    pub fn agent(&self) -> Result<CommandLine, ChainError> {
        self.command(&self.read()?.1)
    }

    /// The agent's command line, with this manifest.
    pub fn command(&self, manifest: &Manifest) -> Result<CommandLine, ChainError> {
        let named = self.agent.command().map_err(ChainError::misuse)?;
        named.or_else(|| manifest.agent.clone()).ok_or_else(|| {
            ChainError::misuse(
                "no agent is named; give the name of one that `acp-chain agent list` shows, or a command after \
                 `--`, or a URL with `--connect`, or one in the manifest's `[agent]`",
            )
        })
    }

    /// Checks what a start of the chain needs: proxies, the project, and the agent.
    fn check_start(&self) -> Result<(), ChainError> {
        self.check_all()?;
        if self.has_projects() {
            self.project_root()?;
        }
        self.check_agent()
    }

    /// Checks that the agent is named, and that its program is there.
    fn check_agent(&self) -> Result<(), ChainError> {
        let command = self.command(&self.read()?.1)?;
        let program = &command.program;
        if agent::find(&command, program).is_some() || Path::new(program).exists() {
            return Ok(());
        }
        let missing = io::ErrorKind::NotFound.into();
        Err(ChainError::program(&SpawnError::new(
            "agent", &command, missing,
        )))
    }

    /// The plan of the chain in this role.
    pub fn plan(&self, role: Role) -> Result<Plan, ChainError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        home::check_owners()?;
        let (user, mut manifest) = self.read()?;
        check_grant(&manifest, &user)?;
        if self.is_dry_run {
            dry_run::confine(&mut manifest)?;
        }
        let proxies = self.open(&manifest)?;
        let agent = match role {
            Role::Agent => Some(self.command(&manifest)?),
            Role::Proxy(_) if self.agent.is_empty() => None,
            Role::Proxy(dialect) => {
                return Err(ChainError::unfit(format_args!(
                    "an agent is named, so this chain is not a proxy, and does not support {}; leave out its \
                     name, and the command after `--`",
                    dialect.initialize()
                )));
            }
        };
        let projects = match role {
            Role::Agent if self.has_projects() => Some(self.finder(&manifest, &user)?),
            // The parent decides about projects.
            Role::Agent | Role::Proxy(_) => None,
        };
        let mut hooks = HooksPlan::new(self.hooks, &user, &manifest, &proxies);
        if projects.is_some() {
            hooks = hooks.with_projects(&user)?;
        }
        let mut values = ValuesPlan::new(&proxies, self.log.as_deref());
        if self.is_dry_run {
            values = values.in_dry_run();
        }
        let wants_receipts = self.receipts.is_some();
        Ok(Plan {
            about: wants_receipts
                .then(|| receipts::about(&manifest, &AgreedBy::User, self.is_dry_run)),
            reach: user.reach.or(manifest.reach),
            hooks,
            values,
            is_dry_run: self.is_dry_run,
            manifest,
            proxies,
            agent,
            projects,
            engine: None,
        })
    }

    /// Whether sessions get the proxies of their projects.
    fn has_projects(&self) -> bool {
        // Without a home folder, no project can be trusted.
        let may_be_trusted = home::trust().is_some();
        may_be_trusted
            && !self.no_project
            && !self.is_dry_run
            && (self.manifest.is_none() || self.project.is_some())
    }

    /// How to find projects, and the files that their proxies may not write to.
    fn finder(&self, manifest: &Manifest, user: &User) -> Result<Finder, ChainError> {
        let project = self.project_root()?;
        let (project, refuses) = (project.as_deref(), project::refuses(user));
        let beside = NamedFiles::new(self.command(manifest).ok(), &[]).and(manifest);
        let beside = beside.with(&self.receipts_files());
        let (logging, target) = (&self.logging, self.target.as_ref());
        std::env::current_exe()
            .and_then(|program| Finder::new(&program, logging, target, project, beside, refuses))
            .map(|finder| finder.with_receipts(self.receipts.as_ref()))
            .map_err(|error| ChainError::new(format_args!("projects cannot be found: {error}")))
    }

    /// The root of the project of every session, if one is named.
    fn project_root(&self) -> Result<Option<PathBuf>, ChainError> {
        let root = self.project.as_deref().map(project::root).transpose();
        root.map_err(|error| ChainError::new(format_args!("--project: {error}")))
    }

    /// The files of the receipts, which no proxy may write to.
    fn receipts_files(&self) -> Vec<(&'static str, PathBuf)> {
        let target = self.receipts.as_ref();
        target.map(receipts::files).unwrap_or_default()
    }

    /// Opens the directories of all proxies, in the manifest's order.
    fn open(&self, manifest: &Manifest) -> Result<Vec<acp_chain::host::ProxyPlan>, Error> {
        let proxies = proxies::open(manifest)?;
        if proxies.is_empty() {
            return Ok(proxies);
        }
        let files = written(self.log.as_deref(), self.target.as_ref());
        let named = NamedFiles::new(self.command(manifest).ok(), &files).with(&self.protected);
        let named = named.with(&self.receipts_files());
        protected::check(manifest, &proxies, &named)?;
        Ok(proxies)
    }

    /// Serves a client, until either end disconnects, or until `stop`; `begun` is called with the chain once it has
    /// started. A supervisor may be running already. Returns the exit code.
    ///
    /// A client that leaves without `initialize` cannot be told why no chain could have started; that is reported.
    pub async fn serve(
        &self,
        client: Transport,
        trace: Option<Trace>,
        mut supervisor: Option<Supervisor>,
        stop: impl Future<Output = ()>,
        begun: impl Fn(&Chain),
        report: &'static dyn Report,
    ) -> u8 {
        let live = trace.as_ref().and_then(trace::live_folder);
        let settings = Settings {
            trace: trace.map(Trace::tracer),
            log: self.log.clone(),
            tells_of_unused_tools: true,
            ..Settings::default()
        };
        let program = settings.program.clone();
        let mut is_asked = false;
        let start = async |role| {
            is_asked = true;
            let plan = self.plan(role)?;
            let supervisor = supervisor.take();
            let supervisor = supervisor.map_or_else(|| supervise(&program), Ok)?;
            // Components open files. Programs that the supervisor starts keep the usual limit.
            descriptors::raise();
            let mut loaded = plan.load(Some(supervisor), report).await?;
            loaded.keep(self.served.clone());
            let started = loaded.start(live.as_ref()).await.inspect(&begun);
            started.map_err(StartFailure::AfterRights)
        };
        let advice = ". To try again, restart acp-chain";
        let exit_code = serve(client, start, advice, stop, settings).await;
        if is_asked {
            return exit_code;
        }
        let failed = self.failed.clone();
        failed.map_or_else(|| self.check_start(), Err).map_or_else(
            |error| {
                report.warns(&error.to_string());
                error.exit_code
            },
            |()| exit_code,
        )
    }
}

/// The files that a process of a chain writes: its log, and its trace.
pub fn written(log: Option<&Path>, target: Option<&TraceTarget>) -> Vec<PathBuf> {
    let traces = target.map(TraceTarget::files).into_iter().flatten();
    log.map(Path::to_owned).into_iter().chain(traces).collect()
}

/// Why a chain does not start.
pub(crate) enum StartFailure {
    BeforeRights(ChainError),
    /// Rights are given up for good, so no other chain can start.
    AfterRights(ChainError),
}

impl<E: Into<ChainError>> From<E> for StartFailure {
    fn from(error: E) -> Self {
        Self::BeforeRights(error.into())
    }
}

/// Serves a client with the chain that starts in its role. A chain that breaks after rights were given up breaks all
/// later ones, with this advice in the error. Returns the exit code.
pub(crate) async fn serve(
    client: Transport,
    mut start: impl AsyncFnMut(Role) -> Result<Chain, StartFailure>,
    advice: &str,
    stop: impl Future<Output = ()>,
    settings: Settings,
) -> u8 {
    let mut broken: Option<ChainError> = None;
    let mut exit_code = 0;
    let start = async |role| {
        let started = match &broken {
            Some(error) => Err(error.clone()),
            None => start(role).await.map_err(|error| match error {
                StartFailure::BeforeRights(error) => error,
                StartFailure::AfterRights(error) => {
                    let mut advised = error.clone();
                    advised.error.message.push_str(advice);
                    broken = Some(advised);
                    error
                }
            }),
        };
        started.map_err(|error| {
            exit_code = error.exit_code;
            error.error
        })
    };
    match chain::serve(client, start, stop, settings).await {
        Exit::NeverBegan => exit_code,
        Exit::Ended { agent } => agent.map_or(0, native::exit_code),
    }
}
