//! Agents in a configuration of JSON, with comments and trailing commas or without: what launches them, and edits
//! of that. An edit replaces what stands in a few places of the text; the rest of it is never written anew.

mod command;
mod find;

use self::command::{Command, Edits};
use self::find::find;
use crate::launch::Launch;
use crate::shell::shell_word;

/// How a kind of configuration says what agents there are.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// The keys at its top that hold agents by their names.
    pub keys: &'static [&'static str],
    /// A `command` without `args` is a whole command line, as a shell has it.
    pub lines: bool,
}

/// An agent in a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// What its user calls it.
    pub name: String,
    /// What the editor launches.
    pub runs: Runs,
    /// The same, word by word; none if it does not say.
    pub words: Vec<String>,
}

impl Agent {
    /// The command of the agent that acp-chain launches in turn, if it does and its own words name one.
    #[must_use]
    pub fn behind(&self) -> Option<&[String]> {
        if !matches!(self.runs, Runs::Chain | Runs::ByHand) {
            return None;
        }
        let mark = self.words.iter().position(|word| word == "--")?;
        Some(&self.words[mark + 1..]).filter(|words| !words.is_empty())
    }
}

/// What an editor launches for an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Runs {
    /// acp-chain, in the words that `acp-chain setup` writes.
    Chain,
    /// acp-chain, in words of its user's.
    ByHand,
    /// This.
    Other(String),
    /// It does not say, or not so that it could be changed.
    Unfit(&'static str),
}

/// What is wrong with a text, and in which line.
#[derive(Debug, PartialEq, Eq)]
pub struct Malformed {
    pub line: usize,
    pub wrong: String,
}

/// The agents of a configuration, in their order.
pub fn read(text: &str, dialect: Dialect) -> Result<Vec<Agent>, Malformed> {
    let found = find(text, dialect)?;
    let agents = found.into_iter().map(|(name, command)| {
        let (runs, words) = match command {
            Ok(command) => (command.runs(), command.words()),
            Err(why) => (Runs::Unfit(why), Vec::new()),
        };
        Agent { name, runs, words }
    });
    Ok(agents.collect())
}

/// Lets these agents be launched so, whatever chain they had before.
pub fn wrap(
    text: &str,
    dialect: Dialect,
    names: &[String],
    launch: &Launch,
) -> Result<String, Malformed> {
    let prefix = launch.words();
    let is_there = |command: &Command| {
        command.ours() == Some(prefix.len()) && command.words().starts_with(&prefix)
    };
    let bare = each(text, dialect, names, |text, command| {
        let count = command.ours().filter(|_| !is_there(command))?;
        Some(command.bare(text, count))
    })?;
    each(&bare, dialect, names, |text, command| {
        (!is_there(command)).then(|| command.wrapped(text, &prefix))
    })
}

/// Takes acp-chain out again, where it is launched in the words that [`wrap`] writes.
pub fn unwrap(text: &str, dialect: Dialect, names: &[String]) -> Result<String, Malformed> {
    each(text, dialect, names, |text, command| {
        let count = command.ours()?;
        Some(command.bare(text, count))
    })
}

/// Whether these agents can be launched so: where a program and its arguments are to become one line, the program
/// is taken as it is.
pub fn fits(text: &str, dialect: Dialect, name: &str, launch: &Launch) -> bool {
    let is_plain = shell_word(launch.first()) == launch.first();
    let found = find(text, dialect).unwrap_or_default();
    let mut named = found.iter().filter(|(found, _)| found == name);
    !dialect.lines
        || is_plain
        || !named.any(|(_, command)| matches!(command, Ok(Command::Split { .. })))
}

/// Edits the command of each agent of these names. Under different keys, different agents may have one name.
fn each(
    text: &str,
    dialect: Dialect,
    names: &[String],
    edits: impl Fn(&str, &Command) -> Option<Edits>,
) -> Result<String, Malformed> {
    let found = find(text, dialect)?.into_iter();
    let wanted = found.filter(|(name, _)| names.contains(name));
    let commands = wanted.filter_map(|(_, command)| command.ok());
    let all = commands.filter_map(|command| edits(text, &command));
    Ok(edited(text, all.flatten().collect()))
}

fn edited(text: &str, mut edits: Edits) -> String {
    let mut text = text.to_owned();
    edits.sort_by_key(|(range, _)| range.start);
    for (range, new) in edits.into_iter().rev() {
        text.replace_range(range, &new);
    }
    text
}
