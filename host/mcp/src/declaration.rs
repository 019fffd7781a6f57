//! Entries of `mcpServers`, which declare a session's servers to an agent.
//!
//! Within a chain every server over ACP has an id of the host, as both `id` (RFD mcp-over-acp) and `serverId` (schema
//! 1.15), since readers support only one of them. The host replaces the provider's id. The rest of an entry stays
//! unchanged.
//!
//! The list is parsed once and written once, however many entries change.

use std::collections::HashMap;

use serde_json::json;

use super::{Dialect, ServerId};
use acp_chain_channel::limits;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_rpc::{Entries, edit, member};

/// The member that declares the servers of a session.
const SERVERS: &str = "mcpServers";

/// The maximum number of servers of one session.
pub const MAX_SERVERS: usize = limits::MCP_SERVERS;

/// The maximum length of the name of a server over ACP, in bytes.
pub const LONGEST_NAME: usize = 128;

/// The maximum length of a provider's id of a server, in bytes.
pub const LONGEST_ID: usize = 1024;

/// The prefix of the host's ids.
const OURS: &str = "acp-chain-";

/// Why a list of servers is rejected.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeclarationError {
    /// There are more than [`MAX_SERVERS`].
    #[error("a session may have {MAX_SERVERS} MCP servers")]
    TooMany,
    #[error("`mcpServers` is not a list")]
    NoList,
    /// A server is declared over ACP as in drafts of the RFD.
    #[error(
        "the MCP server `{0}` is declared by an `acp:` URL, as in drafts of MCP over ACP, which are unsupported; \
        update the program that declares it to a version with entries of the type `acp`"
    )]
    Draft(String),
    /// Keeping the names, beside those of other open requests, would exceed the limit.
    #[error("the names of the MCP servers are too long")]
    TooLong,
}

/// An entry, with the members that the host reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    text: String,
    /// Empty if it is missing or not a string.
    pub name: String,
    /// Whether any reader could read the entry as a server over ACP.
    pub over_acp: bool,
    /// Whether the entry has the form of drafts.
    is_draft: bool,
    /// The id of a server over ACP, if its name and id are short enough, with the dialect.
    pub id: Option<(Dialect, String)>,
}

/// Parses the entries in the params of a setup request; empty without a list. Lua has one empty table for lists and
/// objects, so clients in it may write an empty list as `{}`.
pub fn read(params: &str) -> Result<Vec<Entry>, DeclarationError> {
    let list = match member(params, SERVERS) {
        None | Some("null") => return Ok(Vec::new()),
        Some(list) if list.starts_with('[') => list,
        Some(table) if is_empty_object(table) => return Ok(Vec::new()),
        Some(_) => return Err(DeclarationError::NoList),
    };
    let entries = Entries::of(list)
        .into_iter()
        .flatten()
        .take(MAX_SERVERS + 1);
    let entries: Vec<_> = entries.map(|entry| Entry::new(entry.value)).collect();
    if entries.len() > MAX_SERVERS {
        return Err(DeclarationError::TooMany);
    }
    match entries.iter().find(|entry| entry.is_draft) {
        Some(entry) => Err(DeclarationError::Draft(quote(&entry.name, MAX_QUOTE))),
        None => Ok(entries),
    }
}

fn is_empty_object(json: &str) -> bool {
    json.starts_with('{') && Entries::of(json).into_iter().flatten().next().is_none()
}

/// Replaces the entries in params. Params that are not an object stay unchanged.
pub fn write(params: &str, entries: &[Entry]) -> String {
    let entries: Vec<_> = entries.iter().map(|entry| &*entry.text).collect();
    let list = format!("[{}]", entries.join(","));
    edit(params, &format!("/{SERVERS}"), Some(&list)).unwrap_or_else(|_| params.to_owned())
}

/// Removes `mcpServers` from params. Params that are not an object stay unchanged.
pub fn without(params: &str) -> String {
    edit(params, &format!("/{SERVERS}"), None).unwrap_or_else(|_| params.to_owned())
}

fn text(json: &str) -> Option<String> {
    serde_json::from_str(json).ok()
}

impl Entry {
    fn new(entry: &str) -> Self {
        let (mut over_acp, mut is_draft) = (false, false);
        let (mut name, mut id, mut server_id) = (None, None, None);
        // Anything but an object has no members.
        for member in Entries::of(entry).into_iter().flatten() {
            let value = text(member.value);
            // A name that cannot be decoded matches no member. Readers differ in which of several values of a duplicate
            // name they take, so for `type` and `url` each value counts.
            match member.name.and_then(text).as_deref() {
                Some("type") => over_acp |= value.as_deref() == Some("acp"),
                Some("url") => is_draft |= value.is_some_and(|url| url.starts_with("acp:")),
                Some("name") => name = value,
                Some("id") => id = value,
                Some("serverId") => server_id = value,
                _ => {}
            }
        }
        let name = name.unwrap_or_default();
        // The host's entries have both.
        let connected = id.map(|id| (Dialect::Connected, id));
        let id = connected.or_else(|| server_id.map(|id| (Dialect::Stateless, id)));
        let usable = over_acp && name.len() <= LONGEST_NAME;
        Self {
            text: entry.to_owned(),
            over_acp,
            is_draft,
            id: id.filter(|(_, id)| usable && id.len() <= LONGEST_ID),
            name,
        }
    }

    /// The entry of a server over ACP, with the host's id.
    pub fn over_acp(name: &str, server: ServerId) -> Self {
        let id = chain_id(server);
        let entry = json!({ "type": "acp", "name": name, "id": id, "serverId": id });
        Self::new(&entry.to_string())
    }

    /// Replaces the server's id by the host's.
    pub fn set_server(&mut self, server: ServerId) {
        let id = json!(chain_id(server)).to_string();
        for name in ["/id", "/serverId"] {
            self.put(name, &id);
        }
    }

    pub fn set_name(&mut self, name: &str) {
        self.put("/name", &json!(name).to_string());
    }

    /// Replaces the whole entry.
    pub fn set_text(&mut self, entry: &str) {
        *self = Self::new(entry);
    }

    fn put(&mut self, pointer: &str, value: &str) {
        // An entry with an id or a name is an object.
        if let Ok(text) = edit(&self.text, pointer, Some(value)) {
            *self = Self::new(&text);
        }
    }

    /// The server, if the entry's id is one of the host's.
    pub fn server(&self) -> Option<ServerId> {
        self.id.as_ref().and_then(|(_, id)| server_of(id))
    }
}

/// The host's id of a server.
pub fn chain_id(server: ServerId) -> String {
    format!("{OURS}{server}")
}

/// The server with this id of the host.
pub fn server_of(id: &str) -> Option<ServerId> {
    let number = id.strip_prefix(OURS)?;
    // Rejects other spellings of the number.
    let server = number.parse().ok()?;
    (chain_id(server) == id).then_some(server)
}

/// The names of a session's servers, which are unique.
#[derive(Debug, Default)]
pub struct Names(HashMap<String, usize>);

impl Names {
    /// Marks a name as taken.
    pub fn take(&mut self, name: &str) {
        self.0.entry(likeness(name)).or_insert(2);
    }

    /// Takes this name, with the first number appended that makes it unique if it is taken.
    pub fn take_free(&mut self, name: &str) -> String {
        let mut free = name.to_owned();
        while self.0.contains_key(&likeness(&free)) {
            // Continues from the last number: many servers with the same name would otherwise take quadratic time.
            let next = self.0.entry(likeness(name)).or_insert(2);
            free = format!("{name}-{next}");
            *next += 1;
        }
        self.take(&free);
        free
    }
}

/// The key that two names share if an agent may confuse them: many agents convert names to identifiers.
fn likeness(name: &str) -> String {
    let letters = name.chars().map(|letter| match letter {
        'a'..='z' | '0'..='9' | '-' => letter,
        'A'..='Z' => letter.to_ascii_lowercase(),
        _ => '_',
    });
    letters.collect()
}

/// The name of the server with the tools of a proxy. It has only characters that agents accept in names.
pub fn name_of_tools(proxy: &str) -> String {
    let letters = proxy.chars().map(|letter| match letter {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' => letter,
        _ => '-',
    });
    letters.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_an_entry_determines_the_dialect() {
        let params = r#"{"cwd":"/","mcpServers":[
            {"name":"files","command":"f","args":[],"env":[]},
            {"type":"acp","name":"old","id":"1"},
            {"type":"\u0061cp","name":"new","serverId":"2","_meta":{"x":1}},
            {"type":"acp","name":7},
            "what"]}"#;
        let entries = read(params).unwrap();
        let ids: Vec<_> = entries.iter().map(|entry| entry.id.clone()).collect();
        let over_acp = entries.iter().filter(|entry| entry.over_acp);
        assert_eq!(over_acp.count(), 3);
        let (one, two) = ("1".to_owned(), "2".to_owned());
        let expected = [
            None,
            Some((Dialect::Connected, one)),
            Some((Dialect::Stateless, two)),
            None,
            None,
        ];
        assert_eq!(ids, expected);
        let names: Vec<_> = entries.iter().map(|entry| &*entry.name).collect();
        assert_eq!(names, ["files", "old", "new", "", ""]);
    }

    #[test]
    fn an_entry_that_any_reader_could_read_as_over_acp_is_over_acp() {
        for entry in [
            r#"{"type":"acp","name":"a","id":"1","id":"2"}"#,
            r#"{"type":"acp","type":"stdio","name":"a","id":"1"}"#,
            r#"{"type":"stdio","ty\u0070e":"acp","name":"a","id":"1"}"#,
            r#"{"\ud800":0,"type":"acp","name":"a","id":"1"}"#,
        ] {
            assert!(Entry::new(entry).over_acp, "{entry}");
        }
        let long = format!(r#"{{"type":"acp","name":"{}","id":"1"}}"#, "x".repeat(129));
        assert!(Entry::new(&long).over_acp);
        assert_eq!(Entry::new(&long).id, None);
    }

    #[test]
    fn an_entry_keeps_what_is_not_changed() {
        let params =
            r#"{ "mcpServers" : [{"type":"acp", "name":"a","serverId":"2","_meta":{"x":1e400}} ]}"#;
        let mut entries = read(params).unwrap();
        entries[0].set_server(5);
        let with_server = write(params, &entries);
        assert_eq!(
            with_server,
            r#"{ "mcpServers" : [{"type":"acp", "name":"a","serverId":"acp-chain-5","_meta":{"x":1e400},"id":"acp-chain-5"}]}"#
        );
        assert_eq!(entries[0].server(), Some(5));
        entries[0].set_name("a-2");
        assert_eq!(write(params, &entries).replace("a-2", "a"), with_server);
        assert_eq!(write(params, &[]), r#"{ "mcpServers" : []}"#);
    }

    #[test]
    fn malformed_and_too_long_lists_are_rejected() {
        assert_eq!(read(r#"{"mcpServers":null}"#), Ok(Vec::new()));
        assert_eq!(read("null"), Ok(Vec::new()));
        for wrong in [r#"{"a":{}}"#, "7", r#""""#] {
            let params = format!(r#"{{"mcpServers":{wrong}}}"#);
            assert_eq!(read(&params), Err(DeclarationError::NoList));
        }
        for none in ["{}", "{ \t}", "[]", "null"] {
            let params = format!(r#"{{"mcpServers":{none}}}"#);
            assert_eq!(read(&params), Ok(Vec::new()), "{none}");
            let added = write(&params, &[Entry::over_acp("t", 1)]);
            assert!(added.starts_with(r#"{"mcpServers":[{"#), "{added}");
        }
        let many = format!(r#"{{"mcpServers":[0{}]}}"#, ",0".repeat(MAX_SERVERS));
        assert_eq!(read(&many), Err(DeclarationError::TooMany));
        let added = write(r#"{"cwd":"/"}"#, &[Entry::over_acp("t", 1)]);
        assert!(
            added.starts_with(r#"{"cwd":"/","mcpServers":[{"#),
            "{added}"
        );
    }

    #[test]
    fn the_error_for_an_entry_of_drafts_names_the_server() {
        let of = |entry: &str| read(&format!(r#"{{"mcpServers":[{entry}]}}"#));
        let draft = DeclarationError::Draft("t".to_owned());
        let entry = r#"{"type":"http","name":"t","url":"acp:1-2","headers":[]}"#;
        assert_eq!(of(entry), Err(draft));
        assert!(of(r#"{"type":"http","name":"t","url":"https://acp:1","headers":[]}"#).is_ok());
    }

    #[test]
    fn a_name_that_is_taken_gets_the_first_number_that_frees_it() {
        let mut names = Names::default();
        for name in ["a", "a-2", "b"] {
            names.take(name);
        }
        assert_eq!(names.take_free("a"), "a-3");
        assert_eq!(names.take_free("a"), "a-4");
        assert_eq!(names.take_free("B"), "B-2");
        assert_eq!(names.take_free("b-2"), "b-2-2");
        assert_eq!(names.take_free("c"), "c");
    }

    #[test]
    fn only_the_hosts_spelling_is_an_id_of_the_host() {
        assert_eq!(server_of("acp-chain-7"), Some(7));
        for other in ["7", "acp-chain-07", "acp-chain-", "acp-chain-x"] {
            assert_eq!(server_of(other), None, "{other}");
        }
    }
}
