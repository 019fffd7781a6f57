//! A release: its signed description, and its archive.

use std::cmp::Ordering;
use std::env::consts::{ARCH, OS};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, Write};

use acp_chain_channel::limits::SIGNATURE;
use acp_chain_extension::digest::Hasher;
use acp_chain_extension::signature::signer;
use acp_chain_extension::{Digest, Signer};
use acp_chain_fetch::{Cause, FetchError, ProgressCallback, Web};
use flate2::read::MultiGzDecoder;
use semver::Version;
use serde::Deserialize;
use tar::Archive;

use crate::channel::Channel;
use crate::error::UpdateError;

/// The maximum length of a description, in bytes.
const DESCRIPTION: usize = 16 << 10;

/// The maximum size of an archive, in bytes.
const ARCHIVE: u64 = 512 << 20;

/// The maximum size of a program, in bytes.
const PROGRAM: u64 = 1 << 30;

/// The newest release in a channel, for this platform.
#[derive(Clone, Debug)]
pub struct Release {
    /// Its version.
    pub version: Version,
    /// The key that has signed it.
    pub signer: Signer,
    /// The URL of its archive.
    url: String,
    size: u64,
    digest: Digest,
    /// The path of the program in the archive.
    program: String,
}

/// The content of `release-PLATFORM.json`. Later versions may have more.
#[derive(Deserialize)]
struct Description {
    version: Version,
    /// As [`platform`] has it.
    platform: String,
    /// The name of a file in the channel.
    archive: String,
    /// In bytes.
    size: u64,
    digest: Digest,
    program: String,
}

/// The version of the running program.
///
/// # Panics
/// Never: cargo checks it.
#[must_use]
pub fn running() -> Version {
    Version::parse(env!("CARGO_PKG_VERSION")).expect("a version")
}

/// The platform of the running program, as `linux-x86_64`.
fn platform() -> String {
    format!("{OS}-{ARCH}")
}

impl Release {
    /// Fetches the description of the newest release in a channel, and verifies it.
    pub async fn fetch(web: &Web, channel: &Channel) -> Result<Self, UpdateError> {
        let url = channel.file(&format!("release-{}.json", platform()));
        let text = get(web, &url, DESCRIPTION).await?;
        let signatures = match get(web, &format!("{url}.minisig"), SIGNATURE).await {
            Ok(text) => vec![String::from_utf8_lossy(&text).into_owned()],
            Err(error) if is_missing(&error) => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        Self::verify(&url, &text, &signatures, channel)
    }

    /// Verifies and reads the description at a URL.
    fn verify(
        url: &str,
        text: &[u8],
        signatures: &[String],
        channel: &Channel,
    ) -> Result<Self, UpdateError> {
        signer(text, signatures, Some(&channel.key))
            .map_err(|cause| UpdateError::Signature(url.to_owned(), cause))?;
        let malformed = |why: String| UpdateError::Malformed(url.to_owned(), why);
        let description = serde_json::from_slice::<Description>(text);
        let description = description.map_err(|error| malformed(error.to_string()))?;
        let (platform, archive) = (&description.platform, &description.archive);
        let (size, here) = (description.size, self::platform());
        if *platform != here {
            return Err(malformed(format!(
                "it describes a release for {platform}, and this is {here}"
            )));
        }
        if !is_file_name(archive) {
            return Err(malformed(format!(
                "`{archive}` is not the name of a file in the channel"
            )));
        }
        if size > ARCHIVE {
            return Err(malformed(format!(
                "an archive of {size} bytes is larger than {ARCHIVE} bytes"
            )));
        }
        Ok(Self {
            version: description.version,
            signer: channel.key.clone(),
            url: channel.file(archive),
            size,
            digest: description.digest,
            program: description.program,
        })
    }

    /// Whether it is newer or older than the running program. Builds of one version are equal.
    #[must_use]
    pub fn compare(&self) -> Ordering {
        self.version.cmp_precedence(&running())
    }

    /// An error if it is older than the running program.
    pub fn check_age(&self) -> Result<(), UpdateError> {
        match self.compare() {
            Ordering::Less => Err(UpdateError::Older(self.version.clone())),
            Ordering::Equal | Ordering::Greater => Ok(()),
        }
    }

    /// Fetches the archive, and verifies it.
    pub async fn download(
        &self,
        web: &Web,
        seen: ProgressCallback<'_>,
    ) -> Result<File, UpdateError> {
        let mut into = Download {
            file: tempfile::tempfile().map_err(UpdateError::Stored)?,
            hasher: Hasher::default(),
            size: 0,
        };
        web.download(&self.url, self.size, &mut into, seen).await?;
        if into.size != self.size || into.hasher.finish() != self.digest {
            return Err(UpdateError::OtherArchive(self.url.clone()));
        }
        into.file.rewind().map_err(UpdateError::Stored)?;
        Ok(into.file)
    }

    /// Writes the program in a verified archive.
    pub fn unpack(&self, archive: File, into: &mut impl Write) -> Result<(), UpdateError> {
        let unpacked = unpack(archive, &self.program, into);
        let unpacked = unpacked.map_err(UpdateError::Stored)?;
        unpacked.ok_or_else(|| {
            let why = format!("it has no program {} of a usual size", self.program);
            UpdateError::Malformed(self.url.clone(), why)
        })
    }
}

/// Writes the file with this path in an archive; `None` if it is missing or too large.
fn unpack(archive: File, path: &str, into: &mut impl Write) -> io::Result<Option<()>> {
    let mut archive = Archive::new(MultiGzDecoder::new(BufReader::new(archive)));
    for entry in archive.entries()? {
        let entry = entry?;
        if !entry.header().entry_type().is_file() || *entry.path_bytes() != *path.as_bytes() {
            continue;
        }
        let written = io::copy(&mut entry.take(PROGRAM + 1), into)?;
        return Ok((written <= PROGRAM).then_some(()));
    }
    Ok(None)
}

/// A download, and its digest.
struct Download {
    file: File,
    hasher: Hasher,
    size: u64,
}

impl Write for Download {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        self.size += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Fetches a text over a safe connection.
async fn get(web: &Web, url: &str, most: usize) -> Result<Vec<u8>, FetchError> {
    let mut text = Vec::new();
    web.download(url, most as u64, &mut text, &|_, _| {})
        .await?;
    Ok(text)
}

/// Whether the server says that a file does not exist.
fn is_missing(error: &FetchError) -> bool {
    matches!(
        error,
        FetchError::Source(
            _,
            Cause::Refused {
                status: 403 | 404 | 410,
                ..
            }
        )
    )
}

/// Whether this is a plain name of a file, in ASCII.
fn is_file_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.+".contains(&byte);
    (1..=128).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    #[test]
    fn an_archive_is_named_by_a_file_name_alone() {
        for name in ["acp-chain-0.2.0-x86_64-unknown-linux-gnu.tar.gz", "a+b"] {
            assert!(is_file_name(name), "{name}");
        }
        for name in [
            "", ".", "..", "../a", "a/b", "a?b", "a b", "a\\b", "ä", "a%2fb",
        ] {
            assert!(!is_file_name(name), "{name}");
        }
    }

    #[test]
    fn only_the_named_file_is_unpacked() {
        let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for (path, content) in [("a/b/acp-chain", "another"), ("a/acp-chain", "it")] {
            let mut header = tar::Header::new_gnu();
            header.set_size(content.len() as u64);
            header.set_mode(0o755);
            archive
                .append_data(&mut header, path, content.as_bytes())
                .unwrap();
        }
        let bytes = archive.into_inner().unwrap().finish().unwrap();
        let open = || {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&bytes).unwrap();
            file.rewind().unwrap();
            file
        };
        let mut into = Vec::new();
        assert!(unpack(open(), "a/acp-chain", &mut into).unwrap().is_some());
        assert_eq!(into, b"it");
        for missing in ["acp-chain", "a", "../a/acp-chain"] {
            let unpacked = unpack(open(), missing, &mut Vec::new()).unwrap();
            assert!(unpacked.is_none(), "{missing}");
        }
    }
}
