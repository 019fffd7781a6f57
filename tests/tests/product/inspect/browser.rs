//! A real browser, controlled by a test.

use std::path::Path;
use std::process::Stdio;

use acp_chain_tests::host::peer;
use acp_chain_tests::wire::in_time;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

pub struct Browser {
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    _child: Child,
}

impl Browser {
    pub fn start() -> Self {
        let mut command = Command::new(peer("bin/npm-browser"));
        command.arg(peer("bin/chromium"));
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        Self {
            input: child.stdin.take().unwrap(),
            output: BufReader::new(child.stdout.take().unwrap()).lines(),
            _child: child,
        }
    }

    async fn asks(&mut self, asked: Value) -> Value {
        let line = format!("{asked}\n");
        self.input.write_all(line.as_bytes()).await.unwrap();
        let what = format!("the browser's answer to {asked}");
        let answer = in_time(&what, self.output.next_line()).await.unwrap();
        let answer = answer.expect("the browser runs");
        let mut answer: Value = serde_json::from_str(&answer).unwrap();
        assert!(answer.get("ok").is_some(), "{asked}: {}", answer["error"]);
        answer["ok"].take()
    }

    pub async fn open(&mut self, address: &str) {
        self.asks(json!({"open": address})).await;
    }

    /// The value of an expression.
    pub async fn run(&mut self, expression: &str) -> Value {
        self.asks(json!({"run": expression})).await
    }

    /// Waits until an expression is true.
    pub async fn wait(&mut self, expression: &str) {
        self.asks(json!({"wait": expression})).await;
    }

    pub async fn click(&mut self, selector: &str) {
        self.asks(json!({"click": selector})).await;
    }

    pub async fn keys(&mut self, keys: &[&str]) {
        for key in keys {
            self.asks(json!({"key": key})).await;
        }
    }

    pub async fn types(&mut self, text: &str) {
        self.asks(json!({"type": text})).await;
    }

    /// Clicks, and saves the download into a file.
    pub async fn saves(&mut self, selector: &str, into: &Path) {
        self.asks(json!({"save": selector, "into": into})).await;
    }

    /// The errors and requests that the page should not have.
    pub async fn told(&mut self) -> Value {
        self.asks(json!({"told": true})).await
    }
}
