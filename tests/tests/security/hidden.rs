//! Messages hidden in others: text that one reader takes for one message, and another for two.

use acp_chain::chain::Member;
use acp_chain_tests::host::{self, InProcess};
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use tempfile::TempDir;

/// An agent that answers a request with the methods of all messages so far, and sends a permission request
/// hidden in another message.
const NODE: &str = r#"
const methods = [];
const send = (text) => process.stdout.write(text + "\n");
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  let message;
  try { message = JSON.parse(line); } catch { methods.push("?"); return; }
  if (!message.method) return;
  methods.push(message.method);
  const answer = (result) => send(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
  if (message.method === "initialize") answer({ protocolVersion: 1 });
  if (message.method === "_test/methods") answer({ methods });
  if (message.method === "_test/hide")
    send('{"jsonrpc":"2.0","id":9,"method":"_test/outer","params":[\r' +
      '{"jsonrpc":"2.0","id":8,"method":"session/request_permission","params":{"sessionId":"s"}}\r]}\r');
});
"#;

/// The same for received messages only, with a text pipe.
const PYTHON: &str = r#"
import json, sys
methods = []
for line in sys.stdin:
    try:
        message = json.loads(line)
    except ValueError:
        methods.append("?")
        continue
    methods.append(message["method"])
    results = {"initialize": {"protocolVersion": 1}, "_test/methods": {"methods": methods}}
    if message["method"] in results:
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": results[message["method"]]}
        print(json.dumps(answer, separators=(",", ":")), flush=True)
"#;

/// A message that contains another, which is a line of its own for a reader that ends a line at a carriage return.
const HIDING: &str = "{\"jsonrpc\":\"2.0\",\"method\":\"_test/outer\",\"params\":[\r\
    {\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"session/prompt\",\"params\":{}}\r]}\r";

const SHOWN: &str = r#"{"jsonrpc":"2.0","method":"_test/outer","params":[ {"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{}} ]} "#;

async fn begun(agent: &[&str]) -> (Process, TempDir) {
    let (mut client, folder) = host::through(1, agent).unwrap();
    let begin = client
        .wire
        .request("initialize", r#"{"protocolVersion":1}"#);
    begin.await;
    (client, folder)
}

#[tokio::test]
async fn an_agent_that_ends_lines_at_carriage_returns_hears_no_second_message() {
    for agent in [["node", "-e", NODE], ["python3", "-c", PYTHON]] {
        let (mut client, _folder) = begun(&agent).await;
        client.wire.send(HIDING);
        let heard = client.wire.request("_test/methods", "{}").await;
        assert_eq!(
            heard.result.unwrap(),
            r#"{"methods":["initialize","_test/outer","_test/methods"]}"#,
            "{agent:?}"
        );
    }
}

#[tokio::test]
async fn nor_does_such_a_client_hear_one_of_the_agents() {
    let (mut client, _folder) = begun(&["node", "-e", NODE]).await;
    client.wire.notify("_test/hide", "{}");
    let heard = client.wire.bytes().await.unwrap();
    assert!(!heard.contains(&b'\r'), "{heard:?}");
    assert!(
        heard.starts_with(b"{\"jsonrpc\":\"2.0\",\"id\":"),
        "{heard:?}"
    );
}

#[tokio::test]
async fn nor_do_the_neighbours_of_a_native_proxy() {
    let transcript = Transcript::new();
    let (native, mut proxy) = host::played("proxy", &transcript);
    let mut chain = InProcess::of(vec![Member::Native(native)], &transcript);
    let hello = chain.client.ask("initialize", "{}");
    let begin = proxy.receive().await.unwrap();
    proxy.send(begin.result(r#"{"protocolVersion":1}"#).remove(0));
    chain.client.response(&hello).await;
    proxy.send(HIDING);
    assert_eq!(chain.client.bytes().await.unwrap(), SHOWN.as_bytes());
    proxy.send(
        "{\"jsonrpc\":\"2.0\",\"method\":\"_proxy/successor\",\r\"params\":{\"method\":\"_test/outer\",\"params\":[\r1]\r}}",
    );
    let heard = chain.agent.bytes().await.unwrap();
    assert!(!heard.contains(&b'\r'), "{heard:?}");
}
