//! `acp-chain` alone, in a terminal: what it is, what it has found here, and the next command, in six lines, or more in
//! a narrow terminal. Nothing that is wrong here is an error: the next command then is `acp-chain doctor`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use acp_chain_app::agent::{self, Candidate};
use acp_chain_app::home;
use acp_chain_app::project::{self, State};
use acp_chain_interactive::fitted;
use acp_chain_project::Found;
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};
use acp_chain_setup::{EDITORS, Editor, Folders, Runs, agents};
use console::style;

/// How far what was found is indented.
const INDENT: usize = 11;

/// How many names of a kind are shown.
const SHOWN: usize = 4;

pub fn main() -> ExitCode {
    let here = Here::look();
    let is = "acp-chain puts sandboxed proxies between your editor and its coding agent.";
    say!("{}", fitted(is, 0));
    for (what, found) in [
        (
            "editors",
            listed(here.editors.iter().map(EditorHere::words), "none found"),
        ),
        (
            "agents",
            listed(
                here.agents.iter().map(words),
                "none installed, and none in your PATH",
            ),
        ),
        ("project", here.project_words()),
        ("chain", here.chain_words()),
    ] {
        let what = style(format!("{what:7}")).dim();
        say!("  {what}  {}", fitted(&found, INDENT));
    }
    let (command, does) = here.next();
    let next = format!(
        "Next: `{}` {does}; `acp-chain --help` lists all commands.",
        style(command).bold()
    );
    say!("{}", fitted(&next, 2));
    ExitCode::SUCCESS
}

/// What was found.
struct Here {
    editors: Vec<EditorHere>,
    agents: Vec<Candidate>,
    /// The root of the project of the current folder, and its state.
    project: Option<(PathBuf, Option<State>)>,
    /// The proxies of the user's own chain; `None` if it cannot be read.
    chain: Option<Vec<String>>,
}

/// An editor with its agents, as far as its configurations name them.
struct EditorHere {
    editor: &'static Editor,
    all: usize,
    /// How many of them launch acp-chain.
    behind: usize,
    /// Whether acp-chain could be put in front of something.
    is_open: bool,
}

impl Here {
    fn look() -> Self {
        let agents = agent::candidates();
        let may_add = !agents.is_empty();
        let found = Folders::of_user().map(|places| {
            let all = EDITORS.iter();
            all.filter_map(|editor| EditorHere::look(editor, &places, may_add))
                .collect()
        });
        Self {
            editors: found.unwrap_or_default(),
            agents,
            project: project_here(),
            chain: home::own_proxies().ok(),
        }
    }

    fn project_words(&self) -> String {
        let Some((root, state)) = &self.project else {
            return "none here".to_owned();
        };
        let is = match state {
            Some(State::Trusted(_)) => "trusted",
            Some(State::Changed) => "changed since you trusted it",
            Some(State::Unknown) => "not trusted yet",
            Some(State::Denied) => "denied",
            Some(State::Gone) => "without a manifest",
            Some(State::Wrong(_)) | None => "cannot be read",
        };
        format!("{}: {is}", Untrusted::new(root.display()))
    }

    fn chain_words(&self) -> String {
        match self.chain.as_deref() {
            Some(ids) => listed(
                ids.iter().map(|id| quote(id, MAX_QUOTE)),
                "no proxies of your own",
            ),
            None => "your config.toml cannot be read".to_owned(),
        }
    }

    /// The next command, and what it does.
    fn next(&self) -> (String, &'static str) {
        let state = self.project.as_ref().map(|(_, state)| state.as_ref());
        let is_wrong = matches!(state, Some(None | Some(State::Wrong(_))));
        if self.chain.is_none() || is_wrong {
            let does = "says what is wrong, and how to fix it";
            return ("acp-chain doctor".to_owned(), does);
        }
        if matches!(state, Some(Some(State::Changed | State::Unknown))) {
            return (
                "acp-chain trust".to_owned(),
                "shows what the project asks for",
            );
        }
        let with = match self.chain.as_deref() {
            Some([]) => " --with redact",
            _ => "",
        };
        if let Some(found) = self.editors.iter().find(|found| found.is_open) {
            let name = found.editor.name;
            return (
                format!("acp-chain setup {name}{with}"),
                "puts the chain in front of its agents",
            );
        }
        match self.agents.first() {
            Some(agent) if self.editors.is_empty() => {
                let line = agent.in_path.map(|known| format!("-- {}", known.line()));
                let named = line.unwrap_or_else(|| agent.name.clone());
                (
                    format!("acp-chain try{with} {named}"),
                    "takes turns with it here",
                )
            }
            Some(_) => (
                "acp-chain inspect".to_owned(),
                "shows what a running chain does",
            ),
            None => ("acp-chain demo".to_owned(), "shows what it does"),
        }
    }
}

impl EditorHere {
    /// The editor, if it is found. `may_add` says whether there is an agent that it could get.
    fn look(editor: &'static Editor, places: &Folders, may_add: bool) -> Option<Self> {
        let files = editor.everywhere(places);
        if files.is_empty() && editor.program().is_none() {
            return None;
        }
        let mut found = Self {
            editor,
            all: 0,
            behind: 0,
            is_open: false,
        };
        for (there, is_chained) in files.iter().filter_map(|file| agents(editor, file).ok()) {
            found.all += there.len();
            found.behind += there.iter().filter(|agent| agent.is_chained()).count();
            found.is_open |= there
                .iter()
                .any(|agent| matches!(agent.runs, Runs::Other(_)));
            if editor.is_code() {
                found.behind += usize::from(is_chained);
                found.is_open |= !is_chained;
            }
        }
        found.is_open |= may_add && found.behind == 0 && !files.is_empty();
        Some(found)
    }

    fn words(&self) -> String {
        let (name, all, behind) = (self.editor.name, self.all, self.behind);
        match (self.editor.is_code(), all, behind) {
            (true, _, 0) => format!("{name} (no chain)"),
            (true, ..) => format!("{name} (behind the chain)"),
            (false, 0, _) => name.to_owned(),
            (false, ..) => format!("{name} ({behind} of {all} agents behind the chain)"),
        }
    }
}

/// An agent, and where it is.
fn words(agent: &Candidate) -> String {
    match agent.in_path {
        Some(known) => format!("{} (in your PATH)", known.program),
        None => quote(&agent.name, MAX_QUOTE),
    }
}

/// The first of these, and how many more there are; `none` if there are none.
fn listed(all: impl ExactSizeIterator<Item = String>, none: &str) -> String {
    let more = all.len().saturating_sub(SHOWN);
    let mut first: Vec<_> = all.take(SHOWN).collect();
    if first.is_empty() {
        return none.to_owned();
    }
    if more > 0 {
        first.push(format!("{more} more"));
    }
    first.join(", ")
}

/// The root of the project of the current folder, and its state, if that can be determined.
fn project_here() -> Option<(PathBuf, Option<State>)> {
    let here = acp_chain_app::here().ok()?;
    let records = home::records().ok();
    let Found::Project(root) = project::locate(&here, records.as_ref()) else {
        return None;
    };
    let state = state_of(&root);
    Some((root, state))
}

fn state_of(root: &Path) -> Option<State> {
    let (records, carried) = (home::records().ok()?, home::carried().ok()?);
    Some(State::of(root, &records, &carried))
}
