//! Where a run writes its trace, and whether other processes of the user may listen to it: by the command line, else
//! the environment, else the user's config.toml.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use acp_chain_live::Offer;
use clap::builder::FalseyValueParser;

use acp_chain_conductor::trace::{Masked, Trace, TraceFile};
use acp_chain_manifest::User;
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_system::directory::Directory;

/// Whether other processes may listen; overrides the user's file.
const LIVE: &str = "ACP_CHAIN_LIVE";

#[derive(Clone, Debug, Default, clap::Args)]
pub struct Target {
    /// Append each message that crosses from one part of the chain to the next, and what each proxy decides about it,
    /// to this file, one JSON object a line; an empty name is none. Markers replace the secrets that are found in
    /// messages
    #[arg(long, value_name = "FILE", env = "ACP_CHAIN_TRACE")]
    trace: Option<OsString>,
    /// Leave messages in the trace as they are, secrets included
    #[arg(long, env = "ACP_CHAIN_TRACE_BODIES", value_parser = FalseyValueParser::new())]
    trace_bodies: bool,
    /// Send the agent the span that OpenTelemetry gets for a turn, in the `_meta` of its prompt, where the client does
    /// not say which trace it is part of. Without this, messages that no proxy changes arrive as they were sent
    #[arg(long, env = "ACP_CHAIN_OTEL_PROPAGATE", value_parser = FalseyValueParser::new())]
    otel_propagate: bool,
}

/// The file of a trace, and whether secrets are masked.
#[derive(Clone, Debug)]
pub struct Traced {
    pub path: PathBuf,
    /// Whether messages are unmasked.
    pub bodies: bool,
}

impl Target {
    /// Whether agents receive the spans of their turns, if spans are exported.
    pub fn propagates(&self) -> bool {
        self.otel_propagate
    }

    /// The file, if one is wanted.
    pub fn traced(&self) -> Option<Traced> {
        // Errors in the user's file are reported with the chain.
        let user = crate::user().ok();
        let bodies = self.trace_bodies || user.as_ref().is_some_and(|user| user.trace_bodies);
        let path = match &self.trace {
            Some(name) => Some(name)
                .filter(|name| !name.is_empty())
                .map(PathBuf::from),
            None => user.and_then(|user: User| user.trace),
        };
        Some(Traced {
            path: path?,
            bodies,
        })
    }
}

impl Traced {
    /// The files that are written: the trace, and the one with its previous content.
    pub fn files(&self) -> [PathBuf; 2] {
        [self.path.clone(), acp_chain_trace::kept(&self.path)]
    }
}

/// Opens the trace file, if one is wanted, and the socket for listeners.
pub fn open(traced: Option<&Traced>) -> Result<Option<Trace>, String> {
    let Some(Traced { path, bodies }) = traced else {
        return Ok(offer().map(|offer| Trace::default().offer(offer)));
    };
    let file = TraceFile::open(path).map_err(|error| {
        let path = Untrusted::new(path.display());
        format!("the trace file {path} cannot be opened: {error}")
    })?;
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
        _ => crate::user().map_or(true, |user: User| user.live),
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
