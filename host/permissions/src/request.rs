//! A request that rules decide about, so that they can explain the decision: a permission request, an elicitation, or
//! the report of a hook before a tool runs. It is read from JSON, or found in a trace.

use std::collections::HashMap;

use acp_chain_acp::{AFTER_TOOL, BEFORE_TOOL, ELICITATION, PERMISSION, UPDATE};
use acp_chain_trace::{Kind, Line};
use serde_json::{Value, json};

/// The methods of such requests.
const METHODS: [&str; 3] = [PERMISSION, ELICITATION, BEFORE_TOOL];

/// The session of the request and of the updates, whatever it was.
pub const SESSION: &str = "s";

/// A request, and the earlier updates about its tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolRequest {
    /// The working directory of the session, if the trace has it.
    pub cwd: Option<String>,
    /// The parameters of the updates.
    pub updates: Vec<Value>,
    /// The method of the request.
    pub method: String,
    /// The parameters of the request.
    pub params: Value,
}

impl ToolRequest {
    /// Reads a request, its parameters, or a tool call. `None` if it is none of these.
    pub fn of_json(mut value: Value) -> Option<Self> {
        let named = value["method"].as_str().map(str::to_owned);
        if value.get("params").is_some() {
            value = value["params"].take();
        }
        let method = named.unwrap_or_else(|| method_of(&value).to_owned());
        if !METHODS.contains(&&*method) {
            return None;
        }
        let has_any = |names: &[&str]| names.iter().any(|name| value.get(name).is_some());
        let is_call = has_any(&["toolCallId", "title", "kind", "rawInput"]);
        let is_request = has_any(&["toolCall", "subject", "message"]);
        if is_call && !is_request {
            if value.get("toolCallId").is_none() {
                value["toolCallId"] = "t".into();
            }
            value = json!({ "toolCall": value });
        } else if !is_request {
            return None;
        }
        let option = |kind: &str| json!({ "optionId": kind, "name": kind, "kind": kind });
        if method != BEFORE_TOOL && value.get("options").is_none() {
            value["options"] = json!([option("allow_once"), option("reject_once")]);
        }
        Some(Self {
            cwd: None,
            updates: Vec::new(),
            method,
            params: in_session(value),
        })
    }
}

/// The method of parameters. Only those of hooks say what the agent takes, and only results have texts.
fn method_of(params: &Value) -> &'static str {
    match (params.get("canChange"), params.get("output")) {
        (None, _) => PERMISSION,
        (Some(_), None) => BEFORE_TOOL,
        (Some(_), Some(_)) => AFTER_TOOL,
    }
}

/// Finds the request in a line of a trace.
#[derive(Debug, Default)]
pub struct RequestSearch {
    wanted: usize,
    found: Option<Line>,
    others: Vec<usize>,
}

impl RequestSearch {
    /// The search for the request in the line with this number, counted from 1.
    pub fn new(wanted: usize) -> Self {
        Self {
            wanted,
            ..Self::default()
        }
    }

    /// Takes the next line, with its number. Returns whether to read on.
    pub fn take(&mut self, number: usize, line: Line) -> bool {
        let method = line.method.as_deref().unwrap_or_default();
        if line.kind == Some(Kind::Request) && METHODS.contains(&method) {
            if number == self.wanted {
                self.found = Some(line);
            } else {
                self.others.push(number);
            }
        }
        number < self.wanted
    }

    /// The history of the request, for which the trace is read again.
    ///
    /// # Errors
    /// If the line has no such request: the numbers of the lines before it that have one.
    pub fn history(self) -> Result<RequestHistory, Vec<usize>> {
        match self.found {
            Some(request) => Ok(RequestHistory {
                request,
                wanted: self.wanted,
                ..RequestHistory::default()
            }),
            None => Err(self.others),
        }
    }
}

/// What a trace has of the session of a request, up to the request.
#[derive(Debug, Default)]
pub struct RequestHistory {
    request: Line,
    wanted: usize,
    cwd: Option<String>,
    updates: Vec<Value>,
    /// The directories of requests that set up a session, by the number of the request: the session's id may be only in
    /// the answer.
    directories: HashMap<Option<u64>, String>,
}

impl RequestHistory {
    /// Takes the next line, with its number. Returns whether to read on.
    pub fn take(&mut self, number: usize, line: &Line) -> bool {
        if line.connection == self.request.connection {
            self.note(line);
        }
        number < self.wanted
    }

    fn note(&mut self, line: &Line) {
        let request = &self.request;
        let is_own = request.session.is_some() && line.session == request.session;
        match (line.method.as_deref().unwrap_or_default(), line.kind) {
            (UPDATE, Some(Kind::Notification))
                if is_own && line.from.as_deref() == Some("agent") =>
            {
                self.updates.push(in_session(body(line)));
            }
            (method, Some(Kind::Request)) if method.starts_with("session/") => {
                if let Some(given) = body(line)["cwd"].as_str() {
                    if is_own {
                        self.cwd = Some(given.to_owned());
                    }
                    self.directories.insert(line.request, given.to_owned());
                }
            }
            (_, Some(Kind::Response)) => {
                if let Some(given) = self.directories.get(&line.request)
                    && body(line)["sessionId"].as_str() == request.session.as_deref()
                {
                    self.cwd = Some(given.clone());
                }
            }
            _ => {}
        }
    }

    /// The request, with what was found of its session.
    pub fn request(self) -> ToolRequest {
        ToolRequest {
            params: in_session(body(&self.request)),
            method: self.request.method.unwrap_or_default(),
            cwd: self.cwd,
            updates: self.updates,
        }
    }
}

/// The body of a line, or null.
fn body(line: &Line) -> Value {
    let body = line.body().and_then(|body| serde_json::from_str(body).ok());
    body.unwrap_or_default()
}

fn in_session(mut params: Value) -> Value {
    if params.is_object() {
        params["sessionId"] = SESSION.into();
    }
    params
}
