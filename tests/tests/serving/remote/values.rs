//! Values that proxies store for each user of a server.

use std::fs;

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

#[tokio::test]
async fn each_user_has_values_and_one_process_has_those_of_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
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
    let served = ServerProcess::by(&mut command).await;
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
        .env("XDG_DATA_HOME", path("data"));
    let listed = command.output().await.unwrap().stdout;
    let listed: Value = serde_json::from_slice(&listed).unwrap();
    let users = listed["state"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["user"]);
    assert_eq!(users.collect::<Vec<_>>(), ["ann", "bob"]);
}
