//! What the user is told when there is no turn.

use super::{PROMPT, client, heard};
use crate::chain::Proxy;
use crate::chain::router::Router;
use crate::channel::Peer;
use crate::limits::NOTICES;

#[test]
fn what_is_told_without_a_turn_is_kept_up_to_a_bound_and_the_rest_is_counted() {
    let mut router = Router::new(Vec::<Proxy>::new(), None);
    let text = "x".repeat(1000);
    for _ in 0..10_000 {
        router.tell_user(&text);
    }
    router.tell_user(&"y".repeat(1 << 20));
    assert!(heard(&mut router, Peer::Client).is_empty());
    client(&mut router, PROMPT);
    let told = heard(&mut router, Peer::Client);
    let kept = NOTICES / 1024;
    assert!(
        (kept - 1..=kept + 2).contains(&told.len()),
        "{}",
        told.len()
    );
    let left_out = 10_001 + 1 - told.len();
    let last = told.last().expect("a notice");
    assert!(last.contains(&format!("{left_out} such")), "{last}");
    client(&mut router, &PROMPT.replace("\"p\"", "\"q\""));
    assert!(heard(&mut router, Peer::Client).is_empty(), "told once");
}
