//! Everything kept for one connection.

use super::{Reaction, client, received, scripted};
use crate::router::Router;
use acp_chain_channel::limits::KEPT;
use acp_chain_channel::{Decision, Event, Peer};

/// A request with a text of this length.
fn request(id: u32, method: &str, length: usize) -> String {
    let text = "x".repeat(length);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"x":"{text}"}}}}"#)
}

#[test]
fn a_request_over_the_limit_of_a_connection_is_refused() {
    let holds = scripted("holds", "hold", |event, _| match event {
        Event::Message(_) => Reaction::Decided(Decision::Hold),
        _ => Reaction::Told,
    });
    let mut router = Router::new(vec![holds], None);
    let others = router.core.kept.charge(KEPT - 10_000);

    client(&mut router, &request(1, "hold", 20_000));
    let refused = received(&mut router, Peer::Client).concat();
    let reason = "the proxy `holds` failed on hold: it holds the message, and 1 GiB are kept";
    assert!(refused.contains(reason), "{refused}");

    client(&mut router, &request(2, &"m".repeat(20_000), 0));
    let refused = received(&mut router, Peer::Client).concat();
    assert!(
        refused.contains("1 GiB are kept for the connection"),
        "{refused}"
    );

    client(&mut router, &request(3, "hold", 2000));
    assert!(
        received(&mut router, Peer::Client).is_empty(),
        "there is room"
    );
    assert!(router.core.kept.kept() > KEPT - 8000);
    drop(others);
    client(&mut router, &request(4, "hold", 20_000));
    assert!(received(&mut router, Peer::Client).is_empty());
    let kept = router.core.kept.kept();
    assert!((22_000..30_000).contains(&kept), "{kept}");
}
