//! The lock of a manifest: its exact extensions, and the powers and limits that the user agreed to.
//!
//! It is a file beside the manifest, with the same name and the extension `.lock`. Only commands write it, after they
//! showed its content to the user.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use acp_chain_disk as disk;
use serde::{Deserialize, Serialize};

use super::source::Source;
use super::{Digest, Signer, is_name};
use acp_chain_channel::FailurePolicy;
use acp_chain_channel::limits::{COMPONENT, LOCK, Quantity};
use acp_chain_rpc::untrusted::Untrusted;

/// The version of the format.
const VERSION: i64 = 1;

const HEADER: &str = "\
# The extensions of the manifest beside this file, and the powers and limits that were agreed to for each.
# `acp-chain add`, `update` and `remove` write this file; keep it under version control with the manifest.
";

/// The locked extensions of one manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lock {
    path: PathBuf,
    extensions: BTreeMap<String, Locked>,
}

/// An extension in a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Locked {
    /// The name in manifests.
    pub name: String,
    /// The release that the user agreed to, and that runs.
    pub agreed: Release,
    /// An update that the user has not agreed to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending: Option<Release>,
}

/// A version of an extension, with its permissions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// Where it was fetched from.
    pub source: Source,
    /// The version in its package.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The digest of the OCI manifest, if the source is a registry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifest: Option<Digest>,
    /// The digest of the component.
    pub digest: Digest,
    /// The component's size in bytes.
    pub size: u64,
    /// The version of the WIT package that it implements.
    pub wit: String,
    /// The interfaces that it imports.
    pub imports: Vec<String>,
    /// The powers that it asks for, by their keys.
    pub powers: Vec<String>,
    /// The signer: a minisign public key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signer: Option<Signer>,
    /// The failure policy that it asks for.
    #[serde(rename = "on-failure", skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<FailurePolicy>,
    /// Whether it is a guard.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub guard: bool,
    /// The actions that it may do with methods that no power covers, by method.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub methods: BTreeMap<String, Vec<String>>,
    /// The limits that it needs above the defaults, in the syntax of manifests.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub limits: BTreeMap<String, String>,
}

/// A lock that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// The file cannot be read.
    #[error("{}: the file cannot be read: {}", Untrusted::new(.0.display()), .1)]
    Unreadable(PathBuf, io::Error),
    /// The version of the format is unknown.
    #[error(
        "{}: the lock has version {}, but this acp-chain supports only {VERSION}: use the newer \
         acp-chain that wrote it",
        Untrusted::new(.0.display()),
        .1
    )]
    Newer(PathBuf, i64),
    /// The file has an error.
    #[error(
        "{}{}: {}; restore the file, or remove it and run `acp-chain add` for each extension of the manifest",
        Untrusted::new(path.display()),
        line.map(|line| format!(":{line}")).unwrap_or_default(),
        Untrusted::new(what)
    )]
    Wrong {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1; `None` if the error is about the whole file.
        line: Option<usize>,
        /// The error.
        what: String,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File1 {
    version: i64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    extension: Vec<Locked>,
}

impl Lock {
    /// The path of a manifest's lock.
    pub fn beside(manifest: &Path) -> PathBuf {
        manifest.with_extension("lock")
    }

    /// Reads a lock file. A missing file is an empty lock.
    pub fn read(path: &Path) -> Result<Self, LockError> {
        let unreadable = |error| LockError::Unreadable(path.to_owned(), error);
        let path = &std::path::absolute(path).map_err(unreadable)?;
        let bytes = match disk::read(path, LOCK) {
            Ok(bytes) => bytes,
            Err(error) if disk::is_absent(&error) => {
                return Ok(Self {
                    path: path.clone(),
                    extensions: BTreeMap::new(),
                });
            }
            Err(error) => return Err(unreadable(error)),
        };
        let not_utf8 = |_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8");
        let text = String::from_utf8(bytes).map_err(not_utf8);
        Self::parse(&text.map_err(unreadable)?, path)
    }

    /// Parses the text of the lock file at `path`.
    pub fn parse(text: &str, path: &Path) -> Result<Self, LockError> {
        let wrong = |line, what| LockError::Wrong {
            path: path.to_owned(),
            line,
            what,
        };
        if text.len() > LOCK {
            let most = Quantity::Size.show(LOCK as u64);
            return Err(wrong(None, format!("the file is larger than {most}")));
        }
        let syntax = |error: toml::de::Error| {
            let before = error.span().and_then(|span| text.get(..span.start));
            let line = before.map(|before| before.matches('\n').count() + 1);
            wrong(line, error.message().replace('\n', ", "))
        };
        let any: toml::Table = text.parse().map_err(syntax)?;
        match any.get("version").and_then(toml::Value::as_integer) {
            Some(version) if version > VERSION => {
                return Err(LockError::Newer(path.to_owned(), version));
            }
            Some(VERSION) => {}
            _ => {
                return Err(wrong(
                    None,
                    format!("the lock has no `version = {VERSION}`"),
                ));
            }
        }
        let file: File1 = toml::from_str(text).map_err(syntax)?;
        let mut extensions = BTreeMap::new();
        for locked in file.extension {
            let name = locked.name.clone();
            check(&locked).map_err(|what| wrong(None, what))?;
            if extensions.insert(name.clone(), locked).is_some() {
                return Err(wrong(None, format!("`{name}` is locked twice")));
            }
        }
        Ok(Self {
            path: path.to_owned(),
            extensions,
        })
    }

    /// The file, by its absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether nothing is locked.
    pub fn is_empty(&self) -> bool {
        self.extensions.is_empty()
    }

    /// The extension with this name.
    pub fn get(&self, name: &str) -> Option<&Locked> {
        self.extensions.get(name)
    }

    /// All extensions, sorted by name.
    pub fn extensions(&self) -> impl Iterator<Item = &Locked> {
        self.extensions.values()
    }

    /// Locks an extension, replacing one of the same name.
    pub fn put(&mut self, locked: Locked) {
        self.extensions.insert(locked.name.clone(), locked);
    }

    /// Removes an extension. Returns its entry.
    pub fn remove(&mut self, name: &str) -> Option<Locked> {
        self.extensions.remove(name)
    }

    /// An error about an extension whose `size` is not that of its component.
    pub fn wrong_size(&self, name: &str, actual: u64) -> LockError {
        LockError::Wrong {
            path: self.path.clone(),
            line: None,
            what: format!(
                "`{name}` has the wrong `size`: its component has {actual} bytes; correct it"
            ),
        }
    }

    /// The digests of all components, including those of updates not agreed to.
    pub fn digests(&self) -> impl Iterator<Item = Digest> {
        let locked = self.extensions.values();
        locked.flat_map(|locked| {
            let releases = std::iter::once(&locked.agreed).chain(&locked.pending);
            releases.map(|release| release.digest)
        })
    }
}

/// Rejects entries that no command writes.
fn check(locked: &Locked) -> Result<(), String> {
    let name = &locked.name;
    if !is_name(name) {
        return Err(format!("{name:?} is not the name of an extension"));
    }
    let mut releases = std::iter::once(&locked.agreed).chain(&locked.pending);
    if releases.any(|release| release.size > COMPONENT as u64) {
        Err(format!("`{name}` is larger than any component may be"))
    } else {
        Ok(())
    }
}

/// The text of the file.
impl fmt::Display for Lock {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let file = File1 {
            version: VERSION,
            extension: self.extensions().cloned().collect(),
        };
        let text = toml::to_string(&file).map_err(|_| fmt::Error)?;
        write!(f, "{HEADER}{text}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub const REDACT: &str = r#"version = 1

[[extension]]
name = "redact"

[extension.agreed]
source = "ghcr.io/org/redact:1"
version = "1.2.0"
manifest = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
digest = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
size = 3
wit = "0.1.0"
imports = ["acp-chain:proxy/channel@0.1.0"]
powers = ["prompts.read", "prompts.change"]
signer = "RWRUwsTAnYnA+dNkr3IL424GjF9C4+9ChmNWNHv2mXLOZLQzFNovQ3Fl"
on-failure = "refuse"

[extension.agreed.methods]
"_vendor/*" = ["read"]

[extension.pending]
source = "ghcr.io/org/redact:1"
digest = "sha256:0000000000000000000000000000000000000000000000000000000000000000"
size = 4
wit = "0.1.0"
imports = []
powers = []
"#;

    fn parse(text: &str) -> Result<Lock, String> {
        let read = Lock::parse(text, Path::new("/project/acp-chain.lock"));
        read.map_err(|error| error.to_string())
    }

    #[test]
    fn a_lock_is_written_as_it_is_read() {
        let lock = parse(REDACT).unwrap();
        assert_eq!(lock.to_string(), format!("{HEADER}{REDACT}"));
        assert_eq!(parse(&lock.to_string()), Ok(lock.clone()));
        let redact = lock.get("redact").unwrap();
        assert_eq!(redact.agreed.powers, ["prompts.read", "prompts.change"]);
        assert_eq!(redact.agreed.on_failure, Some(FailurePolicy::Refuse));
        assert_eq!(redact.pending.as_ref().unwrap().size, 4);
        assert_eq!(lock.digests().count(), 2);
    }

    #[test]
    fn a_missing_file_is_an_empty_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = Lock::beside(&folder.path().join("acp-chain.toml"));
        assert!(path.ends_with("acp-chain.lock"));
        let lock = Lock::read(&path).unwrap();
        assert!(lock.is_empty());
        assert_eq!(
            parse(&lock.to_string()).unwrap().extensions,
            lock.extensions
        );
    }

    // There is no such function on macOS.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_pipe_is_an_error_and_does_not_block() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("acp-chain.lock");
        let mode = rustix::fs::Mode::RUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let told = Lock::read(&path).unwrap_err().to_string();
        assert!(
            told.ends_with("acp-chain.lock: the file cannot be read: it is not a file"),
            "{told}"
        );
    }

    #[test]
    fn an_error_names_the_line_and_the_next_step() {
        let wrong = |from: &str, to: &str| parse(&REDACT.replace(from, to)).unwrap_err();
        for (error, expected) in [
            (parse("").unwrap_err(), "the lock has no `version = 1`"),
            (
                parse("version = \"1\"").unwrap_err(),
                "the lock has no `version = 1`",
            ),
            (
                wrong("version = 1\n", "version = 2\n"),
                "supports only 1: use the newer acp-chain",
            ),
            (
                wrong("size = 3", "size = 3\nweight = 4"),
                "acp-chain.lock:12: unknown field `weight`",
            ),
            (
                wrong("size = 3", "size = -3"),
                ":11: invalid value: integer `-3`",
            ),
            (
                wrong("size = 3", "size = 999999999999"),
                "larger than any component may be",
            ),
            (wrong("ba7816bf", "BA7816BF"), ":10: `sha256:BA7816BF"),
            (
                wrong("ghcr.io/org/redact:1", "what is this"),
                ":7: `what is this` is not a source",
            ),
            (
                wrong("\"redact\"", "\"../redact\""),
                "\"../redact\" is not the name of an extension",
            ),
            (wrong("size = 3", "size ="), ":11: "),
            (
                parse(&format!("{REDACT}\n{}", &REDACT[12..])).unwrap_err(),
                "`redact` is locked twice",
            ),
            (
                parse(&" ".repeat(LOCK + 1)).unwrap_err(),
                "the file is larger than",
            ),
        ] {
            assert!(error.contains(expected), "{error}\nlacks\n{expected}");
            assert!(error.starts_with("/project/acp-chain.lock"), "{error}");
            let next = ["restore the file, or remove it", "use the newer acp-chain"];
            assert!(next.iter().any(|next| error.contains(next)), "{error}");
        }
    }
}
