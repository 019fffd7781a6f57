//! The messages of clients and a component to the server between them, line by line: for tools here, for the rest in
//! submodules.

mod asks;
mod prompts;
mod resources;

use super::ComponentProvider;
use super::channel::FromComponent;
use crate::seat::{Input, Seat};
use crate::tests::transcript::{META, Table, alone, kept, request};
use acp_chain_channel::{Change, Offer};

const TOOLS: &str = r#"{"instructions":"Be nice","tools":[
    {"name":"add","inputSchema":{"type":"object","properties":{"a":{"type":"number"}},"required":["a"]},
     "x":1e400},
    {"name":"sum","inputSchema":{"type":"object"},
     "outputSchema":{"type":"object","required":["s"]}}]}"#;

const TOOLS_CHANGED: Change = Change::List(Offer::Tools);

fn server() -> Table<ComponentProvider> {
    Table::new(ComponentProvider::new(
        "calc",
        [Offer::Tools].into_iter().collect(),
        &kept(),
    ))
}

/// A server with a client of this version on connection 1, which has listed the tools.
fn initialized(version: &str) -> Table<ComponentProvider> {
    let mut table = server();
    table.connect(1);
    let params = format!(r#"{{"protocolVersion":"{version}","capabilities":{{}}}}"#);
    table.on(1, "initialize", &params);
    table.result(1, TOOLS);
    table.tell(1, "notifications/initialized", "null");
    table
}

#[test]
fn a_client_of_an_older_version_connects_lists_and_calls() {
    let mut table = server();
    assert_eq!(
        table.connect(1),
        [r#"answer 1: result {"connectionId":"acp-chain-1"}"#]
    );
    assert_eq!(
        table.on(1, "initialize", r#"{"protocolVersion":"2025-06-18"}"#),
        ["list tools 1"]
    );
    assert_eq!(
        table.result(1, TOOLS),
        [concat!(
            r#"answer 2: result {"protocolVersion":"2025-06-18","#,
            r#""capabilities":{"tools":{"listChanged":true}},"#,
            r#""serverInfo":{"name":"calc","version":"0.1.0"},"instructions":"Be nice"}"#
        )]
    );
    assert!(
        table
            .tell(1, "notifications/initialized", "null")
            .is_empty()
    );
    assert_eq!(table.on(1, "ping", "null"), ["answer 3: result {}"]);
    let listed = table.on(1, "tools/list", "{}");
    assert!(listed[0].starts_with(r#"answer 4: result {"tools":[{"name":"add","#));
    assert!(listed[0].contains(r#""x":1e400},{"name":"sum""#));
    assert!(!listed[0].contains("resultType") && !listed[0].contains("nextCursor"));
    assert_eq!(
        table.on(1, "tools/call", r#"{"name":"add","arguments":{"a":1.50}}"#),
        [r#"call 2: tools/call {"name":"add","arguments":{"a":1.50}}"#]
    );
    assert_eq!(
        table.result(2, r#"{"content":[{"type":"text","text":"2"}],"z":1e400}"#),
        [r#"answer 5: result {"content":[{"type":"text","text":"2"}],"z":1e400}"#]
    );
}

#[test]
fn the_clients_version_is_negotiated_or_else_the_newest_with_initialize() {
    for (asked, given) in [
        ("2025-03-26", "2025-03-26"),
        ("2025-11-25", "2025-11-25"),
        ("2024-11-05", "2024-11-05"),
        ("2024-10-07", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
    ] {
        let mut table = server();
        table.connect(1);
        table.on(
            1,
            "initialize",
            &format!(r#"{{"protocolVersion":"{asked}"}}"#),
        );
        let answer = table.result(1, r#"{"tools":[]}"#);
        assert!(answer[0].contains(&format!(r#""protocolVersion":"{given}""#)));
    }
}

#[test]
fn a_request_that_stands_alone_names_its_version() {
    let mut table = server();
    assert_eq!(table.alone("r", "server/discover", ""), ["list tools 1"]);
    assert_eq!(
        table.result(1, TOOLS),
        [concat!(
            r#"answer 1: result {"#,
            r#""supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"#,
            r#""capabilities":{"tools":{"listChanged":true}},"instructions":"Be nice","#,
            r#""resultType":"complete","ttlMs":0,"cacheScope":"private","#,
            r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"calc","version":"0.1.0"}}}"#
        )]
    );
    assert_eq!(
        table.alone("r", "tools/call", r#""name":"sum""#),
        [r#"call 2: tools/call {"name":"sum","arguments":{}}"#]
    );
    assert_eq!(
        table.result(2, r#"{"content":[],"structuredContent":{"s":1}}"#),
        [r#"answer 2: result {"content":[],"structuredContent":{"s":1},"resultType":"complete"}"#]
    );
    let mut say = |params: &str| {
        let caller = crate::seat::Caller::Request("r".into());
        table.take(request(9, caller, "\"r\"", "tools/list", params, false))
    };
    assert_eq!(
        say(r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2030-01-01"}}"#),
        [concat!(
            r#"answer 9: error {"code":-32022,"message":"Unsupported protocol version","#,
            r#""data":{"requested":"2030-01-01","#,
            r#""supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]}}"#
        )]
    );
    for lacks in [
        "{}",
        "[]",
        r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#,
    ] {
        assert!(say(lacks)[0].starts_with(r#"answer 9: error {"code":-32602,"#));
    }
}

#[test]
fn a_connection_serves_legacy_and_stateless_requests() {
    let mut table = server();
    table.connect(1);
    table.on(1, "server/discover", &alone(""));
    let answer = table.result(1, TOOLS);
    assert!(answer[0].contains(
        r#"{"supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]"#
    ));
    let answer = table.on(1, "initialize", r#"{"protocolVersion":"2025-11-25"}"#);
    assert!(answer[0].starts_with("answer 3: result"));
    assert!(table.on(1, "tools/list", &alone(""))[0].contains("resultType"));
    assert!(!table.on(1, "tools/list", "{}")[0].contains("resultType"));
    for (method, params) in [
        ("ping", alone("")),
        ("logging/setLevel", String::from("{}")),
        ("server/discover", String::from("{}")),
        ("subscriptions/listen", String::from("{}")),
        ("prompts/list", alone("")),
    ] {
        let answer = table.on(1, method, &params);
        assert!(answer[0].contains(r#"error {"code":-32601,"#), "{answer:?}");
    }
    let again = table.on(1, "initialize", r#"{"protocolVersion":"2025-11-25"}"#);
    assert!(again[0].contains("initialized already"));
}

#[test]
fn only_a_ping_is_allowed_before_initialize() {
    let mut table = server();
    table.connect(1);
    assert_eq!(table.on(1, "ping", "null"), ["answer 2: result {}"]);
    let refused = table.on(1, "tools/list", "null");
    assert!(refused[0].starts_with(
        r#"answer 3: error {"code":-32600,"message":"tools/list comes before `initialize`"#
    ));
    assert!(table.on(2, "ping", "null")[0].contains("There is no such connection"));
}

#[test]
fn a_long_list_has_pages_and_a_cursor_is_valid_for_one_list() {
    let tools = |count: usize| {
        let tool = |at| format!(r#"{{"name":"t{at}","inputSchema":{{"type":"object"}}}}"#);
        let tools: Vec<_> = (0..count).map(tool).collect();
        format!(r#"{{"tools":[{}]}}"#, tools.join(","))
    };
    let mut table = initialized("2025-11-25");
    table.changed(&TOOLS_CHANGED);
    table.on(1, "tools/list", "null");
    let first = table.result(2, &tools(201));
    assert!(
        first[0].ends_with(r#"],"nextCursor":"2.100"}"#),
        "{first:?}"
    );
    let second = table.on(1, "tools/list", r#"{"cursor":"2.100"}"#);
    assert!(second[0].contains(r#"[{"name":"t100","#) && second[0].contains(r#""2.200""#));
    let last = table.on(1, "tools/list", r#"{"cursor":"2.200"}"#);
    assert!(last[0].ends_with(r#"{"tools":[{"name":"t200","inputSchema":{"type":"object"}}]}"#));
    for cursor in [
        r#""1.100""#,
        r#""2.300""#,
        r#""2.7""#,
        r#""""#,
        "7",
        r#""2.99999999999999999999""#,
    ] {
        let answer = table.on(1, "tools/list", &format!(r#"{{"cursor":{cursor}}}"#));
        assert!(answer[0].contains(r#"error {"code":-32602,"#), "{cursor}");
    }
}

#[test]
fn mismatched_arguments_are_a_result_and_for_old_clients_an_error() {
    let call = r#"{"name":"add","arguments":{"a":"x"}}"#;
    let reason = r#"The arguments do not match the inputSchema of add at /a: \"x\" is not of type \"number\""#;
    assert_eq!(
        initialized("2025-06-18").on(1, "tools/call", call),
        [format!(
            r#"answer 3: error {{"code":-32602,"message":"{reason}"}}"#
        )]
    );
    assert_eq!(
        initialized("2025-11-25").on(1, "tools/call", call),
        [format!(
            r#"answer 3: result {{"content":[{{"type":"text","text":"{reason}"}}],"isError":true}}"#
        )]
    );
    let mut table = initialized("2025-11-25");
    let answer = table.alone("r", "tools/call", r#""name":"add","arguments":{"a":"x"}"#);
    assert!(answer[0].ends_with(r#""isError":true,"resultType":"complete"}"#));
    for (params, reason) in [
        (r#"{"name":"nope"}"#, "Unknown tool: nope"),
        ("{}", "tools/call lacks the name of a tool"),
        ("null", "tools/call lacks the name of a tool"),
        (
            r#"{"name":"add","arguments":[1]}"#,
            "The arguments of tools/call are not an object",
        ),
    ] {
        let answer = table.on(1, "tools/call", params);
        assert!(answer[0].ends_with(&format!(r#"{{"code":-32602,"message":"{reason}"}}"#)));
    }
}

#[test]
fn an_invalid_tool_is_left_out_and_the_others_stay() {
    for (wrong, reason) in [
        ("7", "tool 1 of its list is not an object"),
        (r#"{"name":"a b"}"#, "tool 1 of its list lacks a name"),
        (r#"{"name":""}"#, "tool 1 of its list lacks a name"),
        (r#"{"name":"a"}"#, r#"its tool "a" lacks an inputSchema"#),
        (
            r#"{"name":"a","inputSchema":{"type":"array"}}"#,
            r#"the inputSchema of its tool "a" is not a JSON Schema object"#,
        ),
        (
            r#"{"name":"a","inputSchema":{"type":"object"},"outputSchema":true}"#,
            r#"the outputSchema of its tool "a" is not a JSON Schema object"#,
        ),
        (
            r#"{"name":"a","inputSchema":{"type":"object","x-mcp-header":"A"}}"#,
            r#"the inputSchema of its tool "a" has the x-mcp-header"#,
        ),
        (
            r#"{"name":"\u0066ine","inputSchema":{"type":"object"}}"#,
            r#"it lists two tools "fine""#,
        ),
    ] {
        let fine = |name: &str| format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#);
        let list = format!(r#"{{"tools":[{},{wrong},{}]}}"#, fine("fine"), fine("too"));
        let mut table = server();
        table.alone("r", "tools/list", "");
        let listed = table.result(1, &list);
        let notice =
            format!("notice: of the proxy `calc`, tools that it lists are left out: {reason}");
        assert!(listed[0].starts_with(&notice), "{listed:?}");
        let tools = format!(
            r#"answer 1: result {{"tools":[{},{}],"#,
            fine("fine"),
            fine("too")
        );
        assert!(listed[1].starts_with(&tools), "{listed:?}");
        assert_eq!(
            table.alone("r", "tools/call", r#""name":"too""#),
            [r#"call 2: tools/call {"name":"too","arguments":{}}"#]
        );
    }
    let tool = |at| format!(r#"{{"name":"t{at}","inputSchema":{{"type":"object"}}}}"#);
    let many: Vec<_> = (0..1010).map(tool).collect();
    let mut table = server();
    table.alone("r", "tools/list", "");
    let listed = table.result(1, &format!(r#"{{"tools":[{}]}}"#, many.join(",")));
    assert!(
        listed[0].ends_with("is one of more than 1000; and 6 more."),
        "{}",
        listed[0]
    );
}

#[test]
fn a_malformed_list_is_an_error_that_names_the_proxy() {
    for (listed, reason) in [
        ("7", "its list is malformed"),
        (
            r#"{"instructions":7,"tools":[]}"#,
            "its instructions are not a string",
        ),
    ] {
        let mut table = server();
        table.connect(1);
        table.on(1, "initialize", r#"{"protocolVersion":"2025-11-25"}"#);
        // The client can connect nevertheless.
        let [notice, answer] = &table.result(1, listed)[..] else {
            panic!("a notice and an answer")
        };
        let expected = format!("notice: of the proxy `calc`, no tools are available: {reason}");
        assert!(notice.starts_with(&expected), "{notice}");
        assert!(answer.starts_with("answer 2: result"), "{answer}");
        assert_eq!(table.on(1, "tools/list", "null"), ["list tools 2"]);
        assert!(table.on(1, "tools/call", r#"{"name":"a"}"#).is_empty());
        // The conductor notifies the user once.
        let answers = table.result(2, listed).split_off(1);
        assert_eq!(answers.len(), 2);
        for answer in answers {
            let expected = format!(r#"The proxy \"calc\" is at fault: {reason}"#);
            assert!(answer.contains(&expected), "{answer}");
            assert!(answer.contains("-32603"));
        }
        // The list is requested again, as the component may have recovered.
        assert_eq!(table.on(1, "tools/list", "null"), ["list tools 3"]);
        assert!(table.result(3, TOOLS)[0].starts_with("answer 5: result"));
    }
    let mut table = server();
    table.alone("r", "tools/list", "");
    assert_eq!(
        table.error(1, r#"{"code":1,"message":"no disk"}"#),
        [concat!(
            r#"answer 1: error {"code":-32603,"message":"The proxy \"calc\" is at fault: "#,
            r#"it could not list its tools: no disk"}"#
        )]
    );
}

#[test]
fn an_invalid_result_is_an_error_that_names_proxy_and_tool() {
    for (result, reason) in [
        ("7", "it is not an object"),
        ("{}", "it lacks `content`"),
        (
            r#"{"content":{}}"#,
            "its `content` is not an array of objects with a `type`",
        ),
        (
            r#"{"content":[{"text":"x"}]}"#,
            "its `content` is not an array of objects with a `type`",
        ),
        (
            r#"{"content":[],"isError":1}"#,
            "its `isError` is neither true nor false",
        ),
        (r#"{"content":[]}"#, "it lacks the `structuredContent`"),
        (
            r#"{"content":[],"structuredContent":7}"#,
            "its `structuredContent` does not match the outputSchema at the top",
        ),
        (
            r#"{"content":[],"structuredContent":{}}"#,
            "its `structuredContent` does not match the outputSchema at the top",
        ),
        (
            r#"{"content":[],"structuredContent":{"s":1},"resultType":"task"}"#,
            r#"its `resultType` is not \"complete\""#,
        ),
    ] {
        let mut table = initialized("2025-11-25");
        table.on(1, "tools/call", r#"{"name":"sum"}"#);
        let answer = table.result(2, result);
        let expected = format!(
            r#"answer 3: error {{"code":-32603,"message":"The proxy \"calc\" is at fault: the result of its tool \"sum\" is not a CallToolResult: {reason}"#
        );
        assert!(answer[0].starts_with(&expected), "{answer:?}");
    }
    for fine in [
        r#"{"content":[],"isError":true}"#,
        r#"{"content":[{"type":"new","x":[]}],"structuredContent":{"s":null},"_meta":{"a":1}}"#,
    ] {
        let mut table = initialized("2025-11-25");
        table.on(1, "tools/call", r#"{"name":"sum"}"#);
        assert_eq!(table.result(2, fine), [format!("answer 3: result {fine}")]);
    }
    let mut table = initialized("2025-11-25");
    table.on(1, "tools/call", r#"{"name":"sum"}"#);
    assert_eq!(
        table.error(2, r#"{"code":-32001,"message":"not now","data":{"a":1}}"#),
        [r#"answer 3: error {"code":-32001,"message":"not now","data":{"a":1}}"#]
    );
}

/// In MCP 2026-07-28, an `outputSchema` can be any schema, and `structuredContent` any value.
#[test]
fn structured_content_may_be_any_value_and_older_clients_get_the_text() {
    for (schema, value) in [
        (r#"{"type":"array","items":{"type":"integer"}}"#, "[1]"),
        (r#"{"anyOf":[{"type":"object"},{"type":"null"}]}"#, "null"),
        (
            r##"{"$ref":"#/$defs/t","$defs":{"t":{"type":"string"}}}"##,
            r#""x""#,
        ),
        ("{}", "7"),
    ] {
        let tool =
            |output: &str| format!(r#"{{"name":"t","inputSchema":{{"type":"object"}}{output}}}"#);
        let with_output = tool(&format!(r#","outputSchema":{schema}"#));
        let list = format!(r#"{{"tools":[{with_output}]}}"#);
        let result = format!(r#"{{"content":[],"structuredContent":{value}}}"#);

        let mut newer = server();
        newer.alone("r", "tools/list", "");
        let listed = newer.result(1, &list);
        let tools = format!(r#"answer 1: result {{"tools":[{with_output}],"#);
        assert!(listed[0].starts_with(&tools), "{listed:?}");
        newer.alone("r", "tools/call", r#""name":"t""#);
        let answer = newer.result(2, &result);
        let structured = format!(r#""structuredContent":{value}"#);
        assert!(answer[0].contains(&structured), "{answer:?}");

        let mut older = server();
        older.connect(1);
        older.on(1, "initialize", r#"{"protocolVersion":"2025-11-25"}"#);
        older.result(1, &list);
        let listed = older.on(1, "tools/list", "null");
        let without = format!(r#"answer 3: result {{"tools":[{}]}}"#, tool(""));
        assert_eq!(listed, [without]);
        older.on(1, "tools/call", r#"{"name":"t"}"#);
        let answer = older.result(2, &result);
        assert_eq!(answer, [r#"answer 4: result {"content":[]}"#]);
    }
}

#[test]
fn arguments_are_accepted_as_models_write_them() {
    let schema = r#"{"type":"object","required":["paths"],"properties":{
        "paths":{"type":"array","items":{"type":"string"}},"depth":{"type":"integer"},
        "deep":{"type":"boolean"},"note":{"type":"string"},
        "range":{"anyOf":[{"type":"object","required":["from"]},{"type":"null"}]},
        "nested":{"type":"object","properties":{"at":{"type":"number"}}}}}"#;
    let list = format!(r#"{{"tools":[{{"name":"t","inputSchema":{schema}}}]}}"#);
    let call = |arguments: &str| {
        let mut table = server();
        table.alone(
            "r",
            "tools/call",
            &format!(r#""name":"t","arguments":{arguments}"#),
        );
        table.result(1, &list).remove(0)
    };
    for (sent, taken) in [
        // Matching values stay unchanged.
        (
            r#"{"paths":["[1]"],"note":"7"}"#,
            r#"{"paths":["[1]"],"note":"7"}"#,
        ),
        (r#"{"paths":"[\"a\", \"b\"]"}"#, r#"{"paths":["a", "b"]}"#),
        (
            r#"{ "paths":["a"], "depth":"2", "deep":" true ", "nested":{"at":"1.50"}}"#,
            r#"{ "paths":["a"], "depth":2, "deep":true, "nested":{"at":1.50}}"#,
        ),
        (
            r#"{"paths":[],"range":"{\"from\":1}"}"#,
            r#"{"paths":[],"range":{"from":1}}"#,
        ),
        (
            r#"{"paths":[],"range":null}"#,
            r#"{"paths":[],"range":null}"#,
        ),
        (
            r#"{"paths":[],"note":null,"depth":"null"}"#,
            r#"{"paths":[]}"#,
        ),
        (r#""{\"paths\":[]}""#, r#"{"paths":[]}"#),
    ] {
        let called = call(sent);
        let expected = format!(r#"call 2: tools/call {{"name":"t","arguments":{taken}"#);
        assert!(called.starts_with(&expected), "{sent}: {called}");
    }
    for (sent, reason) in [
        // More than one value, of another type, an element, required, or only a part of the value.
        (
            r#"{"paths":"[1] [2]"}"#,
            r#"at /paths: \"[1] [2]\" is not of type"#,
        ),
        (r#"{"paths":"{}"}"#, "at /paths: "),
        (r#"{"paths":[null]}"#, "at /paths/0: null is not of type"),
        (r#"{"paths":null}"#, "at /paths: null is not of type"),
        (r#"{"paths":["a"],"depth":"two"}"#, "at /depth: "),
        (r#"{"paths":"[7]"}"#, "at /paths: "),
    ] {
        let answer = call(sent);
        assert!(
            answer.contains(reason) && answer.contains(r#""isError":true"#),
            "{sent}: {answer}"
        );
    }
}

#[test]
fn a_change_of_the_list_is_reported_once_to_each_subscribed_client() {
    let mut table = initialized("2025-11-25");
    table.connect(2);
    table.on(2, "initialize", r#"{"protocolVersion":"2025-11-25"}"#);
    assert_eq!(
        table.alone(
            "l",
            "subscriptions/listen",
            r#""notifications":{"toolsListChanged":true,"promptsListChanged":true}"#
        ),
        [concat!(
            r#"tell l: notifications/subscriptions/acknowledged "#,
            r#"{"_meta":{"io.modelcontextprotocol/subscriptionId":"l"},"notifications":{"toolsListChanged":true}}"#
        )]
    );
    assert_eq!(
        table.on(2, "subscriptions/listen", &alone(r#""notifications":{}"#)),
        [concat!(
            r#"tell 2: notifications/subscriptions/acknowledged "#,
            r#"{"_meta":{"io.modelcontextprotocol/subscriptionId":"m6"},"notifications":{}}"#
        )]
    );
    assert_eq!(
        table.changed(&TOOLS_CHANGED),
        [
            "tell 1: notifications/tools/list_changed",
            concat!(
                r#"tell l: notifications/tools/list_changed "#,
                r#"{"_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}"#
            )
        ]
    );
    assert!(table.changed(&TOOLS_CHANGED).is_empty());
    assert_eq!(table.on(1, "tools/list", "null"), ["list tools 2"]);
    // The list in the pending answer may be outdated.
    assert_eq!(table.changed(&TOOLS_CHANGED).len(), 2);
    assert!(table.result(2, TOOLS)[0].starts_with("answer 7: result"));
    assert_eq!(table.on(1, "tools/list", "null"), ["list tools 3"]);
    assert_eq!(
        table.withdraw(5),
        [concat!(
            r#"answer 5: result {"resultType":"complete","#,
            r#""_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}"#
        )]
    );
}

#[test]
fn changes_reported_while_listing_do_not_make_clients_list_forever() {
    let mut table = initialized("2025-11-25");
    let changed = "tell 1: notifications/tools/list_changed";
    assert_eq!(table.changed(&TOOLS_CHANGED), [changed]);
    assert_eq!(table.on(1, "tools/list", "null"), ["list tools 2"]);
    assert_eq!(table.changed(&TOOLS_CHANGED), [changed]);
    assert!(table.changed(&TOOLS_CHANGED).is_empty());
    table.result(2, TOOLS);
    for question in 3..6 {
        let asked = table.on(1, "tools/list", "null");
        assert_eq!(asked, [format!("list tools {question}")]);
        assert!(table.changed(&TOOLS_CHANGED).is_empty());
        table.result(question, TOOLS);
    }
    // A report at another time is always passed on, and then one more while listing.
    table.on(1, "tools/list", "null");
    table.result(6, TOOLS);
    assert_eq!(table.changed(&TOOLS_CHANGED), [changed]);
    table.on(1, "tools/list", "null");
    assert_eq!(table.changed(&TOOLS_CHANGED), [changed]);
}

#[test]
fn progress_is_reported_to_callers_with_a_token_as_long_as_it_increases() {
    let mut table = initialized("2025-11-25");
    table.on(
        1,
        "tools/call",
        r#"{"name":"sum","_meta":{"progressToken":1.50}}"#,
    );
    let params = format!(r#"{{"name":"sum","_meta":{{{META},"progressToken":"\u0061"}}}}"#);
    table.on(1, "tools/call", &params);
    table.on(1, "tools/call", r#"{"name":"sum"}"#);
    let mut say = |question, progress, total, message| {
        table.take(Input::Component(FromComponent::Progress {
            question,
            progress,
            total,
            message,
        }))
    };
    assert_eq!(
        say(2, 1.0, Some(4.0), Some("a \"b\"")),
        [
            r#"tell 1: notifications/progress {"progressToken":1.50,"progress":1,"total":4,"message":"a \"b\""}"#
        ]
    );
    assert!(say(2, 1.0, None, None).is_empty());
    assert!(say(2, f64::NAN, None, None).is_empty());
    assert_eq!(
        say(2, 1.5, Some(f64::INFINITY), None),
        [r#"tell 1: notifications/progress {"progressToken":1.50,"progress":1.5}"#]
    );
    assert_eq!(
        say(3, 0.0, None, None),
        [r#"tell 1: notifications/progress {"progressToken":"\u0061","progress":0}"#]
    );
    assert!(say(4, 1.0, None, None).is_empty());
    assert!(say(9, 1.0, None, None).is_empty());
}

#[test]
fn a_cancelled_call_is_cancelled_at_the_component() {
    let mut table = initialized("2025-11-25");
    table.on(1, "tools/call", r#"{"name":"sum"}"#);
    assert_eq!(table.withdraw(3), ["withdraw 2"]);
    assert_eq!(
        table.error(2, r#"{"code":-32800,"message":"gone"}"#),
        [r#"answer 3: error {"code":-32800,"message":"gone"}"#]
    );
    table.on(1, "tools/call", r#"{"name":"sum"}"#);
    assert_eq!(table.withdraw(4), ["withdraw 3"]);
    table.changed(&TOOLS_CHANGED);
    table.on(1, "tools/call", r#"{"name":"sum"}"#);
    assert_eq!(
        table.withdraw(5),
        [r#"answer 5: error {"code":-32800,"message":"Request cancelled"}"#]
    );
}

#[test]
fn requests_that_wait_for_the_list_are_limited() {
    let mut table = server();
    let large = |size: usize| {
        let text = "x".repeat(size);
        format!(r#""name":"add","arguments":{{"a":1,"b":"{text}"}}"#)
    };
    assert_eq!(
        table.alone("a", "tools/call", &large(20 << 20)),
        ["list tools 1"]
    );
    let refused = table.alone("b", "tools/call", &large(1));
    assert!(
        refused[0].contains(r#"error {"code":-33000,"#),
        "{refused:?}"
    );
    assert!(table.alone("c", "tools/list", "").is_empty());
    table.withdraw(1);
    assert!(table.alone("d", "tools/call", &large(8 << 20)).is_empty());
    assert!(table.alone("e", "tools/call", &large(7 << 20)).is_empty());
    assert!(table.alone("f", "tools/call", &large(2 << 20))[0].contains("-33000"));
    assert_eq!(table.result(1, TOOLS).len(), 3);
    // No request waits any longer.
    assert!(table.alone("g", "tools/call", &large(20 << 20))[0].starts_with("call "));
}

#[test]
fn requests_that_waited_for_the_list_share_a_budget_for_checks() {
    let mut table = server();
    let text = "x".repeat(100_000);
    for id in 0..8 {
        let params = format!(r#""name":"add","arguments":{{"a":1,"b":"{text}"}}"#);
        table.alone(&id.to_string(), "tools/call", &params);
    }
    let served = table.result(1, TOOLS);
    let called = served.iter().filter(|line| line.starts_with("call "));
    assert_eq!(called.count(), 4);
    assert!(served[7].contains("are too large together; wait for one to end"));
    assert!(served[7].contains(r#"error {"code":-33000,"#));
    let params = format!(r#""name":"add","arguments":{{"a":1,"b":"{text}"}}"#);
    assert!(table.alone("8", "tools/call", &params)[0].starts_with("call "));
}

#[test]
fn answers_to_requests_that_waited_for_the_list_are_limited() {
    let mut table = server();
    for id in 0..40 {
        table.alone(&id.to_string(), "tools/list", "");
    }
    let text = "x".repeat(1_000_000);
    let tools =
        format!(r#"{{"tools":[{{"name":"t","x":"{text}","inputSchema":{{"type":"object"}}}}]}}"#);
    let served = table.result(1, &tools);
    let listed = served.iter().filter(|line| line.contains(": result"));
    assert_eq!((listed.count(), served.len()), (16, 40));
}

#[test]
fn more_than_a_thousand_open_requests_are_rejected() {
    let mut server = initialized("2025-11-25");
    for _ in 0..1024 {
        assert!(server.on(1, "tools/call", r#"{"name":"sum"}"#)[0].starts_with("call "));
    }
    let refused = server.on(1, "tools/call", r#"{"name":"sum"}"#);
    assert!(refused[0].contains(r#"error {"code":-33000,"#));
    let _ = server.seat.take(Input::Withdrawn { ask: 3 });
}
