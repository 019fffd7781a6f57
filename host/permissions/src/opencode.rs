//! opencode's `permission`, in its settings and those of a project.
//!
//! The files are merged as objects, in which a name keeps its first place, and of all entries that match, the last one
//! decides. By the source of opencode 1.18.

mod paths;

use crate::claude::{refuse_commands, refuse_paths};
use crate::command::{self, ANY};
use crate::find::{File, Folders, Scope};
use crate::node::{Member, Node, Value};
use crate::rule::{Decision, Import, MOST_RULES, Rule, Source, refuse_tool};
use paths::{allowed_paths, refused_paths};
use wildmatch::WildMatch;

/// Programs whose arguments opencode checks for folders outside of the project, also those of PowerShell and cmd.
const CONFINED: &str = "\
    add-content cat cd chdir chmod chown copy copy-item cp del dir erase get-content md mkdir move move-item mv \
    new-item popd push-location pushd rd remove-item ren rename rename-item rm rmdir set-content set-location \
    touch type";

/// Tools and other permissions, with the kind of the tools.
const OWN: &[(&str, Option<&str>)] = &[
    ("bash", Some("execute")),
    ("codesearch", Some("fetch")),
    ("doom_loop", None),
    ("edit", Some("edit")),
    ("external_directory", None),
    ("glob", Some("search")),
    ("grep", Some("search")),
    ("list", Some("search")),
    ("lsp", None),
    ("plan_enter", None),
    ("plan_exit", None),
    ("question", None),
    ("read", Some("read")),
    ("skill", None),
    ("task", None),
    ("todoread", None),
    ("todowrite", None),
    ("webfetch", Some("fetch")),
    ("websearch", Some("fetch")),
];

/// An entry: what it is about, a pattern, and its decision.
struct Entry {
    key: String,
    pattern: String,
    decision: Decision,
    from: Source,
    scope: Scope,
}

/// Reads all settings.
pub(crate) fn read(folders: &Folders, import: &mut Import) {
    let names = ["opencode.json", "opencode.jsonc"];
    let mut files = vec![(folders.opencode.join("config.json"), Scope::User)];
    files.extend(names.map(|name| (folders.opencode.join(name), Scope::User)));
    let projects = folders.projects();
    for project in projects.iter().rev() {
        files.extend(names.map(|name| (project.join(name), Scope::Project)));
    }
    for project in &projects {
        files.extend(names.map(|name| (project.join(".opencode").join(name), Scope::Project)));
    }
    let own = folders.home.join(".opencode");
    files.extend(names.map(|name| (own.join(name), Scope::User)));
    files.extend(names.map(|name| (folders.system.opencode.join(name), Scope::System)));
    let mut trees = Vec::new();
    for (path, scope) in files {
        let file = File { path, scope };
        if let Some(tree) = file.json(import) {
            trees.push((file, tree));
        }
    }
    // Any file may name the usual agent, whichever describes it.
    let agents = trees.iter();
    let agents = agents.filter_map(|(_, tree)| tree.get("default_agent")?.text());
    let usual: Vec<_> = agents.chain(["build"]).collect();
    let mut entries = Vec::new();
    for (file, tree) in &trees {
        read_tree(file, tree, &usual, &mut entries, folders, import);
    }
    for entry in entries.into_iter().rev() {
        take(entry, folders, import);
    }
}

fn take(entry: Entry, folders: &Folders, import: &mut Import) {
    let is_allowing = entry.decision == Decision::Allow;
    if is_allowing && !folders.allows(entry.scope) {
        return;
    }
    if entry.key == "external_directory" && entry.pattern == ANY && !is_allowing {
        let why = "what was imported allows only in the session's directory, so no rule is needed";
        return import.leave(entry.from, why);
    }
    let made = made_of(&entry, folders);
    import.take(entry.from, entry.decision, made);
}

fn read_tree(
    file: &File,
    tree: &Node,
    usual: &[&str],
    entries: &mut Vec<Entry>,
    folders: &Folders,
    import: &mut Import,
) {
    if let Some(permission) = tree.get("permission") {
        for entry in entries_of(file, permission, import) {
            merge(entry, entries, import);
        }
    }
    for agents in ["agent", "mode"] {
        for agent in tree.get(agents).map_or(&[][..], Node::members) {
            read_agent(file, usual, agent, folders, import);
        }
    }
    for entry in turned_off(file, tree, import) {
        take(entry, folders, import);
    }
}

/// The entries for the `tools` of a file, or of an agent in it, that are turned off: opencode takes them for denials.
fn turned_off(file: &File, tree: &Node, import: &mut Import) -> Vec<Entry> {
    let mut entries = Vec::new();
    for tool in tree.get("tools").map_or(&[][..], Node::members) {
        let from = file.source(tool.node.line, format!("tools {}", tool.name));
        if matches!(tool.node.value, Value::Bool(false)) {
            entries.push(Entry {
                key: match &*tool.name {
                    "write" | "patch" => "edit".to_owned(),
                    name => name.to_owned(),
                },
                pattern: ANY.to_owned(),
                decision: Decision::Deny,
                from,
                scope: file.scope,
            });
        } else {
            import.leave(from, "it says which tools there are, and no rule does");
        }
    }
    entries
}

/// What is asked about for one agent is asked about for all, and before anything else. So is what the usual agent is
/// denied; what another one is denied, opencode never asks about.
fn read_agent(file: &File, usual: &[&str], agent: &Member, folders: &Folders, import: &mut Import) {
    let mut entries = turned_off(file, &agent.node, import);
    if let Some(permission) = agent.node.get("permission") {
        entries.extend(entries_of(file, permission, import));
    }
    let is_usual = usual.contains(&&*agent.name);
    for entry in entries.into_iter().rev() {
        match entry.decision {
            Decision::Deny if is_usual => {
                let first = import.rules.len();
                let decision = Decision::Ask;
                take(Entry { decision, ..entry }, folders, import);
                for rule in &mut import.rules[first..] {
                    let note = "it is denied only for the usual agent, so you are asked";
                    rule.note.get_or_insert_with(|| note.to_owned());
                }
            }
            Decision::Ask => take(entry, folders, import),
            Decision::Allow | Decision::Deny => {
                let why = format!("it is only for the agent `{}`", agent.name);
                import.leave(entry.from, why);
            }
        }
    }
}

/// The entries of a `permission`, in their order.
fn entries_of(file: &File, permission: &Node, import: &mut Import) -> Vec<Entry> {
    let whole = [(ANY, permission)];
    let keys: Vec<_> = match &permission.value {
        Value::Table(members) => {
            let keys = members.iter().map(|member| (&*member.name, &member.node));
            keys.collect()
        }
        _ => whole.to_vec(),
    };
    let mut entries = Vec::new();
    for (key, node) in keys {
        let own = [(ANY, node)];
        let patterns: Vec<_> = match &node.value {
            Value::Table(members) => {
                let patterns = members.iter().map(|member| (&*member.name, &member.node));
                patterns.collect()
            }
            _ => own.to_vec(),
        };
        for (pattern, action) in patterns {
            let text = format!("{key} {pattern}: {}", action.shown());
            let from = file.source(action.line, text);
            let decision = match action.text() {
                Some("allow") => Decision::Allow,
                Some("deny") => Decision::Deny,
                Some("ask") => Decision::Ask,
                _ => {
                    import.miss(from, "its action is neither `allow`, `ask` nor `deny`");
                    continue;
                }
            };
            entries.push(Entry {
                key: key.to_owned(),
                pattern: pattern.to_owned(),
                decision,
                from,
                scope: file.scope,
            });
        }
    }
    entries
}

/// Adds an entry of a later file. One with the same name keeps its place; a new pattern of a known key stands behind
/// the others of the key.
fn merge(entry: Entry, entries: &mut Vec<Entry>, import: &mut Import) {
    let is_same = |own: &&mut Entry| own.key == entry.key && own.pattern == entry.pattern;
    if let Some(own) = entries.iter_mut().find(is_same) {
        let former = std::mem::replace(own, entry);
        if former.decision != own.decision {
            let place = format!("{}:{}", own.from.file.display(), own.from.line);
            let decision = own.decision.as_str();
            let why = format!("{place} says `{decision}` about the same, and counts");
            import.leave(former.from, why);
        }
        return;
    }
    if entries.len() >= MOST_RULES {
        let why = format!("there are more than {MOST_RULES} entries");
        return import.miss(entry.from, why);
    }
    let last = entries.iter().rposition(|own| own.key == entry.key);
    entries.insert(last.map_or(entries.len(), |at| at + 1), entry);
}

/// The rules for an entry: for each of opencode's own tools that its key means, and for other tools of such a name.
fn made_of(entry: &Entry, folders: &Folders) -> Result<Vec<Rule>, String> {
    let Entry {
        key,
        pattern,
        decision,
        from,
        ..
    } = entry;
    let is_allowing = *decision == Decision::Allow;
    if key == ANY && pattern == ANY {
        return if is_allowing {
            allowed_all(entry, folders)
        } else {
            Ok(vec![Rule::new(*decision, from)])
        };
    }
    // What a pattern of another tool is about differs, so it leads to a question.
    let by_name = if pattern == ANY {
        *decision
    } else {
        Decision::Ask
    };
    let glob = WildMatch::new(key);
    let mut rules = Vec::new();
    for (name, kind) in OWN.iter().filter(|(name, _)| glob.matches(name)) {
        rules.push(match *name {
            "bash" => of_commands(pattern, *decision, from),
            "edit" => of_paths(&["edit", "delete", "move"], entry, folders),
            "read" => of_paths(&["read"], entry, folders),
            "external_directory" => of_outside(pattern, *decision, from, folders),
            _ if is_allowing => Err(format!(
                "no condition tells `{name}` from other tools of its kind"
            )),
            _ => Ok(refuse_tool(by_name, vec![(*name).to_owned()], *kind, from)),
        });
    }
    let is_own = OWN.iter().any(|(name, _)| name == key);
    if !is_own && is_allowing {
        let fits = pattern == ANY && !key.starts_with(['*', '?']) && !key.contains('?');
        rules.push(if fits && rules.is_empty() {
            let rule = Rule::new(*decision, from).kinds(&["other"]);
            Ok(vec![rule.titles(vec![key.clone()])])
        } else {
            Err(format!("no condition tells `{key}` from other tools"))
        });
    } else if !is_own {
        rules.push(Ok(refuse_tool(by_name, vec![key.clone()], None, from)));
    }
    // What allows a part of what was meant allows no more than that; what denies has to be whole.
    let errors = rules.iter().find_map(|made| made.as_ref().err().cloned());
    let made: Vec<_> = rules.into_iter().flatten().flatten().collect();
    match errors {
        Some(why) if made.is_empty() || !is_allowing => Err(why),
        _ => Ok(made),
    }
}

/// Rules for everything that may run: in the session's directory, since another entry may be about other folders.
fn allowed_all(entry: &Entry, folders: &Folders) -> Result<Vec<Rule>, String> {
    let rules = [
        of_commands(ANY, entry.decision, &entry.from)?,
        of_paths(&["edit"], entry, folders)?,
        of_paths(&["read"], entry, folders)?,
    ];
    Ok(rules.concat())
}

fn of_commands(pattern: &str, decision: Decision, from: &Source) -> Result<Vec<Rule>, String> {
    if decision != Decision::Allow {
        let refused = command::refused(pattern);
        return Ok(refuse_commands(&refused, decision, from));
    }
    if pattern != ANY {
        let pattern = command::allowed(pattern, CONFINED)?;
        return Ok(vec![Rule::new(decision, from).commands(vec![pattern])]);
    }
    let confined = CONFINED
        .split(' ')
        .map(|program| format!("{program} {ANY}"));
    let note = "opencode checks their folders, which `command` cannot say";
    let asking = Rule::new(Decision::Ask, from).commands(confined.collect());
    let rule = Rule::new(decision, from).commands(vec![ANY.to_owned()]);
    Ok(vec![asking.note(note), rule])
}

/// Rules for paths, which count from the repository.
fn of_paths(kinds: &[&'static str], entry: &Entry, folders: &Folders) -> Result<Vec<Rule>, String> {
    let Entry {
        pattern,
        decision,
        from,
        ..
    } = entry;
    if *decision == Decision::Allow {
        let rule = Rule::new(*decision, from).kinds(&kinds[..1]);
        return Ok(vec![rule.paths(allowed_paths(entry, folders)?)]);
    }
    if pattern == ANY {
        return Ok(vec![Rule::new(*decision, from).kinds(kinds)]);
    }
    let globs = refused_paths(pattern, &folders.home);
    Ok(refuse_paths(kinds, globs, *decision, from))
}

/// Folders outside of the project.
fn of_outside(
    pattern: &str,
    decision: Decision,
    from: &Source,
    folders: &Folders,
) -> Result<Vec<Rule>, String> {
    if decision == Decision::Allow {
        return Err("a rule that allows names its folders itself".to_owned());
    }
    let globs = refused_paths(pattern, &folders.home)?;
    Ok(vec![Rule::new(decision, from).paths(globs)])
}
