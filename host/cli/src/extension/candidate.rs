//! An extension that was fetched and checked, before it is granted anything.

use std::io::Cursor;

use crate::Result;
use acp_chain_package::Package;
use serde_json::Value;

use super::folder::check_file;
use super::place::Place;
use crate::progress::Progress;
use acp_chain_app::home;
use acp_chain_extension::{Digest, Reference, Release, Revoked, SignatureError, Signer, Source};
use acp_chain_fetch::{Artifact, Fetched, Fetcher, Patience, Published, Web};
use acp_chain_manifest::{User, check_asks};
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_sandbox::{Component, Engine};

/// Fetches and checks extensions.
pub struct Checks {
    pub user: User,
    pub fetcher: Fetcher,
    pub progress: Progress,
    engine: Engine,
    runtime: tokio::runtime::Runtime,
}

/// An extension that could be installed.
pub struct Candidate {
    pub package: Package,
    pub component: Vec<u8>,
    pub release: Release,
    /// Why there may be signatures that were not found.
    pub unread: Option<String>,
}

impl Checks {
    /// Reads the user's settings. Nothing is downloaded if `offline` is set.
    pub fn new(offline: bool) -> Result<Self> {
        let web = (!offline).then(|| Web::new(Patience::default()));
        Ok(Self {
            user: home::user()?,
            fetcher: Fetcher {
                web: web.transpose()?,
            },
            progress: Progress::default(),
            engine: home::engine()?,
            runtime: acp_chain_app::runtime()?,
        })
    }

    /// Fetches and checks the current content of a source. Paths are relative to the place's folder; `signer` examines
    /// the signatures.
    pub fn get(
        &self,
        place: &Place,
        source: &Source,
        signer: impl Fn(&Fetched) -> Result<Option<Signer>, SignatureError>,
    ) -> Result<Candidate> {
        let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", shown(source));
        let fetched = self.fetch(place, source)?;
        let unread = fetched.unread_signatures();
        let signer = signer(&fetched).map_err(|error| wrong(&format!("{error}{unread}")))?;
        if self.user.require_signature && signer.is_none() {
            let unsigned = "it has no signature, and your config.toml has `require-signature = true`; ask its \
                        author for one";
            return Err(wrong(&format!("{unsigned}{unread}")).into());
        }
        self.check_revoked(place, &fetched.digest)
            .map_err(|error| wrong(&error))?;
        let package = Package::read(Cursor::new(&fetched.component));
        let package = package.map_err(|error| wrong(&quote(&error.to_string(), MAX_QUOTE)))?;
        check_asks(&package).map_err(|error| wrong(&error))?;
        self.compile(&shown(source), &fetched.component)?;
        let asks = &package.asks;
        let methods = asks.methods.iter();
        let limits = asks.limits.iter();
        let release = Release {
            source: source.clone(),
            version: Some(package.version.to_string()),
            manifest: fetched.manifest,
            digest: fetched.digest,
            size: fetched.component.len() as u64,
            wit: package.interface().unwrap_or_default().to_owned(),
            imports: package.imports.clone(),
            powers: asks
                .powers
                .iter()
                .map(|asked| asked.power.clone())
                .collect(),
            signer,
            on_failure: package.asks.on_failure,
            guard: package.asks.guard,
            methods: methods
                .map(|(name, asked)| (name.clone(), asked.actions.clone()))
                .collect(),
            limits: limits
                .map(|(key, value)| (key.clone(), text(value)))
                .collect(),
        };
        Ok(Candidate {
            package,
            component: fetched.component,
            release,
            unread: fetched.unread,
        })
    }

    /// Fetches the current content of a source, without checks.
    pub fn fetch(&self, place: &Place, source: &Source) -> Result<Fetched> {
        self.read(&source.clone().from_folder(place.folder()))
    }

    /// Fetches the current content of a source, whose path is relative to the working directory.
    pub fn read(&self, source: &Source) -> Result<Fetched> {
        if let Source::File(path) = source {
            check_file(path)?;
        }
        let is_remote = !matches!(source, Source::File(_));
        let download = is_remote.then(|| self.progress.download(&shown(source)));
        let seen = |there, whole| {
            if let Some(download) = &download {
                download.set(there, whole);
            }
        };
        let fetched = self.runtime.block_on(self.fetcher.fetch(source, &seen));
        Ok(fetched?)
    }

    /// Uploads an extension to a registry.
    pub fn publish(&self, to: &Reference, artifact: &Artifact) -> Result<Published> {
        let published = self.runtime.block_on(self.fetcher.publish(to, artifact));
        Ok(published?)
    }

    /// Compiles a component, so that no start has to. Components with unknown imports are rejected.
    pub fn compile(&self, name: &str, component: &[u8]) -> Result<()> {
        let digest = Digest::of(component).to_string();
        let compile = || Component::compile_kept(&self.engine, &digest, component);
        let compiled = self.progress.while_loading(name, compile);
        compiled
            .map(drop)
            .map_err(|error| wrong!("{name}: {error}"))
    }

    /// An error if a component must not run.
    pub fn check_revoked(&self, place: &Place, digest: &Digest) -> Result<()> {
        let Some(revocations) = &self.user.revocations else {
            return Ok(());
        };
        let revoked = Revoked::read(place.store.folder(), &revocations.key)?;
        Ok(revoked.check(digest)?)
    }

    /// Fetches the list of revocations, if the user names one. If that fails, nothing is installed: an attacker may
    /// withhold the list.
    pub fn refresh_revoked(&self, place: &Place) -> Result<()> {
        let Some(revocations) = &self.user.revocations else {
            return Ok(());
        };
        let base = home::config_file();
        let base = base
            .as_deref()
            .and_then(std::path::Path::parent)
            .unwrap_or(place.folder());
        let list = self.fetcher.signed(&revocations.source, base);
        let (text, signature) = self.runtime.block_on(list)?;
        // Another process may be about to store a newer list.
        let changing = place.store.change()?;
        let kept = Revoked::read(place.store.folder(), &revocations.key)?;
        kept.replace(&text, &signature, &revocations.key, &changing)?;
        Ok(())
    }
}

/// A source, for people.
pub fn shown(source: &Source) -> String {
    quote(&source.to_string(), MAX_QUOTE)
}

/// A limit that a package asks for, as in manifests.
fn text(limit: &Value) -> String {
    let text = limit.as_str().map(str::to_owned);
    text.unwrap_or_else(|| limit.to_string())
}
