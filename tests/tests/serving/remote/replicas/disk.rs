//! A store in a file whose disk is full: what cannot be recorded is refused, and goes on once there is room.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use acp_chain_tests::disk::{fill, small_disk};
use acp_chain_tests::host;
use reqwest::Method;
use serde_json::{Value, json};

use super::super::metrics::asked;
use super::super::served::{AGENT, ServerProcess, Stream, prompt};
use super::{Client, KEY, World, begin, seconds};

/// The key of a prompt that the store cannot record.
const LATER: &str = "another-key-of-that-length";

/// What becomes of a request for a new session.
enum Begun {
    /// It has this name.
    Session(String),
    /// Its agent was not asked.
    Refused,
    /// Its agent was asked, and the store could not record it.
    Dropped,
}

impl Client<'_> {
    /// Asks for a new session. A client whose session is refused is told when to ask again.
    async fn ask_for_session(&self, stream: &mut Stream, id: u32) -> Begun {
        let params = json!({"cwd": "/", "mcpServers": []});
        let message =
            json!({"jsonrpc": "2.0", "id": id, "method": "session/new", "params": params});
        let said = self.says(&message).await;
        if said.status() == 503 {
            assert!(seconds(&said) > 0);
            let told = said.text().await.unwrap();
            assert!(told.contains("cannot be asked now"), "{told}");
            return Begun::Refused;
        }
        assert_eq!(said.status(), 202);
        let answer = stream.next().await.unwrap();
        if let Some(session) = answer["result"]["sessionId"].as_str() {
            return Begun::Session(session.to_owned());
        }
        let error = &answer["error"];
        let told = error["message"].as_str().unwrap();
        assert!(told.contains("cannot be asked now"), "{answer}");
        assert!(error["data"]["retryAfter"].as_u64() > Some(0), "{answer}");
        Begun::Dropped
    }

    /// The stream of a session.
    async fn hears_of(&self, session: &str) -> Stream {
        let asks = self.asks(Method::GET).header("accept", "text/event-stream");
        let asks = asks.header("acp-session-id", session);
        Stream::of(asks.send().await.unwrap())
    }
}

/// Fills the disk until no session is begun any longer. Returns the sessions that the client has got meanwhile, and how
/// often it was refused.
async fn fill_up(
    filler: &Path,
    client: &Client<'_>,
    stream: &mut Stream,
) -> (BTreeSet<String>, u32) {
    let (mut sessions, mut refusals) = (BTreeSet::new(), 0);
    for id in 1.. {
        // Also what the server has just freed.
        assert_eq!(fill(filler).unwrap_err().kind(), ErrorKind::StorageFull);
        match client.ask_for_session(stream, id).await {
            Begun::Session(name) => assert!(sessions.insert(name)),
            Begun::Dropped => refusals += 1,
            // A heartbeat has found it.
            Begun::Refused => return (sessions, refusals + 1),
        }
    }
    unreachable!("ids do not end")
}

/// A new session, as soon as there is room. No other request of the client has an id from `first` on.
async fn session_in_time(client: &Client<'_>, stream: &mut Stream, first: u32) -> String {
    for id in first.. {
        if let Begun::Session(name) = client.ask_for_session(stream, id).await {
            return name;
        }
    }
    unreachable!("ids do not end")
}

/// The users and names of all sessions that the store has leased.
async fn listed(world: &World) -> Vec<(String, String)> {
    let mut command = world.command();
    let output = command.args(["status", "--json"]).output().await.unwrap();
    let status: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let sessions = status["sessions"].as_array().unwrap().iter();
    let names = sessions.map(|one| (text(&one["user"]), text(&one["spelling"])));
    names.collect()
}

#[tokio::test]
async fn while_the_disk_is_full_nothing_new_begins_and_what_is_under_way_goes_on() {
    let test = "remote::replicas::disk::while_the_disk_is_full_nothing_new_begins_and_what_is_under_way_goes_on";
    let Some(disk) = small_disk(test) else {
        return;
    };
    // No lease is over by itself during the test.
    let settings = "[serve]\nstore = \"embedded\"\nmetrics = \"127.0.0.1:0\"\n[serve.limits]\nlease-seconds = 600\n";
    let world = World {
        data: disk.clone(),
        ..World::new(settings).await
    };
    let (tokens, log) = (world.path("tokens"), world.path("log"));
    let cid_token = host::token(&tokens, "cid", &[]).await;
    let mut command = world.command();
    command.arg("--log-file").arg(&log);
    command.args(["--listen", "127.0.0.1:0", "--tokens"]);
    command.arg(&tokens).args(["--", AGENT]);
    let mut one = ServerProcess::by(&mut command).await;
    let numbers = one.numbers().await;
    let ann = Client::of(&one, &world.ann).await;
    let bob = Client::of(&one, &world.bob).await;
    let cid = Client::of(&one, &cid_token).await;
    let session = ann.session(&mut ann.hears().await).await;
    let mut of_ann = ann.hears_of(&session).await;
    let sent = ann.prompt(&session, 3, "echo before", KEY).await;
    assert_eq!(sent.status(), 202);
    assert_eq!(of_ann.turn(3).await, ["before"]);
    // A turn that waits for its client.
    let asks = "permission edit look /tmp\necho allowed";
    assert_eq!(ann.says(&prompt(&session, 4, asks)).await.status(), 202);
    let request = of_ann.next().await.unwrap();

    let filler = disk.join("filler");
    let mut of_cid = cid.hears().await;
    let (mut sessions, refusals) = fill_up(&filler, &cid, &mut of_cid).await;
    // Neither does anything else begin that must be recorded.
    let keyed = ann.prompt(&session, 5, "echo later", LATER).await;
    let connection = begin(&one, &world.bob).await;
    for refused in [keyed, connection] {
        assert_eq!(refused.status(), 503);
        assert!(seconds(&refused) > 0);
    }
    let now = asked(&numbers).await;
    assert!(now["acp_chain_store_reached"].abs() < 1e-9);
    let counted = now["acp_chain_refused_total{reason=\"store\"}"];
    assert!((counted - f64::from(refusals + 2)).abs() < 1e-9);
    assert_eq!(one.beside("/readyz").await, 200);
    assert_ne!(bob.load(&session).await.status(), 202);
    // What is under way goes on.
    let option = &request["params"]["options"][0]["optionId"];
    let outcome = json!({"outcome": {"outcome": "selected", "optionId": option}});
    let answer = json!({"jsonrpc": "2.0", "id": request["id"], "result": outcome});
    assert_eq!(ann.says(&answer).await.status(), 202);
    assert_eq!(of_ann.turn(4).await.pop().unwrap(), "allowed");
    let sent = ann.says(&prompt(&session, 6, "echo still here")).await;
    assert_eq!(sent.status(), 202);
    assert_eq!(of_ann.turn(6).await, ["still here"]);

    fs::remove_file(&filler).unwrap();
    assert!(sessions.insert(session_in_time(&cid, &mut of_cid, 1_000_000).await));
    // With the same key: what was refused was not sent.
    let keyed = ann.prompt(&session, 5, "echo later", LATER).await;
    assert_eq!(keyed.status(), 202);
    assert_eq!(of_ann.turn(5).await, ["later"]);
    assert_eq!(begin(&one, &world.bob).await.status(), 200);
    let reached = asked(&numbers).await["acp_chain_store_reached"];
    assert!((reached - 1.0).abs() < 1e-9);
    // Heartbeats failed, new sessions, and prompts with a key: the log says so once of each.
    let all = fs::read_to_string(&log).unwrap();
    let is_of_disk = |line: &&str| line.contains("the disk is full");
    let told: Vec<_> = all.lines().filter(is_of_disk).collect();
    assert_eq!(told.len(), 3, "{told:#?}");

    // The store has each session that a client knows, and no other.
    let own = ("ann".to_owned(), session.clone());
    let of_cid = sessions.into_iter().map(|name| ("cid".to_owned(), name));
    let known: Vec<_> = [own].into_iter().chain(of_cid).collect();
    assert_eq!(listed(&world).await, known);
    ann.delete().await;
    let again = Client::of(&one, &world.ann).await;
    again.load_in_time(&session).await;
    let repeated = again.prompt(&session, 7, "echo before", KEY).await;
    assert_eq!(repeated.status(), 409);
    assert_eq!(bob.load(&session).await.status(), 404);
}
