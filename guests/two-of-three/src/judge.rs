//! What a call brings: which labels, from the files that it reads, the commands that it runs, and its tool.
//!
//! Invariant: what cannot be read, or is not known, brings labels. Nothing is taken for local in doubt.

use std::collections::{BTreeMap, BTreeSet};

use acp_chain_calls::call::{Call, KINDS};
use acp_chain_calls::command::{self, Commands, Expansions, Pattern};
use acp_chain_calls::directory::Directory;
use acp_chain_calls::fold::fold;
use acp_chain_calls::glob::Glob;
use acp_chain_calls::place::Place;
use acp_chain_calls::title::LogTitle;
use acp_chain_calls::verdict::Match;
use acp_chain_proxy::path;

use crate::config::{AssumePrivate, Server};
use crate::label::{Label, Labels};
use crate::ledger::is_instruction;
use crate::places::bases;

/// A tool that adds to what agents read by themselves and names no file, and that file: those of Qwen Code.
const MEMORY: (&str, &str) = ("save_memory", "qwen.md");

/// What programs in most languages have in them that use the network, in lower case.
const CLIENTS: &[&str] = &[
    "\"http",
    "\"net\"",
    "\"tls\"",
    "'http",
    "'net'",
    "'tls'",
    "/inet/",
    "aiohttp",
    "axios",
    "curl ",
    "fetch(",
    "ftplib",
    "http.client",
    "http.get(",
    "http.request(",
    "http::",
    "httplib",
    "httparty",
    "https.get(",
    "https.request(",
    "httpx",
    "imaplib",
    "lwp",
    "net.connect(",
    "net.createconnection(",
    "net.dial",
    "net/http",
    "node:http",
    "open-uri",
    "open_connection(",
    "paramiko",
    "poplib",
    "requests",
    "smtplib",
    "socket",
    "telnetlib",
    "tls.connect(",
    "undici",
    "urllib",
    "wget ",
    "xmlhttprequest",
];

/// What programs have in them that start others, in lower case.
const STARTERS: &[&str] = &[
    "child_process",
    "exec \"",
    "exec '",
    "exec(",
    "execa",
    "execl",
    "execv",
    "open3",
    "popen",
    "qx(",
    "qx/",
    "qx{",
    "spawn",
    "subprocess",
    "system \"",
    "system '",
    "system(",
];

/// Languages in which what is within backquotes is run.
const QUOTING: &[&str] = &["perl", "ruby"];

/// How the titles of tools begin, in lower case, that use the network or servers, although agents show them as searches,
/// reads or thoughts: those of Gemini CLI and Qwen Code, of Codex, and of opencode.
const OUTSIDE: &[&str] = &[
    "calling remote agent ",
    "context7_",
    "find in page",
    "list mcp resources",
    "open page",
    "searching the web",
    "web search",
];

/// How the title begins with which Gemini CLI reads what a server has, in lower case.
const RESOURCE: &str = "read mcp resource";

/// How many servers are read of a title.
const MOST_SERVERS: usize = 16;

/// What the user says of commands, tools, places and servers.
pub(crate) struct Judge {
    pub(crate) local: Vec<Pattern>,
    /// Commands that bring no text from outside, those of `local` among them.
    pub(crate) builds: Vec<Pattern>,
    /// Every command of git.
    pub(crate) git: Vec<Pattern>,
    pub(crate) local_tools: Vec<String>,
    pub(crate) private: Vec<Glob>,
    /// The folders of the user's own projects; without any, each project is one but those in `untrusted`.
    pub(crate) trusted: Vec<Glob>,
    pub(crate) untrusted: Vec<Glob>,
    pub(crate) servers: BTreeMap<String, Server>,
    pub(crate) assume_private: AssumePrivate,
}

/// What a call does, as far as its text shows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Effects {
    pub(crate) brings: Labels,
    /// What it brings besides in a session with text from outside.
    pub(crate) assumed: Labels,
    /// The files and folders that it may read, see [`key`].
    pub(crate) reads: BTreeSet<String>,
    /// Whether it may read any file of the project.
    pub(crate) reads_any: bool,
    /// What it brings if text from outside has changed git's settings, which say what git runs.
    pub(crate) by_git: Labels,
    pub(crate) writes: BTreeSet<String>,
    /// Whether what it writes uses the network, as far as its text shows.
    pub(crate) writes_fetching: bool,
    /// Whether it brings no text from outside only because it builds, tests or runs what is in the project.
    pub(crate) is_build: bool,
    /// The files outside of the project that it writes, and that agents read by themselves.
    pub(crate) instructs: BTreeSet<String>,
    /// The title of the call, safe to show.
    pub(crate) title: String,
}

impl Judge {
    /// The effects of a call. `server` is the MCP server of its tool, if it is known.
    pub(crate) fn effects(
        &self,
        call: &Call,
        server: Option<&str>,
        directory: Option<&Directory>,
    ) -> Effects {
        let title = LogTitle(command::title(call)).to_string();
        let mut effects = Effects {
            title,
            ..Effects::default()
        };
        if call.unclear {
            let source = format!("{}, which cannot be read", effects.title);
            effects.brings.add(&Label::ALL, &source);
        }
        let commands = Commands::of(call, directory);
        // A title may be a command.
        let is_tool = !call.kinds.contains("execute");
        let titles = || call.titles.iter().filter(move |_| is_tool);
        let in_titles = titles().flat_map(|title| servers_in(title, server.is_some()));
        let servers: BTreeSet<&str> = server.into_iter().chain(in_titles).collect();
        for name in &servers {
            self.add_server(name, &mut effects);
        }
        // A server that runs commands of the agent's.
        let is_local = |name: &&str| self.servers.get(*name).is_some_and(|server| server.local);
        if commands.is_some() && !servers.iter().all(is_local) {
            self.add_assumed(&mut effects);
        }
        if servers.is_empty() {
            self.add_tool(call, commands.as_ref(), directory, &mut effects);
        }
        // The kind of such a tool is what its server declares.
        let displayed = titles().flat_map(|title| displayed_servers(title));
        let slashed = titles().filter_map(|title| slashed_server(title, call));
        for name in displayed.chain(slashed).collect::<BTreeSet<&str>>() {
            self.add_server(name, &mut effects);
        }
        self.add_places(call, commands.as_ref(), directory, &mut effects);
        effects
    }

    /// Whether all of a project is text from outside. In doubt it is, if the user has said which projects are.
    pub(crate) fn is_untrusted(&self, cwd: Option<&str>) -> bool {
        let Some(cwd) = cwd else {
            return !(self.trusted.is_empty() && self.untrusted.is_empty());
        };
        let own = Directory::of(cwd);
        let directory = own.as_ref();
        let place = Place::of(cwd, directory);
        let is_trusted = self.trusted.is_empty()
            || place.exact.is_some_and(|exact| {
                let mut globs = self.trusted.iter();
                globs.any(|glob| glob.allows(&exact, directory, true))
            });
        !is_trusted || meets(&self.untrusted, cwd, directory)
    }

    fn add_server(&self, name: &str, effects: &mut Effects) {
        let described = self.servers.get(name).copied();
        if described.is_none() {
            // It may have credentials of the user's: in its declaration, by a sign-in of the agent's, or in files.
            self.add_assumed(effects);
        }
        let server = described.unwrap_or_default();
        let source = format!("the MCP server {}", LogTitle(Some(name)));
        let brought = [
            (Label::A, !server.trusted),
            (Label::B, server.private),
            (Label::C, !server.local),
        ];
        for (label, _) in brought.into_iter().filter(|(_, is_brought)| *is_brought) {
            effects.brings.add(&[label], &source);
        }
    }

    fn add_tool(
        &self,
        call: &Call,
        commands: Option<&Commands>,
        directory: Option<&Directory>,
        effects: &mut Effects,
    ) {
        if let Some(commands) = commands {
            self.add_commands(call, commands, directory, effects);
        }
        let mut kinds: BTreeSet<&str> = call.all_kinds().collect();
        if kinds.is_empty() {
            kinds.insert("other");
        }
        let is_known = |kind: &&str| *kind != "other" && KINDS.contains(kind);
        if !kinds.iter().all(is_known) {
            self.add_likely_server(call, effects);
        }
        for kind in kinds {
            match kind {
                "read" | "search" | "think"
                    if call.titles.iter().any(|title| uses_network(title)) =>
                {
                    effects.bring_outside("the network, by");
                    self.add_assumed(effects);
                }
                "execute" | "read" | "switch_mode" | "think" => {}
                "search" => effects.reads_any = true,
                "edit" | "delete" | "move" => add_writes(call, directory, effects),
                "fetch" => effects.bring_outside("the network, by"),
                _ if self.is_local_tool(call) => {}
                _ => {
                    effects.bring_outside("an unknown tool,");
                    self.add_assumed(effects);
                }
            }
        }
    }

    /// A tool of unknown kind may be one of a private server, under another spelling: `SERVER_TOOL`.
    fn add_likely_server(&self, call: &Call, effects: &mut Effects) {
        let titles: Vec<_> = call.titles.iter().map(|title| letters(title)).collect();
        let is_likely = |name: &str| titles.iter().any(|title| title.contains(&letters(name)));
        let mut private = self.servers.iter().filter(|(_, server)| server.private);
        if let Some((name, _)) = private.find(|(name, _)| is_likely(name)) {
            let source = format!("what may be the MCP server {}", LogTitle(Some(name)));
            effects.brings.add(&[Label::B], &source);
        }
    }

    fn is_local_tool(&self, call: &Call) -> bool {
        let mut titles = call.titles.iter();
        !call.titles.is_empty() && titles.all(|title| self.local_tools.contains(title))
    }

    /// What is not known may read private places without naming them.
    fn add_assumed(&self, effects: &mut Effects) {
        let source = format!("what {} may read without naming it", effects.title);
        match self.assume_private {
            AssumePrivate::Always => effects.brings.add(&[Label::B], &source),
            AssumePrivate::AfterText => effects.assumed.add(&[Label::B], &source),
            AssumePrivate::Never => {}
        }
    }

    /// What a command of git may do with settings that somebody else wrote.
    fn outside_git(&self, title: &str) -> Labels {
        let mut effects = Effects {
            title: title.to_owned(),
            ..Effects::default()
        };
        effects.bring_outside("git's settings, written under A, by");
        self.add_assumed(&mut effects);
        effects.brings.join(&effects.assumed);
        effects.brings
    }

    /// A command that is not proved local may act outside, and read from there unless it only builds.
    fn add_commands(
        &self,
        call: &Call,
        commands: &Commands,
        directory: Option<&Directory>,
        effects: &mut Effects,
    ) {
        effects.reads_any = true;
        let bases = bases(call, Some(commands), directory);
        for file in &commands.files {
            effects.write(file, directory);
            for base in &bases {
                effects.write(&base.join(file), directory);
            }
        }
        if commands.print_environment() {
            let source = format!("the environment, printed by {}", effects.title);
            effects.brings.add(&[Label::B], &source);
        }
        let goes_out = |to: Option<&str>| to.is_none_or(|to| !holds(directory, to));
        let stays = !commands.moves().any(goes_out);
        let mut covered = vec![false; commands.count()];
        // Otherwise its title may say anything.
        let is_named = !call.input.lines.is_empty() || !call.input.is_given;
        let is_local = if is_named {
            commands.doubt().is_none()
                && stays
                && commands
                    .cover(&self.local, Expansions::Printed, directory, &mut covered)
                    .is_none()
        } else {
            self.is_local_tool(call)
        };
        if is_local {
            if commands.meet(&self.git) != Match::No {
                effects.by_git = self.outside_git(&effects.title);
            }
            return;
        }
        let by = "a command that is not proved local,";
        let is_build = is_named && stays && commands.mean(&self.builds);
        if is_build && !(commands.has_code && has_outside_code(call)) {
            let source = format!("{by} {}", effects.title);
            effects.brings.add(&[Label::C], &source);
            effects.is_build = true;
        } else {
            effects.bring_outside(by);
        }
        self.add_assumed(effects);
    }
}

impl Effects {
    /// Looks at the whole text of a call that writes files.
    pub(crate) fn look_at_text(&mut self, text: &str) {
        let is_fetching = || text.contains("://") || has_any(text, CLIENTS);
        self.writes_fetching = !self.writes.is_empty() && is_fetching();
    }

    /// A file outside of the project is text from outside anyway, unless agents read it by themselves; and `/dev/null`
    /// is none.
    fn write(&mut self, file: &str, directory: Option<&Directory>) {
        let name = key(file, directory);
        if holds(directory, file) {
            self.writes.insert(name);
        } else if is_instruction(&name) {
            self.instructs.insert(name);
        }
    }

    /// Reads from outside, and acts there.
    fn bring_outside(&mut self, by: &str) {
        let source = format!("{by} {}", self.title);
        self.brings.add(&[Label::A, Label::C], &source);
    }
}

/// Whether the text of a command has code that may print text from outside.
fn has_outside_code(call: &Call) -> bool {
    let mut texts = command::texts(call);
    texts.any(|text| {
        let is_run = text.contains('`') && has_any(&text, QUOTING);
        is_run || has_any(&text, CLIENTS) || has_any(&text, STARTERS)
    })
}

/// Whether one of these is in a text, in capitals or not.
fn has_any(text: &str, signs: &[&str]) -> bool {
    let text = text.to_ascii_lowercase();
    signs.iter().any(|sign| text.contains(sign))
}

/// The changes of files. Names that start programs count as outside, as none of the project may be meant.
fn add_writes(call: &Call, directory: Option<&Directory>, effects: &mut Effects) {
    let bases = bases(call, None, directory);
    for path in &call.paths {
        effects.write(path, directory);
        for base in &bases {
            effects.write(&base.join(path), directory);
        }
    }
    if call.titles.iter().any(|title| title == MEMORY.0) {
        effects.instructs.insert(MEMORY.1.to_owned());
    }
    let is_inside = |path: &&String| {
        let has = |own: &Directory| {
            let mut below = bases.iter().map(|base| base.join(path));
            own.has(path) && below.all(|path| own.has(&path))
        };
        directory.is_some_and(has)
    };
    let outside = call.paths.iter().find(|path| !is_inside(path));
    let source = match outside {
        Some(path) => format!("the change of {}", LogTitle(Some(path))),
        None if call.paths.is_empty() => format!("{}, which names no file", effects.title),
        None => return,
    };
    effects.brings.add(&[Label::C], &source);
}

/// The MCP servers that a tool may be of, by its title: a tool's name, `mcp__SERVER__TOOL`, and nothing else, which
/// `is_name` says that it is. Two underscores may be in either part, so another server may have the rest of a name that
/// begins like that of a described one.
fn servers_in(title: &str, is_name: bool) -> impl Iterator<Item = &str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let name = Some(title).filter(|title| is_name || title.chars().all(fits));
    let rest = name.and_then(|name| name.strip_prefix("mcp__"));
    let servers = rest.into_iter().flat_map(|rest| {
        let parts = rest
            .char_indices()
            .map(move |(place, _)| rest.split_at(place));
        parts.filter_map(|(server, tool)| tool.starts_with("__").then_some(server))
    });
    servers.take(MOST_SERVERS)
}

/// Whether a tool with this title uses the network, or a server that the title does not name.
fn uses_network(title: &str) -> bool {
    let folded = title.to_ascii_lowercase();
    let is_of_no_server = || displayed_servers(title).next().is_none();
    OUTSIDE.iter().any(|start| folded.starts_with(start))
        || (folded.starts_with(RESOURCE) && is_of_no_server())
}

/// The MCP servers that a title names as Gemini CLI and Qwen Code do: `TOOL (SERVER MCP Server)`, and
/// `Read MCP resource "NAME" from server "SERVER"`. The name of a tool or a resource may look like more of them: behind
/// [`MOST_SERVERS`] of a tool, the whole title stands for the rest, as that of an unknown server.
fn displayed_servers(title: &str) -> impl Iterator<Item = &str> {
    let ends = title.match_indices(" MCP Server)").take(MOST_SERVERS + 1);
    let tools = ends.enumerate().filter_map(move |(count, (end, _))| {
        if count < MOST_SERVERS {
            Some(title[..end].rsplit_once('(')?.1)
        } else {
            Some(title)
        }
    });
    let is_resource = title.to_ascii_lowercase().starts_with(RESOURCE);
    let read = Some(title).filter(|_| is_resource);
    let behind = read
        .into_iter()
        .flat_map(|title| title.split(" from server \"").skip(1));
    let sources = behind.filter_map(|behind| behind.split('"').next());
    tools.chain(sources)
}

/// The MCP server that a title names as fast-agent does, `SERVER/TOOL`, which makes a kind of the words in the tool's name.
/// A path of the call may look like that, too; and Gemini CLI lists a folder with no more than its path.
fn slashed_server<'t>(title: &'t str, call: &Call) -> Option<&'t str> {
    let (server, tool) = title.split_once('/')?;
    let is_name = |part: &str, signs: &str| {
        let fits = |c: char| c.is_alphanumeric() || signs.contains(c);
        part.contains(char::is_alphanumeric) && part.chars().all(fits)
    };
    let is_tool = is_name(server, "_-.") && is_name(tool, "_-./");
    let is_path = call.paths.iter().any(|path| path.ends_with(title));
    let is_listed = call.kinds.contains("search") && !call.input.is_given;
    (is_tool && !is_path && !is_listed).then_some(server)
}

/// A name as far as all spellings of it have it in common.
fn letters(name: &str) -> String {
    let folded = fold(name);
    folded.chars().filter(|c| c.is_alphanumeric()).collect()
}

pub(crate) fn holds(directory: Option<&Directory>, path: &str) -> bool {
    directory.is_some_and(|own| own.holds(path))
}

/// Whether a glob matches a path in any of its meanings.
pub(crate) fn meets<'g>(
    globs: impl IntoIterator<Item = &'g Glob>,
    path: &str,
    directory: Option<&Directory>,
) -> bool {
    let place = Place::of(path, directory);
    let mut globs = globs.into_iter();
    globs.any(|glob| {
        let mut readings = place.readings.iter();
        readings.any(|reading| glob.meets(reading, directory))
    })
}

/// The form of a path by which files are compared, whatever file systems make of case. Links are not followed.
pub(crate) fn key(file: &str, directory: Option<&Directory>) -> String {
    let whole = directory.map_or_else(|| file.to_owned(), |own| own.join(file));
    fold(&path::normal(&whole))
}
