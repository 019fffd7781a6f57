//! The words that launch an agent behind a chain: `PROGRAM run [--settings FILE] [--data FOLDER] [--with EXTENSION]… --
//! COMMAND ARGS…`, or, for an agent installed by acp-chain, with its `NAME` in place of the last three.

use std::path::{Path, PathBuf};

use crate::error::Error;

/// The name of this program.
const NAME: &str = "acp-chain";

/// How to launch acp-chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    pub(crate) program: String,
    config: Option<String>,
    data: Option<String>,
    with: Vec<String>,
}

impl Launch {
    /// This program, by its absolute path, with these extensions.
    ///
    /// # Errors
    /// If no configuration could contain its path, or it could not be recognized later.
    pub fn new(program: &Path, with: Vec<String>) -> Result<Self, Error> {
        let text = writable(program).ok_or_else(|| Error::Program(program.to_owned()))?;
        if !is_acp_chain(text) {
            return Err(Error::Renamed(program.to_owned()));
        }
        let program = text.to_owned();
        Ok(Self {
            program,
            config: None,
            data: None,
            with,
        })
    }

    /// With the user's settings in this file, and the user's data in this folder, as far as a configuration could
    /// contain their paths.
    #[must_use]
    pub fn with_places(self, config: Option<&Path>, data: Option<&Path>) -> Self {
        let [config, data] = [config, data].map(|path| path.and_then(writable).map(str::to_owned));
        Self {
            config,
            data,
            ..self
        }
    }

    /// The best path for an editor to launch this program: one in `PATH` survives updates.
    pub fn program(running: PathBuf) -> PathBuf {
        let is_same = |path: &PathBuf| {
            let path = path.canonicalize();
            path.is_ok_and(|path| running.canonicalize().is_ok_and(|running| running == path))
        };
        let mut named = which::which_all(NAME).into_iter().flatten();
        named
            .find(|path| path.is_absolute() && is_same(path))
            .unwrap_or(running)
    }

    /// All words before an agent's command.
    pub(crate) fn before_command(&self) -> Vec<String> {
        let mut words = self.before_name();
        words.push("--".to_owned());
        words
    }

    /// All words before the name of an installed agent.
    pub(crate) fn before_name(&self) -> Vec<String> {
        let config = self.config.iter().flat_map(|file| ["--settings", file]);
        let data = self.data.iter().flat_map(|folder| ["--data", folder]);
        let with = self.with.iter().flat_map(|name| ["--with", name]);
        let words = [&*self.program, "run"]
            .into_iter()
            .chain(config)
            .chain(data)
            .chain(with);
        words.map(str::to_owned).collect()
    }

    /// All words that launch an installed agent.
    pub(crate) fn installed(&self, name: &str) -> Vec<String> {
        let mut words = self.before_name();
        words.push(name.to_owned());
        words
    }
}

/// A path as a configuration could contain it.
fn writable(path: &Path) -> Option<&str> {
    let text = path.to_str();
    text.filter(|text| !text.chars().any(char::is_control))
}

/// The number of words from [`Launch`] at the beginning of a command, by what follows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaunchPrefix {
    /// The command of an agent.
    Command(usize),
    /// The name of an installed agent, and nothing else.
    Name(usize),
}

/// The beginning of a command, if [`Launch`] wrote it.
pub(crate) fn ours<'w>(words: impl IntoIterator<Item = &'w str>) -> Option<LaunchPrefix> {
    let mut words = words.into_iter();
    if !is_acp_chain(words.next()?) || words.next()? != "run" {
        return None;
    }
    let mut count = 2;
    loop {
        match words.next()? {
            "--with" | "--settings" | "--data" => {
                words.next()?;
                count += 2;
            }
            "--" => return words.next().map(|_| LaunchPrefix::Command(count + 1)),
            word if word.starts_with('-') => return None,
            _ => {
                let is_last = words.next().is_none();
                return is_last.then_some(LaunchPrefix::Name(count));
            }
        }
    }
}

/// Whether a program is acp-chain, wherever it is.
pub(crate) fn is_acp_chain(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    is_ours_on(name, cfg!(windows))
}

/// Whether this is the file name of acp-chain, on Windows or another system. On Windows, users type it in any case.
fn is_ours_on(name: &str, is_windows: bool) -> bool {
    let typed = if is_windows {
        name.to_ascii_lowercase()
    } else {
        name.to_owned()
    };
    typed.strip_suffix(".exe").unwrap_or(&typed) == NAME
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_that_we_write_are_taken_for_ours() {
        for (words, count) in [
            (
                "/opt/acp-chain run -- agent",
                Some(LaunchPrefix::Command(3)),
            ),
            (
                "acp-chain run --with redact --with rules -- agent acp",
                Some(LaunchPrefix::Command(7)),
            ),
            (
                r"C:\bin\acp-chain.exe run -- agent",
                Some(LaunchPrefix::Command(3)),
            ),
            ("acp-chain run mine", Some(LaunchPrefix::Name(2))),
            (
                "acp-chain run --settings /c.toml --with redact mine",
                Some(LaunchPrefix::Name(6)),
            ),
            (
                "acp-chain run --with redact mine",
                Some(LaunchPrefix::Name(4)),
            ),
            (
                "acp-chain run --settings /c.toml --data /d -- agent",
                Some(LaunchPrefix::Command(7)),
            ),
            ("acp-chain run mine -- --verbose", None),
            ("acp-chain run --manifest chain.toml mine", None),
            ("acp-chain run --no-project mine", None),
            ("acp-chain run --manifest chain.toml -- agent", None),
            ("acp-chain run --", None),
            ("acp-chain run", None),
            ("agent run -- other", None),
        ] {
            assert_eq!(ours(words.split(' ')), count, "{words}");
        }
    }

    #[test]
    fn the_case_of_our_name_matters_but_on_windows() {
        for (name, by_case, on_windows) in [
            ("acp-chain", true, true),
            ("acp-chain.exe", true, true),
            ("ACP-Chain.EXE", false, true),
            ("acp-chain.cmd", false, false),
        ] {
            assert_eq!(is_ours_on(name, false), by_case, "{name}");
            assert_eq!(is_ours_on(name, true), on_windows, "{name}");
        }
    }

    #[test]
    fn written_words_are_recognized() {
        let launch = Launch::new(Path::new("/bin/acp-chain"), vec!["redact".to_owned()]).unwrap();
        let [config, data] = ["/home/me/config.toml", "/srv/me/acp-chain"].map(Path::new);
        let launch = launch.with_places(Some(config), Some(data));
        let words = launch.before_command();
        let all = words.iter().map(String::as_str).chain(["agent"]);
        assert_eq!(ours(all), Some(LaunchPrefix::Command(words.len())));
        let words = launch.installed("mine");
        let all = words.iter().map(String::as_str);
        assert_eq!(ours(all), Some(LaunchPrefix::Name(words.len() - 1)));
    }
}
