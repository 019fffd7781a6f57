//! Transcripts made from recordings.

use std::fs;

use acp_chain_tests::host;
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;

use super::Folder;

const AGENT: &str = env!("CARGO_BIN_EXE_wild-agent");

/// Records a session of `shout` with one turn.
async fn record(folder: &Folder) {
    let shout = host::component("shout-rust");
    let manifest =
        host::manifest(folder.0.path(), &[("shout", &shout, "file = '/notes'")]).unwrap();
    let trace = folder.path("trace.ndjson");
    let options = [
        "--manifest".as_ref(),
        manifest.as_os_str(),
        "--trace".as_ref(),
        trace.as_os_str(),
    ];
    let command = host::run_with(options, [AGENT]);
    let mut client = Process::start("client", &Transcript::new(), command).unwrap();
    client.initialize().await;
    let setup = r#"{"cwd":"/project","mcpServers":[]}"#;
    assert!(
        client
            .wire
            .request("session/new", setup)
            .await
            .result
            .is_some()
    );
    for answers in [true, false] {
        let prompt = client.prompt("echo hello\nstream 3");
        let asked = loop {
            let message = client.wire.receive().await.unwrap();
            if message.is_request() {
                break message;
            }
        };
        let answer = if answers {
            asked.result(r#"{"content":"be kind"}"#)
        } else {
            asked.error(r#"{"code":-32002,"message":"gone"}"#)
        };
        client.wire.send_all(answer);
        assert!(client.wire.response(&prompt).await.result.is_some());
    }
    assert!(client.finish().await.unwrap().status.success());
}

#[tokio::test]
async fn a_run_that_was_recorded_makes_a_transcript_that_holds() {
    let folder = Folder::with("");
    record(&folder).await;
    fs::remove_file(folder.path("tests/it.transcript")).unwrap();
    let args = [
        "--from",
        "trace.ndjson",
        "tests/it.transcript",
        "--manifest",
        "acp-chain.toml",
    ];
    let (code, text) = folder.test(&args).await;
    assert_eq!((code, &*text), (0, ""));
    let made = folder.transcript();
    assert!(
        made.starts_with("manifest = \"../acp-chain.toml\"\n---\nclient: r1 initialize"),
        "{made}"
    );
    assert_eq!(folder.test(&["--update"]).await.0, 0);
    assert_eq!(folder.transcript(), made);
    assert!(made.contains("\"text\": \"ECHO HELLO"), "{made}");
    // Without the file in its configuration, the proxy never requests it.
    let shout = host::component("shout-rust").display().to_string();
    let (code, text) = folder
        .test(&["--from", "trace.ndjson", "--component", &shout])
        .await;
    assert_eq!(code, 2);
    assert!(
        text.contains("name that of the trace by `--manifest FILE`"),
        "{text}"
    );
    assert!(
        text.contains("! the client did not receive the request `r4`, and cannot answer it"),
        "{text}"
    );
    // An existing file is not overwritten.
    let (code, text) = folder.test(&args).await;
    assert_eq!(code, 2);
    assert!(text.contains("there is such a file already"), "{text}");
}

#[tokio::test]
async fn what_is_no_trace_is_told_with_its_line() {
    let folder = Folder::with("");
    for (trace, told) in [
        (
            "",
            "trace: the trace has no message of a client or an agent",
        ),
        ("{}\nx\n", "trace:2: not a line of a trace: expected value"),
        (
            "{\"from\":1}\n",
            "trace:1: not a line of a trace: invalid type: integer `1`",
        ),
    ] {
        fs::write(folder.path("trace"), trace).unwrap();
        let (code, text) = folder.test(&["--from", "trace"]).await;
        assert_eq!(code, 2);
        assert!(text.contains(told), "{text}");
    }
}
