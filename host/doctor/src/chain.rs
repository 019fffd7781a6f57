//! The proxies of the chain: whether each could start, as far as is known without starting it.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use acp_chain_package::PackageError;

use super::finding::Finding;
use super::{Doctor, Findings};
use acp_chain_app::{Error, home, plan, protected};
use acp_chain_channel::limits::about;
use acp_chain_extension::{Installed, Location, Lock, NotInstalled, StoreError};
use acp_chain_manifest::{
    Manifest, ManifestError, NativeEntry, ProxyEntry, ProxyKind, Single, User,
};
use acp_chain_rpc::untrusted::Untrusted;

/// The first bytes of WebAssembly.
const MAGIC: [u8; 4] = *b"\0asm";

/// A chain, and the settings to read it with.
struct Chain<'d> {
    doctor: &'d Doctor,
    path: PathBuf,
    user: User,
    installed: Installed,
    lock: Lock,
}

pub fn look(doctor: &Doctor) -> Findings {
    let later = |what: String, step: &str| Finding::problem(what).step(step);
    let user = home::user().map_err(|_| {
        later(
            "your config.toml cannot be read, and without it no chain runs".to_owned(),
            "fix it first, as described above",
        )
    })?;
    let installed = home::installed(&user).map_err(|error| {
        later(
            format!("installed extensions cannot be determined: {error}"),
            "fix that first",
        )
    })?;
    let path = doctor.manifest.clone().or_else(home::config_file);
    let path = path.unwrap_or_default();
    let path = std::path::absolute(&path).unwrap_or(path);
    // Without a home, the user has neither a file nor a lock beside it.
    let lock = if path.is_absolute() {
        Lock::read(&Lock::beside(&path))
    } else {
        Ok(Lock::default())
    };
    let lock = lock.map_err(|error| {
        later(
            error.to_string(),
            "get it back from your version control, or remove it and `acp-chain add` its extensions again",
        )
    })?;
    let each = match &doctor.manifest {
        Some(_) => Manifest::each(&path, &user, &installed),
        None => Ok(Manifest::each_of_user(&user, &installed)),
    };
    let each = each.map_err(|error| wrong(&error))?;
    let chain = Chain {
        doctor,
        path,
        user,
        installed,
        lock,
    };
    let mut findings: Vec<_> = each.iter().map(|single| chain.proxy(single)).collect();
    if findings.is_empty() {
        let what = match &doctor.manifest {
            Some(_) => "it has no proxies: everything passes unchanged",
            None => "it has no proxies: outside of trusted projects, everything passes unchanged",
        };
        findings.push(Finding::note(what).step(format!(
            "`acp-chain add EXTENSION{}` puts one in",
            doctor.about_chain()
        )));
    }
    let read = each.iter().filter_map(|single| single.read.as_ref().ok());
    findings.extend(read.filter_map(|entry| chain.idle(entry)));
    findings.extend(chain.apart(&each));
    if each.iter().all(|single| single.read.is_ok()) {
        findings.extend(chain.whole().err().map(|error| {
            Finding::problem(error).step(format!("change that in {}", chain.shown()))
        }));
    }
    Ok(findings)
}

/// The finding about a manifest with an error.
fn wrong(error: &ManifestError) -> Finding {
    let finding = Finding::problem(error);
    match error {
        ManifestError::Unreadable(path, _) | ManifestError::Missing(path) => finding.step(format!(
            "name an existing manifest; {} is none",
            Untrusted::new(path.display())
        )),
        ManifestError::BrokenLink(_, link) => finding.step(format!(
            "restore what {} leads to, or remove that link",
            Untrusted::new(link.display())
        )),
        ManifestError::Wrong { path, line, .. } => finding.step(format!(
            "fix line {line} of {}",
            Untrusted::new(path.display())
        )),
    }
}

impl Chain<'_> {
    fn shown(&self) -> Untrusted<std::path::Display<'_>> {
        Untrusted::new(self.path.display())
    }

    /// The command that fetches the locked components of this chain.
    fn install(&self) -> String {
        format!("acp-chain install{}", self.doctor.about_chain())
    }

    fn proxy(&self, single: &Single) -> Finding {
        match &single.read {
            Ok(entry) => match &entry.kind {
                ProxyKind::Component(terms) => self.component(&entry.id, &terms.location),
                ProxyKind::Native(native) => self.native(&entry.id, native),
            },
            Err(error) => {
                let found = single.uses.as_ref();
                let found = found.map(|name| self.installed.find(name, &self.lock));
                match (single.uses.as_deref(), found) {
                    (Some(name), Some(Err(not))) => self.not_installed(name, error, &not),
                    _ => wrong(error),
                }
            }
        }
    }

    fn not_installed(&self, name: &str, error: &ManifestError, not: &NotInstalled) -> Finding {
        let finding = match damaged(not) {
            Some(damaged) => Finding::problem(format!("`{name}`: {damaged}")),
            None => Finding::problem(error),
        };
        let about = self.doctor.about_chain();
        match not {
            NotInstalled::Unknown { .. } => finding.step(format!(
                "{} uses `{name}`, and its lock does not name it: `acp-chain add SOURCE{about}` with where it comes \
                 from, or `acp-chain remove {name}{about}`",
                self.shown()
            )),
            NotInstalled::Revoked { .. } => finding.run(format!("acp-chain remove {name}{about}")),
            NotInstalled::Lock(_) => finding.step(format!(
                "correct the `size` of `{name}` in the lock beside {}",
                self.shown()
            )),
            NotInstalled::Missing { .. }
            | NotInstalled::Store { .. }
            | NotInstalled::Package { .. } => finding.run(self.install()),
        }
    }

    fn component(&self, id: &str, location: &Location) -> Finding {
        let shown = Untrusted::new(location).to_string();
        let build = |finding: Finding| {
            finding.step(format!(
                "build the component again, or correct the `path` of `{id}` in {}",
                self.shown()
            ))
        };
        match location {
            Location::File(path) => match check_file(path) {
                Ok(size) => Finding::fine(format!("`{id}`: {shown}, {}", about(size))),
                Err(error) => build(Finding::problem(format!("`{id}`: {shown}: {error}"))),
            },
            Location::Stored(stored) => match stored.read() {
                Ok(bytes) => {
                    let size = about(bytes.len() as u64);
                    Finding::fine(format!("`{id}`: {shown}, {size}"))
                }
                Err(error @ (StoreError::Damaged { .. } | StoreError::Missing(_))) => {
                    Finding::problem(format!("`{id}`: {error}")).run(self.install())
                }
                Err(error) => Finding::problem(format!("`{id}`: {error}"))
                    .step("make the file readable for you"),
            },
            Location::Read(..) | Location::Carried(_) => Finding::fine(format!("`{id}`: {shown}")),
        }
    }

    fn native(&self, id: &str, native: &NativeEntry) -> Finding {
        let program = native.command.program.to_string_lossy();
        let program = Untrusted::new(&program);
        if !self.user.native {
            return Finding::problem(format!(
                "`{id}` is the program {program}, and you do not allow programs as proxies"
            ))
            .step(plan::not_granted());
        }
        match protected::file_of(&native.command) {
            Some(file) if file.is_file() => Finding::note(format!(
                "`{id}` is the program {program}, which no sandbox holds"
            )),
            _ => Finding::problem(format!("`{id}`: the program {program} was not found")).step(
                format!("give its full path in {}, or install it", self.shown()),
            ),
        }
    }

    /// The note about a proxy that does nothing as it is configured: `permissions` without rules, or a component without a
    /// package to which its entry gives no powers.
    fn idle(&self, entry: &ProxyEntry) -> Option<Finding> {
        if entry.lacks_rules() {
            let what = format!("`{}` has no rules, so it decides nothing", entry.id);
            return Some(Finding::note(what).step(
                "write some in its `config`, or let `acp-chain permissions import` or `suggest` make some",
            ));
        }
        let ProxyKind::Component(terms) = &entry.kind else {
            return None;
        };
        let is_file = matches!(terms.location, Location::File(_));
        let is_empty = terms.grant.powers().is_empty() && terms.grant.methods().is_empty();
        (is_file && is_empty).then(|| {
            Finding::note(format!(
                "`{}` has no powers, so it sees nothing, and does nothing",
                entry.id
            ))
            .step(format!(
                "list its `powers` in {}; `acp-chain check{} --start` names those that it lacks",
                self.shown(),
                self.doctor.about_chain()
            ))
        })
    }

    /// The mismatches of a manifest and its lock.
    fn apart(&self, each: &[Single]) -> Vec<Finding> {
        let about = self.doctor.about_chain();
        let is_used = |name: &str| {
            each.iter()
                .any(|single| single.uses.as_deref() == Some(name))
        };
        let mut findings = Vec::new();
        for locked in self.lock.extensions() {
            let name = &locked.name;
            if !is_used(name) {
                findings.push(
                    Finding::note(format!(
                        "`{name}` is locked, and {} does not use it",
                        self.shown()
                    ))
                    .run(format!("acp-chain remove {name}{about}")),
                );
            }
            if self.user.require_signature && locked.agreed.signer.is_none() {
                findings.push(
                    Finding::note(format!(
                        "`{name}` has no signature; it was installed without one, and the `require-signature` of your \
                         config.toml is about later installations"
                    ))
                    .step(format!(
                        "`acp-chain remove {name}{about}`, and add it again when its author has signed it"
                    )),
                );
            }
            if locked.pending.is_some() {
                findings.push(
                    Finding::note(format!("an update of `{name}` needs your consent"))
                        .run(format!("acp-chain update {name}{about}")),
                );
            }
        }
        findings
    }

    /// Checks the chain as a whole: its directories, and whether proxies could write to relied-on files.
    fn whole(&self) -> Result<(), Error> {
        let path = self.doctor.manifest.as_deref();
        protected::check_chain(&Manifest::of(path, &self.user, &self.installed)?)
    }
}

/// The error about the file of a component without a usable package, if it is in the store.
fn damaged(not: &NotInstalled) -> Option<StoreError> {
    let NotInstalled::Package(_, location, _) = not else {
        return None;
    };
    match &**location {
        Location::Stored(stored) => stored.read().err(),
        _ => None,
    }
}

/// The size of a component's file. An error if it is not a component. It is not compiled.
fn check_file(path: &Path) -> Result<u64, String> {
    let about = fs::metadata(path).map_err(|error| error.to_string())?;
    if !about.is_file() {
        return Err("it is not a file".to_owned());
    }
    let mut magic = [0; MAGIC.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    if read.is_err() || magic != MAGIC {
        return Err("it is not WebAssembly".to_owned());
    }
    match Location::File(path.to_owned()).package() {
        Ok(_) | Err(PackageError::NoSection) => Ok(about.len()),
        Err(error) => Err(error.to_string()),
    }
}
