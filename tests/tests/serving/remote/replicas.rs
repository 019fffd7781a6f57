//! Replicas with one store: who owns a session, which of them serves it, and what becomes of it when one ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::SystemTime;

use acp_chain_postgres::Postgres;
use acp_chain_store::{
    Answer, Call, Embedded, Holder, Postgres as PostgresStore, PostgresPlace, Store,
};
use acp_chain_tests::host;
use acp_chain_tests::link::Link;
use acp_chain_tests::postgres::{start_encrypted_postgres, start_postgres};
use acp_chain_tests::wire::in_time;
use futures_util::{SinkExt, StreamExt};
use reqwest::header::HeaderValue;
use reqwest::{Method, RequestBuilder, Response};
use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, client_async};

use super::served::{AGENT, ServerProcess, Stream, initialize, posted, prompt};

/// A key of a prompt that counts at all replicas.
const KEY: &str = "a-key-of-sixteen-bytes";

/// Replicas of one store, and the tokens of two users.
struct World {
    folder: TempDir,
    ann: String,
    bob: String,
}

/// A connection of a user.
struct Client<'s> {
    served: &'s ServerProcess,
    token: String,
    id: HeaderValue,
}

impl World {
    async fn new(settings: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        configure(&folder.path().join("config"), settings);
        let tokens = folder.path().join("tokens");
        Self {
            ann: host::token(&tokens, "ann", &[]).await,
            bob: host::token(&tokens, "bob", &[]).await,
            folder,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self) -> tokio::process::Command {
        let mut command = host::acp_chain("serve");
        command
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_DATA_HOME", self.path("data"));
        command
    }

    /// Makes the tables of the store.
    async fn migrate(&self) {
        let mut command = self.command();
        let output = in_time("its end", command.arg("--migrate").output())
            .await
            .unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    /// A replica of this name.
    async fn replica(&self, name: &str) -> ServerProcess {
        self.replica_with(name, &[AGENT]).await
    }

    /// A replica with this agent.
    async fn replica_with(&self, name: &str, agent: &[&str]) -> ServerProcess {
        ServerProcess::by(&mut self.serving(name, agent)).await
    }

    /// The command of a replica.
    fn serving(&self, name: &str, agent: &[&str]) -> tokio::process::Command {
        let mut command = self.command();
        command
            .args(["--listen", "127.0.0.1:0", "--node", name, "--tokens"])
            .arg(self.path("tokens"))
            .arg("--")
            .args(agent);
        command
    }

    /// The command of a replica that has settings of its own.
    fn serving_by(&self, settings: &str, name: &str, agent: &[&str]) -> tokio::process::Command {
        let config = self.path(&format!("config-{name}"));
        configure(&config, settings);
        let mut command = self.serving(name, agent);
        command.env("XDG_CONFIG_HOME", config);
        command
    }

    /// Ends a replica's generation in the store, as the time of its lease does.
    async fn end_lease(&self, place: &str, replica: &str) {
        if place == "embedded" {
            let path = self.path("data/acp-chain/state/serve.db");
            return end_lease(Embedded::open(&path).unwrap(), replica).await;
        }
        let place = PostgresPlace {
            url: place.to_owned(),
            password: None,
            authorities: None,
            connections: 1,
        };
        end_lease(PostgresStore::new(&place).unwrap(), replica).await;
    }
}

/// Writes the settings of a program into its folder for them.
fn configure(folder: &Path, settings: &str) {
    let config = folder.join("acp-chain");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("config.toml"), settings).unwrap();
}

async fn end_lease(mut store: impl Store, replica: &str) {
    let Answer::Replicas(replicas) = store.carry_out(&Call::Replicas).await.unwrap() else {
        panic!("they are listed")
    };
    let found = replicas.iter().find(|found| found.name == replica);
    let holder = Holder {
        replica: replica.to_owned(),
        generation: found.unwrap().generation,
    };
    store.carry_out(&Call::Leave { holder }).await.unwrap();
}

impl<'s> Client<'s> {
    async fn of(served: &'s ServerProcess, token: &str) -> Self {
        loop {
            let begun = begin(served, token).await;
            // A replica that has just lost its leases is about to begin again.
            if begun.status() == 503 {
                continue;
            }
            assert_eq!(begun.status(), 200);
            break Self {
                id: begun.headers()["acp-connection-id"].clone(),
                token: token.to_owned(),
                served,
            };
        }
    }

    fn asks(&self, method: Method) -> RequestBuilder {
        let asks = self.served.asks(method).bearer_auth(&self.token);
        asks.header("acp-connection-id", &self.id)
    }

    async fn says(&self, message: &Value) -> Response {
        posted(self.asks(Method::POST), message).await
    }

    async fn hears(&self) -> Stream {
        let asks = self.asks(Method::GET).header("accept", "text/event-stream");
        Stream::of(in_time("a stream", asks.send()).await.unwrap())
    }

    /// A new session, whose name arrives on this stream. While another connection has one of its name, the agent begins
    /// another one.
    async fn session(&self, stream: &mut Stream) -> String {
        for id in 100.. {
            let params = json!({"cwd": "/", "mcpServers": []});
            let asked =
                json!({"jsonrpc": "2.0", "id": id, "method": "session/new", "params": params});
            let said = self.says(&asked).await;
            // A replica that has just lost its leases is about to begin again.
            if said.status() == 503 {
                continue;
            }
            assert_eq!(said.status(), 202);
            let answer = stream.next().await.unwrap();
            if let Some(session) = answer["result"]["sessionId"].as_str() {
                return session.to_owned();
            }
            let told = answer["error"]["message"].as_str().unwrap();
            assert!(told.contains("a name of its own"), "{answer}");
        }
        unreachable!("ids do not end")
    }

    async fn load(&self, session: &str) -> Response {
        let params = json!({"sessionId": session, "cwd": "/", "mcpServers": []});
        self.says(&json!({"jsonrpc": "2.0", "id": 2, "method": "session/load", "params": params}))
            .await
    }

    /// Loads a session as soon as another connection has ended.
    async fn load_in_time(&self, session: &str) {
        loop {
            let loaded = self.load(session).await;
            if loaded.status() == 202 {
                break;
            }
            assert_eq!(loaded.status(), 503);
            assert!(seconds(&loaded) > 0);
        }
    }

    async fn delete(&self) {
        let deleted = in_time("an answer", self.asks(Method::DELETE).send());
        assert_eq!(deleted.await.unwrap().status(), 202);
    }

    async fn prompt(&self, session: &str, id: u64, words: &str, key: &str) -> Response {
        let asks = self.asks(Method::POST).header("idempotency-key", key);
        posted(asks, &prompt(session, id, words)).await
    }
}

/// The answer to the first message of a connection.
async fn begin(served: &ServerProcess, token: &str) -> Response {
    let asks = served.asks(Method::POST).bearer_auth(token);
    posted(asks, &initialize()).await
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn seconds(response: &Response) -> u64 {
    let again = response.headers()["retry-after"].to_str().unwrap();
    again.parse().unwrap()
}

/// Plays the scene in which a replica is killed: its session goes on at the other one.
async fn failover(store: &str) {
    // No lease is over by itself during the test.
    let settings = format!("[serve]\nstore = {store:?}\n[serve.limits]\nlease-seconds = 600\n");
    let world = World::new(&settings).await;
    world.migrate().await;
    let (one, other) = (world.replica("one").await, world.replica("other").await);
    let ann = Client::of(&one, &world.ann).await;
    let mut stream = ann.hears().await;
    let session = ann.session(&mut stream).await;
    let sent = ann.prompt(&session, 3, "echo begun\nnever", KEY).await;
    assert_eq!(sent.status(), 202);

    let bob = Client::of(&other, &world.bob).await;
    assert_eq!(bob.load(&session).await.status(), 404);
    assert_eq!(bob.load("unknown").await.status(), 404);
    let ann = Client::of(&other, &world.ann).await;
    let mut stream = ann.hears().await;
    let held = ann.load(&session).await;
    assert_eq!(held.status(), 503);
    assert!((1..=600).contains(&seconds(&held)));

    one.signal(Signal::KILL);
    // It is not known yet that it is dead.
    assert_eq!(ann.load(&session).await.status(), 503);
    world.end_lease(store, "one").await;
    assert_eq!(ann.load(&session).await.status(), 202);
    assert_eq!(stream.next().await.unwrap()["id"], 2);
    let repeated = ann.prompt(&session, 4, "echo begun\nnever", KEY).await;
    assert_eq!(repeated.status(), 409);
    let told = repeated.text().await.unwrap();
    assert!(told.contains("was not sent again"), "{told}");
    let anew = ann
        .prompt(&session, 5, "echo again", "another-key-of-that-length")
        .await;
    assert_eq!(anew.status(), 202);
    let mut stream = {
        let asks = ann.asks(Method::GET).header("accept", "text/event-stream");
        Stream::of(
            asks.header("acp-session-id", &session)
                .send()
                .await
                .unwrap(),
        )
    };
    assert_eq!(stream.turn(5).await, ["again"]);
    let repeated = ann
        .prompt(&session, 6, "echo again", "another-key-of-that-length")
        .await;
    // The same connection has it already.
    assert_eq!(repeated.status(), 202);
    assert_eq!(bob.load(&session).await.status(), 404);
}

#[tokio::test]
async fn a_session_goes_on_at_another_replica_in_a_file() {
    failover("embedded").await;
}

#[tokio::test]
async fn a_session_goes_on_at_another_replica_in_postgres() {
    let server = start_postgres();
    failover(&server.url()).await;
}

#[tokio::test]
async fn a_replica_that_is_asked_to_stop_leaves_its_sessions_to_others_at_once() {
    let world = World::new("[serve]\nstore = \"embedded\"\n").await;
    let (one, other) = (world.replica("one").await, world.replica("other").await);
    let ann = Client::of(&one, &world.ann).await;
    let mut stream = ann.hears().await;
    let session = ann.session(&mut stream).await;
    one.signal(Signal::TERM);
    assert_eq!(stream.next().await, None);
    assert!(one.ended().await.success());
    let ann = Client::of(&other, &world.ann).await;
    assert_eq!(ann.load(&session).await.status(), 202);
    // A name is free again, too.
    world.replica("one").await;
}

#[tokio::test]
async fn a_replica_that_was_stopped_has_no_agent_and_passes_nothing_on_when_it_wakes() {
    let settings = "[serve]\nstore = \"embedded\"\n[serve.limits]\nlease-seconds = 12\n";
    let world = World::new(settings).await;
    // Each agent has a pipe open, which ends with the last of them.
    let pipe = world.path("agents");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let script = r#"exec "$1" 9<>"$0""#;
    let agent = ["sh", "-c", script, text(&pipe), AGENT];
    let one = world.replica_with("one", &agent).await;
    let other = world.replica("other").await;
    let (sender, ended) = oneshot::channel();
    thread::spawn({
        let pipe = pipe.clone();
        // Nobody may wait for it any longer.
        move || sender.send(fs::read(pipe)).ok()
    });
    let before = Client::of(&one, &world.ann).await;
    let mut stream = before.hears().await;
    let session = before.session(&mut stream).await;
    one.signal(Signal::STOP);
    let ann = Client::of(&other, &world.ann).await;
    // Its agent ends, though the server does nothing: some seconds before its lease is over.
    in_time("the end of its agent", ended)
        .await
        .unwrap()
        .unwrap();
    world.end_lease("embedded", "one").await;
    assert_eq!(ann.load(&session).await.status(), 202);
    one.signal(Signal::CONT);
    let status = before
        .says(&prompt(&session, 3, "echo late"))
        .await
        .status();
    // Its connection ends, or has ended already.
    assert!([503, 404].contains(&status.as_u16()), "{status}");
    assert_eq!(stream.next().await, None);
    // It serves again, as a replica that has just begun.
    let bob = Client::of(&one, &world.bob).await;
    bob.session(&mut bob.hears().await).await;
}

#[tokio::test]
async fn what_a_server_knows_goes_on_while_the_database_is_away() {
    what_a_server_knows_goes_on(Postgres::end, Postgres::start_again).await;
}

#[tokio::test]
async fn what_a_server_knows_goes_on_while_the_database_is_stopped() {
    let stops = |server: &mut Postgres| server.freeze(true);
    what_a_server_knows_goes_on(stops, |server| server.freeze(false)).await;
}

async fn what_a_server_knows_goes_on(
    ends: impl Fn(&mut Postgres),
    goes_on: impl Fn(&mut Postgres),
) {
    let mut server = start_postgres();
    let settings = format!(
        "[serve]\nstore = {:?}\n[serve.limits]\nlease-seconds = 600\n",
        server.url()
    );
    let world = World::new(&settings).await;
    world.migrate().await;
    let one = world.replica("one").await;
    let ann = Client::of(&one, &world.ann).await;
    let mut stream = ann.hears().await;
    let session = ann.session(&mut stream).await;
    ends(&mut server);
    assert_eq!(one.beside("/readyz").await, 200);
    let sent = ann.says(&prompt(&session, 3, "echo still here")).await;
    assert_eq!(sent.status(), 202);
    let mut texts = {
        let asks = ann.asks(Method::GET).header("accept", "text/event-stream");
        Stream::of(
            asks.header("acp-session-id", &session)
                .send()
                .await
                .unwrap(),
        )
    };
    assert_eq!(texts.turn(3).await, ["still here"]);
    let refused = ann.load("another").await;
    assert_eq!(refused.status(), 503);
    assert!(seconds(&refused) > 0);
    let keyed = ann.prompt(&session, 4, "echo once", KEY).await;
    assert_eq!(keyed.status(), 503);
    // How many connections the user has cannot be known.
    let refused = begin(&one, &world.bob).await;
    assert_eq!(refused.status(), 503);
    assert!(seconds(&refused) > 0);
    goes_on(&mut server);
    let keyed = ann.prompt(&session, 4, "echo once", KEY).await;
    assert_eq!(keyed.status(), 202);
    assert_eq!(texts.turn(4).await, ["once"]);
}

/// An agent that writes its id into a file.
const NAMED: &str = r#"echo $$ >> "$0"; exec "$1""#;

/// Plays the scene in which a replica is parted from the database: it ends its agents before another one serves.
async fn partition(parts: impl Fn(&Link)) {
    let server = start_postgres();
    let link = Link::to(server.socket()).await;
    let limits = "[serve.limits]\nlease-seconds = 10\n";
    let settings = |url: &str| format!("[serve]\nstore = {url:?}\n{limits}");
    let world = World::new(&settings(&server.url())).await;
    world.migrate().await;
    let over_link = settings(&format!("postgres://chain@{}/postgres", link.address()));
    let ids = world.path("ids");
    let agent = ["sh", "-c", NAMED, text(&ids), AGENT];
    let one = ServerProcess::by(&mut world.serving_by(&over_link, "one", &agent)).await;
    let other = world.replica("other").await;
    let before = Client::of(&one, &world.ann).await;
    let mut stream = before.hears().await;
    let session = before.session(&mut stream).await;
    let sent = before.prompt(&session, 3, "echo begun\nnever", KEY).await;
    assert_eq!(sent.status(), 202);
    parts(&link);
    let ann = Client::of(&other, &world.ann).await;
    let mut loaded = ann.hears().await;
    ann.load_in_time(&session).await;
    let agents = fs::read_to_string(&ids).unwrap();
    for id in agents.lines() {
        assert!(!runs(id), "the agent {id} still runs");
    }
    assert_eq!(stream.next().await, None);
    assert_eq!(loaded.next().await.unwrap()["id"], 2);
    let repeated = ann.prompt(&session, 4, "echo begun\nnever", KEY).await;
    assert_eq!(repeated.status(), 409);
    link.mend();
    // It begins again, and what it had is the other's.
    let bob = Client::of(&one, &world.bob).await;
    bob.session(&mut bob.hears().await).await;
    let late = Client::of(&one, &world.ann).await;
    assert_eq!(late.load(&session).await.status(), 503);
}

/// Whether a process runs: one that has ended may still be listed.
fn runs(id: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    // Behind the name, which is in parentheses.
    let state = stat.rsplit(')').next().unwrap_or_default();
    !matches!(state.trim_start().chars().next(), None | Some('Z' | 'X'))
}

#[tokio::test]
async fn a_replica_whose_network_stalls_has_ended_its_agents_before_another_serves() {
    partition(Link::stall).await;
}

#[tokio::test]
async fn a_replica_whose_network_breaks_has_ended_its_agents_before_another_serves() {
    partition(Link::cut).await;
}

#[tokio::test]
async fn replicas_whose_clocks_differ_by_minutes_keep_their_leases() {
    let server = start_postgres();
    let url = server.url();
    let settings = |name: &str| {
        format!(
            "[serve]\nstore = {url:?}\naccess-log = \"{name}.log\"\n[serve.limits]\nlease-seconds = 10\n"
        )
    };
    let world = World::new(&settings("any")).await;
    world.migrate().await;
    let mut replicas = Vec::new();
    for (name, offset) in [("slow", "-20m"), ("fast", "+20m")] {
        let mut command = world.serving_by(&settings(name), name, &[AGENT]);
        command
            .env("LD_PRELOAD", faked_time())
            .env("FAKETIME", offset)
            // A clock that is wrong goes on like any other.
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        replicas.push(ServerProcess::by(&mut command).await);
    }
    let ann = Client::of(&replicas[0], &world.ann).await;
    let session = ann.session(&mut ann.hears().await).await;
    let elsewhere = Client::of(&replicas[1], &world.ann).await;
    // For longer than a lease goes on without heartbeats.
    let mut store = PostgresStore::new(&PostgresPlace {
        url: url.clone(),
        password: None,
        authorities: None,
        connections: 1,
    })
    .unwrap();
    loop {
        let Answer::Replicas(listed) = store.carry_out(&Call::Replicas).await.unwrap() else {
            panic!("they are listed")
        };
        assert!(listed.len() == 2 && listed.iter().all(|one| one.left > 0));
        let held = elsewhere.load(&session).await;
        assert_eq!(held.status(), 503);
        assert!(seconds(&held) <= 10);
        if listed.iter().all(|one| one.beaten > one.started + 11_000) {
            break;
        }
    }
    let sent = ann.says(&prompt(&session, 3, "echo still here")).await;
    assert_eq!(sent.status(), 202);
    // Their clocks are as far apart as they were told.
    let slow = logged(&world.path("config-slow/acp-chain/slow.log")).await;
    let fast = logged(&world.path("config-fast/acp-chain/fast.log")).await;
    let apart = fast - slow;
    assert!((2000.0..2800.0).contains(&apart), "{apart}");
}

/// The library that shows a program another time.
fn faked_time() -> PathBuf {
    let folders = fs::read_dir(host::peer("debian/faketime/root/usr/lib")).unwrap();
    let mut libraries =
        folders.map(|folder| folder.unwrap().path().join("faketime/libfaketimeMT.so.1"));
    libraries.find(|library| library.exists()).unwrap()
}

/// The time of the first line of an access log, once there is one.
async fn logged(path: &Path) -> f64 {
    let line = async {
        loop {
            let text = fs::read_to_string(path).unwrap_or_default();
            match text.split_once('\n') {
                Some((line, _)) => break line.to_owned(),
                None => tokio::task::yield_now().await,
            }
        }
    };
    let line: Value = serde_json::from_str(&in_time("a line", line).await).unwrap();
    line["time"].as_f64().unwrap()
}

#[tokio::test]
async fn replicas_share_an_encrypted_database() {
    let certified = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let key = certified.signing_key.serialize_pem();
    let server = start_encrypted_postgres(&certified.cert.pem(), &key);
    let port = server.port();
    let url = format!("postgres://chain@127.0.0.1:{port}/postgres?sslmode=verify-full");
    let settings = format!("[serve]\nstore = {url:?}\nstore-ca = \"ca.pem\"\n");
    let world = World::new(&settings).await;
    let authority = world.path("config/acp-chain/ca.pem");
    fs::write(&authority, certified.cert.pem()).unwrap();
    world.migrate().await;
    let (one, other) = (world.replica("one").await, world.replica("other").await);
    let ann = Client::of(&one, &world.ann).await;
    let session = ann.session(&mut ann.hears().await).await;
    let bob = Client::of(&other, &world.bob).await;
    assert_eq!(bob.load(&session).await.status(), 404);
    let another = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    fs::write(&authority, another.cert.pem()).unwrap();
    let told = refusal(&world).await;
    assert!(told.contains("certificate"), "{told}");
}

#[tokio::test]
async fn prompts_are_counted_at_all_replicas() {
    loop {
        let begun = hour();
        let found = prompts_at_two_replicas().await;
        // Another hour has other prompts.
        if hour() == begun {
            break assert_eq!(found, [202, 429, 429, 429]);
        }
    }
}

fn hour() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.unwrap().as_secs() / 3600
}

/// The statuses of two prompts at each of two replicas, of which one is allowed in an hour.
async fn prompts_at_two_replicas() -> Vec<u16> {
    let settings = "[serve]\nstore = \"embedded\"\n[serve.limits]\nprompts-per-hour-per-user = 1\n";
    let world = World::new(settings).await;
    let (one, other) = (world.replica("one").await, world.replica("other").await);
    let mut statuses = Vec::new();
    for served in [&one, &other] {
        let ann = Client::of(served, &world.ann).await;
        let mut stream = ann.hears().await;
        let session = ann.session(&mut stream).await;
        for id in [3, 4] {
            let sent = ann.says(&prompt(&session, id, "echo words")).await;
            statuses.push(sent.status().as_u16());
        }
    }
    statuses
}

#[tokio::test]
async fn bytes_are_counted() {
    loop {
        let begun = hour();
        let settings =
            "[serve]\nstore = \"embedded\"\n[serve.limits]\nbytes-per-hour-per-user = \"2 KiB\"\n";
        let world = World::new(settings).await;
        let one = world.replica("one").await;
        let ann = Client::of(&one, &world.ann).await;
        let session = ann.session(&mut ann.hears().await).await;
        let words = format!("echo {}", "x".repeat(1024));
        let mut statuses = Vec::new();
        for id in [3, 4] {
            let sent = ann.says(&prompt(&session, id, &words)).await;
            assert!(sent.status() == 202 || seconds(&sent) <= 3600);
            statuses.push(sent.status().as_u16());
        }
        if hour() == begun {
            break assert_eq!(statuses, [202, 429]);
        }
    }
}

/// Plays the scene in which users and a group have as many connections and turns as may be, and a replica is killed.
async fn shares(store: &str) {
    // No lease is over by itself during the test.
    let settings = format!(
        "[serve]\nstore = {store:?}\n[serve.limits]\nlease-seconds = 600\nconnections-per-user = 2\n\
         turns-per-user = 1\nturns-of-groups = {{ staff = 1 }}\n"
    );
    let world = World::new(&settings).await;
    world.migrate().await;
    let tokens = world.path("tokens");
    let of_staff = async |name: &str| host::token(&tokens, name, &["--group", "staff"]).await;
    let (cid_token, dan_token) = (of_staff("cid").await, of_staff("dan").await);
    let (one, other) = (world.replica("one").await, world.replica("other").await);
    let first = Client::of(&one, &world.ann).await;
    let second = Client::of(&other, &world.ann).await;
    for served in [&one, &other] {
        let refused = begin(served, &world.ann).await;
        assert_eq!(refused.status(), 429);
        assert!(seconds(&refused) > 0);
    }
    let cid = Client::of(&one, &cid_token).await;
    let dan = Client::of(&other, &dan_token).await;
    for running in [&first, &cid] {
        let session = running.session(&mut running.hears().await).await;
        let begun = running.says(&prompt(&session, 3, "never")).await;
        assert_eq!(begun.status(), 202);
    }
    // Ann has her turn, and the group has its.
    let of_ann = second.session(&mut second.hears().await).await;
    let of_dan = dan.session(&mut dan.hears().await).await;
    for (client, session) in [(&second, &of_ann), (&dan, &of_dan)] {
        let refused = client.prompt(session, 3, "echo words", KEY).await;
        assert_eq!(refused.status(), 429);
        assert!(seconds(&refused) > 0);
        let told = refused.text().await.unwrap();
        assert!(told.contains("you or your group"), "{told}");
    }
    // Others have theirs.
    let bob = Client::of(&other, &world.bob).await;
    let session = bob.session(&mut bob.hears().await).await;
    let sent = bob.says(&prompt(&session, 3, "never")).await;
    assert_eq!(sent.status(), 202);

    one.signal(Signal::KILL);
    // It is not known yet that it is dead.
    let refused = second.prompt(&of_ann, 3, "echo words", KEY).await;
    assert_eq!(refused.status(), 429);
    world.end_lease(store, "one").await;
    // With the same keys: what was refused was not sent.
    for (client, session) in [(&second, &of_ann), (&dan, &of_dan)] {
        let sent = client.prompt(session, 3, "echo words", KEY).await;
        assert_eq!(sent.status(), 202);
    }
    // A turn that ends makes room for another, and so does a connection.
    loop {
        let sent = second.says(&prompt(&of_ann, 4, "echo words")).await;
        if sent.status() == 202 {
            break;
        }
        assert_eq!(sent.status(), 429);
    }
    let third = Client::of(&other, &world.ann).await;
    assert_eq!(begin(&other, &world.ann).await.status(), 429);
    third.delete().await;
    loop {
        let begun = begin(&other, &world.ann).await;
        if begun.status() == 200 {
            break;
        }
        assert_eq!(begun.status(), 429);
    }
}

#[tokio::test]
async fn connections_and_turns_are_limited_over_all_replicas_in_a_file() {
    shares("embedded").await;
}

#[tokio::test]
async fn connections_and_turns_are_limited_over_all_replicas_in_postgres() {
    let server = start_postgres();
    shares(&server.url()).await;
}

#[tokio::test]
async fn limits_that_are_open_are_those_of_each_replica_while_the_database_is_away() {
    let mut server = start_postgres();
    let settings = format!(
        "[serve]\nstore = {:?}\nbudgets = \"open\"\n[serve.limits]\nlease-seconds = 600\nturns-per-user = 1\n",
        server.url()
    );
    let world = World::new(&settings).await;
    world.migrate().await;
    let one = world.replica("one").await;
    let ann = Client::of(&one, &world.ann).await;
    let session = ann.session(&mut ann.hears().await).await;
    server.end();
    let sent = ann.says(&prompt(&session, 3, "never")).await;
    assert_eq!(sent.status(), 202);
    let refused = ann.says(&prompt(&session, 4, "echo words")).await;
    assert_eq!(refused.status(), 429);
    assert_eq!(begin(&one, &world.bob).await.status(), 200);
}

#[tokio::test]
async fn without_a_store_a_user_has_so_many_turns_at_the_server() {
    let world = World::new("[serve.limits]\nturns-per-user = 1\n").await;
    let one = world.replica("one").await;
    let (first, second, bob) = (
        Client::of(&one, &world.ann).await,
        Client::of(&one, &world.ann).await,
        Client::of(&one, &world.bob).await,
    );
    let mut sessions = Vec::new();
    for client in [&first, &second, &bob] {
        sessions.push(client.session(&mut client.hears().await).await);
    }
    for (client, session, status) in [
        (&first, &sessions[0], 202),
        (&second, &sessions[1], 429),
        (&bob, &sessions[2], 202),
    ] {
        let said = client.says(&prompt(session, 3, "never")).await;
        assert_eq!(said.status(), status);
    }
    first.delete().await;
    loop {
        let sent = second.prompt(&sessions[1], 3, "echo words", KEY).await;
        if sent.status() == 202 {
            break;
        }
        assert_eq!(sent.status(), 429);
    }
}

#[tokio::test]
async fn a_turn_beyond_the_limit_waits_for_another_to_end() {
    let world = World::new("[serve.limits]\nturns = 1\n").await;
    let one = world.replica("one").await;
    let ann = Client::of(&one, &world.ann).await;
    let bob = Client::of(&one, &world.bob).await;
    let of_ann = ann.session(&mut ann.hears().await).await;
    let of_bob = bob.session(&mut bob.hears().await).await;
    let begun = ann.says(&prompt(&of_ann, 3, "never")).await;
    assert_eq!(begun.status(), 202);
    let refused = bob.prompt(&of_bob, 3, "echo words", KEY).await;
    assert_eq!(refused.status(), 429);
    assert!(seconds(&refused) > 0);
    ann.delete().await;
    // With the same key: what was refused was not sent.
    loop {
        let sent = bob.prompt(&of_bob, 3, "echo words", KEY).await;
        if sent.status() == 202 {
            break;
        }
        assert_eq!(sent.status(), 429);
    }
}

#[tokio::test]
async fn who_had_a_turn_at_one_replica_lets_others_pass_at_another() {
    let world = World::new("[serve]\nstore = \"embedded\"\n[serve.limits]\nturns = 1\n").await;
    let (one, other) = (world.replica("one").await, world.replica("other").await);
    // A turn of Ann's runs at each replica.
    let (first, second) = (
        Client::of(&one, &world.ann).await,
        Client::of(&other, &world.ann).await,
    );
    for running in [&first, &second] {
        let session = running.session(&mut running.hears().await).await;
        let begun = running.says(&prompt(&session, 3, "never")).await;
        assert_eq!(begun.status(), 202);
    }
    // Bob stands in both lines, and Ann behind him in one of them.
    let (bob_at_one, bob_at_other, ann) = (
        Client::of(&one, &world.bob).await,
        Client::of(&other, &world.bob).await,
        Client::of(&other, &world.ann).await,
    );
    let mut asking = Vec::new();
    for client in [&bob_at_one, &bob_at_other, &ann] {
        let session = client.session(&mut client.hears().await).await;
        asking.push((client, session));
    }
    let ask = async |which: usize| {
        let (client, session) = &asking[which];
        let said = client.says(&prompt(session, 3, "echo words")).await;
        assert!([202, 429].contains(&said.status().as_u16()), "{said:?}");
        said.status() == 202
    };
    for which in 0..3 {
        assert!(!ask(which).await);
    }
    first.delete().await;
    // All come again as they are told, so that they keep their places.
    while !ask(0).await {
        assert!(!ask(1).await && !ask(2).await);
    }
    second.delete().await;
    loop {
        // He comes first whenever there is room, and has had a turn since he came.
        assert!(!ask(1).await);
        if ask(2).await {
            break;
        }
    }
    while !ask(1).await {}
}

#[tokio::test]
async fn a_ticket_of_one_replica_opens_a_websocket_at_another_once() {
    let mut server = start_postgres();
    let world = World::new(&format!("[serve]\nstore = {:?}\n", server.url())).await;
    world.migrate().await;
    let (one, other) = (world.replica("one").await, world.replica("other").await);
    let issue = async || {
        let url = format!("{}/ticket", one.url);
        let asks = acp_chain_tests::web::client().post(url);
        let asked = asks.bearer_auth(&world.ann).send();
        in_time("a ticket", asked).await.unwrap()
    };
    let ticket: Value = issue().await.json().await.unwrap();
    let ticket = ticket["ticket"].as_str().unwrap();
    // In the database is neither the ticket nor the token.
    let (raw, connection) = tokio_postgres::connect(&server.url(), tokio_postgres::NoTls)
        .await
        .unwrap();
    tokio::spawn(connection);
    let asked = raw.query_one(
        "SELECT ticket || owner || sealed FROM acp_chain_tickets",
        &[],
    );
    let row: String = asked.await.unwrap().get(0);
    assert!(row.contains("ann"), "{row}");
    for secret in [ticket, &world.ann, &world.ann["acp_".len()..]] {
        assert!(!row.contains(secret), "{row}");
    }
    let mut socket = opened(&other, ticket).await.unwrap();
    let initialize = Message::text(initialize().to_string());
    socket.send(initialize).await.unwrap();
    let answer = in_time("an answer", socket.next()).await.unwrap().unwrap();
    let answer: Value = serde_json::from_str(answer.to_text().unwrap()).unwrap();
    assert!(answer["result"].is_object(), "{answer}");
    let wrong = "A".repeat(43);
    for (replica, ticket) in [(&other, ticket), (&one, ticket), (&one, &*wrong)] {
        let refused = opened(replica, ticket).await.unwrap_err();
        assert!(refused.contains("401"), "{refused}");
    }
    let ticket: Value = issue().await.json().await.unwrap();
    let ticket = ticket["ticket"].as_str().unwrap();
    // A row of somebody else under another ticket is of no use: what is sealed fits its own.
    let forged = "UPDATE acp_chain_tickets SET sealed = left(sealed, -4) || 'AAAA'";
    raw.batch_execute(forged).await.unwrap();
    let refused = opened(&other, ticket).await.unwrap_err();
    assert!(refused.contains("401"), "{refused}");
    server.end();
    // What must be looked up is refused.
    let refused = opened(&other, ticket).await.unwrap_err();
    assert!(refused.contains("503"), "{refused}");
    assert_eq!(issue().await.status(), 503);
}

/// A WebSocket that a ticket opens; or the error that says the status.
async fn opened(
    replica: &ServerProcess,
    ticket: &str,
) -> Result<WebSocketStream<TcpStream>, String> {
    let url = replica.url.replace("http://", "ws://");
    let address = url.split('/').nth(2).unwrap();
    let stream = TcpStream::connect(address).await.unwrap();
    let opening = client_async(format!("{url}?ticket={ticket}"), stream);
    let opened = in_time("an answer", opening).await;
    let opened = opened.map_err(|error| error.to_string());
    opened.map(|(socket, _)| socket)
}

#[tokio::test]
async fn two_connections_to_one_replica_do_not_have_one_session() {
    let world = World::new("[serve]\nstore = \"embedded\"\n").await;
    let one = world.replica("one").await;
    let (first, second) = (
        Client::of(&one, &world.ann).await,
        Client::of(&one, &world.ann).await,
    );
    let (mut of_first, mut of_second) = (first.hears().await, second.hears().await);
    let session = first.session(&mut of_first).await;
    for status in [
        second.load(&session).await.status(),
        second
            .says(&prompt(&session, 3, "echo words"))
            .await
            .status(),
    ] {
        assert_eq!(status, 503);
    }
    // The agent of the second one begins a session of that name, which nobody could tell from the first.
    let own = second.session(&mut of_second).await;
    assert_ne!(own, session);
    first.delete().await;
    second.load_in_time(&session).await;
    assert_eq!(of_second.next().await.unwrap()["id"], 2);
}

#[tokio::test]
async fn a_restored_backup_ends_sessions_and_leases_nothing_for_a_while() {
    let mut server = start_postgres();
    let settings = format!(
        "[serve]\nstore = {:?}\n[serve.limits]\nlease-seconds = 600\n",
        server.url()
    );
    let world = World::new(&settings).await;
    world.migrate().await;
    let one = world.replica("one").await;
    let ann = Client::of(&one, &world.ann).await;
    let mut stream = ann.hears().await;
    let session = ann.session(&mut stream).await;
    server.end();
    server.back_up();
    server.restore();
    server.start_again();
    // The next heartbeat finds it.
    assert_eq!(stream.next().await, None);
    let ann = Client::of(&one, &world.ann).await;
    let refused = ann.load(&session).await;
    assert_eq!(refused.status(), 503);
    assert!(seconds(&refused) > 0);
}

#[tokio::test]
async fn operators_see_replicas_and_end_what_they_serve() {
    let world = World::new("[serve]\nstore = \"embedded\"\n").await;
    let one = world.replica("one").await;
    let (ann, bob) = (
        Client::of(&one, &world.ann).await,
        Client::of(&one, &world.bob).await,
    );
    let (mut of_ann, mut of_bob) = (ann.hears().await, bob.hears().await);
    let session = ann.session(&mut of_ann).await;
    bob.session(&mut of_bob).await;
    let mut command = world.command();
    let output = command.args(["status", "--json"]).output().await.unwrap();
    let status: Value = serde_json::from_slice(&output.stdout).unwrap();
    let replica = &status["replicas"][0];
    assert_eq!(replica["name"], "one");
    assert_eq!(replica["sessions"], 2);
    let users = status["sessions"].as_array().unwrap().iter();
    let users: Vec<_> = users.map(|one| (&one["user"], &one["spelling"])).collect();
    let name = json!(session);
    assert_eq!(users, [(&json!("ann"), &name), (&json!("bob"), &name)]);
    let of_user = |user: &str| json!({"account": user, "kind": "connections", "used": 1});
    assert_eq!(status["slots"], json!([of_user("ann"), of_user("bob")]));
    let mut command = world.command();
    let ended = command
        .args(["end", "--user", "ann"])
        .output()
        .await
        .unwrap();
    assert!(ended.status.success(), "{ended:?}");
    assert_eq!(of_ann.next().await, None);
    let sent = bob.says(&prompt(&session, 3, "echo still here")).await;
    assert_eq!(sent.status(), 202);
}

#[tokio::test]
async fn a_server_without_its_store_does_not_start() {
    let mut server = start_postgres();
    let settings = format!("[serve]\nstore = {:?}\n", server.url());
    let world = World::new(&settings).await;
    let told = refusal(&world).await;
    assert!(told.contains("acp-chain serve --migrate"), "{told}");
    server.end();
    let told = refusal(&world).await;
    assert!(told.contains("the database at /"), "{told}");
}

#[tokio::test]
async fn two_replicas_do_not_have_one_name() {
    let settings = "[serve]\nstore = \"embedded\"\n[serve.limits]\nlease-seconds = 10\n";
    let world = World::new(settings).await;
    let _one = world.replica("one").await;
    // It waits for a lease, since one of its name may have been killed.
    let mut command = world.command();
    command
        .args(["--listen", "127.0.0.1:0", "--node", "one", "--tokens"])
        .arg(world.path("tokens"))
        .args(["--", AGENT]);
    let ended = in_time("its end", command.output()).await.unwrap();
    assert_eq!(ended.status.code(), Some(1));
    let told = String::from_utf8(ended.stderr).unwrap();
    assert!(told.contains("another replica is called one"), "{told}");
}

/// What a replica says that does not start.
async fn refusal(world: &World) -> String {
    let mut command = world.command();
    command.args(["--listen", "127.0.0.1:0", "--tokens"]);
    command.arg(world.path("tokens")).args(["--", AGENT]);
    let ended = in_time("its end", command.output()).await.unwrap();
    assert_eq!(ended.status.code(), Some(1));
    String::from_utf8(ended.stderr).unwrap()
}
