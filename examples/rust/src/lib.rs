//! An example of a proxy: it shouts.
//!
//! - The text of every prompt is upper-cased (ASCII letters).
//! - If a `file` is configured, its content, upper-cased too, is added to every prompt. It is read
//!   through the client; while the answer is awaited, the prompt is held.
//! - The chunks that the agent streams back are counted, and the answer to the prompt says how
//!   many there were, in `_meta.shout.chunks`.

use std::cell::RefCell;
use std::collections::HashMap;

use acp_chain_proxy::{
    Action, Configure, Json, Level, Notification, Peer, Proxy, Request, Response, Result,
    Subscription, export, log,
};
use serde_json::json;

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    /// The absolute path of a file to add to every prompt.
    file: Option<String>,
}

struct Shout {
    file: Option<String>,
    /// The chunks of each session since its last answer.
    chunks: RefCell<HashMap<Option<String>, u64>>,
}

impl Configure for Shout {
    type Config = Config;

    fn new(config: Config) -> std::result::Result<Self, String> {
        Ok(Self {
            file: config.file,
            chunks: RefCell::default(),
        })
    }
}

impl Proxy for Shout {
    const SUBSCRIPTIONS: &[Subscription] = &[
        Subscription::requests("session/prompt").from(Peer::Client),
        Subscription::responses("session/prompt").from(Peer::Agent),
        Subscription::notifications("session/update")
            .from(Peer::Agent)
            .without_body(),
    ];

    async fn on_request(&self, mut request: Request) -> Result {
        let added = match &self.file {
            Some(path) => self.read(request.head.session.as_deref(), path).await,
            None => None,
        };
        let Some(blocks) = request.params.at_mut("/prompt").and_then(Json::items_mut) else {
            return Ok(Action::Forward);
        };
        for block in blocks.iter_mut() {
            if block.at::<String>("/type").as_deref() == Some("text") {
                block.edit("/text", |text: String| text.to_ascii_uppercase());
            }
        }
        if let Some(text) = added {
            let text = text.to_ascii_uppercase();
            blocks.push(json!({ "type": "text", "text": text }).into());
        }
        Ok(Action::Replace(request.params))
    }

    async fn on_notification(&self, update: Notification) -> Result {
        let kind: Option<String> = update.head.read("/update/sessionUpdate");
        if kind.as_deref() == Some("agent_message_chunk") {
            *self
                .chunks
                .borrow_mut()
                .entry(update.head.session)
                .or_default() += 1;
        }
        Ok(Action::Forward)
    }

    async fn on_response(&self, response: Response) -> Result {
        let chunks = self
            .chunks
            .borrow_mut()
            .remove(&response.head.session)
            .unwrap_or_default();
        let Ok(mut result) = response.outcome else {
            return Ok(Action::Forward);
        };
        result.put("/_meta/shout", json!({ "chunks": chunks }))?;
        Ok(Action::Replace(result))
    }
}

impl Shout {
    /// The content of a file, as the client has it.
    async fn read(&self, session: Option<&str>, path: &str) -> Option<String> {
        let params = json!({ "sessionId": session, "path": path });
        match Peer::Client.request("fs/read_text_file", params).await {
            Ok(file) => file.at("/content"),
            Err(error) => {
                log(
                    Level::Warn,
                    format_args!("{path} is left out of the prompt: {error}"),
                );
                None
            }
        }
    }
}

export!(Shout);

#[cfg(test)]
mod tests;
