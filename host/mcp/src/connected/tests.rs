//! The messages of callers and a provider with connections to the seat, line by line.

use super::ConnectedProvider;
use crate::seat::{Caller, Input, Seat};
use crate::tests::transcript::{META, Table, alone, kept, request};

fn seat() -> Table<ConnectedProvider> {
    Table::new(ConnectedProvider::new("srv", &kept()))
}

/// A seat with connection 1, which the provider calls `"p"`.
fn linked() -> Table<ConnectedProvider> {
    let mut table = seat();
    table.connect(1);
    table.result(1, r#"{"connectionId":"p"}"#);
    table
}

const DISCOVERED: &str = r#"{"supportedVersions":["2026-07-28"],"capabilities":{}}"#;

const INITIALIZED: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"logging":{},"tasks":{"list":{}},"resources":{"subscribe":true}},"serverInfo":{"name":"old","version":"1"},"instructions":"Be nice"}"#;

/// A seat with a caller whose requests stand alone, at a legacy provider. The seat's next request is number 4.
fn adapting() -> Table<ConnectedProvider> {
    let mut table = seat();
    table.alone("d", "server/discover", "");
    table.result(1, r#"{"connectionId":"p"}"#);
    table.error(2, r#"{"code":-32601,"message":"?"}"#);
    table.result(3, INITIALIZED);
    table
}

#[test]
fn messages_on_a_connection_pass_unchanged() {
    let mut table = seat();
    assert_eq!(
        table.connect(1),
        [r#"ask provider 1: mcp/connect {"acpId":"srv"}"#]
    );
    assert_eq!(
        table.result(1, r#"{"connectionId":"\u0070/1","_meta":{}}"#),
        [r#"answer 1: result {"connectionId":"acp-chain-1","_meta":{}}"#]
    );
    assert!(table.seat.has(Some("p/1"), None) && !table.seat.has(Some("1"), Some("p/1")));
    assert_eq!(
        table.on(1, "tools/call", r#"{"a" : 1e400}"#),
        [
            r#"ask provider 2: mcp/message {"connectionId":"\u0070/1","method":"tools/call","params":{"a" : 1e400}}"#
        ]
    );
    assert_eq!(
        table.provider_tells(
            r#"{"connectionId":"p/1","method":"notifications/progress","params":{"x" :1}}"#
        ),
        [r#"tell 1: notifications/progress {"x" :1}"#]
    );
    assert_eq!(
        table.provider_asks(r#"{"connectionId":"p\/1","method":"roots/list","params":null}"#),
        ["ask 1 3: roots/list"]
    );
    assert_eq!(
        table.result(3, r#"{"roots" :[]}"#),
        [r#"answer 3: result {"roots" :[]}"#]
    );
    assert_eq!(
        table.error(2, r#"{"code":7,"message":"m","data":null}"#)[0],
        r#"answer 2: error {"code":7,"message":"m"}"#
    );
    assert_eq!(
        table.tell(1, "notifications/roots/list_changed", "null"),
        [
            r#"tell provider: {"connectionId":"\u0070/1","method":"notifications/roots/list_changed"}"#
        ]
    );
    assert_eq!(
        table.disconnect(1),
        [r#"ask provider 4: mcp/disconnect {"connectionId":"\u0070/1"}"#]
    );
    assert!(!table.seat.has(Some("p/1"), None));
    assert_eq!(table.result(4, "{}"), ["answer 4: result {}"]);
}

#[test]
fn messages_wait_until_their_connection_is_open() {
    let mut table = seat();
    table.connect(1);
    assert!(table.on(1, "initialize", "{}").is_empty());
    assert!(table.on(1, "ping", "null").is_empty());
    assert!(table.tell(1, "x", "{}").is_empty());
    assert_eq!(
        table.withdraw(3),
        [r#"answer 3: error {"code":-32800,"message":"Request cancelled"}"#]
    );
    assert_eq!(
        table.result(1, r#"{"connectionId":"p"}"#),
        [
            r#"answer 1: result {"connectionId":"acp-chain-1"}"#,
            r#"ask provider 2: mcp/message {"connectionId":"p","method":"initialize","params":{}}"#,
            r#"tell provider: {"connectionId":"p","method":"x","params":{}}"#
        ]
    );
}

#[test]
fn requests_fail_with_the_connection_that_they_wait_for() {
    let mut table = seat();
    table.connect(1);
    table.on(1, "initialize", "{}");
    assert_eq!(
        table.error(1, r#"{"code":-32002,"message":"no"}"#),
        [
            r#"answer 1: error {"code":-32002,"message":"no"}"#,
            r#"answer 2: error {"code":-32002,"message":"no"}"#
        ]
    );
    for id in ["{}", r#"{"connectionId":7}"#, r#"{"connectionId":null}"#] {
        let mut table = seat();
        table.connect(1);
        assert_eq!(
            table.result(1, id),
            [concat!(
                r#"answer 1: error {"code":-32603,"message":"The provider of the MCP server \"srv\" "#,
                r#"answered mcp/connect without a connectionId"}"#
            )]
        );
    }
}

#[test]
fn a_connection_id_that_is_in_use_is_rejected() {
    let mut table = linked();
    table.connect(2);
    assert_eq!(
        table.result(2, r#"{"connectionId":"\u0070"}"#),
        [concat!(
            r#"answer 2: error {"code":-32603,"message":"The provider of the MCP server \"srv\" "#,
            r#"gave two connections the same connectionId"}"#
        )]
    );
    table.disconnect(1);
    table.connect(3);
    assert!(table.result(4, r#"{"connectionId":"p"}"#)[0].starts_with("answer 4: result"));
}

#[test]
fn a_provider_reaches_only_connections_that_are_open() {
    let mut table = linked();
    for (params, reason) in [
        (
            r#"{"connectionId":"q","method":"ping"}"#,
            r#"The MCP server \"srv\" has no connection \"q\", or it is closed"#,
        ),
        (
            r#"{"connectionId":1,"method":"ping"}"#,
            "mcp/message lacks a connectionId, a string",
        ),
        (
            r#"{"connectionId":"p"}"#,
            "mcp/message lacks a method, a string",
        ),
        ("[]", "mcp/message lacks a connectionId, a string"),
    ] {
        let answer = table.provider_asks(params);
        assert!(
            answer[0].ends_with(&format!(r#"error {{"code":-32602,"message":"{reason}"}}"#)),
            "{answer:?}"
        );
        assert!(table.provider_tells(params).is_empty());
        let why = reason.replace(r#"\""#, r#"""#);
        let dropped =
            format!("the MCP server \"srv\": dropped a notification from its provider: {why}");
        assert_eq!(table.drops.last(), Some(&dropped));
    }
    table.disconnect(1);
    let answer = table.provider_asks(r#"{"connectionId":"p","method":"ping"}"#);
    assert!(answer[0].contains("or it is closed"));
}

#[test]
fn a_connection_that_is_cancelled_while_it_opens_is_closed() {
    let mut table = seat();
    table.connect(1);
    table.on(1, "ping", "null");
    assert_eq!(
        table.withdraw(1),
        [
            "withdraw 1",
            r#"answer 1: error {"code":-32800,"message":"Request cancelled"}"#,
            r#"answer 2: error {"code":-32800,"message":"Request cancelled"}"#
        ]
    );
    assert_eq!(
        table.result(1, r#"{"connectionId":"p"}"#),
        [r#"ask provider 2: mcp/disconnect {"connectionId":"p"}"#]
    );
    table.connect(2);
    assert_eq!(
        table.disconnect(2),
        [
            r#"answer 3: error {"code":-32800,"message":"Request cancelled"}"#,
            "withdraw 3",
            "answer 4: result {}"
        ]
    );
}

#[test]
fn a_request_cancelled_on_one_hop_is_cancelled_on_the_next() {
    let mut table = linked();
    table.on(1, "tools/call", "{}");
    assert_eq!(table.withdraw(2), ["withdraw 2"]);
    // The id is valid on another hop, and here it may be that of another request.
    assert!(
        table
            .provider_tells(
                r#"{"connectionId":"p","method":"notifications/cancelled","params":{"requestId":1}}"#
            )
            .is_empty()
    );
    table.provider_asks(r#"{"connectionId":"p","method":"roots/list"}"#);
    assert_eq!(table.withdraw(3), ["withdraw 3"]);
}

#[test]
fn a_subscription_has_the_id_of_its_callers_request() {
    let mut table = linked();
    table.on(1, "subscriptions/listen", "{}");
    // Acknowledgements are matched by order, so the second request waits.
    assert!(table.on(1, "subscriptions/listen", "{}").is_empty());
    let tells = |method: &str, id: &str| {
        format!(
            r#"{{"connectionId":"p","method":"{method}","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}}}"#
        )
    };
    assert!(table.provider_tells(&tells("x", "70")).is_empty());
    let acknowledged = tells("notifications/subscriptions/acknowledged", "70");
    assert_eq!(
        table.provider_tells(&acknowledged),
        [
            r#"tell 1: notifications/subscriptions/acknowledged {"_meta":{"io.modelcontextprotocol/subscriptionId":"m2"}}"#,
            r#"ask provider 3: mcp/message {"connectionId":"p","method":"subscriptions/listen","params":{}}"#
        ]
    );
    assert_eq!(
        table.provider_tells(&tells("x", "70")),
        [r#"tell 1: x {"_meta":{"io.modelcontextprotocol/subscriptionId":"m2"}}"#]
    );
    // Members beside MCP's message belong to ACP.
    let beside = tells("x", "70").replacen('{', r#"{"_meta":{"k":1},"#, 1);
    assert_eq!(
        table.provider_tells(&beside),
        [r#"tell 1: x {"_meta":{"io.modelcontextprotocol/subscriptionId":"m2"}} beside {"k":1}"#]
    );
    assert_eq!(
        table.result(
            2,
            r#"{"_meta":{"io.modelcontextprotocol/subscriptionId":70}}"#
        ),
        [r#"answer 2: result {"_meta":{"io.modelcontextprotocol/subscriptionId":"m2"}}"#]
    );
    assert!(table.provider_tells(&tells("x", "70")).is_empty());
}

#[test]
fn requests_that_stand_alone_share_a_connection_of_the_seats_own() {
    let mut table = seat();
    assert_eq!(
        table.alone("a", "tools/list", ""),
        [r#"ask provider 1: mcp/connect {"acpId":"srv"}"#]
    );
    let token = r#""_meta":{"progressToken":"t","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let params = format!("{{{token}}}");
    let caller = Caller::Request("b".into());
    table.take(request(50, caller, "\"b\"", "tools/call", &params, false));
    assert_eq!(
        table.result(1, r#"{"connectionId":"p"}"#),
        [format!(
            r#"ask provider 2: mcp/message {{"connectionId":"p","method":"server/discover","params":{{"_meta":{{{META}}}}}}}"#
        )]
    );
    assert_eq!(
        table.result(2, DISCOVERED),
        [
            format!(
                r#"ask provider 3: mcp/message {{"connectionId":"p","method":"tools/list","params":{}}}"#,
                alone("")
            ),
            format!(
                r#"ask provider 4: mcp/message {{"connectionId":"p","method":"tools/call","params":{{"_meta":{{"progressToken":4,{META}}}}}}}"#
            )
        ]
    );
    assert_eq!(
        table.provider_tells(
            r#"{"connectionId":"p","method":"notifications/progress","params":{"progressToken":4,"progress":1}}"#
        ),
        [r#"tell b: notifications/progress {"progressToken":"t","progress":1}"#]
    );
    assert!(
        table
            .provider_tells(
                r#"{"connectionId":"p","method":"notifications/progress","params":{"progressToken":3,"progress":1}}"#
            )
            .is_empty()
    );
    assert_eq!(table.result(3, "{ }"), ["answer 1: result { }"]);
    // With a single open call, a log message must belong to it.
    let log = r#"{"connectionId":"p","method":"notifications/message","params":{"level":"info"}}"#;
    assert_eq!(
        table.provider_tells(log),
        [r#"tell b: notifications/message {"level":"info"}"#]
    );
    table.result(4, "{}");
    assert!(table.provider_tells(log).is_empty());
}

#[test]
fn a_legacy_provider_is_initialized_and_its_results_are_completed() {
    let mut table = seat();
    table.alone("d", "server/discover", "");
    table.result(1, r#"{"connectionId":"p"}"#);
    assert_eq!(
        table.error(2, r#"{"code":-32601,"message":"?"}"#),
        [concat!(
            r#"ask provider 3: mcp/message {"connectionId":"p","method":"initialize","params":"#,
            r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"acp-chain","version":"0.1.0"}}}"#
        )]
    );
    assert_eq!(
        table.result(3, INITIALIZED),
        [
            r#"tell provider: {"connectionId":"p","method":"notifications/initialized"}"#,
            concat!(
                r#"answer 1: result {"supportedVersions":["2026-07-28"],"#,
                r#""capabilities":{"tools":{"listChanged":true},"resources":{}},"#,
                r#""resultType":"complete","ttlMs":0,"cacheScope":"private","instructions":"Be nice","#,
                r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"old","version":"1"}}}"#
            )
        ]
    );
    assert_eq!(
        table.alone("l", "tools/list", r#""cursor":"c""#),
        [
            r#"ask provider 4: mcp/message {"connectionId":"p","method":"tools/list","params":{"cursor":"c","_meta":{}}}"#
        ]
    );
    assert_eq!(
        table.result(4, r#"{"tools":[],"ttlMs":5}"#),
        [
            r#"answer 2: result {"tools":[],"ttlMs":5,"resultType":"complete","cacheScope":"private"}"#
        ]
    );
    table.alone("r", "resources/read", "");
    assert_eq!(
        table.error(5, r#"{"code":-32002,"message":"none","data":1}"#),
        [r#"answer 3: error {"code":-32602,"message":"none","data":1}"#]
    );
    for method in ["ping", "initialize", "resources/subscribe"] {
        assert!(table.alone("x", method, "")[0].contains("-32601"));
    }
}

#[test]
fn requests_of_a_legacy_provider_to_callers_without_a_connection_are_rejected() {
    let mut table = adapting();
    assert_eq!(
        table.provider_asks(r#"{"connectionId":"p","method":"ping"}"#),
        ["answer 2: result {}"]
    );
    assert_eq!(
        table.provider_asks(r#"{"connectionId":"p","method":"roots/list"}"#),
        [r#"answer 3: error {"code":-32601,"message":"Method not found: roots/list"}"#]
    );
}

#[test]
fn changes_at_a_legacy_provider_reach_subscribed_callers() {
    let mut table = adapting();
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
        table.provider_tells(r#"{"connectionId":"p","method":"notifications/tools/list_changed"}"#),
        [concat!(
            r#"tell l: notifications/tools/list_changed "#,
            r#"{"_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}"#
        )]
    );
    for method in [
        "notifications/prompts/list_changed",
        "notifications/message",
    ] {
        let params = format!(r#"{{"connectionId":"p","method":"{method}"}}"#);
        assert!(table.provider_tells(&params).is_empty());
    }
    assert_eq!(
        table.withdraw(2),
        [concat!(
            r#"answer 2: result {"resultType":"complete","#,
            r#""_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}"#
        )]
    );
}

#[test]
fn the_next_caller_retries_a_provider_that_failed() {
    let mut table = seat();
    table.alone("a", "tools/list", "");
    assert_eq!(
        table.error(1, r#"{"code":-33001,"message":"gone"}"#),
        [r#"answer 1: error {"code":-33001,"message":"gone"}"#]
    );
    table.alone("a", "tools/list", "");
    table.result(2, r#"{"connectionId":"p"}"#);
    table.result(3, "{}");
    assert_eq!(
        table.error(4, r#"{"code":1,"message":"no"}"#),
        [
            r#"ask provider 5: mcp/disconnect {"connectionId":"p"}"#,
            r#"answer 2: error {"code":1,"message":"no"}"#
        ]
    );
    assert_eq!(
        table.alone("a", "tools/list", ""),
        [r#"ask provider 6: mcp/connect {"acpId":"srv"}"#]
    );
    let caller = Caller::Request("b".into());
    let refused = table.take(request(9, caller, "\"b\"", "tools/call", "null", false));
    assert!(refused[0].contains("-32602"));
}

#[test]
fn a_caller_that_can_fall_back_gets_the_error_of_a_legacy_provider() {
    let mut table = seat();
    table.falls_back("f", "server/discover", "");
    table.result(1, r#"{"connectionId":"p"}"#);
    assert_eq!(
        table.error(2, r#"{"code":-32601,"message":"?","data":1}"#),
        [
            r#"answer 1: error {"code":-32601,"message":"?","data":1}"#,
            r#"ask provider 3: mcp/disconnect {"connectionId":"p"}"#,
        ]
    );
    // Requests of other callers are adapted.
    table.falls_back("f", "tools/list", "");
    table.alone("a", "tools/list", "");
    table.result(4, r#"{"connectionId":"q"}"#);
    let probed = table.error(5, r#"{"code":-32601,"message":"?"}"#);
    assert_eq!(
        probed[0],
        r#"answer 2: error {"code":-32601,"message":"?"}"#
    );
    assert!(probed[1].contains("initialize") && probed.len() == 2);
    table.result(6, INITIALIZED);
    assert!(table.falls_back("f", "tools/list", "")[0].contains("-32601"));
}

#[test]
fn callers_that_can_fall_back_share_a_connection_to_a_provider_of_their_version() {
    let mut table = seat();
    for id in ["a", "b"] {
        table.falls_back(id, "tools/call", r#""name":"t""#);
    }
    table.result(1, r#"{"connectionId":"p"}"#);
    let calls = table.result(2, DISCOVERED);
    assert_eq!(calls.len(), 2);
    assert!(calls.iter().all(|call| call.contains("tools/call")));
}

#[test]
fn closing_the_server_closes_the_seats_own_connection() {
    let mut table = seat();
    table.alone("d", "server/discover", "");
    table.result(1, r#"{"connectionId":"p"}"#);
    table.result(2, DISCOVERED);
    assert_eq!(
        table.take(Input::Over),
        [r#"ask provider 4: mcp/disconnect {"connectionId":"p"}"#]
    );
    // A connection that is being opened is cancelled, and closed if it opens nevertheless.
    let mut table = seat();
    table.alone("d", "server/discover", "");
    let over = table.take(Input::Over);
    assert_eq!(over[0], "withdraw 1");
    assert!(over[1].contains("-33001"));
    assert_eq!(
        table.result(1, r#"{"connectionId":"p"}"#),
        [r#"ask provider 2: mcp/disconnect {"connectionId":"p"}"#]
    );
}

/// Params of at least this many bytes.
fn large(size: usize) -> String {
    format!(r#"{{"x":"{}"}}"#, "x".repeat(size))
}

#[test]
fn messages_that_wait_for_a_connection_are_limited() {
    let mut table = seat();
    table.connect(1);
    // A single message may be of any size.
    assert!(table.on(1, "x", &large(20 << 20)).is_empty());
    let refused = table.on(1, "x", "{}");
    assert!(
        refused[0].contains(r#"error {"code":-33000,"#),
        "{refused:?}"
    );
    table.withdraw(2);
    assert!(table.on(1, "x", &large(8 << 20)).is_empty());
    assert!(table.tell(1, "a", &large(7 << 20)).is_empty());
    table.connect(2);
    assert!(table.on(2, "y", &large(2 << 20))[0].contains("-33000"));
    assert!(table.tell(2, "b", &large(2 << 20)).is_empty());
    assert!(table.tell(2, "c", "{}").is_empty());
    assert_eq!(table.result(1, r#"{"connectionId":"p"}"#).len(), 3);
    let answer = table.result(2, r#"{"connectionId":"q"}"#);
    assert!(answer.len() == 2 && answer[1].contains(r#""method":"c""#));
    assert!(table.on(1, "x", &large(20 << 20))[0].starts_with("ask provider"));
}

#[test]
fn waiting_subscriptions_are_limited() {
    let mut table = linked();
    table.on(1, "subscriptions/listen", "{}");
    assert!(
        table
            .on(1, "subscriptions/listen", &large(16 << 20))
            .is_empty()
    );
    assert!(table.on(1, "subscriptions/listen", "{}")[0].contains("-33000"));
    assert!(table.on(1, "x", &large(1 << 20))[0].starts_with("ask provider"));
}

#[test]
fn open_requests_fail_when_the_provider_is_restarted() {
    let mut table = linked();
    table.on(1, "tools/call", "{}");
    table.on(1, "subscriptions/listen", "{}");
    table.on(1, "subscriptions/listen", "{}");
    table.provider_asks(r#"{"connectionId":"p","method":"roots/list"}"#);
    table.connect(2);
    table.on(2, "ping", "null");
    table.alone("a", "tools/list", "");
    table.connect(3);
    table.result(7, r#"{"connectionId":"q"}"#);
    table.disconnect(3);
    let lost = |ask: u64| {
        format!(
            r#"answer {ask}: error {{"code":-33002,"message":"The provider of the MCP server \"srv\" was restarted; retry"}}"#
        )
    };
    assert_eq!(
        table.lost(&[]),
        [
            String::from("withdraw 4"),
            lost(5),
            lost(4),
            lost(6),
            lost(7),
            lost(8),
            lost(2),
            lost(3),
            String::from("answer 10: result {}"),
        ]
    );
    assert!(!table.seat.has(Some("p"), None));
    // Late messages of the previous instance.
    for question in 1..9 {
        assert!(table.result(question, r#"{"connectionId":"p"}"#).is_empty());
    }
    assert!(
        table.on(1, "ping", "null")[0].contains("There is no such connection, or it is closed")
    );
    assert_eq!(table.disconnect(1), ["answer 12: result {}"]);
    assert!(table.lost(&[]).is_empty());
    table.connect(4);
    assert_eq!(
        table.result(9, r#"{"connectionId":"p"}"#),
        [r#"answer 13: result {"connectionId":"acp-chain-4"}"#]
    );
    assert_eq!(table.on(4, "ping", "null").len(), 1);
    assert_eq!(
        table.alone("a", "tools/list", ""),
        [r#"ask provider 11: mcp/connect {"acpId":"srv"}"#]
    );
}

#[test]
fn a_restarted_legacy_provider_is_initialized_again() {
    let mut table = adapting();
    table.alone(
        "l",
        "subscriptions/listen",
        r#""notifications":{"toolsListChanged":true}"#,
    );
    assert_eq!(table.lost(&[]).len(), 1);
    assert!(table.alone("a", "tools/list", "")[0].contains("mcp/connect"));
    assert!(table.result(4, r#"{"connectionId":"p"}"#)[0].contains("server/discover"));
    assert!(table.lost(&[])[0].starts_with("answer 3: error"));
    assert!(table.result(5, INITIALIZED).is_empty());
}

#[test]
fn the_initialize_result_of_a_legacy_provider_is_limited() {
    let mut table = seat();
    table.alone("d", "server/discover", "");
    table.result(1, r#"{"connectionId":"p"}"#);
    table.result(2, "{}");
    let answers = table.result(3, &large(64 << 10));
    assert_eq!(
        answers[0],
        r#"ask provider 4: mcp/disconnect {"connectionId":"p"}"#
    );
    assert!(answers[1].contains("answered initialize with more than 64 KiB"));
}

#[test]
fn closing_a_connection_cancels_the_providers_requests_on_it() {
    let mut table = linked();
    table.connect(2);
    table.result(2, r#"{"connectionId":"q"}"#);
    table.provider_asks(r#"{"connectionId":"p","method":"roots/list"}"#);
    table.provider_asks(r#"{"connectionId":"q","method":"roots/list"}"#);
    assert_eq!(
        table.disconnect(1),
        [
            "withdraw 3",
            r#"answer 3: error {"code":-32800,"message":"The connection is closed"}"#,
            r#"ask provider 5: mcp/disconnect {"connectionId":"p"}"#
        ]
    );
    assert!(table.error(3, r#"{"code":1,"message":"gone"}"#).is_empty());
    assert!(table.withdraw(3).is_empty());
    assert_eq!(table.result(4, "{}"), ["answer 4: result {}"]);
}

#[test]
fn ids_that_are_too_long_are_rejected_and_truncated_in_errors() {
    let mut table = Table::new(ConnectedProvider::new(&"s".repeat(10_000), &kept()));
    table.connect(1);
    assert!(table.result(1, "{}")[0].len() < 500);
    let id = "p".repeat(2000);
    let answer = table.provider_asks(&format!(r#"{{"connectionId":"{id}","method":"x"}}"#));
    assert!(answer[0].len() < 1000, "{answer:?}");
    assert!(!table.seat.has(Some(&id), None));
}

#[test]
fn more_than_a_thousand_open_requests_are_rejected() {
    let mut table = linked();
    for _ in 0..1024 {
        assert!(table.on(1, "x", "null")[0].starts_with("ask provider"));
    }
    assert!(table.on(1, "x", "null")[0].contains("-33000"));
    let asks = table.provider_asks(r#"{"connectionId":"p","method":"roots/list"}"#);
    assert!(asks[0].contains("-33000"));
    assert!(table.connect(2)[0].contains("-33000"));
}

#[test]
fn an_undelivered_connect_survives_a_restart_of_the_provider() {
    let mut table = linked();
    table.on(1, "x", "{}");
    table.connect(2);
    table.on(2, "y", "{}");
    let lost = table.lost(&[2, 3]);
    // The connection that it names is closed.
    assert_eq!(lost.len(), 2, "{lost:?}");
    assert_eq!(lost[0], "withdraw 2");
    assert!(
        lost[1].starts_with(r#"answer 2: error {"code":-33002"#),
        "{lost:?}"
    );
    assert!(!table.seat.has_caller(1));
    assert!(table.seat.has_caller(2));
    assert_eq!(
        table.result(3, r#"{"connectionId":"q"}"#),
        [
            r#"answer 3: result {"connectionId":"acp-chain-2"}"#,
            r#"ask provider 4: mcp/message {"connectionId":"q","method":"y","params":{}}"#,
        ]
    );
}
