//! The agent of a trial. In each turn it reports a tool call, requests permission to edit a file, and repeats its
//! prompt, block by block.

use acp_chain_ends::agent::{Agent, Script};
use serde_json::{Value, json};
use tokio::io::DuplexStream;

use crate::Screen;
use crate::typed::wire::Wire;

#[derive(Default)]
struct Echo;

/// Plays the agent until the chain ends, which reports the reason.
pub async fn play_agent(stream: DuplexStream, screen: &'static dyn Screen) {
    let mut wire = Wire::new(stream, screen);
    let mut agent = Agent::<Echo>::default();
    while let Ok(Some(message)) = wire.receive().await {
        for said in agent.take(message) {
            // If sending fails, the chain has ended, and `receive` ends the loop.
            let _ = wire.send(&said).await;
        }
    }
}

impl Script for Echo {
    const UNKNOWN: &'static str = "the agent of a trial does not support this method";

    fn begin(&self) -> Vec<Value> {
        vec![json!({
            "sessionUpdate": "tool_call",
            "toolCallId": "read",
            "title": "Read README.md",
            "kind": "read",
        })]
    }

    fn call(&self, _prompt: &Value, _folder: &str) -> Value {
        json!({ "toolCallId": "edit", "title": "Edit README.md", "kind": "edit" })
    }

    fn say(&self, prompt: &Value, _is_allowed: bool) -> Vec<String> {
        let blocks = prompt.as_array().into_iter().flatten();
        let texts = blocks.map(|block| block["text"].as_str().unwrap_or("(no text)"));
        texts.map(|text| format!("You said: {text}\n")).collect()
    }
}
