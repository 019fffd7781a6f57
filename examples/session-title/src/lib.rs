//! Names a session after its first prompt, for agents that do not.

use std::cell::RefCell;
use std::collections::BTreeSet;

use acp_chain_proxy::{
    Action, FailurePolicy, Json, Peer, Proxy, Request, Response, Result, Subscription, export, save,
};
use serde_json::json;

/// The maximum length of a title, in characters.
const LONGEST: usize = 60;

#[derive(Default)]
struct SessionTitle {
    /// The sessions that have no prompt yet.
    new: RefCell<BTreeSet<String>>,
}

impl Proxy for SessionTitle {
    const SUBSCRIPTIONS: &[Subscription] = &[
        Subscription::responses("session/new")
            .from(Peer::Agent)
            .without_body(),
        Subscription::requests("session/prompt")
            .from(Peer::Client)
            .without_body(),
    ];

    /// If the proxy breaks, sessions have no title.
    const ON_FAILURE: FailurePolicy = FailurePolicy::Bypass;

    fn restore(&mut self, saved: Json) -> Result<()> {
        self.new = saved.parse()?;
        Ok(())
    }

    async fn on_response(&self, opened: Response) -> Result {
        if let Some(session) = opened.head.session {
            self.new.borrow_mut().insert(session);
            save(&self.new)?;
        }
        Ok(Action::Forward)
    }

    async fn on_request(&self, prompt: Request) -> Result {
        let Some(session) = &prompt.head.session else {
            return Ok(Action::Forward);
        };
        if !self.new.borrow_mut().remove(session) {
            return Ok(Action::Forward);
        }
        save(&self.new)?;
        // Only the first block: the others may be images.
        let text: Option<String> = prompt.head.read("/prompt/0/text");
        if let Some(title) = text.as_deref().and_then(title) {
            let update = json!({ "sessionUpdate": "session_info_update", "title": title });
            Peer::Client.notify(
                "session/update",
                json!({ "sessionId": session, "update": update }),
            )?;
        }
        Ok(Action::Forward)
    }
}

/// The first line with text, shortened to the maximum length.
fn title(prompt: &str) -> Option<String> {
    let line = prompt
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())?;
    match line.char_indices().nth(LONGEST) {
        None => Some(line.to_owned()),
        Some((end, _)) => {
            let end = line[..end].rfind(' ').unwrap_or(end);
            Some(format!("{}…", &line[..end]))
        }
    }
}

export!(SessionTitle);
