//! `acp-chain project-chain`: runs the proxies of one project, as a proxy of the `acp-chain run` that starts it.
//!
//! It does not trust its parent: it rereads the project and the user's decision, and runs the project only if its key
//! is the expected one, and the user agreed to it. Before a component runs, it gives up its rights.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::opened::Opened;
use super::wire::{Begin, first_line};
use crate::plan::{Failed, Plan, failed};
use crate::trace::{self, Traced};
use crate::{folders, run};
use acp_chain_channel::limits::LINE;
use acp_chain_conductor::trace::Trace;
use acp_chain_conductor::{self as chain, Role, Settings, StartError};
use acp_chain_mcp::reach::Reach;
use acp_chain_project::{Content, Keep, Standing, is_signed, vouched};
use acp_chain_rpc::code;
use acp_chain_rpc::transport::Transport;
use acp_chain_system::{descriptors, stdio, stop};

#[derive(Debug, clap::Args)]
pub struct ProjectChain {
    /// Where each hop of each message is written
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Leave secrets in it
    #[arg(long)]
    trace_bodies: bool,
}

impl ProjectChain {
    pub fn main(self, log: Option<PathBuf>) -> ExitCode {
        run::on_a_runtime(self.serve(log))
    }

    async fn serve(self, log: Option<PathBuf>) -> Result<u8, String> {
        let unusable = |error| format!("standard input or output cannot be used: {error}");
        let mut reader = stdio::input().map_err(unusable)?;
        let writer = stdio::output().map_err(unusable)?;
        let begin = first_line(&mut reader).await;
        let begin = begin.and_then(|line| serde_json::from_slice::<Begin>(&line).ok());
        let begin = begin.ok_or("`project-chain` is for acp-chain itself to start")?;
        let bodies = self.trace_bodies;
        let traced = self.trace.map(|path| Traced { path, bodies });
        let opened = trace::open_target(traced.as_ref())?;
        let live = opened.as_ref().and_then(trace::live_folder);
        let settings = Settings {
            trace: opened.map(Trace::tracer),
            log: log.clone(),
            ..Settings::default()
        };
        let traced = traced.as_ref().map(Traced::files);
        let files = log.into_iter().chain(traced.into_iter().flatten());
        let files: Vec<_> = files.collect();
        let mut broken: Option<Failed> = None;
        let mut start = async |role| {
            if let Some(failed) = &broken {
                return Err(failed.clone());
            }
            // Components open files.
            descriptors::raise();
            let loaded = plan(role, &begin, &files)?.load(None).await?;
            let started = loaded.start(live.as_ref()).await;
            // By then, rights are given up for good.
            started.inspect_err(|failed| broken = Some(failed.clone()))
        };
        let mut exit_code = 0;
        let start = async |role| start(role).await.map_err(run::start_error(&mut exit_code));
        let client = Transport::lines(reader, writer, LINE);
        let exit = chain::serve(client, start, stop::requested(), settings).await;
        Ok(run::code_of(exit, exit_code))
    }
}

/// The chain to run, if the user agreed to it.
fn plan(role: Role, begin: &Begin, files: &[PathBuf]) -> Result<Plan, Failed> {
    if role == Role::Agent {
        return Err(Failed {
            error: StartError {
                message: "the proxies of a project are no agent".to_owned(),
                code: code::INVALID_REQUEST,
            },
            exit_code: 2,
        });
    }
    let mut opened = agreed(begin, files).map_err(|error| failed(&error))?;
    if begin.guards_only {
        opened.retain_guards();
    }
    Ok(Plan {
        manifest: Some(opened.manifest),
        directories: opened.directories,
        agent: None,
        reach: Reach::default(),
        projects: None,
        engine: None,
    })
}

fn agreed(begin: &Begin, files: &[PathBuf]) -> Result<Opened, String> {
    folders::check_owners()?;
    let root = Path::new(&begin.root);
    let command = format!("`acp-chain trust {}`", super::shell::word(root));
    let user = crate::user().map_err(|error| error.to_string())?;
    let installed = crate::installed(&user)?;
    let records = super::records()?;
    let content = Content::read(root, &installed.carried, Keep::Components);
    let content = content.map_err(|error| error.to_string());
    let (content, standing) = match content {
        Ok(content) if content.key() == begin.key => {
            let standing = records.standing(root, Some(&content));
            (content, standing.map_err(|error| error.to_string())?)
        }
        other => match records.kept(root, &installed.carried, Keep::Components) {
            Some((record, kept)) if kept.key() == begin.key => (kept, Standing::Trusted(record)),
            _ => {
                other?;
                return Err(format!(
                    "its files are no longer those that you agreed to, so its proxies cannot start: {command} shows \
                     what is different, and sessions that begin after your yes have the new ones"
                ));
            }
        },
    };
    let may_run = match &standing {
        Standing::Trusted(_) => true,
        Standing::Changed(_) | Standing::Unknown => is_signed(&content, &user.signers),
        Standing::Denied(_) => false,
    };
    if !may_run {
        return Err(format!("you have not agreed to it; {command} asks you"));
    }
    let files = files.iter().map(PathBuf::as_path);
    let named = begin.beside.clone().written(files);
    let opened = Opened::new(content, &user, &installed, &named)?;
    let agreed = opened.agreed();
    let is_trusted = match &standing {
        Standing::Trusted(record) => record.lets(&agreed),
        _ => vouched(&opened.content, &agreed, &user.signers).is_some(),
    };
    if is_trusted {
        Ok(opened)
    } else {
        Err(format!(
            "its proxies ask for more than you agreed to, though its files are the same; {command} shows what it is"
        ))
    }
}
