//! The agent of a trial. In each turn it reports a tool call, requests permission to edit a file, and repeats its
//! prompt, block by block.

use std::io;

use serde_json::{Value, json};
use tokio::io::DuplexStream;

use crate::cli::typed::wire::{Wire, answer, is_request};
use crate::rpc::code;

const SESSION: &str = "trial";

/// Plays the agent until the host has gone.
pub async fn play(stream: DuplexStream) -> io::Result<()> {
    let mut wire = Wire::new(stream);
    while let Some(message) = wire.receive().await? {
        if !is_request(&message) {
            continue;
        }
        match message["method"].as_str().unwrap_or_default() {
            "initialize" => {
                let result = json!({ "protocolVersion": 1, "agentCapabilities": {} });
                wire.respond(&message, &result).await?;
            }
            "session/new" => {
                wire.respond(&message, &json!({ "sessionId": SESSION }))
                    .await?;
            }
            "session/prompt" => {
                play_turn(&mut wire, &message["params"]["prompt"]).await?;
                wire.respond(&message, &json!({ "stopReason": "end_turn" }))
                    .await?;
            }
            _ => refuse(&mut wire, &message).await?,
        }
    }
    Ok(())
}

async fn play_turn(wire: &mut Wire, prompt: &Value) -> io::Result<()> {
    update(
        wire,
        json!({
            "sessionUpdate": "tool_call",
            "toolCallId": "read",
            "title": "Read README.md",
            "kind": "read",
        }),
    )
    .await?;
    let params = json!({
        "sessionId": SESSION,
        "toolCall": { "toolCallId": "edit", "title": "Edit README.md", "kind": "edit" },
        "options": [
            { "optionId": "allow", "name": "Allow", "kind": "allow_once" },
            { "optionId": "reject", "name": "Reject", "kind": "reject_once" },
        ],
    });
    let id = wire.request("session/request_permission", &params).await?;
    while let Some(message) = wire.receive().await? {
        if answer(&message, id).is_some() {
            break;
        }
        if is_request(&message) {
            refuse(wire, &message).await?;
        }
    }
    for block in prompt.as_array().into_iter().flatten() {
        let text = block["text"].as_str().unwrap_or("(no text)");
        let content = json!({ "type": "text", "text": format!("You said: {text}\n") });
        update(
            wire,
            json!({ "sessionUpdate": "agent_message_chunk", "content": content }),
        )
        .await?;
    }
    Ok(())
}

async fn update(wire: &mut Wire, update: Value) -> io::Result<()> {
    let params = json!({ "sessionId": SESSION, "update": update });
    wire.notify("session/update", &params).await
}

async fn refuse(wire: &mut Wire, request: &Value) -> io::Result<()> {
    let why = "the agent of a trial does not know that";
    wire.refuse(request, code::METHOD_NOT_FOUND, why).await
}
