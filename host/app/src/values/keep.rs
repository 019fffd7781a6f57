//! `acp-chain keep-values`: loads and stores values for the chain that starts it. It ends with its input.
//!
//! Its first line says whose values they may be. A chain in which an attacker has taken over the host gets no others.

use std::io::{self, BufRead, BufReader};

use acp_chain_rpc::json_lines::read_line;
use acp_chain_state::{Database, Namespace, StateError};
use acp_chain_store::PostgresPlace;

use super::folders::Folders;
use super::{SUBCOMMAND, Start};
use crate::{Error, beside, home};

/// The maximum length of the first line, in bytes: that of the names and paths in a manifest.
const LINE: usize = 16 << 20;

/// Serves a chain on standard input and output. Returns whether that succeeded; errors are in the log.
pub fn serve() -> bool {
    beside::work("the process that has the stored values", keep)
}

#[expect(clippy::disallowed_methods, reason = "the host reads it")]
fn keep() -> Result<(), Error> {
    let mut requests = BufReader::new(io::stdin());
    let start = read_start(&mut requests)?;
    if let Some(place) = start.store.clone() {
        return keep_in_store(requests, &place, start);
    }
    let path = home::database()?;
    // Removed with the copy at the end.
    let folder = start.is_dry_run.then(tempfile::tempdir).transpose();
    let folder = folder.map_err(Error::Io)?;
    let database = match &folder {
        Some(folder) => Database::copy(&path, folder.path()).map_err(io::Error::other),
        None => Ok(path),
    };
    let folders = Folders::new();
    let served = database.and_then(|path| {
        acp_chain_state::serve(requests, io::stdout(), &path, |namespace| {
            resolve(&start, &folders, namespace)
        })
    });
    served.map_err(Error::Io)
}

/// Serves the chains of a server whose values are in this store.
#[expect(clippy::disallowed_methods, reason = "the server reads it")]
fn keep_in_store(
    requests: impl BufRead + Send + 'static,
    place: &PostgresPlace,
    start: Start,
) -> Result<(), Error> {
    let folders = Folders::new();
    let meant = move |namespace| resolve(&start, &folders, namespace);
    let report = |error: &StateError| tracing::error!("stored values cannot be used: {error}");
    let served = acp_chain_state::serve_shared(requests, io::stdout(), place, meant, report);
    served.map_err(Error::Io)
}

/// Reads the first line.
fn read_start(requests: &mut impl BufRead) -> Result<Start, Error> {
    let line = read_line(requests, LINE).map_err(Error::Io)?;
    let misused = Error::Misused(SUBCOMMAND, "; `acp-chain state` is for you");
    serde_json::from_slice(&line).map_err(|_| misused)
}

/// The namespace of a request, with the folder of the project; or why it is none.
fn resolve(start: &Start, folders: &Folders, namespace: Namespace) -> Result<Namespace, String> {
    if !start.admits(&namespace) {
        return Err("the chain has no proxy with such values".to_owned());
    }
    let named = namespace.project.as_deref();
    let project = named.map(|folder| folders.find(folder)).transpose()?;
    Ok(Namespace {
        project,
        ..namespace
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_values_of_the_chain_are_loaded_and_stored() {
        let line = br#"{"extensions":[["one","built-in"]]}"#;
        let admitted = read_start(&mut &[&line[..], b"\n{}"].concat()[..]).unwrap();
        let of = |extension: &str, source: &str| Namespace {
            extension: extension.to_owned(),
            source: source.to_owned(),
            user: Some("ann".to_owned()),
            project: Some("named".into()),
        };
        let resolved = |namespace| resolve(&admitted, &Folders::new(), namespace);
        assert_eq!(resolved(of("one", "built-in")), Ok(of("one", "built-in")));
        for other in [of("two", "built-in"), of("one", "/one.wasm")] {
            resolved(other).unwrap_err();
        }
    }

    #[test]
    fn a_server_with_a_store_names_it_in_the_first_line() {
        let start = Start {
            extensions: Vec::new(),
            is_dry_run: false,
            store: Some(PostgresPlace {
                url: "postgres://a@b/c".to_owned(),
                password: Some("/password".into()),
                authorities: None,
                connections: 2,
            }),
        };
        let line = acp_chain_rpc::json_lines::line(&start).unwrap();
        let read = read_start(&mut &*line).unwrap();
        assert_eq!(read.store, start.store);
    }

    #[test]
    fn people_are_told_what_is_for_them() {
        for line in [&b""[..], b"\n", b"load it\n"] {
            let error = read_start(&mut &*line).unwrap_err().to_string();
            assert!(error.contains("`acp-chain state` is for you"), "{error}");
        }
    }
}
