//! `acp-chain publish`: uploads an extension to a registry, signed if asked.

use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use acp_chain_package::Package;

use super::candidate::Checks;
use acp_chain_extension::signature::signer;
use acp_chain_extension::{Reference, Signer, Source};
use acp_chain_fetch::Artifact;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain publish shout.wasm ghcr.io/someone/shout:1.2
  acp-chain publish shout.wasm ghcr.io/someone/shout:1.2 --sign minisign.key")]
pub struct Publish {
    /// The component, as `acp-chain package` writes it
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The destination, e.g. `registry.example/org/name:1.2`
    #[arg(value_name = "REFERENCE")]
    reference: Reference,
    /// Sign it with this secret key, using the program `minisign`; the public key is beside it, as
    /// `.pub`
    #[arg(long, value_name = "KEY")]
    sign: Option<PathBuf>,
}

impl Publish {
    pub fn main(self) -> Result<()> {
        let shown = quote(&self.file.display().to_string(), MAX_QUOTE);
        if self.reference.digest.is_some() {
            return Err(wrong!(
                "the registry determines the digest; name a version, as `:1.2`"
            ));
        }
        let checks = Checks::new(false)?;
        let read = checks.read(&Source::File(self.file.clone()))?;
        let package = Package::read(Cursor::new(&read.component));
        let package = package.map_err(|error| wrong!("{shown}: {error}"))?;
        if package.draft {
            return Err(wrong!(
                "{shown} is a draft, as `acp-chain dev` makes them, and slower than it has to be: `acp-chain build` \
                 makes the one to publish"
            ));
        }
        checks.compile(&shown, &read.component)?;
        let signed = |key: &Path| sign(&self.file, key, &read.component);
        let signature = self.sign.as_deref().map(signed).transpose()?;
        let artifact = Artifact {
            annotations: annotations(&package),
            component: read.component,
            imports: package.imports,
            exports: package.exports,
            signature,
        };
        let published = checks.publish(&self.reference, &artifact)?;
        let (to, component) = (&self.reference, &published.component);
        say!("{to}@{}", published.manifest);
        tell!("acp-chain: published {to}; the component is {component}");
        Ok(())
    }
}

/// The OCI annotations of a package, by name.
fn annotations(package: &Package) -> std::collections::BTreeMap<String, String> {
    let version = package.version.to_string();
    let own = [("title", &*package.name), ("version", &*version)];
    let said = package.about.said().map(|(section, text)| match section {
        "homepage" => ("url", text),
        section => (section, text),
    });
    let all = own.into_iter().chain(said);
    all.map(|(key, text)| (format!("org.opencontainers.image.{key}"), text.to_owned()))
        .collect()
}

/// Signs a file with the program `minisign`, which asks for the password.
#[expect(clippy::disallowed_methods, reason = "minisign talks to the user")]
fn sign(file: &Path, key: &Path, component: &[u8]) -> Result<String> {
    let shown = |path: &Path| quote(&path.display().to_string(), MAX_QUOTE);
    let public = key.with_extension("pub");
    let known = std::fs::read_to_string(&public).map_err(|error| {
        format!(
            "{}: the public key cannot be read: {error}; `minisign -R -s {} -p {}` makes it",
            shown(&public),
            shown(key),
            shown(&public)
        )
    })?;
    let known: Signer = known
        .parse()
        .map_err(|error| wrong!("{}: {error}", shown(&public)))?;
    let folder = tempfile::tempdir()?;
    let signature = folder.path().join("signature");
    let mut minisign = Command::new("minisign");
    minisign.arg("-S").arg("-s").arg(key).arg("-m").arg(file);
    minisign
        .arg("-x")
        .arg(&signature)
        .arg("-t")
        .arg(known.comment());
    // Our standard output is for the result.
    minisign.stdout(std::io::stderr());
    let status = minisign.status().map_err(|error| {
        format!("`minisign` cannot be started: {error}; install it to sign what you publish")
    })?;
    if !status.success() {
        return Err(wrong!(
            "`minisign` failed ({status}); nothing was published"
        ));
    }
    let text = std::fs::read_to_string(&signature)?;
    // Check that the two keys match, before anything is published.
    let checked = signer(component, std::slice::from_ref(&text), Some(&known));
    checked.map_err(|error| wrong!("{} and {}: {error}", shown(key), shown(&public)))?;
    Ok(text)
}
