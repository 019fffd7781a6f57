//! The table of powers in the book.

use std::fmt::Write;

use crate::{Actions, Cover, Kinds, Power};

/// Two tables in Markdown: the description of each power, and the messages that it covers.
pub fn markdown() -> String {
    let mut text = String::from("| Power | It | Danger | Because |\n|---|---|---|---|\n");
    for power in Power::all() {
        let (key, words, danger) = (power.key, power.words, power.danger.as_str());
        let _ = writeln!(text, "| `{key}` | {words} | {danger} | {} |", power.reason);
    }
    text.push_str("\n| Power | Action | From | Messages | Places |\n|---|---|---|---|---|\n");
    for power in Power::all() {
        for cover in power.covers {
            let _ = writeln!(text, "| `{}` | {}", power.key, row(cover));
        }
    }
    text
}

fn row(cover: &Cover) -> String {
    let kinds = [
        (Kinds::REQUEST, "requests"),
        (Kinds::NOTIFICATION, "notifications"),
        (Kinds::RESULT, "results"),
        (Kinds::ERROR, "errors"),
    ];
    let kinds = kinds
        .iter()
        .filter(|(kind, _)| cover.kinds.intersects(*kind));
    let kinds: Vec<_> = kinds.map(|(_, name)| *name).collect();
    let mut messages = format!("{} of {}", kinds.join(" and "), code(cover.methods));
    let updates = cover.updates_in_words();
    if !updates.is_empty() {
        let _ = write!(messages, ": {updates}");
    }
    let places = match (cover.actions.intersects(Actions::CHANGE), cover.shown) {
        (true, _) if cover.places == [""] => "the whole body".to_owned(),
        (true, _) => code(cover.places),
        (false, None) => String::new(),
        (false, Some(shown)) => code(shown),
    };
    let (actions, sender) = (cover.actions.names().join(", "), cover.sender.as_str());
    format!("{actions} | the {sender} | {messages} | {places} |")
}

fn code(texts: &[&str]) -> String {
    let texts: Vec<_> = texts.iter().map(|text| format!("`{text}`")).collect();
    texts.join(", ")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_book_shows_this_table() {
        let page = include_str!("../../../docs/powers.md");
        assert!(
            page.contains(&super::markdown()),
            "docs/powers.md is behind; put in what `acp-chain powers --markdown` prints"
        );
    }
}
