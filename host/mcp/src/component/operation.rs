//! Parsed requests to a component, and the targets of its calls.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::json;
use serde_json::value::RawValue;

use crate::listening::check_uri;
use crate::protocol::{
    self, Version, clipped, invalid, is_empty_list, is_object, key, object, quoted, with_key,
};
use acp_chain_channel::Offer;
use acp_chain_rpc::{Error, Id, member, text_member};

/// A parsed request.
#[derive(Debug)]
pub enum Operation {
    /// `server/discover`, with the instructions of the lists known so far.
    Discover(Vec<String>),
    /// A page of the list that a method requests, from this cursor on.
    Page(&'static str, Option<String>),
    /// A call to the component.
    Call(ParsedCall),
}

#[derive(Debug)]
pub struct ParsedCall {
    pub of: Target,
    /// The params for the component: those that MCP defines, and `_meta`.
    pub params: String,
    /// The caller's progress token.
    pub token: Option<Id>,
}

/// The target of a call.
#[derive(Debug)]
pub enum Target {
    /// A tool, by its name.
    Tool(String),
    /// A resource, by its URI.
    Resource(String),
    /// A prompt, by its name.
    Prompt(String),
    Completion,
}

impl Target {
    /// The method of the call.
    pub fn method(&self) -> &'static str {
        match self {
            Self::Tool(_) => "tools/call",
            Self::Resource(_) => "resources/read",
            Self::Prompt(_) => "prompts/get",
            Self::Completion => "completion/complete",
        }
    }

    /// Whether a request has this target.
    pub fn is(&self, method: &str, params: &str) -> bool {
        let (member, name) = match self {
            Self::Tool(name) | Self::Prompt(name) => ("name", name),
            Self::Resource(uri) => ("uri", uri),
            Self::Completion => return false,
        };
        self.method() == method && text_member(params, member).as_ref() == Some(name)
    }

    /// The beginning of the error for an invalid result.
    pub fn invalid_result(&self) -> String {
        match self {
            Self::Tool(name) => format!("the result of its tool {name:?} is not a CallToolResult"),
            Self::Resource(uri) => {
                let uri = clipped(uri);
                format!("its result for {uri:?} is not a ReadResourceResult")
            }
            Self::Prompt(name) => {
                format!("the result of its prompt {name:?} is not a GetPromptResult")
            }
            Self::Completion => String::from("its completion is not a CompleteResult"),
        }
    }
}

impl Operation {
    /// How many bytes of the client's request it keeps.
    pub fn weight(&self) -> usize {
        match self {
            Self::Discover(_) => 0,
            Self::Page(_, cursor) => cursor.as_ref().map_or(0, String::len),
            Self::Call(wanted) => wanted.params.len(),
        }
    }

    /// Parses a request of a client of this version; `None` if MCP has no such method.
    pub fn read(method: &str, params: &str, version: Version) -> Result<Option<Self>, Error> {
        let listed = |method| Ok(Some(Self::Page(method, cursor(params)?)));
        let text = |name, lacks: &str| text_member(params, name).ok_or_else(|| invalid(lacks));
        let with_meta = |members: &[(&str, &str)]| {
            let meta = meta(params, version);
            let own = members.iter().map(|(name, value)| (*name, Some(*value)));
            let members: Vec<_> = own.chain([("_meta", Some(&*meta))]).collect();
            object(&members)
        };
        let (of, members) = match method {
            "tools/list" => return listed("tools/list"),
            "resources/list" => return listed("resources/list"),
            "resources/templates/list" => return listed("resources/templates/list"),
            "prompts/list" => return listed("prompts/list"),
            "tools/call" => {
                let name = text("name", "tools/call lacks the name of a tool")?;
                let arguments = arguments(params, method)?;
                let members = with_meta(&[("name", &quoted(&name)), ("arguments", &arguments)]);
                (Target::Tool(name), members)
            }
            "resources/read" => {
                let uri = text("uri", "resources/read lacks a uri")?;
                check_uri(&uri)?;
                let members = with_meta(&[("uri", &quoted(&uri))]);
                (Target::Resource(uri), members)
            }
            "prompts/get" => {
                let name = text("name", "prompts/get lacks the name of a prompt")?;
                let arguments = arguments(params, method)?;
                let arguments = texts(&arguments, method)?;
                let members = with_meta(&[("name", &quoted(&name)), ("arguments", &arguments)]);
                (Target::Prompt(name), members)
            }
            "completion/complete" => {
                let [reference, argument, context] = completed(params)?;
                let members = with_meta(&[
                    ("ref", &reference),
                    ("argument", &argument),
                    ("context", &context),
                ]);
                (Target::Completion, members)
            }
            _ => return Ok(None),
        };
        Ok(Some(Self::Call(ParsedCall {
            of,
            params: members,
            token: protocol::token(protocol::meta(params, key::PROGRESS)),
        })))
    }

    /// The list that must be known before the request is served.
    pub fn needs(&self) -> Option<Offer> {
        match self {
            Self::Discover(_) => None,
            Self::Page(method, _) => Offer::of(method),
            Self::Call(wanted) => match wanted.of {
                Target::Tool(_) => Some(Offer::Tools),
                Target::Prompt(_) => Some(Offer::Prompts),
                // Any resource may be read, even if it is not listed.
                Target::Resource(_) | Target::Completion => None,
            },
        }
    }
}

/// The `_meta` for the component: the request's own. Of a client that begins with `initialize`, the component sees only
/// the capabilities: it does not speak the version that the edge names.
fn meta(params: &str, version: Version) -> Cow<'_, str> {
    let mut meta = Cow::Borrowed(member(params, "_meta").unwrap_or("{}"));
    for key in [key::VERSION, key::CLIENT_INFO] {
        if version < Version::Stateless {
            meta = with_key(&meta, key, None).into();
        }
    }
    meta
}

/// The cursor of a list request.
fn cursor(params: &str) -> Result<Option<String>, Error> {
    let cursor = member(params, "cursor").filter(|cursor| *cursor != "null");
    let read = cursor.map(serde_json::from_str).transpose();
    read.map_err(|_| invalid("The cursor is not a string"))
}

/// The arguments of a tool or a prompt: an object, or a string with the JSON text of one, as models write them.
fn arguments<'p>(params: &'p str, method: &str) -> Result<Cow<'p, str>, Error> {
    let is_given = |arguments: &&str| *arguments != "null" && !is_empty_list(arguments);
    let arguments = member(params, "arguments").filter(is_given);
    let arguments = arguments.unwrap_or("{}");
    if is_object(arguments) {
        return Ok(arguments.into());
    }
    let text: Option<String> = serde_json::from_str(arguments).ok();
    let object: Option<Box<RawValue>> = text.and_then(|text| serde_json::from_str(&text).ok());
    let object = object.filter(|object| is_object(object.get()));
    let wrong = || invalid(format!("The arguments of {method} are not an object"));
    Ok(object.ok_or_else(wrong)?.get().to_owned().into())
}

/// Checks that an object's values are strings. Members that are `null` are removed.
fn texts<'p>(object: &'p str, method: &str) -> Result<Cow<'p, str>, Error> {
    let texts: HashMap<String, Option<String>> = serde_json::from_str(object)
        .map_err(|_| invalid(format!("The arguments of {method} are not all strings")))?;
    if texts.values().all(Option::is_some) {
        return Ok(object.into());
    }
    let texts = texts.iter().filter(|(_, text)| text.is_some());
    Ok(json!(texts.collect::<HashMap<_, _>>()).to_string().into())
}

/// The reference, the argument and the context in the params of `completion/complete`.
fn completed(params: &str) -> Result<[String; 3], Error> {
    let method = "completion/complete";
    let reference = member(params, "ref").filter(|reference| {
        let named = match text_member(reference, "type").as_deref() {
            Some("ref/prompt") => "name",
            Some("ref/resource") => "uri",
            _ => return false,
        };
        text_member(reference, named).is_some()
    });
    let reference = reference.ok_or_else(|| {
        invalid(format!(
            "{method} lacks a ref to a prompt, by its name, or to a resource, by its uri"
        ))
    })?;
    let argument = member(params, "argument").unwrap_or("null");
    let name = text_member(argument, "name");
    let (Some(name), Some(value)) = (name, text_member(argument, "value")) else {
        return Err(invalid(format!(
            "{method} lacks an argument with a name and a value, two texts"
        )));
    };
    let context = member(params, "context").and_then(|context| member(context, "arguments"));
    let context = texts(context.unwrap_or("{}"), method)?;
    let (name, value) = (quoted(&name), quoted(&value));
    Ok([
        reference.to_owned(),
        object(&[("name", Some(&name)), ("value", Some(&value))]),
        object(&[("arguments", Some(&*context))]),
    ])
}
