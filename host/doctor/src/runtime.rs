//! Interpreters of agents that are scripts: whether they exist, and are as new as the agent's `package.json` requires.
//! Only common cases are known; others are not reported.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use semver::{Version, VersionReq};
use serde_json::Value;
use tokio::io::AsyncReadExt;
use tokio::time::timeout;

use acp_chain_app::protected::{file_of, first_line};
use acp_chain_process::{CommandLine, Process, Startable};

/// The maximum length of a `package.json`, in bytes.
const LONGEST: u64 = 1 << 20;

/// How many folders upwards to search for a `package.json`.
const FOLDERS: usize = 8;

/// The interpreter of a script.
#[derive(Debug, PartialEq, Eq)]
pub struct Runtime {
    /// The name of the interpreter in the script, or on the command line.
    pub name: String,
    /// The script.
    pub script: PathBuf,
    /// The command that prints the version; `None` if the interpreter is not found.
    pub command: Option<CommandLine>,
    /// The versions of Node that the script's package requires, if it says so.
    pub wanted: Option<String>,
}

/// The interpreter of an agent, if the agent is a script.
pub fn of(agent: &CommandLine) -> Option<Runtime> {
    let file = file_of(agent)?;
    let (words, script) = match first_line(&file) {
        Some(line) => (line.split_whitespace().map(str::to_owned).collect(), file),
        None => {
            // A runtime named on the command line, with its script.
            let program = agent.program.to_str()?.to_owned();
            is_node(&program).then_some(())?;
            let mut files = agent.args.iter().map(PathBuf::from);
            (vec![program], files.find(|path| path.is_file())?)
        }
    };
    let words: Vec<String> = words;
    let mut words = words.iter().map(String::as_str);
    let mut name = words.next()?;
    if Path::new(name).file_name()? == "env" && Path::new(name).is_file() {
        name = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    }
    let command = CommandLine {
        program: name.into(),
        args: vec!["--version".into()],
        env: agent.env.clone(),
    };
    Some(Runtime {
        name: name.to_owned(),
        wanted: is_node(name).then(|| wanted(&script)).flatten(),
        command: file_of(&command)
            .filter(|file| file.is_file())
            .map(|_| command),
        script,
    })
}

fn is_node(program: &str) -> bool {
    let stem = Path::new(program).file_stem();
    stem.is_some_and(|stem| stem == "node" || stem == "nodejs")
}

/// The versions of Node that a script's package requires.
fn wanted(script: &Path) -> Option<String> {
    let script = script.canonicalize().ok()?;
    let folders = script.ancestors().skip(1).take(FOLDERS);
    let path = folders
        .map(|folder| folder.join("package.json"))
        .find(|path| path.is_file())?;
    let file = File::open(path).ok()?;
    let text = io::read_to_string(file.take(LONGEST)).ok()?;
    let package: Value = serde_json::from_str(&text).ok()?;
    package["engines"]["node"].as_str().map(str::to_owned)
}

/// The version that an interpreter prints within this time.
pub async fn version(program: Startable, patience: Duration) -> Option<Version> {
    let (mut process, input, output) = Process::start(&program, None).ok()?;
    drop(input);
    let mut said = Vec::new();
    let _ = timeout(patience, output.take(1000).read_to_end(&mut said)).await;
    let _ = timeout(patience, process.end(false)).await;
    let said = String::from_utf8_lossy(&said);
    Version::parse(said.trim().trim_start_matches('v')).ok()
}

/// Whether npm would accept a version for this requirement. `None` if the requirement is not understood.
pub fn fits(version: &Version, wanted: &str) -> Option<bool> {
    let any = wanted.split("||").map(|range| {
        // npm puts spaces where cargo has commas, and between an operator and its version.
        let words: Vec<_> = range.split_whitespace().collect();
        let text = words.join(",");
        let text = ["=", ">", "<", "^", "~"]
            .iter()
            .fold(text, |text, operator| {
                text.replace(&format!("{operator},"), operator)
            });
        // For npm, a bare version means exactly that one; for cargo, any compatible one.
        let text = if text.starts_with(|c: char| c.is_ascii_digit()) {
            format!("={text}")
        } else {
            text
        };
        Some(VersionReq::parse(&text).ok()?.matches(version))
    });
    let any: Option<Vec<_>> = any.collect();
    any.map(|any| any.contains(&true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_with_the_requirements_of_packages() {
        for (version, wanted, expected) in [
            ("18.20.1", ">=20", Some(false)),
            ("20.0.0", ">= 20.0.0", Some(true)),
            ("22.3.0", "^18 || >=20 <23", Some(true)),
            ("19.9.9", "^18 || >=20 <23", Some(false)),
            ("20.1.0", "20.x", Some(true)),
            ("20.1.0", "20", Some(true)),
            ("20.1.0", "18 - 19", None),
            ("20.1.0", "*", Some(true)),
        ] {
            let version = Version::parse(version).unwrap();
            assert_eq!(fits(&version, wanted), expected, "{version} {wanted}");
        }
    }
}
