//! The words that launch an agent behind a chain: `PROGRAM run [--with EXTENSION]… -- COMMAND ARGS…`.

use std::path::{Path, PathBuf};

use crate::error::Error;

/// What this program is called.
const NAME: &str = "acp-chain";

/// How acp-chain is to be launched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    program: String,
    with: Vec<String>,
}

impl Launch {
    /// This program, by its absolute path, with these extensions.
    ///
    /// # Errors
    /// If no configuration could name it, or nobody would know it again.
    pub fn new(program: &Path, with: Vec<String>) -> Result<Self, Error> {
        let text = program
            .to_str()
            .filter(|text| !text.chars().any(char::is_control));
        let text = text.ok_or_else(|| Error::Program(program.to_owned()))?;
        if !is_acp_chain(text) {
            return Err(Error::Renamed(program.to_owned()));
        }
        let program = text.to_owned();
        Ok(Self { program, with })
    }

    /// The path by which an editor best launches the program that runs: one in `PATH` stays when it is updated.
    #[must_use]
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

    /// The first word.
    pub(crate) fn first(&self) -> &str {
        &self.program
    }

    /// All words that stand before the agent's command.
    pub(crate) fn words(&self) -> Vec<String> {
        let with = self.with.iter().flat_map(|name| ["--with", name]);
        let words = [&*self.program, "run"]
            .into_iter()
            .chain(with)
            .chain(["--"]);
        words.map(str::to_owned).collect()
    }
}

/// How many words of a command stand before the agent's, if they are what [`Launch`] writes.
pub(crate) fn ours<'w>(words: impl IntoIterator<Item = &'w str>) -> Option<usize> {
    let mut words = words.into_iter();
    if !is_acp_chain(words.next()?) || words.next()? != "run" {
        return None;
    }
    let mut count = 2;
    loop {
        match words.next()? {
            "--with" => {
                words.next()?;
                count += 2;
            }
            "--" => return words.next().map(|_| count + 1),
            _ => return None,
        }
    }
}

/// Whether a program is acp-chain, wherever it is.
pub(crate) fn is_acp_chain(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    name.strip_suffix(".exe").unwrap_or(name) == NAME
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_that_we_write_are_taken_for_ours() {
        for (words, count) in [
            ("/opt/acp-chain run -- agent", Some(3)),
            (
                "acp-chain run --with redact --with rules -- agent acp",
                Some(7),
            ),
            (r"C:\bin\acp-chain.exe run -- agent", Some(3)),
            ("acp-chain run --manifest chain.toml -- agent", None),
            ("acp-chain run --", None),
            ("acp-chain run", None),
            ("agent run -- other", None),
        ] {
            assert_eq!(ours(words.split(' ')), count, "{words}");
        }
    }

    #[test]
    fn what_is_written_is_known_again() {
        let launch = Launch::new(Path::new("/bin/acp-chain"), vec!["redact".to_owned()]).unwrap();
        let words = launch.words();
        let all = words.iter().map(String::as_str).chain(["agent"]);
        assert_eq!(ours(all), Some(words.len()));
    }
}
