//! The limits on messages to MCP servers, and the ends of their connections.

use std::time::Duration;

use tokio::time::Instant;

use super::native::{begun, says as native_says, sent_to};
use super::{PROMPT, Reaction, agent, client, forwards, received, scripted};
use crate::router::Router;
use acp_chain_bridge::Arrival;
use acp_chain_channel::limits::{MCP_CONNECTING, MCP_KEPT_OF_ALL};
use acp_chain_channel::{Decision, Failure, FailurePolicy, Offer, Peer};
use acp_chain_mcp::LinkId;
use acp_chain_mcp::capabilities::Capabilities;
use acp_chain_mcp::param_headers::ParamHeaders;
use acp_chain_rpc::Message;

const SETUP: &str = r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"mcpServers":[{"type":"acp","id":"i","name":"n"}]}}"#;

/// A router in which the client provides a server, and an MCP client of the agent has connected to the bridge for it.
fn visited(link: LinkId) -> Router {
    let passes = scripted("passes", "*", |_, _| Reaction::Decided(Decision::Forward));
    let mut router = Router::new(vec![passes], None);
    client(&mut router, SETUP);
    visits(&mut router, link);
    router
}

/// Connects an MCP client of the agent to the first server.
fn visits(router: &mut Router, link: LinkId) {
    let server = *router.mcp.servers.all.keys().next().expect("a server");
    router.receive_from_bridge(Arrival::Opened {
        link,
        server,
        stands_alone: false,
    });
}

/// Receives a message of this many bytes from an MCP client.
fn says(router: &mut Router, link: LinkId, method: &str, length: usize) {
    let params = format!(r#"{{"x":"{}"}}"#, "x".repeat(length));
    let message = Message::notification(method, &params);
    router.receive_from_bridge(Arrival::Message {
        link,
        message,
        mirrored: ParamHeaders::default(),
    });
    router.pump(1000);
}

#[tokio::test]
async fn messages_that_wait_for_connections_to_servers_are_bounded() {
    let mut router = visited(7);
    for _ in 0..MCP_CONNECTING >> 19 {
        says(&mut router, 7, "m", 1 << 20);
    }
    let kept = router.mcp.servers.connecting.kept();
    assert!(
        (MCP_CONNECTING / 2..=MCP_CONNECTING).contains(&kept),
        "{kept}"
    );
    router.receive_from_bridge(Arrival::Closed { link: 7 });
    assert_eq!(router.mcp.servers.connecting.kept(), 0);
}

#[tokio::test]
async fn a_connection_that_a_server_does_not_accept_in_time_fails() {
    let mut router = visited(7);
    says(&mut router, 7, "m", 1);
    let asked = received(&mut router, Peer::Client).concat();
    assert!(asked.contains("mcp/connect"), "{asked}");
    router.advance(Instant::now() + Duration::from_secs(61));
    router.pump(1000);
    client(&mut router, PROMPT);
    let got = received(&mut router, Peer::Client).concat();
    assert!(got.contains("$/cancel_request"), "{got}");
    let why = "an MCP server of the client accepted no connection within 60 s; the agent continues without it";
    assert!(got.contains(why), "{got}");
    assert_eq!(router.mcp.servers.connecting.kept(), 0);
    // The next message requests a connection again.
    says(&mut router, 7, "m", 1);
    let again = received(&mut router, Peer::Client).concat();
    assert!(again.contains("mcp/connect"), "{again}");
}

#[tokio::test]
async fn seats_get_no_input_while_their_common_limit_is_reached() {
    let mut router = visited(7);
    says(&mut router, 7, "m", 1);
    let asked = received(&mut router, Peer::Client).concat();
    assert!(asked.contains("mcp/connect"), "{asked}");
    let id = asked.split(r#""id":"#).nth(1).expect("an id");
    let id = id.split(',').next().expect("an id");
    let others = router.mcp.servers.kept.charge(MCP_KEPT_OF_ALL - 100);
    let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"connectionId":"c"}}}}"#);
    client(&mut router, &answer);
    received(&mut router, Peer::Client);
    says(&mut router, 7, "first", 100);
    drop(others);
    says(&mut router, 7, "second", 100);
    let got = received(&mut router, Peer::Client);
    assert_eq!(got.len(), 1, "{got:?}");
    assert!(got[0].contains("second"), "{got:?}");
}

#[tokio::test]
async fn a_connection_that_is_made_after_its_session_is_closed_again() {
    let mut router = visited(7);
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}"#,
    );
    says(&mut router, 7, "m", 1);
    let close = r#"{"jsonrpc":"2.0","id":2,"method":"session/close","params":{"sessionId":"s"}}"#;
    client(&mut router, close);
    agent(&mut router, r#"{"jsonrpc":"2.0","id":4,"result":{}}"#);
    assert_eq!(
        received(&mut router, Peer::Client)[1..],
        [
            r#"{"jsonrpc":"2.0","id":3,"method":"mcp/connect","params":{"acpId":"i"}}"#,
            r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":3}}"#,
            r#"{"jsonrpc":"2.0","id":2,"result":{}}"#,
        ]
    );
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":3,"result":{"connectionId":"c"}}"#,
    );
    assert_eq!(
        received(&mut router, Peer::Client),
        [r#"{"jsonrpc":"2.0","id":5,"method":"mcp/disconnect","params":{"connectionId":"c"}}"#]
    );
    client(&mut router, r#"{"jsonrpc":"2.0","id":5,"result":{}}"#);
    assert!(received(&mut router, Peer::Client).is_empty());
}

#[tokio::test]
async fn a_client_whose_server_has_ended_cancels_only_its_own_requests() {
    let mut router = visited(7);
    let setup_failed = r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}"#;
    agent(&mut router, setup_failed);
    router.pump(1000);
    // The answer was in transit when the server ended.
    says(&mut router, 7, "m", 1);
    client(&mut router, PROMPT);
    router.pump(1000);
    let asked = received(&mut router, Peer::Agent);
    assert_eq!(asked.len(), 2, "{asked:?}");
    router.receive_from_bridge(Arrival::Closed { link: 7 });
    let got = received(&mut router, Peer::Agent);
    assert!(got.is_empty(), "{got:?}");
}

#[test]
fn a_request_on_a_connection_is_cancelled_by_its_id() {
    let mut router = Router::new(Vec::<acp_chain_hops::member::Member>::new(), None);
    router.mcp.agent = Capabilities::read(
        r#"{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"acp":true}}}"#,
    );
    client(&mut router, SETUP);
    let connect =
        r#"{"jsonrpc":"2.0","id":"c","method":"mcp/connect","params":{"acpId":"acp-chain-1"}}"#;
    agent(&mut router, connect);
    let asked = received(&mut router, Peer::Client).concat();
    let accepted = format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{{"connectionId":"p"}}}}"#,
        id_of(&asked)
    );
    client(&mut router, &accepted);
    for id in ["one", "two"] {
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":"{id}","method":"mcp/message","params":{{"connectionId":"acp-chain-2","method":"tools/call"}}}}"#
        );
        agent(&mut router, &call);
    }
    let calls = received(&mut router, Peer::Client);
    assert_eq!(calls.len(), 2, "{calls:?}");
    let mut cancels = |id: &str| {
        let line = format!(
            r#"{{"jsonrpc":"2.0","method":"mcp/message","params":{{"connectionId":"acp-chain-2","method":"notifications/cancelled","params":{{"requestId":"{id}"}}}}}}"#
        );
        agent(&mut router, &line);
        received(&mut router, Peer::Client)
    };
    assert!(cancels("three").is_empty());
    let cancelled = format!(
        r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"requestId":{}}}}}"#,
        id_of(&calls[1])
    );
    assert_eq!(cancels(r"t\u0077o"), [cancelled]);
}

/// The id of a request.
fn id_of(line: &str) -> &str {
    let id = line.split(r#""id":"#).nth(1).expect("an id");
    id.split(',').next().expect("an id")
}

/// A router in which a native proxy has passed on a session with a server of its own or the client's, and a client of
/// the agent has reached that.
fn visited_through_native(link: LinkId, policy: FailurePolicy, client_has: bool) -> Router {
    let mut router = begun(policy);
    let without = r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"mcpServers":[]}}"#;
    client(&mut router, if client_has { SETUP } else { without });
    let setup = sent_to(&mut router, 0).concat();
    let servers = if client_has {
        r#"[{"type":"acp","id":"acp-chain-1","name":"n"}]"#
    } else {
        r#"[{"type":"acp","serverId":"own","name":"n"}]"#
    };
    let passes_on = format!(
        r#"{{"jsonrpc":"2.0","id":"s","method":"proxy/successor","params":{{"method":"session/new","params":{{"mcpServers":{servers}}}}}}}"#
    );
    native_says(&mut router, 0, &passes_on);
    let asked = received(&mut router, Peer::Agent).concat();
    let answer =
        |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"sessionId":"s"}}}}"#);
    agent(&mut router, &answer(id_of(&asked)));
    native_says(&mut router, 0, &answer(id_of(&setup)));
    sent_to(&mut router, 0);
    received(&mut router, Peer::Client);
    visits(&mut router, link);
    router
}

#[test]
fn a_client_that_leaves_while_a_native_proxy_connects_it_leaves_no_connection() {
    let mut router = visited_through_native(7, FailurePolicy::Refuse, true);
    says(&mut router, 7, "m", 1);
    let connects = sent_to(&mut router, 0).concat();
    assert!(connects.contains("mcp/connect"), "{connects}");
    let again =
        r#"{"jsonrpc":"2.0","id":"c","method":"mcp/connect","params":{"acpId":"acp-chain-1"}}"#;
    native_says(&mut router, 0, again);
    let asked = received(&mut router, Peer::Client).concat();
    router.receive_from_bridge(Arrival::Closed { link: 7 });
    router.pump(1000);
    let answer = format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{{"connectionId":"c"}}}}"#,
        id_of(&asked)
    );
    client(&mut router, &answer);
    let connected = sent_to(&mut router, 0);
    let connected = connected.last().expect("an answer");
    assert!(connected.contains("connectionId"), "{connected}");
    let (_, result) = connected.split_once(r#""result""#).expect("a result");
    let answer = format!(
        r#"{{"jsonrpc":"2.0","id":{},"result"{result}"#,
        id_of(&connects)
    );
    native_says(&mut router, 0, &answer);
    let last = received(&mut router, Peer::Client).concat();
    assert!(last.contains("mcp/disconnect"), "{last}");
    assert!(router.mcp.servers.connections.is_empty());
    assert!(router.mcp.servers.links.is_empty());
}

#[test]
fn messages_for_a_restarted_provider_reach_it_once_and_its_clients_stay() {
    let mut router = visited_through_native(7, FailurePolicy::Restart, false);
    let asks = |router: &mut Router, id: u64, method: &str, params: &str| {
        let line =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
        router.receive_from_bridge(Arrival::Message {
            link: 7,
            message: Message::parse(line.into()).expect("a message"),
            mirrored: ParamHeaders::default(),
        });
        router.pump(1000);
    };
    let open = |router: &Router| router.mcp.servers.links[&7].open.len();
    let introduction = r#"{"protocolVersion":"2025-11-25"}"#;
    asks(&mut router, 1, "initialize", introduction);
    let discovers = sent_to(&mut router, 0).concat();
    assert!(discovers.contains("server/discover"), "{discovers}");
    let discovered = format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{{"result":{{"supportedVersions":["2026-07-28"],"capabilities":{{"tools":{{}}}}}}}}}}"#,
        id_of(&discovers)
    );
    native_says(&mut router, 0, &discovered);
    asks(&mut router, 2, "tools/call", r#"{"name":"lost"}"#);
    assert_eq!(open(&router), 1);
    router.native_broke(0, &Failure::new("it exited"));
    router.pump(1000);
    assert_eq!(open(&router), 0, "it has failed");
    asks(&mut router, 3, "tools/call", r#"{"name":"waits"}"#);
    router.advance(Instant::now() + Duration::from_secs(1));
    router.launched(0, Ok(()));
    router.pump(1000);
    let introduced = sent_to(&mut router, 0).concat();
    let begins = format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{{}}}}"#,
        id_of(&introduced)
    );
    native_says(&mut router, 0, &begins);
    router.pump(1000);
    assert_eq!(open(&router), 1, "it waits for its answer");
    let called = sent_to(&mut router, 0).concat();
    assert!(called.contains(r#""name":"waits""#), "{called}");
    assert!(!called.contains("lost"), "{called}");
    let answer = format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{{"result":{{"content":[]}}}}}}"#,
        id_of(&called)
    );
    native_says(&mut router, 0, &answer);
    assert_eq!(open(&router), 0);
    asks(&mut router, 4, "tools/list", "{}");
    assert!(
        sent_to(&mut router, 0).concat().contains("tools/list"),
        "it is still connected"
    );
}

#[test]
fn a_component_that_lost_the_power_over_tools_is_not_asked_for_them() {
    let mut tools = scripted("tools", "*", |_, _| Reaction::Decided(Decision::Forward));
    tools.registration.offers = [Offer::Tools].into_iter().collect();
    let mut router = Router::new(vec![tools], None);
    let setup = r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"mcpServers":[]}}"#;
    client(&mut router, setup);
    router.core.hops[0].disarm();
    received(&mut router, Peer::Agent);
    let lists = r#"{"jsonrpc":"2.0","id":9,"method":"mcp/message","params":{"serverId":"acp-chain-1","requestId":"r","method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}}"#;
    agent(&mut router, lists);
    router.pump(1000);
    let answer = received(&mut router, Peer::Agent).concat();
    assert!(answer.contains("-32603"), "{answer}");
    assert!(
        answer.contains("the proxy `tools` does not have the power `tools` any more"),
        "{answer}"
    );
}

/// A router with a component that has tools, in front of an agent that reaches servers over ACP.
fn with_tools(agent: &str) -> Router {
    let mut tools = scripted("tools", "none", |_, _| Reaction::Decided(Decision::Forward));
    tools.registration.offers = [Offer::Tools].into_iter().collect();
    let mut router = Router::new(vec![tools], None);
    router.mcp.agent = Capabilities::read(agent);
    router
}

/// Sets up a session, and returns the declarations that the agent gets. `number` is that of the request on both sides.
fn sets_up(router: &mut Router, number: u64, name: &str) -> String {
    client(
        router,
        &format!(
            r#"{{"jsonrpc":"2.0","id":{number},"method":"session/new","params":{{"mcpServers":[]}}}}"#
        ),
    );
    let asked = received(router, Peer::Agent).concat();
    agent(
        router,
        &format!(r#"{{"jsonrpc":"2.0","id":{number},"result":{{"sessionId":"{name}"}}}}"#),
    );
    asked.split("mcpServers").nth(1).unwrap().to_owned()
}

#[test]
fn whether_sessions_share_servers_is_the_users_choice_before_the_agents_name() {
    let ours = |name: &str| {
        format!(
            r#"{{"protocolVersion":1,"agentInfo":{{"name":"{name}"}},"agentCapabilities":{{"mcpCapabilities":{{"acp":true}}}}}}"#
        )
    };
    for (name, chosen, is_same) in [
        ("an agent", None, false),
        ("an agent", Some(true), true),
        ("Kilo", None, true),
        ("Kilo", Some(false), false),
    ] {
        let mut router = with_tools(&ours(name));
        router.mcp.reach.shared = chosen;
        let (one, two) = (sets_up(&mut router, 1, "s"), sets_up(&mut router, 2, "t"));
        assert_eq!(one == two, is_same, "{name} {chosen:?}: {one} {two}");
    }
}

#[test]
fn a_request_id_that_is_too_long_is_rejected() {
    let plain = r#"{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"acp":true}}}"#;
    let mut router = with_tools(plain);
    sets_up(&mut router, 1, "s");
    let id = "r".repeat(1025);
    let asks = format!(
        r#"{{"jsonrpc":"2.0","id":9,"method":"mcp/message","params":{{"serverId":"acp-chain-1","requestId":"{id}","method":"ping"}}}}"#
    );
    agent(&mut router, &asks);
    let answer = received(&mut router, Peer::Agent).concat();
    let why = "acp-chain: a requestId may have at most 1024 bytes";
    assert!(answer.contains(why), "{answer}");
}

#[test]
fn an_agent_without_mcp_is_sent_no_list_of_servers_in_version_2() {
    for (version, without) in [
        (1, r#"{"cwd":"/p","mcpServers":[]}"#),
        (2, r#"{"cwd":"/p"}"#),
    ] {
        let mut router = with_tools(r#"{"protocolVersion":2,"capabilities":{"session":{}}}"#);
        router.core.agree(version);
        client(
            &mut router,
            r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/p"}}"#,
        );
        let asked = received(&mut router, Peer::Agent).concat();
        assert!(asked.contains(without), "{version}: {asked}");
    }
}

#[test]
fn in_version_2_the_agent_says_in_which_session_a_turn_runs() {
    let mut router = with_tools(
        r#"{"protocolVersion":2,"info":{"name":"kilo"},"capabilities":{"session":{"mcp":{"acp":{}}}}}"#,
    );
    router.mcp.turns.agree(2);
    sets_up(&mut router, 1, "s");
    let state = |session: &str, state: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"{session}","update":{{"sessionUpdate":"state_update","state":"{state}"}}}}}}"#
        )
    };
    agent(&mut router, &state("s", "running"));
    assert!(router.mcp.turns.has("s"));
    agent(&mut router, &state("s", "idle"));
    assert!(router.mcp.turns.is_empty());
    agent(&mut router, &state("s", "running"));
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":2,"method":"session/close","params":{"sessionId":"s"}}"#,
    );
    agent(&mut router, r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    assert!(router.mcp.turns.is_empty() && router.mcp.servers.all.is_empty());
}

#[test]
fn only_the_newest_replaced_servers_stay() {
    let mut router = Router::new(Vec::<acp_chain_hops::member::Member>::new(), None);
    router.mcp.agent = Capabilities::read(
        r#"{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"acp":true}}}"#,
    );
    for number in 1..200 {
        client(
            &mut router,
            &format!(
                r#"{{"jsonrpc":"2.0","id":{number},"method":"session/load","params":{{"sessionId":"s","mcpServers":[{{"type":"acp","name":"n","id":"{number}"}}]}}}}"#
            ),
        );
        agent(
            &mut router,
            &format!(r#"{{"jsonrpc":"2.0","id":{number},"result":{{}}}}"#),
        );
    }
    let kept = router.mcp.servers.all.values();
    let kept: Vec<_> = kept.map(|server| server.own_id.clone()).collect();
    assert_eq!(kept.len(), 65);
    assert_eq!(kept.last().unwrap(), "199");
}

#[test]
fn the_refusal_of_a_session_names_the_proxies_whose_servers_it_declares() {
    let plain = r#"{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"acp":true}}}"#;
    let asked = r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"mcpServers":[]}}"#;
    for (code, is_named) in [(-32602, true), (-32600, true), (-32000, false)] {
        let refusal = format!(
            r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":{code},"message":"no","data":{{"a":1}}}}}}"#
        );
        let mut router = with_tools(plain);
        client(&mut router, asked);
        agent(&mut router, &refusal);
        let got = received(&mut router, Peer::Client).concat();
        assert_eq!(got.contains("no (acp-chain: "), is_named, "{got}");
        assert_eq!(got.contains("these proxies: `tools`"), is_named, "{got}");
        assert!(got.contains(r#""data":{"a":1}"#), "{got}");
        // Without such servers, the error is unchanged.
        let mut router = Router::new(vec![forwards("*")], None);
        client(&mut router, asked);
        agent(&mut router, &refusal);
        assert_eq!(received(&mut router, Peer::Client), [refusal]);
    }
}

#[test]
fn only_a_setup_declares_servers() {
    let mut router = Router::new(Vec::<crate::Proxy>::new(), None);
    let other = SETUP.replace("session/new", "_vendor/ask");
    client(&mut router, &other);
    assert_eq!(received(&mut router, Peer::Agent), [other]);
    assert!(router.mcp.servers.all.is_empty());
}
