//! Which agents of a configuration are launched differently, which are added, and which are left alone.

use std::path::Path;

use crate::agents::{self, Added, Agent, Dialect, Runs};
use crate::error::{Error, Malformed};
use crate::launch::Launch;
use crate::plan::Wanted;

/// Why an agent that launches acp-chain by hand stays unchanged.
const BY_HAND: &str =
    "launches acp-chain already, with options that are not from `acp-chain setup`";

/// The choices for agents.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// Agents to be launched differently.
    pub agents: Vec<String>,
    /// Agents to be added.
    pub added: Vec<Added>,
    /// Agents to be left alone, and why.
    pub left: Vec<(String, &'static str)>,
}

/// Selects the agents to be launched differently, to be added, and to be left alone. If the editor launches an agent of
/// a chosen name by itself, the installed one gets an entry beside it.
pub(crate) fn select(
    path: &Path,
    text: &str,
    dialect: Dialect,
    wanted: &Wanted,
    launch: &Launch,
) -> Result<Selection, Error> {
    let there = agents::read(text, dialect).map_err(Malformed::in_file(path))?;
    let why = |agent: &Agent| match agent.runs {
        Runs::Unfit(why) => Some(why),
        Runs::ByHand => Some(BY_HAND),
        _ if !agents::fits(text, dialect, &agent.name, launch) => Some(
            "has `args`, and its editor then takes no program whose path has spaces or quotes; give it one `argv` \
             in place of both",
        ),
        Runs::Chain | Runs::Other(_) => None,
    };
    let left = |agent: &Agent, why| {
        let (path, name) = (path.to_owned(), agent.name.clone());
        match agent.runs {
            Runs::Unfit(_) => Error::Unfit { path, name, why },
            _ => Error::at(&path, format_args!("`{name}` {why}")),
        }
    };
    // Of several under different keys, only those that fit are changed.
    let named = |name: &str| {
        let named = there.iter().filter(|agent| agent.name == name);
        named.min_by_key(|agent| why(agent).is_some())
    };
    let mut selected = Selection::default();
    for name in &wanted.agents {
        let is_installed = wanted.is_installed(name);
        let (entry, agent) = match named(name) {
            Some(Agent {
                runs: Runs::Unfit(why),
                ..
            }) if is_installed => {
                selected.left.push((name.clone(), *why));
                let entry = format!("{name} (acp-chain)");
                let agent = named(&entry);
                (entry, agent)
            }
            agent => (name.clone(), agent),
        };
        match agent.map(|agent| (agent, why(agent))) {
            Some((agent, Some(why))) => return Err(left(agent, why)),
            Some((_, None)) => selected.agents.push(entry),
            None if selected.added.iter().any(|added| added.entry == entry) => {}
            None if is_installed => selected.added.push(Added {
                entry,
                agent: name.clone(),
            }),
            None => return Err(unknown(path, name, &there, &wanted.installed)),
        }
    }
    if wanted.agents.is_empty() {
        for agent in &there {
            match why(agent) {
                Some(why) => selected.left.push((agent.name.clone(), why)),
                None => selected.agents.push(agent.name.clone()),
            }
        }
        let is_any = there
            .iter()
            .any(|agent| !matches!(agent.runs, Runs::Unfit(_)));
        match there.first() {
            Some(only) if !is_any && there.len() == 1 => {
                return Err(left(only, why(only).unwrap_or_default()));
            }
            _ if !is_any => {
                return Err(Error::NoAgents {
                    path: path.to_owned(),
                    left: selected.left,
                });
            }
            _ => {}
        }
    }
    Ok(selected)
}

fn unknown(path: &Path, name: &str, there: &[Agent], installed: &[String]) -> Error {
    let likeness =
        |other: &&String| strsim::jaro_winkler(&other.to_lowercase(), &name.to_lowercase());
    let there = there.iter().map(|agent| &agent.name);
    let all = there.clone().chain(installed);
    let near = all.max_by(|one, other| likeness(one).total_cmp(&likeness(other)));
    Error::UnknownAgent {
        path: path.to_owned(),
        name: name.into(),
        near: near
            .filter(|near| likeness(near) > 0.7)
            .map(|near| near.as_str().into()),
        there: there.cloned().collect(),
        installed: installed.to_vec(),
    }
}
