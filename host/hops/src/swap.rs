//! Requests to replace a proxy of a running chain by a newer version.

use tokio::sync::oneshot;

use crate::member::Terms;
use acp_chain_channel::{Failure, FailurePolicy, Source};

/// Called with the reason when a version ends early.
pub type EndCallback = Box<dyn Fn(&str) + Send>;

/// A newer version of a proxy, to replace it between two messages.
pub struct Swap {
    /// The proxy, by its id in the manifest.
    pub proxy: String,
    /// Starts the new version, also after a failure. The source must apply the terms itself.
    pub source: Box<dyn Source>,
    /// Its terms; their failure policy is ignored in favour of `on_failure`.
    pub terms: Terms,
    /// The failure policy; `None`: the one that the version declares.
    pub on_failure: Option<FailurePolicy>,
    /// Reports that the new version is in place, or why it is not, in which case the old version stays.
    pub done: oneshot::Sender<Result<(), Failure>>,
    /// Called with the reason when an older version ends with unfinished work.
    pub cut_short: EndCallback,
}

impl Swap {
    /// Reports that the old version stays in place, and why. The receiver may be closed.
    pub fn decline(self, failure: Failure) {
        let _ = self.done.send(Err(failure));
    }
}

impl std::fmt::Debug for Swap {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Swap")
            .field("proxy", &self.proxy)
            .finish_non_exhaustive()
    }
}
