//! Requests that are never answered.

use acp_chain::limits::OPEN_KEPT;
use acp_chain_tests::chain::error_of;
use acp_chain_tests::ends::{End, Ends};
use acp_chain_tests::envelope::request;

use crate::kept::QUIET;

/// The length of a method, and of a session's name, in bytes.
const LONG: usize = 2 << 20;

/// The number of requests. All of them would take four times the limit.
const REQUESTS: usize = 64;

/// The memory for messages on their way: a few messages, and buffers that grow to twice the size of one.
const UNDERWAY: u64 = 16 * LONG as u64;

/// One side sends requests with long names, and the other side never answers.
async fn asks(asking: &mut End, asked: &mut End) {
    let name = "x".repeat(LONG);
    let (mut open, mut refused) = (0, 0);
    for number in 0..REQUESTS {
        let params = format!(r#"{{"sessionId":"{number}{name}"}}"#);
        asking
            .say(&request(&number.to_string(), &name, &params))
            .await;
        tokio::select! {
            came = asked.output.message() => {
                assert!(came.is_request());
                open += 1;
            }
            answer = asking.output.message() => {
                let error = error_of(&answer);
                assert!(error.contains("64 MiB"), "{error}");
                refused += 1;
            }
        }
    }
    assert_eq!(open, OPEN_KEPT / (2 * LONG) - 1);
    assert_eq!(open + refused, REQUESTS);
}

#[tokio::test]
async fn the_client_is_refused_when_it_has_too_much_open() {
    let mut ends = Ends::begin("").await;
    asks(&mut ends.client, &mut ends.agent).await;
    ends.program
        .is_smaller_than(QUIET + OPEN_KEPT as u64 + UNDERWAY);
}

#[tokio::test]
async fn so_is_the_agent() {
    let mut ends = Ends::begin("").await;
    asks(&mut ends.agent, &mut ends.client).await;
    ends.program
        .is_smaller_than(QUIET + OPEN_KEPT as u64 + UNDERWAY);
}
