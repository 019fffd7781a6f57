//! One spelling for all command lines that differ only in comments, in blanks between words, and in quotes.
//!
//! Only simple commands, and what joins them, are respelt: lists, pipelines, groups, redirections. Invariant:
//! command lines that a shell runs differently are spelt differently.

use rable::{ListItem, ListOperator, Node, NodeKind};

use super::script::parse;
use super::word::{Word, is_subscript_with_blanks};

/// The spelling, which is for comparing only. `None` for a command line with other syntax.
pub fn spelling(text: &str) -> Option<String> {
    let mut parts = Vec::new();
    for node in &parse(text)? {
        add(node, &mut parts)?;
        parts.push(";".to_owned());
    }
    Some(format!("{parts:?}"))
}

/// Adds the parts of a node, in the order of the text. An operator is as it is written; a word begins with `=` if it is
/// without its quotes, and with a blank if it is as it is written.
fn add(node: &Node, parts: &mut Vec<String>) -> Option<()> {
    match &node.kind {
        NodeKind::Word { value, .. } => {
            if is_subscript_with_blanks(value) {
                return None;
            }
            let word = Word::of_script(value);
            let exact = word.exact.then(|| format!("={}", word.text));
            parts.push(exact.unwrap_or_else(|| format!(" {value}")));
        }
        NodeKind::Command {
            assignments,
            words,
            redirects,
        } => {
            add_all(assignments, parts)?;
            // The first word is a program, whatever it looks like.
            parts.push(":".to_owned());
            add_all(words.iter().chain(redirects), parts)?;
        }
        NodeKind::Pipeline { commands, .. } => {
            for (number, command) in commands.iter().enumerate() {
                if number > 0 {
                    parts.push("|".to_owned());
                }
                add(command, parts)?;
            }
        }
        NodeKind::List { items } => {
            for ListItem { command, operator } in items {
                add(command, parts)?;
                parts.extend(operator.map(|operator| sign(operator).to_owned()));
            }
        }
        NodeKind::Subshell { body, redirects } => add_group(["(", ")"], body, redirects, parts)?,
        NodeKind::BraceGroup { body, redirects } => add_group(["{", "}"], body, redirects, parts)?,
        NodeKind::Negation { pipeline } => {
            parts.push("!".to_owned());
            add(pipeline, parts)?;
        }
        NodeKind::Redirect {
            op,
            target,
            fd,
            varfd: None,
        } => {
            parts.push(format!("{fd}{op}"));
            add(target, parts)?;
        }
        NodeKind::HereDoc {
            content,
            strip_tabs,
            quoted,
            fd,
            complete: true,
            ..
        } => parts.push(format!("{fd}<<{strip_tabs} {quoted} {content}")),
        NodeKind::Empty | NodeKind::Comment { .. } => {}
        _ => return None,
    }
    Some(())
}

fn add_all<'n>(nodes: impl IntoIterator<Item = &'n Node>, parts: &mut Vec<String>) -> Option<()> {
    nodes.into_iter().try_for_each(|node| add(node, parts))
}

fn add_group(
    [open, close]: [&str; 2],
    body: &Node,
    redirects: &[Node],
    parts: &mut Vec<String>,
) -> Option<()> {
    parts.push(open.to_owned());
    add(body, parts)?;
    parts.push(close.to_owned());
    add_all(redirects, parts)
}

fn sign(operator: ListOperator) -> &'static str {
    match operator {
        ListOperator::And => "&&",
        ListOperator::Or => "||",
        ListOperator::Semi => ";",
        ListOperator::Background => "&",
    }
}
