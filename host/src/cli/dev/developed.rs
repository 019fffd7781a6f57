//! The project that is developed, and the chain in which its component stands. Both are read anew for each
//! version, so that a changed manifest comes with the next one.

use std::fs;
use std::path::{Path, PathBuf};

use acp_chain_package::Project;

use crate::chain::{Swap, Terms};
use crate::channel::Failure;
use crate::cli::{self, open};
use crate::extension::{Digest, Location};
use crate::host::Host;
use crate::manifest::{Make, Manifest, ProxyEntry, User};
use crate::sandbox::Guest;
use crate::untrusted::Untrusted;
use tokio::sync::oneshot;

/// What is developed.
#[derive(Clone, Debug)]
pub struct Developed {
    /// The project's folder.
    pub folder: PathBuf,
    /// Where its component is once it is built.
    pub component: PathBuf,
    /// The chain, if it is another than the component alone with what it asks for.
    pub manifest: Option<PathBuf>,
}

/// What came of a version that was to take its place.
pub type Swapped = oneshot::Receiver<Result<(), Failure>>;

impl Developed {
    /// The project in a folder, and the chain that was named for it.
    pub fn find(folder: &Path, manifest: Option<&Path>) -> Result<Self, String> {
        let shown = |path: &Path| Untrusted::new(path.display()).to_string();
        let absolute = |path: &Path| {
            let absolute = path.canonicalize();
            absolute.map_err(|error| format!("{}: {error}", shown(path)))
        };
        let folder = absolute(folder)?;
        let project = Project::read(&folder).map_err(|error| Untrusted::new(error).to_string())?;
        Ok(Self {
            component: acp_chain_author::output(&project),
            manifest: manifest.map(absolute).transpose()?,
            folder,
        })
    }

    /// The chain, as it is written now.
    pub fn chain(&self) -> Result<(User, Manifest), String> {
        cli::folders::check_owners()?;
        let user = cli::user().map_err(|error| error.to_string())?;
        let installed = cli::installed(&user)?;
        let manifest = match &self.manifest {
            Some(path) => Manifest::read(path, &user, &installed),
            None => {
                let (path, component) = (self.folder.join("chain"), &self.component);
                Manifest::of_component(&path, component, &user, &installed)
            }
        };
        let manifest = manifest.map_err(|error| error.to_string())?;
        self.entry(&manifest)?;
        Ok((user, manifest))
    }

    /// The proxy of a chain that is the project's component.
    fn entry<'m>(&self, manifest: &'m Manifest) -> Result<&'m ProxyEntry, String> {
        let is_meant = |entry: &&ProxyEntry| match &entry.make {
            Make::Component(component) => match &component.location {
                Location::File(path) => {
                    let path = path.canonicalize();
                    path.is_ok_and(|path| path == self.component)
                }
                _ => false,
            },
            Make::Native(_) => false,
        };
        manifest.proxies.iter().find(is_meant).ok_or_else(|| {
            let (manifest, component) = (manifest.path.display(), self.component.display());
            format!(
                "{}: no proxy has the component of the project for its `path`, which is {}",
                Untrusted::new(manifest),
                Untrusted::new(component)
            )
        })
    }

    /// What tells the version that is there from others: its component, and the chain that was named.
    pub fn version(&self) -> Result<Digest, String> {
        let mut all = Vec::new();
        for path in [Some(&self.component), self.manifest.as_ref()] {
            let Some(path) = path else { continue };
            let read = fs::read(path);
            let text =
                read.map_err(|error| format!("{}: {error}", Untrusted::new(path.display())))?;
            all.extend(Digest::of(&text).hex().into_bytes());
        }
        Ok(Digest::of(&all))
    }

    /// Loads the version that is there, to take its place in the chain. Takes as long as compiling it.
    pub fn load(&self, host: &Host) -> Result<(Swap, Swapped), String> {
        let (_, mut manifest) = self.chain()?;
        let entry = self.entry(&manifest)?.clone();
        manifest.proxies = vec![entry];
        let directories = open(&manifest)?;
        let loaded = host.load(&manifest, &directories, |_, load| load());
        let entry = &manifest.proxies[0];
        let guest: Option<Guest> = match loaded.into_iter().next().flatten() {
            Some(guest) => Some(guest.map_err(|error| manifest.about(entry, &error))?),
            None => None,
        };
        let guest = guest.ok_or_else(|| manifest.about(entry, &"it is no component"))?;
        let (done, swapped) = oneshot::channel();
        let swap = Swap {
            proxy: entry.id.clone(),
            terms: Terms {
                limits: guest.limits.clone(),
                grant: guest.grant.clone(),
                ..Terms::default()
            },
            on_failure: entry.on_failure,
            source: Box::new(guest),
            done,
        };
        Ok((swap, swapped))
    }
}
