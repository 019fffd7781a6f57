//! The agent's own hooks: which agent a command starts, and how its hooks are attached, for one run or for all of those
//! of a server.
//!
//! Invariants: no file of the user is written. Where hooks cannot be attached, nothing starts, or the user is told
//! before the first prompt.
//!
//! | file | what it is |
//! |---|---|
//! | `identify` | the agent that a command starts, by its package |
//! | `expected` | what becomes of the hooks, before a chain runs |
//! | `overlay` | the files that the hooks need for one run |

mod expected;
mod identify;
mod overlay;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use acp_chain::host::ProxyPlan;
use acp_chain_acp::{AFTER_TOOL, BEFORE_TOOL, PERMISSION};
use acp_chain_conductor::AgentHooks;
use acp_chain_conductor::native::{CommandLine, Supervisor};
use acp_chain_hooks::server::Server;
use acp_chain_hooks::{CannotAttach, KnownAgent, Run, SOCKET, TOKEN};
use acp_chain_manifest::{HooksMode, Manifest, ProxyKind, User};
use acp_chain_powers::{Actions, Kind, Peer, Power, Subject};
use acp_chain_project::Record;
use acp_chain_rpc::untrusted::Untrusted;
use serde_json::Value;

use crate::{ChainError, Error, home};

pub use expected::ExpectedHooks;
use identify::overrides;
pub use identify::{IdentifiedAgent, identify};

/// Why no hooks show what an agent runs.
#[derive(Debug, thiserror::Error)]
pub enum NoHooks {
    #[error("hooks are switched off")]
    Off,
    #[error("this acp-chain does not start the agent")]
    Elsewhere,
    #[error("no proxy needed them when acp-chain began; restart acp-chain")]
    Unneeded,
    #[error("{0}")]
    InHost(String),
    #[error("the agent is remote")]
    Remote,
    #[error("no package of an agent whose hooks are known is behind `{0}`")]
    Unknown(String),
    #[error("the hooks of {0} are not for one run: {1}")]
    NotForOneRun(&'static str, &'static str),
    #[error("the hooks of {agent} are tried with {tried} only")]
    Untried { agent: String, tried: &'static str },
    #[error("the hooks of {agent} are not tried like this: {why}")]
    OtherProgram { agent: String, why: String },
    #[error(
        "{agent} runs no hooks in ACP; where a proxy answers permission requests, it asks before each tool instead, and \
         proxies see only these requests, and no results (tried with {tried})"
    )]
    OnlyAsks { agent: String, tried: &'static str },
    #[error("the agent is started by `env`, which changes {0}")]
    Overridden(String),
    #[error("the agent's hooks cannot reach acp-chain: {0}")]
    Socket(#[source] io::Error),
    #[error(
        "on this system, acp-chain attaches no hooks: there is no private folder for their files"
    )]
    NoFolder,
    #[error("programs cannot be run in {0}, where the files of hooks are")]
    NoPrograms(String),
    #[error("{}: {}", Untrusted::new(.0.display()), .1)]
    File(PathBuf, io::Error),
    #[error(transparent)]
    Settings(#[from] CannotAttach),
}

/// What a chain wants of the agent's hooks.
#[derive(Clone, Debug, Default)]
pub struct HooksPlan {
    pub mode: HooksMode,
    /// The ids of the proxies that may see tool runs.
    pub proxies: Vec<String>,
    /// Whether proxies of projects may, too.
    pub are_for_projects: bool,
    /// In a chain that does not start the agent: why its hooks are not attached, if that is known.
    lack: Option<String>,
    /// Whether any of them may read results.
    reads_results: bool,
    /// Whether any of them may answer permission requests.
    answers_requests: bool,
}

/// The hooks of a chain, of one run or of [many](SharedHooks), and what users are told about them.
pub struct ChainHooks<H> {
    pub hooks: Option<H>,
    pub notice: Option<String>,
    /// Why there are no hooks, or they may not report all.
    lack: Option<String>,
}

/// How the host has attached the agent's hooks, for the processes that run the proxies of projects.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct AttachedHooks {
    pub are_attached: bool,
    /// Why they are not attached, or may not report all.
    pub lack: Option<String>,
}

impl<H> ChainHooks<H> {
    /// What the proxies of projects can rely on.
    pub fn attached(&self) -> AttachedHooks {
        AttachedHooks {
            are_attached: self.hooks.is_some(),
            lack: self.lack.clone(),
        }
    }
}

impl<H> Default for ChainHooks<H> {
    fn default() -> Self {
        Self {
            hooks: None,
            notice: None,
            lack: None,
        }
    }
}

/// The hooks of an agent that is started many times by one command.
pub struct SharedHooks {
    server: Server,
    agent: &'static KnownAgent,
    session_meta: Option<Value>,
    is_tried: bool,
    are_required: bool,
}

impl SharedHooks {
    /// The hooks of one run, and the token for the agent's environment. Has to be called within a runtime of tokio.
    pub fn begin(&self) -> io::Result<(AgentHooks, String)> {
        let reports = self.server.begin()?;
        let token = reports.token().to_owned();
        let meta = self.session_meta.clone();
        let hooks = AgentHooks::new(reports, self.agent, meta, self.is_tried, self.are_required);
        Ok((hooks, token))
    }
}

impl HooksPlan {
    /// The plan for these proxies of a manifest. `mode` takes the place of what the user's config.toml says; a manifest
    /// may be stricter.
    pub fn new(
        mode: Option<HooksMode>,
        user: &User,
        manifest: &Manifest,
        proxies: &[ProxyPlan],
    ) -> Self {
        let mode = mode.or(user.hooks).max(manifest.hooks);
        Self {
            mode: mode.unwrap_or_default(),
            proxies: seeing(proxies),
            reads_results: proxies.iter().any(|proxy| sees(proxy, AFTER_TOOL)),
            answers_requests: proxies
                .iter()
                .any(|proxy| may(proxy, Actions::ANSWER, PERMISSION)),
            ..Self::default()
        }
    }

    /// The plan for these proxies of a project, whose host has attached the agent's hooks, or has not. The host has
    /// followed the user's own mode already.
    pub fn of_project(
        manifest: &Manifest,
        proxies: &[ProxyPlan],
        attached: &AttachedHooks,
    ) -> Self {
        let (mode, proxies) = (manifest.hooks.unwrap_or_default(), seeing(proxies));
        let is_enough =
            attached.are_attached && (attached.lack.is_none() || mode != HooksMode::Required);
        if proxies.is_empty() || is_enough {
            return Self {
                mode: HooksMode::Off,
                ..Self::default()
            };
        }
        Self {
            mode,
            proxies,
            lack: attached.lack.clone(),
            ..Self::default()
        }
    }

    /// Also for the proxies of projects, if those that the user trusts have such powers, or those of a trusted signer
    /// may have them.
    pub fn with_projects(mut self, user: &User) -> Result<Self, Error> {
        // Projects that cannot be looked up have no proxies.
        let records = home::records()?.all().unwrap_or_else(|error| {
            tracing::warn!("the projects that you trust cannot be listed: {error}");
            Vec::new()
        });
        let trusted = records.iter().filter_map(Record::agreed).flatten();
        let vouched = user.signers.iter().flat_map(|signer| &signer.powers);
        let keys: Vec<_> = trusted
            .flat_map(|proxy| &proxy.powers)
            .chain(vouched)
            .collect();
        let sees = |method| {
            let mut powers = method_powers(method);
            powers.any(|power| keys.iter().any(|key| *key == power))
        };
        let reads_results = sees(AFTER_TOOL);
        self.are_for_projects = reads_results || sees(BEFORE_TOOL);
        self.reads_results |= reads_results;
        self.answers_requests |= keys.iter().any(|key| *key == "permissions.answer");
        Ok(self)
    }

    /// Whether anything needs hooks.
    pub fn needs_hooks(&self) -> bool {
        !self.proxies.is_empty() || self.are_for_projects || self.mode == HooksMode::Required
    }

    /// Attaches the hooks of the agent that `command` starts once, if they are needed. Has to be called within a
    /// runtime of tokio, and before the supervisor allows the command.
    pub fn attach(
        &self,
        command: Option<&mut CommandLine>,
        supervisor: &Supervisor,
    ) -> Result<ChainHooks<AgentHooks>, ChainError> {
        self.attach_by(command, |agent, command| {
            let shared = share(agent, command, supervisor, self)?;
            let (hooks, token) = shared.begin().map_err(NoHooks::Socket)?;
            command.env.push((TOKEN.into(), token.into()));
            Ok(hooks)
        })
    }

    /// Attaches the hooks of the agent that `command` starts many times, if they are needed. Has to be called within a
    /// runtime of tokio, which need not be that of the runs, and before the supervisor allows the command.
    pub fn attach_to_many(
        &self,
        command: Option<&mut CommandLine>,
        supervisor: &Supervisor,
    ) -> Result<ChainHooks<SharedHooks>, ChainError> {
        self.attach_by(command, |agent, command| {
            share(agent, command, supervisor, self)
        })
    }

    fn attach_by<H>(
        &self,
        command: Option<&mut CommandLine>,
        attach: impl FnOnce(&IdentifiedAgent, &mut CommandLine) -> Result<H, NoHooks>,
    ) -> Result<ChainHooks<H>, ChainError> {
        if !self.needs_hooks() {
            return Ok(ChainHooks {
                lack: Some(NoHooks::Unneeded.to_string()),
                ..ChainHooks::default()
            });
        }
        let attached = match (self.mode, command) {
            (HooksMode::Off, _) => Err(NoHooks::Off),
            (_, None) => Err(NoHooks::Elsewhere),
            (_, Some(command)) => identify(command).and_then(|agent| {
                // Questions about which no proxy decides would only disturb the user.
                let is_asked_in_vain = agent.agent.only_asks() && !self.answers_requests;
                if self.mode == HooksMode::Required || is_asked_in_vain {
                    agent.check_reports()?;
                }
                Ok((attach(&agent, command)?, agent))
            }),
        };
        match attached {
            Ok((hooks, agent)) => {
                let lack = agent.check_reports().err();
                let notice = lack.as_ref().map(|why| {
                    format!("what the agent runs may not all be seen beforehand: {why}")
                });
                Ok(ChainHooks {
                    hooks: Some(hooks),
                    notice,
                    lack: lack.as_ref().map(ToString::to_string),
                })
            }
            Err(why) => self.without(&why),
        }
    }

    /// The consequence in a chain that does not start the agent.
    pub fn elsewhere<H>(&self) -> Result<ChainHooks<H>, ChainError> {
        let why = self.lack.clone().map(NoHooks::InHost);
        self.without(&why.unwrap_or(NoHooks::Elsewhere))
    }

    /// The consequence of a chain without hooks, for this reason.
    pub fn without<H>(&self, why: &NoHooks) -> Result<ChainHooks<H>, ChainError> {
        if self.mode == HooksMode::Required {
            return Err(ChainError::new(format_args!(
                "`hooks` is `required`, and the agent's hooks cannot be attached: {why}; with `best-effort` it starts \
                 all the same, and you are notified"
            )));
        }
        if matches!(why, NoHooks::Off) {
            // The user's own decision.
            tracing::info!("proxies see only what the agent asks and reports: {why}");
            return Ok(ChainHooks {
                lack: Some(why.to_string()),
                ..ChainHooks::default()
            });
        }
        let notice = (!self.proxies.is_empty()).then(|| {
            format!(
                "{} can see only what the agent asks and reports, not each tool before it runs: {why}",
                self.names()
            )
        });
        Ok(ChainHooks {
            hooks: None,
            notice,
            lack: Some(why.to_string()),
        })
    }

    fn names(&self) -> String {
        let names: Vec<_> = self.proxies.iter().map(|id| format!("`{id}`")).collect();
        names.join(", ")
    }
}

/// What hooks do not keep off on this system, for users; `None` if the system tells which processes report.
pub fn unchecked_reports() -> Option<&'static str> {
    (!Supervisor::KNOWS_DESCENT).then_some(
        "on this system, acp-chain does not look at the process that reports: a command that runs can report calls \
         that never were, and so hide one that had no hook",
    )
}

/// The keys of the powers over messages of this method.
fn method_powers(method: &'static str) -> impl Iterator<Item = &'static str> {
    let powers = Power::all().filter(move |power| power.methods().any(|own| own == method));
    powers.map(|power| power.key)
}

/// The ids of those among these proxies that may see tool runs.
fn seeing(proxies: &[ProxyPlan]) -> Vec<String> {
    let seeing = proxies
        .iter()
        .filter(|proxy| sees(proxy, BEFORE_TOOL) || sees(proxy, AFTER_TOOL));
    seeing.map(|proxy| proxy.entry.id.clone()).collect()
}

/// Whether the grant of a proxy covers requests of this method about tool runs.
fn sees(proxy: &ProxyPlan, method: &str) -> bool {
    may(proxy, Actions::TOUCH, method)
}

/// Whether the grant of a proxy covers any of these actions on the agent's requests of this method.
fn may(proxy: &ProxyPlan, actions: Actions, method: &str) -> bool {
    let ProxyKind::Component(component) = &proxy.entry.kind else {
        return false;
    };
    let subject = Subject {
        sender: Peer::Agent,
        kind: Kind::Request,
        method,
        update: None,
        is_replayed: false,
    };
    component.grant.covers(actions, &subject)
}

/// Opens the socket for the hooks of this agent, and attaches them to its command. The token of a run is still to be
/// added.
fn share(
    identified: &IdentifiedAgent,
    command: &mut CommandLine,
    supervisor: &Supervisor,
    plan: &HooksPlan,
) -> Result<SharedHooks, NoHooks> {
    let server = open(identified, supervisor)?;
    let folder = server.folder().ok_or(NoHooks::NoFolder)?;
    let client = overlay::client(folder)?;
    let session_meta = attach(identified, command, &server, &client, plan)?;
    let are_required = plan.mode == HooksMode::Required;
    server.restrict(supervisor, &client, are_required);
    if let Some(limit) = unchecked_reports() {
        tracing::warn!("{limit}");
    }
    Ok(SharedHooks {
        server,
        agent: identified.agent,
        session_meta,
        is_tried: identified.is_tried(),
        are_required,
    })
}

/// Opens the socket for the hooks of this agent.
fn open(identified: &IdentifiedAgent, supervisor: &Supervisor) -> Result<Server, NoHooks> {
    let agent = identified.agent;
    let dialect = agent.dialect();
    let dialect = dialect.ok_or_else(|| NoHooks::Unknown(agent.package.to_owned()))?;
    Server::open(dialect, Some(supervisor)).map_err(NoHooks::Socket)
}

/// Attaches the hooks of this agent, for which it starts `client`, to its command. Returns what merges into the `_meta`
/// of requests that set up a session.
fn attach(
    identified: &IdentifiedAgent,
    command: &mut CommandLine,
    server: &Server,
    client: &[String],
    plan: &HooksPlan,
) -> Result<Option<Value>, NoHooks> {
    let folder = server.folder().ok_or(NoHooks::NoFolder)?;
    let attachment = server.dialect().attach(&Run {
        client,
        overlay: folder,
        reads_results: plan.reads_results,
        are_required: plan.mode == HooksMode::Required,
        args: &command.args,
        variable: &|name| variable(command, name),
        text: &text,
        names: &names,
    })?;
    let mut names = attachment.variables.iter().map(|(name, _)| *name);
    if let Some(name) = names.find(|name| overrides(command, name)) {
        return Err(NoHooks::Overridden(name.to_owned()));
    }
    overlay::write(folder, &attachment.files)?;
    let set = attachment.variables.into_iter();
    let set = set.map(|(name, value)| (name.into(), value.into()));
    command.env.extend(set);
    let socket = server.path().as_os_str().to_owned();
    command.env.push((SOCKET.into(), socket));
    command
        .args
        .extend(attachment.args.into_iter().map(Into::into));
    tracing::info!("the hooks of {identified} are attached");
    Ok(attachment.meta)
}

/// A variable of the agent's environment.
fn variable(command: &CommandLine, name: &str) -> Option<String> {
    command.variable(name)?.into_string().ok()
}

fn text(path: &Path) -> io::Result<Option<String>> {
    found(fs::read_to_string(path))
}

/// The names in a folder. One that is not text cannot be named in the overlay, and is left out.
fn names(folder: &Path) -> io::Result<Vec<String>> {
    let entries = found(fs::read_dir(folder))?;
    let names = entries
        .into_iter()
        .flatten()
        .map(|entry| Ok(entry?.file_name().into_string().ok()));
    let names: Vec<_> = names.collect::<io::Result<_>>()?;
    Ok(names.into_iter().flatten().collect())
}

/// What was read; `None` if there is no such file.
fn found<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn file_error(path: &Path, error: io::Error) -> NoHooks {
    NoHooks::File(path.to_owned(), error)
}
