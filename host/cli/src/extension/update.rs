//! `acp-chain update`: checks sources for newer versions.
//!
//! An update never widens the user's consent: an update that asks for more stays pending, and the old version keeps
//! running, until the user agrees to exactly that component.

use std::process::ExitCode;

use super::add::relative;
use super::candidate::{Candidate, Checks, shown};
use super::consent::{self, Consent};
use super::place::{self, Changes, ManifestArg, Place};
use crate::{Result, code_if, report_one};
use acp_chain_app::home;
use acp_chain_extension::signature::signer_after;
use acp_chain_extension::{Change, Locked, Source};
use acp_chain_fetch::Fetched;
use acp_chain_package::Package;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain update
  acp-chain update shout --from ghcr.io/someone/shout:2

Exit codes:
  0  everything was checked; pending updates are listed
  1  an extension could not be checked or fetched
  2  the command line is wrong")]
pub struct Update {
    /// The extensions; by default, all of them
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    named: ManifestArg,
    /// Fetch it from this source from now on
    #[arg(long, value_name = "SOURCE")]
    from: Option<Source>,
    #[command(flatten)]
    consent: Consent,
}

impl Update {
    pub fn main(self) -> Result<ExitCode> {
        let place = self.named.clone().place(Changes::Store)?;
        let lock = place.lock()?;
        let names = if self.names.is_empty() {
            lock.extensions()
                .map(|locked| locked.name.clone())
                .collect()
        } else {
            self.names.clone()
        };
        if names.len() > 1 && (self.from.is_some() || self.consent.accept_powers.is_some()) {
            return Err(wrong!(
                "`--from` and `--accept-powers` are about one extension: name it"
            ));
        }
        if names.is_empty() {
            say!("{}", place.without_extensions());
            return Ok(ExitCode::SUCCESS);
        }
        let checks = Checks::new(false)?;
        checks.refresh_revoked(&place)?;
        let mut succeeded = true;
        for name in &names {
            succeeded &= match lock.get(name) {
                Some(locked) => report_one(name, self.update(&place, &checks, locked)),
                None if home::carried()?.named(name).is_some() => {
                    say!("`{name}` comes with acp-chain, and is updated with it.");
                    true
                }
                None => {
                    tell!(
                        "acp-chain: `{}` is not installed; `acp-chain list{}` shows what is",
                        quote(name, MAX_QUOTE),
                        place.option()
                    );
                    false
                }
            };
        }
        Ok(code_if(succeeded))
    }

    fn update(&self, place: &Place, checks: &Checks, locked: &Locked) -> Result<()> {
        let name = &locked.name;
        let source = match &self.from {
            Some(source) => relative(source.clone(), place)?,
            None if locked.agreed.source.is_fixed() => {
                say!(
                    "`{name}` stays: {} never changes; `--from SOURCE` puts another in its place",
                    shown(&locked.agreed.source)
                );
                return Ok(());
            }
            None => locked.agreed.source.clone(),
        };
        let before = locked.agreed.signer.as_ref();
        let signer = |got: &Fetched| signer_after(before, &got.component, &got.signatures);
        let candidate = checks.get(place, &source, signer)?;
        let package = agreed_package(place, locked, &candidate);
        let agreed = place::agreed(locked, package.as_ref());
        if candidate.release == agreed {
            return keep(place, locked, candidate);
        }
        check_same(place, locked, package.as_ref(), &candidate)?;
        let change = Change::between(&agreed, &candidate.release);
        let is_more = !change.more.is_empty();
        say!("`{name}` has an update:");
        let more = change.more.iter().map(|more| format!("! it {more}"));
        for line in more.chain(change.same) {
            say!("  {}", quote(&line, MAX_QUOTE));
        }
        let digest = candidate.release.digest;
        say!("  digest {digest}, was {}", locked.agreed.digest);
        if is_more {
            consent::show(&candidate);
        }
        let unasked = if is_more {
            Ok(false)
        } else {
            Err(wrong!(
                "there is no terminal to ask on; nothing was changed. `--yes` updates what \
                 wants no more than before"
            ))
        };
        if self.consent.ask("Install it?", &digest, is_more, unasked)? {
            put(place, locked, candidate, true)?;
            say!("`{name}` is updated; running chains keep the old one.");
        } else if is_more {
            put(place, locked, candidate, false)?;
            say!(
                "It needs your consent: it is pending, and the old one stays. \
                 `acp-chain update {name} --accept-powers {digest}{}` agrees to it.",
                place.option()
            );
        } else {
            say!("Nothing was changed.");
        }
        Ok(())
    }
}

/// The package of the agreed component, if that is at hand: it is stored, or is the candidate.
fn agreed_package(place: &Place, locked: &Locked, candidate: &Candidate) -> Option<Package> {
    let digest = &locked.agreed.digest;
    if candidate.release.digest == *digest {
        return Some(candidate.package.clone());
    }
    place.package(digest)
}

/// An error if a candidate is another extension than the installed one with this package, which may have another name in
/// the lock.
fn check_same(
    place: &Place,
    locked: &Locked,
    package: Option<&Package>,
    candidate: &Candidate,
) -> Result<()> {
    let old = package.map_or(&locked.name, |package| &package.name);
    if candidate.package.name == *old {
        return Ok(());
    }
    let name = &locked.name;
    let called = if old == name {
        String::new()
    } else {
        format!(", which is installed as `{name}`")
    };
    let (source, option) = (shown(&candidate.release.source), place.option());
    Err(wrong!(
        "{source} is the extension `{}`, and no version of `{}`{called}; nothing was changed. \
         `acp-chain add SOURCE{option}` adds it beside that one, which `acp-chain remove {name}{option}` removes",
        quote(&candidate.package.name, MAX_QUOTE),
        quote(old, MAX_QUOTE)
    ))
}

/// Keeps an agreed release that is up to date: removes a pending one, and stores its component if that is missing.
fn keep(place: &Place, locked: &Locked, candidate: Candidate) -> Result<()> {
    let mut done = String::new();
    if place.store.read(&locked.agreed.digest).is_err() {
        done.push_str("; its component was missing, and is installed");
    }
    if locked.pending.is_some() {
        done.push_str("; the update that was pending was withdrawn, and is forgotten");
    }
    if !done.is_empty() || candidate.release != locked.agreed {
        put(place, locked, candidate, true)?;
    }
    say!("`{}` is up to date{done}.", locked.name);
    Ok(())
}

/// Records a release, as the agreed or the pending one.
fn put(place: &Place, old: &Locked, candidate: Candidate, agreed: bool) -> Result<()> {
    let changing = place.store.change()?;
    let mut lock = place.lock()?;
    // The differences that the user saw are those from exactly this release.
    let Some(mut locked) = lock
        .remove(&old.name)
        .filter(|now| now.agreed == old.agreed)
    else {
        return Err(wrong!(
            "another process changed the lock meanwhile; nothing was changed: retry"
        ));
    };
    changing.add(&candidate.component)?;
    if agreed {
        locked.agreed = candidate.release;
        locked.pending = None;
    } else {
        locked.pending = Some(candidate.release);
    }
    lock.put(locked);
    Ok(changing.write(&lock)?)
}
