//! Traces to inspect.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;

use acp_chain_live::Offer;
use acp_chain_tests::host::{self, peer};
use acp_chain_tests::wire::{WATCHDOG, in_time};
use acp_chain_trace::{Line, Sink};
use tokio::process::Command;

/// The names of five proxies, in chain order from the client.
pub const PROXIES: [&str; 5] = ["rules", "todo", "skills", "permissions", "redact"];

/// The secret that `redact` removes from the first prompt.
pub const SECRET: &str = "AKIAIOSFODNN7EXAMPLQ";

/// Records two turns of acpx with elizacp, through five proxies of ours. Each has a chain of its own.
pub async fn recorded(folder: &Path) -> PathBuf {
    let skills = "[[proxy.config.skill]]\nname = 'release'\ndescription = 'How to release.'\npath = '/release.md'";
    let components = PROXIES.map(host::component);
    let proxies: Vec<_> = PROXIES
        .iter()
        .zip(&components)
        .map(|(id, path)| {
            let config = match *id {
                "skills" => skills,
                "permissions" => "[[proxy.config.rules]]\ndecision = 'ask'",
                _ => "",
            };
            (*id, &**path, config)
        })
        .collect();
    let manifest = host::manifest(folder, &proxies).unwrap();
    let trace = folder.join("trace.jsonl");
    let options = [
        "--trace-bodies".as_ref(),
        "--trace".as_ref(),
        trace.as_os_str(),
        "--manifest".as_ref(),
        manifest.as_os_str(),
    ];
    let eliza = peer("bin/elizacp");
    let chain = host::run_with(
        options,
        [
            eliza.as_os_str(),
            "--deterministic".as_ref(),
            "acp".as_ref(),
        ],
    );
    let agent = host::script(folder, "agent", &chain).unwrap();
    let told_secret = format!("my key is {SECRET}, use it");
    for prompt in [&told_secret, "List tools from todo"] {
        let mut acpx = Command::new(peer("bin/acpx"));
        acpx.arg("--agent")
            .arg(&agent)
            .args(["--approve-all", "exec", prompt])
            .current_dir(folder)
            .env("HOME", folder.join("home"))
            .envs(host::environment(&chain))
            .kill_on_drop(true);
        let output = in_time("a turn of acpx", acpx.output()).await.unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{told}");
    }
    trace
}

/// Texts that set `canary` if any of them runs.
const ATTACKS: [&str; 6] = [
    "<img src=x onerror=globalThis.canary=1>",
    "</script><script>globalThis.canary=1</script>",
    "\"><svg onload=globalThis.canary=1>",
    "javascript:globalThis.canary=1",
    "${globalThis.canary=1}{{globalThis.canary=1}}<!--",
    "\u{202e}\u{0}\u{7}';globalThis.canary=1;'",
];

/// A trace with attacks in every member.
pub fn hostile(folder: &Path) -> PathBuf {
    let mut text = String::new();
    let mut line = |members: serde_json::Value| {
        let _ = writeln!(text, "{members}");
    };
    for attack in ATTACKS {
        let hop = |from: &str, to: &str, kind: &str| {
            serde_json::json!({
                "time": attack, "connection": attack, "from": from, "to": to, "kind": kind, "method": attack,
                "session": attack, "request": 1, "id": attack, "size": 9_000_000_000_000_000_u64, "waited": u64::MAX,
                "params": {attack: [attack, {"text": attack}], "prompt": [{"text": attack}]}, "why": attack,
            })
        };
        line(serde_json::json!({
            "connection": attack, "version": 1, "program": attack, "role": "agent", "proxies": [attack],
        }));
        let mut prompt = hop("client", attack, "request");
        prompt["method"] = "session/prompt".into();
        line(prompt);
        line(hop("client", attack, "request"));
        line(serde_json::json!({
            "connection": attack, "proxy": attack, "decision": "fail", "why": attack, "method": attack, "request": 1,
        }));
        line(hop(attack, "agent", "request"));
        let mut answer = hop("agent", "client", "response");
        answer["error"] = attack.into();
        line(answer);
        line(serde_json::json!({"connection": attack, "proxy": attack, "denied": 7}));
        line(
            serde_json::json!({"connection": attack, "proxy": attack, "state": "failed", "why": attack}),
        );
        line(serde_json::json!({"connection": attack, "dropped": 3}));
    }
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    let _ = writeln!(
        text,
        r#"{{"connection":"deep","from":"client","to":"agent","kind":"notification","method":"deep","params":{deep}}}"#
    );
    let path = folder.join("<img src=x onerror=globalThis.canary=1>.jsonl");
    fs::write(&path, text).unwrap();
    path
}

/// A running chain in this process, which sends messages on request.
pub struct Chain {
    offer: Offer,
    joined: mpsc::Receiver<()>,
    said: u64,
}

impl Chain {
    pub fn open() -> Self {
        let mut offer = Offer::open().unwrap();
        let acceptor = offer.acceptor().unwrap();
        let (joins, joined) = mpsc::channel();
        // The thread ends with the offer.
        thread::spawn(move || {
            acceptor.keep(|| {
                let _ = joins.send(());
            });
        });
        let mut chain = Self {
            offer,
            joined,
            said: 0,
        };
        chain.writes(&[
            serde_json::json!({"version": 1, "user": "ann", "role": "agent", "proxies": []}),
        ]);
        chain
    }

    /// Waits until a listener joins.
    pub fn heard(&self) {
        self.joined.recv_timeout(WATCHDOG).unwrap();
    }

    /// Sends `count` messages.
    pub fn says(&mut self, count: u64) {
        let lines = (self.said..self.said + count).map(|number| {
            serde_json::json!({
                "from": "client", "to": "agent", "kind": "notification", "method": "live/told",
                "params": {"number": number},
            })
        });
        self.said += count;
        self.writes(&lines.collect::<Vec<_>>());
    }

    fn writes(&mut self, lines: &[serde_json::Value]) {
        let lines = lines.iter().map(|line| {
            let mut line: Line = serde_json::from_value(line.clone()).unwrap();
            line.connection = self.offer.connection().to_owned();
            line
        });
        self.offer.write(&lines.collect::<Vec<_>>()).unwrap();
    }
}
