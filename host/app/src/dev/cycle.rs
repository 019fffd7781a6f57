//! The developer's loop: changes are built, and the result is swapped into the chain.
//!
//! Invariant: a version that cannot be built, loaded or started changes nothing in the chain, and each is tried once. A
//! build is cancelled when the sources change.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use super::builds::Builds;
use super::developed::DevProject;
use super::sources::Sources;
use super::tell;
use crate::{Error, Report};
use acp_chain::host::Host;
use acp_chain_conductor::Swap;
use acp_chain_extension::Digest;
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_sandbox::apart;

/// A build that takes longer is announced while it runs.
const LONG: Duration = Duration::from_secs(2);

/// How many builds in a row are cancelled, in case a program changes the sources all the time.
const MOST_CANCELLED: u32 = 3;

/// The result of the last build: a version, or an error.
pub type BuildResult = Option<Result<Digest, String>>;

/// The parts of the loop.
pub struct Cycle {
    pub project: DevProject,
    pub builds: Builds,
    pub sources: Sources,
    pub host: Arc<Host>,
    /// Accepts newer versions for the chain.
    pub swaps: mpsc::Sender<Swap>,
    /// Reports the result of each build.
    pub built: watch::Sender<BuildResult>,
    /// The version with which the chain started, once it has.
    pub begun: watch::Receiver<Option<Digest>>,
    pub report: &'static dyn Report,
}

impl Cycle {
    /// Builds, and rebuilds whenever the sources have changed.
    pub async fn run(mut self) -> Infallible {
        let (mut known, mut tried) = (None, None);
        let mut cancelled = 0;
        loop {
            let sources = self.sources.digest().await;
            // Unreadable sources are examined at the next change.
            if let Some(sources) = sources.filter(|sources| known != Some(*sources)) {
                // They may have changed since the build began.
                let is_built = self.build(sources, cancelled < MOST_CANCELLED).await;
                cancelled = if is_built { 0 } else { cancelled + 1 };
                known = is_built.then_some(sources);
                continue;
            }
            let begun = *self.begun.borrow_and_update();
            let built = match &*self.built.borrow() {
                Some(Ok(version)) => Some(*version),
                _ => None,
            };
            if tried.is_none() {
                tried = begun;
            }
            if tried.is_some() && built.is_some() && tried != built {
                tried = built;
                match self.swap().await {
                    Ok(()) => tell(self.report, "swapped"),
                    Err(error) => tell(self.report, &format!("the old version goes on: {error}")),
                }
            }
            tokio::select! {
                () = self.sources.changed() => {}
                Ok(()) = self.begun.changed() => {}
            }
        }
    }

    /// Builds. If `may_be_cancelled`, a change of the sources cancels the build. Returns whether it was completed.
    async fn build(&mut self, known: Digest, may_be_cancelled: bool) -> bool {
        let (sources, component) = (&mut self.sources, &self.project.component);
        let changed = async {
            loop {
                sources.changed().await;
                // Builds write, too.
                let now = sources.digest().await;
                if may_be_cancelled && now.is_some_and(|now| now != known) {
                    return;
                }
            }
        };
        let mut building = pin!(self.builds.build(component, changed));
        let built = match timeout(LONG, &mut building).await {
            Ok(built) => built,
            Err(_) => {
                tell(self.report, "building …");
                building.await
            }
        };
        let Some(built) = built else { return false };
        let built = built.and_then(|took| {
            let version = self.project.version();
            Ok((took, version.map_err(|error| error.to_string())?))
        });
        let built = match built {
            Ok((took, version)) => {
                let is_new = self.built.borrow().as_ref() != Some(&Ok(version));
                let same = if is_new { "" } else { ", the same as before" };
                tell(
                    self.report,
                    &format!("built in {:.1} s{same}", took.as_secs_f64()),
                );
                Ok(version)
            }
            Err(error) => {
                let lines = error.lines().map(|line| Untrusted::new(line).to_string());
                let error = lines.collect::<Vec<_>>().join("\n");
                tell(self.report, &format!("it does not build\n{error}"));
                Err(error)
            }
        };
        self.built.send_replace(Some(built));
        true
    }

    async fn swap(&self) -> Result<(), Error> {
        let (project, host, report) = (self.project.clone(), self.host.clone(), self.report);
        let (swap, swapped) = apart(move || project.load(&host, report))
            .await
            .map_err(Error::Io)??;
        self.swaps.send(swap).await.map_err(|_| Error::ChainEnded)?;
        let swapped = swapped.await.map_err(|_| Error::ChainEnded)?;
        swapped.map_err(Error::NotStarted)
    }
}
