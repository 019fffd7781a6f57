//! Replicas with one store: who owns a session, which of them serves it, and what becomes of it when one ends.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use acp_chain_tests::host;
use acp_chain_tests::postgres::Postgres;
use acp_chain_tests::wire::in_time;
use reqwest::header::HeaderValue;
use reqwest::{Method, RequestBuilder, Response};
use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;

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
        let config = folder.path().join("config/acp-chain");
        fs::create_dir_all(&config).unwrap();
        fs::write(config.join("config.toml"), settings).unwrap();
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
        let mut command = self.command();
        command
            .args(["--listen", "127.0.0.1:0", "--node", name, "--tokens"])
            .arg(self.path("tokens"))
            .args(["--", AGENT]);
        ServerProcess::by(&mut command).await
    }
}

impl<'s> Client<'s> {
    async fn of(served: &'s ServerProcess, token: &str) -> Self {
        let asks = served.asks(Method::POST).bearer_auth(token);
        let begun = posted(asks, &initialize()).await;
        assert_eq!(begun.status(), 200);
        Self {
            id: begun.headers()["acp-connection-id"].clone(),
            token: token.to_owned(),
            served,
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

    /// A new session, whose name arrives on this stream. While another replica has one of its name, the agent begins
    /// another one.
    async fn session(&self, stream: &mut Stream) -> String {
        for id in 100.. {
            let params = json!({"cwd": "/", "mcpServers": []});
            let asked =
                json!({"jsonrpc": "2.0", "id": id, "method": "session/new", "params": params});
            let said = self.says(&asked).await;
            if said.status() == 503 {
                tokio::time::sleep(Duration::from_secs(seconds(&said))).await;
                continue;
            }
            assert_eq!(said.status(), 202);
            let answer = stream.next().await.unwrap();
            if let Some(session) = answer["result"]["sessionId"].as_str() {
                return session.to_owned();
            }
            assert!(answer["error"]["data"]["retryAfter"].is_u64(), "{answer}");
        }
        unreachable!("ids do not end")
    }

    async fn load(&self, session: &str) -> Response {
        let params = json!({"sessionId": session, "cwd": "/", "mcpServers": []});
        self.says(&json!({"jsonrpc": "2.0", "id": 2, "method": "session/load", "params": params}))
            .await
    }

    /// Loads a session as soon as its replica's lease is over: as it is told, since nobody knows sooner whether that
    /// one is dead.
    async fn load_in_time(&self, session: &str) {
        loop {
            let loaded = self.load(session).await;
            if loaded.status() == 202 {
                break;
            }
            assert_eq!(loaded.status(), 503);
            tokio::time::sleep(Duration::from_secs(seconds(&loaded))).await;
        }
    }

    async fn prompt(&self, session: &str, id: u64, words: &str, key: &str) -> Response {
        let asks = self.asks(Method::POST).header("idempotency-key", key);
        posted(asks, &prompt(session, id, words)).await
    }
}

fn seconds(response: &Response) -> u64 {
    let again = response.headers()["retry-after"].to_str().unwrap();
    again.parse().unwrap()
}

/// Plays the scene in which a replica is killed: its session goes on at the other one.
async fn failover(store: &str) {
    let settings = format!("[serve]\nstore = {store:?}\n[serve.limits]\nlease-seconds = 10\n");
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
    assert!((1..=10).contains(&seconds(&held)));

    one.signal(Signal::KILL);
    ann.load_in_time(&session).await;
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
    let server = Postgres::start();
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
async fn a_replica_that_was_stopped_passes_nothing_on_when_it_wakes() {
    let settings = "[serve]\nstore = \"embedded\"\n[serve.limits]\nlease-seconds = 10\n";
    let world = World::new(settings).await;
    let (one, other) = (world.replica("one").await, world.replica("other").await);
    let before = Client::of(&one, &world.ann).await;
    let mut stream = before.hears().await;
    let session = before.session(&mut stream).await;
    one.signal(Signal::STOP);
    let ann = Client::of(&other, &world.ann).await;
    ann.load_in_time(&session).await;
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
    let mut server = Postgres::start();
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
    server.start_again();
    let keyed = ann.prompt(&session, 4, "echo once", KEY).await;
    assert_eq!(keyed.status(), 202);
    assert_eq!(texts.turn(4).await, ["once"]);
}

#[tokio::test]
async fn prompts_are_counted_at_all_replicas() {
    let settings = "[serve]\nstore = \"embedded\"\n[serve.limits]\nprompts-per-hour-per-user = 1\n";
    let world = World::new(settings).await;
    let (one, other) = (world.replica("one").await, world.replica("other").await);
    for (served, statuses) in [(&one, [202, 429]), (&other, [429, 429])] {
        let ann = Client::of(served, &world.ann).await;
        let mut stream = ann.hears().await;
        let session = ann.session(&mut stream).await;
        for (id, status) in (3..).zip(statuses) {
            let sent = ann.says(&prompt(&session, id, "echo words")).await;
            assert_eq!(sent.status(), status);
        }
    }
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
    let mut server = Postgres::start();
    let settings = format!("[serve]\nstore = {:?}\n", server.url());
    let world = World::new(&settings).await;
    let told = refusal(&world).await;
    assert!(told.contains("acp-chain serve --migrate"), "{told}");
    server.end();
    let told = refusal(&world).await;
    assert!(told.contains("the database at /"), "{told}");
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
