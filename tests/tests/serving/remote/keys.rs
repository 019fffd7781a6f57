//! Keys and certificates that change while users are connected.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use acp_chain_tests::host;
use acp_chain_tests::wire::in_time;
use reqwest::{Certificate, Client, Method, RequestBuilder};

use super::issuer::{Answer, KeyServer, NAME, Signer};
use super::served::{AGENT, ServerProcess, Stream, initialize, posted};

/// A server with this `[serve]`, in front of the wild agent.
async fn serve(folder: &Path, settings: &str) -> ServerProcess {
    let settings_folder = folder.join("acp-chain");
    fs::create_dir(&settings_folder).unwrap();
    fs::write(settings_folder.join("config.toml"), settings).unwrap();
    let mut command = host::acp_chain("serve");
    command.args(["--listen", "127.0.0.1:0", "--", AGENT]);
    command.env("XDG_CONFIG_HOME", folder);
    ServerProcess::by(&mut command).await
}

/// The stream of a new connection, opened with these requests.
async fn stream(asks: impl Fn(Method) -> RequestBuilder) -> Stream {
    let begun = posted(asks(Method::POST), &initialize()).await;
    assert_eq!(begun.status(), 200);
    let id = &begun.headers()["acp-connection-id"];
    let asks = asks(Method::GET).header("acp-connection-id", id);
    let asks = asks.header("accept", "text/event-stream");
    Stream::of(in_time("a stream", asks.send()).await.unwrap())
}

#[tokio::test]
async fn who_came_by_a_key_that_is_gone_is_out_and_a_new_key_lets_in() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (Signer::new("old"), Signer::new("new"));
    let published = KeyServer::start(Answer::keys(&[&old])).await;
    let settings = format!(
        "[[serve.jwt]]\nissuer = {NAME:?}\naudience = \"acp\"\njwks = {:?}\n",
        published.url
    );
    let served = serve(folder.path(), &settings).await;
    let by = |token: String| {
        let served = &served;
        move |method| served.asks(method).bearer_auth(&token)
    };
    let status = async |token: &str| {
        let asks = served.asks(Method::POST).bearer_auth(token);
        posted(asks, &initialize()).await.status()
    };
    let mut before = stream(by(old.token("ann", 300))).await;
    // With a minute of leeway, the first token has some seconds left, and the second none.
    let mut short = stream(by(old.token("bob", -56))).await;
    assert_eq!(status(&old.token("bob", -61)).await, 401);
    assert_eq!(short.next().await, None);

    published.says(Answer::keys(&[&new]));
    let token = new.token("ann", 300);
    let in_again = async { while status(&token).await != 200 {} };
    in_time("the new key", in_again).await;
    assert_eq!(before.next().await, None);
    assert_eq!(status(&old.token("ann", 300)).await, 401);

    // A broken issuer changes nothing for users whose tokens it has signed.
    published.says(Answer::Nothing);
    let mut after = stream(by(token.clone())).await;
    assert_eq!(status(&Signer::new("unknown").token("eve", 300)).await, 401);
    assert_eq!(status(&token).await, 200);
    let silence = tokio::time::timeout(std::time::Duration::ZERO, after.next()).await;
    assert!(silence.is_err(), "{silence:?}");
}

/// A certificate for this machine, and its key.
fn certificate() -> (String, String) {
    let key = rcgen::KeyPair::generate().unwrap();
    let params = rcgen::CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let certificate = params.self_signed(&key).unwrap();
    (certificate.pem(), key.serialize_pem())
}

#[tokio::test]
async fn the_next_handshake_shows_a_certificate_that_was_renewed_and_open_streams_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let (cert, key) = (folder.path().join("cert"), folder.path().join("key"));
    let (first, second) = (certificate(), certificate());
    fs::write(&cert, &first.0).unwrap();
    fs::write(&key, &first.1).unwrap();
    let tokens = folder.path().join("tokens");
    let token = host::token(&tokens, "ann", &[]).await;
    let settings =
        format!("[serve]\ntokens = {tokens:?}\ntls = {{ cert = {cert:?}, key = {key:?} }}\n");
    let served = serve(folder.path(), &settings).await;
    // Installs the TLS provider.
    let _ = acp_chain_tests::web::client();
    let trusting = |(cert, _): &(String, String)| {
        let root = Certificate::from_pem(cert.as_bytes()).unwrap();
        let builder = Client::builder().no_proxy().tls_certs_only([root]);
        builder.build().unwrap()
    };
    // Each client does a full handshake: no client resumes another's TLS session.
    let shown = async |certificate: &(String, String)| {
        let url = served.url.replace("/acp", "/healthz");
        trusting(certificate).get(url).send().await.is_ok()
    };
    assert!(shown(&first).await && !shown(&second).await);
    let of_first: Client = trusting(&first);
    let url: Arc<str> = served.url.as_str().into();
    let mut stream = stream(|method| {
        let asks = of_first.request(method, &*url);
        asks.bearer_auth(&token)
    })
    .await;
    // Between the two writes, certificate and key do not match, and the first certificate stays.
    fs::write(&cert, &second.0).unwrap();
    fs::write(&key, &second.1).unwrap();
    let renewed = async { while !shown(&second).await {} };
    in_time("the new certificate", renewed).await;
    assert!(!shown(&first).await);
    let silence = tokio::time::timeout(std::time::Duration::ZERO, stream.next()).await;
    assert!(silence.is_err(), "{silence:?}");
}
