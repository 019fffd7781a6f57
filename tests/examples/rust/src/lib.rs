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
    Action, Configure, Edit, FailurePolicy, Json, Level, Notification, Peer, Proxy, Request,
    Response, Result, Subscription, export, log, mark,
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
        Subscription::responses("session/prompt")
            .from(Peer::Agent)
            .without_body(),
        Subscription::notifications("session/update")
            .from(Peer::Agent)
            .without_body(),
    ];

    /// Nothing is lost without it.
    const ON_FAILURE: FailurePolicy = FailurePolicy::Bypass;

    async fn on_request(&self, request: Request) -> Result {
        let mut edits = Vec::new();
        let blocks: Vec<Json> = request.params.at("/prompt").unwrap_or_default();
        for (n, block) in blocks.iter().enumerate() {
            if block.at::<String>("/type").as_deref() == Some("text")
                && let Some(text) = block.at::<String>("/text")
            {
                let place = format!("/prompt/{n}/text");
                edits.push(Edit::set(place, &*text.to_ascii_uppercase()));
            }
        }
        if let Some(path) = &self.file
            && let Some(text) = read(request.head.session.as_deref(), path).await
        {
            let block = json!({ "type": "text", "text": text.to_ascii_uppercase() });
            edits.push(Edit::set("/prompt/-", block));
        }
        Ok(Action::Edit(edits))
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
        if response.outcome.is_err() {
            return Ok(Action::Forward);
        }
        let shout = json!({ "chunks": chunks });
        let place = format!("/_meta/{}", mark().replace('/', "~1"));
        Ok(Action::Edit(vec![Edit::set(place, shout)]))
    }
}

/// The content of a file, as the client has it.
async fn read(session: Option<&str>, path: &str) -> Option<String> {
    let params = json!({ "sessionId": session, "path": path });
    let answer = Peer::Client.request("fs/read_text_file", params).await;
    let why = match answer.map(|file| file.at("/content")) {
        Ok(Some(content)) => return Some(content),
        Ok(None) => "the client gave no content".to_owned(),
        Err(error) => error.to_string(),
    };
    log(
        Level::Warn,
        format_args!("{path} is left out of the prompt: {why}"),
    );
    None
}

export!(Shout);

#[cfg(test)]
mod tests;
