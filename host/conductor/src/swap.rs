//! A newer version of a proxy, on its way into a running chain.

use tokio::sync::oneshot;

use super::member::Terms;
use acp_chain_channel::{Failure, FailurePolicy, Source};

/// Called with the reason when a version ends early.
pub type CutShort = Box<dyn Fn(&str) + Send>;

/// A newer version of a proxy, to replace it between two messages.
pub struct Swap {
    /// The proxy, by its id in the manifest.
    pub proxy: String,
    /// Makes the new version, also after a failure. It applies the terms itself.
    pub source: Box<dyn Source>,
    /// Its terms, except for the policy, which is the one below.
    pub terms: Terms,
    /// The failure policy, unless the version itself declares it.
    pub on_failure: Option<FailurePolicy>,
    /// Told when it is in place, or why it is not, in which case the old version stays.
    pub done: oneshot::Sender<Result<(), Failure>>,
    /// Called with the reason when an older version ends with unfinished work.
    pub cut_short: CutShort,
}

impl Swap {
    /// Leaves the old version in place. Whoever requested another may be gone.
    pub(super) fn decline(self, failure: Failure) {
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
