//! Tickets of browsers, which open a WebSocket at any replica.

use acp_chain_tests::postgres::start_postgres;
use acp_chain_tests::wire::in_time;
use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, client_async};

use super::super::served::{ServerProcess, initialize};
use super::World;

#[tokio::test]
async fn a_ticket_of_one_replica_opens_a_websocket_at_another_once() {
    let mut server = start_postgres();
    let world = World::new(&format!("[serve]\nstore = {:?}\n", server.url())).await;
    world.migrate().await;
    let (one, other) = (world.replica("one").await, world.replica("other").await);
    let issue = async || {
        let url = format!("{}/ticket", one.url);
        let asks = acp_chain_tests::web::client().post(url);
        let asked = asks.bearer_auth(&world.ann).send();
        in_time("a ticket", asked).await.unwrap()
    };
    let ticket: Value = issue().await.json().await.unwrap();
    let ticket = ticket["ticket"].as_str().unwrap();
    // In the database is neither the ticket nor the token.
    let (raw, connection) = tokio_postgres::connect(&server.url(), tokio_postgres::NoTls)
        .await
        .unwrap();
    tokio::spawn(connection);
    let asked = raw.query_one(
        "SELECT ticket || owner || sealed FROM acp_chain_tickets",
        &[],
    );
    let row: String = asked.await.unwrap().get(0);
    assert!(row.contains("ann"), "{row}");
    for secret in [ticket, &world.ann, &world.ann["acp_".len()..]] {
        assert!(!row.contains(secret), "{row}");
    }
    let mut socket = opened(&other, ticket).await.unwrap();
    let initialize = Message::text(initialize().to_string());
    socket.send(initialize).await.unwrap();
    let answer = in_time("an answer", socket.next()).await.unwrap().unwrap();
    let answer: Value = serde_json::from_str(answer.to_text().unwrap()).unwrap();
    assert!(answer["result"].is_object(), "{answer}");
    let wrong = "A".repeat(43);
    for (replica, ticket) in [(&other, ticket), (&one, ticket), (&one, &*wrong)] {
        let refused = opened(replica, ticket).await.unwrap_err();
        assert!(refused.contains("401"), "{refused}");
    }
    let ticket: Value = issue().await.json().await.unwrap();
    let ticket = ticket["ticket"].as_str().unwrap();
    // A row of somebody else under another ticket is of no use: what is sealed fits its own.
    let forged = "UPDATE acp_chain_tickets SET sealed = left(sealed, -4) || 'AAAA'";
    raw.batch_execute(forged).await.unwrap();
    let refused = opened(&other, ticket).await.unwrap_err();
    assert!(refused.contains("401"), "{refused}");
    server.end();
    // What must be looked up is refused.
    let refused = opened(&other, ticket).await.unwrap_err();
    assert!(refused.contains("503"), "{refused}");
    assert_eq!(issue().await.status(), 503);
}

/// A WebSocket that a ticket opens; or the error that says the status.
async fn opened(
    replica: &ServerProcess,
    ticket: &str,
) -> Result<WebSocketStream<TcpStream>, String> {
    let url = replica.url.replace("http://", "ws://");
    let address = url.split('/').nth(2).unwrap();
    let stream = TcpStream::connect(address).await.unwrap();
    let opening = client_async(format!("{url}?ticket={ticket}"), stream);
    let opened = in_time("an answer", opening).await;
    let opened = opened.map_err(|error| error.to_string());
    opened.map(|(socket, _)| socket)
}
