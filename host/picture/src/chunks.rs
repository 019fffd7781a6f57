//! Merges an agent's chunks: on each hop, all chunks up to the agent's next message of another kind.

use acp_chain_acp::Change;
use serde_json::Value;

use crate::{Kind, Leg};

/// The legs, with all chunks of a text on the same hop merged into the first.
pub fn joined(legs: &[Leg]) -> Vec<Leg> {
    let mut joined: Vec<Leg> = Vec::new();
    // The legs of the current text.
    let mut open: Vec<usize> = Vec::new();
    for leg in legs {
        let is_next = |at: &&usize| {
            let one = &joined[**at];
            (&one.from, &one.to) == (&leg.from, &leg.to)
        };
        let says = leg.chunk();
        if leg.from == "agent" && leg.kind != Kind::Response {
            // The chunk may be the rest of a text that proxies held.
            let kind = says.map(|(kind, _)| kind);
            let goes_on = open.iter().any(|at| {
                let said = &joined[*at];
                said.from == leg.from && said.chunk().map(|(kind, _)| kind) == kind
            });
            if !goes_on {
                open.clear();
            }
        }
        let Some((_, text)) = says else {
            joined.push(leg.clone());
            continue;
        };
        let text = text.to_owned();
        match open.iter().find(is_next).copied() {
            Some(at) => joined[at].append(&text),
            None => {
                open.push(joined.len());
                joined.push(leg.clone());
            }
        }
    }
    joined
}

impl Leg {
    /// The kind and the text of a chunk.
    fn chunk(&self) -> Option<(&str, &str)> {
        let update = &self.params["update"];
        let kind = update["sessionUpdate"].as_str()?;
        let text = update["content"]["text"].as_str()?;
        let is_chunk = self.kind == Kind::Notification && Change::of(kind) == Change::Appends;
        is_chunk.then_some((kind, text))
    }

    fn append(&mut self, more: &str) {
        if let Value::String(text) = &mut self.params["update"]["content"]["text"] {
            text.push_str(more);
        }
    }
}
