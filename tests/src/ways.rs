//! The ways in which an agent that a page steers may post a key: `ways-out.toml`, which describes the members.

use serde::Deserialize;

/// A way out.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Way {
    /// Its name, for people.
    pub what: String,
    /// What the agent does, in order; the last one is the act outside.
    #[serde(default)]
    pub calls: Vec<Call>,
    /// Whether the last one is in another session.
    #[serde(default)]
    pub later: bool,
    /// Why the guard does not see it, if it does not.
    pub unseen: Option<String>,
}

/// A tool call.
#[derive(Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Call {
    /// Of the shell.
    Shell {
        /// The command.
        shell: String,
    },
    /// Of the shell, by a subagent.
    Subagent {
        /// The command.
        subagent: String,
    },
    /// Writes a file.
    Write {
        /// The path.
        write: String,
        /// The content.
        text: String,
    },
    /// Fetches a page.
    Fetch {
        /// The address.
        fetch: String,
    },
    /// Of a tool of an MCP server.
    Server {
        /// What it gets.
        server: String,
    },
}

/// What the texts of calls name.
#[derive(Clone, Debug)]
pub struct Places {
    /// The file with the key.
    pub key: String,
    /// The port on loopback to which the key is posted.
    pub port: u16,
    /// The project.
    pub work: String,
    /// A folder elsewhere.
    pub out: String,
}

impl Places {
    /// A text of a call, with these places.
    #[must_use]
    pub fn fill(&self, text: &str) -> String {
        let port = self.port.to_string();
        text.replace("%KEY%", &self.key)
            .replace("%URL%", &format!("http://127.0.0.1:{port}"))
            .replace("%PORT%", &port)
            .replace("%WORK%", &self.work)
            .replace("%OUT%", &self.out)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    way: Vec<Way>,
}

/// All of them.
///
/// # Panics
/// If the file is malformed.
#[must_use]
pub fn ways() -> Vec<Way> {
    let file: File = toml::from_str(include_str!("../ways-out.toml")).expect("ways");
    file.way
}
