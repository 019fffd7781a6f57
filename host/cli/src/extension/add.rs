//! `acp-chain add`: installs an extension, and adds it to a manifest.

use std::path::PathBuf;
use std::process::ExitCode;

use super::about::{self, Reasons};
use super::candidate::{Candidate, Checks, shown};
use super::consent::{self, Consent};
use super::folder::meant;
use super::place::{Changes, ManifestArg, Place};
use crate::Result;
use acp_chain_app::{home, shell};
use acp_chain_extension::signature::signer;
use acp_chain_extension::{Digest, Location, Lock, Locked, Signer, Source, is_name};
use acp_chain_fetch::Fetched;
use acp_chain_project::MANIFEST;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};

/// Our extensions. Their names, and those of all other built-in extensions, are reserved.
const OURS: [&str; 7] = [
    "brake",
    "permissions",
    "project-map",
    "redact",
    "rules",
    "todo",
    "two-of-three",
];

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain add redact
  acp-chain add ghcr.io/someone/shout:1 --manifest acp-chain.toml
  acp-chain add ./shout.wasm --id louder

Exit codes:
  0  it is installed
  1  it is not, because you said no or because of an error
  2  the command line is wrong")]
pub struct Add {
    /// Where it comes from: a name that `list --available` shows, a file, `https://…#sha256=…`, or
    /// `registry.example/org/name:1.2`
    #[arg(value_name = "SOURCE")]
    source: Source,
    #[command(flatten)]
    named: ManifestArg,
    /// A name for it, instead of its own
    #[arg(long, value_name = "NAME")]
    id: Option<String>,
    /// The minisign public key that must have signed it
    #[arg(long, value_name = "KEY")]
    signer: Option<Signer>,
    #[command(flatten)]
    consent: Consent,
}

impl Add {
    pub fn main(self) -> Result<ExitCode> {
        let place = self.named.clone().place(Changes::Manifest)?;
        let source = relative(self.source.clone(), &place)?;
        if let Source::BuiltIn(name) = &source {
            return self.use_built_in(&place, name);
        }
        let checks = Checks::new(false)?;
        // Errors in the manifest are reported before anything is downloaded.
        let (_, _) = (place.edit()?, place.lock()?);
        checks.refresh_revoked(&place)?;
        let wanted = self.signer.as_ref();
        let signer = |got: &Fetched| signer(&got.component, &got.signatures, wanted);
        let candidate = checks.get(&place, &source, signer)?;
        let name = self.name(&candidate)?;
        check_new(&place, &name, &candidate)?;
        consent::show(&candidate);
        let question = format!("Install it as `{name}`, with these powers?");
        if !self.is_agreed(&question, &candidate.release.digest)? {
            return Ok(ExitCode::FAILURE);
        }
        install(&place, &name, candidate)?;
        say!("`{name}` is installed, and used by {}.", place.shown());
        say_next(&place, &name);
        Ok(ExitCode::SUCCESS)
    }

    /// Adds a built-in extension to a manifest. Built-in extensions are not locked: they are part of the program.
    fn use_built_in(&self, place: &Place, name: &str) -> Result<ExitCode> {
        if self.id.is_some() || self.signer.is_some() {
            return Err(wrong!(
                "`--id` and `--signer` are not for built-in extensions"
            ));
        }
        let user = home::user()?;
        let found = home::installed(&user)?.find(name, &Lock::default());
        let found = found.map_err(|error| wrong!("{error}{}", meant(name)))?;
        let Location::Carried(extension) = &found.location else {
            return Err(wrong!("`{name}` does not come with acp-chain"));
        };
        // Before all of it is shown, and again once nobody else can change the files.
        check_unused(place, name)?;
        about::print(
            &found.package,
            extension.digest,
            extension.size(),
            Reasons::Folded,
        );
        say!("It comes with acp-chain");
        let question = format!("Use `{name}`, with these powers?");
        if !self.is_agreed(&question, &extension.digest)? {
            return Ok(ExitCode::FAILURE);
        }
        let changing = place.store.change()?;
        check_unused(place, name)?;
        let mut edit = place.edit()?;
        edit.add(name);
        changing.write_manifest(&place.manifest, &edit.text())?;
        say!("`{name}` is used by {}.", place.shown());
        say_next(place, name);
        Ok(ExitCode::SUCCESS)
    }

    /// Whether the user agrees to what was just shown.
    fn is_agreed(&self, question: &str, digest: &Digest) -> Result<bool> {
        let unasked = Err(wrong!(
            "there is no terminal to ask on; nothing was changed. If you agree to all of this, say \
             `--accept-powers {digest}`, or `--yes` to agree to any component"
        ));
        let is_agreed = self.consent.ask(question, digest, false, unasked)?;
        if !is_agreed {
            say!("Nothing was changed.");
        }
        Ok(is_agreed)
    }

    /// The name of the candidate in the manifest.
    fn name(&self, candidate: &Candidate) -> Result<String> {
        let claimed = &candidate.package.name;
        let (name, from) = match &self.id {
            Some(id) => (id, "--id"),
            None => (claimed, "it"),
        };
        if OURS.contains(&&**name) || home::carried()?.named(name).is_some() {
            return Err(wrong!(
                "{from} says `{name}`, which is the name of an extension that comes with acp-chain, and this \
                 one comes from {}; `--id NAME` gives it another name",
                shown(&candidate.release.source)
            ));
        }
        if !is_name(name) || matches!(&**name, "client" | "agent") {
            return Err(wrong!(
                "{:?} cannot be the name of a proxy; `--id NAME` gives it one of 1 to 64 letters, digits, \
                 `-`, `_` or `.`",
                quote(name, MAX_QUOTE)
            ));
        }
        Ok(name.clone())
    }
}

/// Says what else is needed before an extension that was added has an effect.
fn say_next(place: &Place, name: &str) {
    if name == "permissions" {
        say!(
            "It has no rules yet, so it decides nothing: write some below its entry, as `acp-chain info permissions` \
             shows, or let `acp-chain permissions import` or `suggest` make some."
        );
    }
    if place.manifest.ends_with(MANIFEST) {
        say!(
            "It runs in sessions of that project once {} has asked you.",
            shell::trust(place.folder())
        );
    }
}

/// An error if another extension has this name.
fn check_new(place: &Place, name: &str, candidate: &Candidate) -> Result<()> {
    let (lock, edit) = (place.lock()?, place.edit()?);
    let is_used = edit.uses().any(|used| used == name);
    match lock.get(name) {
        // An earlier attempt was stopped before the manifest was changed.
        Some(locked) if locked.agreed.digest == candidate.release.digest && !is_used => Ok(()),
        Some(locked) => Err(wrong!(
            "`{name}` is installed already, from {}; `acp-chain update {name} --from SOURCE{}` puts another \
             in its place, and `--id NAME` gives this one another name",
            shown(&locked.agreed.source),
            place.option()
        )),
        None if edit.has(name) && !is_used => Err(wrong!(
            "{} has a proxy `{name}` already; `--id NAME` gives this one another name",
            place.shown()
        )),
        None => Ok(()),
    }
}

/// Fails if a manifest has a proxy of this name.
fn check_unused(place: &Place, name: &str) -> Result<()> {
    if place.edit()?.has(name) || place.lock()?.get(name).is_some() {
        return Err(wrong!(
            "{} has a proxy `{name}` already; nothing was changed",
            place.shown()
        ));
    }
    Ok(())
}

/// The path of a file as in the lock: relative to the manifest's folder, if the file is beneath it.
pub fn relative(source: Source, place: &Place) -> Result<Source> {
    let Source::File(path) = source else {
        return Ok(source);
    };
    let path = std::path::absolute(path)?;
    let inside = path.strip_prefix(place.folder());
    Ok(Source::File(inside.map_or(path.clone(), |inside| {
        PathBuf::from(".").join(inside)
    })))
}

/// Writes the store, then the lock, then the manifest.
fn install(place: &Place, name: &str, candidate: Candidate) -> Result<()> {
    let changing = place.store.change()?;
    // Another process may have installed one of this name before the user answered.
    check_new(place, name, &candidate)?;
    let (mut lock, mut edit) = (place.lock()?, place.edit()?);
    changing.add(&candidate.component)?;
    lock.put(Locked {
        name: name.to_owned(),
        agreed: candidate.release,
        pending: None,
    });
    changing.write(&lock)?;
    if !edit.uses().any(|used| used == name) {
        edit.add(name);
        changing.write_manifest(&place.manifest, &edit.text())?;
    }
    Ok(())
}
