//! Permission requests, in plain words.

use serde_json::{Value, json};

use crate::untrusted::{MAX_QUOTE, quote};

/// A question that waits for its answer.
pub struct Question {
    /// The request.
    pub request: Value,
}

impl Question {
    fn options(&self) -> &[Value] {
        let options = self.request["params"]["options"].as_array();
        options.map_or(&[], Vec::as_slice)
    }

    /// Shows it, with its options numbered.
    pub fn show(&self) {
        say!("\nMay it? {}", self.title());
        for (option, number) in self.options().iter().zip(1..) {
            say!("  {number}. {}", name(option));
        }
        Self::ask();
    }

    /// Asks for a number.
    pub fn ask() {
        put!("The number of your answer: ");
    }

    /// Its subject: the tool call's title, and the files that it names.
    fn title(&self) -> String {
        let call = &self.request["params"]["toolCall"];
        let title = call["title"].as_str().or(call["toolCallId"].as_str());
        let title = quote(title.unwrap_or("something that has no title"), MAX_QUOTE);
        let places = call["locations"].as_array().into_iter().flatten();
        let paths: Vec<_> = places
            .filter_map(|place| Some(quote(place["path"].as_str()?, MAX_QUOTE)))
            .collect();
        match paths.is_empty() {
            true => title,
            false => format!("{title} ({})", paths.join(", ")),
        }
    }

    /// The outcome of a typed line, if it is the number of an option.
    pub fn chosen(&self, line: &str) -> Option<Value> {
        let number: usize = line.trim().parse().ok()?;
        let option = self.options().get(number.checked_sub(1)?)?;
        Some(selected(option))
    }

    /// The outcome if there is nobody to ask: rejection, which is reported.
    pub fn refuse(&self) -> Value {
        let mut kinds = ["reject_once", "reject_always"].into_iter();
        let option = kinds.find_map(|kind| {
            let mut options = self.options().iter();
            options.find(|option| option["kind"] == kind)
        });
        let title = self.title();
        match option {
            Some(option) => {
                say!(
                    "\nMay it? {title}\n  Nobody is there to ask: “{}”.",
                    name(option)
                );
                selected(option)
            }
            None => {
                say!(
                    "\nMay it? {title}\n  Nobody is there to ask, and there is no answer that says no: cancelled."
                );
                cancelled()
            }
        }
    }
}

fn name(option: &Value) -> String {
    let name = option["name"].as_str().or(option["optionId"].as_str());
    quote(name.unwrap_or("?"), MAX_QUOTE)
}

fn selected(option: &Value) -> Value {
    json!({ "outcome": { "outcome": "selected", "optionId": option["optionId"] } })
}

/// The outcome of a question when the turn is cancelled.
pub fn cancelled() -> Value {
    json!({ "outcome": { "outcome": "cancelled" } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_number_of_an_option_is_an_answer() {
        let question = Question {
            request: json!({ "params": { "options": [
                { "optionId": "a", "name": "Allow", "kind": "allow_once" },
                { "optionId": "r", "name": "Reject", "kind": "reject_once" },
            ] } }),
        };
        assert_eq!(question.chosen(" 2\n").unwrap()["outcome"]["optionId"], "r");
        for line in ["", "0", "3", "-1", "yes", "1 2"] {
            assert_eq!(question.chosen(line), None, "{line}");
        }
        assert_eq!(question.refuse()["outcome"]["optionId"], "r");
    }
}
