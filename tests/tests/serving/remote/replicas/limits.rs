//! What users and groups may have at all replicas: prompts and bytes in an hour, connections and turns at once.

use std::time::SystemTime;

use acp_chain_tests::host;
use acp_chain_tests::postgres::start_postgres;
use rustix::process::Signal;
use serde_json::json;

use super::super::served::prompt;
use super::{Client, KEY, World, begin, seconds};

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
async fn bytes_are_counted_at_all_replicas() {
    loop {
        let begun = hour();
        let settings =
            "[serve]\nstore = \"embedded\"\n[serve.limits]\nbytes-per-hour-per-user = \"8 KiB\"\n";
        let world = World::new(settings).await;
        let (one, other) = (world.replica("one").await, world.replica("other").await);
        let words = format!("echo {}", "x".repeat(4096));
        let mut statuses = Vec::new();
        for served in [&one, &other] {
            let ann = Client::of(served, &world.ann).await;
            let session = ann.session(&mut ann.hears().await).await;
            let sent = ann.says(&prompt(&session, 3, &words)).await;
            assert!(sent.status() == 202 || seconds(&sent) <= 3600);
            statuses.push(sent.status().as_u16());
        }
        if hour() == begun {
            break assert_eq!(statuses, [202, 429]);
        }
    }
}

#[tokio::test]
async fn sessions_are_limited_over_all_replicas() {
    let settings = "[serve]\nstore = \"embedded\"\n[serve.limits]\nsessions-per-user = 1\n";
    let world = World::new(settings).await;
    let (one, other) = (world.replica("one").await, world.replica("other").await);
    let (first, second, bob) = (
        Client::of(&one, &world.ann).await,
        Client::of(&other, &world.ann).await,
        Client::of(&other, &world.bob).await,
    );
    let session = first.session(&mut first.hears().await).await;
    let mut stream = second.hears().await;
    let told = loop {
        let params = json!({"cwd": "/", "mcpServers": []});
        let asked = json!({"jsonrpc": "2.0", "id": 2, "method": "session/new", "params": params});
        assert_eq!(second.says(&asked).await.status(), 202);
        let answer = stream.next().await.unwrap();
        let told = answer["error"]["message"].as_str().unwrap().to_owned();
        // Its agent gave it the name of the first one.
        if !told.contains("a name of its own") {
            break told;
        }
    };
    assert!(told.contains("your limit of open sessions"), "{told}");
    bob.session(&mut bob.hears().await).await;
    first.delete().await;
    second.load_in_time(&session).await;
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
