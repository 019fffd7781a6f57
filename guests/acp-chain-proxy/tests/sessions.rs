//! Sessions are learnt from the messages that open them.

use acp_chain_proxy::testing::Host;
use acp_chain_proxy::{
    Action, Error, Level, Origin, Peer, Proxy, Request, Response, Result, Sessions, Subscription,
    log,
};
use serde_json::{Value, json};

#[derive(Default)]
struct Watcher {
    sessions: Sessions,
}

impl Proxy for Watcher {
    const SUBSCRIPTIONS: &[Subscription] = &[Subscription::responses("session/close")];

    fn subscriptions(&self) -> Vec<Subscription> {
        Sessions::beside(Self::SUBSCRIPTIONS)
    }

    async fn on_request(&self, request: Request) -> Result {
        self.sessions.on_request(&request);
        Ok(Action::Forward)
    }

    async fn on_response(&self, response: Response) -> Result {
        self.sessions.on_response(&response);
        for id in ["a", "b"] {
            if let Some(session) = self.sessions.get(id) {
                log(
                    Level::Info,
                    format_args!("{id} {} {:?}", session.cwd, session.origin),
                );
            }
        }
        Ok(Action::Forward)
    }
}

fn log_of(method: &str, params: Value, answer: std::result::Result<Value, Error>) -> Vec<String> {
    let mut host = Host::start::<Watcher>(json!({})).expect("no configuration");
    let id = host.request(Peer::Client, method, params);
    match answer {
        Ok(result) => host.answer(id, result),
        Err(error) => host.fail(id, error),
    }
    host.log().into_iter().map(|(_, line)| line).collect()
}

#[test]
fn every_way_to_open_a_session_is_known() {
    let new = format!("a /p {:?}", Origin::New);
    let continued = format!("a /p {:?}", Origin::Continued);
    let (cwd, loaded) = (
        json!({ "cwd": "/p" }),
        json!({ "cwd": "/p", "sessionId": "a" }),
    );
    assert_eq!(
        log_of("session/new", cwd, Ok(json!({ "sessionId": "a" }))),
        [new]
    );
    for method in ["session/load", "session/resume"] {
        assert_eq!(
            log_of(method, loaded.clone(), Ok(json!({}))),
            std::slice::from_ref(&continued)
        );
    }
    let fork = json!({ "cwd": "/p", "sessionId": "parent" });
    assert_eq!(
        log_of("session/fork", fork, Ok(json!({ "sessionId": "a" }))),
        [continued]
    );
}

/// Opens a session; returns which of `a` and `b` are known.
fn open(host: &mut Host, id: &str) -> Vec<String> {
    let asked = host.request(Peer::Client, "session/new", json!({ "cwd": "/p" }));
    host.answer(asked, json!({ "sessionId": id }));
    known(host)
}

fn known(host: &mut Host) -> Vec<String> {
    let name = |(_, line): (Level, String)| line.chars().take(1).collect();
    host.log().into_iter().map(name).collect()
}

#[test]
fn a_session_is_known_until_it_is_closed_or_many_others_were_opened() {
    let mut host = Host::start::<Watcher>(json!({})).expect("no configuration");
    open(&mut host, "a");
    assert_eq!(open(&mut host, "b"), ["a", "b"]);
    let close = host.request(Peer::Client, "session/close", json!({ "sessionId": "a" }));
    host.answer(close, json!({}));
    assert_eq!(known(&mut host), ["b"]);
    for number in 0..1023 {
        assert_eq!(open(&mut host, &format!("{number}")), ["b"], "{number}");
    }
    assert!(open(&mut host, "one more").is_empty());
}

#[test]
fn a_session_that_failed_to_open_is_unknown() {
    let failed = Err(Error::new(-32000, "Authentication required"));
    let loaded = json!({ "cwd": "/p", "sessionId": "a" });
    assert!(log_of("session/load", loaded, failed).is_empty());
}
