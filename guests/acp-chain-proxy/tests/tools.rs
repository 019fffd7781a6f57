//! Tools: listings, results, failures, and calls that wait.

use std::cell::Cell;

use acp_chain_proxy::testing::{Host, Progress, SentKind};
use acp_chain_proxy::{
    Call, ChannelError, Content, Error, Json, NoArguments, Peer, ProtocolError, Proxy, Result,
    Structured, Tool, ToolResult, Tools, export, tools_changed,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Default)]
struct Bench {
    more: Cell<bool>,
}

/// What to add up.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Add {
    /// Numbers, each with a name.
    numbers: Vec<Number>,
}

#[derive(Deserialize, JsonSchema)]
struct Number {
    value: u32,
    name: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: u32,
    names: Vec<String>,
}

/// A tree refers to itself.
#[derive(Deserialize, JsonSchema)]
struct Tree {
    children: Vec<Tree>,
}

#[allow(
    clippy::unused_async,
    reason = "a tool is an async fn, also if it waits for nothing"
)]
impl Bench {
    async fn add(&self, call: Call<Add>) -> Result<Structured<Sum>> {
        let numbers = call.arguments.numbers;
        Ok(Structured(Sum {
            sum: numbers.iter().map(|number| number.value).sum(),
            names: numbers
                .into_iter()
                .filter_map(|number| number.name)
                .collect(),
        }))
    }

    async fn depth(&self, call: Call<Tree>) -> Result<String> {
        Ok(call.arguments.children.len().to_string())
    }

    async fn fail(&self, call: Call<Json>) -> Result<&'static str> {
        match call.arguments.at::<i32>("/code") {
            Some(code) => Err(ProtocolError(Error::new(code, "not like this")).into()),
            None => Err("the cellar is flooded".into()),
        }
    }

    async fn spell(&self, call: Call<Json>) -> Result<String> {
        Ok(call.arguments.to_string())
    }

    /// Sends the client two requests at once, and reports its progress.
    async fn ask(&self, call: Call<NoArguments>) -> Result<Vec<Content>> {
        let file = |path| json!({ "sessionId": call.session, "path": path });
        let one = Peer::Client.request("fs/read_text_file", file("/1"));
        let two = Peer::Client.request("fs/read_text_file", file("/2"));
        let one = one.await?;
        call.progress(1.0, Some(2.0), Some("one file of two"));
        let two = two.await?;
        let texts = [one, two].map(|file| file.at::<String>("/content").unwrap_or_default());
        Ok(texts.iter().map(|text| Content::text(text)).collect())
    }

    async fn grow(&self, _: Call<NoArguments>) -> Result<ToolResult> {
        self.more.set(true);
        tools_changed()?;
        ToolResult::structured(&[Content::text("there is more")], &json!({ "more": 1 }))
    }
}

impl Proxy for Bench {}

impl Tools for Bench {
    fn tools(&self, session: Option<&str>) -> Vec<Tool<Self>> {
        let object = json!({ "type": "object" });
        let mut tools = vec![
            Tool::new("add", "Adds numbers up.", Self::add)
                .title("Sum")
                .read_only()
                .closed_world(),
            Tool::new("depth", "How deep it is.", Self::depth),
            Tool::raw("fail", "Fails.", &object, Self::fail),
            Tool::new("ask", "Reads two files.", Self::ask).idempotent(),
            Tool::new("grow", "Adds a tool.", Self::grow)
                .only_adds()
                .output_schema(&object),
            Tool::raw("spell", "Says its arguments.", &object, Self::spell),
        ];
        if self.more.get() {
            tools.push(Tool::raw(
                "more",
                "One more.",
                r#"{"type":"object"}"#,
                Self::fail,
            ));
        }
        if session == Some("broken") {
            tools.push(Tool::raw("broken", "Is none.", "{", Self::fail));
        }
        tools
    }

    fn instructions(&self, session: Option<&str>) -> Option<String> {
        session.map(|session| format!("This is {session}."))
    }
}

export!(Bench: Tools);

fn host() -> Host {
    let mut host = Host::start_exported::<Bench>(json!({})).expect("takes no configuration");
    host.powers(&["files.read", "tools"]);
    host
}

/// Calls a tool that does not wait.
fn call(host: &mut Host, name: &str, arguments: Value) -> Value {
    let call = host.call_tool(Some("s"), name, arguments);
    let outcome = host.result(call).expect("the call is done");
    outcome.expect("no error of the protocol")
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().expect("a text")
}

#[test]
fn a_tool_is_listed_with_plain_schemas_of_its_types() {
    let catalog = host().list_tools(Some("s")).expect("tools");
    assert_eq!(catalog.instructions.as_deref(), Some("This is s."));
    assert_eq!(
        catalog.tools[0],
        json!({
            "name": "add",
            "title": "Sum",
            "description": "Adds numbers up.",
            "annotations": { "readOnlyHint": true, "openWorldHint": false },
            "inputSchema": {
                "type": "object",
                "description": "What to add up.",
                "additionalProperties": false,
                "properties": {
                    "numbers": {
                        "type": "array",
                        "description": "Numbers, each with a name.",
                        "items": {
                            "type": "object",
                            "properties": {
                                "value": { "type": "integer", "minimum": 0 },
                                "name": { "type": ["string", "null"] },
                            },
                            "required": ["value"],
                        },
                    },
                },
                "required": ["numbers"],
            },
            "outputSchema": {
                "type": "object",
                "properties": {
                    "sum": { "type": "integer", "minimum": 0 },
                    "names": { "type": "array", "items": { "type": "string" } },
                },
                "required": ["sum", "names"],
            },
        })
    );
}

#[test]
fn a_raw_tool_gets_its_arguments_as_they_were_spelt() {
    let spelling = r#"{"n":1e400,"a":"\u0041"}"#;
    let arguments: Json = spelling.parse().expect("JSON");
    let mut host = host();
    let call = host.call_tool(Some("s"), "spell", &arguments);
    let outcome = host.result(call).expect("the call is done");
    assert_eq!(text(&outcome.expect("no error")), spelling);
}

#[test]
fn a_type_that_refers_to_itself_keeps_its_definitions() {
    let tools = host().list_tools(None).expect("tools").tools;
    let schema = &tools[1]["inputSchema"];
    let children = &schema["properties"]["children"]["items"]["$ref"];
    let place = children.as_str().and_then(|place| place.strip_prefix('#'));
    let definition = schema.pointer(place.expect("a reference within the schema"));
    assert_eq!(
        definition.expect("it is there")["type"],
        "object",
        "{schema}"
    );
}

#[test]
fn a_tool_without_arguments_takes_an_empty_object() {
    let tools = host().list_tools(None).expect("tools").tools;
    let schema = json!({ "type": "object", "properties": {} });
    assert_eq!(tools[3]["inputSchema"], schema);
}

#[test]
fn hints_and_raw_schemas_are_listed_as_they_are_given() {
    let tools = host().list_tools(None).expect("tools").tools;
    assert_eq!(tools[2]["inputSchema"], json!({ "type": "object" }));
    assert_eq!(tools[3]["annotations"], json!({ "idempotentHint": true }));
    assert_eq!(tools[4]["annotations"], json!({ "destructiveHint": false }));
    assert_eq!(tools[4]["outputSchema"], json!({ "type": "object" }));
}

#[test]
fn a_schema_that_is_not_json_makes_a_list_that_names_the_tool() {
    let error = host().list_tools(Some("broken")).expect_err("no tools");
    assert!(
        error.starts_with("the tool `broken` cannot be listed: "),
        "{error}"
    );
}

#[test]
fn structured_content_comes_as_data_and_as_text() {
    let numbers = json!({ "numbers": [{ "value": 1, "name": "one" }, { "value": 2 }] });
    let result = call(&mut host(), "add", numbers);
    assert_eq!(
        result["structuredContent"],
        json!({ "sum": 3, "names": ["one"] })
    );
    assert_eq!(text(&result), r#"{"sum":3,"names":["one"]}"#);
    assert_eq!(result.get("isError"), None);
}

#[test]
fn malformed_arguments_fail_the_tool_and_are_named() {
    for (arguments, expected) in [
        (
            json!({ "numbers": [{ "value": 1 }, { "value": "two" }] }),
            "malformed argument `numbers[1].value`: invalid type: string \"two\", expected u32",
        ),
        (json!({}), "malformed arguments: missing field `numbers`"),
        (
            json!({ "numbers": [], "more": 1 }),
            "malformed argument `more`: unknown field `more`, expected `numbers`",
        ),
    ] {
        let result = call(&mut host(), "add", arguments);
        assert_eq!(
            (text(&result), &result["isError"]),
            (expected, &json!(true))
        );
    }
}

#[test]
fn a_failure_is_for_the_model_and_an_error_of_the_protocol_is_not() {
    let mut host = host();
    let result = call(&mut host, "fail", json!({}));
    assert_eq!(text(&result), "the cellar is flooded");
    assert_eq!(result["isError"], true);
    let call = host.call_tool(None, "fail", json!({ "code": -32602 }));
    let error = host
        .result(call)
        .expect("it is done")
        .expect_err("an error");
    assert_eq!((error.code, &*error.message), (-32602, "not like this"));
}

#[test]
fn a_call_that_waits_is_pending_and_reports_its_progress() {
    let mut host = host();
    let call = host.call_tool(Some("s"), "ask", json!({}));
    let asked = host.sent();
    assert_eq!((asked.len(), host.held()), (2, vec![call]));
    assert_eq!(asked[0].at("/sessionId"), "s");
    host.answer(asked[0].id, json!({ "content": "1" }));
    assert_eq!(host.result(call), None);
    let report = Progress {
        progress: 1.0,
        total: Some(2.0),
        message: Some("one file of two".into()),
    };
    assert_eq!(host.progress(call), [report]);
    host.answer(asked[1].id, json!({ "content": "2" }));
    let result = host.result(call).expect("it is done").expect("a result");
    let block = |text| json!({ "type": "text", "text": text });
    assert_eq!(result["content"], json!([block("1"), block("2")]));
    assert!(host.held().is_empty());
}

#[test]
fn a_neighbours_error_is_a_failure_of_the_tool() {
    let mut host = host();
    let call = host.call_tool(None, "ask", json!({}));
    let asked = host.sent();
    host.fail(asked[0].id, Error::new(-32002, "Resource not found"));
    let result = host.result(call).expect("it is done").expect("a result");
    assert_eq!(text(&result), "Resource not found (-32002)");
}

#[test]
fn a_cancelled_call_cancels_its_requests() {
    let mut host = host();
    let call = host.call_tool(None, "ask", json!({}));
    let asked = host.sent();
    host.cancel(call);
    let withdrawn: Vec<_> = host
        .sent()
        .iter()
        .map(|sent| (sent.what, sent.id))
        .collect();
    assert_eq!(
        withdrawn,
        [
            (SentKind::Cancel, asked[0].id),
            (SentKind::Cancel, asked[1].id)
        ]
    );
    let error = host
        .result(call)
        .expect("it is settled")
        .expect_err("an error");
    assert_eq!(error.code, Error::CANCELLED);
}

#[test]
fn a_proxy_that_breaks_loses_its_calls_and_keeps_its_tools() {
    let mut host = host();
    let pending = host.call_tool(None, "ask", json!({}));
    host.restart().expect("it starts again");
    assert!(host.result(pending).expect("it is refused").is_err());
    assert_eq!(
        text(&call(&mut host, "fail", json!({}))),
        "the cellar is flooded"
    );
}

#[test]
fn tools_that_come_later_are_announced_and_can_be_called() {
    let mut host = host();
    let before = host.list_tools(None).expect("tools").tools.len();
    let result = call(&mut host, "grow", json!({}));
    assert_eq!(result["structuredContent"], json!({ "more": 1 }));
    assert!(host.tools_changed() && !host.tools_changed());
    assert_eq!(
        host.list_tools(None).expect("tools").tools.len(),
        before + 1
    );
    call(&mut host, "more", json!({}));
}

#[test]
fn without_the_grant_there_are_no_tools() {
    let mut host = host();
    host.powers(&[]);
    assert!(host.list_tools(None).is_err());
    assert!(matches!(tools_changed(), Err(ChannelError::Denied(_))));
}

#[test]
fn content_is_of_the_shape_that_mcp_gives_it() {
    let blocks = [
        Content::image("AAAA", "image/png"),
        Content::audio("AAAA", "audio/wav"),
        Content::link("file:///a", "a"),
        Content::raw(json!({ "type": "new" }).into()),
    ];
    assert_eq!(
        serde_json::to_value(blocks).expect("JSON"),
        json!([
            { "type": "image", "data": "AAAA", "mimeType": "image/png" },
            { "type": "audio", "data": "AAAA", "mimeType": "audio/wav" },
            { "type": "resource_link", "uri": "file:///a", "name": "a" },
            { "type": "new" },
        ])
    );
}
