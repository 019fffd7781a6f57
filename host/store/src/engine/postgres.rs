//! The store in `PostgreSQL`. Statements name the types of their parameters and are not prepared, so they also pass a
//! pool in transaction mode.

use std::env;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::net::IpAddr;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use tokio::time::timeout;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config};

use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, innermost, quote};
use acp_chain_system::{STORE_PASSWORD, files};

use super::tls::Tls;
use super::{Cell, Dialect, Engine, Row, Store, Unusable, Value, ValueStore};
use crate::call::{Answer, Call};
use crate::limits::check_values;
use crate::migrations::{MIGRATIONS, NEEDED, VERSION, VERSIONS};
use crate::place::PostgresPlace;
use crate::rules::{Rules, Step};
use crate::values::{ValueAnswer, ValueCall};

/// How long it takes to connect, to one of all hosts.
const CONNECT: Duration = Duration::from_secs(3);

/// How long a call takes, with a new connection for it. The database gives up a moment before, so that its reason is
/// known.
const PATIENCE: Duration = Duration::from_secs(4);

/// After how long without a call it is looked whether a connection is still there. Proxies may store nothing for hours,
/// and firewalls forget connections sooner: the first call would wait in vain.
const IDLE: Duration = Duration::from_mins(1);

/// What each connection sets. What was committed must outlast a crash; more than that is for the database to say.
const SETTINGS: &str = "
SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
SET statement_timeout = '3500ms';
SET lock_timeout = '3000ms';
SET idle_in_transaction_session_timeout = '5000ms'
";

/// Begins a transaction whose statements see what others had committed before each, whatever the default of the database
/// is: what is counted behind a lock must be as it is when the lock is given.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";

/// For migrations: nobody else carries some out.
const MIGRATING: &str = "SELECT pg_advisory_xact_lock(1633906688)";

/// The counter, and the history of the database: its timeline, which is another one after a standby has taken over, or
/// after a recovery up to some time, and its cluster. The counter alone is not enough: a sequence of a standby is ahead
/// by up to 32. Where a provider has taken these functions away, the history is not known.
const NUMBERS: &str = "
CREATE SEQUENCE acp_chain_numbers;
CREATE FUNCTION acp_chain_history() RETURNS TEXT LANGUAGE plpgsql AS $$
BEGIN
    RETURN (SELECT system_identifier FROM pg_catalog.pg_control_system())::text || '/'
        || substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 1, 8);
EXCEPTION WHEN OTHERS THEN
    RETURN '';
END $$
";

/// How many bytes of a file with a password are read.
const PASSWORD: u64 = 4096;

/// A connection to the store, made at the first call, and again after one has failed.
#[derive(Debug)]
pub struct Postgres {
    config: Config,
    tls: Tls,
    client: Option<Client>,
    /// The hosts, for errors.
    address: String,
}

impl Postgres {
    /// Reads the settings, and the password and the authorities that they name. Nothing is connected yet.
    pub fn new(place: &PostgresPlace) -> Result<Self, Unusable> {
        let (mut config, is_encrypted) = read_url(&place.url)?;
        if let Some(password) = password(place.password.as_deref())? {
            config.password(password);
        }
        let tls = if is_encrypted {
            Tls::new(place.authorities.as_deref())
        } else {
            Tls::unused()
        };
        // A host that cannot be reached leaves time for the others.
        let count = config.get_hosts().len().max(config.get_hostaddrs().len());
        let for_each = u32::try_from(count).map_or(CONNECT, |count| CONNECT / count.max(1));
        config
            .connect_timeout(for_each)
            .tcp_user_timeout(PATIENCE)
            .keepalives_idle(IDLE)
            .application_name("acp-chain")
            // Of several hosts, a standby is passed over.
            .target_session_attrs(TargetSessionAttrs::ReadWrite);
        Ok(Self {
            address: hosts(&config),
            config,
            tls: tls?,
            client: None,
        })
    }

    /// Carries out the migrations that the database lacks, all or none. Returns how many.
    pub async fn migrate(&self) -> Result<u64, Unusable> {
        let client = self.open().await?;
        let migrated = migrate(&client).await;
        migrated.map_err(|failed| self.failed(failed))
    }

    /// A connection to a database that this program can use.
    async fn connect(&self) -> Result<Client, Unusable> {
        let client = self.open().await?;
        let settled = settle(&client).await;
        settled.map_err(|failed| self.failed(failed))?;
        Ok(client)
    }

    /// Carries out a step in time. A server may stop at any moment, also while a connection to it is prepared.
    async fn ask_in_time<S: Step>(&mut self, step: &S) -> Result<S::Answer, Unusable> {
        let carried_out = timeout(PATIENCE, self.ask(step)).await;
        carried_out.unwrap_or_else(|_| Err(self.about("it did not answer in time")))
    }

    /// Carries out a step. After an error, and if this is dropped before it is done, the connection is dropped, and
    /// with it what was not committed.
    async fn ask<S: Step>(&mut self, step: &S) -> Result<S::Answer, Unusable> {
        let open = self.client.take().filter(|client| !client.is_closed());
        let client = match open {
            Some(client) => client,
            None => self.connect().await?,
        };
        let done = run(&client, step).await;
        let answer = done.map_err(|failed| self.failed(failed))?;
        self.client = Some(client);
        Ok(answer)
    }

    async fn open(&self) -> Result<Client, Unusable> {
        let connected = timeout(CONNECT, self.config.connect(self.tls.clone())).await;
        let slow =
            |_| self.about("it did not answer in time; is it running, and may it be reached?");
        let connected = connected.map_err(slow)?;
        let (client, connection) = connected.map_err(|error| self.failed(error.into()))?;
        // It ends when the client is dropped, and the client reports its error.
        tokio::spawn(async move { drop(connection.await) });
        Ok(client)
    }

    fn about(&self, what: &str) -> Unusable {
        Unusable(format!("the database at {}: {what}", self.address))
    }

    fn failed(&self, failed: Failed) -> Unusable {
        let error = match failed {
            Failed::Database(error) => error,
            Failed::Content(unusable) => return self.about(&unusable.0),
        };
        let cause = innermost(&error);
        let io = cause.downcast_ref::<io::Error>();
        let is_refused = io.is_some_and(|io| io.kind() == io::ErrorKind::ConnectionRefused);
        let next = match error.code() {
            Some(code) if *code == SqlState::UNDEFINED_TABLE => {
                "; `acp-chain serve --migrate` makes the tables"
            }
            Some(code) if *code == SqlState::READ_ONLY_SQL_TRANSACTION => {
                "; it is read-only: is it a standby?"
            }
            Some(code) if *code == SqlState::DISK_FULL => "; free some space",
            None if is_refused => {
                "; check that it runs, and `store` in `[serve]` of your config.toml"
            }
            _ => "",
        };
        let why = match error.as_db_error() {
            Some(error) => error.message().to_owned(),
            None => cause.to_string(),
        };
        self.about(&format!("{}{next}", quote(&why, MAX_QUOTE)))
    }
}

impl Store for Postgres {
    async fn carry_out(&mut self, call: &Call) -> Result<Answer, Unusable> {
        self.ask_in_time(call).await
    }
}

impl ValueStore for Postgres {
    async fn values(&mut self, call: &ValueCall) -> Result<ValueAnswer, Unusable> {
        check_values(call).map_err(|limit| Unusable(limit.to_string()))?;
        self.ask_in_time(call).await
    }
}

/// Why a call has failed.
enum Failed {
    Database(tokio_postgres::Error),
    /// About what is in the database.
    Content(Unusable),
}

impl From<tokio_postgres::Error> for Failed {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Database(error)
    }
}

/// A connection that carries out statements. The error of the database is kept, as it says more than its text.
struct Session<'c> {
    client: &'c Client,
    failed: Option<tokio_postgres::Error>,
}

impl Session<'_> {
    async fn query(
        &self,
        statement: &str,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, tokio_postgres::Error> {
        let parameters: Vec<_> = values.iter().map(parameter).collect();
        let rows = self.client.query_typed(statement, &parameters).await?;
        rows.iter().map(read).collect()
    }
}

impl Engine for Session<'_> {
    const DIALECT: Dialect = Dialect {
        now: "(EXTRACT(EPOCH FROM statement_timestamp()) * 1000)::bigint",
        next: "SELECT nextval('acp_chain_numbers')",
        last: "SELECT n.last_value, acp_chain_history(), o.history FROM acp_chain_numbers n, acp_chain_origin o",
        raise: "SELECT setval('acp_chain_numbers', GREATEST($1, (SELECT last_value FROM acp_chain_numbers)))",
        lock: Some("SELECT pg_advisory_xact_lock(1633906688 + $1::int4, hashtext($2))"),
        keeps_row: "FOR UPDATE",
        keeps_lease: "FOR UPDATE OF l",
    };

    async fn rows(&mut self, statement: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Unusable> {
        match self.query(statement, values).await {
            Ok(rows) => Ok(rows),
            Err(error) => {
                let text = error.to_string();
                self.failed = Some(error);
                Err(Unusable(text))
            }
        }
    }
}

/// Carries out a step, within a transaction if it needs one.
async fn run<S: Step>(client: &Client, step: &S) -> Result<S::Answer, Failed> {
    let mut session = Session {
        client,
        failed: None,
    };
    let needs_transaction = step.needs_transaction();
    if needs_transaction {
        client.batch_execute(BEGIN).await?;
    }
    let done = step.carry_out(&mut Rules(&mut session)).await;
    let answer = done.map_err(|unusable| match session.failed.take() {
        Some(error) => Failed::Database(error),
        None => Failed::Content(unusable),
    })?;
    if needs_transaction {
        client.batch_execute("COMMIT").await?;
    }
    Ok(answer)
}

/// A parameter, with its type.
fn parameter<'v>(value: &'v Value<'_>) -> (&'v (dyn ToSql + Sync), Type) {
    match value {
        Value::Text(text) => (text as &'v (dyn ToSql + Sync), Type::TEXT),
        Value::Number(number) => (number as &'v (dyn ToSql + Sync), Type::INT8),
    }
}

/// The cells of a row. Our statements return texts and numbers.
fn read(row: &tokio_postgres::Row) -> Result<Row, tokio_postgres::Error> {
    let cells = row.columns().iter().enumerate().map(|(at, column)| {
        let of_type = column.type_();
        Ok(if *of_type == Type::TEXT {
            let text: Option<String> = row.try_get(at)?;
            text.map_or(Cell::Nothing, Cell::Text)
        } else if *of_type == Type::INT8 {
            let number: Option<i64> = row.try_get(at)?;
            number.map_or(Cell::Nothing, Cell::Number)
        } else if *of_type == Type::INT4 {
            let number: Option<i32> = row.try_get(at)?;
            number.map_or(Cell::Nothing, |number| Cell::Number(number.into()))
        } else {
            Cell::Nothing
        })
    });
    Ok(Row(cells.collect::<Result<_, tokio_postgres::Error>>()?))
}

/// Prepares a connection, and checks that the tables are those of this program.
async fn settle(client: &Client) -> Result<(), Failed> {
    client.batch_execute(SETTINGS).await?;
    let version = version(client).await?;
    let wrong = |what: &str| Err(Failed::Content(Unusable(what.to_owned())));
    if version > NEEDED {
        return wrong("its tables are of a newer acp-chain; use that one");
    }
    if version < NEEDED {
        return wrong(
            "its tables are of an older acp-chain; `acp-chain serve --migrate` brings them up to date",
        );
    }
    Ok(())
}

/// The number of the last migration; 0 before the first one.
async fn version(client: &Client) -> Result<u64, Failed> {
    let row = client.query_typed_opt(VERSION, &[]).await?;
    let Some(row) = row else { return Ok(0) };
    let version: i64 = row.try_get(0)?;
    Ok(u64::try_from(version).unwrap_or_default())
}

async fn migrate(client: &Client) -> Result<u64, Failed> {
    let read = |statement: &str| {
        let statement = statement.replace("{strict}", "");
        statement.replace("{numbers}", NUMBERS)
    };
    client.batch_execute(BEGIN).await?;
    client.batch_execute(MIGRATING).await?;
    client.batch_execute(&read(VERSIONS)).await?;
    let version = version(client).await?;
    if version > NEEDED {
        let what = "its tables are of a newer acp-chain; use that one";
        return Err(Failed::Content(Unusable(what.to_owned())));
    }
    let done = usize::try_from(version).unwrap_or(usize::MAX);
    for migration in MIGRATIONS.iter().skip(done) {
        client.batch_execute(&read(migration)).await?;
    }
    let update = format!("UPDATE acp_chain_schema SET version = {NEEDED}");
    client.batch_execute(&update).await?;
    client.batch_execute("COMMIT").await?;
    Ok(NEEDED - version)
}

/// The settings in an address, and whether the connection is encrypted. `sslmode` is read here: there is
/// `verify-full`, and `disable` for this machine.
fn read_url(url: &str) -> Result<(Config, bool), Unusable> {
    let wrong = |what: &str| Unusable(format!("`store`: {what}"));
    let (base, query) = url.split_once('?').unwrap_or((url, ""));
    let mut mode = None;
    let mut others = Vec::new();
    for part in query.split('&').filter(|part| !part.is_empty()) {
        match part.strip_prefix("sslmode=") {
            Some(given) => mode = Some(given),
            None => others.push(part),
        }
    }
    let address = format!("{base}?{}", others.join("&"));
    let config = Config::from_str(address.trim_end_matches('?'));
    let mut config = config.map_err(|error| wrong(&innermost(&error).to_string()))?;
    if config.get_password().is_some() {
        return Err(wrong(&format!(
            "a password does not belong in an address, which is shown; put it in a file, `store-password`, or in \
             {STORE_PASSWORD}"
        )));
    }
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        return Err(wrong("the address names no host"));
    }
    let is_here = is_here(&config);
    let is_encrypted = match mode {
        None => !is_here,
        Some("verify-full") => true,
        Some("disable") if is_here => false,
        Some("disable") => {
            return Err(wrong(
                "`sslmode=disable` is for databases of this machine only; leave it out",
            ));
        }
        Some(_) => {
            return Err(wrong(
                "`sslmode` is `verify-full`, or `disable` for a database of this machine: encryption without \
                 verification protects from nobody who is in between",
            ));
        }
    };
    config.ssl_mode(if is_encrypted {
        SslMode::Require
    } else {
        SslMode::Disable
    });
    Ok((config, is_encrypted))
}

/// Whether all hosts are this machine.
fn is_here(config: &Config) -> bool {
    let mut hosts = config.get_hosts().iter();
    let mut addresses = config.get_hostaddrs().iter();
    let is_named_here = hosts.all(|host| match host {
        Host::Tcp(name) => {
            let is_loopback = name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
            name == "localhost" || is_loopback
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    });
    is_named_here && addresses.all(IpAddr::is_loopback)
}

/// The hosts of an address, for errors.
fn hosts(config: &Config) -> String {
    let hosts = config.get_hosts().iter().map(|host| match host {
        Host::Tcp(name) => Untrusted::new(name).to_string(),
        #[cfg(unix)]
        Host::Unix(path) => Untrusted::new(path.display()).to_string(),
    });
    let addresses = config.get_hostaddrs().iter().map(ToString::to_string);
    let all: Vec<_> = hosts.chain(addresses).collect();
    all.join(", ")
}

/// The password: the first line of a file, or else that of the environment.
fn password(file: Option<&Path>) -> Result<Option<String>, Unusable> {
    let Some(path) = file else {
        return Ok(env::var(STORE_PASSWORD).ok());
    };
    let read = || -> io::Result<String> {
        let file = File::open(path)?;
        files::check_secret(&file, path)
            .map_err(|exposed| io::Error::other(exposed.to_string()))?;
        let mut line = String::new();
        BufReader::new(file.take(PASSWORD)).read_line(&mut line)?;
        Ok(line.trim_end_matches(['\r', '\n']).to_owned())
    };
    let read = read().map_err(|error| {
        let path = Untrusted::new(path.display());
        Unusable(format!(
            "{path}: {error}; `store-password` names the file with the database's password"
        ))
    });
    read.map(Some)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;

    fn postgres(url: &str) -> Postgres {
        let place = PostgresPlace {
            url: url.to_owned(),
            password: None,
            authorities: None,
            connections: 1,
        };
        Postgres::new(&place).unwrap()
    }

    /// A message of the protocol.
    fn message(kind: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
        [&[kind][..], &length, body].concat()
    }

    /// Reads what begins with its length, which is behind these many bytes.
    async fn skip(socket: &mut TcpStream, before: usize) {
        let mut head = vec![0; before + 4];
        socket.read_exact(&mut head).await.unwrap();
        let length = u32::from_be_bytes(head[before..].try_into().unwrap());
        let mut body = vec![0; usize::try_from(length).unwrap() - 4];
        socket.read_exact(&mut body).await.unwrap();
    }

    /// A server that stops once it has greeted its client, and said that it may be written to.
    async fn greet(listener: TcpListener) {
        let (mut socket, _) = listener.accept().await.unwrap();
        skip(&mut socket, 0).await;
        let ready = message(b'Z', b"I");
        let greeting = [message(b'R', &[0; 4]), ready.clone()].concat();
        socket.write_all(&greeting).await.unwrap();
        skip(&mut socket, 1).await;
        // One column: its name, and where it is from; a text.
        let mut column = b"\0\x01transaction_read_only\0".to_vec();
        column.extend([
            0, 0, 0, 0, 0, 0, 0, 0, 0, 25, 255, 255, 255, 255, 255, 255, 0, 0,
        ]);
        let answer = [
            message(b'T', &column),
            message(b'D', b"\0\x01\0\0\0\x03off"),
            message(b'C', b"SHOW\0"),
            ready,
        ];
        socket.write_all(&answer.concat()).await.unwrap();
        std::future::pending::<()>().await;
    }

    #[tokio::test]
    async fn a_server_that_stops_behind_its_greeting_is_an_error_in_time() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = tokio::spawn(greet(listener));
        let mut store = postgres(&format!("postgres://a@{address}/d"));
        let error = store.carry_out(&Call::Replicas).await.unwrap_err();
        assert!(error.to_string().ends_with("in time"), "{error}");
        assert!(!server.is_finished());
    }

    #[test]
    fn a_host_that_cannot_be_reached_leaves_time_for_the_next_one() {
        for (hosts, parts) in [("localhost", 1), ("localhost,127.0.0.1", 2)] {
            let store = postgres(&format!("postgres://a@{hosts}/d"));
            let for_each = store.config.get_connect_timeout();
            assert_eq!(for_each, Some(&(CONNECT / parts)));
        }
    }

    #[test]
    fn only_databases_of_this_machine_are_reached_without_encryption() {
        for (url, is_encrypted) in [
            ("postgres://a@localhost/d", false),
            ("postgres://a@127.0.0.1:5433/d", false),
            ("postgres://a@%2Frun%2Fpostgresql/d", false),
            ("postgres://a@localhost/d?sslmode=verify-full", true),
            ("postgresql://a@db.example.com/d", true),
            (
                "postgres://a@one.example,two.example/d?connect_timeout=2",
                true,
            ),
            ("postgres://a@localhost,two.example/d", true),
        ] {
            assert_eq!(read_url(url).unwrap().1, is_encrypted, "{url}");
        }
        for (url, told) in [
            (
                "postgres://a@db.example.com/d?sslmode=disable",
                "this machine only",
            ),
            (
                "postgres://a@db.example.com/d?sslmode=require",
                "in between",
            ),
            ("postgres://a:secret@localhost/d", "does not belong"),
            ("postgres://a@localhost/d?no=1", "no"),
            ("postgres:///d", "no host"),
        ] {
            let error = read_url(url).unwrap_err().to_string();
            assert!(error.contains(told) && !error.contains("secret"), "{error}");
        }
    }
}
