//! The content of a project, read once, and its key.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use acp_chain_package::Package;
use bytes::Bytes;

use super::files::{FileError, Root};
use super::find::MANIFEST;
use acp_chain_channel::limits::{self, COMPONENT, LOCK, SIGNATURE};
use acp_chain_extension::digest::Hasher;
use acp_chain_extension::{Carried, Digest, Installed, Lock, LockError, Release};
use acp_chain_manifest::{Draft, Drafted, From, Manifest, ManifestError, User};
use acp_chain_system::files::real;

/// The first line of a [`Content::statement`]. It must change with the format.
const FORMAT: &str = "acp-chain project 1";

/// The lock beside the manifest.
const LOCK_FILE: &str = "acp-chain.lock";

/// The maximum number of [`folders`].
const FOLDERS: usize = 1024;

/// How many folders may be above a file for them to be watched. To resolve each of them takes time with the third power
/// of their number: a minute for 2,000.
const DEEPEST: usize = 64;

/// The signature of the [`Content::statement`], beside the manifest.
const SIGNATURE_FILE: &str = "acp-chain.toml.minisig";

/// The content of a project at one time.
#[derive(Debug)]
pub struct Content {
    root: PathBuf,
    draft: Draft,
    lock: Lock,
    /// The components in the project, by the ids of their proxies.
    stored: BTreeMap<String, ProjectComponent>,
    key: Digest,
    statement: String,
    signature: Option<String>,
    /// The texts of the manifest and of the lock.
    texts: (String, Option<String>),
}

/// A component in a project.
#[derive(Clone, Debug)]
pub struct ProjectComponent {
    /// Its digest.
    pub digest: Digest,
    /// Its size in bytes.
    pub size: u64,
    /// The content with [`Keep::Components`]; empty otherwise.
    bytes: Bytes,
}

/// Whether the components of a project are kept in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Only their digests are kept, to inspect the project.
    Digests,
    /// They are kept, so that exactly the digested bytes run.
    Components,
}

/// An error in a project.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The manifest has an error.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The lock has an error.
    #[error(transparent)]
    Lock(#[from] LockError),
}

impl Content {
    /// Reads a project: its manifest, its lock, and the components in it.
    pub fn read(root: &Path, carried: &Carried, keep: Keep) -> Result<Self, ProjectError> {
        Self::read_copy(root, root, carried, keep)
    }

    /// Reads the content of the project with this root from a copy of its files.
    pub fn read_copy(
        copy: &Path,
        root: &Path,
        carried: &Carried,
        keep: Keep,
    ) -> Result<Self, ProjectError> {
        let folder = Root::open(copy)?;
        let path = root.join(MANIFEST);
        // The manifest may have been removed since the project was found.
        let text = folder.text(MANIFEST, limits::MANIFEST)?.unwrap_or_default();
        let lock_text = folder.text(LOCK_FILE, LOCK)?;
        let draft = Draft::parse(&text, &path)?;
        let lock = match &lock_text {
            Some(text) => Lock::parse(text, &Lock::beside(&path))?,
            None => Lock::default(),
        };
        let mut stored = BTreeMap::new();
        let mut left = COMPONENT as u64;
        for proxy in &draft.proxies {
            if let From::Path(path) = &proxy.from {
                let one = ProjectComponent::read(&folder, path, left, keep)?;
                // The limit for one component applies to all of them together.
                left -= one.size;
                stored.insert(proxy.id.clone(), one);
            }
        }
        let digest = |text: Option<&String>| match text {
            Some(text) => Digest::of(text.as_bytes()).to_string(),
            None => "none".to_owned(),
        };
        let (of_manifest, of_lock) = (digest(Some(&text)), digest(lock_text.as_ref()));
        let mut statement = format!("{FORMAT}\nmanifest {of_manifest}\nlock {of_lock}\n");
        for (id, one) in &stored {
            let _ = writeln!(statement, "component {id} {}", one.digest);
        }
        let mut bound = statement.clone();
        let root_digest = Digest::of(root.as_os_str().as_encoded_bytes());
        let _ = writeln!(bound, "root {root_digest}");
        for proxy in &draft.proxies {
            if let Some(asks) = asks(proxy, &lock, carried) {
                let _ = writeln!(bound, "asks {} {asks}", proxy.id);
            }
        }
        Ok(Self {
            root: root.to_owned(),
            draft,
            lock,
            stored,
            key: Digest::of(bound.as_bytes()),
            statement,
            signature: folder.text(SIGNATURE_FILE, SIGNATURE)?,
            texts: (text, lock_text),
        })
    }

    /// The root, without symbolic links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The digest of the root, the manifest, the lock, the components, and what built-in extensions in the chain ask
    /// for.
    pub fn key(&self) -> Digest {
        self.key
    }

    /// The text to be signed: the digests of the manifest, the lock and the components. It does not depend on the root.
    pub fn statement(&self) -> &str {
        &self.statement
    }

    /// The files as they were read, by their paths below the root. Components have their bytes only with
    /// [`Keep::Components`].
    pub fn files(&self) -> impl Iterator<Item = (&Path, &[u8])> {
        let (manifest, lock) = &self.texts;
        let texts = [(MANIFEST, Some(manifest)), (LOCK_FILE, lock.as_ref())];
        let texts = texts.into_iter();
        let texts = texts.filter_map(|(name, text)| Some((Path::new(name), text?.as_bytes())));
        let components = self
            .draft
            .proxies
            .iter()
            .filter_map(|proxy| match &proxy.from {
                From::Path(path) => Some((&**path, &*self.stored.get(&proxy.id)?.bytes)),
                From::Extension(_) => None,
            });
        texts.chain(components)
    }

    /// The unverified signature beside the manifest.
    pub fn signature(&self) -> Option<&String> {
        self.signature.as_ref()
    }

    /// The agreed release in the lock for the extension of a proxy, if it is locked.
    pub fn locked(&self, id: &str) -> Option<&Release> {
        let proxy = self.draft.proxies.iter().find(|proxy| proxy.id == id)?;
        match &proxy.from {
            From::Extension(name) => Some(&self.lock.get(name)?.agreed),
            From::Path(_) => None,
        }
    }

    /// The lock beside the manifest.
    pub fn lock(&self) -> &Lock {
        &self.lock
    }

    /// The component of a proxy, if it is in the project.
    pub fn stored(&self, id: &str) -> Option<&ProjectComponent> {
        self.stored.get(id)
    }

    /// The manifest of the project, with the components that were kept.
    pub fn manifest(&self, user: &User, installed: &Installed) -> Result<Manifest, ProjectError> {
        let components = self.stored.iter();
        let components = components.map(|(id, stored)| (id.clone(), stored.bytes.clone()));
        let (draft, lock) = (self.draft.clone(), self.lock.clone());
        Ok(draft.manifest(lock, &components.collect(), user, installed)?)
    }
}

impl ProjectComponent {
    fn read(root: &Root, path: &Path, most: u64, keep: Keep) -> Result<Self, FileError> {
        let mut file = root.file(path, most)?;
        let (mut hasher, mut bytes, mut size) = (Hasher::default(), Vec::new(), 0);
        file.each(|chunk| {
            hasher.update(chunk);
            size += chunk.len() as u64;
            if keep == Keep::Components {
                bytes.extend_from_slice(chunk);
            }
        })?;
        Ok(Self {
            digest: hasher.finish(),
            size,
            bytes: bytes.into(),
        })
    }
}

/// The folders beneath a root that contain its components, or would contain missing ones, and the folders above them: a
/// change in one may change the content. Those of deeper files are left out.
pub fn folders(root: &Path) -> BTreeSet<PathBuf> {
    let text = Root::open(root).and_then(|folder| folder.text(MANIFEST, limits::MANIFEST));
    let text = text.ok().flatten().unwrap_or_default();
    let draft = Draft::parse(&text, &root.join(MANIFEST));
    let mut all = BTreeSet::new();
    for proxy in draft.into_iter().flat_map(|draft| draft.proxies) {
        let From::Path(path) = proxy.from else {
            continue;
        };
        let path = root.join(path);
        // The path may be a symbolic link.
        let target = real(&path).ok();
        let paths = [Some(path), target].into_iter().flatten();
        for path in paths.filter(|path| path.components().count() <= DEEPEST) {
            let above = path.ancestors().skip(1);
            let above = above.filter_map(|folder| real(folder).ok());
            let beneath = above.filter(|folder| folder.starts_with(root) && folder != root);
            all.extend(beneath);
        }
    }
    all.into_iter().take(FOLDERS).collect()
}

/// The digest of what a built-in extension without a lock asks for, which depends on the version of acp-chain. `None`
/// for other proxies: the lock has their powers.
fn asks(proxy: &Drafted, lock: &Lock, carried: &Carried) -> Option<Digest> {
    let From::Extension(name) = &proxy.from else {
        return None;
    };
    if lock.get(name).is_some() {
        return None;
    }
    let component = carried.named(name)?.component().ok()?;
    let asks = Package::read(component).ok()?.asks;
    let mut powers: Vec<_> = asks.powers.iter().map(|asked| &*asked.power).collect();
    powers.sort_unstable();
    let methods = asks.methods.iter();
    let methods: BTreeMap<_, _> = methods
        .map(|(name, asked)| (name, &asked.actions))
        .collect();
    let text = serde_json::json!({
        "powers": powers,
        "methods": methods,
        "limits": asks.limits,
        "on-failure": asks.on_failure,
    });
    Some(Digest::of(text.to_string().as_bytes()))
}

#[cfg(all(test, unix))]
mod tests;
