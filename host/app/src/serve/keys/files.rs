//! The watched files.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use acp_chain_remote::gate::tokens::{self, Token};
use acp_chain_remote::gate::{Jwks, JwksSource, Keys, PemPair};

use super::{KeySources, LONGEST};
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_system::files::Stamp;

/// The files among the sources of keys, and their state when last read.
pub struct Files<'s> {
    sources: &'s KeySources,
    seen: Vec<Option<Stamp>>,
}

impl KeySources {
    /// The files of key sets, with the names of their issuers.
    fn jwks(&self) -> impl Iterator<Item = (&String, &PathBuf)> {
        let issuers = self.issuers.iter();
        issuers.filter_map(|(issuer, source)| match source {
            JwksSource::File(path) => Some((issuer, path)),
            JwksSource::Url(_) => None,
        })
    }
}

impl<'s> Files<'s> {
    pub fn of(sources: &'s KeySources) -> Self {
        let seen = Vec::new();
        Self { sources, seen }
    }

    /// Rereads the files if one has changed. Errors are reported, and a malformed file's previous content stays valid.
    pub fn read(&mut self, keys: &mut Keys) {
        // Taken before the files are read, so that changes meanwhile are noticed.
        let seen = self.look();
        if seen == self.seen {
            return;
        }
        self.seen = seen;
        if let Some(path) = &self.sources.tokens {
            put(read_tokens(path), &mut keys.tokens);
        }
        for (issuer, path) in self.sources.jwks() {
            match read_jwks(path) {
                Ok(jwks) => drop(keys.jwks.insert(issuer.clone(), jwks)),
                Err(wrong) => tell(&wrong),
            }
        }
        if let Some((cert, key)) = &self.sources.tls {
            put(read_pair(cert, key).map(Some), &mut keys.certificate);
        }
    }

    fn look(&self) -> Vec<Option<Stamp>> {
        let jwks = self.sources.jwks().map(|(_, path)| path);
        let tls = self.sources.tls.iter();
        let tls = tls.flat_map(|(cert, key)| [cert, key]);
        let all = jwks.chain(&self.sources.tokens).chain(tls);
        all.map(|path| Stamp::of(path)).collect()
    }
}

/// Fails if a file is malformed. This is for the start; later, the previous content of a malformed file stays valid.
pub fn check(watched: &KeySources) -> Result<(), String> {
    if let Some(path) = &watched.tokens {
        read_tokens(path)?;
    }
    for (_, path) in watched.jwks() {
        read_jwks(path)?;
    }
    Ok(())
}

fn read_tokens(path: &Path) -> Result<Vec<Token>, String> {
    let lines = text(path).map_err(|error| {
        if path.exists() {
            return error;
        }
        format!("{error}; `acp-chain serve-token NAME --file FILE` makes a token, and the file")
    })?;
    tokens::read(&lines).map_err(|error| wrong(path, error))
}

fn read_jwks(path: &Path) -> Result<Jwks, String> {
    Jwks::read(text(path)?.as_bytes()).map_err(|error| wrong(path, error))
}

fn read_pair(cert: &Path, key: &Path) -> Result<PemPair, String> {
    Ok(PemPair {
        cert: text(cert)?,
        key: text(key)?,
    })
}

fn text(path: &Path) -> Result<String, String> {
    let file = File::open(path).map_err(|error| wrong(path, error))?;
    match io::read_to_string(file.take(LONGEST as u64 + 1)) {
        Ok(text) if text.len() > LONGEST => Err(wrong(
            path,
            format_args!("it has more than {LONGEST} bytes"),
        )),
        Ok(text) => Ok(text),
        Err(error) => Err(wrong(path, error)),
    }
}

/// An error in a file.
fn wrong(path: &Path, what: impl Display) -> String {
    let path = Untrusted::new(path.display());
    format!("{path}: {}", Untrusted::new(what))
}

fn put<T>(read: Result<T, String>, place: &mut T) {
    match read {
        Ok(read) => *place = read,
        Err(wrong) => tell(&wrong),
    }
}

fn tell(wrong: &str) {
    tracing::error!("{wrong}; its previous content stays valid");
}
