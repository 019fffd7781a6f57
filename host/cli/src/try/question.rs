//! Permission requests, in plain words.

use acp_chain_ends::Request;
use acp_chain_ends::client::{choose, rejecting};
use serde_json::Value;

use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};

/// A question that waits for its answer.
pub struct Question {
    /// The request.
    pub request: Request,
}

impl Question {
    fn options(&self) -> &[Value] {
        let options = self.request.params()["options"].as_array();
        options.map_or(&[], Vec::as_slice)
    }

    /// Shows it, with its options numbered.
    pub fn show(&self) {
        say!("\nThe agent asks for permission: {}", self.title());
        for (option, number) in self.options().iter().zip(1..) {
            say!("  {number}. {}", name(option));
        }
        Self::ask();
    }

    /// Asks for a number.
    pub fn ask() {
        put!("The number of your answer: ");
    }

    /// The tool call's title, and the files that it names.
    fn title(&self) -> String {
        let call = &self.request.params()["toolCall"];
        let title = call["title"].as_str().or(call["toolCallId"].as_str());
        let title = quote(title.unwrap_or("something that has no title"), MAX_QUOTE);
        let places = call["locations"].as_array().into_iter().flatten();
        let paths: Vec<_> = places
            .filter_map(|place| Some(quote(place["path"].as_str()?, MAX_QUOTE)))
            .collect();
        if paths.is_empty() {
            title
        } else {
            format!("{title} ({})", paths.join(", "))
        }
    }

    /// The outcome of a typed line, if it is the number of an option.
    pub fn chosen(&self, line: &str) -> Option<Value> {
        let number: usize = line.trim().parse().ok()?;
        let option = self.options().get(number.checked_sub(1)?)?;
        Some(choose(Some(option)))
    }

    /// Rejects without an answer: there is no terminal, or its input has ended. Returns the outcome.
    pub fn refuse(&self) -> Value {
        let (option, title) = (rejecting(self.request.params()), self.title());
        match option.map(name) {
            Some(name) => say!(
                "\nThe agent asks for permission: {title}\n  No answer can be typed: “{name}”."
            ),
            None => say!(
                "\nThe agent asks for permission: {title}\n  No answer can be typed, and no option rejects: cancelled."
            ),
        }
        choose(option)
    }
}

fn name(option: &Value) -> String {
    let name = option["name"].as_str().or(option["optionId"].as_str());
    quote(name.unwrap_or("?"), MAX_QUOTE)
}

#[cfg(test)]
mod tests {
    use acp_chain_acp::PERMISSION;
    use acp_chain_ends::{Arrival, End, request};
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_number_of_an_option_is_an_answer() {
        let params = json!({ "options": [
            { "optionId": "a", "name": "Allow", "kind": "allow_once" },
            { "optionId": "r", "name": "Reject", "kind": "reject_once" },
        ] });
        let Arrival::Request(request) = End::<()>::default().take(request(1, PERMISSION, params))
        else {
            panic!("it is a request");
        };
        let question = Question { request };
        assert_eq!(question.chosen(" 2\n").unwrap()["outcome"]["optionId"], "r");
        for line in ["", "0", "3", "-1", "yes", "1 2"] {
            assert_eq!(question.chosen(line), None, "{line}");
        }
        assert_eq!(question.refuse()["outcome"]["optionId"], "r");
    }
}
