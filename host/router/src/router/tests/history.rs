//! The power over what an agent replays.

use std::sync::{Arc, Mutex};

use super::{Reaction, agent, client, received, under};
use crate::Terms;
use crate::router::Router;
use acp_chain_channel::{Decision, Event, Grant, Peer};

/// An update with a text of the agent.
fn chunk(session: &str, text: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"{session}","update":{{"sessionUpdate":"agent_message_chunk","text":"{text}"}}}}}}"#
    )
}

#[test]
fn it_shows_updates_only_while_their_session_is_being_opened() {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let shown = seen.clone();
    let grant = Grant::new("counts", ["history.read"], Vec::new()).unwrap();
    let terms = Terms {
        grant: grant.into(),
        ..Terms::default()
    };
    let (proxy, _) = under(terms, "counts", "session/update", move |event, ledger| {
        if let Event::Message(delivery) = event {
            let text = ledger.read(delivery.id, "/update/text").unwrap();
            shown.lock().unwrap().push(text.unwrap().to_owned());
        }
        Reaction::Decided(Decision::Forward)
    });
    let mut router = Router::new(vec![proxy], None);
    agent(&mut router, &chunk("s", "before"));
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s","cwd":"/p","mcpServers":[]}}"#,
    );
    agent(&mut router, &chunk("s", "old"));
    agent(&mut router, &chunk("t", "of another session"));
    agent(&mut router, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    agent(&mut router, &chunk("s", "new"));
    assert_eq!(*seen.lock().unwrap(), [r#""old""#]);
    assert_eq!(received(&mut router, Peer::Client).len(), 5);
}
