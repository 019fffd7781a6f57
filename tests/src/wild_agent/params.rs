//! The parts of message bodies that the agent reads, and the text in which it reports answers.
//!
//! Only these parts are decoded: a body may hold numbers and strings that no program can represent.

use acp_chain_tests::envelope::Message;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// Parameters of any method.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Params {
    pub(crate) session_id: String,
    pub(crate) prompt: Vec<Block>,
    pub(crate) request_id: Option<Box<RawValue>>,
}

/// A block of a prompt.
#[derive(Debug, Deserialize)]
pub(crate) struct Block {
    pub(crate) text: Option<String>,
}

/// Results of the agent's own requests.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Answer {
    pub(crate) content: Option<String>,
    pub(crate) outcome: Option<Outcome>,
}

/// The outcome of a permission request.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Outcome {
    pub(crate) outcome: String,
    pub(crate) option_id: Option<String>,
}

impl Params {
    /// The parameters of a message; empty if there are none, or if they cannot be decoded.
    pub(crate) fn of(message: &Message) -> Self {
        decoded(message.params.as_deref())
    }

    /// The `requestId`, as it was spelt.
    pub(crate) fn request_id(&self) -> &str {
        self.request_id.as_deref().map_or("null", RawValue::get)
    }
}

impl Answer {
    /// The result of a response; empty if there is none, or if it cannot be decoded.
    pub(crate) fn of(message: &Message) -> Self {
        decoded(message.result.as_deref())
    }
}

/// The subject of a request, for the report of its answer.
#[derive(Clone, Copy)]
pub(crate) enum About {
    File,
    Permission,
    Anything,
}

/// The text in which the agent reports an answer.
pub(crate) fn told(about: About, message: &Message) -> String {
    let Some(result) = &message.result else {
        return format!("error {}", message.error.as_deref().unwrap_or("unknown"));
    };
    let answer = Answer::of(message);
    let told = match about {
        About::File => answer.content,
        About::Permission => answer.outcome.map(|outcome| match outcome.option_id {
            Some(option) => format!("{} {option}", outcome.outcome),
            None => outcome.outcome,
        }),
        About::Anything => None,
    };
    told.unwrap_or_else(|| format!("result {result}"))
}

fn decoded<T: DeserializeOwned + Default>(body: Option<&str>) -> T {
    body.and_then(|body| serde_json::from_str(body).ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_decoded_is_passed_over() {
        let line = r#"{"params":{"x":1e400,"y":"\ud800","sessionId":"s","requestId":null,
            "prompt":[{"type":"image","data":-0.0},{"type":"text","text":"t"}]}}"#;
        let params = Params::of(&Message::parse(line).unwrap());
        assert_eq!(params.session_id, "s");
        assert_eq!(params.request_id(), "null");
        let texts: Vec<_> = params
            .prompt
            .iter()
            .map(|block| block.text.as_deref())
            .collect();
        assert_eq!(texts, [None, Some("t")]);
    }
}
