//! Gemini's policies (`policies/*.toml`), and what its settings say about tools.
//!
//! Of all rules that match, the one of the highest priority decides; an administrator's stand above the user's. Each
//! command of a script is judged for itself, and one with redirections leads to a question. By the source of Gemini
//! CLI 0.61.

mod settings;

use crate::claude::refuse_commands;
use crate::command::{self, ANY};
use crate::find::{File, Folders, Scope};
use crate::node::{Node, Value};
use crate::rule::{Decision, Import, Rule, Source, refuse_tool};

/// The modes in which Gemini asks, or lets tools run. In its mode `plan` it keeps to its own policies.
const MODES: [&str; 3] = ["default", "autoEdit", "yolo"];

/// At how many places the name of a server may end in that of a tool.
const MOST_ENDS: usize = 16;

/// The names of the tool that runs commands, in policies and in settings.
const SHELL: &[&str] = &["run_shell_command", "ShellTool"];

/// Tools, and their kinds.
const TOOLS: &[(&str, &str)] = &[
    ("edit", "edit"),
    ("replace", "edit"),
    ("write_file", "edit"),
    ("read_file", "read"),
    ("read_many_files", "read"),
    ("glob", "search"),
    ("grep_search", "search"),
    ("list_directory", "search"),
    ("search_file_content", "search"),
    ("google_web_search", "fetch"),
    ("web_fetch", "fetch"),
];

/// The rules of one entry, with their priority.
struct Ranked {
    priority: f64,
    decision: Decision,
    from: Source,
    made: Result<Vec<Rule>, String>,
}

/// What was read.
#[derive(Default)]
struct Read {
    ranked: Vec<Ranked>,
    /// The highest priority at which all other commands are denied, and the setting that does so.
    others_denied: Option<(f64, Source)>,
}

/// Reads all policies and settings. Policies of projects have no effect in Gemini.
pub(crate) fn read(folders: &Folders, import: &mut Import) {
    let system = &folders.system.gemini;
    let mut read = Read::default();
    for (folder, scope, tier) in [
        (system, Scope::System, 5.0),
        (&folders.gemini, Scope::User, 4.0),
    ] {
        for path in Folders::listed(&folder.join("policies"), "toml", import) {
            let file = File { path, scope };
            read_policy(&file, tier, folders, &mut read.ranked, import);
        }
    }
    let mut files = vec![
        (system.join("system-defaults.json"), Scope::System),
        (system.join("settings.json"), Scope::System),
        (folders.gemini.join("settings.json"), Scope::User),
    ];
    if let Some(project) = &folders.project {
        let path = project.join(".gemini/settings.json");
        files.push((path, Scope::Project));
    }
    for (path, scope) in files {
        settings::read(&File { path, scope }, folders, &mut read, import);
    }
    read.rank(import);
}

impl Read {
    /// From here on downwards, other commands are denied.
    fn deny_others(&mut self, priority: f64, from: Source) {
        let is_lower = |(own, _): &(f64, Source)| *own < priority;
        if self.others_denied.as_ref().is_none_or(is_lower) {
            self.others_denied = Some((priority, from));
        }
    }

    /// Puts what was read into its order.
    fn rank(self, import: &mut Import) {
        let Self {
            mut ranked,
            others_denied,
        } = self;
        // Where two have the same priority, the stricter one is first.
        ranked.sort_by(|one, other| {
            let by_priority = other.priority.total_cmp(&one.priority);
            by_priority.then(one.decision.laxity().cmp(&other.decision.laxity()))
        });
        for entry in ranked {
            let is_beneath = |(denied, _): &&(f64, Source)| entry.priority <= *denied;
            match others_denied.as_ref().filter(is_beneath) {
                Some((_, by)) if entry.decision == Decision::Allow => {
                    let why = format!(
                        "`{}` in {}:{} counts more, and denies all others",
                        by.rule,
                        by.file.display(),
                        by.line
                    );
                    import.leave(entry.from, why);
                }
                _ => import.take(entry.from, entry.decision, entry.made),
            }
        }
    }
}

fn read_policy(
    file: &File,
    tier: f64,
    folders: &Folders,
    ranked: &mut Vec<Ranked>,
    import: &mut Import,
) {
    let Some(tree) = file.toml(import) else {
        return;
    };
    for entry in tree.get("rule").map_or(&[][..], Node::items) {
        let from = file.source(entry.line, shown(entry));
        let decision = match entry.get("decision").and_then(Node::text) {
            Some("allow") => Decision::Allow,
            Some("deny") => Decision::Deny,
            Some("ask_user") => Decision::Ask,
            _ => {
                import.miss(from, "its `decision` is unknown");
                continue;
            }
        };
        let priority = match entry.get("priority").map(|node| &node.value) {
            Some(Value::Number(number)) => *number,
            _ => {
                import.miss(from, "its `priority` is no number");
                continue;
            }
        };
        if decision == Decision::Allow && !folders.allows(file.scope) {
            continue;
        }
        let made = made_of(entry, decision, &from);
        ranked.push(Ranked {
            priority: tier + priority / 1000.0,
            decision,
            from,
            made,
        });
    }
    for checker in tree.get("safety_checker").map_or(&[][..], Node::items) {
        let from = file.source(checker.line, "safety_checker");
        import.miss(from, "a program checks calls here, which no rule does");
    }
}

/// An entry, for people.
fn shown(entry: &Node) -> String {
    let parts = [
        "decision",
        "toolName",
        "mcpName",
        "commandPrefix",
        "commandRegex",
        "argsPattern",
    ];
    let parts = parts.iter().filter_map(|name| {
        let texts = entry.get(name)?.texts()?.join(", ");
        Some(match *name {
            "decision" => texts,
            name => format!("{name} {texts}"),
        })
    });
    parts.collect::<Vec<_>>().join(" ")
}

/// The rules for an entry of a policy.
fn made_of(entry: &Node, decision: Decision, from: &Source) -> Result<Vec<Rule>, String> {
    let is_allowing = decision == Decision::Allow;
    if is_allowing && let Some(why) = narrowing(entry) {
        return Err(why);
    }
    let decision = if decision == Decision::Deny && is_partial(entry) {
        Decision::Ask
    } else {
        decision
    };
    let texts = |name: &str| match entry.get(name) {
        None => Ok(None),
        Some(node) => node
            .texts()
            .map(Some)
            .ok_or(format!("its `{name}` is no text")),
    };
    if let Some(prefixes) = texts("commandPrefix")? {
        return of_prefixes(&prefixes, decision, from);
    }
    if let Some(regex) = texts("commandRegex")? {
        let beginnings = regex.iter().map(|regex| command::beginning(regex));
        return of_regex(beginnings.collect(), decision, from);
    }
    let names = texts("toolName")?.unwrap_or_default();
    let server = texts("mcpName")?.and_then(|servers| servers.first().copied());
    let has_pattern = entry.get("argsPattern").is_some();
    if has_pattern && is_allowing {
        return Err("a regular expression about the input is no condition of a rule".to_owned());
    }
    // What the pattern narrows is unknown, so the user is asked about the whole tool.
    let decision = if has_pattern { Decision::Ask } else { decision };
    if names.is_empty() && server.is_none() {
        return of_tool(ANY, decision, from);
    }
    if let Some(server) = server {
        return of_server(server, &names, decision, from);
    }
    let rules = names.iter().map(|name| of_tool(name, decision, from));
    let rules: Vec<_> = rules.collect::<Result<_, _>>()?;
    Ok(rules.concat())
}

/// Why an entry that allows is narrower than any rule.
fn narrowing(entry: &Node) -> Option<String> {
    let modes = entry.get("modes").and_then(Node::texts);
    let modes = modes.filter(|modes| !modes.is_empty());
    if let Some(modes) = modes
        && !MODES.iter().all(|mode| modes.contains(mode))
    {
        let modes = modes.join("`, `");
        return Some(format!(
            "it allows only in the modes `{modes}`, which a rule does not know"
        ));
    }
    let narrow = ["subagent", "interactive", "toolAnnotations"];
    let narrow = narrow.iter().find(|name| entry.get(name).is_some());
    narrow.map(|name| format!("`{name}` narrows it, which is no condition of a rule"))
}

/// Whether an entry denies only at times that no rule knows: not in the usual mode, without a person, or for some
/// subagents or tools.
fn is_partial(entry: &Node) -> bool {
    let modes = entry.get("modes").and_then(Node::texts);
    let is_unusual = modes.is_some_and(|modes| !modes.is_empty() && !modes.contains(&MODES[0]));
    let interactive = entry.get("interactive").map(|node| &node.value);
    let is_alone = matches!(interactive, Some(Value::Bool(false)));
    let narrow = ["subagent", "toolAnnotations"];
    is_unusual || is_alone || narrow.iter().any(|name| entry.get(name).is_some())
}

fn of_prefixes(prefixes: &[&str], decision: Decision, from: &Source) -> Result<Vec<Rule>, String> {
    if decision != Decision::Allow {
        let rules = prefixes.iter().map(|prefix| {
            let refused = command::refused(&format!("{} {ANY}", literal(prefix)));
            refuse_commands(&refused, decision, from)
        });
        return Ok(rules.collect::<Vec<_>>().concat());
    }
    if let Some(prefix) = prefixes.iter().find(|prefix| prefix.contains('*')) {
        return Err(format!(
            "the `*` in `{prefix}` is an ordinary character to Gemini"
        ));
    }
    let patterns = prefixes
        .iter()
        .map(|prefix| command::allowed(&format!("{prefix} {ANY}"), ""));
    let patterns: Vec<_> = patterns.collect::<Result<_, _>>()?;
    Ok(vec![Rule::new(decision, from).commands(patterns)])
}

/// The part of a prefix in front of a `*`, which is an ordinary character there.
fn literal(prefix: &str) -> &str {
    let plain = prefix.split('*').next().unwrap_or(prefix);
    if plain.len() == prefix.len() {
        return prefix;
    }
    plain.rsplit_once(' ').map_or("", |(words, _)| words)
}

fn of_regex(
    beginnings: Vec<String>,
    decision: Decision,
    from: &Source,
) -> Result<Vec<Rule>, String> {
    if decision == Decision::Allow {
        return Err("a regular expression about a command is no condition of a rule".to_owned());
    }
    let note = "no pattern says a regular expression, so you are asked about what begins like it";
    let rule = Rule::new(Decision::Ask, from).commands(beginnings);
    Ok(vec![rule.note(note)])
}

/// Rules for a tool by its name. Requests of Gemini for other tools than the shell do not name them.
fn of_tool(name: &str, decision: Decision, from: &Source) -> Result<Vec<Rule>, String> {
    if SHELL.contains(&name) {
        let rule = Rule::new(decision, from).commands(vec![ANY.to_owned()]);
        return Ok(vec![rule]);
    }
    if decision == Decision::Allow {
        return Err(format!(
            "no condition tells `{name}` from other tools of its kind"
        ));
    }
    if name == ANY {
        return Ok(vec![Rule::new(decision, from)]);
    }
    if let Some(rest) = name.strip_prefix("mcp_") {
        return of_mcp_name(name, rest, decision, from);
    }
    let kind = TOOLS.iter().find(|(tool, _)| *tool == name);
    let kind = kind.map(|(_, kind)| *kind);
    Ok(refuse_tool(decision, vec![name.to_owned()], kind, from))
}

/// Rules for a tool `mcp_SERVER_TOOL`, whose requests have both names apart. Either name may have `_`, so it is each
/// server and tool that the name may mean.
fn of_mcp_name(
    name: &str,
    rest: &str,
    decision: Decision,
    from: &Source,
) -> Result<Vec<Rule>, String> {
    if rest == ANY {
        return of_server(ANY, &[], decision, from);
    }
    let ends = rest.match_indices('_').take(MOST_ENDS);
    let titles = ends.map(|(at, _)| title(&rest[..at], &rest[at + 1..]));
    let names = [name.to_owned()].into_iter().chain(titles).collect();
    Ok(refuse_tool(decision, names, None, from))
}

/// How a request of Gemini names a tool of a server.
fn title(server: &str, name: &str) -> String {
    format!("{name} ({server} MCP Server)*")
}

/// Rules for tools of an MCP server: by the names that Gemini's hooks report, and the titles of its requests.
fn of_server(
    server: &str,
    names: &[&str],
    decision: Decision,
    from: &Source,
) -> Result<Vec<Rule>, String> {
    if decision == Decision::Allow {
        return Err(
            "Gemini's requests do not name a tool of a server so that a rule could allow it alone"
                .into(),
        );
    }
    let all = [ANY];
    let names = if names.is_empty() { &all[..] } else { names };
    let titles = names.iter().flat_map(|name| {
        let hook = format!("mcp_{server}_{name}");
        [hook, title(server, name)]
    });
    Ok(refuse_tool(decision, titles.collect(), None, from))
}
