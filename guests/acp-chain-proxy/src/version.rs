//! The protocol version of a connection, and the form of a notice and of a question to the user in each version.

use acp_chain_acp::protocol_version;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{ChannelError, Json, Peer, Response, Subscription, id};

/// A protocol version, as negotiated between client and agent.
///
/// Give [`SUBSCRIPTION`](Self::SUBSCRIPTION) to the host, and responses to [`agreed`](Self::agreed).
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub enum Version {
    /// The first version, which applies until another is negotiated.
    #[default]
    V1,
    /// The second, or a later one.
    V2,
}

impl Version {
    /// The response with the negotiated version. A proxy needs the power `capabilities.read` to receive it.
    pub const SUBSCRIPTION: Subscription = Subscription::responses("initialize")
        .from(Peer::Agent)
        .without_body();

    /// The version negotiated by this response; `None` if it is not an answer to `initialize`.
    #[must_use]
    pub fn agreed(response: &Response) -> Option<Self> {
        if response.head.method != "initialize" || response.outcome.is_err() {
            return None;
        }
        let version = response.head.read::<Value>("/protocolVersion");
        let version = version.and_then(|version| protocol_version(&version.to_string()));
        Some(match version.unwrap_or(1) {
            0 | 1 => Self::V1,
            _ => Self::V2,
        })
    }

    /// Shows the user a text of one sentence, during a turn of this session, under the name of the proxy. Requires the
    /// power `answers.send`.
    ///
    /// In version 2 it is a notice. In version 1 few clients show notices, so there it is a message.
    pub fn tell(self, session: &str, text: &str) -> Result<(), ChannelError> {
        let name = id();
        let update = match self {
            Self::V1 => json!({
                "sessionUpdate": "agent_message_chunk",
                "content": { "type": "text", "text": format!("\n\n**{name}**: {text}\n\n") },
            }),
            Self::V2 => json!({
                "sessionUpdate": "notice",
                "severity": "warning",
                "title": format!("{name}: {text}"),
            }),
        };
        let params = json!({ "sessionId": session, "update": update });
        Peer::Client.notify("session/update", params)
    }

    /// The parameters of a `session/request_permission` to the user, about no call of the agent. The text has the name
    /// of the proxy in front of it; `number` tells the proxy's questions apart. An option is its id, its name, and its
    /// kind.
    #[must_use]
    pub fn question(self, session: &str, number: u64, text: &str, options: &[[&str; 3]]) -> Value {
        let own = id();
        let title = format!("{own}: {text}");
        let (member, subject) = match self {
            Self::V1 => {
                let id = format!("{own}-{number}");
                let call = json!({ "toolCallId": id, "title": title, "kind": "other" });
                ("toolCall", call)
            }
            Self::V2 => ("title", title.into()),
        };
        let option =
            |[id, name, kind]: &[&str; 3]| json!({ "optionId": id, "name": name, "kind": kind });
        let options: Vec<_> = options.iter().map(option).collect();
        json!({ "sessionId": session, (member): subject, "options": options })
    }

    /// The id of the option that the user selected, by the answer to such a request in either version; `None` if the
    /// user selected none.
    #[must_use]
    pub fn selected(answer: &Json) -> Option<String> {
        let outcome: String = answer.at("/outcome/outcome")?;
        (outcome == "selected").then(|| answer.at("/outcome/optionId"))?
    }
}
