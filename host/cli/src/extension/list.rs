//! `acp-chain list`: the extensions of a manifest.

use crate::Result;
use acp_chain_app::project::locate;
use acp_chain_app::{home, shell};
use acp_chain_package::Package;
use acp_chain_project::{Found, MANIFEST};
use serde_json::json;

use super::about;
use super::candidate::shown;
use super::place::{self, Changes, ManifestArg, Place};
use acp_chain_extension::{Carried, Change, Locked, StoreError};
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_terms::about::signer;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain list
  acp-chain list --available --json")]
pub struct List {
    #[command(flatten)]
    named: ManifestArg,
    /// List the built-in ones, which need no download
    #[arg(long)]
    available: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl List {
    pub fn main(self) -> Result<()> {
        if self.available {
            return self.available();
        }
        // Only read to fail where any chain would: a manifest is read as text.
        home::user()?;
        let place = self.named.place(Changes::Nothing)?;
        let (lock, edit) = (place.lock()?, place.edit()?);
        let used: Vec<_> = edit.uses().map(str::to_owned).collect();
        let carried = home::carried()?;
        let unlocked = used.iter().filter(|name| lock.get(name).is_none());
        if self.json {
            let locked = lock.extensions().map(|locked| facts(&place, locked, &used));
            let unlocked = unlocked.map(|name| facts_of_unlocked(&carried, name));
            let all: Vec<_> = locked.chain(unlocked).collect();
            say!("{:#}", json!({ "extensions": all }));
            return Ok(());
        }
        for locked in lock.extensions() {
            print(&place, locked, &used);
        }
        for name in unlocked {
            if name.is_empty() {
                show!(
                    "! the name in a `use` is empty: name an extension there, or remove that `[[proxy]]`"
                );
                continue;
            }
            say!("{}", quote(name, MAX_QUOTE));
            if carried.named(name).is_some() {
                show!("  comes with acp-chain");
            } else {
                show!(
                    "  ! it is not installed: `acp-chain add SOURCE{}` installs it",
                    place.option()
                );
            }
        }
        if lock.is_empty() && used.is_empty() {
            let found = acp_chain_app::here().map(|here| locate(&here, None));
            let manifest = place.shown();
            let option = place.option();
            show!("{manifest} has no extensions; `acp-chain add SOURCE{option}` installs one.");
            if let (true, Ok(Found::Project(root))) = (option.is_empty(), found) {
                let theirs = shell::word(&root.join(MANIFEST));
                show!("The project here has its own: `acp-chain list --manifest {theirs}`.");
            }
        }
        Ok(())
    }

    fn available(&self) -> Result<()> {
        let user = home::user()?;
        let carried = home::installed(&user)?.carried;
        let mut all = Vec::new();
        for extension in carried.iter() {
            let component = extension.component()?;
            let package = Package::read(component);
            let package = package.map_err(|error| wrong!("{}: {error}", extension.name))?;
            if self.json {
                all.push(about::json(&package, extension.digest, extension.size()));
            } else {
                let description = package.about.description.unwrap_or_default();
                let description = quote(&description, MAX_QUOTE);
                say!("{} {}", package.name, package.version);
                show!("  {description}");
            }
        }
        match (self.json, carried.iter().next()) {
            (true, _) => say!("{:#}", json!({ "extensions": all })),
            (false, None) => show!("No extensions come with this program."),
            (false, Some(_)) => {}
        }
        Ok(())
    }
}

fn facts(place: &Place, locked: &Locked, used: &[String]) -> serde_json::Value {
    json!({
        "name": locked.name,
        "used": used.contains(&locked.name),
        "installed": place.store.read(&locked.agreed.digest).is_ok(),
        "built-in": false,
        "agreed": locked.agreed,
        "pending": locked.pending,
    })
}

/// The facts of a used extension that has no lock: it is built in, or missing.
fn facts_of_unlocked(carried: &Carried, name: &str) -> serde_json::Value {
    let is_built_in = carried.named(name).is_some();
    json!({
        "name": name,
        "used": true,
        "installed": is_built_in,
        "built-in": is_built_in,
        "agreed": null,
        "pending": null,
    })
}

fn print(place: &Place, locked: &Locked, used: &[String]) {
    let (name, release) = (&locked.name, &locked.agreed);
    let version = quote(release.version.as_deref().unwrap_or_default(), MAX_QUOTE);
    say!("{name} {version}");
    show!("  from      {}", shown(&release.source));
    show!("  digest    {}", release.digest);
    show!("  signer    {}", signer(release));
    match place.store.read(&release.digest) {
        Ok(_) => {}
        Err(StoreError::Missing(_)) => {
            show!(
                "  ! it is not installed: `acp-chain install{}` fetches it",
                place.option()
            );
        }
        Err(error) => show!("  ! {error}"),
    }
    if !used.contains(name) {
        show!(
            "  ! the manifest does not use it: `acp-chain remove {name}{}` removes it, and `[[proxy]]` with \
             `use = \"{name}\"` uses it",
            place.option()
        );
    }
    if let Some(pending) = &locked.pending {
        let version = quote(pending.version.as_deref().unwrap_or_default(), MAX_QUOTE);
        show!("  pending   {version} {}", pending.digest);
        let agreed = place::agreed(locked, place.package(&release.digest).as_ref());
        for more in Change::between(&agreed, pending).more {
            show!("    ! it {}", quote(&more, MAX_QUOTE));
        }
        show!(
            "    `acp-chain update {name}{}` asks you about it",
            place.option()
        );
    }
}
