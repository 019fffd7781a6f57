//! Plans changes to a configuration. Nothing is written here.

use std::fs;
use std::path::{Path, PathBuf};

use crate::agents::{self, Agent};
use crate::block;
use crate::editors::{Code, EDITORS, Editor, Kind};
use crate::error::{Error, Malformed};
use crate::file::{read, resolved};
use crate::launch::Launch;
use crate::places::Folders;
use crate::select::{Selection, select};
use crate::shell::shell_line;

/// The user's choice of agents.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The configuration's path. Default: the only one.
    pub file: Option<PathBuf>,
    /// The agents, by their names in the configuration, or, for code, by the names of their programs; all if empty.
    pub agents: Vec<String>,
    /// The agents installed by acp-chain. A chosen one that is missing in the configuration is added.
    pub installed: Vec<String>,
}

impl Wanted {
    /// Whether an agent could be added.
    pub(crate) fn is_installed(&self, name: &String) -> bool {
        self.installed.contains(name)
    }
}

/// A file, before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file itself, with links resolved.
    pub path: PathBuf,
    /// Its content; `None` if it does not exist.
    pub before: Option<String>,
    /// Its new content; `None` to remove it.
    pub after: Option<String>,
    /// The agents that the change concerns.
    pub(crate) agents: Vec<String>,
    /// The added ones.
    pub(crate) added: Vec<String>,
}

impl Change {
    /// Checks that the change can still be made.
    ///
    /// # Errors
    /// If the file has changed since the plan, or is read-only.
    pub fn check(&self) -> Result<(), Error> {
        // Renaming another file over it would work, but it is read-only on purpose.
        if fs::metadata(&self.path).is_ok_and(|about| about.permissions().readonly()) {
            return Err(Error::ReadOnly(self.path.clone()));
        }
        if read(&self.path)? == self.before {
            Ok(())
        } else {
            Err(Error::Changed(self.path.clone()))
        }
    }
}

/// The result of planning.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The file itself.
    pub path: PathBuf,
    /// The change; `None` if everything is as wanted.
    pub change: Option<Change>,
    /// The agents that stay unchanged, and why.
    pub left: Vec<(String, &'static str)>,
    /// The installed agents for which there is a new entry.
    pub added: Vec<String>,
    /// Which agents the editor still launches without a chain, and how to change that where it can be changed.
    pub note: Option<String>,
}

/// Plans to make an editor launch agents with `launch`.
///
/// # Errors
/// If there is no configuration, or several; if it cannot be read, or may not be written; if it has no such agents, and
/// none are installed.
pub fn plan(
    editor: &Editor,
    places: &Folders,
    wanted: &Wanted,
    launch: &Launch,
) -> Result<Plan, Error> {
    let may_add = wanted.agents.iter().any(|name| wanted.is_installed(name));
    let chosen = match chosen(editor, places, wanted.file.as_deref()) {
        Err(error @ Error::NotFound { .. }) if may_add => editor.place(places).ok_or(error),
        chosen => chosen,
    };
    let path = resolved(&chosen?)?;
    let before = read(&path)?;
    let mut selected = Selection::default();
    let mut note = None;
    let after = match &editor.kind {
        Kind::Agents { dialect, alone, .. } => {
            note = alone.map(|alone| format!("{alone} start without a chain."));
            let text = before.as_deref().or(may_add.then_some(""));
            let text = text.ok_or_else(|| Error::NotFound {
                title: editor.title,
                looked: vec![path.clone()],
            })?;
            selected = select(&path, text, *dialect, wanted, launch)?;
            let after = agents::wrap(text, *dialect, &selected.agents, launch, &places.home)
                .and_then(|text| agents::put(&text, *dialect, &selected.added, launch));
            Some(after.map_err(Malformed::in_file(&path))?)
        }
        Kind::Code(code) => {
            let text = before.as_deref().unwrap_or_default();
            note = Some(format!(
                "Agents {} are launched without a chain: let their command be `{} AGENT ARGS…`, on the machine where \
                 they run.",
                code.others,
                shell_line(&launch.before_command())
            ));
            Some(coded(editor, code, &path, text, wanted, launch)?)
        }
        Kind::Typed { .. } => before.clone(),
    };
    let Selection {
        agents,
        added,
        left,
    } = selected;
    let change = (before != after).then(|| Change {
        path: path.clone(),
        before,
        after,
        agents,
        added: added.iter().map(|added| added.entry.clone()).collect(),
    });
    Ok(Plan {
        path,
        change,
        left,
        added: added.into_iter().map(|added| added.agent).collect(),
        note,
    })
}

/// The command lines that launch agents with `launch`, for an editor without a configuration of agents: a line for each
/// chosen and installed agent, and for each of these commands; without any, one for any agent.
pub fn typed(
    editor: &Editor,
    wanted: &Wanted,
    commands: &[String],
    launch: &Launch,
) -> Option<Vec<String>> {
    let Kind::Typed { line, .. } = &editor.kind else {
        return None;
    };
    let installed = wanted
        .agents
        .iter()
        .filter(|name| wanted.is_installed(name));
    let before = shell_line(&launch.before_command());
    let mut launched: Vec<_> = installed
        .map(|name| shell_line(&launch.installed(name)))
        .chain(commands.iter().map(|command| format!("{before} {command}")))
        .collect();
    if launched.is_empty() {
        launched.push(format!("{before} AGENT ARGS…"));
    }
    Some(launched.iter().map(|words| line(words)).collect())
}

/// An agent in the configuration of an editor.
#[derive(Debug)]
pub struct EditorAgent {
    /// The editor.
    pub editor: &'static Editor,
    /// The configuration.
    pub path: PathBuf,
    /// The agent.
    pub agent: Agent,
}

/// The agents in all configurations of this user that can be read.
pub fn all_agents() -> Vec<EditorAgent> {
    let Some(places) = Folders::of_user() else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for editor in &EDITORS {
        for path in editor.everywhere(&places) {
            let (found, _) = agents(editor, &path).unwrap_or_default();
            all.extend(found.into_iter().map(|agent| EditorAgent {
                editor,
                path: path.clone(),
                agent,
            }));
        }
    }
    all
}

/// The agents of a configuration, or none if it does not name them; and whether acp-chain launches any of them, in that
/// case.
///
/// # Errors
/// If it cannot be read.
pub fn agents(editor: &Editor, path: &Path) -> Result<(Vec<Agent>, bool), Error> {
    let path = resolved(path)?;
    let text = read(&path)?.unwrap_or_default();
    match &editor.kind {
        Kind::Agents { dialect, .. } => {
            let agents = agents::read(&text, *dialect).map_err(Malformed::in_file(&path))?;
            let is_chained = agents.iter().any(Agent::is_chained);
            Ok((agents, is_chained))
        }
        Kind::Code(code) => {
            let is_chained =
                block::is_in(&text, code.comment).map_err(Malformed::in_file(&path))?;
            Ok((Vec::new(), is_chained))
        }
        Kind::Typed { .. } => Ok((Vec::new(), false)),
    }
}

/// The agents in a text that are launched through acp-chain.
pub(crate) fn chained(editor: &Editor, path: &Path, text: &str) -> Result<Vec<String>, Error> {
    let Kind::Agents { dialect, .. } = &editor.kind else {
        return Ok(Vec::new());
    };
    let agents = agents::read(text, *dialect).map_err(Malformed::in_file(path))?;
    let chained = agents.into_iter().filter(Agent::is_chained);
    Ok(chained.map(|agent| agent.name).collect())
}

/// A text without our additions, given the original one; `None` if nothing else is left.
pub(crate) fn without(
    editor: &Editor,
    path: &Path,
    text: &str,
    agents: &[String],
    added: &[String],
    original: &str,
) -> Result<Option<String>, Error> {
    match &editor.kind {
        Kind::Agents { dialect, .. } => {
            let text = agents::take(text, *dialect, added)
                .and_then(|text| agents::unwrap(&text, *dialect, agents, original));
            text.map(Some).map_err(Malformed::in_file(path))
        }
        Kind::Code(code) => {
            let text = block::take(text, code.comment).map_err(Malformed::in_file(path))?;
            Ok(Some(text).filter(|text| !(code.is_own && text.trim().is_empty())))
        }
        Kind::Typed { .. } => Ok(Some(text.to_owned())),
    }
}

/// The chosen configuration.
pub(crate) fn chosen(
    editor: &Editor,
    places: &Folders,
    file: Option<&Path>,
) -> Result<PathBuf, Error> {
    if let Some(file) = file {
        return std::path::absolute(file).map_err(Error::disk(file));
    }
    let title = editor.title;
    let found = editor.found(places);
    match &found[..] {
        [only] => Ok(only.clone()),
        [] => Err(Error::NotFound {
            title,
            looked: editor.looked(places),
        }),
        _ => Err(Error::several(title, &found)),
    }
}

/// A configuration of code, with our block.
fn coded(
    editor: &Editor,
    code: &Code,
    path: &Path,
    text: &str,
    wanted: &Wanted,
    launch: &Launch,
) -> Result<String, Error> {
    // If a name is both a program and an installed agent, the program is meant.
    let is_only_ours = |name: &&String| wanted.is_installed(name) && which::which(name).is_err();
    if let Some(name) = wanted.agents.iter().find(is_only_ours) {
        let (title, command) = (editor.title, shell_line(&launch.installed(name)));
        return Err(Error::Other(format!(
            "{title} defines agents in code, where `acp-chain setup` adds none: use the command `{command}` there, \
             which launches the installed `{name}`; nothing was changed"
        )));
    }
    let is_in = block::is_in(text, code.comment).map_err(Malformed::in_file(path))?;
    if code.is_own && !is_in && !text.trim().is_empty() {
        return Err(Error::Taken(path.to_owned()));
    }
    if let Some(check) = code.check {
        check(text).map_err(Malformed::in_file(path))?;
    }
    let ours = (code.text)(launch, &wanted.agents);
    block::put(text, code.comment, editor.name, &ours).map_err(Malformed::in_file(path))
}
