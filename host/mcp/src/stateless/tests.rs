//! The messages of callers and a stateless provider to the seat, line by line.

use super::StatelessProvider;
use crate::seat::{Caller, Seat};
use crate::tests::transcript::{META, Table, alone, kept, request};

fn seat() -> Table<StatelessProvider> {
    Table::new(StatelessProvider::new("srv", "acp-chain", &kept()))
}

const DISCOVERED: &str = r#"{"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true}},"instructions":"Be nice","resultType":"complete","ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"new","version":"2"}}}}"#;

const QUIET: &str = r#"{"result":{"capabilities":{}}}"#;

/// A seat with a legacy client on connection 1, at a provider with this result of `server/discover`. The next request
/// of a caller is number 3, the seat's next request is number 2.
fn initialized(discovered: &str) -> Table<StatelessProvider> {
    let mut table = seat();
    table.connect(1);
    table.on(
        1,
        "initialize",
        r#"{"protocolVersion":"2025-06-18","capabilities":{"roots":{},"elicitation":{}},"clientInfo":{"name":"c"}}"#,
    );
    table.result(1, discovered);
    table
}

/// The `_meta` of every request of that client.
const CLIENT: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"roots":{},"elicitation":{}},"io.modelcontextprotocol/clientInfo":{"name":"c"}"#;

#[test]
fn a_request_that_stands_alone_passes_under_its_own_id() {
    let mut table = seat();
    assert_eq!(
        table.alone("r/1", "tools/call", r#""x":1e400"#),
        [format!(
            r#"ask provider 1: mcp/message {{"serverId":"srv","requestId":"r/1","method":"tools/call","params":{}}}"#,
            alone(r#""x":1e400"#)
        )]
    );
    assert_eq!(
        table.alone("r/1", "tools/call", ""),
        [
            r#"answer 2: error {"code":-32602,"message":"The requestId is that of a request that is open"}"#
        ]
    );
    assert_eq!(
        table.provider_tells(
            r#"{"serverId":"srv","requestId":"r\/1","method":"notifications/progress","params":{"p" :1}}"#
        ),
        [r#"tell r/1: notifications/progress {"p" :1}"#]
    );
    assert_eq!(
        table.result(1, r#"{"result":{"a" :1},"error":{"code":1,"message":"m"}}"#),
        [r#"answer 1: result {"a" :1}"#]
    );
    for params in [
        r#"{"serverId":"srv","requestId":"r/1","method":"x"}"#,
        r#"{"serverId":"other","requestId":"r/1","method":"x"}"#,
        r#"{"requestId":7,"method":"x"}"#,
        "[]",
    ] {
        assert!(table.provider_tells(params).is_empty());
        let dropped = "the MCP server \"srv\": dropped a notification from its provider: it names no open request";
        assert_eq!(table.drops.last().map(String::as_str), Some(dropped));
    }
    assert!(table.provider_asks("{}")[0].contains("-32601"));
}

#[test]
fn mcp_outcomes_are_unwrapped_and_acp_errors_pass() {
    for (answer, outcome) in [
        (r#"{"result":null}"#, "result null"),
        (
            r#"{"error":{"code":-32602,"message":"m","data":null,"x":1}}"#,
            r#"error {"code":-32602,"message":"m","data":null,"x":1}"#,
        ),
    ] {
        let mut table = seat();
        table.alone("r", "x", "");
        assert_eq!(table.result(1, answer), [format!("answer 1: {outcome}")]);
    }
    for none in [
        "{}",
        "7",
        r#"{"error":null}"#,
        r#"{"error":{"code":"1","message":"m"}}"#,
    ] {
        let mut table = seat();
        table.alone("r", "x", "");
        assert!(table.result(1, none)[0].starts_with(r#"answer 1: error {"code":-33002,"#));
    }
    let mut table = seat();
    table.alone("r", "x", "");
    assert_eq!(
        table.error(1, r#"{"code":-33001,"message":"gone"}"#),
        [r#"answer 1: error {"code":-33001,"message":"gone"}"#]
    );
}

#[test]
fn a_subscription_that_stands_alone_has_the_id_of_its_clients_request() {
    for (id, subscription) in [("7", "7"), (r#""r""#, r#""r""#)] {
        let mut table = seat();
        let (caller, params) = (Caller::Request("r".into()), alone(""));
        table.take(request(
            1,
            caller,
            id,
            "subscriptions/listen",
            &params,
            false,
        ));
        let tells = r#"{"serverId":"srv","requestId":"r","method":"x","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"r"}}}"#;
        let expected = format!(
            r#"tell r: x {{"_meta":{{"io.modelcontextprotocol/subscriptionId":{subscription}}}}}"#
        );
        assert_eq!(table.provider_tells(tells), [expected]);
    }
}

#[test]
fn a_request_that_stands_alone_on_a_connection_gets_an_id_of_the_seats() {
    let mut table = seat();
    table.connect(1);
    table.alone("acp-chain-2", "x", "");
    let question = table.on(1, "subscriptions/listen", &alone(""));
    assert!(question[0].contains(r#""requestId":"acp-chain-2-","method":"subscriptions/listen""#));
    let tells = r#"{"serverId":"srv","requestId":"acp-chain-2-","method":"x","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"acp-chain-2-"}}}"#;
    assert_eq!(
        table.provider_tells(tells),
        [r#"tell 1: x {"_meta":{"io.modelcontextprotocol/subscriptionId":"m3"}}"#]
    );
    let refused = table.on(1, "tools/list", "{}");
    assert!(refused[0].contains("tools/list comes before `initialize`"));
}

#[test]
fn a_legacy_client_is_initialized_from_server_discover() {
    let mut table = seat();
    assert_eq!(
        table.connect(1),
        [r#"answer 1: result {"connectionId":"acp-chain-1"}"#]
    );
    assert_eq!(
        table.on(
            1,
            "initialize",
            r#"{"protocolVersion":"2025-06-18","capabilities":{"roots":{},"elicitation":{}},"clientInfo":{"name":"c"}}"#
        ),
        [format!(
            r#"ask provider 1: mcp/message {{"serverId":"srv","requestId":"acp-chain-1","method":"server/discover","params":{{"_meta":{{{CLIENT}}}}}}}"#
        )]
    );
    assert_eq!(
        table.result(1, DISCOVERED),
        [concat!(
            r#"answer 2: result {"protocolVersion":"2025-06-18","#,
            r#""capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true}},"#,
            r#""serverInfo":{"name":"new","version":"2"},"instructions":"Be nice"}"#
        )]
    );
    assert_eq!(table.on(1, "ping", "null"), ["answer 3: result {}"]);
    assert_eq!(
        table.on(
            1,
            "tools/list",
            r#"{"cursor":"c","_meta":{"progressToken":1}}"#
        ),
        [format!(
            r#"ask provider 2: mcp/message {{"serverId":"srv","requestId":"acp-chain-2","method":"tools/list","params":{{"cursor":"c","_meta":{{"progressToken":1,{CLIENT}}}}}}}"#
        )]
    );
    assert_eq!(
        table.provider_tells(
            r#"{"serverId":"srv","requestId":"acp-chain-2","method":"notifications/progress","params":{"progressToken":1}}"#
        ),
        [r#"tell 1: notifications/progress {"progressToken":1}"#]
    );
    assert_eq!(
        table.result(
            2,
            r#"{"result":{"resultType":"complete","tools":[{"name":"a","outputSchema":{"type":"array"}},{"name":"b","outputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"private","x":1e400}}"#
        ),
        [
            r#"answer 4: result {"tools":[{"name":"a"},{"name":"b","outputSchema":{"type":"object"}}],"x":1e400}"#
        ]
    );
    table.on(1, "tools/call", "{}");
    assert_eq!(
        table.result(
            3,
            r#"{"result":{"content":[],"structuredContent":7,"resultType":"complete","ttlMs":1}}"#
        ),
        [r#"answer 5: result {"content":[],"ttlMs":1}"#]
    );
    table.on(1, "tools/call", "{}");
    let answer = table.result(4, r#"{"result":{"resultType":"task"}}"#);
    assert!(answer[0].contains(r#"gave a result of the type \"task\", which"#));
}

#[test]
fn a_failed_initialize_can_be_retried() {
    let mut table = seat();
    table.connect(1);
    table.on(1, "initialize", r#"{"protocolVersion":"2025-06-18"}"#);
    assert_eq!(
        table.error(1, r#"{"code":-33001,"message":"gone"}"#),
        [r#"answer 2: error {"code":-33001,"message":"gone"}"#]
    );
    table.on(1, "initialize", r#"{"protocolVersion":"2025-06-18"}"#);
    let answer = table.result(2, r#"{"result":{"supportedVersions":["2030-01-01"]}}"#);
    assert!(answer[0].contains(r#"The MCP server \"srv\" does not speak 2026-07-28"#));
    table.on(1, "initialize", r#"{"protocolVersion":"2025-06-18"}"#);
    assert!(table.result(3, QUIET)[0].starts_with("answer 4: result"));
}

#[test]
fn the_log_level_is_sent_with_every_request() {
    let mut table = initialized(QUIET);
    assert_eq!(
        table.on(1, "logging/setLevel", r#"{"level":"warning"}"#),
        ["answer 3: result {}"]
    );
    assert!(table.on(1, "logging/setLevel", r#"{"level":"loud"}"#)[0].contains("-32602"));
    let asked = table.on(1, "tools/call", "null");
    assert!(asked[0].contains(r#""io.modelcontextprotocol/logLevel":"warning""#));
    let log = r#"{"serverId":"srv","requestId":"acp-chain-2","method":"notifications/message","params":{}}"#;
    assert_eq!(
        table.provider_tells(log),
        ["tell 1: notifications/message {}"]
    );
    for wrong in ["[1]", r#"{"_meta":7}"#] {
        assert!(table.on(1, "tools/call", wrong)[0].contains("-32602"));
    }
}

#[test]
fn requests_of_the_provider_are_sent_to_the_client_and_the_call_is_retried() {
    let mut table = initialized(QUIET);
    table.on(1, "tools/call", r#"{"name":"t"}"#);
    assert_eq!(
        table.result(
            2,
            r#"{"result":{"resultType":"input_required","requestState":"s\u0020","inputRequests":{"b":{"method":"roots/list"},"a":{"method":"elicitation/create","params":{"m" :1}}}}}"#
        ),
        [r#"ask 1 3: elicitation/create {"m" :1}"#, "ask 1 4: roots/list"]
    );
    assert!(table.result(4, r#"{"roots" :[]}"#).is_empty());
    assert_eq!(
        table.result(3, r#"{"action":"accept"}"#),
        [format!(
            r#"ask provider 5: mcp/message {{"serverId":"srv","requestId":"acp-chain-5","method":"tools/call","params":{{"name":"t","_meta":{{{CLIENT}}},"inputResponses":{{"b":{{"roots" :[]}},"a":{{"action":"accept"}}}},"requestState":"s\u0020"}}}}"#
        )]
    );
    let again = table.result(
        5,
        r#"{"result":{"resultType":"input_required","requestState":"2"}}"#,
    );
    assert!(again[0].ends_with(&format!(
        r#""params":{{"name":"t","_meta":{{{CLIENT}}},"requestState":"2"}}}}"#
    )));
    assert_eq!(
        table.result(6, r#"{"result":{"content":[],"resultType":"complete"}}"#),
        [r#"answer 3: result {"content":[]}"#]
    );
}

#[test]
fn an_error_of_the_client_is_the_outcome_of_its_call() {
    let two = r#"{"result":{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"},"b":{"method":"roots/list"}}}}"#;
    let mut table = initialized(QUIET);
    table.on(1, "tools/call", "null");
    table.result(2, two);
    assert_eq!(
        table.error(3, r#"{"code":-1,"message":"User rejected"}"#),
        [
            "withdraw 4",
            r#"answer 3: error {"code":-1,"message":"User rejected"}"#
        ]
    );
    assert!(
        table
            .error(4, r#"{"code":-32800,"message":"x"}"#)
            .is_empty()
    );
    // Cancelling the call also cancels the other requests.
    table.on(1, "tools/call", "null");
    table.result(5, two);
    assert_eq!(
        table.withdraw(4),
        [
            "withdraw 6",
            "withdraw 7",
            r#"answer 4: error {"code":-32800,"message":"Request cancelled"}"#
        ]
    );
    table.on(1, "tools/call", "null");
    assert_eq!(table.withdraw(5), ["withdraw 8"]);
    assert_eq!(
        table.result(8, two),
        [r#"answer 5: error {"code":-32800,"message":"Request cancelled"}"#]
    );
}

#[test]
fn requests_of_the_provider_need_the_clients_support_and_are_limited() {
    for (required, reason) in [
        ("", "it requires input, but does not say which"),
        (
            r#","inputRequests":[]"#,
            "its inputRequests are not an object",
        ),
        (r#","requestState":7"#, "its requestState is not a string"),
        (
            r#","inputRequests":{"a":{"method":"sampling/createMessage"}}"#,
            r#"it asks the client for \"sampling/createMessage\", which the client does not support"#,
        ),
        (
            r#","inputRequests":{"a":{"method":"ping"}}"#,
            r#"it asks the client for \"ping\""#,
        ),
        (
            r#","inputRequests":{"a":7}"#,
            r#"it asks the client for \"\""#,
        ),
    ] {
        let mut table = initialized(QUIET);
        table.on(1, "tools/call", "null");
        let result = format!(r#"{{"result":{{"resultType":"input_required"{required}}}}}"#);
        let answer = table.result(2, &result);
        let expected = format!(r#"The MCP server \"srv\" is at fault: {reason}"#);
        assert!(answer[0].contains(&expected), "{answer:?}");
    }
    let mut table = initialized(QUIET);
    table.on(1, "tools/call", "null");
    let again = r#"{"result":{"resultType":"input_required","requestState":""}}"#;
    for question in 2..12 {
        assert!(table.result(question, again)[0].starts_with("ask provider"));
    }
    assert!(table.result(12, again)[0].contains("more than 10 times"));
}

#[test]
fn the_changes_of_lists_are_one_subscription() {
    let mut table = initialized(DISCOVERED);
    assert_eq!(
        table.tell(1, "notifications/initialized", "null"),
        [format!(
            r#"ask provider 2: mcp/message {{"serverId":"srv","requestId":"acp-chain-2","method":"subscriptions/listen","params":{{"notifications":{{"toolsListChanged":true}},"_meta":{{{CLIENT}}}}}}}"#
        )]
    );
    assert!(
        table
            .tell(1, "notifications/initialized", "null")
            .is_empty()
    );
    let tells = |request: &str, method: &str| {
        format!(
            r#"{{"serverId":"srv","requestId":"{request}","method":"{method}","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":"{request}"}}}}}}"#
        )
    };
    let (changed, acknowledged) = (
        "notifications/tools/list_changed",
        "notifications/subscriptions/acknowledged",
    );
    assert!(
        table
            .provider_tells(&tells("acp-chain-2", changed))
            .is_empty()
    );
    assert!(
        table
            .provider_tells(&tells("acp-chain-2", acknowledged))
            .is_empty()
    );
    assert_eq!(
        table.provider_tells(&tells("acp-chain-2", changed)),
        [r#"tell 1: notifications/tools/list_changed {"_meta":{}}"#]
    );
    // Another resource requires a new `subscriptions/listen`, and ends the old one.
    let asked = table.on(1, "resources/subscribe", r#"{"uri":"a:b"}"#);
    assert!(
        asked[0].contains(
            r#""notifications":{"toolsListChanged":true,"resourceSubscriptions":["a:b"]}"#
        )
    );
    assert_eq!(
        table.provider_tells(&tells("acp-chain-3", acknowledged)),
        ["withdraw 2", "answer 3: result {}"]
    );
    table.error(2, r#"{"code":-32800,"message":"x"}"#);
    assert_eq!(
        table.on(1, "resources/subscribe", r#"{"uri":"a:b"}"#),
        ["answer 4: result {}"]
    );
    table.on(1, "resources/subscribe", r#"{"uri":"c:d"}"#);
    assert_eq!(
        table.result(4, r#"{"error":{"code":-32602,"message":"none"}}"#),
        [r#"answer 5: error {"code":-32602,"message":"none"}"#]
    );
    let asked = table.on(1, "resources/unsubscribe", r#"{"uri":"a:b"}"#);
    assert!(asked[0].contains(r#""notifications":{"toolsListChanged":true}"#));
    assert_eq!(
        table.disconnect(1),
        [
            "withdraw 3",
            r#"answer 6: error {"code":-32800,"message":"Request cancelled"}"#,
            "withdraw 5",
            "answer 7: result {}"
        ]
    );
}

#[test]
fn methods_that_the_provider_does_not_offer_are_rejected() {
    let mut table = initialized(QUIET);
    for method in [
        "resources/subscribe",
        "resources/unsubscribe",
        "server/discover",
        "subscriptions/listen",
    ] {
        assert!(table.on(1, method, r#"{"uri":"a"}"#)[0].contains("-32601"));
    }
    assert!(
        table
            .tell(1, "notifications/initialized", "null")
            .is_empty()
    );
    assert!(
        table
            .tell(1, "notifications/roots/list_changed", "null")
            .is_empty()
    );
    let modern = format!(r#"{{"_meta":{{{META}}}}}"#);
    assert!(table.on(1, "subscriptions/listen", &modern)[0].starts_with("ask provider"));
}

/// Params of at least this many bytes.
fn large(size: usize) -> String {
    format!(r#"{{"x":"{}"}}"#, "x".repeat(size))
}

#[test]
fn the_kept_members_of_initialize_are_limited() {
    let mut table = seat();
    table.connect(1);
    for name in ["capabilities", "clientInfo"] {
        let words = large(64 << 10);
        let params = format!(r#"{{"protocolVersion":"2025-06-18","{name}":{words}}}"#);
        let reason = format!(r#"{{"code":-32602,"message":"{name} is larger than 64 KiB"}}"#);
        assert!(table.on(1, "initialize", &params)[0].ends_with(&reason));
    }
    // They are also limited for all clients together.
    let words = large((64 << 10) - 10);
    let params = format!(
        r#"{{"protocolVersion":"2025-06-18","capabilities":{words},"clientInfo":{words}}}"#
    );
    assert!(table.on(1, "initialize", &params)[0].starts_with("ask provider"));
    for connection in 2..=128 {
        table.connect(connection);
        assert!(table.on(connection, "initialize", &params)[0].starts_with("ask provider"));
    }
    table.connect(129);
    assert!(table.on(129, "initialize", &params)[0].contains("-33000"));
    table.disconnect(1);
    assert!(table.on(129, "initialize", &params)[0].starts_with("ask provider"));
}

#[test]
fn calls_that_may_be_retried_are_limited() {
    let mut table = initialized(QUIET);
    assert!(table.on(1, "tools/call", &large(20 << 20))[0].starts_with("ask provider 2"));
    let refused = table.on(1, "tools/call", "{}");
    assert!(
        refused[0].contains(r#"error {"code":-33000,"#),
        "{refused:?}"
    );
    table.result(2, r#"{"result":{}}"#);
    assert!(table.on(1, "tools/call", &large(8 << 20))[0].starts_with("ask provider 3"));
    assert!(table.on(1, "tools/call", &large(4 << 20))[0].starts_with("ask provider 4"));
    // The provider's state counts, and so do the answers.
    let state = "s".repeat(8 << 20);
    let wants = |state: &str| {
        format!(
            r#"{{"result":{{"resultType":"input_required","requestState":"{state}","inputRequests":{{"a":{{"method":"roots/list"}},"b":{{"method":"roots/list"}}}}}}}}"#
        )
    };
    assert!(table.result(3, &wants(&state))[0].contains("-33000"));
    assert_eq!(table.on(1, "tools/call", &large(8 << 20)).len(), 1);
    assert_eq!(table.result(4, &wants("s")).len(), 2);
    let answers = table.result(6, &large(8 << 20));
    assert!(
        answers[0] == "withdraw 7" && answers[1].contains("-33000"),
        "{answers:?}"
    );
}

#[test]
fn resources_have_short_names() {
    let mut table = initialized(DISCOVERED);
    let uri = |at: usize, size: usize| format!(r#"{{"uri":"{at}:{}"}}"#, "x".repeat(size));
    let refused = table.on(1, "resources/subscribe", &uri(0, 5000));
    assert!(
        refused[0].ends_with(r#"{"code":-32602,"message":"the uri is longer than 4096 bytes"}"#)
    );
    for at in 0..65 {
        assert!(table.on(1, "resources/subscribe", &uri(at, 4000))[0].starts_with("ask provider"));
    }
    let refused = table.on(1, "resources/subscribe", &uri(65, 4000));
    assert!(
        refused[0].contains("with URIs of 256 KiB in all"),
        "{refused:?}"
    );
    table.on(1, "resources/unsubscribe", &uri(0, 4000));
    assert!(table.on(1, "resources/subscribe", &uri(65, 4000))[0].starts_with("ask provider"));
}

#[test]
fn the_seats_own_request_ids_differ_between_sessions() {
    let mut tables = ["acp-chain-7", "acp-chain-8"]
        .map(|prefix| Table::new(StatelessProvider::new("srv", prefix, &kept())));
    for table in &mut tables {
        table.connect(1);
        table.on(1, "initialize", r#"{"protocolVersion":"2025-06-18"}"#);
        table.alone("r", "x", "");
        assert!(table.seat.has(None, Some("r")) && !table.seat.has(Some("r"), None));
    }
    let [mut one, two] = tables;
    assert!(one.seat.has(None, Some("acp-chain-7-1")));
    assert!(!two.seat.has(None, Some("acp-chain-7-1")));
    assert!(two.seat.has(None, Some("acp-chain-8-1")));
    one.result(1, QUIET);
    assert!(!one.seat.has(None, Some("acp-chain-7-1")));
    let long = "r".repeat(2000);
    assert!(!one.seat.has(None, Some(&long)));
}

#[test]
fn open_requests_fail_when_the_provider_is_restarted() {
    let mut table = initialized(DISCOVERED);
    table.tell(1, "notifications/initialized", "null");
    table.alone("r", "x", "");
    table.on(1, "tools/call", "{}");
    table.on(1, "resources/subscribe", r#"{"uri":"a:b"}"#);
    table.on(1, "tools/call", "{}");
    let asked = table.result(
        6,
        r#"{"result":{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}}"#,
    );
    assert_eq!(asked, ["ask 1 7: roots/list"]);
    table.connect(2);
    table.on(2, "initialize", r#"{"protocolVersion":"2025-06-18"}"#);
    let lost = |ask: u64| {
        format!(
            r#"answer {ask}: error {{"code":-33002,"message":"The provider of the MCP server \"srv\" was restarted; retry"}}"#
        )
    };
    assert_eq!(
        table.lost(&[]),
        [
            String::from("withdraw 7"),
            lost(6),
            lost(3),
            lost(4),
            lost(5),
            lost(8)
        ]
    );
    assert!(!table.seat.has(None, Some("r")));
    for question in 2..9 {
        assert!(table.result(question, r#"{"result":{}}"#).is_empty());
    }
    assert!(table.alone("r", "x", "")[0].starts_with("ask provider 9"));
    assert!(table.on(1, "tools/call", "{}")[0].starts_with("ask provider 10"));
    let again = table.on(2, "initialize", r#"{"protocolVersion":"2025-06-18"}"#);
    assert!(again[0].starts_with("ask provider 11"));
    // Changes are reported again after the client's next subscription.
    let asked = table.on(1, "resources/subscribe", r#"{"uri":"c:d"}"#);
    assert!(asked[0].contains(r#"{"toolsListChanged":true,"resourceSubscriptions":["c:d"]}"#));
}

/// The number of the request in a line of a seat that asks the provider.
fn number(line: &str) -> u64 {
    let rest = line.strip_prefix("ask provider ").expect(line);
    rest.split_once(':').expect(line).0.parse().expect(line)
}

#[test]
fn subscriptions_that_the_provider_does_not_end_count_as_open() {
    let mut table = seat();
    let rejected = (1..2000).find(|connection| {
        table.connect(*connection);
        let begun = table.on(
            *connection,
            "initialize",
            r#"{"protocolVersion":"2025-06-18"}"#,
        );
        if begun[0].contains("-33000") {
            return true;
        }
        table.result(number(&begun[0]), DISCOVERED);
        let listens = table.tell(*connection, "notifications/initialized", "null");
        assert!(listens[0].contains("subscriptions/listen"), "{listens:?}");
        table.disconnect(*connection);
        false
    });
    assert_eq!(rejected, Some(1025));
}

#[test]
fn a_client_that_does_not_wait_for_initialize_is_notified_of_changes() {
    let mut table = seat();
    table.connect(1);
    table.on(1, "initialize", r#"{"protocolVersion":"2025-06-18"}"#);
    assert!(
        table
            .tell(1, "notifications/initialized", "null")
            .is_empty()
    );
    let begun = table.result(1, DISCOVERED);
    assert!(begun[0].starts_with("answer 2: result"), "{begun:?}");
    assert!(
        begun[1].contains(r#""method":"subscriptions/listen""#),
        "{begun:?}"
    );

    // A handshake that failed does not count.
    let mut table = seat();
    table.connect(1);
    table.on(1, "initialize", r#"{"protocolVersion":"2025-06-18"}"#);
    table.tell(1, "notifications/initialized", "null");
    table.error(1, r#"{"code":-32603,"message":"busy"}"#);
    table.on(1, "initialize", r#"{"protocolVersion":"2025-06-18"}"#);
    assert_eq!(table.result(2, DISCOVERED).len(), 1);
    let listens = table.tell(1, "notifications/initialized", "null");
    assert!(listens[0].contains("subscriptions/listen"), "{listens:?}");
}

#[test]
fn a_resource_can_be_subscribed_to_again_after_a_restart() {
    let mut table = initialized(DISCOVERED);
    let first = table.on(1, "resources/subscribe", r#"{"uri":"a:b"}"#);
    let text = format!(
        r#"{{"serverId":"srv","requestId":"acp-chain-{}","method":"notifications/subscriptions/acknowledged"}}"#,
        number(&first[0])
    );
    assert_eq!(table.provider_tells(&text), ["answer 3: result {}"]);
    table.lost(&[]);
    let again = table.on(1, "resources/subscribe", r#"{"uri":"a:b"}"#);
    assert!(
        again[0].contains(r#""resourceSubscriptions":["a:b"]"#),
        "{again:?}"
    );
}

#[test]
fn a_subscription_that_is_removed_before_its_acknowledgement_is_answered_and_leaves_nothing() {
    let mut table = initialized(r#"{"result":{"capabilities":{"resources":{"subscribe":true}}}}"#);
    let subscribe = |table: &mut Table<StatelessProvider>, what: &str, uri: &str| {
        table.on(
            1,
            &format!("resources/{what}"),
            &format!(r#"{{"uri":"{uri}"}}"#),
        )
    };
    let first = subscribe(&mut table, "subscribe", "a:b");
    let first = number(&first[0]);
    assert_eq!(
        subscribe(&mut table, "unsubscribe", "a:b"),
        [
            "answer 3: result {}".to_owned(),
            format!("withdraw {first}"),
            "answer 4: result {}".to_owned()
        ]
    );
    subscribe(&mut table, "subscribe", "a:b");
    table.error(first, r#"{"code":-32800,"message":"Request cancelled"}"#);
    let both = subscribe(&mut table, "subscribe", "c:d");
    assert!(
        both[0].contains(r#""resourceSubscriptions":["a:b","c:d"]"#),
        "{both:?}"
    );
}

#[test]
fn requests_to_a_client_end_with_its_connection() {
    let mut table = initialized(QUIET);
    table.on(1, "tools/call", "null");
    table.result(
        2,
        r#"{"result":{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}}"#,
    );
    assert_eq!(
        table.disconnect(1),
        [
            "withdraw 3",
            r#"answer 3: error {"code":-32800,"message":"Request cancelled"}"#,
            "answer 4: result {}"
        ]
    );
    assert!(table.result(3, "{}").is_empty());
}

#[test]
fn a_very_long_list_of_tools_is_converted_in_one_pass() {
    let mut table = initialized(QUIET);
    table.on(1, "tools/list", "null");
    let tools = vec![r#"{"name":"t","outputSchema":{}}"#; 50_000].join(",");
    let answer = table.result(
        2,
        &format!(r#"{{"result":{{"tools":[{tools}],"ttlMs":0}}}}"#),
    );
    let older = vec![r#"{"name":"t"}"#; 50_000].join(",");
    let is_converted = answer[0] == format!(r#"answer 3: result {{"tools":[{older}]}}"#);
    assert!(is_converted, "{} bytes", answer[0].len());
}

#[test]
fn more_than_a_thousand_open_requests_are_rejected() {
    let mut table = seat();
    for request in 0..1024 {
        assert!(table.alone(&request.to_string(), "x", "")[0].starts_with("ask provider"));
    }
    assert!(table.alone("x", "x", "")[0].contains("-33000"));
}

#[test]
fn undelivered_requests_survive_a_restart_of_the_provider() {
    let mut table = initialized(QUIET);
    table.alone("r", "x", "");
    table.alone("s", "x", "");
    let lost = table.lost(&[3]);
    assert_eq!(lost.len(), 1, "{lost:?}");
    assert!(
        lost[0].starts_with(r#"answer 3: error {"code":-33002"#),
        "{lost:?}"
    );
    assert!(!table.seat.has(None, Some("r")));
    assert!(table.seat.has(None, Some("s")));
    assert_eq!(table.result(3, r#"{"result":{}}"#), ["answer 4: result {}"]);
}

#[test]
fn a_client_stays_connected_when_the_provider_is_restarted() {
    let mut table = initialized(QUIET);
    table.lost(&[]);
    assert!(table.seat.has_caller(1));
    table.disconnect(1);
    assert!(!table.seat.has_caller(1));
}
