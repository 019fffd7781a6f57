//! Claude's `permissions` in its settings: of the user, of a project, and managed ones.
//!
//! In all files together, what denies is tried before what asks, and that before what allows. By the documentation of
//! Claude Code, and by 2.1 of the program.

use std::path::{Path, PathBuf};

use crate::command::{self, ANY};
use crate::find::{File, Folders, Scope};
use crate::node::{Node, Value};
use crate::path::{self, Bases, Purpose};
use crate::rule::{Decision, Import, Rule, Source, refuse_tool};

/// Programs that a rule lets reach only the working directories, unless it allows every command.
const CONFINED: &str = "\
    awk base64 cat cd cmp column comm cp cut diff egrep expand fgrep file find fmt fold gawk grep head hexdump \
    jq ls man mawk md5sum mkdir mv nawk nl numfmt od paste pr pushd rev rg rm rmdir sed sha1sum sha256sum sort \
    stat strings tac tail tee touch tr tsort unexpand uniq wc";

/// The lists of rules, in the order in which they are tried.
const LISTS: [(&str, Decision); 3] = [
    ("deny", Decision::Deny),
    ("ask", Decision::Ask),
    ("allow", Decision::Allow),
];

/// The kinds of calls that Claude's rules for reading and for editing are about.
const READING: &[&str] = &["read", "search"];
const EDITING: &[&str] = &["edit", "delete", "move"];

/// A file with settings, and the folder from which patterns with one leading slash count.
struct Settings {
    file: File,
    root: PathBuf,
    tree: Node,
}

/// Reads all settings.
pub(crate) fn read(folders: &Folders, import: &mut Import) {
    let mut all = Vec::new();
    let managed = &folders.system.claude;
    let mut files = vec![
        (managed.join("managed-settings.json"), Scope::System),
        // What the server of an administrator has sent.
        (folders.claude.join("remote-settings.json"), Scope::System),
        (folders.claude.join("settings.json"), Scope::User),
    ];
    files.extend(
        Folders::listed(&managed.join("managed-settings.d"), "json", import)
            .into_iter()
            .map(|path| (path, Scope::System)),
    );
    if let Some(project) = &folders.project {
        let own = project.join(".claude");
        files.push((own.join("settings.json"), Scope::Project));
        files.push((own.join("settings.local.json"), Scope::Project));
    }
    for (path, scope) in files {
        let root = match (scope, &folders.project) {
            (Scope::Project, Some(project)) => project.clone(),
            _ => path.parent().unwrap_or(Path::new("/")).to_owned(),
        };
        let file = File { path, scope };
        if let Some(tree) = file.json(import) {
            all.push(Settings { file, root, tree });
        }
    }
    let is_managed_only = all.iter().any(|settings| {
        let only = settings.tree.get("allowManagedPermissionRulesOnly");
        settings.file.scope == Scope::System && only.is_some_and(|only| only.shown() == "true")
    });
    let counts = |settings: &Settings| !is_managed_only || settings.file.scope == Scope::System;
    all.retain(counts);
    for (list, decision) in LISTS {
        for settings in &all {
            take_list(settings, list, decision, folders, import);
        }
    }
    // A question that stands for a denial must not be asked in front of another denial.
    import.order_by_strictness();
    for settings in &all {
        note_others(settings, import);
    }
}

fn take_list(
    settings: &Settings,
    list: &str,
    decision: Decision,
    folders: &Folders,
    import: &mut Import,
) {
    let Some(rules) = settings.tree.at(&["permissions", list]) else {
        return;
    };
    let is_list = matches!(rules.value, Value::List(_));
    let Some(texts) = rules.texts().filter(|_| is_list) else {
        let from = settings.file.source(rules.line, format!("`{list}`"));
        return import.miss(from, "it is not a list of texts");
    };
    let lines = rules.items().iter().map(|item| item.line);
    let bases = Bases {
        home: &folders.home,
        root: &settings.root,
    };
    let is_taken = decision != Decision::Allow || folders.allows(settings.file.scope);
    for (text, line) in texts.into_iter().zip(lines) {
        let from = settings.file.source(line, format!("{list} {text}"));
        if let Some(kinds) = excepted(text).filter(|_| decision == Decision::Allow) {
            let rule = Rule::new(Decision::Ask, &from).kinds(kinds);
            let note = "it takes paths out of what is allowed, so you are asked about each";
            import.rules.push(rule.note(note));
        } else if is_taken {
            let made = made_of(text, decision, &bases, &from);
            import.take(from, decision, made);
        }
    }
}

/// The kinds of calls of which a rule takes some out of what others allow: a pattern with `!`, as in a `.gitignore`.
fn excepted(text: &str) -> Option<&'static [&'static str]> {
    match text.split_once('(') {
        Some(("Read", about)) if about.starts_with('!') => Some(READING),
        Some(("Edit", about)) if about.starts_with('!') => Some(EDITING),
        _ => None,
    }
}

/// Settings beside the lists.
fn note_others(settings: &Settings, import: &mut Import) {
    if let Some(sandbox) = settings.tree.get("sandbox") {
        let text = format!("sandbox = {}", sandbox.shown());
        let from = settings.file.source(sandbox.line, text);
        import.leave(
            from,
            "the sandbox stays with the agent: a rule is about calls",
        );
    }
    let Some(permissions) = settings.tree.get("permissions") else {
        return;
    };
    if !matches!(permissions.value, Value::Table(_)) {
        let from = settings.file.source(permissions.line, "permissions");
        return import.miss(from, "it is not an object");
    }
    for member in permissions.members() {
        let why = match &*member.name {
            "deny" | "ask" | "allow" => continue,
            "defaultMode" => "modes stay with the agent: a rule is about calls",
            "additionalDirectories" => {
                "a rule that allows stays in the session's directory unless its `path` says more"
            }
            _ => "it is no rule",
        };
        let text = format!("{} = {}", member.name, member.node.shown());
        import.leave(settings.file.source(member.node.line, text), why);
    }
}

/// The rules for one of Claude's.
fn made_of(
    text: &str,
    decision: Decision,
    bases: &Bases<'_>,
    from: &Source,
) -> Result<Vec<Rule>, String> {
    let (tool, about) = match text.split_once('(') {
        Some((_, rest)) if !rest.ends_with(')') && decision == Decision::Allow => {
            return Err("it has no `)` at its end".to_owned());
        }
        Some((tool, rest)) => (tool, Some(rest.strip_suffix(')').unwrap_or(rest))),
        None => (text, None),
    };
    let about = about.filter(|about| !matches!(*about, "" | "*"));
    match tool {
        "Bash" => of_commands(about, decision, from),
        // A rule that allows by `command` does not tell the two shells apart.
        "PowerShell" if about.is_some() && decision != Decision::Allow => {
            of_commands(about, decision, from)
        }
        "Read" => of_paths(READING, about, decision, bases, from),
        "Edit" => of_paths(EDITING, about, decision, bases, from),
        "Write" | "MultiEdit" | "NotebookEdit" if decision != Decision::Allow => {
            of_paths(EDITING, about, decision, bases, from)
        }
        "WebFetch" if about.is_some() && decision != Decision::Allow => {
            let note = "no condition is about addresses, so you are asked about each";
            let rule = Rule::new(Decision::Ask, from).kinds(&["fetch"]);
            Ok(vec![rule.note(note)])
        }
        _ if decision == Decision::Allow => of_tool_that_runs(tool, about, from),
        _ => Ok(of_refused_tool(tool, about, decision, from)),
    }
}

fn of_commands(
    about: Option<&str>,
    decision: Decision,
    from: &Source,
) -> Result<Vec<Rule>, String> {
    let text = match about.map(|about| about.strip_suffix(":*")) {
        // Before `:*` a star is an ordinary character.
        Some(Some(prefix)) if decision == Decision::Allow && prefix.contains('*') => {
            return Err("a `*` in front of `:*` is an ordinary character to Claude".to_owned());
        }
        Some(Some(prefix)) => format!("{prefix} {ANY}"),
        Some(None) => about.unwrap_or(ANY).to_owned(),
        None => ANY.to_owned(),
    };
    if decision == Decision::Allow {
        let confined = if text == ANY { "" } else { CONFINED };
        let pattern = command::allowed(&text, confined)?;
        return Ok(vec![Rule::new(decision, from).commands(vec![pattern])]);
    }
    Ok(refuse_commands(&command::refused(&text), decision, from))
}

/// Rules for commands that are denied, or asked about.
pub(crate) fn refuse_commands(
    refused: &command::Refused,
    decision: Decision,
    from: &Source,
) -> Vec<Rule> {
    let pattern = refused.pattern.iter();
    let said = pattern.map(|pattern| Rule::new(decision, from).commands(vec![pattern.clone()]));
    let wider = refused.wider.iter().map(|wider| {
        let note = "no pattern says all of it, so you are asked about more";
        let rule = Rule::new(Decision::Ask, from).commands(vec![wider.clone()]);
        rule.note(note)
    });
    said.chain(wider).collect()
}

fn of_paths(
    kinds: &[&'static str],
    about: Option<&str>,
    decision: Decision,
    bases: &Bases<'_>,
    from: &Source,
) -> Result<Vec<Rule>, String> {
    if decision == Decision::Allow {
        // Deleting and searching are other tools.
        let rule = Rule::new(decision, from).kinds(&kinds[..1]);
        let Some(about) = about else {
            // Without a path it is a rule for the tool of that name, and `Write` is of the same kind.
            return if kinds == READING {
                Ok(vec![rule])
            } else {
                Err("alone it does not allow `Write`, from which no condition tells it".into())
            };
        };
        let globs = path::globs(about, bases, Purpose::Allow)?;
        if kinds == EDITING && globs.iter().any(|glob| path::names_hidden(glob)) {
            return Err(
                "Claude asks before it changes hidden files, whatever a rule allows".into(),
            );
        }
        return Ok(vec![rule.paths(globs)]);
    }
    let Some(about) = about else {
        return Ok(vec![Rule::new(decision, from).kinds(kinds)]);
    };
    let globs = path::globs(about, bases, Purpose::Refuse);
    Ok(refuse_paths(kinds, globs, decision, from))
}

/// Rules for paths that are denied, or asked about. A command that names one leads to a question, as it need not open
/// the file. If the paths are unknown, each call leads to one.
pub(crate) fn refuse_paths(
    kinds: &[&'static str],
    globs: Result<Vec<String>, String>,
    decision: Decision,
    from: &Source,
) -> Vec<Rule> {
    let asking = |kinds: &[&'static str]| Rule::new(Decision::Ask, from).kinds(kinds);
    match globs {
        Ok(globs) => {
            let rule = Rule::new(decision, from).kinds(kinds).paths(globs.clone());
            vec![rule, asking(&["execute"]).paths(globs)]
        }
        Err(why) => vec![asking(kinds).note(format!("{why}, so you are asked about each"))],
    }
}

/// A tool without a kind of its own runs without a question only if its title tells it from all others: those of MCP
/// servers do.
fn of_tool_that_runs(tool: &str, about: Option<&str>, from: &Source) -> Result<Vec<Rule>, String> {
    if tool == "WebFetch" && about.is_some() {
        return Err("no condition is about addresses".to_owned());
    }
    let is_mcp = tool.strip_prefix("mcp__").is_some_and(|rest| {
        let (server, name) = rest.split_once("__").unwrap_or((rest, ANY));
        let fits = |text: &str| !text.is_empty() && !text.contains(['*', '?']);
        fits(server) && (fits(name) || name == ANY)
    });
    if !is_mcp || about.is_some() {
        return Err(format!(
            "no condition tells `{tool}` from other tools of its kind"
        ));
    }
    let names = titles_of_server(tool);
    let rule = Rule::new(Decision::Allow, from).kinds(&["other"]);
    Ok(vec![rule.titles(names)])
}

/// The titles of a tool of a server, or of all of them.
fn titles_of_server(tool: &str) -> Vec<String> {
    let is_server = tool.matches("__").count() == 1;
    if is_server {
        vec![format!("{tool}__*")]
    } else {
        vec![tool.to_owned()]
    }
}

fn of_refused_tool(
    tool: &str,
    about: Option<&str>,
    decision: Decision,
    from: &Source,
) -> Vec<Rule> {
    let kind = match tool {
        "*" => return vec![Rule::new(decision, from)],
        "WebFetch" | "WebSearch" => Some("fetch"),
        "Glob" | "Grep" | "LS" => Some("search"),
        // Without parentheses: `Bash` is of the same kind.
        "PowerShell" => Some("execute"),
        _ => None,
    };
    let names = if tool.starts_with("mcp__") {
        titles_of_server(tool)
    } else {
        vec![tool.to_owned()]
    };
    // What is in parentheses narrows the rule, and no condition says it.
    let decision = if about.is_some() {
        Decision::Ask
    } else {
        decision
    };
    refuse_tool(decision, names, kind, from)
}
