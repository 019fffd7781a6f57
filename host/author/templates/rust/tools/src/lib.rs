//! Gives the agent a tool that counts words.

use acp_chain_proxy::{Call, Proxy, Result, Tool, Tools, export};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Text {
    /// The text whose words are counted.
    text: String,
}

#[derive(Default)]
struct Words;

impl Words {
    async fn count_words(&self, call: Call<Text>) -> Result<String> {
        Ok(call.arguments.text.split_whitespace().count().to_string())
    }
}

/// Subscribes to nothing, and so receives no messages.
impl Proxy for Words {}

impl Tools for Words {
    fn tools(&self, _session: Option<&str>) -> Vec<Tool<Self>> {
        let count = Tool::new(
            "count_words",
            "Counts the words of a text: what stands between spaces and line breaks.",
            Self::count_words,
        );
        vec![count.read_only().closed_world()]
    }
}

export!(Words: Tools);

#[cfg(test)]
mod tests {
    use acp_chain_proxy::testing::Host;
    use serde_json::json;

    use super::*;

    #[test]
    fn words_are_counted() {
        let mut host = Host::start_exported::<Words>(json!({})).unwrap();
        host.powers(&["tools"]);
        let text = json!({ "text": "one  two\nthree" });
        let call = host.call_tool(Some("s"), "count_words", text);
        let result = host.result(call).unwrap().unwrap();
        assert_eq!(result["content"][0]["text"], "3");
    }
}
