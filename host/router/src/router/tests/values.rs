//! Values that proxies load and store.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::{PROMPT, Reaction, agent, client, received, scripted, under};
use crate::router::Router;
use crate::{NOT_HERE, Proxy, Swap, Terms, ValueCall, ValueRequest};
use acp_chain_channel::{
    Decision, Edit, Event, FailurePolicy, Grant, Ledger, MessageId, Owner, Peer,
};

/// What the proxy has been answered: the method, the session and the body of each outcome.
type Outcomes = Arc<Mutex<Vec<String>>>;

fn note(outcomes: &Outcomes, event: &Event) {
    let Event::Answer(delivery) = event else {
        panic!("it is no outcome: {event:?}");
    };
    let (method, body) = (&delivery.method, delivery.message.body());
    let session = delivery.session.as_deref().unwrap_or("-");
    let outcome = format!("{method} in {session}: {body}");
    outcomes.lock().unwrap().push(outcome);
}

fn taken(outcomes: &Outcomes) -> Vec<String> {
    std::mem::take(&mut outcomes.lock().unwrap())
}

/// Makes the call that a notification names: `load` or `store` of the user, or `load` for the project of the
/// notification's session; `cancel` of the last one; `die` breaks the proxy.
fn keeps(outcomes: &Outcomes) -> impl FnMut(&Event, &mut Ledger) -> Reaction + use<> {
    let (outcomes, mut last) = (Arc::clone(outcomes), 0);
    move |event, ledger| {
        let Event::Message(delivery) = event else {
            note(&outcomes, event);
            return Reaction::Told;
        };
        let of = match delivery.message.session() {
            Some(session) => Owner::Project(session.clone()),
            None => Owner::User,
        };
        match &*delivery.method {
            "load" => last = ledger.load_value(of, "k").unwrap(),
            "store" => {
                let value = Some("v".to_owned());
                last = ledger.store_value(of, "k", 7, value).unwrap();
            }
            "cancel" => ledger.cancel(last).unwrap(),
            "die" => return Reaction::Broke("trap"),
            _ => {}
        }
        Reaction::Decided(Decision::Forward)
    }
}

fn restarted() -> Terms {
    Terms {
        grant: Grant::unlimited().into(),
        on_failure: FailurePolicy::Restart,
        ..Terms::default()
    }
}

/// A router whose proxies may store values.
fn router(proxies: Vec<Proxy>) -> Router {
    let mut router = Router::new(proxies, None);
    router.keep_values();
    router
}

fn keeping() -> (Router, Outcomes) {
    let outcomes = Outcomes::default();
    let proxy = scripted("keeps", "*", keeps(&outcomes));
    (router(vec![proxy]), outcomes)
}

/// The client sends a notification of this method, in a session if one is named.
fn tell(router: &mut Router, method: &str, session: Option<&str>) {
    let params = session.map_or_else(
        || "{}".to_owned(),
        |session| format!(r#"{{"sessionId":"{session}"}}"#),
    );
    let line = format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#);
    client(router, &line);
}

fn asked(router: &mut Router) -> ValueRequest {
    router.take_value_request().expect("a request")
}

fn gives(router: &mut Router, number: u64, outcome: Result<&str, &str>) {
    router.receive_value(number, outcome);
    router.pump(1000);
}

/// A session of this name begins in this folder, by a request with this number.
fn begins(router: &mut Router, number: u64, session: &str, cwd: &str) {
    let id = 1000 + number;
    let params = format!(r#"{{"cwd":"{cwd}","mcpServers":[]}}"#);
    client(
        router,
        &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"session/new","params":{params}}}"#),
    );
    agent(
        router,
        &format!(r#"{{"jsonrpc":"2.0","id":{number},"result":{{"sessionId":"{session}"}}}}"#),
    );
}

#[test]
fn outcomes_come_like_answers_in_their_order() {
    let (mut router, outcomes) = keeping();
    tell(&mut router, "store", None);
    tell(&mut router, "load", None);
    let (store, load) = (asked(&mut router), asked(&mut router));
    assert!(router.take_value_request().is_none());
    assert_eq!(
        (&*store.proxy, &*store.key, &store.project),
        ("keeps", "k", &None)
    );
    assert!(matches!(
        &store.call,
        ValueCall::Store { version: 7, value: Some(value) } if value == "v"
    ));
    assert!(matches!(load.call, ValueCall::Load));
    assert_eq!(taken(&outcomes), [""; 0]);

    let (first, second) = (store.number, load.number);
    assert!(router.core.kept.kept() > 0);
    drop((store, load));
    gives(&mut router, first, Ok(r#"{"version":8}"#));
    gives(&mut router, second, Err("the disk is full"));
    assert_eq!(
        taken(&outcomes),
        [
            r#"store-value in -: {"version":8}"#,
            r#"load-value in -: {"code":-32603,"message":"the disk is full"}"#
        ]
    );
    assert_eq!(router.core.exchanges.len(), 0);
    assert_eq!(router.core.kept.kept(), 0);
    gives(&mut router, first, Ok("{}"));
    assert_eq!(taken(&outcomes), [""; 0], "each has one outcome");
}

#[test]
fn a_cancelled_request_has_its_outcome_all_the_same() {
    let (mut router, outcomes) = keeping();
    tell(&mut router, "load", None);
    let number = asked(&mut router).number;
    tell(&mut router, "cancel", None);
    assert_eq!(received(&mut router, Peer::Client), [""; 0]);
    gives(&mut router, number, Ok("{}"));
    assert_eq!(taken(&outcomes), ["load-value in -: {}"]);
}

#[test]
fn without_values_requests_fail() {
    let outcomes = Outcomes::default();
    let proxy = scripted("keeps", "*", keeps(&outcomes));
    let mut router = Router::new(vec![proxy], None);
    tell(&mut router, "load", None);
    tell(&mut router, "load", Some("s"));
    assert!(router.take_value_request().is_none());
    let error = format!(r#"{{"code":-32603,"message":"{NOT_HERE}"}}"#);
    assert_eq!(
        taken(&outcomes),
        [
            format!("load-value in -: {error}"),
            format!("load-value in s: {error}")
        ]
    );
}

#[test]
fn a_projects_value_is_that_of_the_folder_of_its_session() {
    let (mut router, outcomes) = keeping();
    begins(&mut router, 1, "one", "/one");
    begins(&mut router, 2, "two", "/two");
    for (session, folder) in [("two", "/two"), ("one", "/one")] {
        tell(&mut router, "load", Some(session));
        let request = asked(&mut router);
        assert_eq!(request.project.as_deref(), Some(folder));
        gives(&mut router, request.number, Ok("{}"));
        assert_eq!(taken(&outcomes), [format!("load-value in {session}: {{}}")]);
    }
    tell(&mut router, "load", Some("three"));
    assert!(router.take_value_request().is_none());
    let unknown = taken(&outcomes).concat();
    assert!(
        unknown.contains(r#"load-value in three: {"code":-32602"#),
        "{unknown}"
    );
    assert!(unknown.contains("the session is not known"), "{unknown}");

    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":1,"method":"session/close","params":{"sessionId":"one"}}"#,
    );
    // The requests for values have had numbers, too.
    let close = received(&mut router, Peer::Agent).pop().unwrap();
    let (_, behind) = close.split_once(r#""id":"#).unwrap();
    let (number, _) = behind.split_once(',').unwrap();
    agent(
        &mut router,
        &format!(r#"{{"jsonrpc":"2.0","id":{number},"result":{{}}}}"#),
    );
    tell(&mut router, "load", Some("one"));
    assert!(router.take_value_request().is_none(), "it has ended");
}

#[test]
fn the_folder_of_a_session_is_known_while_it_is_set_up() {
    let (mut router, _) = keeping();
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s","cwd":"/p","mcpServers":[]}}"#,
    );
    // The agent replays the session before it answers.
    tell(&mut router, "load", Some("s"));
    assert_eq!(asked(&mut router).project.as_deref(), Some("/p"));
    agent(&mut router, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    // It is resumed without a folder.
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":2,"method":"session/resume","params":{"sessionId":"s"}}"#,
    );
    tell(&mut router, "load", Some("s"));
    assert_eq!(asked(&mut router).project.as_deref(), Some("/p"));
}

#[test]
fn the_folder_is_the_one_with_which_the_agent_is_set_up() {
    let outcomes = Outcomes::default();
    let keeps = scripted("keeps", "*", keeps(&outcomes));
    let moves = scripted("moves", "session/new", |event, _| match event {
        Event::Message(delivery) if delivery.sender == Peer::Client => {
            Reaction::Decided(Decision::Edit(vec![Edit {
                pointer: "/cwd".to_owned(),
                value: Some(r#""/elsewhere""#.to_owned()),
            }]))
        }
        _ => Reaction::Decided(Decision::Forward),
    });
    let mut router = router(vec![keeps, moves]);
    begins(&mut router, 1, "s", "/p");
    tell(&mut router, "load", Some("s"));
    let project = asked(&mut router).project;
    assert_eq!(project.as_deref(), Some("/elsewhere"));
}

#[test]
fn an_outcome_for_an_instance_that_has_failed_is_dropped() {
    let outcomes = Outcomes::default();
    let (proxy, starts) = under(restarted(), "keeps", "*", keeps(&outcomes));
    let mut router = router(vec![proxy]);
    let start = Instant::now();
    router.advance(start);
    tell(&mut router, "load", None);
    let earlier = asked(&mut router).number;
    tell(&mut router, "die", None);
    router.advance(start + Duration::from_secs(10));
    router.pump(1000);
    assert_eq!(starts.lock().unwrap().len(), 1);
    tell(&mut router, "load", None);
    let later = asked(&mut router).number;
    gives(&mut router, earlier, Ok(r#""earlier""#));
    gives(&mut router, later, Ok(r#""later""#));
    assert_eq!(taken(&outcomes), [r#"load-value in -: "later""#]);
    assert_eq!(router.core.exchanges.len(), 0);
}

#[test]
fn a_replaced_version_gets_the_outcome_of_its_own_request() {
    let (old, new) = (Outcomes::default(), Outcomes::default());
    let (proxy, _) = under(restarted(), "keeps", "*", keeps(&old));
    let mut router = router(vec![proxy]);
    tell(&mut router, "load", None);
    let earlier = asked(&mut router).number;
    let (newer, _) = under(restarted(), "keeps", "*", keeps(&new));
    router.swap(Swap {
        proxy: "keeps".to_owned(),
        source: newer.source,
        terms: restarted(),
        on_failure: None,
        done: oneshot::channel().0,
        cut_short: Box::new(|_| ()),
    });
    tell(&mut router, "load", None);
    let later = asked(&mut router).number;
    gives(&mut router, later, Ok(r#""later""#));
    gives(&mut router, earlier, Ok(r#""earlier""#));
    assert_eq!(taken(&old), [r#"load-value in -: "earlier""#]);
    assert_eq!(taken(&new), [r#"load-value in -: "later""#]);
}

#[test]
fn a_proxy_stays_awake_for_an_outcome() {
    let terms = Terms {
        sleep_after: Some(Duration::from_mins(1)),
        ..restarted()
    };
    let outcomes = Outcomes::default();
    let (proxy, starts) = under(terms, "keeps", "*", keeps(&outcomes));
    let mut router = router(vec![proxy]);
    let start = Instant::now();
    router.advance(start);
    tell(&mut router, "load", None);
    let number = asked(&mut router).number;
    router.advance(start + Duration::from_mins(2));
    router.pump(1000);
    gives(&mut router, number, Ok("null"));
    assert_eq!(taken(&outcomes), ["load-value in -: null"]);
    assert!(starts.lock().unwrap().is_empty());
}

/// The ids in a manifest differ, but a project's proxy may have that of one of the user's.
#[test]
fn a_projects_proxy_has_no_values_of_the_users() {
    let (own, others) = (Outcomes::default(), Outcomes::default());
    let mut router = router(vec![scripted("keeps", "*", keeps(&own))]);
    router.find_projects(false);
    let params = r#"{"cwd":"/p","mcpServers":[]}"#;
    client(
        &mut router,
        &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"session/new","params":{params}}}"#),
    );
    let (number, _) = router.take_lookups().remove(0);
    let theirs = scripted("keeps", "*", keeps(&others));
    let joined = router.join("/p".into(), "/p", vec![theirs.into()]);
    assert_eq!(joined.unwrap().len(), 1);
    router.found(number, Some("/p"));
    router.pump(1000);
    let answer = format!(r#"{{"jsonrpc":"2.0","id":{number},"result":{{"sessionId":"s"}}}}"#);
    agent(&mut router, &answer);
    tell(&mut router, "load", Some("s"));
    assert_eq!(asked(&mut router).project.as_deref(), Some("/p"));
    assert!(router.take_value_request().is_none());
    let refused = taken(&others).concat();
    assert!(refused.contains(NOT_HERE), "{refused}");
}

#[test]
fn a_prompt_can_wait_for_a_value() {
    let mut held: Vec<(MessageId, MessageId)> = Vec::new();
    let waits = scripted(
        "waits",
        "session/prompt",
        move |event, ledger| match event {
            Event::Message(delivery) => {
                let load = ledger.load_value(Owner::User, "k").unwrap();
                held.push((load, delivery.id));
                Reaction::Decided(Decision::Hold)
            }
            Event::Answer(delivery) => {
                let (load, prompt) = held.remove(0);
                assert_eq!(delivery.id, load);
                ledger.settle(prompt, Decision::Forward).unwrap();
                Reaction::Told
            }
            _ => Reaction::Told,
        },
    );
    let mut router = router(vec![waits]);
    client(&mut router, PROMPT);
    assert_eq!(received(&mut router, Peer::Agent), [""; 0]);
    let number = asked(&mut router).number;
    gives(&mut router, number, Ok("{}"));
    let prompts = received(&mut router, Peer::Agent);
    assert!(prompts.concat().contains("session/prompt"), "{prompts:?}");
}
