//! Sources that misbehave.

mod passwords;
mod signatures;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::header::HeaderValue;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::layout::{Descriptor, INDEX, MANIFEST, WASM_CONFIG, WASM_LAYER};
use super::*;
use acp_chain_extension::Reference;

const COMPONENT_BYTES: &[u8] = b"\0asm what it is made of";

/// A local server that answers each request with bytes, and then closes the connection unless `silent` is set. An
/// answer to `AUTHORIZATION PATH` is only for requests with that header.
struct Server {
    address: String,
    /// The heads of the requests.
    log: Arc<Mutex<Vec<String>>>,
}

type Answers = BTreeMap<String, Vec<u8>>;

impl Server {
    /// Answers paths with these bytes. `answers` gets the address of the server.
    async fn start(answers: impl Fn(&str) -> Answers, silent: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("127.0.0.1:{}", listener.local_addr().unwrap().port());
        let log = Arc::new(Mutex::new(Vec::new()));
        let (answers, requests) = (Arc::new(answers(&address)), log.clone());
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (answers, requests) = (answers.clone(), requests.clone());
                tokio::spawn(async move {
                    let mut head = Vec::new();
                    while !head.ends_with(b"\r\n\r\n") {
                        head.push(stream.read_u8().await?);
                    }
                    let head = String::from_utf8_lossy(&head).into_owned();
                    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                    let mut lines = head.lines();
                    let header = lines.find_map(|line| line.strip_prefix("authorization: "));
                    let authorized = header.map(|header| format!("{header} {path}"));
                    let authorized = authorized.filter(|key| answers.contains_key(key));
                    let path = authorized.unwrap_or(path);
                    requests.lock().unwrap().push(head);
                    let missing = answer(404, &[], b"no such thing\x1b[31m");
                    let bytes = answers.get(&path).unwrap_or(&missing);
                    stream.write_all(bytes).await?;
                    if silent && answers.contains_key(&path) {
                        std::future::pending::<()>().await;
                    }
                    stream.shutdown().await
                });
            }
        });
        Self { address, log }
    }

    fn requests(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }

    /// The result of fetching `:1`, or a pinned version.
    async fn fetch(&self, version: &str) -> Result<Fetched, String> {
        let source = format!("{}/org/it{version}", self.address);
        let fetched = fetcher().fetch(&source.parse().unwrap(), &|_, _| {}).await;
        fetched.map_err(|error| error.to_string())
    }
}

fn answer(status: u16, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let length = body.len().to_string();
    let has_length = headers.iter().any(|(name, _)| *name == "Content-Length");
    let length = (!has_length).then_some(("Content-Length", &*length));
    let headers = headers.iter().copied().chain(length);
    let headers: Vec<_> = headers
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    let head = format!(
        "HTTP/1.1 {status} It\r\nConnection: close\r\n{}\r\n",
        headers.concat()
    );
    [head.as_bytes(), body].concat()
}

fn fetcher() -> Fetcher {
    let patience = Patience {
        silence: Duration::from_millis(300),
        ..Patience::default()
    };
    Fetcher {
        web: Some(Web::new(patience).unwrap()),
    }
}

fn manifest(layer: &Descriptor) -> Vec<u8> {
    let config = Descriptor::of(WASM_CONFIG, b"{}");
    let manifest = json!({ "schemaVersion": 2, "config": config, "layers": [layer] });
    manifest.to_string().into_bytes()
}

fn layer() -> Descriptor {
    Descriptor::of(WASM_LAYER, COMPONENT_BYTES)
}

/// A registry with a manifest, and this answer to requests for the blob.
async fn registry(layer: Descriptor, blob: Vec<u8>, silent: bool) -> Server {
    let path = format!("/v2/org/it/blobs/{}", layer.digest);
    let manifest = answer(200, &[], &manifest(&layer));
    let answers = move |_: &str| {
        Answers::from([
            ("/v2/org/it/manifests/1".to_owned(), manifest.clone()),
            (path.clone(), blob.clone()),
        ])
    };
    Server::start(answers, silent).await
}

#[tokio::test]
async fn a_complete_answer_is_fetched() {
    let server = registry(layer(), answer(200, &[], COMPONENT_BYTES), false).await;
    let fetched = server.fetch(":1").await.unwrap();
    assert_eq!(fetched.component, COMPONENT_BYTES);
    assert_eq!(fetched.digest, Digest::of(COMPONENT_BYTES));
    assert_eq!(fetched.manifest, Some(Digest::of(&manifest(&layer()))));
    assert!(fetched.signatures.is_empty());
}

#[tokio::test]
async fn a_file_is_fetched_from_a_web_server_on_this_machine_if_its_digest_fits() {
    let files = |_: &str| {
        let answer = answer(200, &[], COMPONENT_BYTES);
        Answers::from([("/it.wasm".to_owned(), answer)])
    };
    let server = Server::start(files, false).await;
    let fetch = async |digest: Digest| {
        let source = format!("http://{}/it.wasm#sha256={}", server.address, digest.hex());
        let source = source.parse().unwrap();
        fetcher().fetch(&source, &|_, _| {}).await
    };
    let fetched = fetch(Digest::of(COMPONENT_BYTES)).await.unwrap();
    assert_eq!(fetched.component, COMPONENT_BYTES);
    fetch(Digest::of(b"another")).await.unwrap_err();
}

#[tokio::test]
async fn an_incomplete_answer_is_an_error() {
    let truncated = answer(200, &[("Content-Length", "23")], &COMPONENT_BYTES[..22]);
    let chunked = b"HTTP/1.1 200 It\r\nTransfer-Encoding: chunked\r\n\r\n";
    let oversized = [&chunked[..], b"40\r\n", &[b'x'; 64], b"\r\n"].concat();
    let changed = COMPONENT_BYTES.to_ascii_uppercase();
    for (blob, expected) in [
        (truncated, "the connection broke"),
        (Vec::new(), "the connection broke"),
        (oversized, "it is larger than 23 B"),
        (answer(200, &[], &[0; 1000]), "it is larger than 23 B"),
        (
            answer(200, &[], &changed),
            "it was changed or truncated; nothing was installed",
        ),
        (answer(200, &[], b""), "it was changed or truncated"),
        (
            answer(500, &[], b"\x1b[31mno"),
            "the server answers 500 (\\u{1b}[31mno)",
        ),
        (
            answer(401, &[], b""),
            "401; if you have an account, run `docker login` for that registry",
        ),
    ] {
        let server = registry(layer(), blob, false).await;
        let told = server.fetch(":1").await.unwrap_err();
        assert!(told.contains(expected), "{told}\nlacks\n{expected}");
        assert!(told.contains(&server.address), "{told}");
    }
}

#[tokio::test]
async fn a_server_that_stops_sending_is_an_error() {
    let long = ("Content-Length", "23");
    let silent = answer(200, &[long], &COMPONENT_BYTES[..5]);
    let server = registry(layer(), silent, true).await;
    let told = server.fetch(":1").await.unwrap_err();
    assert!(
        told.contains("the server has stopped sending; try again later"),
        "{told}"
    );
}

#[tokio::test]
async fn an_upload_may_take_longer_than_a_server_may_be_silent() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let web = fetcher().web.unwrap();
    let upload = web.send(&url, web.upload.put(&url).body("it"), None);
    let server = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        // A request sent after the upload has timed out meanwhile.
        web.get(&url).await.unwrap_err();
        stream.write_all(&answer(201, &[], b"")).await.unwrap();
        stream
    };
    let (uploaded, _stream) = tokio::join!(upload, server);
    assert_eq!(uploaded.unwrap().status().as_u16(), 201);
}

#[tokio::test]
async fn a_refused_connection_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let source = format!("{address}/it:1").parse().unwrap();
    let told = fetcher()
        .fetch(&source, &|_, _| {})
        .await
        .unwrap_err()
        .to_string();
    assert!(told.contains("there is no connection"), "{told}");
}

#[tokio::test]
async fn a_blob_over_the_limit_is_not_requested() {
    let huge = Descriptor {
        size: COMPONENT as u64 + 1,
        ..layer()
    };
    let server = registry(huge, answer(200, &[], COMPONENT_BYTES), false).await;
    let told = server.fetch(":1").await.unwrap_err();
    assert!(told.contains("it is larger than 256 MiB"), "{told}");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn an_endless_manifest_is_cut_off() {
    let endless = answer(200, &[("Content-Length", "99999999")], b"{");
    let answers = |_: &str| Answers::from([("/v2/org/it/manifests/1".to_owned(), endless.clone())]);
    let told = Server::start(answers, false)
        .await
        .fetch(":1")
        .await
        .unwrap_err();
    assert!(told.contains("it is larger than 4 MiB"), "{told}");
}

#[tokio::test]
async fn a_moved_tag_is_an_error_if_a_digest_is_locked() {
    let server = registry(layer(), answer(200, &[], COMPONENT_BYTES), false).await;
    let locked = Digest::of(b"what it was");
    let path = format!("/v2/org/it/manifests/{locked}");
    let answers = |_: &str| Answers::from([(path.clone(), answer(200, &[], &manifest(&layer())))]);
    let moved = Server::start(answers, false).await;
    let told = moved.fetch(&format!(":1@{locked}")).await.unwrap_err();
    assert!(
        told.contains(&format!("expected {locked}, but got")),
        "{told}"
    );
    // If the locked version was removed, the tag is irrelevant.
    let told = server.fetch(&format!(":1@{locked}")).await.unwrap_err();
    assert!(
        told.contains("404 (no such thing\\u{1b}[31m); check the name"),
        "{told}"
    );
}

#[tokio::test]
async fn an_error_names_another_layout() {
    let tar = Descriptor::of("application/vnd.oci.image.layer.v1.tar+gzip", b"");
    let told = registry(tar, Vec::new(), false)
        .await
        .fetch(":1")
        .await
        .unwrap_err();
    assert!(
        told.contains("the layers `application/vnd.oci.image.layer.v1.tar+gzip`"),
        "{told}"
    );
    for text in [
        "[]",
        "{",
        "{\"manifests\":[]}",
        "{\"schemaVersion\":2,\"config\":3}",
    ] {
        let sent = answer(200, &[], text.as_bytes());
        let answers =
            |_: &str| Answers::from([("/v2/org/it/manifests/1".to_owned(), sent.clone())]);
        let told = Server::start(answers, false)
            .await
            .fetch(":1")
            .await
            .unwrap_err();
        assert!(told.contains("no manifest of a single artifact"), "{told}");
    }
}

/// A registry that requires a password, and redirects requests for the blob.
async fn guarded(to: &str) -> (Server, Result<Vec<u8>, String>) {
    let path = format!("/v2/org/it/blobs/{}", layer().digest);
    let elsewhere = answer(307, &[("Location", to)], b"");
    let server = Server::start(
        |_| Answers::from([(path.clone(), elsewhere.clone())]),
        false,
    )
    .await;
    let fetcher = fetcher();
    let reference: Reference = format!("{}/org/it:1", server.address).parse().unwrap();
    let registry = Registry::new(fetcher.web.as_ref().unwrap(), &reference, PULL).unwrap();
    // As if it answered a challenge.
    *registry.authorization.lock().await = Some(HeaderValue::from_static("Basic c2VjcmV0"));
    let blob = registry.blob(&layer(), COMPONENT, &|_, _| {}).await;
    (server, blob.map_err(|error| error.to_string()))
}

#[tokio::test]
async fn a_password_does_not_follow_to_another_host() {
    let storage = |_: &str| Answers::from([("/it".to_owned(), answer(200, &[], COMPONENT_BYTES))]);
    let storage = Server::start(storage, false).await;
    let (server, fetched) = guarded(&format!("http://{}/it", storage.address)).await;
    assert_eq!(fetched.unwrap(), COMPONENT_BYTES);
    assert!(server.requests()[0].contains("authorization: Basic c2VjcmV0"));
    let [head] = &storage.requests()[..] else {
        panic!("{:?}", storage.requests());
    };
    assert!(!head.to_lowercase().contains("authorization"), "{head}");
    assert!(!head.contains("c2VjcmV0"), "{head}");
}

#[tokio::test]
async fn neither_unencrypted_nor_endless_redirects_are_followed() {
    let (_, fetched) = guarded("http://192.0.2.1/it").await;
    let told = fetched.unwrap_err();
    assert!(
        told.contains("it redirects to an unencrypted address"),
        "{told}"
    );
    let circle = format!("/v2/org/it/blobs/{}", layer().digest);
    let (server, fetched) = guarded(&circle).await;
    let told = fetched.unwrap_err();
    assert!(told.contains("it redirects too often"), "{told}");
    assert_eq!(server.requests().len(), 6);
}

#[tokio::test]
async fn a_request_is_repeated_once_after_a_short_wait() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/it", listener.local_addr().unwrap());
    let busy = answer(429, &[("Retry-After", "0")], b"too many");
    let answers = [&busy, &answer(200, &[], b"it"), &busy, &busy];
    let server = async {
        for answer in answers {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            stream.write_all(answer).await.unwrap();
        }
    };
    let web = fetcher().web.unwrap();
    let client = async {
        assert_eq!(web.whole(&url, 10).await.unwrap(), b"it");
        web.whole(&url, 10).await.unwrap_err().to_string()
    };
    let ((), told) = tokio::join!(server, client);
    assert!(
        told.contains("answers 429 (too many); try again in 0 s"),
        "{told}"
    );
}

#[tokio::test]
async fn a_long_wait_is_an_error() {
    let busy = answer(429, &[("Retry-After", "3600")], b"");
    let answers = |_: &str| Answers::from([("/v2/org/it/manifests/1".to_owned(), busy.clone())]);
    let server = Server::start(answers, false).await;
    let told = server.fetch(":1").await.unwrap_err();
    assert!(told.contains("answers 429; try again in 3600 s"), "{told}");
    assert_eq!(server.requests().len(), 1);
}
