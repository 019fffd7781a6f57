//! Codex' rules: the calls of `prefix_rule` in `rules/*.rules`, an administrator's requirements, and what its
//! `config.toml` says about MCP tools.
//!
//! Of all rules that match, the strictest decides; each command of a simple script is judged for itself, and one with
//! redirections is not judged by its words. By the source of codex-execpolicy.

use crate::command;
use crate::find::{File, Folders, Scope};
use crate::node::{Node, Value};
use crate::rule::{Decision, Import, Rule, Source};
use crate::starlark::{Call, Literal, calls};

/// The decision of a rule, and the rule, or why no pattern says it.
type Made = (Decision, Result<Rule, String>);

/// The arguments of a rule, and their places if they have no names.
const PATTERN: (&str, usize) = ("pattern", 0);
const DECISION: (&str, usize) = ("decision", 1);

/// How many patterns the alternatives of one rule make.
const MOST_PATTERNS: usize = 64;
/// How many words such a pattern has.
const MOST_WORDS: usize = 64;

/// Reads all rules.
pub(crate) fn read(folders: &Folders, import: &mut Import) {
    let mut places = vec![
        (folders.system.codex.clone(), Scope::System),
        (folders.codex.clone(), Scope::User),
    ];
    let projects = folders.projects().into_iter();
    places.extend(projects.map(|project| (project.join(".codex"), Scope::Project)));
    for (folder, scope) in &places {
        for path in Folders::listed(&folder.join("rules"), "rules", import) {
            let file = File {
                path,
                scope: *scope,
            };
            read_rules(&file, folders, import);
        }
    }
    let path = folders.system.codex.join("requirements.toml");
    let scope = Scope::System;
    read_requirements(&File { path, scope }, folders, import);
    for (folder, scope) in places {
        let path = folder.join("config.toml");
        read_config(&File { path, scope }, import);
    }
    import.order_by_strictness();
}

fn read_rules(file: &File, folders: &Folders, import: &mut Import) {
    let Some(text) = file.text(import) else {
        return;
    };
    let (calls, wrong) = calls(&text);
    for call in &calls {
        let from = file.source(call.line, shown(call));
        match &*call.name {
            "prefix_rule" => take(folders.allows(file.scope), of_call(call, &from), from, import),
            "host_executable" => import.leave(
                from,
                "a rule that denies matches a program in any folder, and one that allows only by its name",
            ),
            "network_rule" => import.leave(from, "no condition is about addresses"),
            _ => import.miss(from, "this call is unknown"),
        }
    }
    if let Some(wrong) = wrong {
        import.miss(file.source(wrong.line, ""), wrong.wrong);
    }
}

/// The call, for people.
fn shown(call: &Call) -> String {
    let of = |(name, place)| Some(format!(" {}", value_shown(call.argument(name, place)?)));
    let parts = [DECISION, PATTERN].into_iter().filter_map(of);
    [call.name.clone()].into_iter().chain(parts).collect()
}

fn value_shown(value: &Literal) -> String {
    match value {
        Literal::Text(text) => format!("{text:?}"),
        Literal::Other(name) => name.clone(),
        Literal::List(items) => {
            let items: Vec<_> = items.iter().map(value_shown).collect();
            format!("[{}]", items.join(", "))
        }
    }
}

/// Takes the rule, unless it allows and what allows is not wanted here. A rule that cannot be read may deny.
fn take(allows: bool, made: Result<Made, &'static str>, from: Source, import: &mut Import) {
    match made {
        Ok((Decision::Allow, _)) if !allows => {}
        Ok((decision, made)) => import.take(from, decision, made.map(|rule| vec![rule])),
        Err(why) => import.miss(from, why),
    }
}

fn of_call(call: &Call, from: &Source) -> Result<Made, &'static str> {
    if [PATTERN, DECISION]
        .iter()
        .any(|(name, place)| call.is_twice(name, *place))
    {
        return Err("an argument occurs twice");
    }
    let decision = match call.argument(DECISION.0, DECISION.1) {
        None => Decision::Allow,
        Some(Literal::Text(text)) => decision(text)?,
        Some(_) => return Err("its `decision` is no text"),
    };
    let Some(Literal::List(items)) = call.argument(PATTERN.0, PATTERN.1) else {
        return Err("it has no `pattern`");
    };
    let alternatives = items.iter().map(|item| match item {
        Literal::Text(text) => Ok(vec![&**text]),
        Literal::List(items) => items.iter().map(text).collect(),
        Literal::Other(_) => Err("its `pattern` has more than texts"),
    });
    let alternatives: Vec<Vec<&str>> = alternatives.collect::<Result<_, _>>()?;
    Ok((decision, of_alternatives(&alternatives, decision, from)))
}

fn text(literal: &Literal) -> Result<&str, &'static str> {
    match literal {
        Literal::Text(text) => Ok(text),
        _ => Err("its `pattern` has more than texts"),
    }
}

fn decision(name: &str) -> Result<Decision, &'static str> {
    match name {
        "allow" => Ok(Decision::Allow),
        "prompt" => Ok(Decision::Ask),
        "forbidden" => Ok(Decision::Deny),
        _ => Err("its `decision` is unknown"),
    }
}

/// The rule for commands that begin with one of these words, then one of these, and so on.
fn of_alternatives(
    alternatives: &[Vec<&str>],
    decision: Decision,
    from: &Source,
) -> Result<Rule, String> {
    if alternatives.len() > MOST_WORDS {
        return Err("it has too many words".to_owned());
    }
    let mut prefixes: Vec<Vec<&str>> = vec![Vec::new()];
    for words in alternatives {
        let longer = prefixes.iter().flat_map(|prefix| {
            words
                .iter()
                .map(move |word| [prefix.as_slice(), &[*word]].concat())
        });
        prefixes = longer.collect();
        if prefixes.len() > MOST_PATTERNS {
            return Err("it has too many alternatives".to_owned());
        }
    }
    let patterns = prefixes.iter().map(|prefix| command::prefix(prefix));
    let patterns: Option<Vec<_>> = patterns.collect();
    let patterns = patterns.filter(|patterns| !patterns.is_empty());
    let patterns = patterns.ok_or("no pattern can have its words")?;
    Ok(Rule::new(decision, from).commands(patterns))
}

/// Rules that an administrator requires.
fn read_requirements(file: &File, folders: &Folders, import: &mut Import) {
    let Some(tree) = file.toml(import) else {
        return;
    };
    let Some(rules) = tree.at(&["rules", "prefix_rules"]) else {
        return;
    };
    if !matches!(rules.value, Value::List(_)) {
        let from = file.source(rules.line, "prefix_rules");
        return import.miss(from, "it is not a list");
    }
    for rule in rules.items() {
        let from = file.source(rule.line, "prefix_rules");
        take(
            folders.allows(file.scope),
            of_requirement(rule, &from),
            from,
            import,
        );
    }
}

fn of_requirement(rule: &Node, from: &Source) -> Result<Made, &'static str> {
    let name = rule.get("decision").and_then(Node::text);
    let decision = decision(name.ok_or("it has no `decision`")?)?;
    let pattern = rule.get("pattern").ok_or("it has no `pattern`")?;
    let alternatives = pattern.items().iter().map(|item| {
        let words = item.get("token").or_else(|| item.get("any_of"));
        words
            .and_then(Node::texts)
            .ok_or("its `pattern` cannot be read")
    });
    let alternatives: Vec<_> = alternatives.collect::<Result<_, _>>()?;
    Ok((decision, of_alternatives(&alternatives, decision, from)))
}

/// Approvals in `config.toml`.
fn read_config(file: &File, import: &mut Import) {
    let Some(tree) = file.toml(import) else {
        return;
    };
    for name in [
        "approval_policy",
        "approvals_reviewer",
        "sandbox_mode",
        "sandbox_workspace_write",
        "default_permissions",
        "permissions",
    ] {
        if let Some(node) = tree.get(name) {
            let from = file.source(node.line, format!("{name} = {}", node.shown()));
            import.leave(from, "modes stay with the agent: a rule is about calls");
        }
    }
    let Some(servers) = tree.get("mcp_servers") else {
        return;
    };
    for server in servers.members() {
        read_server(file, &server.name, &server.node, import);
    }
}

fn read_server(file: &File, server: &str, node: &Node, import: &mut Import) {
    let title = |tool: &str| vec![format!("mcp__{server}__{tool}")];
    for tool in node.get("disabled_tools").map_or(&[][..], Node::items) {
        if let Some(name) = tool.text() {
            let from = file.source(tool.line, format!("disabled_tools {server} {name}"));
            let rule = Rule::new(Decision::Deny, &from).titles(title(name));
            import.rules.push(rule);
        }
    }
    if let Some(enabled) = node.get("enabled_tools") {
        let from = file.source(enabled.line, format!("enabled_tools {server}"));
        import.leave(from, "it says which tools there are, and no rule does");
    }
    let default = node
        .get("default_tools_approval_mode")
        .map(|mode| ("*", mode));
    let tools = node.get("tools").map_or(&[][..], Node::members).iter();
    let of_tools = tools.filter_map(|tool| Some((&*tool.name, tool.node.get("approval_mode")?)));
    for (tool, mode) in of_tools.chain(default) {
        let from = file.source(mode.line, format!("{server} {tool}: {}", mode.shown()));
        match &mode.value {
            Value::Text(text) if text == "prompt" => {
                let rule = Rule::new(Decision::Ask, &from).titles(title(tool));
                import.rules.push(rule);
            }
            _ => import.leave(
                from,
                "Codex' requests do not name a tool of a server so that a rule could allow it alone",
            ),
        }
    }
}
