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
            check_unused(&place, &lock, &edit)?;
        }
        let missing = lacking(&place, &lock, &edit)?;
        if let (true, Some(missing)) = (self.locked, &missing) {
            return Err(missing.clone().into());
        }
        let checks = Checks::new(self.offline)?;
        if !self.offline {
            checks.refresh_revoked(&place)?;
        }
        let changing = place.store.change()?;
        changing.used_by(lock.path())?;
        drop(changing);
        match missing {
            Some(missing) => tell!("acp-chain: {missing}"),
            None if lock.is_empty() => say!("{}", place.without_extensions()),
            None => {}
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

/// Fails if the lock has extensions that the manifest does not use.
fn check_unused(place: &Place, lock: &Lock, edit: &Edit) -> Result<()> {
    let is_unused = |name: &&str| edit.uses().all(|used| used != *name);
    let locked = lock.extensions().map(|locked| &*locked.name);
    let unused: Vec<_> = locked.filter(is_unused).collect();
    if unused.is_empty() {
        return Ok(());
    }
    Err(wrong!(
        "{} names {}, which its manifest does not use; `acp-chain remove NAME{}` removes it",
        shown_path(lock),
        listed(&unused),
        place.option()
    ))
}

/// What to do about extensions that the manifest uses, and that are neither locked nor built in.
fn lacking(place: &Place, lock: &Lock, edit: &Edit) -> Result<Option<String>> {
    let carried = home::carried()?;
    let is_missing = |name: &&str| lock.get(name).is_none() && carried.named(name).is_none();
    let missing: Vec<_> = edit.uses().filter(is_missing).collect();
    if missing.is_empty() {
        return Ok(None);
    }
    let restore = if lock.path().exists() {
        ""
    } else {
        "get that file back from your version control, or "
    };
    Ok(Some(format!(
        "{} lacks {}, which its manifest uses; {restore}`acp-chain add SOURCE{}` adds it",
        shown_path(lock),
        listed(&missing),
        place.option()
    )))
}

fn shown_path(lock: &Lock) -> String {
    quote(&lock.path().display().to_string(), MAX_QUOTE)
}

fn listed(names: &[&str]) -> String {
    let names = names.iter().map(|name| quote(name, MAX_QUOTE));
    let names: Vec<_> = names.map(|name| format!("`{name}`")).collect();
    names.join(", ")
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
             `acp-chain add SOURCE{}` looks for a signature, and records it",
            place.option()
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
            "{} is {} now, and {} is locked: it was changed since. `acp-chain update {}{}` looks at the new one; \
             nothing was installed",
            shown(&release.source),
            fetched.digest,
            release.digest,
            locked.name,
            place.option()
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
