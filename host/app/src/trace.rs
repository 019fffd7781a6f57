//! Where a run writes its trace, and whether other processes of the user may listen to it.

use std::io;
use std::path::PathBuf;

use crate::{Error, home};
use acp_chain_conductor::trace::{Masked, Trace, TraceFile};
use acp_chain_live::Offer;
use acp_chain_manifest::User;
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_system::directory::Directory;

/// Whether other processes may listen; overrides the user's file.
const LIVE: &str = "ACP_CHAIN_LIVE";

/// The file of a trace, and whether secrets are masked.
#[derive(Clone, Debug)]
pub struct TraceTarget {
    pub path: PathBuf,
    /// Whether messages are unmasked.
    pub bodies: bool,
}

impl TraceTarget {
    /// The files that are written: the trace, and the one with its previous content.
    pub fn files(&self) -> [PathBuf; 2] {
        [self.path.clone(), acp_chain_trace::kept(&self.path)]
    }
}

/// Opens the trace file, if one is wanted, and the socket for listeners.
pub fn open(target: Option<&TraceTarget>) -> Result<Option<Trace>, Error> {
    let Some(TraceTarget { path, bodies }) = target else {
        return Ok(offer().map(|offer| Trace::default().offer(offer)));
    };
    let file = TraceFile::open(path).map_err(|error| Error::Trace(path.clone(), error))?;
    let trace = Trace::default();
    let trace = if *bodies {
        trace.to(file)
    } else {
        trace.to(Masked::new(file))
    };
    Ok(Some(match offer() {
        Some(offer) => trace.offer(offer),
        None => trace,
    }))
}

/// A socket for listeners of this user, if the user wants one.
fn offer() -> Option<Offer> {
    let is_wanted = match std::env::var_os(LIVE) {
        Some(wanted) if !wanted.is_empty() => wanted != "0",
        _ => home::user().map_or(true, |user: User| user.live),
    };
    if !is_wanted {
        return None;
    }
    let opened = Offer::open();
    let opened = opened.inspect_err(|error| match error.kind() {
        io::ErrorKind::Unsupported => tracing::debug!("{error}"),
        _ => {
            let error = Untrusted::new(error);
            tracing::warn!("this process cannot be watched while it runs: {error}");
        }
    });
    opened.ok()
}

/// The folder of the socket for listeners, from which it is removed at the end.
pub fn live_folder(trace: &Trace) -> Option<Directory> {
    let opened = Directory::open(trace.folder()?);
    opened.ok()
}
