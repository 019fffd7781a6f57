//! The store of what replicas must know together: the process that has it, `acp-chain keep-store`.
//!
//! A server can connect to nothing and open no files. So a process is started before these rights are given up. It
//! has all rights of the user, runs no code of proxies, and carries out the calls of its server.

use std::io::{self, BufRead, BufReader};
use std::path::Path;

use acp_chain_conductor::native::Supervisor;
use acp_chain_remote::server::{SharedSettings, Watch};
use acp_chain_rpc::json_lines::read_line;
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_state::{Database, Filter, Moved, Removed, Summary};
use acp_chain_store::{Answer, Call, Client, Place, PostgresPlace};
use acp_chain_system::worker::Worker;

use crate::serve_settings::{ServeSettings, StoreSettings};
use crate::{ChainError, Error, beside, home};
use acp_chain_manifest::serve::UnknownSessions;

/// The subcommand that is the process.
const SUBCOMMAND: &str = "keep-store";

/// The longest first line, in bytes: an address, and paths.
const LINE: usize = 64 << 10;

/// A process that has the store, before the first call, and how it is used.
pub struct StoreProcess {
    worker: Worker,
    settings: StoreSettings,
    /// How many sessions a user may have at all replicas, with authentication.
    sessions_per_user: Option<u64>,
}

impl StoreProcess {
    /// Starts the process, if there is a store. Must be called before rights are given up.
    pub fn start(set: &ServeSettings, log: Option<&Path>) -> Result<Option<Self>, Error> {
        let Some(settings) = &set.store else {
            return Ok(None);
        };
        let worker = beside::start(SUBCOMMAND, &place(settings)?, log).map_err(Error::NoStore)?;
        let is_limited = set.gate.requires_auth();
        Ok(Some(Self {
            worker,
            settings: settings.clone(),
            sessions_per_user: is_limited.then(|| set.limits.sessions_per_user.into()),
        }))
    }

    /// What the server shares by it. Must be called within the runtime that serves. The supervisor ends the agents of a
    /// server that is stopped.
    pub fn shared(self, supervisor: Supervisor) -> Result<SharedSettings, Error> {
        let (replies, requests) = self.worker.streams().map_err(Error::NoStore)?;
        let settings = self.settings;
        Ok(SharedSettings {
            client: Client::start(replies, requests),
            agents: settings.agents,
            lease: settings.lease,
            admits_unowned: settings.unknown_sessions == UnknownSessions::Admit,
            sessions_per_user: self.sessions_per_user,
            budgets: settings.budgets,
            watch: Watch::new(move |within| supervisor.watch(within)),
        })
    }
}

fn place(settings: &StoreSettings) -> Result<Place, Error> {
    Ok(match &settings.postgres {
        Some(postgres) => Place::Postgres(postgres.clone()),
        None => Place::Embedded(home::store()?),
    })
}

/// The database in which proxies store values, if replicas share them: with a quarter as many connections, at least one,
/// beside those of the store.
pub(super) fn place_of_values(set: &ServeSettings) -> Option<PostgresPlace> {
    let postgres = set.store.as_ref()?.postgres.as_ref()?;
    Some(PostgresPlace {
        connections: postgres.connections.div_ceil(4),
        ..postgres.clone()
    })
}

/// Whether the replicas share what proxies store.
pub fn has_values(set: &ServeSettings) -> bool {
    place_of_values(set).is_some()
}

/// Lists what proxies have stored for the users of a server, in its store.
pub fn list_values(set: &ServeSettings, filter: &Filter) -> Result<Vec<Summary>, ChainError> {
    acp_chain_state::list_shared(&shared_values(set)?, filter).map_err(ChainError::new)
}

/// Removes what proxies have stored for the users of a server, from its store.
pub fn wipe_values(set: &ServeSettings, filter: &Filter) -> Result<Removed, ChainError> {
    acp_chain_state::wipe_shared(&shared_values(set)?, filter).map_err(ChainError::new)
}

/// Moves what proxies have stored for users of a server from the data folder into the store, if that has their values. If
/// an error is returned, `moved` has what was moved before.
pub fn move_values(set: &ServeSettings, moved: &mut Moved) -> Result<(), ChainError> {
    let (Some(place), Ok(path)) = (place_of_values(set), home::database()) else {
        return Ok(());
    };
    let Some(mut database) = Database::find(&path).map_err(ChainError::new)? else {
        return Ok(());
    };
    let mut shared = acp_chain_state::open_shared(&place).map_err(ChainError::new)?;
    let all = acp_chain_state::move_values(&mut database, &mut shared, moved);
    crate::runtime()?.block_on(all).map_err(ChainError::new)
}

/// What an operator is told if the data folder has values of users, and they are in the store instead.
pub(super) fn unused_values(set: &ServeSettings) -> Option<String> {
    if !has_values(set) {
        return None;
    }
    let path = home::database().ok()?;
    let found = Database::find(&path);
    let counted = found.and_then(|found| found.map(|database| database.of_users()).transpose());
    match counted {
        Ok(None) => None,
        Ok(Some(totals)) if totals.values == 0 => None,
        Ok(Some(totals)) => Some(format!(
            "{} has values that proxies have stored for users of a server ({}, of {} users). They are not used: those of \
             this server are in its store. `acp-chain serve --migrate` moves them there, and `acp-chain state wipe --user \
             NAME` removes what it leaves",
            Untrusted::new(path.display()),
            totals.values,
            totals.users
        )),
        Err(error) => Some(format!(
            "values that proxies may have stored before are not used, and cannot be looked at: {error}"
        )),
    }
}

fn shared_values(set: &ServeSettings) -> Result<PostgresPlace, ChainError> {
    let none = "no replicas share what proxies store: `store` in `[serve]` of your config.toml names no database of \
                PostgreSQL, so it is in the data folder of each server's user, as `acp-chain state list` shows";
    place_of_values(set).ok_or_else(|| ChainError::misuse(none))
}

/// Asks the store, as an operator does: once, and not for a server.
pub fn ask(set: &ServeSettings, calls: &[Call]) -> Result<Vec<Answer>, ChainError> {
    acp_chain_store::ask(&named(set)?, calls).map_err(ChainError::new)
}

/// The store that the settings name.
fn named(set: &ServeSettings) -> Result<Place, ChainError> {
    let none = "there is no store: name one by `store` in `[serve]` of your config.toml. `acp-chain top` shows the \
                connections of a server without one";
    let settings = set.store.as_ref();
    Ok(place(settings.ok_or_else(|| ChainError::misuse(none))?)?)
}

/// Brings the tables of the store up to date. Returns how many steps that took.
pub fn migrate(set: &ServeSettings) -> Result<u64, ChainError> {
    acp_chain_store::migrate(&named(set)?).map_err(ChainError::new)
}

/// The process: carries out the calls of a server on standard input and output. Returns whether that succeeded;
/// errors are in the log.
pub fn serve() -> bool {
    beside::work("the process that has the store of the replicas", keep)
}

#[expect(clippy::disallowed_methods, reason = "the server reads it")]
fn keep() -> Result<(), Error> {
    let mut requests = BufReader::new(io::stdin());
    let place = read_place(&mut requests)?;
    acp_chain_store::serve(requests, io::stdout(), &place).map_err(Error::Io)
}

/// Reads the first line.
fn read_place(requests: &mut impl BufRead) -> Result<Place, Error> {
    let line = read_line(requests, LINE).map_err(Error::Io)?;
    serde_json::from_slice(&line).map_err(|_| Error::Misused(SUBCOMMAND, ""))
}

#[cfg(test)]
mod tests {
    use acp_chain_manifest::User;

    use super::*;

    fn settings(text: &str) -> ServeSettings {
        let user = User::parse(text, Path::new("/c/config.toml")).unwrap();
        ServeSettings::of(&user).unwrap()
    }

    #[test]
    fn what_proxies_store_is_shared_in_postgres_only() {
        for text in ["", "[serve]\nstore = \"embedded\""] {
            let set = settings(text);
            assert!(!has_values(&set));
            let error = list_values(&set, &Filter::default()).unwrap_err();
            assert!(error.to_string().contains("names no database"), "{error}");
        }
        for (connections, of_values) in [(1, 1), (4, 1), (8, 2), (9, 3)] {
            let set = settings(&format!(
                "[serve]\nstore = \"postgres://a@b/c\"\nstore-connections = {connections}"
            ));
            assert!(has_values(&set));
            let place = shared_values(&set).unwrap();
            assert_eq!(place.connections, of_values);
        }
    }

    #[test]
    fn people_are_told_that_it_is_not_for_them() {
        for line in [&b""[..], b"\n", b"postgres://a@b/c\n"] {
            let error = read_place(&mut &*line).unwrap_err().to_string();
            assert!(error.contains("`keep-store` is for acp-chain"), "{error}");
        }
        let place = read_place(&mut &b"{\"embedded\":\"/a\"}\n{}"[..]).unwrap();
        assert_eq!(place, Place::Embedded("/a".into()));
    }
}
