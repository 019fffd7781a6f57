//! The accounts of messages to MCP servers, and the fate of their connections.

use super::{PROMPT, Says, agent, client, heard, scripted};
use crate::router::Router;
use acp_chain_channel::limits::{MCP_CONNECTING, MCP_KEPT_OF_ALL};
use acp_chain_channel::{Decision, Peer};
use acp_chain_mcp::LinkId;
use acp_chain_mcp::bridge::Arrival;
use acp_chain_mcp::mirrored::Mirrored;
use acp_chain_rpc::Message;

const SETUP: &str = r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"mcpServers":[{"type":"acp","id":"i","name":"n"}]}}"#;

/// A router in which the client provides a server, and a client of the agent has reached it.
fn visited(link: LinkId) -> Router {
    let passes = scripted("passes", "*", |_, _| Says::Decided(Decision::Forward));
    let mut router = Router::new(vec![passes], None);
    client(&mut router, SETUP);
    let server = *router.mcp.servers.all.keys().next().expect("a server");
    router.receive_from_bridge(Arrival::Opened {
        link,
        server,
        stands_alone: false,
    });
    router
}

/// A message of it, of this many bytes.
fn says(router: &mut Router, link: LinkId, method: &str, length: usize) {
    let params = format!(r#"{{"x":"{}"}}"#, "x".repeat(length));
    let message = Message::notification(method, &params);
    router.receive_from_bridge(Arrival::Message {
        link,
        message,
        mirrored: Mirrored::default(),
    });
    router.pump(1000);
}

#[tokio::test]
async fn what_waits_for_connections_to_servers_has_a_bound() {
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
async fn a_seat_is_given_nothing_while_all_of_them_keep_as_much_as_they_may() {
    let mut router = visited(7);
    says(&mut router, 7, "m", 1);
    let asked = heard(&mut router, Peer::Client).concat();
    assert!(asked.contains("mcp/connect"), "{asked}");
    let id = asked.split(r#""id":"#).nth(1).expect("an id");
    let id = id.split(',').next().expect("an id");
    let others = router.mcp.servers.kept.charge(MCP_KEPT_OF_ALL - 100);
    let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"connectionId":"c"}}}}"#);
    client(&mut router, &answer);
    heard(&mut router, Peer::Client);
    says(&mut router, 7, "first", 100);
    drop(others);
    says(&mut router, 7, "second", 100);
    let told = heard(&mut router, Peer::Client);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("second"), "{told:?}");
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
        heard(&mut router, Peer::Client)[1..],
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
        heard(&mut router, Peer::Client),
        [r#"{"jsonrpc":"2.0","id":5,"method":"mcp/disconnect","params":{"connectionId":"c"}}"#]
    );
    client(&mut router, r#"{"jsonrpc":"2.0","id":5,"result":{}}"#);
    assert!(heard(&mut router, Peer::Client).is_empty());
}

#[tokio::test]
async fn a_client_whose_server_has_gone_withdraws_nothing_of_others() {
    let mut router = visited(7);
    let setup_failed = r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}"#;
    agent(&mut router, setup_failed);
    router.pump(1000);
    // It was on its way when the server went.
    says(&mut router, 7, "m", 1);
    client(&mut router, PROMPT);
    router.pump(1000);
    let asked = heard(&mut router, Peer::Agent);
    assert_eq!(asked.len(), 2, "{asked:?}");
    router.receive_from_bridge(Arrival::Closed { link: 7 });
    let told = heard(&mut router, Peer::Agent);
    assert!(told.is_empty(), "{told:?}");
}
