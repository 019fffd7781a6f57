//! `acp-chain install`: fetches exactly the locked extensions, and compiles them.

use std::process::ExitCode;

use super::candidate::{Checks, shown};
use super::place::{Changes, ManifestArg, Place};
use crate::{Result, code_if, report_one};
use acp_chain_app::home;
use acp_chain_extension::signature::signer;
use acp_chain_extension::{Lock, Locked, Reference, Release, Source};
use acp_chain_manifest::Edit;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain install
  acp-chain install --manifest acp-chain.toml --locked --offline")]
pub struct Install {
    #[command(flatten)]
    named: ManifestArg,
    /// Fail if the manifest and its lock do not match
    #[arg(long)]
    locked: bool,
    /// Download nothing: everything must be there, or in files
    #[arg(long)]
    offline: bool,
}

impl Install {
    /// Never changes the lock.
    pub fn main(self) -> Result<ExitCode> {
        let place = self.named.place(Changes::Store)?;
        let (lock, edit) = (place.lock()?, place.edit()?);
        if self.locked {
            match_up(&lock, &edit)?;
        }
        let checks = Checks::new(self.offline)?;
        if !self.offline {
            checks.refresh_revoked(&place)?;
        }
        let changing = place.store.change()?;
        changing.used_by(lock.path())?;
        drop(changing);
        if lock.extensions().next().is_none() {
            say!("{}", place.without_extensions());
        }
        let mut succeeded = true;
        for locked in lock.extensions() {
            let name = &locked.name;
            let version = locked.agreed.version.as_deref().unwrap_or_default();
            let version = quote(version, MAX_QUOTE);
            let done = get(&place, &checks, &lock, locked);
            let done = done.map(|how| say!("{name} {version}: {how}"));
            succeeded &= report_one(name, done);
        }
        Ok(code_if(succeeded))
    }
}

/// Fails unless the lock has exactly the extensions that the manifest uses, apart from built-in ones.
fn match_up(lock: &Lock, edit: &Edit) -> Result<()> {
    let listed = |names: &[String]| {
        let names = names.iter().map(|name| quote(name, MAX_QUOTE));
        let names: Vec<_> = names.map(|name| format!("`{name}`")).collect();
        names.join(", ")
    };
    let path = quote(&lock.path().display().to_string(), MAX_QUOTE);
    let locked = lock.extensions().map(|locked| locked.name.clone());
    let locked: Vec<_> = locked.collect();
    let mut unused = locked.clone();
    unused.retain(|name| !edit.uses().any(|used| used == name));
    if !unused.is_empty() {
        return Err(wrong!(
            "{path} names {}, which its manifest does not use; `acp-chain remove` removes it",
            listed(&unused)
        ));
    }
    let carried = home::carried()?;
    let mut missing: Vec<_> = edit.uses().map(str::to_owned).collect();
    missing.retain(|name| !locked.contains(name) && carried.named(name).is_none());
    if missing.is_empty() {
        Ok(())
    } else {
        Err(wrong!(
            "{path} lacks {}, which its manifest uses; `acp-chain add` adds it",
            listed(&missing)
        ))
    }
}

/// Fetches one extension, if it is missing; returns what was done.
fn get(place: &Place, checks: &Checks, lock: &Lock, locked: &Locked) -> Result<&'static str> {
    let release = &locked.agreed;
    let check_size = |component: &[u8]| match component.len() as u64 {
        size if size == release.size => Ok(()),
        size => Err(lock.wrong_size(&locked.name, size).to_string()),
    };
    checks.check_revoked(place, &release.digest)?;
    if checks.user.require_signature && release.signer.is_none() {
        return Err(wrong!(
            "the lock names no signer for it, and your config.toml has `require-signature = true`; \
             `acp-chain add` looks for a signature, and records it"
        ));
    }
    if let Ok(component) = place.store.read(&release.digest) {
        check_size(&component)?;
        checks.compile(&shown(&release.source), &component)?;
        return Ok("is there");
    }
    let fetched = checks.fetch(place, &pinned(release))?;
    if fetched.digest != release.digest {
        return Err(wrong!(
            "{} is {} now, and {} is locked: it was changed since. `acp-chain update` looks at the new one; \
             nothing was installed",
            shown(&release.source),
            fetched.digest,
            release.digest
        ));
    }
    check_size(&fetched.component)?;
    // The lock itself does not prove that its signer signed the component.
    if let Some(wanted) = &release.signer {
        let signed = signer(&fetched.component, &fetched.signatures, Some(wanted));
        signed.map_err(|error| {
            let unread = fetched.unread_signatures();
            format!("{}: {error}{unread}", shown(&release.source))
        })?;
    }
    checks.compile(&shown(&release.source), &fetched.component)?;
    let changing = place.store.change()?;
    changing.add(&fetched.component)?;
    Ok("installed")
}

/// The source of exactly this release, wherever its tag points now.
fn pinned(release: &Release) -> Source {
    match (&release.source, release.manifest) {
        (Source::Registry(reference), Some(manifest)) => Source::Registry(Reference {
            digest: Some(manifest),
            ..reference.clone()
        }),
        (source, _) => source.clone(),
    }
}
