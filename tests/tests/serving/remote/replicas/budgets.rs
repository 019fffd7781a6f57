//! What a user may spend on a day, which `brake` counts in values that all replicas share.

use std::fmt::Write;
use std::fs::{self, File};
use std::process::Output;
use std::time::SystemTime;

use acp_chain_postgres::Postgres;
use acp_chain_state::{Database, Filter, Namespace, Shared, Shelf};
use acp_chain_store::{Postgres as PostgresStore, PostgresPlace};
use acp_chain_tests::host;
use acp_chain_tests::postgres::start_postgres;
use acp_chain_tests::wire::in_time;
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use super::super::served::{AGENT, ServerProcess, Stream, prompt, text};
use super::{Client, World};

/// The words of a prompt in which the agent makes a call.
const CALL: &str =
    r#"update {"sessionUpdate":"tool_call","toolCallId":"c","title":"look","kind":"read"}"#;

/// What `brake` asks for.
const POWERS: [&str; 11] = [
    "capabilities.read",
    "turns.read",
    "turns.stop",
    "prompts.answer",
    "answers.send",
    "tool-calls.read",
    "permissions.read",
    "permissions.ask",
    "tool-runs.read",
    "tool-runs.refuse",
    "values.keep",
];

/// Replicas whose users have the calls of a day that `brake` allows them.
struct Braked {
    server: Postgres,
    world: World,
}

impl Braked {
    async fn new(calls: u64) -> Self {
        let server = start_postgres();
        let component = host::component("brake");
        // No lease is over by itself during the test.
        let mut settings = format!(
            "[serve]\nstore = {:?}\n[serve.limits]\nlease-seconds = 600\n\
             [[proxy]]\nid = 'brake'\npath = '{}'\npowers = [",
            server.url(),
            component.display()
        );
        for power in POWERS {
            let _ = write!(settings, "'{power}', ");
        }
        let _ = write!(
            settings,
            "]\n[proxy.config]\nutc-offset = {}\n[proxy.config.day]\ntool-calls = {calls}\naction = 'stop'\n",
            noon()
        );
        let world = World::new(&settings).await;
        world.migrate().await;
        Self { server, world }
    }

    /// What is stored.
    fn values(&self) -> Shared<PostgresStore> {
        let place = PostgresPlace {
            url: self.server.url(),
            password: None,
            authorities: None,
            connections: 1,
        };
        Shared::new(PostgresStore::new(&place).unwrap())
    }

    /// Waits until a user has made so many calls, by what is stored.
    async fn has_counted(&self, name: &str, calls: u64) {
        let mut values = self.values();
        let counts = async {
            while counted(&mut values, name).await != Some(calls) {
                tokio::task::yield_now().await;
            }
        };
        in_time("what is counted", counts).await;
    }

    /// What a command about stored values prints.
    async fn state(&self, args: &[&str]) -> Output {
        let mut command = host::acp_chain("state");
        command
            .args(args)
            .env("XDG_CONFIG_HOME", self.world.path("config"))
            .env("XDG_DATA_HOME", &self.world.data);
        in_time("its end", command.output()).await.unwrap()
    }
}

/// The calls that are stored for a user.
async fn counted(shelf: &mut impl Shelf, user: &str) -> Option<u64> {
    let summaries = shelf.list(&Filter::default()).await.unwrap().into_iter();
    let mut namespaces = summaries.map(|summary| summary.namespace);
    let namespace: Namespace = namespaces.find(|one| one.user.as_deref() == Some(user))?;
    assert_eq!(namespace.extension, "brake");
    let stored = shelf.load_value(&namespace, "day").await.unwrap().value?;
    let record: Value = serde_json::from_str(&stored).unwrap();
    record["account"]["spent"][2].as_u64()
}

/// A session of a client.
struct Talk<'s> {
    client: Client<'s>,
    session: String,
    stream: Stream,
}

impl<'s> Talk<'s> {
    async fn of(served: &'s ServerProcess, token: &str) -> Self {
        let client = Client::of(served, token).await;
        let session = client.session(&mut client.hears().await).await;
        let asks = client
            .asks(Method::GET)
            .header("accept", "text/event-stream")
            .header("acp-session-id", &session);
        let stream = Stream::of(in_time("a stream", asks.send()).await.unwrap());
        Self {
            client,
            session,
            stream,
        }
    }

    /// What the user sees of a turn.
    async fn turn(&mut self, id: u64, words: &str) -> String {
        let sent = self.client.says(&prompt(&self.session, id, words)).await;
        assert_eq!(sent.status(), 202);
        let mut texts = String::new();
        loop {
            let said = self.stream.next().await.expect("the turn has an end");
            if said["id"] == id && said.get("method").is_none() {
                return texts;
            }
            texts.extend(text(&said));
        }
    }
}

/// How many minutes ahead of UTC it is noon now: no day ends during a test.
fn noon() -> i64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let minutes = now.unwrap().as_secs() / 60 % (24 * 60);
    12 * 60 - i64::try_from(minutes).unwrap()
}

#[tokio::test]
async fn a_budget_of_a_day_that_is_spent_at_one_replica_is_spent_at_all() {
    let braked = Braked::new(1).await;
    let world = &braked.world;
    let (one, other) = (world.replica("one").await, world.replica("other").await);
    Talk::of(&one, &world.ann).await.turn(3, CALL).await;
    braked.has_counted("ann", 1).await;
    let (mut ann, mut bob) = (
        Talk::of(&other, &world.ann).await,
        Talk::of(&other, &world.bob).await,
    );
    let of_ann = ann.turn(3, "echo passed").await;
    let told = "the limit of 1 tool call for a day is reached; this day: 1 tool call";
    assert!(of_ann.contains(told), "{of_ann}");
    assert!(!of_ann.contains("passed"), "{of_ann}");
    let of_bob = bob.turn(3, "echo passed").await;
    assert!(of_bob.contains("passed"), "{of_bob}");
}

#[tokio::test]
async fn a_budget_of_a_day_is_spent_once_while_all_replicas_ask_at_the_same_time() {
    let braked = Braked::new(6).await;
    let world = &braked.world;
    let (one, other) = (world.replica("one").await, world.replica("other").await);
    let mut talks = Vec::new();
    for served in [&one, &other] {
        // Of more at once, one might give up to store what it has counted.
        for _ in 0..3 {
            talks.push(Talk::of(served, &world.ann).await);
        }
    }
    join_all(talks.iter_mut().map(|talk| talk.turn(3, CALL))).await;
    braked.has_counted("ann", 6).await;
    let turns = talks.iter_mut().map(|talk| talk.turn(4, "echo passed"));
    for told in join_all(turns).await {
        let expected = "the limit of 6 tool calls for a day is reached; this day: 6 tool calls";
        assert!(told.contains(expected), "{told}");
    }
}

#[tokio::test]
async fn without_the_database_a_prompt_is_answered_with_the_reason() {
    let mut braked = Braked::new(100).await;
    let one = braked.world.replica("one").await;
    let mut ann = Talk::of(&one, &braked.world.ann).await;
    let before = ann.turn(3, "echo passed").await;
    assert!(before.contains("passed"), "{before}");
    braked.server.end();
    let away = ann.turn(4, "echo passed").await;
    for told in [
        "the prompt was not sent to the agent: the budget of the day cannot be counted",
        "stored values cannot be used now",
    ] {
        assert!(away.contains(told), "{away}");
    }
    assert!(!away.contains("passed"), "{away}");
    // Where the database is, is for operators.
    assert!(!away.contains("the database at"), "{away}");
    braked.server.start_again();
    let after = ann.turn(5, "echo passed").await;
    assert!(after.contains("passed"), "{after}");
}

#[tokio::test]
async fn operators_see_and_remove_what_is_stored_for_users() {
    let braked = Braked::new(1).await;
    let world = &braked.world;
    let one = world.replica("one").await;
    let mut ann = Talk::of(&one, &world.ann).await;
    ann.turn(3, CALL).await;
    braked.has_counted("ann", 1).await;
    let listed = braked.state(&["list", "--store", "--json"]).await;
    assert!(listed.status.success(), "{listed:?}");
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let state = listed["state"].as_array().unwrap();
    assert_eq!(state.len(), 1);
    assert_eq!(state[0]["user"], "ann");
    assert_eq!(state[0]["extension"], "brake");
    let mut command = world.command();
    let status = command.args(["status", "--json"]).output().await.unwrap();
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(status["values"].as_array().unwrap().len(), 1);
    assert_eq!(status["values"][0]["user"], "ann");
    let kept = &status["kept"];
    assert_eq!((&kept["users"], &kept["values"]), (&json!(1), &json!(1)));
    let day = &kept["days"]["top"][0];
    assert_eq!(day["user"], "ann");
    assert_eq!(day["spent"]["tool-calls"], 1);
    assert_eq!(kept["projects"]["top"], json!([]));
    // What is of others is not read.
    for (user, known) in [("ann", 1), ("bob", 0)] {
        let mut command = world.command();
        let asked = ["status", "--json", "--user", user, "--top", "1"];
        let status = command.args(asked).output().await.unwrap();
        let status: Value = serde_json::from_slice(&status.stdout).unwrap();
        let days = status["kept"]["days"]["top"].as_array().unwrap();
        assert_eq!(days.len(), known);
    }
    let mut command = world.command();
    let printed = command.arg("status").output().await.unwrap();
    let printed = String::from_utf8(printed.stdout).unwrap();
    assert!(printed.contains("ann, on 2"), "{printed}");
    assert!(printed.contains(": 1 tool call"), "{printed}");
    // In the data folder there are none.
    let own = braked.state(&["list"]).await;
    let told = String::from_utf8(own.stderr).unwrap();
    assert!(told.contains("add `--store`"), "{told}");
    assert_eq!(own.stdout, b"No proxy has stored anything.\n");
    let wiped = braked.state(&["wipe", "brake", "--store", "--yes"]).await;
    let printed = String::from_utf8(wiped.stdout).unwrap();
    assert!(printed.ends_with("1 value removed.\n"), "{printed}");
    // The running chain begins anew.
    let after = ann.turn(4, "echo passed").await;
    assert!(after.contains("passed"), "{after}");
}

#[tokio::test]
async fn what_was_stored_before_there_was_a_store_is_moved_there_and_counts() {
    let braked = Braked::new(1).await;
    let world = &braked.world;
    let one = world.replica("one").await;
    Talk::of(&one, &world.bob).await.turn(3, CALL).await;
    braked.has_counted("bob", 1).await;
    // What a server without a store has counted for another user.
    let mut values = braked.values();
    let summaries = values.list(&Filter::default()).await.unwrap();
    let of_bob = &summaries[0].namespace;
    let record = values.load_value(of_bob, "day").await.unwrap().value;
    let mut database = Database::open(&world.data.join("acp-chain/state/state.db")).unwrap();
    for (user, value) in [(Some("ann"), record.as_deref()), (None, Some("mine"))] {
        let namespace = Namespace {
            user: user.map(str::to_owned),
            ..of_bob.clone()
        };
        database.store(&namespace, "day", 0, value).unwrap();
    }
    drop(database);
    // A replica says that this is there, and does not use it.
    let log = world.path("told");
    let mut command = world.serving("other", &[AGENT]);
    command.stderr(File::create(&log).unwrap());
    let other = ServerProcess::by(&mut command).await;
    let told = fs::read_to_string(&log).unwrap();
    assert!(told.contains("1, of 1 users"), "{told}");
    assert!(told.contains("`acp-chain serve --migrate`"), "{told}");
    let mut ann = Talk::of(&other, &world.ann).await;
    let before = ann.turn(3, "echo passed").await;
    assert!(before.contains("passed"), "{before}");
    braked.has_counted("ann", 0).await;
    // What brake has stored for ann by now is not replaced.
    let told = migrated(world).await;
    assert!(told.contains("the store has another value"), "{told}");
    assert!(told.contains("state wipe --user NAME"), "{told}");
    let wiped = braked.state(&["wipe", "--user", "ann", "--store", "--yes"]);
    assert!(wiped.await.status.success());
    let told = migrated(world).await;
    assert!(
        told.contains("1 value of the server's users moved"),
        "{told}"
    );
    assert!(told.contains("no user of a server has them"), "{told}");
    let after = ann.turn(4, "echo passed").await;
    let limit = "the limit of 1 tool call for a day is reached";
    assert!(after.contains(limit), "{after}");
    let again = migrated(world).await;
    assert!(!again.contains("moved"), "{again}");
    let own = braked.state(&["list", "--json"]).await;
    let own: Value = serde_json::from_slice(&own.stdout).unwrap();
    assert_eq!(own["state"].as_array().unwrap().len(), 1);
    assert_eq!(own["state"][0]["user"], Value::Null);
}

/// What an operator is told who brings the store up to date.
async fn migrated(world: &World) -> String {
    let mut command = world.command();
    let output = in_time("its end", command.arg("--migrate").output());
    let output = output.await.unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[tokio::test]
async fn without_a_store_that_is_shared_operators_are_told_where_values_are() {
    let world = World::new("[serve]\nstore = \"embedded\"\n").await;
    let mut command = host::acp_chain("state");
    command
        .args(["list", "--store"])
        .env("XDG_CONFIG_HOME", world.path("config"))
        .env("XDG_DATA_HOME", &world.data);
    let output = command.output().await.unwrap();
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("in the data folder"), "{told}");
}
