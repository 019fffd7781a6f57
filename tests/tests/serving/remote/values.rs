//! Values that proxies store for each user of a server.

use std::fs;
use std::path::Path;

use acp_chain::limits::{STORED_FOR_USER, STORED_VALUE};
use acp_chain_state::{Database, Namespace, StateError};
use acp_chain_tests::host;
use reqwest::Method;
use serde_json::{Value, json};

use super::served::{AGENT, ServerProcess, Stream, initialize, posted};

/// The answer of the proxy to a request of a client with this token, over a connection of its own.
async fn answered(served: &ServerProcess, token: &str, method: &str, params: Value) -> Value {
    let asks = |method| served.asks(method).bearer_auth(token);
    let begun = posted(asks(Method::POST), &initialize()).await;
    let id = &begun.headers()["acp-connection-id"];
    let of_it = |method| asks(method).header("acp-connection-id", id);
    let listens = of_it(Method::GET).header("accept", "text/event-stream");
    let mut stream = Stream::of(listens.send().await.unwrap());
    let asked = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    posted(of_it(Method::POST), &asked).await;
    let answer = stream.next().await.unwrap();
    let ended = of_it(Method::DELETE).send().await.unwrap();
    assert_eq!(ended.status(), 202);
    answer["result"].clone()
}

/// A server whose proxy loads and stores a value, and the tokens of two users.
async fn serve(folder: &Path) -> (ServerProcess, String, String) {
    let path = |name: &str| folder.join(name);
    let component = host::component("does");
    let proxy = format!(
        "[[proxy]]\nid = 'one'\npath = '{}'\npowers = ['values.keep']\n\
         methods = {{ 'test/*' = ['read', 'answer'] }}\n[proxy.config.requests]\n\
         'test/load' = ['load-value']\n'test/store' = ['store-value']\n",
        component.display()
    );
    fs::write(path("chain.toml"), proxy).unwrap();
    let (ann, bob) = (
        host::token(&path("tokens"), "ann", &[]).await,
        host::token(&path("tokens"), "bob", &[]).await,
    );
    let mut command = host::acp_chain("serve");
    command
        .args(["--listen", "127.0.0.1:0", "--tokens"])
        .arg(path("tokens"))
        .arg("--manifest")
        .arg(path("chain.toml"))
        .args(["--", AGENT])
        .env("XDG_DATA_HOME", path("data"));
    (ServerProcess::by(&mut command).await, ann, bob)
}

#[tokio::test]
async fn each_user_has_values_and_one_process_has_those_of_all() {
    let folder = tempfile::tempdir().unwrap();
    let (served, ann, bob) = serve(folder.path()).await;
    for (token, value) in [(&ann, "of ann"), (&bob, "of bob")] {
        let params = json!({ "key": "k", "value": value });
        let stored = answered(&served, token, "test/store", params).await;
        assert!(stored["version"].is_u64(), "{stored}");
    }
    for (token, value) in [(&ann, "of ann"), (&bob, "of bob")] {
        let loaded = answered(&served, token, "test/load", json!({ "key": "k" })).await;
        assert_eq!(loaded["value"], value);
    }
    let words = served.children().concat();
    let processes = words.iter().filter(|word| *word == "keep-values");
    assert_eq!(processes.count(), 1);

    let mut command = host::acp_chain("state");
    command
        .args(["list", "--json"])
        .env("XDG_DATA_HOME", folder.path().join("data"));
    let listed = command.output().await.unwrap().stdout;
    let listed: Value = serde_json::from_slice(&listed).unwrap();
    let users = listed["state"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["user"]);
    assert_eq!(users.collect::<Vec<_>>(), ["ann", "bob"]);
}

#[tokio::test]
async fn a_user_who_has_stored_all_that_they_may_keeps_no_other_from_storing() {
    let folder = tempfile::tempdir().unwrap();
    let (served, ann, bob) = serve(folder.path()).await;
    let state = folder.path().join("data/acp-chain/state/state.db");
    let mut database = Database::open(&state).unwrap();
    let value = "x".repeat(STORED_VALUE);
    // As chains of this user do in several projects.
    let full = (0..STORED_FOR_USER).find_map(|number| {
        let namespace = Namespace {
            extension: "one".to_owned(),
            source: "built-in".to_owned(),
            user: Some("ann".to_owned()),
            project: Some(format!("/{}", number / 32).into()),
        };
        let key = number.to_string();
        database.store(&namespace, &key, 0, Some(&value)).err()
    });
    let full = full.expect("there is a bound");
    assert!(matches!(full, StateError::Limit(_)), "{full}");
    drop(database);
    let params = json!({ "key": "k", "value": value });
    let refused = answered(&served, &ann, "test/store", params.clone()).await;
    let told = refused["error"].as_str().unwrap();
    assert!(told.contains("for this user of the server"), "{told}");
    let stored = answered(&served, &bob, "test/store", params).await;
    assert!(stored["version"].is_u64(), "{stored}");
    // Who runs the server makes room.
    let mut command = host::acp_chain("state");
    command
        .args(["wipe", "--user", "ann", "--yes"])
        .env("XDG_DATA_HOME", folder.path().join("data"));
    let wiped = command.output().await.unwrap();
    assert!(wiped.status.success(), "{wiped:?}");
    let again = json!({ "key": "k", "value": "of ann" });
    let stored = answered(&served, &ann, "test/store", again).await;
    assert!(stored["version"].is_u64(), "{stored}");
    let loaded = answered(&served, &bob, "test/load", json!({ "key": "k" })).await;
    assert_eq!(loaded["value"], value);
}
