//! The settings of `[serve]`: the address of a server, its access control, and the chains of users.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use acp_chain_address::is_safe;
use acp_chain_manifest::beside;
use acp_chain_remote::gate::{Algorithm, GateSettings, Host, Issuer, JwksSource, Origin, TlsFiles};
use acp_chain_remote::server::{Budgets, Endpoint, NameError, Node, SHORTEST_LEASE, TurnLimits};
use acp_chain_store::PostgresPlace;
use toml::Spanned;
use url::Url;

use acp_chain_channel::limits::Quantity;
use acp_chain_manifest::serve::{
    Budgets as ClosedOrOpen, Jwt, Limits, Route, ServeTable, UnknownSessions,
};
use acp_chain_manifest::{ManifestError, User};

/// The user's settings for serving.
#[derive(Clone, Debug, Default)]
pub struct ServeSettings {
    /// The address to listen at.
    pub listen: Option<SocketAddr>,
    /// The address of the metrics endpoint.
    pub metrics: Option<SocketAddr>,
    /// The file of the access log; `-` is standard error.
    pub access_log: Option<PathBuf>,
    /// The path of the endpoint.
    pub path: Endpoint,
    /// The name of this replica behind a balancer.
    pub node: Option<Node>,
    /// Access control.
    pub gate: GateSettings,
    /// What is shared with other replicas, if there is a store for that.
    pub store: Option<StoreSettings>,
    /// The limits of users.
    pub limits: ServeLimits,
    /// How many turns of a user, and of a group, run at once.
    pub turn_limits: TurnLimits,
    /// The chains of users. The first that matches is used.
    pub routes: Vec<Route>,
}

/// The store of what replicas must know together.
#[derive(Clone, Debug)]
pub struct StoreSettings {
    /// The database of `PostgreSQL`; `None` for a file of this machine.
    pub postgres: Option<PostgresPlace>,
    /// The name of where the agents keep their sessions.
    pub agents: String,
    /// How long a replica's leases go on without heartbeats.
    pub lease: Duration,
    pub unknown_sessions: UnknownSessions,
    /// What users and groups may use in an hour, at all replicas.
    pub budgets: Budgets,
}

/// The default time of leases.
const LEASE: Duration = Duration::from_secs(15);

/// How many connections to the database there are by default.
const CONNECTIONS: u32 = 8;

/// `[serve.limits]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServeLimits {
    /// The maximum number of a user's connections.
    pub connections_per_user: u32,
    /// The maximum number of a user's open sessions, over all connections.
    pub sessions_per_user: u32,
    /// The maximum number of bytes per second read from a user; `None` if unlimited.
    pub bytes_per_second_per_user: Option<NonZeroU64>,
    /// The maximum number of connections of all users.
    pub connections: u32,
    /// The maximum number of turns of all users that run at once; `None` if unlimited.
    pub turns: Option<u32>,
    /// How long a connection stays open after its client disconnected.
    pub resume: Duration,
    /// How long running turns may continue when the server is asked to stop.
    pub drain: Duration,
    /// How long a proxy is idle before it is put to sleep; `None` for never.
    pub sleep: Option<Duration>,
    /// The maximum number of proxy instances. At the maximum, new connections are rejected.
    pub instances: u32,
    /// The maximum memory of proxy instances, in bytes; by default, half of the machine's. At the maximum, new
    /// connections are rejected.
    pub memory: Option<u64>,
}

impl Default for ServeLimits {
    fn default() -> Self {
        Self {
            connections_per_user: 16,
            sessions_per_user: 256,
            bytes_per_second_per_user: None,
            connections: 10_000,
            turns: None,
            resume: Duration::from_mins(2),
            drain: Duration::from_secs(30),
            sleep: Some(Duration::from_mins(5)),
            instances: 10_000,
            memory: None,
        }
    }
}

/// A mistake: where it is in the file, as the position of a byte, and what is wrong.
type Wrong = (usize, String);

impl ServeSettings {
    /// Reads the settings in the user's file.
    pub fn of(user: &User) -> Result<Self, ManifestError> {
        let Some(table) = &user.serve else {
            return Ok(Self::default());
        };
        read(table, user.path()).map_err(|(at, what)| user.error(at, what))
    }
}

fn read(table: &ServeTable, path: &Path) -> Result<ServeSettings, Wrong> {
    let own = ServeSettings::default();
    let address = |key, text: &Option<_>| text.as_ref().map(|text| read_address(key, text));
    let gate = GateSettings {
        hosts: read_all::<Host>("hosts", &table.hosts)?,
        origins: read_all::<Origin>("origins", &table.origins)?,
        plain: table.plain,
        tokens: table.tokens.as_ref().map(|tokens| beside(path, tokens)),
        issuers: read_issuers(&table.jwt, path)?,
        tls: table.tls.as_ref().map(|tls| TlsFiles {
            cert: beside(path, &tls.cert),
            key: beside(path, &tls.key),
            client_ca: tls.client_ca.as_ref().map(|ca| beside(path, ca)),
        }),
    };
    let (limits, usual) = (&table.limits, own.limits);
    let count = |given: Option<NonZeroU32>, usual: u32| given.map_or(usual, Into::into);
    let (pace, memory) = (&limits.bytes_per_second_per_user, &limits.memory);
    let (pace, memory, node) = (pace.as_ref(), memory.as_ref(), table.node.as_ref());
    let read_pace = |size| read_limit("bytes-per-second-per-user", size);
    Ok(ServeSettings {
        listen: address("listen", &table.listen).transpose()?,
        metrics: address("metrics", &table.metrics).transpose()?,
        access_log: table.access_log.as_ref().map(|log| {
            if log.as_os_str() == "-" {
                log.clone()
            } else {
                beside(path, log)
            }
        }),
        path: match &table.path {
            Some(path) => read_name("path", path)?,
            None => own.path,
        },
        node: node.map(|node| read_name("node", node)).transpose()?,
        gate,
        store: read_store(table, path)?,
        limits: ServeLimits {
            connections_per_user: count(limits.connections_per_user, usual.connections_per_user),
            sessions_per_user: count(limits.sessions_per_user, usual.sessions_per_user),
            bytes_per_second_per_user: pace.map(read_pace).transpose()?,
            connections: count(limits.connections, usual.connections),
            turns: limits.turns.map(Into::into),
            resume: limits.resume_seconds.unwrap_or(usual.resume),
            drain: limits.drain_seconds.unwrap_or(usual.drain),
            sleep: match limits.sleep_seconds {
                Some(seconds) => Some(seconds).filter(|seconds| !seconds.is_zero()),
                None => usual.sleep,
            },
            instances: count(limits.instances, usual.instances),
            memory: memory.map(|size| read_size("memory", size)).transpose()?,
        },
        turn_limits: read_turn_limits(limits),
        routes: read_routes(&table.route, path)?,
    })
}

/// Reads the store, and what needs one.
fn read_store(table: &ServeTable, path: &Path) -> Result<Option<StoreSettings>, Wrong> {
    let limits = &table.limits;
    let Some(store) = &table.store else {
        let needs =
            |key: &str, at| Err((at, format!("`{key}` needs a `store`, which counts them")));
        if let Some(prompts) = &limits.prompts_per_hour_per_user {
            return needs("prompts-per-hour-per-user", prompts.span().start);
        }
        if let Some(prompts) = &limits.prompts_per_hour_of_groups {
            return needs("prompts-per-hour-of-groups", prompts.span().start);
        }
        if let Some(bytes) = &limits.bytes_per_hour_per_user {
            return needs("bytes-per-hour-per-user", bytes.span().start);
        }
        return Ok(None);
    };
    let postgres = match &**store.get_ref() {
        "embedded" => None,
        url if url.starts_with("postgres://") || url.starts_with("postgresql://") => {
            let connections = table.store_connections;
            Some(PostgresPlace {
                url: url.to_owned(),
                password: table.store_password.as_ref().map(|file| beside(path, file)),
                authorities: table.store_ca.as_ref().map(|file| beside(path, file)),
                connections: connections.map_or(CONNECTIONS, Into::into),
            })
        }
        // It may have a password in it.
        _ => {
            let what = "`store`: write \"embedded\", or an address as in \"postgres://USER@HOST/DATABASE\"";
            return Err((store.span().start, what.to_owned()));
        }
    };
    let lease = match &limits.lease_seconds {
        None => LEASE,
        Some(seconds) => {
            let lease = Duration::from_secs((*seconds.get_ref()).into());
            if lease < SHORTEST_LEASE {
                let shortest = SHORTEST_LEASE.as_secs();
                let what = format!("`lease-seconds`: its heartbeats need {shortest} s or more");
                return Err((seconds.span().start, what));
            }
            lease
        }
    };
    let agents = table.agent_store.as_ref();
    if let Some(agents) = agents.filter(|agents| agents.get_ref().len() > 64) {
        let what = "`agent-store`: a name has 64 bytes at most";
        return Err((agents.span().start, what.to_owned()));
    }
    Ok(Some(StoreSettings {
        postgres,
        agents: agents.map_or_else(String::new, |agents| agents.get_ref().clone()),
        lease,
        unknown_sessions: table.unknown_sessions,
        budgets: read_budgets(limits, table.budgets)?,
    }))
}

/// Reads how many turns of users and groups run at once.
fn read_turn_limits(limits: &Limits) -> TurnLimits {
    let of_groups = limits.turns_of_groups.iter();
    TurnLimits {
        of_user: limits.turns_per_user.map(|turns| turns.get().into()),
        of_groups: of_groups
            .map(|(group, turns)| (group.clone(), turns.get().into()))
            .collect(),
    }
}

/// Reads what users and groups may use in an hour.
fn read_budgets(limits: &Limits, without_store: ClosedOrOpen) -> Result<Budgets, Wrong> {
    let of_user = limits.prompts_per_hour_per_user.as_ref();
    let of_groups = limits.prompts_per_hour_of_groups.iter();
    let of_groups = of_groups.flat_map(Spanned::get_ref);
    let bytes = limits.bytes_per_hour_per_user.as_ref();
    let read_bytes = |size| read_limit("bytes-per-hour-per-user", size);
    Ok(Budgets {
        prompts_of_user: of_user.map(|prompts| prompts.get_ref().get().into()),
        prompts_of_groups: of_groups
            .map(|(group, prompts)| (group.clone(), prompts.get().into()))
            .collect(),
        bytes_of_user: bytes.map(read_bytes).transpose()?,
        are_open: without_store == ClosedOrOpen::Open,
    })
}

fn read_address(key: &str, text: &Spanned<String>) -> Result<SocketAddr, Wrong> {
    text.get_ref().parse().map_err(|_| {
        let what = format!(
            "`{key}`: {:?} is not an address with a port; write one as in \"127.0.0.1:8600\"",
            text.get_ref()
        );
        (text.span().start, what)
    })
}

fn read_size(key: &str, size: &Spanned<String>) -> Result<u64, Wrong> {
    let read = Quantity::Size.read(size.get_ref());
    read.map_err(|what| (size.span().start, format!("`{key}`: {what}")))
}

/// Reads how many bytes a user may have in a time.
fn read_limit(key: &str, size: &Spanned<String>) -> Result<NonZeroU64, Wrong> {
    NonZeroU64::new(read_size(key, size)?).ok_or_else(|| {
        let what = format!("`{key}`: 0 would block all users; leave it out for no limit");
        (size.span().start, what)
    })
}

/// Reads a name chosen by the operator.
fn read_name<T: FromStr<Err = NameError>>(key: &str, name: &Spanned<String>) -> Result<T, Wrong> {
    let read = name.get_ref().parse();
    read.map_err(|error: NameError| {
        let what = format!("`{key}`: {:?}: {error}", name.get_ref());
        (name.span().start, what)
    })
}

fn read_all<T: FromStr<Err = String>>(
    key: &str,
    texts: &[Spanned<String>],
) -> Result<Vec<T>, Wrong> {
    let read = texts.iter().map(|text| {
        let read = text.get_ref().parse();
        read.map_err(|what| (text.span().start, format!("`{key}`: {what}")))
    });
    read.collect()
}

fn read_issuers(tables: &[Jwt], path: &Path) -> Result<Vec<Issuer>, Wrong> {
    let mut names = HashSet::new();
    let issuers = tables.iter().map(|table| {
        let (at, name) = (table.issuer.span().start, table.issuer.get_ref());
        Issuer::check_name(name).map_err(|what| (at, format!("`issuer`: {what}")))?;
        if !names.insert(name) {
            return Err((at, format!("`issuer`: {name:?} is configured twice")));
        }
        if table.audience.get_ref().is_empty() {
            let what = "`audience`: it must not be empty; write the `aud` of tokens for this server";
            return Err((table.audience.span().start, what.to_owned()));
        }
        let algorithms = match &table.algorithms {
            None => Algorithm::DEFAULT.to_vec(),
            Some(list) if list.get_ref().is_empty() => {
                let what = "`algorithms`: without any, no token can be verified; leave it out for RS256, ES256 and EdDSA";
                return Err((list.span().start, what.to_owned()));
            }
            Some(list) => read_all("algorithms", list.get_ref())?,
        };
        let claim = |claim: &Option<String>, usual: &str| claim.clone().unwrap_or_else(|| usual.to_owned());
        Ok(Issuer {
            issuer: name.clone(),
            audience: table.audience.get_ref().clone(),
            algorithms,
            jwks: read_source(&table.jwks, path)?,
            name_claim: claim(&table.name_claim, "sub"),
            groups_claim: claim(&table.groups_claim, "groups"),
        })
    });
    issuers.collect()
}

/// Reads a URL, or a path relative to the folder of `path`.
fn read_source(jwks: &Spanned<String>, path: &Path) -> Result<JwksSource, Wrong> {
    let text = jwks.get_ref();
    if !text.contains("://") {
        return Ok(JwksSource::File(beside(path, Path::new(text))));
    }
    let url = Url::parse(text).ok();
    if url.is_some_and(|url| is_safe(&url)) {
        Ok(JwksSource::Url(text.clone()))
    } else {
        let what = format!(
            "`jwks`: {text:?} is not an `https:` address; only addresses of this machine may be unencrypted"
        );
        Err((jwks.span().start, what))
    }
}

/// Reads the routes. A route after one for all users is an error, since it would never match.
fn read_routes(tables: &[Spanned<Route>], path: &Path) -> Result<Vec<Route>, Wrong> {
    let mut routes = Vec::<Route>::new();
    for table in tables {
        if routes.last().is_some_and(Route::is_for_all) {
            let what = "`route`: the previous route has neither `users` nor `groups`, and so is for all users; move it to the end";
            return Err((table.span().start, what.to_owned()));
        }
        let table = table.get_ref();
        routes.push(Route {
            manifest: beside(path, &table.manifest),
            ..table.clone()
        });
    }
    Ok(routes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<ServeSettings, String> {
        let user = User::parse(&format!("[serve]\n{text}"), Path::new("/c/config.toml"));
        user.and_then(|user| ServeSettings::of(&user))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn everything_has_a_default() {
        let serve = parse("").unwrap();
        assert_eq!(
            (serve.listen, serve.path, serve.node),
            (None, Endpoint::default(), None)
        );
        assert_eq!(serve.limits, ServeLimits::default());
        assert!(!serve.gate.requires_auth() && serve.routes.is_empty());
        let without = User::parse("", Path::new("/c/config.toml")).unwrap();
        let without = ServeSettings::of(&without).unwrap();
        assert_eq!(without.path.to_string(), "/acp");
    }

    #[test]
    fn a_whole_table_is_read_and_its_paths_are_relative_to_the_file() {
        let serve = parse(
            r#"
            listen = "[::]:443"
            path = "/agents/acp"
            node = "a-1"
            hosts = ["acp.example.com", "10.0.0.7:8443"]
            origins = ["https://app.example.com"]
            plain = true
            tokens = "tokens"
            tls = { cert = "tls/cert.pem", key = "/etc/key.pem", client-ca = "ca.pem" }

            [[serve.jwt]]
            issuer = "https://idp.example"
            audience = "acp"
            jwks = "https://idp.example/jwks"

            [[serve.jwt]]
            issuer = "https://other.example"
            audience = "acp"
            jwks = "jwks.json"
            algorithms = ["PS256"]
            name-claim = "email"
            groups-claim = "roles"

            [serve.limits]
            connections-per-user = 2
            sessions-per-user = 3
            bytes-per-second-per-user = "1 MiB"
            connections = 50
            resume-seconds = 0
            drain-seconds = 5
            sleep-seconds = 0
            instances = 100
            memory = "1 GiB"

            [[serve.route]]
            users = ["alice"]
            groups = ["ops"]
            manifest = "ops.toml"

            [[serve.route]]
            manifest = "all.toml"
            "#,
        )
        .unwrap();
        assert_eq!(serve.listen.unwrap().to_string(), "[::]:443");
        assert_eq!(serve.path.to_string(), "/agents/acp");
        assert_eq!(serve.node.unwrap().to_string(), "a-1");
        let gate = serve.gate;
        assert_eq!(gate.tokens.as_deref(), Some(Path::new("/c/tokens")));
        let tls = gate.tls.unwrap();
        assert_eq!(
            (tls.cert, tls.key),
            ("/c/tls/cert.pem".into(), "/etc/key.pem".into())
        );
        assert_eq!(tls.client_ca, Some("/c/ca.pem".into()));
        let [idp, other] = &gate.issuers[..] else {
            panic!("two issuers")
        };
        assert_eq!(
            idp.jwks,
            JwksSource::Url("https://idp.example/jwks".to_owned())
        );
        assert_eq!(
            (&*idp.name_claim, &idp.algorithms[..]),
            ("sub", &Algorithm::DEFAULT[..])
        );
        assert_eq!(other.jwks, JwksSource::File("/c/jwks.json".into()));
        assert_eq!(
            (&*other.name_claim, &*other.groups_claim),
            ("email", "roles")
        );
        assert_eq!(
            (gate.hosts.len(), gate.origins.len(), gate.plain),
            (2, 1, true)
        );
        assert_eq!(
            serve.limits,
            ServeLimits {
                connections_per_user: 2,
                sessions_per_user: 3,
                bytes_per_second_per_user: NonZeroU64::new(1 << 20),
                connections: 50,
                turns: None,
                resume: Duration::ZERO,
                drain: Duration::from_secs(5),
                sleep: None,
                instances: 100,
                memory: Some(1 << 30),
            }
        );
        let gets = |name: &str, group: &str| {
            let (name, groups) = (name.to_owned(), [group.to_owned()]);
            let mut routes = serve.routes.iter();
            routes
                .find(|route| route.fits(&name, &groups))
                .unwrap()
                .manifest
                .clone()
        };
        assert_eq!(gets("alice", ""), Path::new("/c/ops.toml"));
        assert_eq!(gets("bob", "ops"), Path::new("/c/ops.toml"));
        assert_eq!(gets("bob", "alice"), Path::new("/c/all.toml"));
    }

    #[test]
    fn turns_at_once_are_read_without_a_store() {
        let limits = "[serve.limits]\nturns-per-user = 4\nturns-of-groups = { staff = 40 }";
        let expected = TurnLimits {
            of_user: Some(4),
            of_groups: [("staff".to_owned(), 40)].into(),
        };
        assert_eq!(parse(limits).unwrap().turn_limits, expected);
        let error = parse("[serve.limits]\nturns-of-groups = { staff = 0 }").unwrap_err();
        assert!(error.contains("above 0"), "{error}");
    }

    #[test]
    fn metrics_and_access_log_are_read() {
        let serve = parse("metrics = \"127.0.0.1:9600\"\naccess-log = \"log\"").unwrap();
        assert_eq!(serve.metrics.unwrap().port(), 9600);
        assert_eq!(serve.access_log, Some("/c/log".into()));
        let serve = parse("access-log = \"-\"").unwrap();
        assert_eq!(serve.access_log, Some("-".into()));
    }

    #[test]
    fn a_store_is_read_with_what_belongs_to_it() {
        let serve = parse("store = \"embedded\"").unwrap();
        let store = serve.store.unwrap();
        assert_eq!((store.postgres, store.lease), (None, LEASE));
        assert_eq!(store.unknown_sessions, UnknownSessions::Refuse);
        assert!(!store.budgets.are_open);
        let serve = parse(
            r#"
            store = "postgres://chain@db.example/chain"
            store-password = "password"
            store-ca = "/etc/ca.pem"
            store-connections = 2
            agent-store = "one"
            unknown-sessions = "admit"
            budgets = "open"

            [serve.limits]
            lease-seconds = 30
            prompts-per-hour-per-user = 100
            prompts-per-hour-of-groups = { staff = 1000 }
            bytes-per-hour-per-user = "1 MiB"
            turns = 50
            "#,
        )
        .unwrap();
        let store = serve.store.unwrap();
        let postgres = store.postgres.unwrap();
        assert_eq!(postgres.password, Some("/c/password".into()));
        assert_eq!(postgres.authorities, Some("/etc/ca.pem".into()));
        assert_eq!((postgres.connections, &*store.agents), (2, "one"));
        assert_eq!(store.lease, Duration::from_secs(30));
        assert_eq!(serve.limits.turns, Some(50));
        let budgets = &store.budgets;
        assert_eq!(budgets.prompts_of_user, Some(100));
        assert_eq!(budgets.prompts_of_groups["staff"], 1000);
        assert_eq!(budgets.bytes_of_user, NonZeroU64::new(1 << 20));
        assert_eq!(store.unknown_sessions, UnknownSessions::Admit);
        assert!(budgets.are_open);
        for (text, told) in [
            ("store = \"mysql://a:secret@b\"", ":2:9: `store`: write"),
            (
                "store = \"embedded\"\nbudgets = \"ajar\"",
                "`closed`, `open`",
            ),
            (
                "store = \"embedded\"\n[serve.limits]\nlease-seconds = 5",
                ":4:17: `lease-seconds`",
            ),
            (
                "[serve.limits]\nprompts-per-hour-per-user = 5",
                "needs a `store`",
            ),
            (
                "[serve.limits]\nprompts-per-hour-of-groups = { staff = 5 }",
                "`prompts-per-hour-of-groups` needs a `store`",
            ),
            (
                "store = \"embedded\"\n[serve.limits]\nbytes-per-hour-per-user = \"0 B\"",
                "`bytes-per-hour-per-user`: 0 would block",
            ),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(told), "{error}");
        }
    }

    #[test]
    fn errors_have_their_place_and_a_correction() {
        let jwt = |line: &str| {
            let mut table = vec![
                "[[serve.jwt]]",
                "issuer = \"https://i.example\"",
                "audience = \"a\"",
                "jwks = \"j\"",
            ];
            let key = line.split(' ').next().unwrap();
            table.retain(|other| !other.starts_with(key));
            table.push(line);
            table.join("\n")
        };
        for (text, told) in [
            (
                "lisen = \"127.0.0.1:1\"".to_owned(),
                "config.toml:2:1: unknown key `lisen`; did you mean `listen`?",
            ),
            (
                "listen = \"localhost\"".to_owned(),
                ":2:10: `listen`: \"localhost\" is not an address with a port",
            ),
            (
                "metrics = \"9600\"".to_owned(),
                ":2:11: `metrics`: \"9600\" is not an address with a port",
            ),
            (
                "[serve.limits]\nbytes-per-second-per-user = \"0 B\"".to_owned(),
                ":3:29: `bytes-per-second-per-user`: ",
            ),
            (
                "path = \"acp\"".to_owned(),
                ":2:8: `path`: \"acp\": a path begins with `/`",
            ),
            ("path = \"/a?b\"".to_owned(), "a path begins with"),
            (
                "node = \"a;b\"".to_owned(),
                "`node`: \"a;b\": a node's name has",
            ),
            (
                "hosts = [\"https://a\"]".to_owned(),
                ":2:10: `hosts`: \"https://a\" is not a host name",
            ),
            (
                "origins = [\"*\"]".to_owned(),
                "`origins`: \"*\" is not an origin",
            ),
            (
                "tls = { cert = \"c\" }".to_owned(),
                "the key `key` is missing",
            ),
            (
                "tls = { cert = \"c\", key = \"k\", ca = \"a\" }".to_owned(),
                "unknown key `ca`",
            ),
            (
                "[serve.limits]\nconnections = 0".to_owned(),
                "expected a whole number above 0",
            ),
            ("[serve.limits]\nresume-seconds = -1".to_owned(), ":3:18"),
            (
                "[serve.limits]\nmemory = \"much\"".to_owned(),
                ":3:10: `memory`: \"much\" is not a size; write a number with B",
            ),
            (
                "[serve.limits]\nconections = 1".to_owned(),
                "did you mean `connections`?",
            ),
            (
                "[[serve.route]]\nusers = [\"a\"]".to_owned(),
                "the key `manifest` is missing",
            ),
            (
                "[[serve.route]]\nmanifest = \"a\"\n[[serve.route]]\nmanifest = \"b\"".to_owned(),
                ":4:1: `route`: the previous route",
            ),
            (
                jwt("algorithms = [\"HS256\"]"),
                ":6:15: `algorithms`: \"HS256\" cannot be used",
            ),
            (jwt("algorithms = [\"none\"]"), "\"none\" cannot be used"),
            (jwt("algorithms = []"), "without any, no token"),
            (
                jwt("jwks = \"http://idp.example/\""),
                "is not an `https:` address",
            ),
            (
                jwt("issuer = \"a#b\""),
                "`issuer`: the name of an issuer has no `#`",
            ),
            (jwt("issuer = \"certificate\""), "users with certificates"),
            (jwt("audience = \"\""), "`audience`"),
            (
                [jwt("name-claim = \"a\""), jwt("name-claim = \"b\"")].join("\n"),
                "is configured twice",
            ),
        ] {
            let error = parse(&text).unwrap_err();
            assert!(error.contains(told), "{text}\n{error}\nlacks\n{told}");
        }
        assert!(parse(&jwt("jwks = \"http://127.0.0.1:9/jwks\"")).is_ok());
    }
}
