//! The values of proxies, in memory.

use std::time::{Duration, UNIX_EPOCH};

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex, split};

use super::*;
use crate::{Chain, ChildIo, Member, Proxy, Settings, Terms, serve};
use acp_chain_channel::limits::{LINE, Limits};
use acp_chain_channel::{
    Call, Decision, Event, Failure, Grant, Kinds, Ledger, MessageId, Outcome, Owner, Part, Pattern,
    Registration, Reply, Source, Starting, Subscription, Tally,
};
use acp_chain_rpc::transport::Transport;

/// A proxy that stores a value for each request, and answers with the outcome.
struct Stores {
    ledger: Ledger,
    held: MessageId,
}

impl Part for Stores {
    fn allot(&mut self) -> MessageId {
        self.ledger.allot()
    }

    fn take_away(&mut self, id: MessageId) {
        self.ledger.let_go(id);
    }

    fn call(mut self: Box<Self>, event: Event) -> Call {
        let outcome = match event {
            Event::Message(delivery) => {
                self.held = delivery.id;
                self.ledger.hand_in(&delivery);
                let value = Some("v".to_owned());
                let stored = self.ledger.store_value(Owner::User, "k", 0, value);
                stored.unwrap();
                let held = self.ledger.take_back(delivery.id, Decision::Hold);
                Outcome::Decided(held.unwrap())
            }
            Event::Answer(delivery) => {
                self.ledger.answered(delivery.id);
                let outcome = Decision::Respond(delivery.message.body().to_owned());
                self.ledger.settle(self.held, outcome).unwrap();
                Outcome::Told
            }
            _ => Outcome::Told,
        };
        let (effects, saved) = self.ledger.take_effects();
        let reply = Reply {
            effects,
            saved,
            outcome,
        };
        Box::pin(async move { (self as Box<dyn Part>, reply) })
    }

    fn tally(&self) -> Tally {
        Tally::default()
    }

    fn untold(&mut self) -> Tally {
        Tally::default()
    }
}

struct NoRestart;

impl Source for NoRestart {
    fn start(&self, _: MessageId, _: Option<String>) -> Starting {
        Box::pin(async { Err(Failure::new("there is only one")) })
    }
}

fn stores() -> Proxy {
    let grant = Grant::unlimited();
    let mut ledger = Ledger::new(1, Limits::default().into(), grant.clone().into());
    ledger.start();
    let subscription = Subscription {
        method: Pattern::new("store").unwrap(),
        sender: None,
        kinds: Kinds::REQUEST,
        with_body: true,
    };
    Proxy {
        name: "stores".to_owned(),
        registration: Registration {
            subscriptions: vec![subscription],
            ..Registration::default()
        },
        part: Some(Box::new(Stores { ledger, held: 0 })),
        source: Box::new(NoRestart),
        terms: Terms {
            grant: grant.into(),
            ..Terms::default()
        },
    }
}

fn in_memory<const COUNT: usize>(proxies: [&str; COUNT]) -> StoredValues {
    StoredValues::apart(Keeper::in_memory().unwrap(), proxies)
}

#[tokio::test]
async fn a_proxy_gets_the_outcome_of_its_request() {
    let (client, from_client) = duplex(LINE);
    let (agent, from_agent) = duplex(LINE);
    let (output, input) = split(from_agent);
    let mut chain = Some(Chain {
        values: Some(in_memory(["stores"])),
        ..Chain::new(vec![stores().into()], ChildIo::over(output, input))
    });
    let start = async move |_| Ok(chain.take().expect("it starts once"));
    let (reader, writer) = split(from_client);
    let transport = Transport::lines(reader, writer, LINE);
    tokio::spawn(serve(transport, start, pending(), Settings::default()));

    let (answers, mut client) = split(client);
    let (requests, mut agent) = split(agent);
    let (mut answers, mut requests) = (
        BufReader::new(answers).lines(),
        BufReader::new(requests).lines(),
    );
    let initialize =
        br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#;
    client.write_all(initialize).await.unwrap();
    client.write_all(b"\n").await.unwrap();
    requests.next_line().await.unwrap();
    let initialized = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":1}}\n";
    agent.write_all(initialized).await.unwrap();
    answers.next_line().await.unwrap();
    for expected in [
        r#"{"jsonrpc":"2.0","id":7,"result":{"version":1}}"#,
        r#"{"jsonrpc":"2.0","id":7,"result":{"conflict":{"#,
    ] {
        let store = b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"store\"}\n";
        client.write_all(store).await.unwrap();
        let answer = answers.next_line().await.unwrap().unwrap();
        assert!(answer.starts_with(expected), "{answer}");
    }
}

#[test]
fn outcomes_have_the_form_that_the_interface_names() {
    let nothing = Loaded::default();
    assert_eq!(
        loaded_json(&nothing),
        json!({ "value": null, "version": 0, "since": null })
    );
    let found = Loaded {
        value: Some("v\n".to_owned()),
        version: 7,
        since: Some(UNIX_EPOCH + Duration::from_millis(1_500)),
    };
    let shown = json!({ "value": "v\n", "version": 7, "since": "1970-01-01T00:00:01.500Z" });
    assert_eq!(loaded_json(&found), shown);
    let conflict = StoreOutcome::Conflict(found);
    assert_eq!(stored_json(&conflict), json!({ "conflict": shown }));
    let stored = StoreOutcome::Stored { version: 8 };
    assert_eq!(stored_json(&stored), json!({ "version": 8 }));
}

#[test]
fn a_time_that_cannot_be_written_is_left_out() {
    let far = UNIX_EPOCH + Duration::from_mins(5_000_000_000);
    assert_eq!(rfc3339(far), None);
}

#[tokio::test]
async fn a_project_has_a_namespace_beside_that_of_the_user() {
    let stored = in_memory(["one"]);
    let user = stored.namespace("one", None).unwrap();
    let project = stored.namespace("one", Some("/p")).unwrap();
    assert_eq!(
        (user.project.clone(), project.project.clone()),
        (None, Some("/p".into()))
    );
    assert_eq!(stored.namespace("two", None), None);
    let put = stored.keeper.store(&project, "k", 0, Some("v")).await;
    assert_eq!(put, Ok(StoreOutcome::Stored { version: 1 }));
    assert_eq!(stored.keeper.load(&user, "k").await, Ok(Loaded::default()));
}

#[tokio::test]
async fn a_proxy_is_not_told_which_file_is_damaged() {
    let mut router = Router::new(Vec::<Member>::new(), None);
    let mut values = Values::new(in_memory([]));
    let error = KeeperError::Unavailable("/home/me/state.db is damaged".to_owned());
    assert_eq!(values.why(&error, &mut router), UNAVAILABLE);
    let ended = values.why(&KeeperError::Gone, &mut router);
    assert_eq!(ended, KeeperError::Gone.to_string());
    let busy = values.why(&KeeperError::Busy, &mut router);
    assert_eq!(busy, KeeperError::Busy.to_string());
}
