//! Handlers that wait: which messages they hold, when they settle them, and what happens when they fail, are cancelled,
//! or wait for each other.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use acp_chain_proxy::testing::{Host, SentKind};
use acp_chain_proxy::{
    Action, Edit, Error, Level, MessageId, Notification, Peer, Proxy, Request, Response, Result,
    Subscription, log, settle, spawn,
};
use serde_json::{Value, json};

/// Takes the action that the method names.
#[derive(Default)]
struct ScriptedProxy {
    gate: Rc<Gate>,
    held: RefCell<Vec<MessageId>>,
}

/// Opens once, for all waiting handlers.
#[derive(Default)]
struct Gate {
    open: Cell<bool>,
    waiting: RefCell<Vec<Waker>>,
}

impl Gate {
    async fn pass(&self) {
        poll_fn(|context| {
            if self.open.get() {
                return Poll::Ready(());
            }
            self.waiting.borrow_mut().push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    fn open(&self) {
        self.open.set(true);
        self.waiting.take().into_iter().for_each(Waker::wake);
    }
}

impl Proxy for ScriptedProxy {
    const SUBSCRIPTIONS: &[Subscription] = &[
        Subscription::requests("do/*"),
        Subscription::notifications("do/*"),
        Subscription::responses("do/*"),
    ];

    async fn on_request(&self, request: Request) -> Result {
        match request.head.method.as_str() {
            "do/ask" => {
                let answer = Peer::Agent.request("what", json!({ "a": 1 })).await?;
                Ok(Action::Respond(answer))
            }
            "do/ask-twice" => {
                let (first, second) = (Peer::Agent.request("1", ()), Peer::Client.request("2", ()));
                let (second, first) = (second.await?, first.await?);
                Ok(Action::Respond(json!([first, second]).into()))
            }
            "do/ask-denied" => Ok(Action::Respond(
                Peer::Agent.request("$/cancel_request", ()).await?,
            )),
            "do/pass-gate" => {
                self.gate.pass().await;
                Ok(Action::Forward)
            }
            "do/open-gate" => {
                self.gate.open();
                Ok(Action::Forward)
            }
            "do/spawn-opener" => {
                let gate = Rc::clone(&self.gate);
                spawn(async move {
                    let _ = Peer::Client.request("may I", ()).await;
                    gate.open();
                });
                Ok(Action::Forward)
            }
            "do/open-own-gate" => {
                let gate = Rc::clone(&self.gate);
                spawn(async move { gate.open() });
                self.gate.pass().await;
                Ok(Action::Forward)
            }
            "do/edit" => {
                Peer::Agent.request("where", ()).await?;
                Ok(Action::Edit(vec![
                    Edit::set("/b", json!([])),
                    Edit::set("/b/-", json!(1)),
                    Edit::remove("/a"),
                ]))
            }
            "do/insist" => {
                let _ = Peer::Agent.request("what", ()).await;
                Ok(Action::Respond(json!("partial").into()))
            }
            _ => Err("unknown action".into()),
        }
    }

    async fn on_notification(&self, notification: Notification) -> Result {
        match notification.head.method.as_str() {
            "do/hold" => {
                self.held.borrow_mut().push(notification.head.id);
                Ok(Action::Hold)
            }
            "do/ask" => {
                Peer::Client.request("what", ()).await?;
                Ok(Action::Forward)
            }
            _ => Ok(Action::Forward),
        }
    }

    async fn on_response(&self, _: Response) -> Result {
        for held in self.held.take() {
            settle(held, Action::Forward)?;
        }
        Ok(Action::Forward)
    }

    fn on_cancel(&self, id: MessageId) -> Option<Action> {
        log(Level::Info, format_args!("cancelled {id}"));
        (id != 1).then(|| Action::Reject(Error::cancelled()))
    }
}

fn host() -> Host {
    Host::start::<ScriptedProxy>(json!({})).expect("takes no configuration")
}

fn bodies(host: &mut Host) -> Vec<(SentKind, Value)> {
    host.sent()
        .into_iter()
        .map(|sent| (sent.what, sent.at("")))
        .collect()
}

#[test]
fn a_message_is_held_until_the_answer_comes() {
    let mut host = host();
    let id = host.request(Peer::Client, "do/ask", ());
    let asked = host.sent().remove(0);
    assert_eq!((asked.to, asked.method.as_str()), (Peer::Agent, "what"));
    assert_eq!(host.held(), [id]);
    host.answer(asked.id, json!({ "x": 1 }));
    assert_eq!(bodies(&mut host), [(SentKind::Response, json!({ "x": 1 }))]);
}

#[test]
fn answers_may_come_in_any_order() {
    for order in [[0, 1], [1, 0]] {
        let mut host = host();
        host.request(Peer::Client, "do/ask-twice", ());
        let asked = host.sent();
        for place in order {
            host.answer(asked[place].id, place);
        }
        assert_eq!(bodies(&mut host), [(SentKind::Response, json!([0, 1]))]);
    }
}

#[test]
fn messages_go_on_while_one_is_held() {
    let mut host = host();
    let held = host.request(Peer::Client, "do/pass-gate", ());
    host.request(Peer::Client, "other", json!(1));
    host.request(Peer::Client, "do/open-gate", json!(2));
    let order: Vec<_> = host.sent().iter().map(|sent| sent.id).collect();
    assert_eq!(order, [held + 1, held, held + 2]);
}

#[test]
fn a_handler_that_gets_ready_within_its_own_call_is_not_held() {
    let mut host = host();
    host.request(Peer::Client, "do/open-own-gate", ());
    assert!(host.held().is_empty() && host.log().is_empty());
    assert_eq!(host.sent().len(), 1);
}

#[test]
fn a_spawned_task_waits_for_itself() {
    let mut host = host();
    host.request(Peer::Client, "do/spawn-opener", ());
    let asked = host
        .sent()
        .into_iter()
        .find(|sent| sent.method == "may I")
        .expect("asked");
    let held = host.request(Peer::Client, "do/pass-gate", ());
    assert!(host.sent().is_empty());
    host.answer(asked.id, ());
    assert_eq!(host.sent()[0].id, held);
}

#[test]
fn a_failure_answers_the_request_before_and_after_waiting() {
    let mut host = host();
    host.request(Peer::Client, "do/nothing", ());
    assert_eq!(
        host.sent()[0].body,
        Err(Error::new(Error::INTERNAL, "unknown action"))
    );

    host.request(Peer::Client, "do/ask", ());
    let asked = host.sent().remove(0);
    host.fail(asked.id, Error::new(-32601, "Method not found"));
    let failure = Error::new(Error::INTERNAL, "Method not found (-32601)");
    assert_eq!(host.sent()[0].body, Err(failure));
}

#[test]
fn a_notification_whose_handler_failed_is_dropped() {
    let mut host = host();
    host.notify(Peer::Agent, "do/ask", ());
    let asked = host.sent().remove(0);
    host.fail(asked.id, Error::new(1, "no"));
    assert!(host.sent().is_empty() && host.held().is_empty());
}

#[test]
fn edits_are_made_one_after_the_other_and_one_without_a_place_is_a_failure() {
    for (params, expected) in [
        (json!({ "a": 0, "c": 0 }), SentKind::Request),
        (json!({ "c": 0 }), SentKind::Response),
    ] {
        let mut host = host();
        host.request(Peer::Client, "do/edit", params);
        let asked = host.sent().remove(0);
        host.answer(asked.id, ());
        let sent = host.sent().remove(0);
        assert_eq!(sent.what, expected);
        match sent.body {
            Ok(body) => assert_eq!(body.to_string(), r#"{"c":0,"b":[1]}"#),
            Err(error) => assert!(error.message.contains("nothing at `/a`"), "{error}"),
        }
        assert!(host.held().is_empty());
    }
}

#[test]
fn a_request_that_the_host_refuses_is_an_error_to_await() {
    let mut host = host();
    host.request(Peer::Client, "do/ask-denied", ());
    let Err(error) = host.sent().remove(0).body else {
        panic!("an error")
    };
    assert!(
        error
            .message
            .contains("`$/cancel_request` belongs to the host"),
        "{error}"
    );
}

#[test]
fn cancelling_a_held_request_cancels_the_requests_of_its_handler() {
    let mut host = host();
    host.request(Peer::Client, "skip the number 1", ());
    let held = host.request(Peer::Client, "do/ask-twice", ());
    let asked = host.sent();
    host.cancel(held);
    let sent = host.sent();
    assert_eq!(
        sent.iter().map(|sent| sent.what).collect::<Vec<_>>(),
        [SentKind::Cancel, SentKind::Cancel, SentKind::Response]
    );
    assert_eq!(sent[2].body, Err(Error::cancelled()));
    host.answer(asked[1].id, ());
    host.fail(asked[2].id, Error::cancelled());
    assert!(host.sent().is_empty(), "late answers are ignored");
}

#[test]
fn a_proxy_may_finish_a_request_although_it_is_cancelled() {
    let mut host = host();
    let held = host.request(Peer::Client, "do/insist", ());
    assert_eq!(held, 1);
    let asked = host.sent().remove(0);
    host.cancel(held);
    assert_eq!(host.held(), [held]);
    host.answer(asked.id, ());
    assert_eq!(bodies(&mut host), [(SentKind::Response, json!("partial"))]);
}

#[test]
fn held_notifications_are_settled_when_the_response_comes() {
    let mut host = host();
    let request = host.request(Peer::Client, "do/open-gate", json!({ "sessionId": "s" }));
    host.notify(Peer::Agent, "do/hold", json!({ "sessionId": "s", "n": 1 }));
    host.notify(Peer::Agent, "do/hold", json!({ "sessionId": "s", "n": 2 }));
    host.sent();
    host.answer(request, json!("end"));
    let order: Vec<_> = host
        .sent()
        .iter()
        .map(|sent| (sent.what, sent.at("/n")))
        .collect();
    assert_eq!(
        order,
        [
            (SentKind::Notification, json!(1)),
            (SentKind::Notification, json!(2)),
            (SentKind::Response, Value::Null)
        ]
    );
}
