//! The MCP inspector's command line, an MCP client of its own, over both bridges.

use std::process::Output;

use acp_chain_tests::declared::{address, command};
use acp_chain_tests::host::environment;
use serde_json::{Value, json};
use tokio::process::Command;

use super::caller::{BOTH, HTTP, bridged, watched};
use super::turns::agent;

/// One run of the inspector; returns whether it succeeded, and its output on both streams.
async fn inspect(declared: &Value, words: &[&str]) -> (bool, String, String) {
    let inspector = agent(&["mcp-inspector", "--cli"]);
    let home = tempfile::tempdir().unwrap();
    let mut run = Command::new(&inspector[0]);
    run.args(&inspector[1..])
        .env("HOME", home.path())
        .current_dir(home.path());
    if declared["type"] == "http" {
        let (url, bearer) = address(declared);
        let header = format!("Authorization: {bearer}");
        run.args([
            "--transport",
            "http",
            "--server-url",
            &url,
            "--header",
            &header,
        ]);
    } else {
        let shim = command(declared);
        for (name, value) in environment(&shim) {
            let [name, value] = [name, value].map(|text| text.to_str().unwrap());
            run.arg("-e").arg(format!("{name}={value}"));
        }
        let shim = shim.as_std();
        run.arg(shim.get_program()).args(shim.get_args());
    }
    let output = run.args(words).kill_on_drop(true).output();
    let Output {
        status,
        stdout,
        stderr,
    } = watched("the inspector", output).await.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.success(), text(stdout), text(stderr))
}

/// The same for a run that succeeds, as JSON.
async fn inspected(declared: &Value, words: &[&str]) -> Value {
    let (well, stdout, stderr) = inspect(declared, words).await;
    assert!(well, "{words:?}: {stdout}\n{stderr}");
    serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}\n{stderr}"))
}

#[tokio::test]
async fn it_lists_and_calls_the_tools_of_a_proxy() {
    for agent in BOTH {
        let (_chain, declared) = bridged(&[("tools", "{}")], agent).await;
        let server = &declared[0];
        let call = |name| ["--method", "tools/call", "--tool-name", name];
        let listed = ["--method", "tools/list"];
        let add = [&call("add")[..], &["--tool-arg", "a=2", "b=40"]].concat();
        let (fail, refuse, steps) = (call("fail"), call("protocol-error"), call("progress"));
        let (listed, sum, failed, refused, steps) = tokio::join!(
            inspected(server, &listed),
            inspected(server, &add),
            inspect(server, &fail),
            inspect(server, &refuse),
            inspect(server, &steps),
        );
        assert_eq!(listed["tools"][0]["name"], "echo", "{listed}");
        assert_eq!(sum["structuredContent"], json!({ "sum": 42 }), "{sum}");
        let (well, stdout, stderr) = failed;
        assert!(
            !well && stdout.contains("it failed, as it was told to"),
            "{stdout}"
        );
        assert!(stderr.contains("tool_is_error"), "{stderr}");
        let (well, _, stderr) = refused;
        assert!(
            !well && stderr.contains(r#""message":"not like this""#),
            "{stderr}"
        );
        // The inspector does not show progress, and is not disturbed by it.
        let (well, stdout, stderr) = steps;
        assert!(well && stdout.contains("three steps"), "{stdout}\n{stderr}");
    }
}

#[tokio::test]
async fn it_calls_a_tool_a_hundred_times_at_once_ten_at_a_time() {
    for agent in BOTH {
        let (_chain, declared) = bridged(&[("tools", "{}")], agent).await;
        let call = ["--method", "tools/call", "--tool-name", "session"];
        let load = [
            "--load",
            "--load-requests",
            "100",
            "--load-concurrency",
            "10",
        ];
        let report = inspected(&declared[0], &[&call[..], &load].concat()).await;
        assert_eq!(
            (&report["ok"], &report["errors"]),
            (&json!(100), &json!(0)),
            "{report}"
        );
    }
}

#[tokio::test]
async fn it_is_not_let_in_without_the_secret() {
    let (_chain, mut declared) = bridged(&[("tools", "{}")], HTTP).await;
    declared[0]["headers"][0]["value"] = json!("Bearer of bad news");
    let (well, stdout, stderr) = inspect(&declared[0], &["--method", "tools/list"]).await;
    assert!(
        !well && stderr.contains("auth_required"),
        "{stdout}\n{stderr}"
    );
}
