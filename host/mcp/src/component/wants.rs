//! Parses requests to a component.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::json;
use serde_json::value::RawValue;

use super::called::Called;
use crate::protocol::{self, invalid, is_object, key, quoted, string, with};
use crate::uris;
use acp_chain_channel::Offer;
use acp_chain_rpc::{Error, Id, member};

/// A parsed request.
#[derive(Debug)]
pub enum Wants {
    /// `initialize` or `server/discover`, with the instructions of the lists known so far.
    Hello(Vec<String>),
    /// A page of the list that a method requests, from this cursor on.
    Page(&'static str, Option<String>),
    /// A call to the component.
    Use(Use),
}

#[derive(Debug)]
pub struct Use {
    pub of: Called,
    /// The params for the component: those that MCP defines, and `_meta`.
    pub params: String,
    /// The caller's progress token.
    pub token: Option<Id>,
}

impl Wants {
    /// How many bytes of the client's request it keeps.
    pub fn weight(&self) -> usize {
        match self {
            Self::Hello(_) => 0,
            Self::Page(_, cursor) => cursor.as_ref().map_or(0, String::len),
            Self::Use(wanted) => wanted.params.len(),
        }
    }

    /// Parses a request of a client with these capabilities; `None` if MCP has no such method.
    pub fn read(
        method: &str,
        params: Option<&str>,
        capabilities: Option<&str>,
    ) -> Result<Option<Self>, Error> {
        let listed = |method| Ok(Some(Self::Page(method, cursor(params)?)));
        let meta = || meta(params, capabilities);
        let (of, members) = match method {
            "tools/list" => return listed("tools/list"),
            "resources/list" => return listed("resources/list"),
            "resources/templates/list" => return listed("resources/templates/list"),
            "prompts/list" => return listed("prompts/list"),
            "tools/call" => {
                let name = text(params, "name", "tools/call lacks the name of a tool")?;
                let arguments = arguments(params, method)?;
                let members = format!(r#""name":{},"arguments":{arguments}"#, quoted(&name));
                (Called::Tool(name), members)
            }
            "resources/read" => {
                let uri = text(params, "uri", "resources/read lacks a uri")?;
                uris::check(&uri)?;
                let members = format!(r#""uri":{}"#, quoted(&uri));
                (Called::Resource(uri), members)
            }
            "prompts/get" => {
                let name = text(params, "name", "prompts/get lacks the name of a prompt")?;
                let arguments = arguments(params, method)?;
                let arguments = texts(&arguments, method)?;
                let members = format!(r#""name":{},"arguments":{arguments}"#, quoted(&name));
                (Called::Prompt(name), members)
            }
            "completion/complete" => (Called::Completion, completed(params)?),
            _ => return Ok(None),
        };
        Ok(Some(Self::Use(Use {
            of,
            params: format!(r#"{{{members},"_meta":{}}}"#, meta()),
            token: protocol::token(protocol::meta(params, key::PROGRESS)),
        })))
    }

    /// The list that must be known before the request is served.
    pub fn needs(&self) -> Option<Offer> {
        match self {
            Self::Hello(_) => None,
            Self::Page(method, _) => Offer::of(method),
            Self::Use(wanted) => match wanted.of {
                Called::Tool(_) => Some(Offer::Tools),
                Called::Prompt(_) => Some(Offer::Prompts),
                // Any resource may be read, even if it is not listed.
                Called::Resource(_) | Called::Completion => None,
            },
        }
    }
}

/// The `_meta` for the component: the request's own, with the client's capabilities, as in requests of 2026-07-28.
fn meta(params: Option<&str>, capabilities: Option<&str>) -> String {
    let meta = params.and_then(|params| member(params, "_meta"));
    let meta = meta.filter(|meta| is_object(meta)).unwrap_or("{}");
    match capabilities {
        Some(capabilities) => {
            let place = format!("/{}", key::CAPABILITIES.replace('/', "~1"));
            with(meta, &place, Some(capabilities))
        }
        None => meta.to_owned(),
    }
}

/// A required string in the params of a request.
fn text(params: Option<&str>, name: &str, lacks: &str) -> Result<String, Error> {
    string(params, name).ok_or_else(|| invalid(lacks))
}

/// The cursor of a list request.
fn cursor(params: Option<&str>) -> Result<Option<String>, Error> {
    let cursor = params.and_then(|params| member(params, "cursor"));
    match cursor.filter(|cursor| *cursor != "null") {
        None => Ok(None),
        Some(cursor) => serde_json::from_str(cursor)
            .map(Some)
            .map_err(|_| invalid("The cursor is not a string")),
    }
}

/// The arguments of a tool or a prompt: an object, or a string with the JSON text of one, as models write them.
fn arguments<'p>(params: Option<&'p str>, method: &str) -> Result<Cow<'p, str>, Error> {
    let arguments = params.and_then(|params| member(params, "arguments"));
    let arguments = arguments.filter(|arguments| *arguments != "null");
    let arguments = arguments.unwrap_or("{}");
    if is_object(arguments) {
        return Ok(arguments.into());
    }
    let text: Option<String> = serde_json::from_str(arguments).ok();
    let object: Option<Box<RawValue>> = text.and_then(|text| serde_json::from_str(&text).ok());
    match object.filter(|object| is_object(object.get())) {
        Some(object) => Ok(object.get().to_owned().into()),
        None => Err(invalid(format!(
            "The arguments of {method} are not an object"
        ))),
    }
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

/// The params of `completion/complete` for the component.
fn completed(params: Option<&str>) -> Result<String, Error> {
    let method = "completion/complete";
    let of = |name| params.and_then(|params| member(params, name));
    let reference = of("ref").filter(|reference| {
        let named = match string(Some(reference), "type").as_deref() {
            Some("ref/prompt") => "name",
            Some("ref/resource") => "uri",
            _ => return false,
        };
        string(Some(reference), named).is_some()
    });
    let reference = reference.ok_or_else(|| {
        invalid(format!(
            "{method} lacks a ref to a prompt, by its name, or to a resource, by its uri"
        ))
    })?;
    let argument = of("argument");
    let (name, value) = (string(argument, "name"), string(argument, "value"));
    let (Some(name), Some(value)) = (name, value) else {
        return Err(invalid(format!(
            "{method} lacks an argument with a name and a value, two texts"
        )));
    };
    let context = of("context").and_then(|context| member(context, "arguments"));
    let context = texts(context.unwrap_or("{}"), method)?;
    let (name, value) = (quoted(&name), quoted(&value));
    Ok(format!(
        r#""ref":{reference},"argument":{{"name":{name},"value":{value}}},"context":{{"arguments":{context}}}"#
    ))
}
