//! Whether messages arrive unchanged, except for the component's deliberate changes.

use std::cell::RefCell;

use acp_chain_acp::Life;
use acp_chain_messages::Version;

use crate::conformance::changed::damage;
use crate::conformance::excerpt::{difference, line};
use crate::conformance::finding::Finding;
use crate::conformance::play::Play;
use crate::conformance::report::Verdict;
use crate::conformance::stop::Stop;
use crate::conformance::traffic::{Exchange, all};
use crate::conformance::under_test::{Terms, UnderTest};
use acp_chain_channel::{Action, Actions, Outcome, Peer, subject};
use acp_chain_mcp::capabilities::with_acp;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_rpc::{self as rpc, Kind, Message};

/// The maximum number of findings.
const FINDINGS: usize = 3;

/// The lengths of the texts of long messages, in bytes.
const LONG: &[usize] = &[1, 1 << 10, 1 << 16, 1 << 20];

/// The length of a text, in bytes, that takes more memory than some languages have by default.
const LONGEST: usize = 4 << 20;

/// Values that are lost when a body is parsed into a language's own values and rewritten.
const ODD: &[&str] = &[
    "[9007199254740993,0.10,18446744073709551616]",
    "1e400",
    r#""\ud800""#,
];

/// The depth of deeply nested objects.
const DEEP: usize = 100;

pub fn run(under_test: &UnderTest) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for (number, version) in [(1, Version::V1), (2, Version::V2)] {
        let mut traffic = under_test.traffic();
        let mut exchanges = Vec::new();
        for method in all().filter(|method| method.version == version) {
            let some = (1..under_test.cases).map(|_| traffic.exchange(method));
            exchanges.push(Exchange::least(method));
            exchanges.extend(some);
        }
        exchanges.retain(|exchange| !exchange.declares_servers());
        // The message being played.
        let playing = RefCell::new(None);
        let played = under_test.play(Terms::default(), async |play: &mut Play| {
            play.initialize(number).await?;
            let mut findings = Vec::new();
            for exchange in &exchanges {
                playing.replace(Some(exchange.clone()));
                if let Some(finding) = cross(play, under_test, &Sent::of(exchange)).await? {
                    findings.push((exchange.clone(), finding));
                    if findings.len() == FINDINGS {
                        break;
                    }
                }
            }
            Ok(findings)
        });
        let found = match (played, playing.take()) {
            (Ok(found), _) => found,
            (Err(finding), Some(exchange)) => vec![(exchange, finding)],
            (Err(finding), None) => return vec![finding],
        };
        for (exchange, finding) in found {
            let finding = shortest(under_test, number, &exchange).unwrap_or(finding);
            if !findings.iter().any(|other| other.what == finding.what) {
                findings.push(finding);
            }
        }
    }
    if findings.is_empty() {
        let mut messages: Vec<_> = LONG.iter().copied().flat_map(of_length).collect();
        messages.push(deep());
        messages.extend(ODD.iter().copied().flat_map(with_odd));
        findings.extend(crosses(under_test, &messages).err());
    }
    if findings.is_empty() {
        let rare = |finding| Finding {
            verdict: Verdict::Warning,
            remedy: Some("ask for more `memory`: such messages are subject to its failure policy"),
            ..finding
        };
        findings.extend(crosses(under_test, &of_length(LONGEST)).err().map(rare));
    }
    findings.truncate(FINDINGS);
    findings
}

/// Sends these messages through the component, one after the other.
fn crosses(under_test: &UnderTest, messages: &[Sent]) -> Result<(), Finding> {
    under_test.play(Terms::default(), async |play: &mut Play| {
        play.initialize(1).await?;
        play.session("s").await?;
        for message in messages {
            if let Some(finding) = cross(play, under_test, message).await? {
                return Err(finding.into());
            }
        }
        Ok(())
    })
}

/// The smallest variant of the exchange that fails when played alone.
fn shortest(under_test: &UnderTest, version: u64, exchange: &Exchange) -> Option<Finding> {
    let alone = |exchange: &Exchange| {
        let played = under_test.play(Terms::default(), async |play: &mut Play| {
            play.initialize(version).await?;
            cross(play, under_test, &Sent::of(exchange)).await
        });
        played.unwrap_or_else(Some)
    };
    let mut smaller = exchange.smaller();
    let found = smaller.find_map(|smaller| alone(&smaller));
    found.or_else(|| alone(exchange))
}

/// A message to send, and its answer.
struct Sent {
    sender: Peer,
    method: String,
    params: String,
    outcome: Option<Result<String, String>>,
}

impl Sent {
    fn of(exchange: &Exchange) -> Self {
        Self {
            sender: exchange.sender(),
            method: exchange.method.name.clone(),
            params: exchange.params(),
            outcome: exchange.outcome(),
        }
    }

    fn prompt(params: String) -> Self {
        Self {
            sender: Peer::Client,
            method: "session/prompt".to_owned(),
            params,
            outcome: Some(Ok(r#"{"stopReason":"end_turn"}"#.to_owned())),
        }
    }

    fn update(params: String) -> Self {
        Self {
            sender: Peer::Agent,
            method: "session/update".to_owned(),
            params,
            outcome: None,
        }
    }
}

/// A prompt and a tool call update with this value at a place that no schema describes.
fn with_odd(value: &str) -> [Sent; 2] {
    [
        Sent::prompt(format!(
            r#"{{"sessionId":"s","prompt":[{{"type":"text","text":"x","_meta":{{"a":{value}}}}}]}}"#
        )),
        Sent::update(format!(
            r#"{{"sessionId":"s","update":{{"sessionUpdate":"tool_call_update","toolCallId":"t","rawOutput":{value}}}}}"#
        )),
    ]
}

/// Prompts and updates with a text of this length.
fn of_length(length: usize) -> [Sent; 2] {
    let text = "x".repeat(length);
    [
        Sent::prompt(format!(
            r#"{{"sessionId":"s","prompt":[{{"type":"text","text":"{text}"}}]}}"#
        )),
        Sent::update(format!(
            r#"{{"sessionId":"s","update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{text}"}}}}}}"#
        )),
    ]
}

/// A prompt with nested objects.
fn deep() -> Sent {
    let deep = format!("{}1e400{}", r#"{"a":"#.repeat(DEEP), "}".repeat(DEEP));
    Sent::prompt(format!(
        r#"{{"sessionId":"s","prompt":[{{"type":"text","text":"x"}}],"_meta":{deep}}}"#
    ))
}

/// Sends a message through the component, and its answer back.
async fn cross(
    play: &mut Play,
    under_test: &UnderTest,
    message: &Sent,
) -> Result<Option<Finding>, Stop> {
    let (near, far) = (message.sender, message.sender.opposite());
    let (method, params, outcome) = (&message.method, &message.params, &message.outcome);
    let from = play.seen.lock().calls.len();
    let ask = match outcome {
        Some(_) => Some(play.ask(near, method, params).await?),
        None => {
            play.tell(near, method, params).await?;
            None
        }
    };
    play.rest().await?;
    let leg = Leg {
        under_test,
        method,
        sender: near,
        message: match outcome {
            Some(_) => Message::request(method, params),
            None => Message::notification(method, params),
        },
    };
    let came = play.take(far, method).pop();
    let fate = leg.fate(play, from);
    if let Some(finding) = leg.judge(fate.as_ref(), came.as_ref(), play) {
        return Ok(Some(finding));
    }
    let (Some(ask), Some(outcome)) = (ask, outcome) else {
        return Ok(None);
    };
    let Some(came) = came else {
        if let Some(Outcome::Decided(Action::Hold)) = fate {
            // Other checks are about held messages.
            play.cancel(&ask).await?;
            play.rest().await?;
        }
        return Ok(None);
    };
    let from = play.seen.lock().calls.len();
    play.answer(far, &came, outcome).await?;
    play.rest().await?;
    let (Ok(body) | Err(body)) = outcome;
    // The host adds its own capability.
    if method == "initialize" && outcome.is_ok() && with_acp(body).is_some() {
        return Ok(None);
    }
    let leg = Leg {
        under_test,
        method,
        sender: far,
        message: Message::result(body),
    };
    let fate = leg.fate(play, from);
    let answer = play.answers(&ask).pop();
    Ok(leg.judge(fate.as_ref(), answer.as_ref(), play))
}

/// One direction of a message through the component.
struct Leg<'a> {
    under_test: &'a UnderTest,
    method: &'a str,
    sender: Peer,
    /// The message as the host forwards it: line breaks become spaces.
    message: Message,
}

impl Leg<'_> {
    /// The fate of the message, in the calls from position `from` on.
    fn fate(&self, play: &Play, from: usize) -> Option<Outcome> {
        let state = play.seen.lock();
        state.fate(from, self.sender, self.message.body()).cloned()
    }

    /// The problem with the message's fate, if there is one.
    fn judge(
        &self,
        fate: Option<&Outcome>,
        came: Option<&Message>,
        play: &Play,
    ) -> Option<Finding> {
        let sent = self.message.body();
        // The host adds MCP servers to the setup requests.
        let is_declared = Life::of(self.method).sets_up() && !play.offers.is_empty();
        // The host itself withholds ambiguous bodies from guards.
        let has_readings = rpc::look_through(sent, self.method).is_err();
        let is_kept = play.is_guard && has_readings;
        if is_declared || is_kept {
            return None;
        }
        let expected = match fate {
            None | Some(Outcome::Told | Outcome::Decided(Action::Forward)) => sent,
            Some(Outcome::Decided(Action::Replace(new))) => {
                let new = new.body();
                if let Some(damage) = self.damage(new) {
                    let what = format!("{damage}, in `{}`", quote(self.method, MAX_QUOTE));
                    return Some(Finding::failure(what).with_case(self.shown(sent, new)));
                }
                new
            }
            Some(Outcome::Refused(reason)) => return Some(self.undecided(reason, play)),
            Some(
                Outcome::Decided(Action::Answer(_) | Action::Discard | Action::Hold)
                | Outcome::Broke(_),
            ) => return None,
        };
        let what = format!("`{}`", quote(self.method, MAX_QUOTE));
        match came {
            Some(came) if came.body() == expected => None,
            Some(came) => Some(
                Finding::failure(format!("{what} does not arrive as the component sent it"))
                    .with_case(self.shown(expected, came.body())),
            ),
            None => Some(
                Finding::failure(format!("{what} does not arrive, and was not rejected"))
                    .with_case([self.line(' ', sent)]),
            ),
        }
    }

    fn undecided(&self, reason: &str, play: &Play) -> Finding {
        let method = quote(self.method, MAX_QUOTE);
        let what = format!(
            "it cannot decide about `{method}`: {}",
            quote(reason, MAX_QUOTE)
        );
        // A guard should reject a message that it cannot read.
        let finding = if play.is_guard {
            Finding::warning(what).with_remedy(
                "the sender of such a message gets an error: check that this guard should reject it",
            )
        } else {
            Finding::failure(what).with_remedy(
                "`forward` messages that it cannot read: an `err` rejects the message without telling the user why",
            )
        };
        finding.with_case([self.line(' ', self.message.body())])
    }

    fn damage(&self, new: &str) -> Option<String> {
        let grant = &self.under_test.guest.grant;
        let subject = subject(&self.message, self.sender, self.method);
        if grant.covers(Actions::CHANGE, &subject) {
            damage(self.message.body(), new, grant, &subject)
        } else {
            Some("it is changed where no power covers it".to_owned())
        }
    }

    fn line(&self, mark: char, body: &str) -> String {
        line(mark, self.sender.as_str(), &self.word(), body)
    }

    fn shown(&self, expected: &str, came: &str) -> Vec<String> {
        let far = format!("{} gets", self.sender.opposite().as_str());
        let mut lines = vec![self.line(' ', self.message.body())];
        lines.extend(difference(&far, &self.word(), expected, came));
        lines
    }

    fn word(&self) -> String {
        match self.message.kind() {
            Kind::Result | Kind::Error => format!("answers `{}` with", self.method),
            Kind::Request | Kind::Notification => self.method.to_owned(),
        }
    }
}
