//! A newer version of a proxy, on its way into a running chain.

use tokio::sync::oneshot;

use super::Terms;
use acp_chain_channel::{Failure, FailurePolicy, Source};

/// Is told why a version ends early.
pub type CutShort = Box<dyn Fn(&str) + Send>;

/// A newer version of a proxy that is to take its place between two messages.
pub struct Swap {
    /// The proxy, by its id in the manifest.
    pub proxy: String,
    /// Where the new version comes from, also when it breaks. It keeps to its terms by itself.
    pub source: Box<dyn Source>,
    /// What it is allowed. The policy holds that stands beside.
    pub terms: Terms,
    /// What becomes of it when it breaks, if it is not the version itself that says so.
    pub on_failure: Option<FailurePolicy>,
    /// Told when it is in its place, or why it is not, and the old version goes on.
    pub done: oneshot::Sender<Result<(), Failure>>,
    /// Told why an older version, which had something left to finish, ends without that.
    pub cut_short: CutShort,
}

impl Swap {
    /// Leaves the old version in its place. Whoever wished for another may not be there any more.
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
