//! Which clients are admitted, and that connections of other users are hidden.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use acp_chain_tests::chain::entry;
use acp_chain_tests::wire::in_time;
use acp_chain_tests::{host, powers};
use futures_util::StreamExt;
use reqwest::{Certificate, Client, Identity, Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::Command;
use tokio_tungstenite::client_async;

use super::served::{AGENT, ServerProcess, Stream, initialize, posted, prompt};

/// A token for a member of a group, with its line added to the file.
async fn token(file: &Path, name: &str, group: &str) -> String {
    host::token(file, name, &["--group", group]).await
}

fn serve(args: &[&str]) -> Command {
    let mut command = host::acp_chain("serve");
    command.args(["--listen", "127.0.0.1:0"]).args(args);
    command
}

async fn status(asks: RequestBuilder) -> StatusCode {
    posted(asks, &initialize()).await.status()
}

#[tokio::test]
async fn a_token_lets_in_until_its_line_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens");
    let ann = token(&file, "ann", "staff").await;
    let bob = token(&file, "bob", "staff").await;
    let mut command = serve(&["--tokens"]);
    command.arg(&file).args(["--", AGENT]);
    let served = ServerProcess::by(&mut command).await;
    let asks = |token: &str| served.asks(Method::POST).bearer_auth(token);
    assert_eq!(status(served.asks(Method::POST)).await, 401);
    assert_eq!(status(asks("acp_wrong")).await, 401);
    assert_eq!(status(asks("wrong")).await, 401);
    let in_query = acp_chain_tests::web::client().post(format!("{}?token={ann}", served.url));
    assert_eq!(status(in_query).await, 401);
    // Health checks need no token.
    assert_eq!(served.beside("/readyz").await, 200);
    let begun = posted(asks(&ann), &initialize()).await;
    assert_eq!(begun.status(), 200);
    let id = begun.headers()["acp-connection-id"].clone();
    // Ann's connection does not exist for Bob.
    for (who, method, found) in [
        (&bob, Method::GET, 404),
        (&bob, Method::DELETE, 404),
        (&ann, Method::GET, 200),
    ] {
        let asks = served.asks(method).bearer_auth(who);
        let asks = asks.header("accept", "text/event-stream");
        let answer = asks.header("acp-connection-id", &id).send().await.unwrap();
        assert_eq!(answer.status(), found);
    }
    let listens = served.asks(Method::GET).bearer_auth(&ann);
    let listens = listens
        .header("accept", "text/event-stream")
        .header("acp-connection-id", &id)
        .header("last-event-id", "0");
    let mut stream = listens.send().await.unwrap();
    assert_eq!(stream.status(), 200);
    // Without her line, Ann is disconnected and refused at once; Bob is still admitted.
    let text = fs::read_to_string(&file).unwrap();
    assert!(!text.contains(&ann) && text.lines().count() == 2);
    let rest = text.lines().find(|line| line.starts_with("bob")).unwrap();
    fs::write(&file, rest).unwrap();
    let rest = async { while stream.chunk().await.unwrap().is_some() {} };
    in_time("the end of the stream", rest).await;
    assert_eq!(status(asks(&ann)).await, 401);
    assert_eq!(status(asks(&bob)).await, 200);
    // An invalid file changes nothing.
    fs::write(&file, "nonsense\n").unwrap();
    assert_eq!(status(asks(&bob)).await, 200);
}

#[tokio::test]
async fn a_page_of_others_does_not_come_in_and_one_that_may_opens_a_websocket_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens");
    let ann = token(&file, "ann", "staff").await;
    let origin = "https://app.example";
    let mut command = serve(&["--origin", origin, "--tokens"]);
    command.arg(&file).args(["--", AGENT]);
    let served = ServerProcess::by(&mut command).await;
    let from = |origin: &str| {
        let asks = served.asks(Method::POST).bearer_auth(&ann);
        asks.header("origin", origin)
    };
    assert_eq!(status(from("https://evil.example")).await, 403);
    assert_eq!(status(from("null")).await, 403);
    assert_eq!(
        status(from(origin).header("host", "evil.example")).await,
        421
    );
    let begun = posted(from(origin), &initialize()).await;
    assert_eq!(begun.status(), 200);
    assert_eq!(begun.headers()["access-control-allow-origin"], origin);
    let asks = served.asks(Method::OPTIONS).header("origin", origin);
    let preflight = asks.send().await.unwrap();
    assert_eq!(preflight.status(), 204);
    assert_eq!(
        preflight.headers()["access-control-allow-methods"],
        "GET, POST, DELETE"
    );
    // A browser cannot set headers of a WebSocket, so it requests a ticket that opens one.
    let url = format!("{}/ticket", served.url);
    let asks = acp_chain_tests::web::client().post(&url);
    assert_eq!(
        asks.try_clone().unwrap().send().await.unwrap().status(),
        401
    );
    let ticket: Value = asks
        .bearer_auth(&ann)
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    let ticket = ticket["ticket"].as_str().unwrap();
    let open = async || {
        let url = served.url.replace("http://", "ws://");
        let address = url.split('/').nth(2).unwrap().to_owned();
        let stream = TcpStream::connect(address).await.unwrap();
        client_async(format!("{url}?ticket={ticket}"), stream).await
    };
    let (mut socket, _) = open().await.unwrap();
    socket.close(None).await.unwrap();
    while socket.next().await.is_some() {}
    let replayed = open().await.unwrap_err().to_string();
    assert!(replayed.contains("401"), "{replayed}");
}

#[tokio::test]
async fn users_get_the_chain_of_their_group() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens");
    let settings = folder.path().join("acp-chain");
    fs::create_dir(&settings).unwrap();
    let shout = host::component("shout-rust");
    fs::write(
        settings.join("ops.toml"),
        format!("[[proxy]]\nid = \"shout\"\npath = {shout:?}\npowers = [\"prompts.read\", \"prompts.change\"]\n"),
    )
    .unwrap();
    fs::write(
        settings.join("config.toml"),
        format!(
            "[serve]\ntokens = {file:?}\n[serve.limits]\nconnections-per-user = 1\n\
             [[serve.route]]\ngroups = [\"ops\"]\nmanifest = \"ops.toml\"\n"
        ),
    )
    .unwrap();
    let ann = token(&file, "ann", "ops").await;
    let bob = token(&file, "bob", "staff").await;
    let trace = folder.path().join("log");
    let mut command = serve(&["--log-file"]);
    command.arg(&trace).args(["--", AGENT]);
    command.env("XDG_CONFIG_HOME", folder.path());
    let served = ServerProcess::by(&mut command).await;
    for (token, heard) in [(&ann, "HELLO"), (&bob, "hello")] {
        let asks = |method| served.asks(method).bearer_auth(token);
        let begun = posted(asks(Method::POST), &initialize()).await;
        assert_eq!(status(asks(Method::POST)).await, 429);
        let id = &begun.headers()["acp-connection-id"];
        let of_it = |method| asks(method).header("acp-connection-id", id);
        let new = json!({
            "jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": []},
        });
        posted(of_it(Method::POST), &new).await;
        let listens = |session: Option<&str>| {
            let listens = of_it(Method::GET).header("accept", "text/event-stream");
            match session {
                Some(session) => listens.header("acp-session-id", session),
                None => listens,
            }
        };
        let mut all = Stream::of(listens(None).send().await.unwrap());
        let session = all.next().await.unwrap()["result"]["sessionId"].clone();
        let session = session.as_str().unwrap();
        let mut stream = Stream::of(listens(Some(session)).send().await.unwrap());
        posted(of_it(Method::POST), &prompt(session, 2, "hello")).await;
        assert_eq!(stream.turn(2).await.concat(), heard);
    }
    let log = fs::read_to_string(&trace).unwrap();
    assert!(!log.contains(&ann) && !log.contains(&bob));
    assert!(log.contains("user=\"ann\"") && log.contains("user=\"bob\""));
}

#[tokio::test]
async fn a_proxy_with_the_power_is_told_the_user_and_nothing_else_can_say_who_that_is() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens");
    let manifest = folder.path().join("acp-chain.toml");
    let proxy = |id: &str, terms: &str| {
        let steps = format!("[proxy.config.requests]\n'test/{id}' = ['respond-user']");
        let forged = "[proxy.config]\n'acp-chain/user' = { name = 'mallory' }";
        entry(id, "does", &format!("{terms}\n{forged}\n{steps}"))
    };
    let with = powers::all_but(&["tools"]);
    let proxies = proxy("knows", &with) + &proxy("without", powers::everything());
    fs::write(&manifest, proxies).unwrap();
    let ann = token(&file, "ann", "ops").await;
    let mut command = serve(&["--tokens"]);
    command
        .arg(&file)
        .arg("--manifest")
        .arg(&manifest)
        .args(["--", AGENT]);
    let served = ServerProcess::by(&mut command).await;
    let asks = |method| served.asks(method).bearer_auth(&ann);
    let begun = posted(asks(Method::POST), &initialize()).await;
    let id = &begun.headers()["acp-connection-id"];
    let of_it = |method| asks(method).header("acp-connection-id", id);
    let listens = of_it(Method::GET).header("accept", "text/event-stream");
    let mut stream = Stream::of(listens.send().await.unwrap());
    for (method, told) in [
        ("test/knows", json!({"name": "ann", "groups": ["ops"]})),
        // Without the power, a proxy receives the operator's configuration.
        ("test/without", json!({"name": "mallory"})),
    ] {
        let asked = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {}});
        posted(of_it(Method::POST), &asked).await;
        assert_eq!(stream.next().await.unwrap()["result"], told);
    }
}

#[tokio::test]
async fn who_listens_beyond_this_machine_asks_who_comes_and_encrypts() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens");
    token(&file, "ann", "staff").await;
    let tokens = file.to_str().unwrap();
    for (args, told) in [
        (vec![], "all clients that reach 0.0.0.0:0 would be admitted"),
        (vec!["--tokens", tokens], "would be readable in transit"),
        (vec!["--tokens", tokens, "--plain"], "`--host NAME`"),
        (
            vec!["--tokens", "/nonexistent", "--plain", "--host", "a.example"],
            "/nonexistent",
        ),
    ] {
        let mut command = host::acp_chain("serve");
        command.args(["--listen", "0.0.0.0:0"]).args(&args);
        let ended = in_time("its end", command.args(["--", "true"]).output());
        let ended = ended.await.unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert!(
            !ended.status.success() && said.contains(told),
            "{args:?}: {said}"
        );
    }
}

#[tokio::test]
async fn what_admits_no_client_or_cannot_be_served_is_told_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens");
    fs::write(&file, "# None yet.\n").unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let metrics = taken.local_addr().unwrap().to_string();
    let tokens = file.to_str().unwrap();
    let mut command = serve(&["--tokens", tokens, "--metrics", &metrics, "--", "true"]);
    let ended = in_time("its end", command.output()).await.unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(
        !ended.status.success() && said.contains("`--metrics` names another address"),
        "{said}"
    );
    let mut command = serve(&["--tokens", tokens, "--", "true"]);
    command.stderr(Stdio::piped()).kill_on_drop(true);
    let mut running = command.spawn().unwrap();
    let mut lines = BufReader::new(running.stderr.take().unwrap()).lines();
    let first = in_time("the warning", lines.next_line()).await.unwrap();
    let told = format!("`acp-chain serve-token NAME --file {tokens}` adds one");
    assert!(
        first.as_ref().is_some_and(|line| line.contains(&told)),
        "{first:?}"
    );
}

#[tokio::test]
async fn a_certificate_of_the_authority_lets_in() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let mut authority = rcgen::CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let ca_key = rcgen::KeyPair::generate().unwrap();
    let ca = authority.self_signed(&ca_key).unwrap();
    let issuer = rcgen::Issuer::from_params(&authority, &ca_key);
    let signed = |name: &str| {
        let mut params = rcgen::CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.distinguished_name = rcgen::DistinguishedName::new();
        let names = &mut params.distinguished_name;
        names.push(rcgen::DnType::CommonName, name);
        let key = rcgen::KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &issuer).unwrap();
        (certificate.pem(), key.serialize_pem())
    };
    let (cert, key) = signed("127.0.0.1");
    fs::write(path("ca"), ca.pem()).unwrap();
    fs::write(path("cert"), cert).unwrap();
    fs::write(path("key"), key).unwrap();
    let mut command = serve(&["--tls-cert", &path("cert"), "--tls-key", &path("key")]);
    command.args(["--client-ca", &path("ca"), "--", AGENT]);
    let served = ServerProcess::by(&mut command).await;
    assert!(served.url.starts_with("https://"), "{}", served.url);
    // Installs the TLS provider.
    let _ = acp_chain_tests::web::client();
    let client = |identity: Option<(String, String)>| {
        let builder = Client::builder().no_proxy();
        let root = Certificate::from_pem(ca.pem().as_bytes()).unwrap();
        let builder = builder.tls_certs_only([root]);
        match identity {
            Some((cert, key)) => {
                let identity = Identity::from_pem(format!("{cert}{key}").as_bytes());
                builder.identity(identity.unwrap()).build().unwrap()
            }
            None => builder.build().unwrap(),
        }
    };
    let asks = |client: Client| client.post(&served.url);
    assert_eq!(status(asks(client(None))).await, 401);
    assert_eq!(status(asks(client(Some(signed("ann"))))).await, 200);
}
