//! Minisign signatures of extensions. The signed content is the component, wherever it is stored.
//!
//! A signature names its key in its trusted comment, as `key:` and the public key. That does not prove who signed, only
//! that the signer is the same as before. So the lock has the first key of an extension, and another key needs new
//! consent. A user who knows the author's key can require it.

use std::fmt;
use std::str::FromStr;

use minisign_verify::{PublicKey, Signature};
use serde_with::{DeserializeFromStr, SerializeDisplay};

use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};

/// The prefix of the key in a trusted comment.
const NAMED: &str = "key:";

/// A minisign public key, as in the second line of its file.
#[derive(Clone, Debug, PartialEq, Eq, SerializeDisplay, DeserializeFromStr)]
pub struct Signer(String);

/// A text that is not a public key.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{}` is not a minisign public key: expected 56 characters that begin with `RW`, as in the second \
     line of `minisign.pub`",
    quote(.0, MAX_QUOTE)
)]
pub struct NoKey(String);

/// An invalid signature.
#[derive(Debug, thiserror::Error)]
pub enum SignatureError {
    /// The signature is of another file, or by another key.
    #[error(
        "the signature does not match this file: one of the two was changed; nothing was installed. Get \
         both from the author again"
    )]
    Wrong,
    /// The signature is malformed.
    #[error("the signature cannot be read: {0}; it must be made by `minisign -S`")]
    Malformed(String),
    /// The signature does not name its key.
    #[error(
        "the signature does not name its key; if you know the author's key, give it with `--signer KEY`"
    )]
    NoSigner,
    /// A required signature is missing.
    #[error("it is not signed, and must be signed by {0}")]
    Missing(Signer),
    /// The signature is by another signer.
    #[error("it is signed by {actual}, but must be signed by {wanted}")]
    Other {
        /// The required signer.
        wanted: Signer,
        /// The actual signer.
        actual: Signer,
    },
}

impl Signer {
    /// The trusted comment by which a signature names this key.
    pub fn comment(&self) -> String {
        format!("{NAMED}{}", self.0)
    }

    fn check(&self, component: &[u8], signature: &Signature) -> Result<(), SignatureError> {
        let key = PublicKey::from_base64(&self.0).map_err(|_| SignatureError::Wrong)?;
        key.verify(component, signature, false)
            .map_err(|_| SignatureError::Wrong)
    }
}

/// Verifies the signatures of a component, and returns the signer; `None` if there is no signature. The signer must be
/// `wanted`, if given.
pub fn signer(
    component: &[u8],
    signatures: &[String],
    wanted: Option<&Signer>,
) -> Result<Option<Signer>, SignatureError> {
    let mut found = None;
    for text in signatures {
        let malformed =
            |error: minisign_verify::Error| SignatureError::Malformed(error.to_string());
        let signature = Signature::decode(text).map_err(malformed)?;
        let named = named(&signature);
        if let Some(wanted) = wanted
            && named.as_ref().is_none_or(|named| named == wanted)
        {
            wanted.check(component, &signature)?;
            return Ok(Some(wanted.clone()));
        }
        let named = named.ok_or(SignatureError::NoSigner)?;
        named.check(component, &signature)?;
        found.get_or_insert(named);
    }
    match (wanted, found) {
        (None, found) => Ok(found),
        (Some(wanted), None) => Err(SignatureError::Missing(wanted.clone())),
        (Some(wanted), Some(actual)) => Err(SignatureError::Other {
            wanted: wanted.clone(),
            actual,
        }),
    }
}

/// Verifies the signatures of a new version of a component, and returns the signer: `before`, the signer of the old
/// version, if its signature is among them.
pub fn signer_after(
    before: Option<&Signer>,
    component: &[u8],
    signatures: &[String],
) -> Result<Option<Signer>, SignatureError> {
    match signer(component, signatures, before) {
        Err(SignatureError::Missing(_) | SignatureError::Other { .. }) => {
            signer(component, signatures, None)
        }
        found => found,
    }
}

/// The key that a signature names.
fn named(signature: &Signature) -> Option<Signer> {
    let mut words = signature.trusted_comment().split_whitespace();
    words.find_map(|word| word.strip_prefix(NAMED)?.parse().ok())
}

impl FromStr for Signer {
    type Err = NoKey;

    /// Parses a public key, or the whole `minisign.pub`.
    fn from_str(text: &str) -> Result<Self, NoKey> {
        let key = text
            .lines()
            .map(str::trim)
            .rfind(|line| !line.is_empty())
            .unwrap_or_default();
        match PublicKey::from_base64(key) {
            Ok(_) if key.len() == 56 => Ok(Self(key.to_owned())),
            _ => Err(NoKey(text.to_owned())),
        }
    }
}

impl fmt::Display for Signer {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests;
