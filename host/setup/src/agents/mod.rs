//! Agents in a JSON configuration, perhaps with comments and trailing commas: their commands, and edits of those. An
//! edit replaces a few places in the text; the rest is never rewritten.

mod command;
mod entry;
mod find;

pub use self::command::Runs;
pub use self::find::{BY_EDITOR, Dialect};

use std::path::Path;

use self::command::{Command, Edits, edited};
use self::find::{ConfiguredAgent, find};
use crate::error::Malformed;
use crate::launch::{Launch, LaunchPrefix};
use crate::shell::shell_word;

/// An agent in a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    pub name: String,
    /// The command that the editor launches.
    pub runs: Runs,
    /// The command's words; empty if unknown.
    pub words: Vec<String>,
}

impl Agent {
    /// Whether the editor launches acp-chain for it.
    pub fn is_chained(&self) -> bool {
        matches!(self.runs, Runs::Chain | Runs::ByHand)
    }
}

/// An entry for an installed agent.
#[derive(Clone, Debug)]
pub struct Added {
    /// Its name in the configuration.
    pub entry: String,
    /// The name under which the agent is installed.
    pub agent: String,
}

/// The agents of a configuration, in order.
pub fn read(text: &str, dialect: Dialect) -> Result<Vec<Agent>, Malformed> {
    let found = find(text, dialect)?;
    let agents = found.into_iter().map(|found| {
        let (runs, words) = match found.command {
            Ok(command) => (command.runs(), command.words()),
            Err(why) => (Runs::Unfit(why), Vec::new()),
        };
        let name = found.name;
        Agent { name, runs, words }
    });
    Ok(agents.collect())
}

/// Puts the chain in front of these agents, replacing any earlier one. Agents that launch acp-chain by hand stay.
pub fn wrap(
    text: &str,
    dialect: Dialect,
    names: &[String],
    launch: &Launch,
    home: &Path,
) -> Result<String, Malformed> {
    let (before_command, before_name) = (launch.before_command(), launch.before_name());
    each(text, dialect, names, |command| {
        let (count, prefix) = match command.ours() {
            Some(LaunchPrefix::Name(count)) => (count, &before_name),
            Some(LaunchPrefix::Command(count)) => (count, &before_command),
            // The named agent is another one, under another key.
            None if command.runs() == Runs::ByHand => return None,
            None => (0, &before_command),
        };
        let is_there = count == prefix.len() && command.words().starts_with(prefix);
        (!is_there).then(|| command.wrapped(text, count, prefix, home))
    })
}

/// Removes what [`wrap`] inserted, also from an agent that only has another name now. Programs are written as in the
/// original text.
pub fn unwrap(
    text: &str,
    dialect: Dialect,
    names: &[String],
    original: &str,
) -> Result<String, Malformed> {
    let before = find(original, dialect).unwrap_or_default();
    let there = find(text, dialect)?;
    let is_gone = |old: &&ConfiguredAgent| {
        names.contains(&old.name) && there.iter().all(|found| found.name != old.name)
    };
    let edits = there.iter().filter_map(|found| {
        let command = found.command.as_ref().ok()?;
        let Some(LaunchPrefix::Command(count)) = command.ours() else {
            return None;
        };
        let old = if names.contains(&found.name) {
            let is_split = |old: &&ConfiguredAgent| {
                old.name == found.name && matches!(old.command, Ok(Command::Split { .. }))
            };
            before.iter().find(is_split)
        } else {
            if before.iter().any(|old| old.name == found.name) {
                return None;
            }
            // Its command tells which one it was.
            let words = command.words();
            let is_it = |old: &&ConfiguredAgent| {
                let command = old.command.as_ref();
                command.is_ok_and(|command| command.words() == words[count..])
            };
            Some(before.iter().filter(is_gone).find(is_it)?)
        };
        let earlier = old.and_then(|old| Some((old.command.as_ref().ok()?, original)));
        Some(command.bare(text, count, earlier))
    });
    Ok(edited(text, edits.flatten().collect()))
}

/// Adds entries for installed agents.
pub fn put(
    text: &str,
    dialect: Dialect,
    added: &[Added],
    launch: &Launch,
) -> Result<String, Malformed> {
    added.iter().try_fold(text.to_owned(), |text, added| {
        let words = launch.installed(&added.agent);
        entry::put(&text, dialect, &added.entry, &words)
    })
}

/// Removes agents that are launched in the form that [`put`] writes.
pub fn take(text: &str, dialect: Dialect, names: &[String]) -> Result<String, Malformed> {
    let is_ours = |command: &Command| matches!(command.ours(), Some(LaunchPrefix::Name(_)));
    let is_it = |found: &ConfiguredAgent| {
        names.contains(&found.name) && found.command.as_ref().is_ok_and(is_ours)
    };
    let found = find(text, dialect)?.into_iter().filter(is_it);
    let mut places: Vec<_> = found.map(|found| found.at).collect();
    places.sort_unstable();
    // The last one first, so that the positions of the others stay valid.
    let mut places = places.into_iter().rev();
    places.try_fold(text.to_owned(), |text, at| entry::take(&text, dialect, at))
}

/// Whether these agents can be launched with `launch`: if a program and its arguments become one line, the program must
/// need no quotes.
pub fn fits(text: &str, dialect: Dialect, name: &str, launch: &Launch) -> bool {
    let is_plain = shell_word(&launch.program) == launch.program;
    let found = find(text, dialect).unwrap_or_default();
    let mut named = found.iter().filter(|found| found.name == name);
    !dialect.lines
        || is_plain
        || !named.any(|found| matches!(found.command, Ok(Command::Split { .. })))
}

/// Edits the command of each agent with these names. Agents under different keys may have the same name.
fn each(
    text: &str,
    dialect: Dialect,
    names: &[String],
    edits: impl Fn(&Command) -> Option<Edits>,
) -> Result<String, Malformed> {
    let found = find(text, dialect)?.into_iter();
    let wanted = found.filter(|found| names.contains(&found.name));
    let commands = wanted.filter_map(|found| found.command.ok());
    let all = commands.filter_map(|command| edits(&command));
    Ok(edited(text, all.flatten().collect()))
}
