//! How replicas start, what they are called, and how they are watched and ended.

use std::fs;

use acp_chain_tests::postgres::{start_encrypted_postgres, start_postgres};
use acp_chain_tests::wire::in_time;
use serde_json::{Value, json};

use super::super::served::{AGENT, prompt};
use super::{Client, World};

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
async fn operators_end_a_session_and_a_user_at_whichever_replica() {
    let world = World::new("[serve]\nstore = \"embedded\"\n").await;
    let (one, other) = (world.replica("one").await, world.replica("other").await);
    let (first, second, bob) = (
        Client::of(&one, &world.ann).await,
        Client::of(&other, &world.ann).await,
        Client::of(&other, &world.bob).await,
    );
    let (mut of_first, mut of_second, mut of_bob) =
        (first.hears().await, second.hears().await, bob.hears().await);
    let session = first.session(&mut of_first).await;
    let kept = second.session(&mut of_second).await;
    let ends = async |what: [&str; 2]| {
        let mut command = world.command();
        let ended = command.arg("end").args(what).output().await.unwrap();
        assert!(ended.status.success(), "{ended:?}");
    };
    assert_ne!(session, kept);
    ends(["--session", &session]).await;
    assert_eq!(of_first.next().await, None);
    let sent = second.says(&prompt(&kept, 3, "echo still here")).await;
    assert_eq!(sent.status(), 202);
    ends(["--user", "ann"]).await;
    assert_eq!(of_second.next().await, None);
    bob.session(&mut of_bob).await;
    // A user may connect again, and the session is there. The first replica may not have ended all yet.
    let again = Client::of(&other, &world.ann).await;
    again.load_in_time(&session).await;
}

#[tokio::test]
async fn the_connection_to_the_store_is_that_of_a_process_of_its_own() {
    let world = World::new("[serve]\nstore = \"embedded\"\n").await;
    let one = world.replica("one").await;
    let words = one.children().concat();
    let processes = words.iter().filter(|word| *word == "keep-store");
    assert_eq!(processes.count(), 1);
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
