//! The tables, as numbered statements of both engines: `BIGINT`, `{strict}` and `{numbers}` are replaced where they
//! differ.
//!
//! A store has the number of the last one that was carried out. One with a larger number is of a newer acp-chain, and
//! is not used.

/// The statements, from number 1. Those that were released do not change.
pub(crate) const MIGRATIONS: &[&str] = &[FIRST, SECOND, THIRD, FOURTH];

/// The table with the number of the last migration.
pub(crate) const VERSIONS: &str =
    "CREATE TABLE IF NOT EXISTS acp_chain_schema (version BIGINT NOT NULL){strict}";

/// Their number.
pub(crate) const VERSION: &str = "SELECT version FROM acp_chain_schema";

/// The number that this program needs.
pub(crate) const NEEDED: u64 = MIGRATIONS.len() as u64;

const FIRST: &str = "
CREATE TABLE acp_chain_replicas (
    name TEXT NOT NULL PRIMARY KEY,
    generation BIGINT NOT NULL,
    started BIGINT NOT NULL,
    beaten BIGINT NOT NULL,
    until BIGINT NOT NULL
){strict};
CREATE TABLE acp_chain_owners (
    agents TEXT NOT NULL,
    session TEXT NOT NULL,
    owner TEXT NOT NULL,
    spelling TEXT NOT NULL,
    opened BIGINT NOT NULL,
    PRIMARY KEY (agents, session, owner, spelling)
){strict};
CREATE TABLE acp_chain_leases (
    agents TEXT NOT NULL,
    session TEXT NOT NULL,
    owner TEXT NOT NULL,
    spelling TEXT NOT NULL,
    replica TEXT NOT NULL,
    generation BIGINT NOT NULL,
    number BIGINT NOT NULL,
    PRIMARY KEY (agents, session, owner)
){strict};
CREATE INDEX acp_chain_leases_by_owner ON acp_chain_leases (owner);
CREATE INDEX acp_chain_leases_by_replica ON acp_chain_leases (replica, generation);
CREATE TABLE acp_chain_prompts (
    agents TEXT NOT NULL,
    session TEXT NOT NULL,
    owner TEXT NOT NULL,
    prompt TEXT NOT NULL,
    number BIGINT NOT NULL,
    state TEXT NOT NULL,
    begun BIGINT NOT NULL,
    PRIMARY KEY (agents, session, owner, prompt)
){strict};
CREATE INDEX acp_chain_prompts_by_age ON acp_chain_prompts (begun);
CREATE TABLE acp_chain_budgets (
    account TEXT NOT NULL,
    kind TEXT NOT NULL,
    length BIGINT NOT NULL,
    period BIGINT NOT NULL,
    used BIGINT NOT NULL,
    PRIMARY KEY (account, kind, length)
){strict};
CREATE TABLE acp_chain_revocations (
    number BIGINT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    made BIGINT NOT NULL
){strict};
CREATE TABLE acp_chain_rewinds (
    number BIGINT NOT NULL PRIMARY KEY,
    noticed BIGINT NOT NULL,
    rests_until BIGINT NOT NULL
){strict};
CREATE TABLE acp_chain_origin (history TEXT NOT NULL){strict};
INSERT INTO acp_chain_origin VALUES ('');
{numbers};
INSERT INTO acp_chain_schema VALUES (0);
";

/// When a user last had a turn from a line, and the tickets of browsers.
const SECOND: &str = "
CREATE TABLE acp_chain_turns (
    owner TEXT NOT NULL PRIMARY KEY,
    served BIGINT NOT NULL
){strict};
CREATE TABLE acp_chain_tickets (
    ticket TEXT NOT NULL PRIMARY KEY,
    owner TEXT NOT NULL,
    sealed TEXT NOT NULL,
    issued BIGINT NOT NULL,
    until BIGINT NOT NULL
){strict};
CREATE INDEX acp_chain_tickets_by_owner ON acp_chain_tickets (owner, issued);
";

/// What a replica has of limits that count at all replicas.
const THIRD: &str = "
CREATE TABLE acp_chain_slots (
    replica TEXT NOT NULL,
    generation BIGINT NOT NULL,
    slot BIGINT NOT NULL,
    kind TEXT NOT NULL,
    account TEXT NOT NULL,
    PRIMARY KEY (replica, generation, slot, kind, account)
){strict};
CREATE INDEX acp_chain_slots_by_account ON acp_chain_slots (account, kind);
";

/// What proxies store. An owner is found by a digest, since its texts are longer than an entry of an index may be.
const FOURTH: &str = "
CREATE TABLE acp_chain_value_owners (
    digest TEXT NOT NULL PRIMARY KEY,
    extension TEXT NOT NULL,
    source TEXT NOT NULL,
    owner TEXT NOT NULL,
    project TEXT NOT NULL,
    since BIGINT NOT NULL,
    changed BIGINT NOT NULL,
    entries BIGINT NOT NULL,
    bytes BIGINT NOT NULL
){strict};
CREATE INDEX acp_chain_value_owners_by_owner ON acp_chain_value_owners (owner);
CREATE TABLE acp_chain_values (
    digest TEXT NOT NULL,
    name TEXT NOT NULL,
    content TEXT NOT NULL,
    version BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    PRIMARY KEY (digest, name)
){strict};
";
