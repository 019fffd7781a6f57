//! The project under development, and the chain with its component. Both are reread for each version, so a changed
//! manifest applies from the next one.

use std::fs;
use std::path::{Path, PathBuf};

use acp_chain_package::Project;
use tokio::sync::oneshot;

use super::notices::tell;
use super::sources;
use crate::open;
use crate::protected::{self, Named};
use acp_chain::host::Host;
use acp_chain_channel::Failure;
use acp_chain_conductor::{Swap, Terms};
use acp_chain_extension::{Digest, Location};
use acp_chain_manifest::{Manifest, ProxyEntry, ProxyKind, User};
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_sandbox::{Directories, Guest};

/// The project under development.
#[derive(Clone, Debug)]
pub struct Developed {
    /// The project's folder.
    pub folder: PathBuf,
    /// The path of its built component.
    pub component: PathBuf,
    /// The chain's manifest; by default, the chain is just the component with what it asks for.
    pub manifest: Option<PathBuf>,
    /// The files named on the command line, to which no proxy may write.
    pub named: Named,
}

/// A chain, as currently written.
pub struct Read {
    pub user: User,
    pub manifest: Manifest,
    /// The directories of its proxies, in order.
    pub directories: Vec<Directories>,
}

/// The outcome of trying to swap in a version.
pub type Swapped = oneshot::Receiver<Result<(), Failure>>;

impl Developed {
    /// The project in a folder, and the chain named for it.
    pub fn find(folder: &Path, manifest: Option<&Path>, named: Named) -> Result<Self, String> {
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
            named,
        })
    }

    /// The chain, as currently written. None of its proxies may write to files that are relied on or built.
    pub fn chain(&self) -> Result<Read, String> {
        crate::folders::check_owners()?;
        let user = crate::user().map_err(|error| error.to_string())?;
        let installed = crate::installed(&user)?;
        let manifest = match &self.manifest {
            Some(path) => Manifest::read(path, &user, &installed),
            None => {
                let (path, component) = (self.folder.join("chain"), &self.component);
                Manifest::of_component(&path, component, &user, &installed)
            }
        };
        let manifest = manifest.map_err(|error| error.to_string())?;
        self.place(&manifest)?;
        let directories = open(&manifest)?;
        protected::check(&manifest, &directories, &self.named)?;
        self.check_sources(&manifest, &directories)?;
        Ok(Read {
            user,
            manifest,
            directories,
        })
    }

    /// An error if a proxy may write to the project: its files are built, with all of the user's rights.
    fn check_sources(
        &self,
        manifest: &Manifest,
        directories: &[Directories],
    ) -> Result<(), String> {
        let mut sources = sources::elsewhere(&self.folder);
        sources.push(self.folder.clone());
        let given = manifest.proxies.iter().zip(directories);
        let mut given =
            given.flat_map(|(entry, all)| all.iter().map(move |opened| (entry, opened)));
        let is_within = given.find(|(_, opened)| {
            let real = opened.by.canonicalize();
            let is_within = real.is_ok_and(|real| {
                let mut sources = sources.iter();
                sources.any(|source| real.starts_with(source) || source.starts_with(&real))
            });
            opened.directory.write && is_within
        });
        let Some((entry, opened)) = is_within else {
            return Ok(());
        };
        let wrong = format!(
            "it may write to {}, and so to the project, which is built with all of your rights; leave out \
             `write`, or give it another directory",
            Untrusted::new(opened.directory.path.display())
        );
        Err(manifest.about(entry, &wrong))
    }

    /// The position of the project's component in a chain.
    fn place(&self, manifest: &Manifest) -> Result<usize, String> {
        let component = self.component.canonicalize().ok();
        let is_meant = |entry: &ProxyEntry| match &entry.kind {
            ProxyKind::Component(made) => match &made.location {
                Location::File(path) => {
                    component.is_some() && path.canonicalize().ok() == component
                }
                _ => false,
            },
            ProxyKind::Native(_) => false,
        };
        let places = manifest.proxies.iter().enumerate();
        let mut places = places
            .filter(|(_, entry)| is_meant(entry))
            .map(|(at, _)| at);
        let (shown, component) = (manifest.path.display(), self.component.display());
        let (shown, component) = (Untrusted::new(shown), Untrusted::new(component));
        match (places.next(), places.next()) {
            (Some(at), None) => Ok(at),
            (Some(_), Some(_)) => Err(format!(
                "{shown}: several proxies have the component of the project for their `path`, which is {component}; \
                 leave one"
            )),
            (None, _) => Err(format!(
                "{shown}: no proxy has the component of the project for its `path`, which is {component}"
            )),
        }
    }

    /// The identity of the current version: its component, and the named chain.
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

    /// Loads the current version, to be swapped into the chain. Takes as long as compiling it.
    pub fn load(&self, host: &Host) -> Result<(Swap, Swapped), String> {
        let Read {
            mut manifest,
            mut directories,
            ..
        } = self.chain()?;
        let at = self.place(&manifest)?;
        manifest.proxies = vec![manifest.proxies.swap_remove(at)];
        let directories = vec![directories.swap_remove(at)];
        let loaded = host.load(&manifest, &directories, |_, load| load());
        let entry = &manifest.proxies[0];
        let guest: Option<Guest> = match loaded.into_iter().next().flatten() {
            Some(guest) => Some(guest.map_err(|error| manifest.about(entry, &error))?),
            None => None,
        };
        let guest = guest.ok_or_else(|| manifest.about(entry, &"it is not a component"))?;
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
            cut_short: Box::new(|why| {
                tell(&format!("an old version ends: {}", Untrusted::new(why)));
            }),
        };
        Ok((swap, swapped))
    }
}
