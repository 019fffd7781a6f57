//! How an agent's hooks are attached for one run: what its process is started with. No file of the user changes.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::{Dialect, Moment};

/// The variables by which a hook finds its host: its socket, and the token of this run.
pub const SOCKET: &str = "ACP_CHAIN_HOOK_SOCKET";
/// See [`SOCKET`].
pub const TOKEN: &str = "ACP_CHAIN_HOOK_TOKEN";

/// How long agents wait for a hook, in seconds: as long as a person may take. The hook's client gives up earlier.
pub const TIMEOUT: u32 = 3600;

/// What a run has.
pub struct Run<'a> {
    /// The hook's client: a program, and its first arguments.
    pub client: &'a [String],
    /// A folder of this run, which other users cannot write to.
    pub overlay: &'a Path,
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
    /// Variables of its environment, to set or to remove.
    pub variables: Vec<(&'static str, Option<String>)>,
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

impl Run<'_> {
    /// A file of the overlay, as an agent gets it.
    pub(crate) fn place(&self, path: &str) -> String {
        self.overlay.join(path).to_string_lossy().into_owned()
    }

    /// The command of a hook, for a shell. Whatever happens to the client, the command ends with code 2 and a reason
    /// or with what the client answered.
    pub(crate) fn command(&self, dialect: &Dialect, event: &str) -> String {
        let words = self.client.iter().map(String::as_str);
        let words = words.chain([dialect.name, event]).map(quoted);
        let words: Vec<_> = words.collect();
        format!(
            "{} || {{ echo 'acp-chain: no decision, refused' >&2; exit 2; }}",
            words.join(" ")
        )
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
#[must_use]
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

/// A word for a POSIX shell.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
