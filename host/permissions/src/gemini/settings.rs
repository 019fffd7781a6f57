//! What Gemini's settings say about tools.

use super::{Ranked, Read, SHELL, of_prefixes, of_server, of_tool};
use crate::find::{File, Folders};
use crate::node::Node;
use crate::rule::{Decision, Import, Rule, Source};

/// Priorities of what settings say.
const SERVER_EXCLUDED: f64 = 4.9;
const EXCLUDED: f64 = 4.4;
const CONFIRMED: f64 = 4.35;
const ALLOWED: f64 = 4.3;
/// Of the denials that Gemini adds: of other commands than those in `tools.allowed`, and of all that is not in
/// `tools.core`.
const BESIDE_ALLOWED: f64 = 4.29;
const BESIDE_CORE: f64 = 4.24;

/// The lists of what is allowed, and of which tools there are.
const ALLOWED_LISTS: [&[&str]; 2] = [&["tools", "allowed"], &["allowedTools"]];
const CORE_LISTS: [&[&str]; 2] = [&["tools", "core"], &["coreTools"]];

/// The list of servers whose tools are denied.
const SERVERS_EXCLUDED: &[&str] = &["mcp", "excluded"];

/// What settings say about tools.
pub(super) fn read(file: &File, folders: &Folders, read: &mut Read, import: &mut Import) {
    let Some(tree) = file.json(import) else {
        return;
    };
    for name in ["policyPaths", "adminPolicyPaths"] {
        let node = tree.get(name).filter(|node| !node.items().is_empty());
        if let Some(node) = node {
            let from = file.source(node.line, name);
            import.miss(from, "policies in other folders are not read");
        }
    }
    read_others(file, &tree, read);
    let lists: [(&[&str], Decision, f64); 6] = [
        (SERVERS_EXCLUDED, Decision::Deny, SERVER_EXCLUDED),
        (&["tools", "exclude"], Decision::Deny, EXCLUDED),
        (&["excludeTools"], Decision::Deny, EXCLUDED),
        (&["tools", "confirmationRequired"], Decision::Ask, CONFIRMED),
        (&["tools", "allowed"], Decision::Allow, ALLOWED),
        (&["allowedTools"], Decision::Allow, ALLOWED),
    ];
    for (names, decision, priority) in lists {
        if decision == Decision::Allow && !folders.allows(file.scope) {
            continue;
        }
        let Some(list) = tree.at(names) else {
            continue;
        };
        let name = names.join(".");
        for item in list.items() {
            let text = item.text().unwrap_or_default();
            let from = file.source(item.line, format!("{name} {text}"));
            let made = if names == SERVERS_EXCLUDED {
                of_server(text, &[], decision, &from)
            } else {
                of_setting(text, decision, &from)
            };
            read.ranked.push(Ranked {
                priority,
                decision,
                from,
                made,
            });
        }
        if list.texts().is_none() {
            import.miss(file.source(list.line, name), "it is not a list of texts");
        }
    }
    let others: [(&[&str], &str); 4] = [
        (
            &["tools", "core"],
            "it says which tools there are, and no rule does",
        ),
        (
            &["coreTools"],
            "it says which tools there are, and no rule does",
        ),
        (
            &["mcp", "allowed"],
            "it says which servers there are, and no rule does",
        ),
        (
            &["general", "defaultApprovalMode"],
            "modes stay with the agent: a rule is about calls",
        ),
    ];
    for (names, why) in others {
        if let Some(node) = tree.at(names) {
            let text = format!("{} = {}", names.join("."), node.shown());
            import.leave(file.source(node.line, text), why);
        }
    }
}

/// What settings deny by what they allow, whosever they are.
fn read_others(file: &File, tree: &Node, read: &mut Read) {
    let is_narrowed = |text: &str| {
        let tool = text.split_once('(').map(|(tool, _)| tool);
        tool.is_some_and(|tool| SHELL.contains(&tool))
    };
    for names in ALLOWED_LISTS {
        let list = tree.at(names).filter(|list| {
            let mut texts = list.items().iter().filter_map(Node::text);
            texts.any(is_narrowed)
        });
        if let Some(list) = list {
            let from = file.source(list.line, names.join("."));
            read.deny_others(BESIDE_ALLOWED, from);
        }
    }
    for names in CORE_LISTS {
        if let Some(list) = tree.at(names) {
            let from = file.source(list.line, names.join("."));
            read.deny_others(BESIDE_CORE, from);
        }
    }
}

/// The rules for an entry of a list in settings: a tool, or `run_shell_command(git log)`.
fn of_setting(text: &str, decision: Decision, from: &Source) -> Result<Vec<Rule>, String> {
    let narrowed = text.split_once('(');
    let narrowed = narrowed.and_then(|(tool, rest)| Some((tool, rest.strip_suffix(')')?)));
    match narrowed {
        Some((tool, prefix)) if SHELL.contains(&tool) => of_prefixes(&[prefix], decision, from),
        Some((tool, _)) => of_tool(tool, decision, from),
        None => of_tool(text, decision, from),
    }
}
