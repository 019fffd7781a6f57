//! The developer's loop: changes are built, and the result is swapped into the chain.
//!
//! Invariant: a version that cannot be built, loaded or started changes nothing in the chain, and each is tried once.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use super::builds::Builds;
use super::developed::{Developed, Swapped};
use super::sources::Sources;
use super::told::tell;
use crate::chain::Swap;
use crate::extension::Digest;
use crate::host::Host;
use crate::sandbox::apart;
use crate::untrusted::Untrusted;

/// A build that takes longer is announced while it runs.
const LONG: Duration = Duration::from_secs(2);

/// The result of the last build: a version, or an error.
pub type Built = Option<Result<Digest, String>>;

/// The parts of the loop.
pub struct Cycle {
    pub developed: Developed,
    pub builds: Builds,
    pub sources: Sources,
    pub host: Arc<Host>,
    /// Accepts newer versions for the chain.
    pub swaps: mpsc::Sender<Swap>,
    /// Reports the result of each build.
    pub built: watch::Sender<Built>,
    /// The version with which the chain started, once it has.
    pub begun: watch::Receiver<Option<Digest>>,
}

impl Cycle {
    /// Builds, and rebuilds whenever the sources have changed.
    pub async fn run(mut self) -> Infallible {
        let (mut known, mut tried) = (None, None);
        loop {
            let sources = self.sources.digest().await;
            // If they cannot be read now, they are examined at the next change.
            if let Some(sources) = sources.filter(|sources| known != Some(*sources)) {
                known = Some(sources);
                self.build().await;
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
                    Ok(()) => tell("swapped"),
                    Err(error) => tell(&format!("the old version goes on: {error}")),
                }
            }
            tokio::select! {
                () = self.sources.changed() => {}
                Ok(()) = self.begun.changed() => {}
            }
        }
    }

    async fn build(&mut self) {
        let mut building = pin!(self.builds.build(&self.developed.component));
        let built = match timeout(LONG, &mut building).await {
            Ok(built) => built,
            Err(_) => {
                tell("building …");
                building.await
            }
        };
        let built = built.and_then(|took| Ok((took, self.developed.version()?)));
        let built = match built {
            Ok((took, version)) => {
                let is_new = self.built.borrow().as_ref() != Some(&Ok(version));
                let same = if is_new { "" } else { ", the same as before" };
                tell(&format!("built in {:.1} s{same}", took.as_secs_f64()));
                Ok(version)
            }
            Err(error) => {
                let lines = error.lines().map(|line| Untrusted::new(line).to_string());
                let error = lines.collect::<Vec<_>>().join("\n");
                tell(&format!("it does not build\n{error}"));
                Err(error)
            }
        };
        self.built.send_replace(Some(built));
    }

    async fn swap(&self) -> Result<(), String> {
        let (developed, host) = (self.developed.clone(), self.host.clone());
        let loaded = apart(move || developed.load(&host)).await;
        let (swap, swapped): (Swap, Swapped) = loaded.map_err(|error| error.to_string())??;
        let gone = "the chain has ended";
        self.swaps.send(swap).await.map_err(|_| gone)?;
        let swapped = swapped.await.map_err(|_| gone)?;
        swapped.map_err(|failure| format!("the new one does not start: {failure}"))
    }
}
