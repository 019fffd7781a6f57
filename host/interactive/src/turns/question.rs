//! Permission requests, in plain words.

use acp_chain_ends::Request;
use acp_chain_ends::client::{choose, rejecting};
use serde_json::Value;

use crate::Screen;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};

/// How many files, and how many options, are shown of a question.
const MOST: usize = 20;

/// The invitation to answer.
pub const ASK: &str = "The number of your answer: ";

/// A question that waits for its answer.
pub struct Question {
    /// The request.
    pub request: Request,
    /// The title that the tool call was shown with before, if the request has none.
    known_title: Option<String>,
}

impl Question {
    /// The question of a request; `known` has the titles of tool calls by their ids, quoted.
    pub fn new(request: Request, known: impl Fn(&str) -> Option<String>) -> Self {
        let id = request.params()["toolCall"]["toolCallId"].as_str();
        let known_title = id.and_then(known);
        Self {
            request,
            known_title,
        }
    }

    fn options(&self) -> &[Value] {
        let listed = self.request.params()["options"].as_array();
        let options: &[Value] = listed.map_or(&[], Vec::as_slice);
        &options[..options.len().min(MOST)]
    }

    /// Shows it, with its options numbered. [`ASK`] is the invitation behind it.
    pub fn show(&self, screen: &dyn Screen) {
        screen.say(format_args!(
            "\nThe agent asks for permission: {}",
            self.title()
        ));
        for (option, number) in self.options().iter().zip(1..) {
            screen.say(format_args!("  {number}. {}", name(option)));
        }
    }

    /// The tool call's title, its kind, and the files that it names.
    fn title(&self) -> String {
        let call = &self.request.params()["toolCall"];
        let title = call["title"].as_str().map(|title| quote(title, MAX_QUOTE));
        let title = title.or_else(|| self.known_title.clone());
        let title = title.unwrap_or_else(|| "a tool without a title".to_owned());
        let places = call["locations"].as_array().into_iter().flatten();
        let mut paths = places.filter_map(|place| place["path"].as_str());
        let kind = call["kind"].as_str().into_iter();
        let shown = kind.chain(paths.by_ref().take(MOST));
        let mut details: Vec<_> = shown.map(|detail| quote(detail, MAX_QUOTE)).collect();
        let more = paths.count();
        if more > 0 {
            details.push(format!("{more} more"));
        }
        if details.is_empty() {
            title
        } else {
            format!("{title} ({})", details.join(", "))
        }
    }

    /// The outcome of a typed line, if it is the number of an option.
    pub fn chosen(&self, line: &str) -> Option<Value> {
        numbered(self.options(), line).map(|option| choose(Some(option)))
    }

    /// Rejects without an answer: there is no terminal, or its input has ended. Returns the outcome.
    pub fn refuse(&self, screen: &dyn Screen) -> Value {
        let (option, title) = (rejecting(self.request.params()), self.title());
        match option.map(name) {
            Some(name) => screen.say(format_args!(
                "\nThe agent asks for permission: {title}\n  No answer can be typed, so it is “{name}”."
            )),
            None => screen.say(format_args!(
                "\nThe agent asks for permission: {title}\n  No answer can be typed, and no option rejects, so it is \
                 cancelled."
            )),
        }
        choose(option)
    }
}

/// The item whose number was typed.
pub fn numbered<'i, T>(items: &'i [T], line: &str) -> Option<&'i T> {
    let number: usize = line.trim().parse().ok()?;
    items.get(number.checked_sub(1)?)
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
    use crate::screen::Blank;

    #[test]
    fn a_question_without_end_is_cut_and_says_so() {
        let path = json!({ "path": "/a" });
        let params = json!({
            "toolCall": { "title": "Edit", "locations": vec![path; MOST + 5] },
            "options": vec![json!({ "optionId": "a" }); MOST + 5],
        });
        let Arrival::Request(request) = End::<()>::default().take(request(1, PERMISSION, params))
        else {
            panic!("it is a request");
        };
        let question = Question::new(request, |_| None);
        let title = question.title();
        assert!(title.ends_with("/a, 5 more)"), "{title}");
        assert_eq!(question.options().len(), MOST);
    }

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
        let question = Question::new(request, |_| None);
        assert_eq!(question.chosen(" 2\n").unwrap()["outcome"]["optionId"], "r");
        for line in ["", "0", "3", "-1", "yes", "1 2"] {
            assert_eq!(question.chosen(line), None, "{line}");
        }
        assert_eq!(question.refuse(&Blank)["outcome"]["optionId"], "r");
    }
}
