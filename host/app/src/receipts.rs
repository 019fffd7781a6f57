//! Receipts of a run: where they are written, the process that writes them (`acp-chain keep-receipts`), and what they
//! say about the chain.
//!
//! A running chain creates no files and takes no locks. So a process is started before these rights are given up. It
//! runs no code of proxies, and only it has the key that signs checkpoints.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use acp_chain_conductor::trace::{OnFailure, Trace};
use acp_chain_extension::{Digest, Location};
use acp_chain_manifest::{Manifest, OnReceiptsFailure, ProxyEntry, ProxyKind, ReceiptsEntry};
use acp_chain_receipts::{self as receipts, Client, LastCheckpoint, Receipts, ServiceError, Start};

use crate::{Error, beside};

/// The subcommand that is the process.
const SUBCOMMAND: &str = "keep-receipts";

/// A day.
const DAY: Duration = Duration::from_hours(24);

/// The files of a log that no proxy may write to, and so no folder that has them.
const FILES: [&str; 3] = ["checkpoint", "keys.json", "verifier"];

/// Who agreed to a chain.
#[derive(Clone, Debug)]
pub enum AgreedBy {
    /// The user of acp-chain, by the command line and the files that it names.
    User,
    /// The user, to the content of a project with this key.
    ProjectUser(Digest),
    /// A signer whom the user trusts, by this key, to the content of a project.
    ProjectSigner(Digest, String),
}

/// The files of a log that no proxy may write to, each with its description.
pub fn files(target: &ReceiptsEntry) -> Vec<(&'static str, PathBuf)> {
    let files = FILES.iter().map(|name| target.folder.join(name));
    files.map(|file| ("the receipts", file)).collect()
}

/// The options of `project-chain` for a log.
pub fn options(target: &ReceiptsEntry) -> Vec<OsString> {
    let mut options = vec!["--receipts".into(), target.folder.clone().into_os_string()];
    if let Some(days) = target.keep_days {
        options.extend(["--receipts-keep-days".into(), days.to_string().into()]);
    }
    let on_failure = target.on_failure.as_str();
    options.extend(["--receipts-on-failure".into(), on_failure.into()]);
    options
}

/// The trace of a process, of which receipts are written, too, if they are wanted; and their last checkpoint.
pub fn observed(
    trace: Option<Trace>,
    target: Option<&ReceiptsEntry>,
    log: Option<&Path>,
) -> Result<(Option<Trace>, Option<LastCheckpoint>), Error> {
    let Some(target) = target else {
        return Ok((trace, None));
    };
    let client = begin(target, log).map_err(Error::Receipts)?;
    let last = client.last();
    let on_failure = match target.on_failure {
        OnReceiptsFailure::Stop => OnFailure::Halt,
        OnReceiptsFailure::Continue => OnFailure::GoOn,
    };
    let recorder = trace.unwrap_or_default();
    let observed = recorder.observed(Receipts::new(client), on_failure);
    Ok((Some(observed), Some(last)))
}

/// Starts the process, and waits until it has opened the log.
fn begin(target: &ReceiptsEntry, log: Option<&Path>) -> io::Result<Client> {
    let mut command = beside::command(SUBCOMMAND, log)?;
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = command.spawn()?;
    let missing = || io::Error::other("it has no standard streams");
    let replies = process.stdout.take().ok_or_else(missing)?;
    let records = Records {
        input: process.stdin.take().ok_or_else(missing)?,
        _process: process,
    };
    let start = Start {
        folder: target.folder.clone(),
        keep: target.keep_days.map(|days| DAY * days),
    };
    Client::start(records, BufReader::new(replies), &start)
}

/// The input of the process. It is not waited for: it ends by itself when its input ends.
struct Records {
    input: ChildStdin,
    _process: Child,
}

impl Write for Records {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.input.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.input.flush()
    }
}

/// Writes the receipts of the chain that starts this, on standard input and output. Returns whether that succeeded;
/// errors are in the log.
pub fn serve() -> bool {
    beside::work("the process that writes receipts", keep)
}

#[expect(clippy::disallowed_methods, reason = "the host reads it")]
fn keep() -> Result<(), Error> {
    let served = receipts::serve(io::stdin().lock(), io::stdout());
    served.map_err(|error| match error {
        ServiceError::Misused => Error::Misused(SUBCOMMAND, "; `acp-chain receipts` is for you"),
        other => Error::Receipts(io::Error::other(other)),
    })
}

/// What receipts say about a chain, as JSON. In a dry run, nothing that its proxies decide has an effect.
pub fn about(manifest: &Manifest, agreed: &AgreedBy, is_dry_run: bool) -> Arc<str> {
    let by = match agreed {
        AgreedBy::User => json!({ "by": "user" }),
        AgreedBy::ProjectUser(key) => json!({ "by": "user", "project": key.to_string() }),
        AgreedBy::ProjectSigner(key, signer) => {
            json!({ "by": "signer", "signer": signer, "project": key.to_string() })
        }
    };
    let proxies: Vec<_> = manifest.proxies.iter().map(proxy).collect();
    let path = manifest.path.display().to_string();
    let mut about = json!({ "manifest": path, "agreed": by, "proxies": proxies });
    if is_dry_run {
        about["dry-run"] = true.into();
    }
    about.to_string().into()
}

fn proxy(entry: &ProxyEntry) -> Value {
    match &entry.kind {
        ProxyKind::Component(component) => {
            let powers = component.grant.powers().iter().map(|power| power.key);
            json!({
                "id": entry.id,
                "extension": component.origin.name,
                "source": component.origin.source.to_string(),
                "digest": digest(&component.location).map(|digest| digest.to_string()),
                "guard": component.is_guard,
                "powers": powers.collect::<Vec<_>>(),
            })
        }
        ProxyKind::Native(native) => json!({
            "id": entry.id,
            "program": native.command.program.to_string_lossy(),
        }),
    }
}

/// The digest of a component. One that cannot be read has none, and is not started either.
fn digest(component: &Location) -> Option<Digest> {
    match component {
        Location::File(path) => Digest::read(File::open(path).ok()?).ok(),
        Location::Stored(stored) => Some(stored.digest),
        Location::Read(_, bytes) => Some(Digest::of(bytes)),
        Location::Carried(extension) => Some(extension.digest),
    }
}
