//! A chain that is a proxy of another conductor, on exact lines.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Reaction, client as parent, forwards, received, scripted};
use crate::native::Dialect;
use crate::router::Router;
use acp_chain_channel::{Decision, Event, Peer};
use acp_chain_rpc::{Error, Id};

/// A chain of components that has begun, without the messages to the parent so far. The host's next id is 2.
fn begun(dialect: Dialect, mut router: Router) -> Router {
    let (initialize, successor) = (dialect.initialize(), dialect.successor());
    router.set_parent(dialect);
    parent(
        &mut router,
        &format!(
            r#"{{"jsonrpc":"2.0","id":"\u0061","method":"{initialize}","params":{{"protocolVersion":1, "x":1e400}},"y":0}}"#
        ),
    );
    assert_eq!(
        received(&mut router, Peer::Client),
        [format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"{successor}","params":{{"method":"initialize","params":{{"protocolVersion":1, "x":1e400}}}}}}"#
        )]
    );
    let acp = r#"{"agentCapabilities":{"mcpCapabilities":{"acp":true}}}"#;
    parent(
        &mut router,
        &format!(r#"{{"jsonrpc":"2.0","id":1,"result":{acp}}}"#),
    );
    assert_eq!(
        received(&mut router, Peer::Client),
        [format!(
            r#"{{"jsonrpc":"2.0","id":"\u0061","result":{acp}}}"#
        )]
    );
    router
}

fn passing(dialect: Dialect) -> Router {
    begun(dialect, Router::new(vec![forwards("*")], None))
}

#[test]
fn plain_messages_go_to_the_successor_wrapped_and_wrapped_ones_to_the_client_plain() {
    for dialect in [Dialect::Proxy, Dialect::Underscore] {
        let successor = dialect.successor();
        let mut router = passing(dialect);
        for (said, got) in [
            (
                r#"{"jsonrpc":"2.0","id":0,"method":"m","params":{"n" : -0.0},"x":1}"#.to_owned(),
                format!(
                    r#"{{"jsonrpc":"2.0","id":2,"method":"{successor}","params":{{"method":"m","params":{{"n" : -0.0}}}}}}"#
                ),
            ),
            (
                r#"{"jsonrpc":"2.0","id":2,"result":{"s":"\u00e9"}}"#.to_owned(),
                r#"{"jsonrpc":"2.0","id":0,"result":{"s":"\u00e9"}}"#.to_owned(),
            ),
            (
                format!(
                    r#"{{"jsonrpc":"2.0","id":0,"method":"{successor}","params":{{"_meta":{{"hop":1}},"method":"q","params":{{"n" : 1e400}}}}}}"#
                ),
                r#"{"jsonrpc":"2.0","id":3,"method":"q","params":{"n" : 1e400}}"#.to_owned(),
            ),
            (
                r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32800,"message":"x"}}"#.to_owned(),
                r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32800,"message":"x"}}"#.to_owned(),
            ),
            (
                r#"{"jsonrpc":"2.0","method":"n"}"#.to_owned(),
                format!(r#"{{"jsonrpc":"2.0","method":"{successor}","params":{{"method":"n"}}}}"#),
            ),
            (
                r#"{"jsonrpc":"2.0","method":"proxy/successor","params":{"method":"u","params":null}}"#.to_owned(),
                r#"{"jsonrpc":"2.0","method":"u"}"#.to_owned(),
            ),
        ] {
            parent(&mut router, &said);
            assert_eq!(received(&mut router, Peer::Client), [got], "{said}");
        }
        assert!(received(&mut router, Peer::Agent).is_empty());
    }
}

#[test]
fn an_empty_chain_passes_everything_on() {
    begun(
        Dialect::Proxy,
        Router::new(Vec::<crate::Proxy>::new(), None),
    );
}

#[test]
fn a_cancellation_is_plain_from_and_to_either_side() {
    let mut router = passing(Dialect::Proxy);
    let plain = |id| {
        format!(r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"requestId":{id}}}}}"#)
    };
    let wrapped = |id| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"proxy/successor","params":{{"method":"$/cancel_request","params":{{"requestId":{id}}}}}}}"#
        )
    };
    let calls = [
        r#"{"jsonrpc":"2.0","id":7,"method":"m"}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"proxy/successor","params":{"method":"m"}}"#,
    ];
    let mut number = 1;
    for call in calls {
        for cancel in [plain(7), wrapped(7)] {
            number += 1;
            parent(&mut router, call);
            received(&mut router, Peer::Client);
            parent(&mut router, &cancel);
            assert_eq!(
                received(&mut router, Peer::Client),
                [plain(number)],
                "{call}"
            );
            // The cancellation has crossed the answer.
            parent(
                &mut router,
                &format!(r#"{{"jsonrpc":"2.0","id":{number},"result":{{}}}}"#),
            );
            parent(&mut router, &cancel);
            assert_eq!(
                received(&mut router, Peer::Client),
                [r#"{"jsonrpc":"2.0","id":7,"result":{}}"#]
            );
        }
    }
}

#[test]
fn a_request_that_a_proxy_holds_is_withdrawn_there() {
    let cancelled = Arc::new(AtomicUsize::new(0));
    let count = cancelled.clone();
    let proxy = scripted("holds", "m", move |event, _| match event {
        Event::Cancel(_) => {
            count.fetch_add(1, Ordering::Relaxed);
            Reaction::Told
        }
        _ => Reaction::Decided(Decision::Hold),
    });
    let mut router = begun(Dialect::Proxy, Router::new(vec![proxy], None));
    parent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":7,"method":"proxy/successor","params":{"method":"m"}}"#,
    );
    parent(
        &mut router,
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":7}}"#,
    );
    assert_eq!(cancelled.load(Ordering::Relaxed), 1);
}

#[test]
fn one_id_is_open_once_whichever_side_it_comes_from() {
    let mut router = passing(Dialect::Proxy);
    parent(&mut router, r#"{"jsonrpc":"2.0","id":7,"method":"m"}"#);
    received(&mut router, Peer::Client);
    parent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":7,"method":"proxy/successor","params":{"method":"m"}}"#,
    );
    assert_eq!(
        received(&mut router, Peer::Client),
        [
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"the id 7 belongs to a request that is still open"}}"#
        ]
    );
}

#[test]
fn a_parent_that_begins_again_is_answered_again() {
    let mut router = passing(Dialect::Proxy);
    parent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":5,"method":"proxy/initialize","params":{}}"#,
    );
    assert_eq!(
        received(&mut router, Peer::Client),
        [
            r#"{"jsonrpc":"2.0","id":2,"method":"proxy/successor","params":{"method":"initialize","params":{}}}"#
        ]
    );
}

#[test]
fn messages_that_are_not_for_a_proxy_are_refused_or_dropped() {
    let mut router = passing(Dialect::Proxy);
    for (method, params, code, message) in [
        ("initialize", "{}", -32600, "initialize is not for a proxy"),
        (
            "proxy/successor",
            "{}",
            -32602,
            "a proxy/successor must have a method in its params",
        ),
        (
            "proxy/successor",
            r#"{"method":"proxy/initialize"}"#,
            -32601,
            "proxy/initialize is not a message for a proxy/successor",
        ),
        (
            "_proxy/successor",
            r#"{"method":"proxy/successor","params":{"method":"m"}}"#,
            -32601,
            "proxy/successor is not a message for a _proxy/successor",
        ),
    ] {
        let call = format!(r#""method":"{method}","params":{params}}}"#);
        parent(&mut router, &format!(r#"{{"jsonrpc":"2.0","id":9,{call}"#));
        parent(&mut router, &format!(r#"{{"jsonrpc":"2.0",{call}"#));
        assert_eq!(
            received(&mut router, Peer::Client),
            [format!(
                r#"{{"jsonrpc":"2.0","id":9,"error":{{"code":{code},"message":"{message}"}}}}"#
            )]
        );
    }
    parent(
        &mut router,
        r#"{"jsonrpc":"2.0","method":"proxy/initialize","params":{}}"#,
    );
    assert!(received(&mut router, Peer::Client).is_empty());
}

#[test]
fn with_the_parent_both_ends_are_lost() {
    let mut router = passing(Dialect::Proxy);
    let calls = [
        r#"{"jsonrpc":"2.0","id":"c","method":"m"}"#,
        r#"{"jsonrpc":"2.0","id":"a","method":"proxy/successor","params":{"method":"m"}}"#,
    ];
    for call in calls {
        parent(&mut router, call);
    }
    received(&mut router, Peer::Client);
    // A malformed answer ends the wait of its requester.
    assert!(router.fail_answer(
        Peer::Client,
        &Id::parse("2").unwrap(),
        &Error::new(-1, "torn")
    ));
    router.lose_answers(Peer::Client, &Error::new(-2, "gone"));
    parent(&mut router, &calls[0].replace("\"c\"", "\"d\""));
    router.pump(10);
    assert_eq!(
        received(&mut router, Peer::Client),
        [
            r#"{"jsonrpc":"2.0","id":"c","error":{"code":-1,"message":"torn"}}"#,
            r#"{"jsonrpc":"2.0","id":"a","error":{"code":-2,"message":"gone"}}"#,
            r#"{"jsonrpc":"2.0","id":"d","error":{"code":-2,"message":"gone"}}"#,
        ]
    );
    assert!(!router.is_owed(Peer::Client));
}
