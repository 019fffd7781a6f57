//! The digest that identifies a file: `sha256:` and 64 hexadecimal digits.

use std::fmt;
use std::io::{self, Read};
use std::str::FromStr;

use data_encoding::HEXLOWER;
use serde_with::{DeserializeFromStr, SerializeDisplay};
use sha2::{Digest as _, Sha256};

use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};

const PREFIX: &str = "sha256:";

/// The SHA-256 of a file.
#[derive(
    Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, SerializeDisplay, DeserializeFromStr,
)]
pub struct Digest([u8; 32]);

/// A text that is not a digest.
#[derive(Debug, thiserror::Error)]
#[error("`{}` is not a digest: expected `sha256:` and 64 hexadecimal digits", quote(.0, MAX_QUOTE))]
pub struct NoDigest(String);

/// A digest being computed.
#[derive(Clone, Debug, Default)]
pub struct Hasher(Sha256);

impl Digest {
    /// The digest of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest of a reader's content.
    pub fn read(mut from: impl Read) -> io::Result<Self> {
        let mut hasher = Hasher::default();
        let mut buffer = vec![0; 1 << 16];
        loop {
            match from.read(&mut buffer) {
                Ok(0) => return Ok(hasher.finish()),
                Ok(read) => hasher.update(&buffer[..read]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The digits alone, for use as a file name.
    pub fn hex(&self) -> String {
        HEXLOWER.encode(&self.0)
    }
}

impl Hasher {
    /// Adds the next bytes of the file.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of all added bytes.
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

impl FromStr for Digest {
    type Err = NoDigest;

    fn from_str(text: &str) -> Result<Self, NoDigest> {
        // Only lower case is accepted, so that each digest has one spelling.
        let digits = text.strip_prefix(PREFIX).unwrap_or_default().as_bytes();
        let bytes = HEXLOWER.decode(digits).unwrap_or_default();
        let bytes = bytes.try_into().map_err(|_| NoDigest(text.to_owned()))?;
        Ok(Self(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABC: &str = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn a_digest_is_that_of_the_standard_and_has_one_text() {
        assert_eq!(Digest::of(b"abc").to_string(), ABC);
        assert_eq!(Digest::read(&b"abc"[..]).unwrap(), Digest::of(b"abc"));
        assert_eq!(ABC.parse::<Digest>().unwrap(), Digest::of(b"abc"));
        assert_eq!(Digest::of(b"abc").hex(), ABC[7..]);
    }

    #[test]
    fn a_malformed_digest_is_rejected() {
        for text in [
            "",
            "sha256:",
            &ABC[7..],
            &ABC[..70],
            &format!("{ABC}0"),
            &ABC.to_uppercase(),
            &ABC.replace('b', "B"),
            &ABC.replace('b', "ä"),
            "sha256:../../../../../../../../../../../../../../../../../../../../etc/x",
        ] {
            let error = text.parse::<Digest>().unwrap_err().to_string();
            assert!(
                error.contains("is not a digest: expected `sha256:`"),
                "{error}"
            );
        }
    }
}
