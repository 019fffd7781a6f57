//! The parameters of a permission request, in either version of the protocol, of an elicitation that is one, and of a
//! report about a tool that is about to run.

use std::collections::BTreeMap;

use crate::call::Call;
use crate::line::Line;
use crate::object::{Object, Reader};

/// The end of the name of a member that says what an elicitation asks approval for.
const APPROVAL: &str = "approval_kind";
/// What it says for a tool of an MCP server.
const OF_SERVER: &str = "mcp_tool_call";

/// What the agent asks about, or is about to run.
#[derive(Default)]
pub struct PermissionRequest {
    /// The call, as far as the request describes it.
    pub call: Call,
    /// Ids of calls that updates may have described.
    pub ids: Vec<String>,
    /// Version 2: the question to the user, if the request is about more than the call.
    pub question: Option<String>,
    /// Version 2: where a command would run.
    pub cwd: Option<String>,
    pub options: Options,
    /// Whether it is an elicitation.
    pub is_elicitation: bool,
    /// Whether it asks to open a page.
    pub opens_page: bool,
    /// Whether it is the run of a tool that the host does not know, and that is of no MCP server.
    pub is_of_unknown_tool: bool,
}

impl PermissionRequest {
    pub fn read(params: &str) -> Self {
        let mut asked = Self::default();
        let mut reader = Reader::default();
        let params = reader.object(params);
        // Read only to check for duplicates.
        reader.unclear |= reader.texts(&params, "sessionId").is_empty();
        let calls = reader.all(&params, "toolCall");
        let subjects = reader.all(&params, "subject");
        for call in &calls {
            asked.add_call(call, &mut reader);
        }
        for subject in &subjects {
            asked.add_subject(subject, &mut reader);
        }
        let title = reader.texts(&params, "title").pop();
        match (calls.len() + subjects.len(), title) {
            // A question without a call.
            (0, Some(title)) => asked.call.add_title(title),
            (1, title) => asked.question = title,
            (_, title) => {
                asked.question = title;
                reader.unclear = true;
            }
        }
        asked.call.unclear |= reader.unclear;
        asked.options = Options::read(&params);
        asked
    }

    /// An elicitation that asks for a permission; `None` for other questions. Some agents request approval for tools of
    /// MCP servers this way, and name the tool in `_meta`. A request to open a page asks for consent.
    pub fn read_elicitation(params: &str) -> Option<Self> {
        let mut reader = Reader::default();
        let params = reader.object(params);
        let opens_page = reader.texts(&params, "mode").contains(&"url".to_owned());
        let metas: Vec<_> = reader.all(&params, "_meta");
        let mut approves = false;
        let mut is_of_server = true;
        let mut asked = Self {
            is_elicitation: true,
            ..Self::default()
        };
        for meta in metas {
            let members = reader.object(meta);
            for name in members.names().filter(|name| name.ends_with(APPROVAL)) {
                approves = true;
                is_of_server &= reader.texts(&members, name) == [OF_SERVER];
            }
            // With the arguments of the tool.
            asked.call.input.merge(meta);
        }
        if !approves && !opens_page {
            return None;
        }
        let mut fields = false;
        for schema in reader.all(&params, "requestedSchema") {
            let schema = reader.object(schema);
            let properties = reader.all(&schema, "properties");
            fields |= properties.iter().any(|properties| *properties != "{}");
        }
        for message in reader.texts(&params, "message") {
            asked.call.add_title(message);
        }
        asked.ids = reader.texts(&params, "toolCallId");
        asked.opens_page = opens_page;
        let kinds: &[&str] = if opens_page {
            &["fetch"]
        } else {
            &["execute", "other"]
        };
        for kind in kinds {
            asked.call.add_kind((*kind).to_owned());
        }
        asked.options = if fields {
            Options::default()
        } else {
            Options::of_elicitation()
        };
        asked.call.is_of_server = approves && is_of_server;
        asked.call.unclear = reader.unclear;
        Some(asked)
    }

    /// A run that the agent's hooks report. It has no options, since the agent asks nothing.
    pub fn read_run(params: &str) -> Self {
        let mut asked = Self::default();
        let mut reader = Reader::default();
        let params = reader.object(params);
        reader.unclear |= reader.texts(&params, "sessionId").is_empty();
        let calls = reader.all(&params, "toolCall");
        reader.unclear |= calls.len() != 1;
        for call in calls {
            let members = reader.object(call);
            // Not every agent reports an id.
            asked.ids.extend(reader.texts(&members, "toolCallId"));
            asked.call.merge(call);
            if asked.call.kinds.contains("edit") {
                for input in reader.all(&members, "rawInput") {
                    asked.call.merge_patches(input);
                }
            }
        }
        // Here the kind is that of the tool, and a tool that edits has no command: Codex calls a patch that.
        if asked.call.kinds.iter().all(|kind| kind == "edit") && !asked.call.kinds.is_empty() {
            asked.call.input.lines.clear();
        }
        let has_no_kind = asked.call.kinds.iter().all(|kind| kind == "other");
        asked.is_of_unknown_tool = has_no_kind && reader.texts(&params, "server").is_empty();
        let directories = reader.texts(&params, "cwd");
        asked.call.input.directories.extend(directories);
        asked.call.unclear |= reader.unclear;
        asked
    }

    fn add_call(&mut self, json: &str, reader: &mut Reader) {
        let call = reader.object(json);
        let ids = reader.texts(&call, "toolCallId");
        reader.unclear |= ids.is_empty();
        self.ids.extend(ids);
        self.call.merge(json);
    }

    fn add_subject(&mut self, json: &str, reader: &mut Reader) {
        let subject = reader.object(json);
        let types = reader.texts(&subject, "type");
        reader.unclear |= types.is_empty();
        reader.unclear |= types
            .iter()
            .any(|kind| kind != "tool_call" && kind != "command");
        let calls = reader.all(&subject, "toolCall");
        let commands = reader.texts(&subject, "command");
        let is = |name: &str| types.iter().any(|kind| kind == name);
        reader.unclear |= calls.is_empty() == is("tool_call");
        reader.unclear |= commands.is_empty() == is("command");
        for call in calls {
            self.add_call(call, reader);
        }
        for command in commands {
            self.call.input.add_lines([Line::Text(command.clone())]);
            self.call.add_title(command);
            self.call.add_kind("execute".into());
            self.ids.extend(reader.texts(&subject, "toolCallId"));
            let cwd = reader.texts(&subject, "cwd");
            self.call.input.directories.extend(cwd.iter().cloned());
            self.cwd = cwd.last().cloned();
        }
    }
}

/// The options for the user, or a rule.
#[derive(Default)]
pub struct Options {
    /// The ids by kind, in order.
    by_kind: BTreeMap<String, Vec<String>>,
    /// All ids, with their number of occurrences.
    ids: BTreeMap<String, usize>,
    /// Whether some of them could not be read.
    unclear: bool,
}

impl Options {
    fn of_elicitation() -> Self {
        let mut options = Self::default();
        for (kind, action) in [("allow_once", "accept"), ("reject_once", "decline")] {
            options.by_kind.insert(kind.into(), vec![action.into()]);
            options.ids.insert(action.into(), 1);
        }
        options
    }

    fn read(params: &Object) -> Self {
        let mut options = Self::default();
        let mut reader = Reader::default();
        for list in reader.all(params, "options") {
            for option in reader.items(list) {
                let mut own = Reader::default();
                let option = own.object(option);
                let ids = own.texts(&option, "optionId");
                let kinds = own.texts(&option, "kind");
                for id in &ids {
                    *options.ids.entry(id.clone()).or_default() += 1;
                }
                match (&ids[..], &kinds[..]) {
                    ([id], [kind]) if !own.unclear => {
                        let known = options.by_kind.entry(kind.clone()).or_default();
                        known.push(id.clone());
                    }
                    _ => reader.unclear = true,
                }
            }
        }
        options.unclear = reader.unclear;
        options
    }

    /// The option of the first of these kinds that has any, if it is the only one of its kind. Of two that allow, it is
    /// unknown which allows less.
    pub fn only(&self, kinds: &[&'static str]) -> Option<(&str, &'static str)> {
        let only = |kind: &&'static str| match &self.by_kind.get(*kind)?[..] {
            [id] if self.is_one(id) => Some((&**id, *kind)),
            _ => None,
        };
        kinds.iter().find_map(only).filter(|_| !self.unclear)
    }

    /// An option of the first of these kinds that has any.
    pub fn any(&self, kinds: &[&'static str]) -> Option<(&str, &'static str)> {
        kinds.iter().find_map(|kind| {
            let mut ids = self.by_kind.get(*kind)?.iter();
            ids.find(|id| self.is_one(id)).map(|id| (&**id, *kind))
        })
    }

    fn is_one(&self, id: &str) -> bool {
        self.ids.get(id) == Some(&1)
    }
}
