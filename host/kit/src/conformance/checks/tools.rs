//! Whether the component's tools, resources and prompts are listed correctly, and withstand calls.

use serde_json::{Map, Value, json};

use crate::conformance::excerpt::line;
use crate::conformance::finding::{Finding, first};
use crate::conformance::play::{Ask, Play};
use crate::conformance::stop::Stop;
use crate::conformance::under_test::{Terms, UnderTest};
use crate::transcript::json::plain;
use acp_chain_channel::{Action, Offer, Outcome, Peer};
pub use acp_chain_mcp::component::Catalog;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_rpc::{Error, Kind, Message, member};

/// The maximum number of tools called; likewise of resources, and of prompts.
const MAX_CALLS: usize = 50;

/// The length of huge texts, in bytes.
const HUGE: usize = 1 << 20;

/// The maximum depth of arguments generated from a schema.
const DEEPEST: usize = 8;

/// The metadata of a caller.
const META: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"agent","version":"1"},"io.modelcontextprotocol/clientCapabilities":{},"progressToken":"p"}"#;

pub fn run(under_test: &UnderTest) -> Vec<Finding> {
    first(under_test.play(Terms::default(), async |play: &mut Play| {
        play.initialize(1).await?;
        let Some(server) = play.session("s").await?.as_ref().and_then(server) else {
            // The component has no offers, or lacks the power `tools`.
            return Ok(());
        };
        let mut caller = Caller { play, server };
        if caller.play.offers.has(Offer::Tools) {
            caller.tools().await?;
        }
        if caller.play.offers.has(Offer::Resources) {
            caller.resources().await?;
        }
        if caller.play.offers.has(Offer::Prompts) {
            caller.prompts().await?;
        }
        if caller.play.offers.has(Offer::Completion) {
            caller.completion().await?;
        }
        Ok(())
    }))
}

/// The id of the server that is announced to the agent.
fn server(setup: &Message) -> Option<String> {
    let params: Value = serde_json::from_str(setup.body()).ok()?;
    let servers = params.get("mcpServers")?.as_array()?;
    let id = servers.iter().find_map(|server| server.get("serverId"))?;
    Some(id.as_str()?.to_owned())
}

/// The agent, calling the component's MCP server.
struct Caller<'a> {
    play: &'a mut Play,
    server: String,
}

impl Caller<'_> {
    async fn tools(&mut self) -> Result<(), Stop> {
        let tools = self.list(Offer::Tools, "tools").await?;
        let unknown = json!({ "name": "no-such-tool", "arguments": {} });
        self.call("tools/call", &unknown).await?;
        for tool in &tools {
            let (name, schema) = (&tool["name"], &tool["inputSchema"]);
            let right = sample(schema, DEEPEST);
            let mut more = right.clone();
            more["no-such-argument"] = json!(true);
            for arguments in [
                right.clone(),
                json!({}),
                json!([]),
                json!("x"),
                Value::Null,
                with(&right, &Value::Null),
                with(&right, &json!([[1e9, { "a": [] }]])),
                with(&right, &json!("x".repeat(HUGE))),
                more,
            ] {
                let params = json!({ "name": name, "arguments": arguments });
                self.call("tools/call", &params).await?;
            }
            self.call_and_cancel("tools/call", &json!({ "name": name, "arguments": right }))
                .await?;
        }
        Ok(())
    }

    async fn resources(&mut self) -> Result<(), Stop> {
        let resources = self.list(Offer::Resources, "resources").await?;
        let known = resources.iter().map(|resource| resource["uri"].clone());
        let odd = ["nowhere://nothing", "", "no uri at all"].map(Value::from);
        for uri in known.chain(odd).collect::<Vec<_>>() {
            let params = json!({ "uri": uri });
            self.call("resources/read", &params).await?;
            self.call_and_cancel("resources/read", &params).await?;
        }
        Ok(())
    }

    async fn prompts(&mut self) -> Result<(), Stop> {
        let prompts = self.list(Offer::Prompts, "prompts").await?;
        self.call("prompts/get", &json!({ "name": "no-such-prompt" }))
            .await?;
        for prompt in &prompts {
            let arguments = prompt["arguments"].as_array();
            let names = arguments.into_iter().flatten();
            let names: Vec<_> = names.filter_map(|one| one["name"].as_str()).collect();
            let of = |text: &str| -> Map<String, Value> {
                let all = names.iter();
                all.map(|name| ((*name).to_owned(), text.into())).collect()
            };
            for arguments in [of("a"), of(&"x".repeat(HUGE)), Map::new()] {
                let params = json!({ "name": prompt["name"], "arguments": arguments });
                self.call("prompts/get", &params).await?;
            }
            let params = json!({ "name": prompt["name"], "arguments": of("a") });
            self.call_and_cancel("prompts/get", &params).await?;
        }
        Ok(())
    }

    async fn completion(&mut self) -> Result<(), Stop> {
        let prompt = json!({ "type": "ref/prompt", "name": "no-such-prompt" });
        let resource = json!({ "type": "ref/resource", "uri": "nowhere://{a}" });
        for (reference, value) in [(prompt, String::new()), (resource, "x".repeat(HUGE))] {
            let argument = json!({ "name": "a", "value": value });
            let params = json!({ "ref": reference, "argument": argument });
            self.call("completion/complete", &params).await?;
            self.call_and_cancel("completion/complete", &params).await?;
        }
        Ok(())
    }

    /// Requests the list of one kind of offer.
    async fn list(&mut self, offer: Offer, member: &str) -> Result<Vec<Value>, Stop> {
        let ask = self.ask(offer.list(), &json!({})).await?;
        self.play.rest().await?;
        self.play.check_answers(&[ask])?;
        let lists = self.play.seen.lock().lists.clone();
        let Some((_, list)) = lists.iter().rfind(|(other, _)| *other == offer) else {
            let what = format!("it does not list its {}", offer.as_str());
            let refused = self.undecided(0);
            return Err(Finding::failure(format!("{what}{refused}")).into());
        };
        let wrong = match Catalog::read(list) {
            Ok(catalog) => catalog.left_out(),
            Err(wrong) => Some(wrong),
        };
        if let Some(wrong) = wrong {
            let what = format!("some of its {} are left out: {wrong}", offer.as_str());
            let remedy =
                "list each under a unique name, with a JSON Schema of objects as `inputSchema`";
            return Err(Finding::failure(quote(&what, MAX_QUOTE))
                .with_remedy(remedy)
                .into());
        }
        let list: Value = serde_json::from_str(list).unwrap_or_default();
        let all = list[member].as_array().cloned().unwrap_or_default();
        Ok(all.into_iter().take(MAX_CALLS).collect())
    }

    async fn ask(&mut self, method: &str, params: &Value) -> Result<Ask, Stop> {
        let mut params = params.to_string();
        // After the existing members; an object has members here, or none.
        let comma = if params == "{}" { "" } else { "," };
        params.pop();
        let server = plain(&self.server);
        let message = format!(
            r#"{{"serverId":{server},"requestId":"c{}","method":"{method}","params":{params}{comma}"_meta":{META}}}}}"#,
            self.play.count
        );
        self.play.ask(Peer::Agent, "mcp/message", &message).await
    }

    /// Makes a call, and waits for its answer; cancels it if there is none.
    async fn call(&mut self, method: &str, params: &Value) -> Result<(), Stop> {
        let from = self.play.seen.lock().calls.len();
        let ask = self.ask(method, params).await?;
        self.play.rest().await?;
        self.play.take_all(Peer::Agent);
        if self.play.answers(&ask).is_empty() {
            // The component may wait for a user.
            self.play.cancel(&ask).await?;
            self.play.rest().await?;
        }
        self.check(from, &ask, method, params)
    }

    /// Makes a call, and cancels it at once.
    async fn call_and_cancel(&mut self, method: &str, params: &Value) -> Result<(), Stop> {
        let from = self.play.seen.lock().calls.len();
        let ask = self.ask(method, params).await?;
        self.play.cancel(&ask).await?;
        self.play.rest().await?;
        self.play.take_all(Peer::Agent);
        self.check(from, &ask, method, params)
    }

    fn check(&mut self, from: usize, ask: &Ask, method: &str, params: &Value) -> Result<(), Stop> {
        let shown = line(' ', "agent", method, &params.to_string());
        let with = |finding: Finding| Stop::Found(finding.with_case([shown.clone()]));
        self.play
            .check_answers(std::slice::from_ref(ask))
            .map_err(with)?;
        self.play
            .check_held("after it was cancelled")
            .map_err(with)?;
        let undecided = self.undecided(from);
        if !undecided.is_empty() {
            return Err(with(Finding::failure(format!(
                "it does not answer `{method}`{undecided}"
            ))));
        }
        let state = self.play.seen.lock();
        let mut calls = state.calls[from..].iter().rev();
        let answered = calls.find_map(|called| match &called.outcome {
            Outcome::Decided(Action::Answer(answer)) if called.message.is_some() => {
                Some(answer.clone())
            }
            _ => None,
        });
        drop(state);
        let came = self.play.answers(ask).pop();
        let refused = came.as_ref().and_then(|came| match came.kind() {
            Kind::Error => Some(came.body()),
            _ => member(came.body(), "error"),
        });
        match (answered, refused) {
            (Some(answer), Some(refused)) if answer.kind() == Kind::Result => {
                let error = serde_json::from_str::<Error>(refused);
                let why = error.map_or_else(|_| refused.to_owned(), |error| error.message);
                let what = format!(
                    "its answer to `{method}` is not an MCP result: {}",
                    quote(&why, MAX_QUOTE)
                );
                let answer = line('+', "it answers", "result", answer.body());
                Err(with(Finding::failure(what)
                    .with_remedy("answer with the result that MCP defines for the call: for a tool, an object with `content`")
                    .with_case([answer])))
            }
            _ => Ok(()),
        }
    }

    /// The reason that the component gave for not answering a call, to end a sentence; empty without one.
    fn undecided(&self, from: usize) -> String {
        let state = self.play.seen.lock();
        let mut calls = state.calls[from..].iter();
        let why = calls.find_map(|called| match &called.outcome {
            Outcome::Refused(reason) if called.is_offer => Some(reason),
            _ => None,
        });
        why.map_or(String::new(), |why| format!(": {}", quote(why, MAX_QUOTE)))
    }
}

/// An object with the same keys, all with this value.
fn with(object: &Value, value: &Value) -> Value {
    let members = object.as_object().into_iter().flatten();
    let members = members.map(|(name, _)| (name.clone(), value.clone()));
    Value::Object(members.collect())
}

/// A simple value that a schema may allow.
fn sample(schema: &Value, depth: usize) -> Value {
    if let Some(only) = schema.get("const") {
        return only.clone();
    }
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    for union in ["anyOf", "oneOf", "allOf"] {
        if let Some(first) = schema[union].get(0).filter(|_| depth > 0) {
            return sample(first, depth - 1);
        }
    }
    let kind = schema["type"].as_str();
    let kind = kind.or_else(|| schema["type"].get(0)?.as_str());
    let is_object = schema.get("properties").is_some();
    match kind.unwrap_or(if is_object { "object" } else { "string" }) {
        "object" => {
            let properties = schema["properties"].as_object();
            let properties = properties.into_iter().flatten().filter(|_| depth > 0);
            let members =
                properties.map(|(name, schema)| (name.clone(), sample(schema, depth - 1)));
            Value::Object(members.collect())
        }
        "array" => Value::Array(Vec::new()),
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or(json!(1)),
        "boolean" => json!(true),
        "null" => Value::Null,
        _ => json!("a"),
    }
}
