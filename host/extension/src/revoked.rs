//! The list of extensions that must not run, and who revoked them: a JSON file with a signature beside it.
//!
//! ```json
//! {
//!   "number": 3,
//!   "revoked": [
//!     { "digest": "sha256:…", "by": "The authors of it", "why": "It sends prompts away", "when": "2026-11-20" }
//!   ]
//! }
//! ```
//!
//! The newest known list is stored with its signature, so it applies offline too. A list with a smaller number is an
//! old one, possibly replayed, and is rejected.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::signature::{SignatureError, Signer, signer};
use super::store::Changing;
use super::{Digest, StoreError};
use acp_chain_channel::limits::REVOCATIONS;
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};

/// The stored list: its text, followed by its signature, in one file, so that they change together.
const KEPT: &str = "revocations";

/// The separator between the list and its signature.
const BETWEEN: &str = "\n--- signature ---\n";

/// The revoked extensions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Revoked {
    list: List,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    number: u64,
    revoked: Vec<Revocation>,
}

/// An entry of the list: an extension that must not run.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, thiserror::Error)]
#[error(
    "it was revoked by {by} ({when}): {why}; `acp-chain remove` removes it, `acp-chain update` gets another version",
    by = quote(by, MAX_QUOTE),
    when = quote(when, MAX_QUOTE),
    why = quote(why, MAX_QUOTE)
)]
#[serde(deny_unknown_fields)]
pub struct Revocation {
    /// The digest of the component.
    pub digest: Digest,
    /// Who revoked the extension, as text.
    pub by: String,
    /// The reason, as text.
    pub why: String,
    /// The date of the revocation, as text.
    pub when: String,
}

/// A list that cannot be trusted.
#[derive(Debug, thiserror::Error)]
pub enum RevokedError {
    /// The signature is missing, invalid, or of another signer.
    #[error("the list of revocations: {0}")]
    Signature(#[from] SignatureError),
    /// The list is malformed.
    #[error("the list of revocations is malformed: {}", quote(.0, MAX_QUOTE))]
    Malformed(String),
    /// The list is older than the stored one.
    #[error(
        "the list of revocations has number {new}, but number {kept} was seen before: this is an \
         old list. Nothing was changed; ask the operator of its server"
    )]
    Older {
        /// The number of the stored list.
        kept: u64,
        /// The number of the new list.
        new: u64,
    },
    /// The stored list cannot be used.
    #[error(
        "{}: the stored list of revocations cannot be used: {}. Remove that file, then \
         `acp-chain install` fetches it again",
        Untrusted::new(.0.display()),
        .1
    )]
    Kept(PathBuf, String),
    /// The list cannot be stored.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Revoked {
    /// Reads the list in a store's folder, which this key must have signed. A missing list is empty.
    pub fn read(folder: &Path, key: &Signer) -> Result<Self, RevokedError> {
        let path = folder.join(KEPT);
        let kept = |why: String| RevokedError::Kept(path.clone(), why);
        let mut text = String::new();
        match fs::File::open(&path) {
            Ok(file) => {
                let read = file.take(2 * REVOCATIONS as u64).read_to_string(&mut text);
                read.map_err(|error| kept(error.to_string()))?;
            }
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(kept(error.to_string())),
        }
        let parts = text.rsplit_once(BETWEEN);
        let (list, signature) = parts.ok_or_else(|| kept("its signature is missing".to_owned()))?;
        Self::parse(list, signature, key).map_err(|error| kept(error.to_string()))
    }

    /// An error if a component must not run.
    pub fn check(&self, digest: &Digest) -> Result<(), Revocation> {
        let mut revoked = self.list.revoked.iter();
        let found = revoked.find(|revoked| revoked.digest == *digest);
        found.map_or(Ok(()), |revocation| Err(revocation.clone()))
    }

    /// An error if the component in a file must not run. A file that cannot be read is reported when it is loaded.
    pub fn check_file(&self, path: &Path) -> Result<(), Revocation> {
        // Reading the file takes time at each start. Opening a pipe would wait for a writer.
        if self.list.revoked.is_empty() || !path.is_file() {
            return Ok(());
        }
        let digest = fs::File::open(path).and_then(Digest::read);
        digest.map_or(Ok(()), |digest| self.check(&digest))
    }

    /// Verifies a new list, and stores it in place of this one. Returns the new list.
    pub fn replace(
        &self,
        text: &str,
        signature: &str,
        key: &Signer,
        changing: &Changing<'_>,
    ) -> Result<Self, RevokedError> {
        let new = Self::parse(text, signature, key)?;
        let (kept, number) = (self.list.number, new.list.number);
        if number < kept {
            return Err(RevokedError::Older { kept, new: number });
        }
        if new != *self {
            // Only the lines that were verified: later ones are not part of the signature.
            let signature: Vec<_> = signature.lines().take(4).collect();
            let text = format!("{text}{BETWEEN}{}\n", signature.join("\n"));
            changing.keep(KEPT, text.as_bytes())?;
        }
        Ok(new)
    }

    fn parse(text: &str, signature: &str, key: &Signer) -> Result<Self, RevokedError> {
        signer(text.as_bytes(), &[signature.to_owned()], Some(key))?;
        let list = serde_json::from_str(text);
        let list = list.map_err(|error| RevokedError::Malformed(error.to_string()))?;
        Ok(Self { list })
    }
}

#[cfg(test)]
mod tests;
