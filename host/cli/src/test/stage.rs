//! The chain of a transcript.

use std::cell::RefCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::find;
use crate::Result;
use acp_chain::host::{Host, LoadedProxy, ProxyPlan};
use acp_chain_app::{home, proxies};
use acp_chain_extension::{Installed, Location};
use acp_chain_kit::transcript::{PlayError, Played, Script, Setup, Tested, play};
use acp_chain_manifest::{Manifest, Order, ProxyKind, User};
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_system::files::real;

/// The parts that all transcripts share.
pub struct Stage {
    host: Host,
    user: User,
    installed: Installed,
    /// Replaces the first component named by its path.
    component: Option<PathBuf>,
    /// The components that were played: each is checked for a draft once.
    played: RefCell<HashSet<PathBuf>>,
}

impl Stage {
    pub fn new(component: Option<&Path>) -> Result<Self> {
        home::check_owners()?;
        let user = home::user()?;
        let absolute = |path: &Path| {
            let shown = Untrusted::new(path.display());
            // A transcript that names none by a path would not look for it.
            if !path.is_file() {
                return Err(wrong!(
                    "--component {shown}: there is no such file; `acp-chain build` makes one"
                ));
            }
            std::path::absolute(path).map_err(|error| wrong!("{shown}: {error}"))
        };
        Ok(Self {
            host: Host::new(home::engine()?),
            installed: home::installed(&user)?,
            user,
            component: component.map(absolute).transpose()?,
            played: RefCell::default(),
        })
    }

    /// Plays the transcript at `path`.
    pub fn play(&self, script: &Script, path: &Path, loosens: bool) -> Result<Played> {
        let manifest = self.manifest(script.head(), path)?;
        let setup = Setup {
            proxies: self.proxies(&manifest)?,
            is_as_written: manifest.order == Order::AsWritten,
            loosens,
            ..Setup::default()
        };
        let shown = Untrusted::new(path.display());
        play(script, setup).map_err(|error: PlayError| wrong!("{shown}:{error}"))
    }

    /// Plays a script with those proxies of a manifest, or of the user's chain, that have a power. `None` if no proxy
    /// has it.
    pub fn play_with(
        &self,
        power: &str,
        script: &Script,
        manifest: Option<&Path>,
    ) -> Result<Option<Played>> {
        let mut manifest = Manifest::of(manifest, &self.user, &self.installed)?;
        manifest.proxies.retain(|entry| match &entry.kind {
            ProxyKind::Component(component) => component.grant.has(power),
            ProxyKind::Native(_) => false,
        });
        if manifest.proxies.is_empty() {
            return Ok(None);
        }
        let setup = Setup {
            proxies: self.proxies(&manifest)?,
            is_as_written: manifest.order == Order::AsWritten,
            ..Setup::default()
        };
        let played = play(script, setup).map_err(|error| wrong!("{error}"))?;
        Ok(Some(played))
    }

    /// The chain that the head of a transcript names.
    fn manifest(&self, head: &str, path: &Path) -> Result<Manifest> {
        let shown = Untrusted::new(path.display());
        let absolute = std::path::absolute(path).map_err(|error| wrong!("{shown}: {error}"))?;
        // Parse errors are reported below, with their place.
        let keys = toml::from_str::<toml::Table>(head).ok();
        if let Some(keys) = &keys
            && let Some(manifest) = keys.get("manifest")
        {
            let Some(manifest) = manifest.as_str().filter(|_| keys.len() == 1) else {
                return Err(wrong!(
                    "{shown}:1: the head is either `manifest = \"FILE\"`, or all that a manifest has"
                ));
            };
            let folder = absolute.parent().unwrap_or(Path::new("/"));
            let read = Manifest::read(&folder.join(manifest), &self.user, &self.installed);
            let mut manifest = read?;
            self.put_component(&mut manifest);
            return Ok(manifest);
        }
        let has_proxies = keys.is_none_or(|keys| keys.contains_key("proxy"));
        let component = match (&self.component, has_proxies) {
            (None, false) => {
                let found = find::component().map_err(|error| wrong!("{shown}: {error}"))?;
                Some(std::path::absolute(found).map_err(|error| wrong!("{shown}: {error}"))?)
            }
            (component, _) => component.clone(),
        };
        let (user, installed) = (&self.user, &self.installed);
        let manifest = Manifest::of_test(head, &absolute, component.as_deref(), user, installed);
        Ok(manifest?)
    }

    /// Puts the tested component into a manifest that is also used for runs.
    fn put_component(&self, manifest: &mut Manifest) {
        let components = manifest.proxies.iter_mut();
        let mut components = components.filter_map(|entry| match &mut entry.kind {
            ProxyKind::Component(component) => Some(&mut component.location),
            ProxyKind::Native(_) => None,
        });
        let first = components.find(|location| matches!(location, Location::File(_)));
        if let (Some(location), Some(component)) = (first, &self.component) {
            *location = Location::File(component.clone());
        }
    }

    fn proxies(&self, manifest: &Manifest) -> Result<Vec<Tested>> {
        let planned = proxies::open(manifest)?;
        check_directories(manifest, &planned)?;
        let mut proxies = Vec::new();
        for LoadedProxy { plan, component } in self.host.load(planned, |_, load| load()) {
            let entry = plan.entry;
            let Some(guest) = component else {
                let wrong =
                    "it is a program; a transcript is played with components only: leave it out";
                return Err(manifest.about(&entry, &wrong).into());
            };
            let guest = guest.map_err(|error| manifest.about(&entry, &error))?;
            if let ProxyKind::Component(component) = &entry.kind
                && let Some(path) = component.location.path()
                && self.played.borrow_mut().insert(path.to_owned())
            {
                find::warn_of_draft(&component.location);
            }
            proxies.push(Tested {
                guest,
                on_failure: entry.on_failure,
            });
        }
        Ok(proxies)
    }
}

/// Fails if a proxy may write to a directory, or read one outside the current folder: transcripts are untrusted.
pub(crate) fn check_directories(manifest: &Manifest, proxies: &[ProxyPlan]) -> Result<()> {
    let here = std::env::current_dir().and_then(|here| real(&here));
    let here = here.map_err(|error| wrong!("the current folder cannot be used: {error}"))?;
    for ProxyPlan { entry, directories } in proxies {
        for opened in directories.iter() {
            let path = Untrusted::new(opened.directory.path.display());
            if opened.directory.write {
                let wrong =
                    format!("it may write to {path}, which no test allows: leave out `write`");
                return Err(manifest.about(entry, &wrong).into());
            }
            if !opened.directory.path.starts_with(&here) {
                let wrong = format!(
                    "its directory {path} is outside the current folder; tests grant no others"
                );
                return Err(manifest.about(entry, &wrong).into());
            }
        }
    }
    Ok(())
}
