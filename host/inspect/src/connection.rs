//! A connection: what its first messages say about its ends, and its turns.

use acp_chain_acp::{INITIALIZE, Life};
use acp_chain_trace::{Kind, Line, Role};
use serde::Serialize;

use crate::log::SourceId;
use crate::row::micros;
use crate::said::{Members, one_line, string};
use crate::turns::Tracker;

/// The maximum length of a name of a client, an agent or a folder, in characters.
const NAME: usize = 200;

/// A connection, as the page receives it.
#[derive(Debug, Default, Serialize)]
pub struct Connection {
    source: SourceId,
    name: String,
    role: Option<Role>,
    proxies: Vec<String>,
    user: Option<String>,
    /// The name of the client.
    client: Option<String>,
    /// The name that the agent gives itself, or else that of its program.
    agent: Option<String>,
    /// The folder of the first session.
    folder: Option<String>,
    /// The first row, and its time in microseconds since 1970.
    first: u64,
    begun: i64,
    has_ended: bool,
    #[serde(skip)]
    pub turns: Tracker,
}

impl Connection {
    /// A connection that begins with this line, which has this row.
    pub fn new(source: SourceId, line: &Line, row: u64) -> Self {
        Self {
            source,
            name: line.connection.clone(),
            first: row,
            begun: micros(&line.time),
            ..Self::default()
        }
    }

    /// Takes in what a line says about the connection. Returns whether it says something.
    pub fn learn(&mut self, line: &Line) -> bool {
        if line.version.is_some() || line.is_end() {
            self.role = line.role.or(self.role);
            self.has_ended |= line.is_end();
            if line.user.is_some() {
                self.user.clone_from(&line.user);
            }
            if line.agent.is_some() && self.agent.is_none() {
                self.agent.clone_from(&line.agent);
            }
            if let Some(proxies) = &line.proxies {
                self.proxies.clone_from(proxies);
            }
            return true;
        }
        self.learn_names(line).is_some()
    }

    /// Takes in the names in the messages that begin a connection and its first session.
    fn learn_names(&mut self, line: &Line) -> Option<()> {
        let (from, to, kind) = line.crossed()?;
        let method = line.method.as_deref()?;
        let body = || Members::of_body(line);
        let name = |text: String| one_line(&text, NAME);
        let is_setup = || Life::of(method).sets_up();
        match kind {
            Kind::Request if from == "client" && method == INITIALIZE => {
                let info = body().client_info.or(body().info);
                self.client = Some(name(string(Members::of(info).name)?));
            }
            Kind::Response if to == "client" && method == INITIALIZE => {
                let info = body().agent_info.or(body().info);
                self.agent = Some(name(string(Members::of(info).name)?));
            }
            Kind::Request if from == "client" && self.folder.is_none() && is_setup() => {
                self.folder = Some(name(string(body().cwd)?));
            }
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_has_the_names_that_its_ends_give_themselves() {
        let lines = [
            r#"{"connection":"c","version":1,"agent":"node","proxies":["p"]}"#,
            r#"{"from":"client","to":"p","kind":"request","method":"initialize","params":{"clientInfo":{"name":"zed"}}}"#,
            r#"{"from":"agent","to":"p","kind":"response","method":"initialize","result":{"agentInfo":{"name":"masked"}}}"#,
            r#"{"from":"p","to":"client","kind":"response","method":"initialize","result":{"agentInfo":{"name":"gemini"}}}"#,
            r#"{"from":"client","to":"p","kind":"request","method":"session/new","params":{"cwd":"/w"}}"#,
            r#"{"from":"client","to":"p","kind":"request","method":"session/new","params":{"cwd":"/other"}}"#,
        ];
        let lines = lines.map(|line| serde_json::from_str::<Line>(line).unwrap());
        let mut connection = Connection::new(0, &lines[0], 0);
        let learned = lines.each_ref().map(|line| connection.learn(line));
        assert_eq!(learned, [true, true, false, true, true, false]);
        let names = [connection.client, connection.agent, connection.folder];
        let expected = ["zed", "gemini", "/w"].map(|name| Some(name.to_owned()));
        assert_eq!(names, expected);
    }
}
