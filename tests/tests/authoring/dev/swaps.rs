//! Swaps in a busy chain: real components, at any point of a message's way.

use std::path::{Path, PathBuf};

use acp_chain::chain::{Proxy, Swap, Terms};
use acp_chain::channel::{Failure, FailurePolicy, Grant};
use acp_chain::sandbox::{Component, Engine, Guest};
use acp_chain_tests::client::prompt;
use acp_chain_tests::envelope::notification;
use acp_chain_tests::host::{self, InProcess};
use acp_chain_tests::transcript::Transcript;
use acp_chain_tests::wire::in_time;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use super::author::{NAME, Project};

/// Counts streamed messages and saves the count; holds every tenth until later messages arrive or the turn ends.
const COUNTS: &str = r#"
import { defineProxy, save, set } from "../sdk/acp-chain.js";

const proxy = defineProxy({ onFailure: "refuse" });
let count = 0;
const held = [];

proxy.onStart(({ saved }) => {
  count = saved ?? 0;
});

proxy.onNotification("session/update", { from: "agent", body: false }, async () => {
  count += 1;
  save(count);
  const counted = [set("/count", count)];
  if (count % 10 === 0) await new Promise((resolve) => held.push(resolve));
  else if (held.length > 2) held.shift()();
  return counted;
});

proxy.onResponse("session/prompt", { from: "agent", body: false }, () => {
  for (const settle of held.splice(0)) settle();
});

export const { handler } = proxy;
"#;

/// Sends the client a request in its tool, and answers with its version and the client's answer.
const ASKS: &str = r#"
import { client, defineProxy } from "../sdk/acp-chain.js";

const proxy = defineProxy();

proxy.tool("ask", { description: "Asks the client." }, async () =>
  `VERSION: ${JSON.stringify(await client.request("own", {}))}`);

export const { handler, tools } = proxy;
"#;

/// The engine of the components, and the swaps of the chain.
struct World {
    engine: Engine,
    swaps: mpsc::Sender<Swap>,
}

impl World {
    /// A chain of this component.
    async fn new(component: &Path) -> (Self, InProcess) {
        let (swaps, newer) = mpsc::channel(1);
        let engine = Engine::new(Some(&host::code_cache())).unwrap();
        let world = Self { engine, swaps };
        let guest = world.guest(component);
        let proxy = Proxy::start(NAME, guest, terms()).await.unwrap();
        let chain = InProcess::with_swaps(vec![proxy.into()], newer, &Transcript::new());
        (world, chain)
    }

    fn guest(&self, component: &Path) -> Guest {
        let component = Component::load(&self.engine, component).unwrap();
        Guest {
            grant: terms().grant,
            ..Guest::new(&self.engine, component, NAME)
        }
    }

    /// Swaps in a component.
    async fn swap(&self, guest: Guest) -> oneshot::Receiver<Result<(), Failure>> {
        let (done, is_done) = oneshot::channel();
        let swap = Swap {
            proxy: NAME.to_owned(),
            source: Box::new(guest),
            terms: terms(),
            on_failure: None,
            done,
            cut_short: Box::new(|_| ()),
        };
        self.swaps.send(swap).await.unwrap();
        is_done
    }
}

fn terms() -> Terms {
    Terms {
        grant: Grant::unlimited().into(),
        on_failure: FailurePolicy::Refuse,
        sleep_after: None,
        ..Terms::default()
    }
}

async fn built(project: &Project) -> PathBuf {
    let output = project.acp_chain("build").output().await.unwrap();
    assert!(output.status.success(), "{output:?}");
    project.path("build/tried.wasm")
}

const TURNS: usize = 100;
const MESSAGES: usize = 100;

#[tokio::test]
async fn of_ten_thousand_messages_in_a_hundred_swaps_none_is_lost_doubled_or_out_of_order() {
    let project = Project::in_javascript(COUNTS, "");
    let component = built(&project).await;
    let (world, chain) = World::new(&component).await;
    let mut chain = chain.initialize(r#"{"protocolVersion":1}"#).await;
    let guest = world.guest(&component);
    for turn in 0..TURNS {
        let asked = chain.client.ask("session/prompt", &prompt("s", "go"));
        let prompt = chain.agent.receive().await.unwrap();
        let first = turn * MESSAGES;
        for number in first..first + MESSAGES {
            let params = format!(r#"{{"sessionId":"s","number":{number}}}"#);
            chain.agent.send(notification("session/update", &params));
            if number == first + turn {
                // At whatever point the messages are.
                let swapped = world.swap(guest.clone()).await;
                if turn % 2 == 0 {
                    in_time("a swap", swapped).await.unwrap().unwrap();
                }
            }
        }
        chain
            .agent
            .send_all(prompt.result(r#"{"stopReason":"end_turn"}"#));
        let mut came = Vec::new();
        loop {
            let message = chain.client.receive().await.unwrap();
            if message.answers(&asked) {
                break;
            }
            let params: Value = serde_json::from_str(&message.params.unwrap()).unwrap();
            let number = params["number"].as_u64().unwrap();
            assert_eq!(
                params["count"],
                number + 1,
                "the swaps do not reset the count"
            );
            came.push(number);
        }
        // Only held messages may arrive out of order.
        let at_once: Vec<_> = came
            .iter()
            .filter(|number| (*number + 1) % 10 > 0)
            .collect();
        assert!(at_once.is_sorted(), "{came:?}");
        came.sort_unstable();
        assert!(came.into_iter().eq(first as u64..(first + MESSAGES) as u64));
        chain.transcript.clear();
    }
}

#[tokio::test]
async fn a_call_of_a_tool_ends_where_it_began_and_the_next_one_is_the_new_versions() {
    let project = Project::new("js", "tools");
    project.save("src/proxy.js", &ASKS.replace("VERSION", "first"));
    let first = built(&project).await;
    let (world, chain) = World::new(&first).await;
    project.save("src/proxy.js", &ASKS.replace("VERSION", "second"));
    let second = built(&project).await;
    let begin = r#"{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"acp":true}}}"#;
    let mut chain = chain.initialize(begin).await;
    let server = chain.session("s", "[]").await.remove(0);
    let call = json!({
        "serverId": server["serverId"],
        "requestId": "r",
        "method": "tools/call",
        "params": {
            "name": "ask",
            "arguments": {},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    });
    for version in ["first", "second"] {
        let called = chain.agent.ask("mcp/message", &call.to_string());
        let asked = chain.client.receive().await.unwrap();
        assert_eq!(asked.method.as_deref(), Some("own"));
        if version == "first" {
            let swapped = world.swap(world.guest(&second)).await;
            in_time("a swap", swapped).await.unwrap().unwrap();
        }
        chain.client.send_all(asked.result(r#""yes""#));
        let answer = chain.agent.response(&called).await;
        let answer: Value = serde_json::from_str(&answer.result.unwrap()).unwrap();
        let text = &answer["result"]["content"][0]["text"];
        assert_eq!(*text, format!(r#"{version}: "yes""#), "{answer}");
    }
}
