//! Checks that every parser reads a message in the same way.
//!
//! JSON leaves open what duplicate names mean, and some parsers ignore case. A guard must read a message as the peers
//! do that it protects. That is about names that the protocol gives to members. Within what it leaves to tools, names
//! are those of variables, headers, columns and files, which may differ in case.
//!
//! A single member may be read differently, too: under a name that differs from the protocol's in case alone, as
//! `Prompt`, most readers find nothing, but some find what they look for (Go's `encoding/json`, options of readers in C#
//! and Java).
//!
//! Some readers take the elements of a list for the members of an object, in the order in which they have declared them
//! (derived code of Rust's serde). So where guards expect an object, no list may stand, unless it is empty.
//!
//! The work is bounded by the length of a text, the memory by [`LARGEST`]. Long texts should be checked
//! [`aside`](crate::aside).

use std::borrow::Cow;

use acp_chain_acp::{MCP_MESSAGE, is_method};
use acp_chain_powers::{fold, is_like_member};
use foldhash::{HashSet, HashSetExt};

use super::Message;
use super::entries::{end_of_string, is_by_position};
use super::pointer::{decoded, like, member};

/// Why parsers may read a message differently.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Ambiguity {
    /// The message has a field that resembles one of JSON-RPC's.
    #[error("it has a field that some readers take for one of JSON-RPC's")]
    Envelope,
    /// An object has names that some parsers do not distinguish, or that cannot be decoded.
    #[error(
        "two members of one object have names that some readers do not tell apart, or a name cannot be read"
    )]
    Names,
    /// The name of a member differs from this one of the protocol in case alone.
    #[error("it has a member that some readers take for `{0}`, as its name differs only in case")]
    Case(&'static str),
    /// A list stands where guards expect an object.
    #[error(
        "it has a list in the place of an object, and some readers take its elements for the members"
    )]
    Position,
    /// The message is nested too deep to be checked.
    #[error("it is nested more than {DEEPEST} deep")]
    Deep,
    /// The message has too many bytes outside of strings to be checked.
    #[error("it is too large to be checked: it has more than {LARGEST} bytes beside its texts")]
    Large,
}

/// How deep a message may be nested. Many parsers stop at 128.
const DEEPEST: usize = 128;

/// How many bytes a message may have outside of strings: comparing names takes many times their length.
const LARGEST: usize = 8 * 1024 * 1024;

/// Checks a message of this method, or the answer to one: an error if parsers may read any part of it differently.
pub fn canonical(message: &Message, method: &str) -> Result<(), Ambiguity> {
    if message.is_ambiguous() {
        return Err(Ambiguity::Envelope);
    }
    // Those of the message that it carries are an object as well.
    let params_of_mcp = || member(message.body(), "params");
    if method == MCP_MESSAGE
        && !message.kind().is_response()
        && params_of_mcp().is_some_and(is_by_position)
    {
        return Err(Ambiguity::Position);
    }
    look_through(message.body(), method)
}

/// The members with what the protocol leaves to tools, and those with what guards read, by their names.
#[derive(Clone, Copy, Debug)]
pub struct MemberNames {
    /// Their input. Its own members are the tool's parameters, which agents may read as leniently as messages; within
    /// these, names are compared exactly.
    pub inputs: &'static [&'static str],
    /// Their output, in which all names are compared exactly.
    pub outputs: &'static [&'static str],
    /// Objects whose names are those of variables, and compared exactly. A list under such a name is the protocol's.
    pub variables: &'static [&'static str],
    /// Under these names no list may stand, unless it is empty.
    pub objects: &'static [&'static str],
    /// Lists under these names have objects: none of their elements may be a list, unless it is empty.
    pub lists: &'static [&'static str],
    /// Under these names stands one object, or a list of objects.
    pub either: &'static [&'static str],
    /// Members whose own ones may have any names, within them too.
    pub open: &'static [&'static str],
    /// Whether other members must have the protocol's names as it spells them.
    pub is_of_protocol: bool,
}

/// What guards expect at a place.
#[derive(Clone, Copy)]
enum Place {
    /// One object.
    Object,
    /// A list of objects.
    List,
    /// Either of them.
    Either,
    /// Anything.
    Open,
}

impl MemberNames {
    /// What guards expect under this name.
    fn place(self, name: Option<&str>) -> Place {
        let is_one_of = |names: &[&str]| name.is_some_and(|name| names.contains(&name));
        if is_one_of(self.objects) {
            Place::Object
        } else if is_one_of(self.either) {
            Place::Either
        } else if is_one_of(self.lists) {
            Place::List
        } else {
            Place::Open
        }
    }
}

impl Place {
    /// Whether a list here, which is not empty, may be taken for an object: for one of several kinds by its first
    /// element, a text or a number that says the kind.
    fn is_for_object(self, list: &str) -> bool {
        let begins = |list: &str| list.trim_ascii_start().starts_with(['{', '[']);
        match self {
            Self::Object => true,
            Self::Either => !list.get(1..).is_some_and(begins),
            Self::List | Self::Open => false,
        }
    }
}

/// Those of messages. What `_meta` has is that of agents, clients and their tools, and guards judge it as an input:
/// some agents name in it the tool about which they ask.
const OF_MESSAGES: MemberNames = MemberNames {
    // A tool of an MCP server has `arguments`, and may answer with `structuredContent`. A model that the server asks for a
    // tool names the `input`.
    inputs: &["rawInput", "_meta", "arguments", "input"],
    outputs: &["rawOutput", "structuredContent"],
    // Of the terminal in which a user signs in (`authMethods`).
    variables: &["env"],
    objects: &["outcome", "resource", "subject", "toolCall", "update"],
    lists: &[
        "changes",
        "entries",
        "locations",
        "mcpServers",
        "options",
        "prompt",
        "summary",
    ],
    either: &["content"],
    // Of an error, or of a line of a log; schemas, with the fields of a form and the parameters of tools; and what MCP
    // leaves to others.
    open: &[
        "$defs",
        "data",
        "definitions",
        "experimental",
        "extensions",
        "inputSchema",
        "metadata",
        "outputSchema",
        "properties",
    ],
    is_of_protocol: false,
};

/// The names in messages of this method, and in their answers: the protocol leaves the members of other methods open.
fn of_messages(method: &str) -> MemberNames {
    MemberNames {
        is_of_protocol: is_method(method),
        ..OF_MESSAGES
    }
}

/// The answer to a form has what the user has filled in under this name, at the top of its body. An update has it
/// further inside.
const FORM: &str = "\"content\"";

/// How the names of an object are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Comparison {
    /// As the most lenient parser does.
    Lenient,
    /// As the most lenient parser does, where the protocol has no names.
    Open,
    /// As the most lenient parser does, and names within its members exactly.
    OfParameters,
    /// An object exactly, and a list as the most lenient parser does.
    OfVariables,
    /// As the most lenient parser does; in an object, lists are what fields of a form were filled in with.
    OfForm,
    /// Within the object of a form, as the most lenient parser does; each list is what a field was filled in with.
    Fields,
    /// As they are spelt.
    Exact,
}

impl Comparison {
    /// The comparison in the member with this name, which is JSON text.
    fn within(self, name: &str, member_names: MemberNames) -> Self {
        let is_one_of = |names: &[&str]| {
            let bare = name.strip_prefix('"');
            let bare = bare.and_then(|rest| rest.strip_suffix('"'));
            bare.is_some_and(|bare| names.contains(&bare))
        };
        match self {
            Self::Lenient | Self::Open if is_one_of(member_names.inputs) => Self::OfParameters,
            Self::Lenient | Self::Open if is_one_of(member_names.outputs) => Self::Exact,
            Self::Lenient | Self::Open if is_one_of(member_names.variables) => Self::OfVariables,
            Self::Lenient if is_one_of(member_names.open) => Self::Open,
            Self::Lenient => Self::Lenient,
            Self::Open => Self::Open,
            Self::OfForm | Self::Fields => Self::Fields,
            Self::OfParameters | Self::OfVariables | Self::Exact => Self::Exact,
        }
    }

    /// The comparison in a container for which this one holds.
    fn of_container(self, is_object: bool) -> Self {
        match self {
            Self::OfVariables if is_object => Self::Exact,
            Self::OfForm if is_object => Self::Fields,
            Self::OfVariables | Self::OfForm => Self::Lenient,
            other => other,
        }
    }

    /// The name of the protocol for which some readers take this other one, which is given as it is spelt and as it is
    /// compared; `None` where the protocol has no names.
    fn mistaken(self, name: &str, compared: &str, is_of_protocol: bool) -> Option<&'static str> {
        if is_of_protocol && self == Self::Lenient {
            is_like_member(name, compared)
        } else {
            None
        }
    }
}

/// A value that has not been read yet.
#[derive(Clone, Copy)]
struct Unread<'t> {
    comparison: Comparison,
    /// The name of the member that has it, as JSON text.
    name: Option<&'t str>,
    /// Whether it is an element of a list of objects.
    is_for_object: bool,
}

impl Unread<'_> {
    /// The body of a message.
    const BODY: Self = Self {
        comparison: Comparison::Lenient,
        name: None,
        is_for_object: false,
    };

    /// How the entries of this object or list are read, with whether it is a list of objects. `text` begins with it.
    fn opened(
        self,
        text: &str,
        member_names: MemberNames,
    ) -> Result<(Comparison, bool), Ambiguity> {
        let is_object = text.starts_with('{');
        let comparison = self.comparison.of_container(is_object);
        if is_object || !matches!(comparison, Comparison::Lenient | Comparison::Open) {
            return Ok((comparison, false));
        }
        let name = self.name.and_then(decoded);
        let place = member_names.place(name.as_deref());
        if is_by_position(text) && (self.is_for_object || place.is_for_object(text)) {
            return Err(Ambiguity::Position);
        }
        Ok((comparison, matches!(place, Place::List | Place::Either)))
    }
}

/// A value within the body of a message, for those who look through its entries themselves.
#[derive(Clone, Copy)]
pub struct Reading<'t> {
    unread: Unread<'t>,
    is_body: bool,
    member_names: MemberNames,
}

/// An object or a list within the body of a message.
#[derive(Clone, Copy)]
pub struct OpenReading {
    comparison: Comparison,
    has_objects: bool,
    is_body: bool,
    member_names: MemberNames,
}

impl Reading<'_> {
    /// The body of a message of this method, or of an answer to one.
    pub fn of_body(method: &str) -> Self {
        Self {
            unread: Unread::BODY,
            is_body: true,
            member_names: of_messages(method),
        }
    }

    /// Begins with the entries of the value, whose text is given; `None` if it is a list in the place of an object.
    pub fn open(self, text: &str) -> Option<OpenReading> {
        let (comparison, has_objects) = self.unread.opened(text, self.member_names).ok()?;
        Some(OpenReading {
            comparison,
            has_objects,
            is_body: self.is_body,
            member_names: self.member_names,
        })
    }
}

impl OpenReading {
    /// The value of the member with this name, which is JSON text.
    pub fn member(self, name: &str) -> Reading<'_> {
        let unread = Unread {
            comparison: within(self.comparison, name, self.is_body, self.member_names),
            name: Some(name),
            is_for_object: false,
        };
        self.of(unread)
    }

    /// An element.
    pub fn element(self) -> Reading<'static> {
        let unread = Unread {
            comparison: self.comparison,
            name: None,
            is_for_object: self.has_objects,
        };
        self.of(unread)
    }

    /// Whether some readers take the member with this name, which is JSON text, for another one of the protocol.
    pub fn is_mistaken(self, name: &str) -> bool {
        let name = decoded(name);
        let is_of_protocol = self.member_names.is_of_protocol;
        let mistaken = |name: &str| {
            let compared = fold(name);
            self.comparison.mistaken(name, &compared, is_of_protocol)
        };
        name.is_some_and(|name| mistaken(&name).is_some())
    }

    fn of(self, unread: Unread<'_>) -> Reading<'_> {
        Reading {
            unread,
            is_body: false,
            member_names: self.member_names,
        }
    }
}

/// The comparison in the member with this name, which is JSON text, of an object: the body itself, or one within it.
fn within(
    comparison: Comparison,
    name: &str,
    is_body: bool,
    member_names: MemberNames,
) -> Comparison {
    match comparison.within(name, member_names) {
        Comparison::Lenient if is_body && name == FORM => Comparison::OfForm,
        other => other,
    }
}

/// An open container: an object with its names so far, or an array.
struct Container<'t> {
    names: Option<Names<'t>>,
    comparison: Comparison,
    /// Whether it is a list of objects.
    has_objects: bool,
}

/// Checks the names of all objects in the body of a message of this method, or of an answer to one: an error if parsers
/// may read them differently, or the text is nested too deep or too large.
pub fn look_through(body: &str, method: &str) -> Result<(), Ambiguity> {
    look_through_all(body, of_messages(method))
}

/// The same for another JSON text, in which other members are left to tools.
pub fn look_through_all(text: &str, member_names: MemberNames) -> Result<(), Ambiguity> {
    let bytes = text.as_bytes();
    let mut open: Vec<Container> = Vec::new();
    let (mut at, mut names_next) = (0, false);
    // The value behind the last name.
    let mut behind_name = Unread::BODY;
    let mut in_strings = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            _ if at - in_strings > LARGEST => return Err(Ambiguity::Large),
            b'{' | b'[' if open.len() == DEEPEST => return Err(Ambiguity::Deep),
            b'{' | b'[' => {
                let unread = match open.last() {
                    Some(list) if list.names.is_none() => Unread {
                        comparison: list.comparison,
                        name: None,
                        is_for_object: list.has_objects,
                    },
                    _ => behind_name,
                };
                let begins = text.get(at..).unwrap_or_default();
                let (comparison, has_objects) = unread.opened(begins, member_names)?;
                open.push(Container {
                    names: (*byte == b'{').then(Names::default),
                    comparison,
                    has_objects,
                });
            }
            b'}' | b']' => drop(open.pop()),
            b'"' => {
                let end = end_of_string(bytes, at);
                let is_body = open.len() == 1;
                if let Some(Container {
                    names, comparison, ..
                }) = open.last_mut()
                    && let Some(names) = names
                    && names_next
                {
                    let name = text.get(at..end).ok_or(Ambiguity::Names)?;
                    names.add(name, *comparison, member_names.is_of_protocol)?;
                    behind_name = Unread {
                        comparison: within(*comparison, name, is_body, member_names),
                        name: Some(name),
                        is_for_object: false,
                    };
                }
                // The quotes count as outside.
                in_strings += (end - at).saturating_sub(2);
                (at, names_next) = (end, false);
                continue;
            }
            _ => {}
        }
        names_next = match byte {
            b'{' => true,
            b',' => open.last().is_some_and(|last| last.names.is_some()),
            _ => names_next && byte.is_ascii_whitespace(),
        };
        at += 1;
    }
    Ok(())
}

/// Whether readers may disagree about the kind of update in the params of a `session/update`.
pub fn is_unclear_update(params: &str) -> bool {
    let is_unclear =
        |found: &[(&str, bool)]| found.len() > 1 || found.iter().any(|(_, is_exact)| !is_exact);
    let updates: Vec<_> = like(params, "update").collect();
    let kinds = |update| like(update, "sessionUpdate").collect::<Vec<_>>();
    is_unclear(&updates)
        || updates
            .iter()
            .any(|(update, _)| is_by_position(update) || is_unclear(&kinds(update)))
}

/// The names of one object. Most objects have few.
#[derive(Default)]
struct Names<'t> {
    few: Vec<Cow<'t, str>>,
    many: Option<HashSet<Cow<'t, str>>>,
}

impl<'t> Names<'t> {
    const FEW: usize = 16;

    /// Adds a name, as JSON text. An error if the object has it already, it cannot be decoded, or some readers take it
    /// for another one of the protocol.
    fn add(
        &mut self,
        text: &'t str,
        comparison: Comparison,
        is_of_protocol: bool,
    ) -> Result<(), Ambiguity> {
        let spelt = decoded(text).ok_or(Ambiguity::Names)?;
        let name: Cow<'t, str> = match &spelt {
            _ if comparison == Comparison::Exact => spelt.clone(),
            &Cow::Borrowed(name) => fold(name),
            Cow::Owned(name) => fold(name).into_owned().into(),
        };
        let mistaken = comparison.mistaken(&spelt, &name, is_of_protocol);
        if !self.insert(name) {
            return Err(Ambiguity::Names);
        }
        mistaken.map_or(Ok(()), |known| Err(Ambiguity::Case(known)))
    }

    /// Adds a name. Returns false if the object has it already.
    fn insert(&mut self, name: Cow<'t, str>) -> bool {
        if let Some(many) = &mut self.many {
            return many.insert(name);
        }
        if self.few.contains(&name) {
            return false;
        }
        self.few.push(name);
        if self.few.len() > Self::FEW {
            let mut many = HashSet::with_capacity(2 * Self::FEW);
            many.extend(self.few.drain(..));
            self.many = Some(many);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(line: &str) -> Result<(), Ambiguity> {
        let message = Message::parse(line.to_owned().into()).unwrap();
        canonical(&message, message.method())
    }

    #[test]
    fn an_update_is_clear_if_all_readers_find_one_kind() {
        for clear in [
            r#"{"sessionId":"a","update":{"sessionUpdate":"plan","x":{"SessionUpdate":1}}}"#,
            r#"{"update":{}}"#,
            r#"{"update":[]}"#,
            "{}",
            "[]",
        ] {
            assert!(!is_unclear_update(clear), "{clear}");
        }
        for unclear in [
            r#"{"update":{"SessionUpdate":"tool_call","sessionUpdate":"plan"}}"#,
            r#"{"update":{"sessionUpdate":"tool_call","sessionUpdate":"plan"}}"#,
            r#"{"update":{"SessionUpdate":"tool_call"}}"#,
            r#"{"update":{"sessionUpdate":"plan"},"Update":{"sessionUpdate":"tool_call"}}"#,
            r#"{"update":{"sessionUpdate":"plan","\ud800":"tool_call"}}"#,
            r#"{"sessionId":"a","update": ["tool_call","c1"]}"#,
        ] {
            assert!(is_unclear_update(unclear), "{unclear}");
        }
    }

    #[test]
    fn names_that_the_protocol_leaves_open_may_be_like_those_of_its_members() {
        for (method, clear) in [
            (
                "session/prompt",
                r#"{"sessionId":"s","prompt":[{"type":"text","text":"a"}],"Other":1,"session_id":2}"#,
            ),
            (
                "session/update",
                r#"{"update":{"rawInput":{"Prompt":1,"Path":{"URL":2}},"rawOutput":{"Title":3}}}"#,
            ),
            (
                "session/update",
                r#"{"update":{"_meta":{"Kind":1,"x":{"Title":2}}},"_meta":{"SessionId":3}}"#,
            ),
            (
                "session/new",
                r#"{"mcpServers":[{"env":{"PATH":"a","Cwd":"b"}}]}"#,
            ),
            // The fields of a form, and what was filled in.
            (
                "elicitation/create",
                r#"{"requestedSchema":{"properties":{"Name":{"type":"string"},"URL":{"Title":1}}}}"#,
            ),
            // Generators of schemas put the types of a program there.
            (
                "elicitation/create",
                r#"{"requestedSchema":{"$defs":{"Command":{"enum":["a"]}}}}"#,
            ),
            (
                "elicitation/create",
                r#"{"action":"accept","content":{"Name":"a"}}"#,
            ),
            (
                "session/prompt",
                r#"{"code":1,"message":"a","data":{"Message":{"Code":2}}}"#,
            ),
            (
                "mcp/message",
                r#"{"tools":[{"name":"a","inputSchema":{"$defs":{"Path":{}}}}]}"#,
            ),
            (
                "mcp/message",
                r#"{"method":"tools/call","params":{"arguments":{"Path":1}}}"#,
            ),
            (
                "mcp/message",
                r#"{"content":{"type":"tool_use","input":{"Path":{"URL":1}}}}"#,
            ),
            (
                "mcp/message",
                r#"{"capabilities":{"extensions":{"org.example/ui":{"Name":1}}}}"#,
            ),
            // The protocol leaves the members of other methods open.
            ("_vendor/ask", r#"{"Prompt":1,"SessionId":2}"#),
        ] {
            assert_eq!(look_through(clear, method), Ok(()), "{clear}");
        }
    }

    /// Go's `encoding/json` reads `Prompt` as `prompt`, and most other readers find no prompt.
    #[test]
    fn members_have_the_names_of_the_protocol_as_it_spells_them() {
        for (method, unclear, known) in [
            (
                "session/prompt",
                r#"{"Prompt":[],"sessionId":"s"}"#,
                "prompt",
            ),
            (
                "session/prompt",
                r#"{"prompt":[{"type":"text","Text":"a"}]}"#,
                "text",
            ),
            (
                "session/prompt",
                r#"{"prompt":[],"sessionid":"s"}"#,
                "sessionId",
            ),
            (
                "session/prompt",
                r#"{"prompt":[],"\u0053essionId":"s"}"#,
                "sessionId",
            ),
            (
                "session/update",
                r#"{"update":{"RawInput":{"command":"a"}}}"#,
                "rawInput",
            ),
            (
                "session/request_permission",
                r#"{"options":[{"OptionId":"a"}]}"#,
                "optionId",
            ),
            (
                "session/request_permission",
                r#"{"Outcome":{"outcome":"selected"}}"#,
                "outcome",
            ),
            ("session/prompt", r#"{"code":1,"Message":"a"}"#, "message"),
            (
                "mcp/message",
                r#"{"Method":"tools/call","serverId":"a"}"#,
                "method",
            ),
        ] {
            assert_eq!(
                look_through(unclear, method),
                Err(Ambiguity::Case(known)),
                "{unclear}"
            );
        }
    }

    #[test]
    fn names_within_what_is_left_to_tools_may_differ_in_case() {
        let update = |members: &str| {
            judged(&format!(
                r#"{{"jsonrpc":"2.0","method":"m","params":{{"update":{{{members}}}}}}}"#
            ))
        };
        for clear in [
            r#""rawInput":{"env":{"http_proxy":1,"HTTP_PROXY":2}}"#,
            r#""rawInput":[{"changes":{"README.md":{},"readme.md":{"a":1,"A":2}}}]"#,
            r#""rawInput":{"rows":[{"id":1,"ID":2}],"x":{"rawInput":{"b":1,"B":2}}}"#,
            r#""rawOutput":{"id":1,"ID":2,"headers":[{"Via":1,"via":2}]}"#,
            r#""_meta":{"terminal-auth":{"env":{"http_proxy":1,"HTTP_PROXY":2}}}"#,
            r#""env":{"http_proxy":1,"HTTP_PROXY":2},"x":[{"env":{"a":1,"A":2}}]"#,
        ] {
            assert_eq!(update(clear), Ok(()), "{clear}");
        }
        for unclear in [
            // Agents may read parameters leniently.
            r#""rawInput":{"command":1,"Command":2}"#,
            r#""rawInput":[{"command":1,"Command":2}]"#,
            r#""rawInput":{"env":{"a":1,"a":2}}"#,
            r#""rawInput":{"env":{"a":1,"\u0061":2}}"#,
            r#""rawOutput":{"a":1,"a":2}"#,
            r#""rawOutput":{"a":1},"toolCallId":1,"ToolCallId":2"#,
            r#""rawOutput":[{"a":{}}],"x":{"b":1,"B":2}"#,
            r#""RawInput":{"changes":{"a":1,"A":2}}"#,
            r#""_meta":{"tool_name":1,"Tool_name":2}"#,
            r#""_meta":{"a":{"b":1,"b":2}}"#,
            r#""env":{"a":1,"a":2}"#,
            r#""env":[{"name":1,"Name":2}]"#,
            r#""env":{"a":1},"b":{"c":1,"C":2}"#,
            r#""Env":{"a":1,"A":2}"#,
            r#""rawInput":1,"rawinput":{"env":{"a":1,"A":2}}"#,
        ] {
            assert_eq!(update(unclear), Err(Ambiguity::Names), "{unclear}");
        }
    }

    /// Code that serde derives reads `["text",null,"…"]` as a block of text.
    #[test]
    fn no_list_stands_for_an_object_that_guards_read() {
        for clear in [
            r#"{"prompt":[{"type":"text","text":"a"}]}"#,
            r#"{"prompt":[{"a":[["x"]]},[],"x"],"x":[["text"]]}"#,
            r#"{"update":[],"toolCall":[ ],"content":[]}"#,
            r#"{"update":{"content":[{"type":"content","content":{"type":"text"}}]}}"#,
            r#"{"update":{"content":[ {}],"entries":[{"content":"a"}]}}"#,
            r#"{"toolCall":{"rawInput":{"update":["a"],"content":["b"],"options":[["c"]]}}}"#,
            r#"{"update":{"rawOutput":[["a"],{"content":["b"]}]},"_meta":{"prompt":[["a"]]}}"#,
            // The fields of a form.
            r#"{"action":"accept","content":{"resource":["a","b"],"content":["c"]}}"#,
            // What tools of MCP servers take and give.
            r#"{"method":"tools/call","params":{"arguments":{"content":["a"],"options":[[1]]}}}"#,
            r#"{"content":[{"type":"text"}],"structuredContent":{"update":[1],"a":1,"A":2}}"#,
        ] {
            assert_eq!(look_through(clear, "m"), Ok(()), "{clear}");
        }
        for unclear in [
            r#"{"prompt":[["text",null,"a"]]}"#,
            r#"{"prompt":[{"type":"text"}, ["text",null,"a"]]}"#,
            r#"{"\u0070rompt":[["text",null,"a"]]}"#,
            r#"{"sessionId":"s","update":["agent_message_chunk",{"type":"text"}]}"#,
            r#"{"update":{"sessionUpdate":"agent_message_chunk","content":["text",null,"a"]}}"#,
            r#"{"update":{"content":[ "text",null,"a"]}}"#,
            r#"{"update":{"content":[0,null,"a"]}}"#,
            r#"{"update":{"content":[["content",["text",null,"a"]]]}}"#,
            r#"{"update":{"content":[{"type":"content","content":["text"]}]}}"#,
            r#"{"update":{"locations":[["/p",1]]}}"#,
            r#"{"update":{"entries":[["a","high","pending"]]}}"#,
            r#"{"toolCall":["c1"],"options":[{}]}"#,
            r#"{"options":[["allow","Allow","allow_once"]]}"#,
            r#"{"subject":["tool_call",{}]}"#,
            r#"{"outcome":["selected","allow"]}"#,
            r#"{"prompt":[{"type":"resource","resource":["file:///a","text"]}]}"#,
            r#"{"mcpServers":[["s","/bin/s",[],[]]]}"#,
        ] {
            assert_eq!(
                look_through(unclear, "m"),
                Err(Ambiguity::Position),
                "{unclear}"
            );
        }
        let twice = r#"{"action":"accept","content":{"resource":["a"],"Resource":"b"}}"#;
        assert_eq!(look_through(twice, "m"), Err(Ambiguity::Names));
    }

    #[test]
    fn params_of_mcp_are_no_list() {
        let call = |method: &str, params: &str| {
            judged(&format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"method":"tools/call","params":{params}}}}}"#
            ))
        };
        let listed = r#"["delete",{}]"#;
        assert_eq!(call("mcp/message", listed), Err(Ambiguity::Position));
        assert_eq!(call("mcp/message", r#"{"name":"delete"}"#), Ok(()));
        // What the protocol leaves open.
        assert_eq!(call("_call", listed), Ok(()));
    }

    /// So each name is one of the protocol, and no list that it has is refused.
    #[test]
    fn the_protocol_has_such_objects_and_lists() {
        use serde_json::Value;

        /// The values of all members that schemas describe, with their names.
        fn members<'s>(schema: &'s Value, all: &mut Vec<(&'s str, &'s Value)>) {
            let inner: Vec<&Value> = match schema {
                Value::Object(object) => object.values().collect(),
                Value::Array(list) => list.iter().collect(),
                _ => Vec::new(),
            };
            if let Some(Value::Object(properties)) = schema.get("properties") {
                all.extend(properties.iter().map(|(name, value)| (&**name, value)));
            }
            for inner in inner {
                members(inner, all);
            }
        }

        let schemas = [
            include_str!("../../messages/schema/v1.json"),
            include_str!("../../messages/schema/v2.json"),
        ];
        let schemas = schemas.map(|text| serde_json::from_str::<Value>(text).unwrap());
        let mut all = Vec::new();
        for schema in &schemas {
            members(schema, &mut all);
        }
        let schemas_of = |name: &str| {
            let named = all.iter().filter(|(own, _)| *own == name);
            let texts = named.map(|(_, schema)| schema.to_string());
            texts.collect::<Vec<_>>()
        };
        for name in OF_MESSAGES.objects {
            let described = schemas_of(name);
            assert!(!described.is_empty(), "{name}");
            let is_list = |schema: &String| schema.contains(r#""array""#);
            assert!(!described.iter().any(is_list), "{name}: {described:?}");
        }
        for name in OF_MESSAGES.lists.iter().chain(OF_MESSAGES.either) {
            let described = schemas_of(name);
            let is_list = |schema: &String| schema.contains(r#""array""#);
            assert!(described.iter().any(is_list), "{name}: {described:?}");
        }
    }

    #[test]
    fn ambiguous_messages_are_not_canonical() {
        let params =
            |params: &str| format!(r#"{{"jsonrpc":"2.0","method":"m","params":{params}}}"#);
        for (line, expected) in [
            (params(r#"{"a":[{"b":1,"c":2.5e400}]}"#), Ok(())),
            (params(r#"{"a":"\ud800\r"}"#), Ok(())),
            (
                params(r#"{"sessionId":1,"SessionId":2}"#),
                Err(Ambiguity::Names),
            ),
            (
                params(r#"{"sessionId":1,"ſessionId":2}"#),
                Err(Ambiguity::Names),
            ),
            (params(r#"[{"a":1,"\u0061":2}]"#), Err(Ambiguity::Names)),
            (params(r#"{"a":1,"a":1}"#), Err(Ambiguity::Names)),
            (params(r#"{"\ud800":1}"#), Err(Ambiguity::Names)),
            (params("{\r\"a\":1}"), Ok(())),
            (
                params(&format!("{}1{}", "[".repeat(129), "]".repeat(129))),
                Err(Ambiguity::Deep),
            ),
            (
                r#"{"jsonrpc":"2.0","method":"m","Params":{}}"#.to_owned(),
                Err(Ambiguity::Envelope),
            ),
            (
                r#"{"jsonrpc":"2.0","method":"m","paramſ":{}}"#.to_owned(),
                Err(Ambiguity::Envelope),
            ),
            (
                r#"{"jsonrpc":"2.0","method":"m","\ud800":{}}"#.to_owned(),
                Err(Ambiguity::Envelope),
            ),
            (
                r#"{"jsonrpc":"2.0","method":"m","meta":{}}"#.to_owned(),
                Ok(()),
            ),
        ] {
            assert_eq!(judged(&line), expected, "{line}");
        }
        let long = "x".repeat(LARGEST);
        assert_eq!(judged(&params(&format!("\"{long}\""))), Ok(()));
        for large in [
            format!("[{}1]", "1,".repeat(LARGEST / 2)),
            format!("[{}1]", " ".repeat(LARGEST)),
            format!("[1{}]", "0".repeat(LARGEST)),
            format!("[{}1]", "\"\",".repeat(LARGEST / 3 + 1)),
        ] {
            assert_eq!(judged(&params(&large)), Err(Ambiguity::Large));
        }
        let many: Vec<_> = (0..40).map(|n| format!(r#""n{n}":1"#)).collect();
        assert_eq!(judged(&params(&format!("{{{}}}", many.join(",")))), Ok(()));
        assert_eq!(
            judged(&params(&format!(r#"{{{},"N7":1}}"#, many.join(",")))),
            Err(Ambiguity::Names)
        );
    }
}
