//! Which clients are admitted, and the answers to others.

use acp_chain_tests::host;
use acp_chain_tests::web;
use acp_chain_tests::wire::in_time;
use tokio::net::TcpStream;

use super::{Inspector, traces};

#[tokio::test]
async fn who_lacks_the_secret_or_comes_from_elsewhere_gets_nothing_and_no_hint() {
    let folder = tempfile::tempdir().unwrap();
    let inspector = Inspector::start(&[&traces::hostile(folder.path())]).await;
    let client = web::client();
    let address = &inspector.address;
    let (port, length) = (inspector.port(), address.len());
    let secret = &address[length - 33..length - 1];
    assert!(secret.chars().all(|c| c.is_ascii_hexdigit()), "{address}");
    let root = format!("http://127.0.0.1:{port}");
    let wrong = format!("{root}/{}/", "0".repeat(32));
    let here = ("host", format!("127.0.0.1:{port}"));
    for (address, header) in [
        (&root, here.clone()),
        (&wrong, here.clone()),
        (&format!("{wrong}stream"), here.clone()),
        (&format!("{root}/{secret}"), here.clone()),
        (address, ("host", "evil.example".to_owned())),
        (address, ("host", format!("localhost:{port}"))),
        (address, ("origin", "http://evil.example".to_owned())),
        (address, ("origin", "null".to_owned())),
        (
            &format!("{address}stream"),
            ("origin", format!("http://127.0.0.1:1{port}")),
        ),
        (&format!("{address}no-such-file"), here.clone()),
        (&format!("{address}../Cargo.toml"), here.clone()),
    ] {
        let request = client.get(address).header(header.0, &header.1);
        let answer = in_time("an answer", request.send()).await.unwrap();
        let status = answer.status().as_u16();
        let text = answer.text().await.unwrap();
        assert_eq!(
            (status, &*text),
            (404, "not found\n"),
            "{address} {header:?}"
        );
    }
    let export = client.post(format!("{address}export?to=ndjson"));
    let answer = export
        .header("origin", "http://evil.example")
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 404);
}

#[tokio::test]
async fn idle_sockets_keep_nobody_out() {
    let folder = tempfile::tempdir().unwrap();
    let inspector = Inspector::start(&[&traces::hostile(folder.path())]).await;
    let address = format!("127.0.0.1:{}", inspector.port());
    let mut idle = Vec::new();
    for number in 0..300 {
        idle.push(TcpStream::connect(&address).await.unwrap());
        if number % 20 == 0 {
            // A new connection each time.
            let request = web::client().get(&inspector.address).send();
            let answer = in_time("the page", request).await.unwrap();
            assert_eq!(answer.status(), 200, "{number}");
        }
    }
}

#[tokio::test]
async fn every_answer_keeps_the_page_to_itself() {
    let folder = tempfile::tempdir().unwrap();
    let inspector = Inspector::start(&[&traces::hostile(folder.path())]).await;
    let client = web::client();
    for name in ["", "main.js", "line?row=0", "none"] {
        let answer = client.get(format!("{}{name}", inspector.address)).send();
        let answer = in_time("an answer", answer).await.unwrap();
        let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
        let policy = header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"));
        assert!(!policy.contains("unsafe"), "{policy}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-embedder-policy", "require-corp"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(header(name), value);
        }
    }
    // The content of a trace is text, never a page. A row is announced once it is read.
    let stream = client.get(format!("{}stream", inspector.address));
    let mut stream = stream.send().await.unwrap();
    let mut told = Vec::new();
    while !String::from_utf8_lossy(&told).contains("<img src=x") {
        let more = in_time("a row", stream.chunk()).await.unwrap();
        told.extend(more.expect("the stream has no end"));
    }
    // The names of a row may be announced before the row can be requested.
    let has_row = async {
        loop {
            let line = client.get(format!("{}line?row=1", inspector.address));
            let line = line.send().await.unwrap();
            assert_eq!(line.headers()["content-type"], "text/plain; charset=utf-8");
            if line.text().await.unwrap().contains("<img src=x") {
                return;
            }
        }
    };
    in_time("the row", has_row).await;
    let (status, _) = inspector.interrupt().await;
    assert_eq!(status.code(), Some(0));
}

#[tokio::test]
async fn a_port_in_use_and_a_file_that_is_no_trace_are_told_with_the_next_step() {
    let folder = tempfile::tempdir().unwrap();
    let trace = traces::hostile(folder.path());
    let inspector = Inspector::start(&[&trace]).await;
    let no_trace = folder.path().join("notes.md");
    std::fs::write(&no_trace, "# Notes\n").unwrap();
    let shown = no_trace.display();
    for (args, code, words) in [
        (
            vec![
                trace.as_os_str(),
                "--port".as_ref(),
                inspector.port().as_ref(),
            ],
            1,
            format!(
                "port {} is in use; choose another with `--port`",
                inspector.port()
            ),
        ),
        (
            vec![no_trace.as_os_str()],
            2,
            format!("{shown}:1: not a line of a trace"),
        ),
        (
            vec!["/no/such/trace".as_ref()],
            2,
            "/no/such/trace: the trace cannot be read".to_owned(),
        ),
    ] {
        let mut command = host::acp_chain("inspect");
        command.args(args).kill_on_drop(true);
        let output = in_time("its end", command.output()).await.unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{told}");
        assert!(
            told.starts_with(&format!("acp-chain inspect: {words}")),
            "{told}"
        );
        assert!(output.stdout.is_empty());
    }
}
