//! What the user is asked, and the orders that the user gives this proxy in a prompt.

use acp_chain_proxy::{Json, Version, id};
use serde_json::Value;

/// The option with which the user says yes.
const YES: &str = "yes";

/// The parameters of a permission request to the user, in the form of this version.
pub(crate) fn question(version: Version, session: &str, number: u64, text: &str) -> Value {
    let options = [
        ["no", "No", "reject_once"],
        [YES, "Yes, this once", "allow_once"],
    ];
    version.question(session, number, text, &options)
}

pub(crate) fn is_yes(answer: &Json) -> bool {
    Version::selected(answer).as_deref() == Some(YES)
}

/// An order to this proxy: a prompt that begins with its name and a colon.
#[derive(Debug, PartialEq)]
pub(crate) enum Order {
    /// Show the labels.
    Labels,
    /// Clear these labels, or the marks of these files.
    Clear(Vec<String>),
    Unknown,
}

impl Order {
    /// `None` if the text is meant for the agent.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let order = text.trim().strip_prefix(&*id())?.strip_prefix(':')?;
        let words: Vec<_> = order.split_whitespace().collect();
        Some(match &words[..] {
            ["labels"] => Self::Labels,
            ["clear", what @ ..] if !what.is_empty() => {
                Self::Clear(what.iter().map(|word| (*word).to_owned()).collect())
            }
            _ => Self::Unknown,
        })
    }
}

/// Which orders there are.
pub(crate) fn orders() -> String {
    let own = id();
    format!(
        "write `{own}: labels`, `{own}: clear A` (or B, C), `{own}: clear FILE` or `{own}: clear files`, and nothing else"
    )
}
