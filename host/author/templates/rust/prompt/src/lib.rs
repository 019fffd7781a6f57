//! Asks the agent for brief answers.

use acp_chain_proxy::{
    Action, Edit, FailurePolicy, Peer, Proxy, Request, Result, Subscription, export,
};
use serde_json::json;

#[derive(Default)]
struct Brief;

impl Proxy for Brief {
    const SUBSCRIPTIONS: &[Subscription] = &[Subscription::requests("session/prompt")
        .from(Peer::Client)
        .without_body()];

    /// If the proxy breaks, prompts are forwarded unchanged.
    const ON_FAILURE: FailurePolicy = FailurePolicy::Bypass;

    async fn on_request(&self, _prompt: Request) -> Result {
        let block = json!({ "type": "text", "text": "Be brief." });
        Ok(Action::Edit(vec![Edit::set("/prompt/-", block)]))
    }
}

export!(Brief);

#[cfg(test)]
mod tests {
    use acp_chain_proxy::testing::Host;

    use super::*;

    #[test]
    fn a_prompt_asks_for_a_brief_answer() {
        let mut host = Host::start::<Brief>(json!({})).unwrap();
        host.powers(&["prompts.change"]);
        let prompt = json!({ "sessionId": "s", "prompt": [{ "type": "text", "text": "Hi" }] });
        host.request(Peer::Client, "session/prompt", prompt);
        assert_eq!(host.sent()[0].at("/prompt/1/text"), "Be brief.");
    }
}
