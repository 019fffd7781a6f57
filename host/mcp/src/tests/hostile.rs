//! For any messages of callers and providers, in any order: every request is answered once, nothing panics, and all
//! output is JSON and has a recipient.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::value::RawValue;

use super::transcript::{alone, beside, kept};
use crate::component::ComponentProvider;
use crate::component::channel::{Ask, FromComponent, ToComponent};
use crate::connected::ConnectedProvider;
use crate::seat::{Caller, CallerRequest, Input, Output, Seat};
use crate::stateless::StatelessProvider;
use crate::undecided::Undecided;
use crate::wire::McpMessage;
use crate::{ConnectionId, IncomingId, OutgoingId};
use acp_chain_channel::{Change, Offer};
use acp_chain_rpc::{Error, Id, Kind, Message, member};

#[derive(Clone, Debug)]
enum Step {
    Connect,
    Disconnect(Index),
    Request {
        connection: Option<Index>,
        id: &'static str,
        method: &'static str,
        params: Option<String>,
    },
    Notification(Index, &'static str, Option<String>),
    Withdraw(Index),
    Answer(Index, Result<String, i64>),
    ProviderRequest(String),
    ProviderNotification(String),
    ProviderLost(Index),
    Changed(Change),
    Ask(Index, u8),
    Again,
    Progress(Index, f64, Option<f64>),
}

const METHODS: [&str; 23] = [
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
    "tools/call",
    "subscriptions/listen",
    "subscriptions/listen",
    "resources/subscribe",
    "resources/unsubscribe",
    "resources/read",
    "resources/list",
    "resources/templates/list",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "logging/setLevel",
    "notifications/initialized",
    "notifications/cancelled",
    "notifications/progress",
    "notifications/tools/list_changed",
    "notifications/subscriptions/acknowledged",
    "x\"y",
];

/// Bodies with members that MCP uses.
fn params() -> impl Strategy<Value = String> {
    let legacy = select(vec![
        "{}",
        "[]",
        "7",
        r#"{"_meta":7}"#,
        r#"{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{}}"#,
        r#"{"protocolVersion":7}"#,
        r#"{"name":"t","arguments":{"a":1}}"#,
        r#"{"name":"t","arguments":7,"_meta":{"progressToken":"t"}}"#,
        r#"{"name":"u","_meta":{"progressToken":1e5}}"#,
        r#"{"cursor":"1.100"}"#,
        r#"{"uri":"a"}"#,
        r#"{"name":"t","arguments":{"x":"y"}}"#,
        r#"{"ref":{"type":"ref/prompt","name":"t"},"argument":{"name":"x","value":""}}"#,
        r#"{"uri":"b"}"#,
        r#"{"level":"info"}"#,
        r#"{"requestId":"0"}"#,
        r#"{"requestId":"1","progressToken":2}"#,
        r#"{"\ud800":1,"_meta":{"\ud800":2}}"#,
        r#"{"_meta":{"io.modelcontextprotocol/subscriptionId":1},"progressToken":3}"#,
        r#"{"_meta":{"io.modelcontextprotocol/subscriptionId":"\ud800"}}"#,
    ]);
    let stateless = select(vec![
        "",
        r#""name":"t","arguments":{}"#,
        r#""name":"u","progressToken":4"#,
        r#""notifications":{"toolsListChanged":true}"#,
        r#""notifications":{"resourcesListChanged":true,"resourceSubscriptions":["a","a"]}"#,
        r#""notifications":{"resourceSubscriptions":7}"#,
        r#""uri":"a","_meta":{"progressToken":1}"#,
        r#""notifications":{}"#,
    ]);
    prop_oneof![legacy.prop_map(str::to_owned), stateless.prop_map(alone),]
}

/// Possible answers of a provider or a component.
fn result() -> impl Strategy<Value = String> {
    let bare = select(vec![
        "{}",
        "null",
        "[]",
        r#"{"connectionId":"p0"}"#,
        r#"{"connectionId":"p1"}"#,
        r#"{"connectionId":"\u0070\u0032"}"#,
        r#"{"connectionId":7}"#,
        r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true}}}"#,
        r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"n","version":"v"}}"#,
        r#"{"tools":[{"name":"t","inputSchema":{"type":"object"}},{"name":"u","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}]}"#,
        r#"{"tools":7}"#,
        r#"{"instructions":"i","resources":[{"uri":"a:b","name":"n"},{"uri":"a"}],"templates":[{"uriTemplate":"a:{b}","name":"n"}]}"#,
        r#"{"prompts":[{"name":"t","arguments":[{"name":"x","required":true}]},{"name":"u"}]}"#,
        r#"{"contents":[{"uri":"a:b","text":"t"}],"ttlMs":7}"#,
        r#"{"messages":[{"role":"user","content":{"type":"text"}}]}"#,
        r#"{"completion":{"values":["a"]}}"#,
        r#"{"content":[],"structuredContent":{}}"#,
        r#"{"content":[{"type":"text"}],"resultType":"complete","ttlMs":1}"#,
        r#"{"resultType":"input_required","requestState":"s"}"#,
        r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"},"b":{"method":"roots/list"}}}"#,
        r#"{"resultType":"input_required","inputRequests":{"a":{"method":"sampling/createMessage"}}}"#,
        r#"{"_meta":{"io.modelcontextprotocol/subscriptionId":1}}"#,
    ]);
    (bare, any::<bool>()).prop_map(|(bare, wrapped)| {
        if wrapped {
            format!(r#"{{"result":{bare}}}"#)
        } else {
            bare.to_owned()
        }
    })
}

/// Possible requests and notifications of a provider.
fn sent() -> impl Strategy<Value = String> {
    let connection = select(vec!["\"p0\"", "\"\\u0070\\u0031\"", "\"p2\"", "7"]);
    let request = prop_oneof![
        (1..9u8).prop_map(|number| format!("\"acp-chain-{number}\"")),
        (0..3u8).prop_map(|number| format!("\"{number}\"")),
    ];
    (connection, request, select(METHODS.to_vec()), params()).prop_map(
        |(connection, request, method, params)| {
            let method = serde_json::to_string(method).unwrap();
            format!(
                r#"{{"serverId":"srv","connectionId":{connection},"requestId":{request},"method":{method},"params":{params}}}"#
            )
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let request = (
        proptest::option::of(any::<Index>()),
        select(vec!["0", "1", "2"]),
        select(METHODS.to_vec()),
        proptest::option::of(params()),
    );
    let refused = prop_oneof![any::<i64>(), Just(-32602)];
    let answer = prop_oneof![4 => result().prop_map(Ok), 1 => refused.prop_map(Err)];
    prop_oneof![
        2 => Just(Step::Connect),
        1 => any::<Index>().prop_map(Step::Disconnect),
        8 => request.prop_map(|(connection, id, method, params)| Step::Request {
            connection, id, method, params
        }),
        3 => (any::<Index>(), select(METHODS.to_vec()), proptest::option::of(params()))
            .prop_map(|(connection, method, params)| Step::Notification(connection, method, params)),
        1 => any::<Index>().prop_map(Step::Withdraw),
        10 => (any::<Index>(), answer).prop_map(|(question, outcome)| {
            Step::Answer(question, outcome)
        }),
        2 => sent().prop_map(Step::ProviderRequest),
        4 => sent().prop_map(Step::ProviderNotification),
        1 => any::<Index>().prop_map(Step::ProviderLost),
        1 => select(vec![
            Change::List(Offer::Tools),
            Change::List(Offer::Resources),
            Change::List(Offer::Prompts),
            Change::Resource("a".to_owned()),
        ])
        .prop_map(Step::Changed),
        2 => (any::<Index>(), 0..3u8).prop_map(|(call, count)| Step::Ask(call, count)),
        2 => Just(Step::Again),
        1 => (any::<Index>(), any::<f64>(), any::<Option<f64>>())
            .prop_map(|(question, progress, total)| Step::Progress(question, progress, total)),
    ]
}

/// The `_meta` beside every message.
const META: Option<&str> = Some(r#"{"x":1e400}"#);

/// The open requests of each side.
#[derive(Default)]
struct Ledger {
    asked: IncomingId,
    answers: BTreeMap<IncomingId, usize>,
    callers: BTreeMap<IncomingId, Caller>,
    there: BTreeSet<ConnectionId>,
    known: BTreeSet<OutgoingId>,
    questions: Vec<OutgoingId>,
    /// The seat's requests that are calls, answered or not.
    calls: Vec<OutgoingId>,
    /// The last `requestState` sent to a client.
    state: Option<String>,
}

impl Ledger {
    fn ask(&mut self) -> IncomingId {
        self.asked += 1;
        self.answers.insert(self.asked, 0);
        self.asked
    }

    fn question(&mut self, question: OutgoingId) {
        assert!(self.known.insert(question), "question {question} twice");
        self.questions.push(question);
    }

    fn caller(&self, caller: &Caller) {
        let is_there = match caller {
            Caller::Connection(connection) => self.there.contains(connection),
            Caller::Request(_) => self.callers.values().any(|open| open == caller),
        };
        assert!(
            is_there,
            "a notification for {caller:?}, which is not connected"
        );
    }

    fn note(&mut self, outputs: Vec<Output>) {
        for output in outputs {
            let mut texts: Vec<Option<String>> = Vec::new();
            match output {
                Output::Answer {
                    ask, outcome, meta, ..
                } => {
                    texts.push(meta);
                    *self.answers.get_mut(&ask).expect("it was asked") += 1;
                    self.callers.remove(&ask);
                    assert!(matches!(outcome.kind(), Kind::Result | Kind::Error));
                    let state = member(outcome.body(), "requestState");
                    self.state = state.map(str::to_owned).or(self.state.take());
                    texts.push(Some(outcome.body().to_owned()));
                }
                Output::Provider(question, message) => {
                    if let Some(question) = question {
                        self.question(question);
                    }
                    texts.push(Some(message.body().to_owned()));
                }
                Output::AskCaller {
                    question,
                    connection,
                    said,
                } => {
                    self.question(question);
                    self.caller(&Caller::Connection(connection));
                    texts.push(Some(said.params().to_owned()));
                }
                Output::TellCaller { caller, said, .. } => {
                    self.caller(&caller);
                    texts.push(Some(said.params().to_owned()));
                }
                Output::Withdraw { question } => {
                    assert!(self.questions.contains(&question), "{question} is not open");
                }
                Output::Notice { text } | Output::Drop { why: text } => {
                    assert!(text.len() < 8 * 1024, "{text}");
                }
                Output::Component { question, asks } => {
                    self.question(question);
                    if let ToComponent::Call { params, .. } = asks {
                        self.calls.push(question);
                        texts.push(Some(params));
                    }
                }
            }
            for text in texts.into_iter().flatten() {
                let json = serde_json::from_str::<&RawValue>(&text);
                assert!(json.is_ok(), "{text}");
            }
        }
    }

    fn open(&self) -> Vec<IncomingId> {
        let open = self.answers.iter().filter(|(_, count)| **count == 0);
        open.map(|(ask, _)| *ask).collect()
    }

    /// The answer to one of the seat's requests.
    fn answer(&mut self, index: Index, outcome: Result<String, i64>) -> Option<Input<'static>> {
        let at = (!self.questions.is_empty()).then(|| index.index(self.questions.len()))?;
        let question = self.questions.remove(at);
        let outcome = match outcome {
            Ok(result) => Message::result(&result),
            Err(code) => Message::error(&Error::new(code, "no connectionId")),
        };
        Some(Input::Answered { question, outcome })
    }

    /// Requests of a component in one of its calls.
    fn asks(&mut self, index: Index, count: u8) -> Option<Input<'static>> {
        let call = match &self.calls[..] {
            [] => return None,
            calls => *index.get(calls),
        };
        let message = Message::request("roots/list", "null");
        let asks = (0..count).map(|_| Ask {
            ask: self.ask(),
            message: message.clone(),
        });
        let asks = asks.collect();
        Some(Input::Component(FromComponent::Asks { call, asks }))
    }

    /// One of the connections, or one that never existed.
    fn connection(&self, index: Index) -> ConnectionId {
        let mut all: Vec<_> = self.there.iter().copied().collect();
        all.push(999_999);
        *index.get(&all)
    }
}

fn from_caller(method: &str, params: Option<&str>) -> McpMessage {
    beside(META, McpMessage::new(method, params.unwrap_or("null")))
}

fn run(seat: &mut dyn Seat, steps: Vec<Step>) {
    let mut ledger = Ledger::default();
    for step in steps {
        let outputs = match step {
            Step::Connect => {
                let ask = ledger.ask();
                ledger.there.insert(ask);
                seat.take(Input::Connect {
                    ask,
                    connection: ask,
                    meta: META,
                })
            }
            Step::Disconnect(index) => {
                let connection = ledger.connection(index);
                withdraw_all(seat, &mut ledger, connection);
                ledger.there.remove(&connection);
                let ask = Some(ledger.ask());
                seat.take(Input::Disconnect {
                    ask,
                    connection,
                    meta: META,
                })
            }
            Step::Request {
                connection,
                id,
                method,
                params,
            } => {
                let caller = match connection {
                    Some(index) => Caller::Connection(ledger.connection(index)),
                    None => Caller::Request(id.into()),
                };
                let ask = ledger.ask();
                ledger.callers.insert(ask, caller.clone());
                seat.take(Input::Request(CallerRequest {
                    ask,
                    caller,
                    id: Id::parse(&format!("{id:?}")),
                    said: from_caller(method, params.as_deref()),
                    falls_back: ask % 2 == 0,
                }))
            }
            Step::Notification(index, method, params) => seat.take(Input::Notification {
                connection: ledger.connection(index),
                said: from_caller(method, params.as_deref()),
            }),
            Step::Withdraw(index) => match &ledger.open()[..] {
                [] => continue,
                open => {
                    let ask = *index.get(open);
                    ledger.callers.remove(&ask);
                    seat.take(Input::Withdrawn { ask })
                }
            },
            Step::Answer(index, outcome) => match ledger.answer(index, outcome) {
                Some(input) => seat.take(input),
                None => continue,
            },
            Step::ProviderRequest(params) => {
                let ask = ledger.ask();
                let message = &Message::request("mcp/message", &params);
                seat.take(Input::ProviderRequest { ask, message })
            }
            Step::ProviderNotification(params) => {
                let message = &Message::notification("mcp/message", &params);
                seat.take(Input::ProviderNotification { message })
            }
            Step::ProviderLost(index) => {
                let open = &ledger.questions;
                let waiting = &open[index.index(open.len() + 1)..];
                let waiting = &waiting.iter().copied().collect();
                seat.take(Input::ProviderLost { waiting })
            }
            Step::Ask(index, count) => match ledger.asks(index, count) {
                Some(input) => seat.take(input),
                None => continue,
            },
            Step::Again => match ledger.state.take() {
                Some(state) => again(seat, &mut ledger, &state),
                None => continue,
            },
            Step::Changed(change) => seat.take(Input::Component(FromComponent::Changed(&change))),
            Step::Progress(index, progress, total) => match &ledger.questions[..] {
                [] => continue,
                open => seat.take(Input::Component(FromComponent::Progress {
                    question: *index.get(open),
                    progress,
                    total,
                    message: Some("\u{0}\"\n"),
                })),
            },
        };
        ledger.note(outputs);
    }
    end(seat, &mut ledger);
    let answers = &ledger.answers;
    assert!(answers.values().all(|count| *count == 1), "{answers:?}");
}

/// What a connection has asked is withdrawn before it ends.
fn withdraw_all(seat: &mut dyn Seat, ledger: &mut Ledger, connection: ConnectionId) {
    let caller = Caller::Connection(connection);
    let open = ledger.callers.extract_if(.., |_, by| *by == caller);
    for (ask, _) in open.collect::<Vec<_>>() {
        ledger.note(seat.take(Input::Withdrawn { ask }));
    }
}

/// A client retries its request with half of the answers.
fn again(seat: &mut dyn Seat, ledger: &mut Ledger, state: &str) -> Vec<Output> {
    let open = ledger.open();
    let given = open[open.len() / 2..].iter();
    let given: Vec<_> = given.map(|ask| format!(r#""{ask}":{{}}"#)).collect();
    let given = given.join(",");
    let params = alone(&format!(
        r#""name":"t","uri":"a","requestState":{state},"inputResponses":{{{given}}}"#
    ));
    let (ask, caller) = (ledger.ask(), Caller::Request("again".into()));
    ledger.callers.insert(ask, caller.clone());
    seat.take(Input::Request(CallerRequest {
        ask,
        caller,
        id: Id::parse("\"again\""),
        said: beside(META, McpMessage::new("tools/call", &params)),
        falls_back: false,
    }))
}

/// Ends a run: the provider answers the open requests with errors, and the callers cancel theirs.
fn end(seat: &mut dyn Seat, ledger: &mut Ledger) {
    for _ in 0..1000 {
        if let Some(question) = ledger.questions.pop() {
            let outcome = Message::error(&Error::new(1, "over"));
            ledger.note(seat.take(Input::Answered { question, outcome }));
        } else if let Some(ask) = ledger.open().first().copied() {
            ledger.note(seat.take(Input::Withdrawn { ask }));
            assert!(
                !ledger.open().contains(&ask) || !ledger.questions.is_empty(),
                "request {ask} stays unanswered"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_server_of_a_component_answers_every_request_once(
        steps in proptest::collection::vec(step(), 0..120)
    ) {
        let offers = Offer::ALL.into_iter().collect();
        run(&mut ComponentProvider::new("srv", offers, &kept()), steps);
    }

    #[test]
    fn the_seat_of_a_connected_provider_answers_every_request_once(
        steps in proptest::collection::vec(step(), 0..120)
    ) {
        run(&mut ConnectedProvider::new("srv", &kept()), steps);
    }

    #[test]
    fn the_seat_of_a_stateless_provider_answers_every_request_once(
        steps in proptest::collection::vec(step(), 0..120)
    ) {
        run(&mut StatelessProvider::new("srv", "acp-chain", &kept()), steps);
    }

    #[test]
    fn the_seat_of_an_undecided_provider_answers_every_request_once(
        steps in proptest::collection::vec(step(), 0..120)
    ) {
        run(&mut Undecided::new("srv", "acp-chain", &kept()), steps);
    }
}
