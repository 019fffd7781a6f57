//! What a configuration is to become. Nothing is written here.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::agents::{self, Agent, Dialect, Malformed, Runs};
use crate::block;
use crate::editors::{Code, Editor, Kind};
use crate::error::Error;
use crate::launch::Launch;
use crate::places::Places;

/// No configuration is longer than this, in bytes.
pub(crate) const LONGEST: u64 = 16 << 20;

/// What the user said about which agents.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The configuration; without it, the only one that there is.
    pub file: Option<PathBuf>,
    /// The agents, by the names that they have in it, or in code by the names of their programs; without any, all.
    pub agents: Vec<String>,
}

/// A file, before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file itself, however many links lead to it.
    pub path: PathBuf,
    /// What it says; none if it is not there.
    pub before: Option<String>,
    /// What it is to say; none if it is to go.
    pub after: Option<String>,
    /// The agents that this is about.
    pub(crate) agents: Vec<String>,
}

impl Change {
    /// An error if the file is not what it was when this was planned, or may not be written.
    ///
    /// # Errors
    /// As it says.
    pub fn check(&self) -> Result<(), Error> {
        // Another file could be moved over it all the same, but whoever made it so does not want that.
        if fs::metadata(&self.path).is_ok_and(|about| about.permissions().readonly()) {
            return Err(Error::ReadOnly(self.path.clone()));
        }
        match read(&self.path)? == self.before {
            true => Ok(()),
            false => Err(Error::Changed(self.path.clone())),
        }
    }
}

/// What comes of looking at a configuration.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The file itself.
    pub path: PathBuf,
    /// What would change; none if all is as wanted.
    pub change: Option<Change>,
    /// The agents that stay as they are, and why.
    pub left: Vec<(String, &'static str)>,
}

/// Why an agent that launches acp-chain by hand stays as it is.
const BY_HAND: &str =
    "launches acp-chain already, with options that are not from `acp-chain setup`";

/// Plans to let agents of an editor be launched so.
///
/// # Errors
/// If there is no configuration, or several; if it cannot be read, or may not be written; if it has no such agents.
pub fn plan(
    editor: &Editor,
    places: &Places,
    wanted: &Wanted,
    launch: &Launch,
) -> Result<Planned, Error> {
    let path = resolved(&chosen(editor, places, wanted.file.as_deref())?)?;
    let before = read(&path)?;
    let (mut agents, mut left) = (Vec::new(), Vec::new());
    let after = match &editor.kind {
        Kind::Agents { dialect, .. } => {
            let text = before.as_deref().ok_or_else(|| Error::NotFound {
                title: editor.title,
                looked: vec![path.clone()],
            })?;
            (agents, left) = select(&path, text, *dialect, &wanted.agents, launch)?;
            let after = agents::wrap(text, *dialect, &agents, launch);
            Some(after.map_err(malformed(&path))?)
        }
        Kind::Code(code) => {
            let text = before.as_deref().unwrap_or_default();
            Some(coded(editor, code, &path, text, wanted, launch)?)
        }
        Kind::Typed { .. } => before.clone(),
    };
    let change = (before != after).then(|| Change {
        path: path.clone(),
        before,
        after,
        agents,
    });
    Ok(Planned { path, change, left })
}

/// What is to be typed to launch agents so, for an editor that has no configuration of them.
#[must_use]
pub fn typed(editor: &Editor, launch: &Launch) -> Option<String> {
    match &editor.kind {
        Kind::Typed { line, .. } => Some(line(launch)),
        Kind::Agents { .. } | Kind::Code(_) => None,
    }
}

/// The agents of a configuration, or none if it does not name them; then whether acp-chain launches them is one
/// answer for all.
///
/// # Errors
/// If it cannot be read.
pub fn agents(editor: &Editor, path: &Path) -> Result<(Vec<Agent>, bool), Error> {
    let path = resolved(path)?;
    let text = read(&path)?.unwrap_or_default();
    match &editor.kind {
        Kind::Agents { dialect, .. } => {
            let agents = agents::read(&text, *dialect).map_err(malformed(&path))?;
            let launches = |agent: &Agent| matches!(agent.runs, Runs::Chain | Runs::ByHand);
            let is_chained = agents.iter().any(launches);
            Ok((agents, is_chained))
        }
        Kind::Code(code) => {
            let is_chained = block::is_in(&text, code.comment).map_err(malformed(&path))?;
            Ok((Vec::new(), is_chained))
        }
        Kind::Typed { .. } => Ok((Vec::new(), false)),
    }
}

/// A text without what we have put into it; none if there was nothing else.
pub(crate) fn without(
    editor: &Editor,
    path: &Path,
    text: &str,
    agents: &[String],
) -> Result<Option<String>, Error> {
    match &editor.kind {
        Kind::Agents { dialect, .. } => {
            let text = agents::unwrap(text, *dialect, agents);
            text.map(Some).map_err(malformed(path))
        }
        Kind::Code(code) => {
            let text = block::take(text, code.comment).map_err(malformed(path))?;
            Ok(Some(text).filter(|text| !(code.is_own && text.trim().is_empty())))
        }
        Kind::Typed { .. } => Ok(Some(text.to_owned())),
    }
}

/// The configuration that the user means.
pub(crate) fn chosen(
    editor: &Editor,
    places: &Places,
    file: Option<&Path>,
) -> Result<PathBuf, Error> {
    if let Some(file) = file {
        return std::path::absolute(file).map_err(Error::disk(file));
    }
    let mut found = editor.found(places);
    match (found.pop(), found.is_empty()) {
        (Some(only), true) => Ok(only),
        (Some(last), false) => {
            found.push(last);
            Err(Error::Several {
                title: editor.title,
                found,
            })
        }
        (None, _) => Err(Error::NotFound {
            title: editor.title,
            looked: editor.files(places),
        }),
    }
}

/// The file that a path leads to, or would.
pub(crate) fn resolved(path: &Path) -> Result<PathBuf, Error> {
    match path.canonicalize() {
        Ok(path) => Ok(path),
        Err(_) if path.symlink_metadata().is_ok() => Err(Error::Dangling(path.to_owned())),
        // The folder may be a link, too.
        Err(_) => Ok(
            match (path.parent().map(Path::canonicalize), path.file_name()) {
                (Some(Ok(folder)), Some(name)) => folder.join(name),
                _ => path.to_owned(),
            },
        ),
    }
}

/// What a file says; none if it is not there.
pub(crate) fn read(path: &Path) -> Result<Option<String>, Error> {
    let file = match File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(Error::disk(path))?,
    };
    let mut bytes = Vec::new();
    let read = file.take(LONGEST + 1).read_to_end(&mut bytes);
    read.map_err(Error::disk(path))?;
    if bytes.len() as u64 > LONGEST {
        return Err(Error::TooLarge(path.to_owned()));
    }
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let lines = valid.split(|byte| *byte == b'\n').count();
        malformed(path)(Malformed {
            line: lines,
            wrong: "this is no UTF-8".to_owned(),
        })
    })
}

fn malformed(path: &Path) -> impl FnOnce(Malformed) -> Error {
    let path = path.to_owned();
    move |Malformed { line, wrong }| Error::Malformed { path, line, wrong }
}

type Selected = (Vec<String>, Vec<(String, &'static str)>);

/// The agents that are to be launched otherwise, and those that are not.
fn select(
    path: &Path,
    text: &str,
    dialect: Dialect,
    wanted: &[String],
    launch: &Launch,
) -> Result<Selected, Error> {
    let there = agents::read(text, dialect).map_err(malformed(path))?;
    let why = |agent: &Agent| match agent.runs {
        Runs::Unfit(why) => Some(why),
        Runs::ByHand => Some(BY_HAND),
        _ if !agents::fits(text, dialect, &agent.name, launch) => Some(
            "has `args`, and its editor then takes no program whose path has spaces or quotes; give it one `argv` \
             in place of both",
        ),
        Runs::Chain | Runs::Other(_) => None,
    };
    let unfit = |agent: &Agent, why| Error::Unfit {
        path: path.to_owned(),
        name: agent.name.clone(),
        why,
    };
    let (mut names, mut left) = (Vec::new(), Vec::new());
    for name in wanted {
        let agent = there.iter().find(|agent| agent.name == *name);
        let agent = agent.ok_or_else(|| unknown(path, name, &there))?;
        match why(agent) {
            Some(why) => return Err(unfit(agent, why)),
            None => names.push(name.clone()),
        }
    }
    if wanted.is_empty() {
        for agent in &there {
            match why(agent) {
                Some(why) => left.push((agent.name.clone(), why)),
                None => names.push(agent.name.clone()),
            }
        }
        let is_any = there
            .iter()
            .any(|agent| !matches!(agent.runs, Runs::Unfit(_)));
        match there.first() {
            Some(only) if !is_any && there.len() == 1 => {
                return Err(unfit(only, why(only).unwrap_or_default()));
            }
            _ if !is_any => return Err(Error::NoAgents(path.to_owned())),
            _ => {}
        }
    }
    Ok((names, left))
}

fn unknown(path: &Path, name: &str, there: &[Agent]) -> Error {
    let likeness =
        |agent: &Agent| strsim::jaro_winkler(&agent.name.to_lowercase(), &name.to_lowercase());
    let near = there
        .iter()
        .max_by(|one, other| likeness(one).total_cmp(&likeness(other)));
    let near = near.filter(|agent| likeness(agent) > 0.7);
    let all: Vec<_> = there
        .iter()
        .map(|agent| format!("`{}`", agent.name))
        .collect();
    Error::UnknownAgent {
        path: path.to_owned(),
        name: name.to_owned(),
        near: near.map(|agent| agent.name.clone()),
        there: match all.is_empty() {
            true => "none".to_owned(),
            false => all.join(", "),
        },
    }
}

/// A configuration that is code, with ours.
fn coded(
    editor: &Editor,
    code: &Code,
    path: &Path,
    text: &str,
    wanted: &Wanted,
    launch: &Launch,
) -> Result<String, Error> {
    let is_in = block::is_in(text, code.comment).map_err(malformed(path))?;
    if code.is_own && !is_in && !text.trim().is_empty() {
        return Err(Error::Taken(path.to_owned()));
    }
    if let Some(check) = code.check {
        check(text).map_err(malformed(path))?;
    }
    let ours = (code.text)(launch, &wanted.agents);
    block::put(text, code.comment, editor.name, &ours).map_err(malformed(path))
}
