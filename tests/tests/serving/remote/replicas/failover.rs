//! Who owns a session, which replica serves it, and what becomes of it when one ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use acp_chain_postgres::Postgres;
use acp_chain_store::{Answer, Call, Postgres as PostgresStore, PostgresPlace, Store};
use acp_chain_tests::host;
use acp_chain_tests::link::Link;
use acp_chain_tests::postgres::start_postgres;
use acp_chain_tests::wire::in_time;
use reqwest::Method;
use rustix::process::Signal;
use serde_json::Value;
use tokio::sync::oneshot;

use super::super::served::{AGENT, ServerProcess, Stream, prompt};
use super::{Client, KEY, World, begin, seconds};

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Replicas with this store, none of whose leases is over by itself during a test.
async fn with_long_leases(store: &str) -> World {
    let settings = format!("[serve]\nstore = {store:?}\n[serve.limits]\nlease-seconds = 600\n");
    let world = World::new(&settings).await;
    world.migrate().await;
    world
}

/// Plays the scene in which a replica is killed: its session goes on at the other one.
async fn failover(store: &str) {
    let world = with_long_leases(store).await;
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
    let answered = ann
        .prompt(&session, 5, "echo again", "another-key-of-that-length")
        .await;
    assert_eq!(answered.status(), 202);
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
async fn a_session_in_another_spelling_is_its_owners_at_all_replicas() {
    let settings = "[serve]\nstore = \"embedded\"\nunknown-sessions = \"admit\"\n";
    let world = World::new(settings).await;
    let (one, other) = (world.replica("one").await, world.replica("other").await);
    let ann = Client::of(&one, &world.ann).await;
    let session = ann.session(&mut ann.hears().await).await;
    let bob = Client::of(&other, &world.bob).await;
    for spelling in [
        session.clone(),
        session.to_uppercase(),
        session.replace('-', "%2d"),
        format!("./{session}"),
        format!("urn:uuid:{session}"),
    ] {
        let refused = bob.load(&spelling).await;
        assert_eq!(refused.status(), 404, "{spelling}");
    }
    // A session without an owner is admitted here.
    assert_eq!(bob.load("of-nobody").await.status(), 202);
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
    let world = with_long_leases(&server.url()).await;
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
    // The agent of the second one begins a session of that name, which could not be told from the first.
    let own = second.session(&mut of_second).await;
    assert_ne!(own, session);
    first.delete().await;
    second.load_in_time(&session).await;
    assert_eq!(of_second.next().await.unwrap()["id"], 2);
}

#[tokio::test]
async fn a_restored_backup_ends_sessions_and_leases_nothing_for_a_while() {
    let mut server = start_postgres();
    let world = with_long_leases(&server.url()).await;
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
