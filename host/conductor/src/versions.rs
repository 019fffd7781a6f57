//! The versions of a proxy: the one at work, and those that it replaced, as long as they hold messages or have open
//! requests.

use super::phase::Phase;
use super::swap::{CutShort, Swap};
use super::version::Version;
use acp_chain_channel::{Part, Registration};

/// A replaced version with unfinished work.
pub struct Retired {
    pub version: Version,
    /// `None` while it is being called.
    pub part: Option<Box<dyn Part>>,
    pub registration: Registration,
}

/// A new version that is starting. Nothing is called meanwhile.
pub struct Starting {
    pub swap: Swap,
    /// The proxy's state before, restored if that fails.
    pub before: Phase,
}

/// The versions of one proxy.
#[derive(Default)]
pub struct Versions {
    /// The one at work.
    pub current: Version,
    /// Those that it replaced, the oldest first.
    pub retired: Vec<Retired>,
    /// The replaced version that is being called, and the current part, which waits for that.
    pub called: Option<(Version, Box<dyn Part>)>,
    /// Called with the reason when one of those ends early.
    pub cut_short: Option<CutShort>,
    /// The version to replace it as soon as it returns.
    pub wish: Option<Swap>,
    pub starting: Option<Starting>,
}
