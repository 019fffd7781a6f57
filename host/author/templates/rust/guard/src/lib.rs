//! Answers permission requests by rule: allows reading and searching, and forwards all others to the client.

use acp_chain_proxy::{
    Action, FailurePolicy, Json, Peer, Proxy, Request, Result, Subscription, export,
};
use serde_json::json;

/// The kinds of tool calls (`ToolKind` of the protocol) that are allowed.
const ALLOWED: &[&str] = &["read", "search"];

#[derive(Default)]
struct Guard;

impl Proxy for Guard {
    const SUBSCRIPTIONS: &[Subscription] =
        &[Subscription::requests("session/request_permission").from(Peer::Agent)];

    /// Better no answer than a wrong one.
    const ON_FAILURE: FailurePolicy = FailurePolicy::Refuse;

    const GUARD: bool = true;

    async fn on_request(&self, request: Request) -> Result {
        let kind: Option<String> = request.params.at("/toolCall/kind");
        let is_allowed = kind.is_some_and(|kind| ALLOWED.contains(&kind.as_str()));
        Ok(match allow_once(&request.params).filter(|_| is_allowed) {
            Some(id) => {
                let outcome = json!({ "outcome": "selected", "optionId": id });
                Action::Respond(json!({ "outcome": outcome }).into())
            }
            None => Action::Forward,
        })
    }
}

/// The id of the option that allows the call once.
fn allow_once(params: &Json) -> Option<String> {
    let options: Vec<Json> = params.at("/options")?;
    let mut options = options.iter();
    options
        .find(|option| option.at::<String>("/kind").as_deref() == Some("allow_once"))?
        .at("/optionId")
}

export!(Guard);

#[cfg(test)]
mod tests {
    use acp_chain_proxy::testing::{Host, SentMessage};

    use super::*;

    /// The message that the proxy sends when the agent requests permission for this kind of call.
    fn ask(kind: &str) -> SentMessage {
        let mut host = Host::start::<Guard>(json!({})).unwrap();
        host.powers(&["permissions.read", "permissions.answer"]);
        let options = json!([
            { "optionId": "no", "name": "Reject", "kind": "reject_once" },
            { "optionId": "yes", "name": "Allow", "kind": "allow_once" },
        ]);
        let call = json!({ "toolCallId": "call", "kind": kind });
        let request = json!({ "sessionId": "s", "toolCall": call, "options": options });
        host.request(Peer::Agent, "session/request_permission", request);
        host.sent().remove(0)
    }

    #[test]
    fn what_only_reads_is_allowed() {
        let sent = ask("read");
        assert_eq!(sent.to, Peer::Agent);
        assert_eq!(sent.at("/outcome/optionId"), "yes");
    }

    #[test]
    fn the_user_is_asked_about_all_else() {
        assert_eq!(ask("execute").to, Peer::Client);
    }
}
