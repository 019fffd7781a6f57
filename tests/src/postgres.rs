//! Servers of `PostgreSQL`, from what `cargo xtask peers` fetched.

use acp_chain_postgres::Postgres;

use crate::host::peer;

/// Its disk need not outlast the system, and the archive of a recovery has nothing more.
const SETTINGS: &[&str] = &["fsync=off", "jit=off", "restore_command=false"];

/// Starts a server with an empty database.
///
/// # Panics
/// If it does not start.
#[must_use]
pub fn start_postgres() -> Postgres {
    Postgres::start(&peer("bin"), SETTINGS).expect("PostgreSQL starts")
}

/// Starts a server that is reached over TCP, too, encrypted with this certificate and key (PEM).
///
/// # Panics
/// If it does not start.
#[must_use]
pub fn start_encrypted_postgres(certificate: &str, key: &str) -> Postgres {
    Postgres::encrypted(&peer("bin"), SETTINGS, certificate, key).expect("PostgreSQL starts")
}

/// Starts a server whose disk can be filled.
///
/// # Panics
/// If it does not start.
#[must_use]
pub fn start_postgres_on_small_disk() -> Postgres {
    Postgres::on_small_disk(&peer("bin")).expect("PostgreSQL starts")
}
