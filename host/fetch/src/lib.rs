//! Fetches an extension from its source.
//!
//! Servers are not trusted: size and time are limited, and the digest is checked before the content is parsed.

#![forbid(unsafe_code)]

mod credentials;
mod file;
mod layout;
mod passwords;
mod publish;
mod registry;
mod web;

use std::path::Path;
use std::time::Duration;

pub use publish::{Artifact, Published};
pub use web::{Patience, Web};

use self::registry::{PULL, Registry, check};
use acp_chain_channel::limits::{COMPONENT, Quantity, REVOCATIONS, SIGNATURE};
use acp_chain_extension::{Digest, Source};
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};

/// A fetched extension.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// The bytes of the component.
    pub component: Vec<u8>,
    /// The digest of the component.
    pub digest: Digest,
    /// The digest of the OCI manifest; `None` outside registries.
    pub manifest: Option<Digest>,
    /// The minisign signatures of the component, unverified.
    pub signatures: Vec<String>,
    /// Why some signatures could not be read; `None` if all were.
    pub unread: Option<String>,
}

impl Fetched {
    /// The end of an error about a missing signature: why signatures could not be read; empty if all were.
    pub fn unread_signatures(&self) -> String {
        self.unread.as_ref().map_or_else(String::new, |why| {
            format!("; its signatures cannot be read: {}", quote(why, MAX_QUOTE))
        })
    }
}

/// Why an extension could not be fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The source cannot be used.
    #[error("{}: {}", quote(.0, MAX_QUOTE), .1)]
    Source(String, Cause),
    /// A server answers with an error, and the user's password cannot be used.
    #[error("{}. No password was used: {}", .0, quote(.1, MAX_QUOTE))]
    Credentials(Box<FetchError>, String),
    /// The extension is built in.
    #[error("`{}` comes with acp-chain: there is nothing to fetch", quote(.0, MAX_QUOTE))]
    BuiltIn(String),
    /// The user forbids downloads.
    #[error("{} is not on this machine, and `--offline` forbids downloads", quote(.0, MAX_QUOTE))]
    Offline(String),
}

/// Why a source cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Cause {
    /// A file cannot be read.
    #[error("the file cannot be read: {0}")]
    File(std::io::Error),
    /// The content has more bytes than this maximum.
    #[error("it is larger than {}", Quantity::Size.show(*.0))]
    TooLarge(u64),
    /// The digest differs.
    #[error(
        "expected {expected}, but got {actual}: it was changed or truncated; nothing was installed"
    )]
    OtherDigest {
        /// The expected digest.
        expected: Digest,
        /// The actual digest.
        actual: Digest,
    },
    /// The downloaded content cannot be written.
    #[error("the download cannot be stored: {0}")]
    Disk(std::io::Error),
    /// The connection would be unencrypted.
    #[error("it is not an `https:` address; only addresses of this machine may be unencrypted")]
    Open,
    /// A server cannot be reached, or the connection breaks.
    #[error("{}; try again later", quote(.0, MAX_QUOTE))]
    Web(String),
    /// A server answers with an error.
    #[error(
        "the server answers {status}{}{}",
        if said.is_empty() { String::new() } else { format!(" ({})", quote(said, MAX_QUOTE)) },
        next_step(*status, *wait)
    )]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The delay that the server requests.
        wait: Option<Duration>,
        /// The text of the answer.
        said: String,
    },
    /// A registry does not follow the specification, in this way.
    #[error("{0}")]
    Malformed(&'static str),
    /// An artifact does not have the layout of an extension, but this one.
    #[error(
        "the artifact is not a WebAssembly component: it has {}; expected one layer of the type `application/wasm`, \
         as `acp-chain publish` and `wkg oci push` make it",
        quote(.0, MAX_QUOTE)
    )]
    Layout(String),
}

impl Cause {
    /// The error about this source.
    fn of(self, what: &str) -> FetchError {
        FetchError::Source(what.to_owned(), self)
    }
}

fn next_step(status: u16, wait: Option<Duration>) -> String {
    match (status, wait) {
        (_, Some(wait)) => format!("; try again in {} s", wait.as_secs()),
        (401 | 403, _) => {
            "; if you have an account, run `docker login` for that registry".to_owned()
        }
        (404, _) => "; check the name and the version".to_owned(),
        _ => String::new(),
    }
}

impl FetchError {
    /// The HTTP status, if a server answered with an error.
    fn status(&self) -> Option<u16> {
        match self {
            Self::Source(_, Cause::Refused { status, .. }) => Some(*status),
            Self::Credentials(refused, _) => refused.status(),
            _ => None,
        }
    }

    /// Whether a retry would fail: the server is not busy, and its answer is an error or malformed.
    fn is_final(&self) -> bool {
        let is_passing = |status| matches!(status, 408 | 429 | 502..=504);
        match self {
            Self::Source(_, Cause::Malformed(_)) => true,
            _ => self.status().is_some_and(|status| !is_passing(status)),
        }
    }
}

/// A callback for progress: the number of bytes received, and the total, if known.
pub type ProgressCallback<'s> = &'s (dyn Fn(u64, Option<u64>) + Sync);

/// Fetches extensions.
#[derive(Clone, Debug)]
pub struct Fetcher {
    /// The HTTP client; `None` if downloads are forbidden.
    pub web: Option<Web>,
}

impl Fetcher {
    /// Fetches the current content of a source.
    pub async fn fetch(
        &self,
        source: &Source,
        seen: ProgressCallback<'_>,
    ) -> Result<Fetched, FetchError> {
        match source {
            Source::BuiltIn(name) => Err(FetchError::BuiltIn(name.clone())),
            Source::File(path) => file::fetch(path),
            Source::Https { url, digest } => https(self.web(source)?, url, *digest, seen).await,
            Source::Registry(reference) => {
                Registry::new(self.web(source)?, reference, PULL)?
                    .fetch(reference, seen)
                    .await
            }
        }
    }

    /// The HTTP client for this source.
    fn web(&self, source: &impl ToString) -> Result<&Web, FetchError> {
        let web = self.web.as_ref();
        web.ok_or_else(|| FetchError::Offline(source.to_string()))
    }

    /// Fetches a text and its signature, unverified, from an `https:` URL or a file. A file's path is relative to
    /// `folder`.
    pub async fn signed(
        &self,
        source: &str,
        folder: &Path,
    ) -> Result<(String, String), FetchError> {
        let beside = format!("{source}.minisig");
        let (list, signature) = if source.starts_with("https://") {
            let web = self.web(&source)?;
            let list = web.whole(source, REVOCATIONS).await?;
            (list, web.whole(&beside, SIGNATURE).await?)
        } else {
            let list = file::read(&folder.join(source), REVOCATIONS)?;
            (list, file::read(&folder.join(beside), SIGNATURE)?)
        };
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok((text(list), text(signature)))
    }
}

/// Fetches a file from a web server, and the signature beside it, if there is one.
async fn https(
    web: &Web,
    url: &str,
    expected: Digest,
    seen: ProgressCallback<'_>,
) -> Result<Fetched, FetchError> {
    let answer = web.get(url).await?;
    let component = web.body(url, answer, COMPONENT as u64, seen).await?;
    let digest = Digest::of(&component);
    check(url, expected, digest)?;
    let beside = format!("{url}.minisig");
    let (signatures, unread) = match web.whole(&beside, SIGNATURE).await {
        Ok(text) => (vec![String::from_utf8_lossy(&text).into_owned()], None),
        Err(error) if matches!(error.status(), Some(403 | 404 | 410)) => (Vec::new(), None),
        Err(error) if error.is_final() => (Vec::new(), Some(error.to_string())),
        Err(error) => return Err(error),
    };
    Ok(Fetched {
        component,
        digest,
        manifest: None,
        signatures,
        unread,
    })
}

#[cfg(test)]
mod tests;
