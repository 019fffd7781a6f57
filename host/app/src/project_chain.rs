//! The process that runs the proxies of one project, as a proxy of the host that starts it.
//!
//! It does not trust its parent: it rereads the project and the user's decision, and runs the project only if its key
//! is the expected one, and the user agreed to it. Before a component runs, it gives up its rights.

use std::path::{Path, PathBuf};

use crate::hooks::HooksPlan;
use crate::plan::Plan;
use crate::project::{OpenProject, ProjectStart, first_line};
use crate::receipts::{self, AgreedBy};
use crate::run::{self, StartFailure, written};
use crate::trace::{self, TraceTarget};
use crate::values::ValuesPlan;
use crate::{ChainError, Error, Report, home};
use acp_chain_channel::limits::LINE;
use acp_chain_conductor::trace::Trace;
use acp_chain_conductor::{Role, Settings};
use acp_chain_manifest::ReceiptsEntry;
use acp_chain_mcp::reach::Reach;
use acp_chain_project::{Content, Keep, Standing, is_signed, vouched};
use acp_chain_rpc::transport::Transport;
use acp_chain_system::{descriptors, stop};

/// Serves the host on standard input and output. Returns the exit code.
pub async fn serve(
    target: Option<TraceTarget>,
    ledger: Option<ReceiptsEntry>,
    log: Option<PathBuf>,
    report: &'static dyn Report,
) -> Result<u8, Error> {
    let (mut reader, writer) = crate::streams()?;
    let begin = first_line(&mut reader).await;
    let begin = begin.and_then(|line| serde_json::from_slice::<ProjectStart>(&line).ok());
    let begin = begin.ok_or(Error::Misused("project-chain", ""))?;
    let opened = trace::open(target.as_ref())?;
    // The host prints the last checkpoint of the log, which is one for all.
    let (trace, last) = receipts::observed(opened, ledger.as_ref(), log.as_deref())?;
    let live = trace.as_ref().and_then(trace::live_folder);
    let files = written(log.as_deref(), target.as_ref());
    let settings = Settings {
        trace: trace.map(Trace::tracer),
        log: log.clone(),
        sees_tool_runs: true,
        ..Settings::default()
    };
    let start = async |role| {
        // Components open files.
        descriptors::raise();
        let mut planned = plan(role, &begin, &files, log.as_deref())?;
        // Without receipts, it is not used.
        planned.about = planned.about.filter(|_| last.is_some());
        let loaded = planned.load(None, report).await?;
        let started = loaded.start(live.as_ref()).await;
        started.map_err(StartFailure::AfterRights)
    };
    let client = Transport::lines(reader, writer, LINE);
    Ok(run::serve(client, start, "", stop::requested(), settings).await)
}

/// The chain to run, if the user agreed to it.
fn plan(
    role: Role,
    begin: &ProjectStart,
    files: &[PathBuf],
    log: Option<&Path>,
) -> Result<Plan, ChainError> {
    if role == Role::Agent {
        return Err(ChainError::unfit("the proxies of a project are no agent"));
    }
    let (mut project, agreed_by) = agreed(begin, files)?;
    if begin.guards_only {
        project.retain_guards();
    }
    let hooks = HooksPlan::of_project(&project.manifest, &project.proxies, &begin.hooks);
    let values = ValuesPlan::new(&project.proxies, log).in_project(Path::new(&begin.root));
    Ok(Plan {
        about: Some(receipts::about(&project.manifest, &agreed_by, false)),
        manifest: project.manifest,
        proxies: project.proxies,
        agent: None,
        reach: Reach::default(),
        hooks,
        values,
        is_dry_run: false,
        projects: None,
        engine: None,
    })
}

fn agreed(begin: &ProjectStart, files: &[PathBuf]) -> Result<(OpenProject, AgreedBy), Error> {
    home::check_owners()?;
    let root = Path::new(&begin.root);
    let (user, installed) = home::settings()?;
    let records = home::records()?;
    let (content, standing) = match Content::read(root, &installed.carried, Keep::Components) {
        Ok(content) if content.key() == begin.key => {
            let standing = records.standing(root, Some(&content))?;
            (content, standing)
        }
        other => match records.kept(root, &installed.carried, Keep::Components) {
            Some((record, kept)) if kept.key() == begin.key => (kept, Standing::Trusted(record)),
            _ => {
                other?;
                return Err(Error::OtherFiles(root.to_owned()));
            }
        },
    };
    let may_run = match &standing {
        Standing::Trusted(_) => true,
        Standing::Changed(_) | Standing::Unknown => is_signed(&content, &user.signers),
        Standing::Denied(_) => false,
    };
    if !may_run {
        return Err(Error::NotAgreed(root.to_owned()));
    }
    let named = begin.beside.clone().written(files);
    let project = OpenProject::new(content, &user, &installed, &named)?;
    let agreed = project.agreed();
    let agreed_by = match &standing {
        Standing::Trusted(record) => {
            let is_enough = record.lets(&agreed);
            is_enough.then_some(AgreedBy::ProjectUser(begin.key))
        }
        _ => vouched(&project.content, &agreed, &user.signers)
            .map(|signer| AgreedBy::ProjectSigner(begin.key, signer.to_string())),
    };
    match agreed_by {
        Some(agreed_by) => Ok((project, agreed_by)),
        None => Err(Error::MorePowers(root.to_owned())),
    }
}
