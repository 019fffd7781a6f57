//! The project under development, and the chain with its component. Both are reread for each version, so a changed
//! manifest applies from the next one.

use std::fs;
use std::path::{Path, PathBuf};

use acp_chain_package::Project;
use tokio::sync::oneshot;

use super::{sources, tell};
use crate::protected::{self, NamedFiles};
use crate::{Error, Report, home, proxies};
use acp_chain::host::{Host, ProxyPlan};
use acp_chain_channel::Failure;
use acp_chain_conductor::{Swap, Terms};
use acp_chain_extension::{Digest, Location};
use acp_chain_manifest::{Manifest, ProxyKind, User};
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_system::files;

/// The project under development.
#[derive(Clone, Debug)]
pub struct DevProject {
    /// The project's folder.
    pub folder: PathBuf,
    /// The path of its built component.
    pub component: PathBuf,
    /// The chain's manifest; by default, the chain is just the component with what it asks for.
    pub manifest: Option<PathBuf>,
    /// The files named on the command line, to which no proxy may write.
    pub named: NamedFiles,
}

/// A chain, as currently written.
pub struct DevChain {
    pub user: User,
    pub manifest: Manifest,
    /// The proxies of the manifest, in order.
    pub proxies: Vec<ProxyPlan>,
}

/// The outcome of trying to swap in a version.
pub type SwapOutcome = oneshot::Receiver<Result<(), Failure>>;

impl DevProject {
    /// The project in a folder, and the chain named for it.
    pub fn find(folder: &Path, manifest: Option<&Path>, named: NamedFiles) -> Result<Self, Error> {
        let absolute = |path: &Path| files::real(path).map_err(|error| Error::of_file(path, error));
        let folder = absolute(folder)?;
        let project = Project::read(&folder).map_err(Error::Metadata)?;
        Ok(Self {
            component: acp_chain_author::output(&project),
            manifest: manifest.map(absolute).transpose()?,
            folder,
            named,
        })
    }

    /// The chain, as currently written. None of its proxies may write to files that are relied on or built.
    pub fn chain(&self) -> Result<DevChain, Error> {
        home::check_owners()?;
        let (user, installed) = home::settings()?;
        let manifest = match &self.manifest {
            Some(path) => Manifest::read(path, &user, &installed)?,
            None => {
                let (path, component) = (self.folder.join("chain"), &self.component);
                Manifest::of_test("", &path, Some(component), &user, &installed)?
            }
        };
        let proxies = proxies::open(&manifest)?;
        self.own(&manifest, &proxies)?;
        protected::check(&manifest, &proxies, &self.named)?;
        self.check_sources(&manifest, &proxies)?;
        Ok(DevChain {
            user,
            manifest,
            proxies,
        })
    }

    /// An error if a proxy may write to the project: its files are built, with all of the user's rights.
    fn check_sources(&self, manifest: &Manifest, proxies: &[ProxyPlan]) -> Result<(), Error> {
        let mut sources = sources::elsewhere(&self.folder);
        sources.push(self.folder.clone());
        let is_within = proxies::directories(proxies).find(|(_, opened)| {
            let real = files::real(&opened.by);
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
        Err(Error::Proxy(manifest.about(entry, &wrong)))
    }

    /// The proxy of a manifest that has the project's component.
    fn own<'p>(
        &self,
        manifest: &Manifest,
        proxies: &'p [ProxyPlan],
    ) -> Result<&'p ProxyPlan, Error> {
        let component = files::real(&self.component).ok();
        let is_own = |proxy: &&ProxyPlan| match &proxy.entry.kind {
            ProxyKind::Component(made) => match &made.location {
                Location::File(path) => component.is_some() && files::real(path).ok() == component,
                _ => false,
            },
            ProxyKind::Native(_) => false,
        };
        let own: Vec<_> = proxies.iter().filter(is_own).collect();
        let shown = |path: &Path| Untrusted::new(path.display()).to_string();
        let (manifest, component) = (shown(&manifest.path), shown(&self.component));
        match own[..] {
            [own] => Ok(own),
            [] => Err(Error::NoProxy(manifest, component)),
            _ => Err(Error::SeveralProxies(manifest, component)),
        }
    }

    /// The identity of the current version: its component, and the named chain.
    pub fn version(&self) -> Result<Digest, Error> {
        let mut all = Vec::new();
        for path in [Some(&self.component), self.manifest.as_ref()] {
            let Some(path) = path else { continue };
            let text = fs::read(path).map_err(|error| Error::of_file(path, error))?;
            all.extend(Digest::of(&text).hex().into_bytes());
        }
        Ok(Digest::of(&all))
    }

    /// Loads the current version, to be swapped into the chain. Takes as long as compiling it.
    pub fn load(
        &self,
        host: &Host,
        report: &'static dyn Report,
    ) -> Result<(Swap, SwapOutcome), Error> {
        let DevChain {
            manifest, proxies, ..
        } = self.chain()?;
        let proxy = self.own(&manifest, &proxies)?.clone();
        let entry = proxy.entry.clone();
        let about = |error: &dyn std::fmt::Display| Error::Proxy(manifest.about(&entry, error));
        let loaded = host.load(vec![proxy], |_, load| load());
        let component = loaded.into_iter().next().and_then(|proxy| proxy.component);
        let guest = component.ok_or_else(|| about(&"it is not a component"))?;
        let guest = guest.map_err(|error| about(&error))?;
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
                let why = Untrusted::new(why);
                tell(report, &format!("an old version ends: {why}"));
            }),
        };
        Ok((swap, swapped))
    }
}
