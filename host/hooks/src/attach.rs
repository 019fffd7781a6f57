//! How an agent's hooks are attached for one run: what its process is started with. No file of the user changes.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::hook::PATIENCE;
use crate::{Dialect, Moment};

/// How long agents wait for a hook, in seconds: as long as a person may take. The hook's client gives up earlier, since
/// most agents let a tool run once they no longer wait.
pub const TIMEOUT: u32 = 3600;

const _: () = assert!(PATIENCE.as_secs() < TIMEOUT as u64);

/// The program that agents start for each event, to be written to a file; none if it could not be compiled for this
/// system, where `acp-chain hook` does the same.
pub fn client() -> Option<&'static [u8]> {
    static CLIENT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/hook.bin"));
    (!CLIENT.is_empty()).then_some(CLIENT)
}

/// What a run has.
pub struct Run<'a> {
    /// The hook's client: a program, and its first arguments.
    pub client: &'a [String],
    /// A folder of this run, which other users cannot write to.
    pub overlay: &'a Path,
    /// Whether a proxy may read the results of tools.
    pub reads_results: bool,
    /// Whether nothing may run without them: then what an agent runs without a hook is switched off, as far as it lets
    /// us.
    pub are_required: bool,
    /// The agent's own arguments.
    pub args: &'a [OsString],
    /// The agent's environment, without what is attached.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The text of a file; none if there is no such file.
    pub text: &'a dyn Fn(&Path) -> io::Result<Option<String>>,
    /// The names in a folder; none if there is no such folder.
    pub names: &'a dyn Fn(&Path) -> io::Result<Vec<String>>,
}

/// What an agent is started with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attachment {
    /// Arguments after its own.
    pub args: Vec<String>,
    /// Variables of its environment.
    pub variables: Vec<(&'static str, String)>,
    /// Files of the overlay.
    pub files: Vec<OverlayFile>,
    /// What [`merge`]s into the `_meta` of requests that set up a session.
    pub meta: Option<Value>,
}

/// A file of the overlay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverlayFile {
    /// Its path in the overlay.
    pub path: PathBuf,
    /// Its content.
    pub content: OverlayContent,
}

/// The content of a file of the overlay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OverlayContent {
    /// A text.
    Text(String),
    /// A program.
    Script(String),
    /// A link to this path.
    Link(PathBuf),
}

/// What keeps an agent from running our hooks, whatever is attached.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Switch {
    /// This argument, with a value or without.
    Argument(&'static str),
    /// This variable, with a value that is not one for no.
    Variable(&'static str),
}

/// Why hooks cannot be attached.
#[derive(Debug, thiserror::Error)]
pub enum CannotAttach {
    /// A file that has to be merged with ours cannot be read.
    #[error("{} cannot be read", .0.display())]
    Unreadable(PathBuf, #[source] io::Error),
    /// A setting that has to be merged with ours is not JSON.
    #[error("{0} is not a JSON object, so that no hooks can be added to it")]
    NotJson(String),
    /// A setting cannot be written as TOML.
    #[error("the hooks cannot be written as TOML")]
    Toml(#[source] toml::ser::Error),
    /// There is no home folder.
    #[error("the home folder is unknown")]
    NoHome,
    /// A policy for tools that ours would overrule, or that would overrule ours.
    #[error("{0} has a policy for the agent's tools, which does not go with that of acp-chain")]
    OwnPolicy(String),
    /// A profile of the user's that may switch hooks off, and whose name cannot be written as an argument.
    #[error(
        "the profile that {} names has features, and a name with other characters than letters, digits, `-` and `_`",
        .0.display()
    )]
    Profile(PathBuf),
    /// An argument or a variable with which the agent runs no hooks of ours, whatever is attached.
    #[error("with {0}, the agent runs no hooks of acp-chain")]
    SwitchedOff(&'static str),
    /// A path that the agent takes for several.
    #[error("the agent takes {0} for several paths, since it has a comma")]
    Comma(String),
}

impl OverlayFile {
    pub(crate) fn json(path: &str, content: &Value) -> Self {
        Self::text(path, content.to_string())
    }

    pub(crate) fn text(path: &str, content: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            content: OverlayContent::Text(content.into()),
        }
    }

    pub(crate) fn script(path: &str, content: String) -> Self {
        Self {
            path: path.into(),
            content: OverlayContent::Script(content),
        }
    }
}

impl Switch {
    /// The name of the argument or the variable, if it is among these.
    pub(crate) fn of(
        self,
        args: &[OsString],
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Option<&'static str> {
        let (name, is_on) = match self {
            Self::Argument(name) => {
                let mut words = args.iter().map(|arg| arg.to_string_lossy());
                (name, words.any(|word| word.split('=').next() == Some(name)))
            }
            Self::Variable(name) => {
                let value = variable(name).unwrap_or_default().to_lowercase();
                (
                    name,
                    !["", "0", "false", "no", "off"].contains(&value.trim()),
                )
            }
        };
        is_on.then_some(name)
    }
}

impl Run<'_> {
    /// A file of the overlay, as an agent gets it.
    pub(crate) fn place(&self, path: &str) -> String {
        self.overlay.join(path).to_string_lossy().into_owned()
    }

    /// A name of this run for what we add, which no project knows: of several with a name, agents may take only one.
    /// Plugins may have only lower case, digits and hyphens in theirs.
    pub(crate) fn name(&self) -> String {
        let digest = Sha256::digest(self.overlay.as_os_str().as_encoded_bytes());
        format!("acp-chain-{}", HEXLOWER.encode(&digest[..8]))
    }

    /// The command of a hook, for a shell.
    pub(crate) fn command(&self, dialect: &Dialect, event: &str) -> String {
        command(self.client, dialect, event)
    }

    /// The value of a variable with JSON, merged with `ours`.
    pub(crate) fn merged(&self, variable: &str, ours: Value) -> Result<String, CannotAttach> {
        let Some(theirs) = (self.variable)(variable) else {
            return Ok(ours.to_string());
        };
        let theirs: Value = serde_json::from_str(&theirs).unwrap_or_default();
        if !theirs.is_object() {
            return Err(CannotAttach::NotJson(variable.to_owned()));
        }
        Ok(merge(theirs, ours).to_string())
    }
}

/// The command of a hook, for a shell. `client` is the hook's client: a program, and its first arguments.
pub(crate) fn command(client: &[String], dialect: &Dialect, event: &str) -> String {
    let words = client.iter().map(String::as_str);
    shell_command(words.chain([dialect.name, event]), cfg!(windows))
}

/// The hooks of Claude's form: those of all events, each with what `hook` makes of its command.
pub(crate) fn hooks(run: &Run<'_>, dialect: &Dialect, hook: impl Fn(String) -> Value) -> Value {
    let events = dialect.events.iter().map(|(event, moment)| {
        let mut group = json!({ "hooks": [hook(run.command(dialect, event))] });
        if matches!(moment, Moment::BeforeTool | Moment::AfterTool) {
            group["matcher"] = "*".into();
        }
        ((*event).to_owned(), json!([group]))
    });
    Value::Object(events.collect())
}

/// Two JSON values as one: members of both objects, and elements of both arrays; of anything else `ours`.
pub fn merge(theirs: Value, ours: Value) -> Value {
    match (theirs, ours) {
        (Value::Object(mut theirs), Value::Object(ours)) => {
            for (name, our) in ours {
                let merged = match theirs.remove(&name) {
                    Some(their) => merge(their, our),
                    None => our,
                };
                theirs.insert(name, merged);
            }
            Value::Object(theirs)
        }
        (Value::Array(mut theirs), Value::Array(ours)) => {
            theirs.extend(ours);
            Value::Array(theirs)
        }
        (_, ours) => ours,
    }
}

/// A client as a command for a shell. Whatever happens to the client, the command ends with code 2 and a reason, or as
/// the client does. On Windows, where agents choose between shells that agree on little, it is the client alone.
fn shell_command<'w>(words: impl Iterator<Item = &'w str>, is_on_windows: bool) -> String {
    let quote = if is_on_windows { in_quotes } else { quoted };
    let words: Vec<_> = words.map(quote).collect();
    let client = words.join(" ");
    if is_on_windows {
        return client;
    }
    // With code 2, the client has said why itself.
    format!("{client} || {{ [ $? = 2 ] || echo 'acp-chain: no decision, refused' >&2; exit 2; }}")
}

/// A word for the shells of Windows. PowerShell takes a program in quotes for a text, so a path needs them only for its
/// spaces.
fn in_quotes(word: &str) -> String {
    if word.contains(' ') {
        format!("\"{word}\"")
    } else {
        word.to_owned()
    }
}

/// A word for a POSIX shell.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_has_a_name_of_its_own() {
        let name = |overlay: &str| {
            let run = Run {
                client: &[],
                overlay: Path::new(overlay),
                reads_results: false,
                are_required: false,
                args: &[],
                variable: &|_| None,
                text: &|_| Ok(None),
                names: &|_| Ok(Vec::new()),
            };
            run.name()
        };
        assert_eq!(name("/run/a"), name("/run/a"));
        assert_ne!(name("/run/a"), name("/run/b"));
    }

    #[test]
    fn on_windows_the_command_is_the_client_alone() {
        let words = [r"C:\a b\hook.exe", "claude", "PreToolUse"];
        let command = shell_command(words.into_iter(), true);
        assert_eq!(command, r#""C:\a b\hook.exe" claude PreToolUse"#);
    }

    #[cfg(unix)]
    fn run(words: &[&str]) -> std::process::Output {
        let command = shell_command(words.iter().copied(), false);
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &command]).output().unwrap()
    }

    #[cfg(unix)]
    #[test]
    fn a_command_ends_as_its_client_answers_and_refuses_if_that_is_missing_or_killed() {
        let refused = "acp-chain: no decision, refused\n";
        for (client, code, stdout, stderr) in [
            (&["sh", "-c", "echo '{}'"][..], 0, "{}\n", ""),
            (
                &["sh", "-c", "echo '{}'; echo no >&2; exit 2"],
                2,
                "{}\n",
                "no\n",
            ),
            (&["sh", "-c", "exit 1"], 2, "", refused),
            (&["sh", "-c", "kill -9 $$"], 2, "", refused),
            (&["/no such/hook"], 2, "", refused),
        ] {
            let output = run(client);
            assert_eq!(output.status.code(), Some(code), "{client:?}");
            let printed = String::from_utf8_lossy(&output.stdout);
            assert_eq!(printed, stdout, "{client:?}");
            // Before the reason, the shell says in its own words what happened.
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(said.ends_with(stderr), "{client:?}: {said}");
        }
    }
}
