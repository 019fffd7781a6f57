//! A chain of one component in this process. A check plays the client and the agent.
//!
//! Time is simulated, as in a transcript: it advances only when everything is idle. The component's own requests are
//! answered at once, with the smallest answer that the protocol's schema allows.

use std::collections::HashMap;
use std::time::Duration;

use acp_chain_messages::{Kind as Asks, Side, methods};
use tokio::time::sleep;

use super::excerpt::{line, name, shown};
use super::finding::Finding;
use super::mark::Mark;
use super::stop::Stop;
use crate::observed::Observations;
use crate::transcript::wire::{self, REST, RESTART, Wire};
use acp_chain_channel::{FailurePolicy, Offers, Peer};
use acp_chain_conductor::{Member, StoredValues};
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_rpc::{Error, Kind, Message, code};
use acp_chain_sandbox::Guest;
use acp_chain_state::Keeper;

/// The maximum number of messages before the chain must become idle.
const MOST: usize = 20_000;

/// The maximum number of rounds of messages before the chain must become idle.
const ROUNDS: usize = 5_000;

/// The client's `initialize` parameters, after `protocolVersion`.
const CLIENT: &str =
    r#""clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true}"#;

/// The agent's answer to `initialize`, after `protocolVersion`.
const AGENT: &str = r#""agentCapabilities":{"loadSession":true,"promptCapabilities":{"image":true,"audio":true,"embeddedContext":true},"mcpCapabilities":{"http":true,"acp":true}},"authMethods":[]"#;

/// The agent's answer to `initialize` in version 2, after `protocolVersion`.
const AGENT_2: &str = r#""capabilities":{"session":{"mcp":{"stdio":{},"acp":{}}}}"#;

/// A request that an end has sent.
#[derive(Clone, Debug)]
pub struct Ask {
    pub from: Peer,
    pub id: u64,
    pub method: String,
}

/// A running chain.
pub struct Play {
    client: Wire,
    agent: Wire,
    /// Received requests and notifications that have not been processed yet, with their receivers.
    inbox: Vec<(Peer, Message)>,
    /// The answers to each request.
    answers: HashMap<(Peer, String), Vec<Message>>,
    /// The marks that reached an end in notifications and answers, in order, with their messages.
    pub marks: Vec<(Peer, Mark, Message)>,
    pub seen: Observations,
    last: u64,
    /// The number of messages sent and received.
    pub count: usize,
    /// The component's offers for the agent.
    pub offers: Offers,
    pub is_guard: bool,
    hold_time: Duration,
}

impl Play {
    /// Starts the component, and the chain. If the component fails, the host settles its messages by `on_failure`, by
    /// default the component's own policy.
    pub async fn start(
        guest: Guest,
        seen: Observations,
        on_failure: Option<FailurePolicy>,
    ) -> Result<Self, Stop> {
        let hold_time = guest.limits.hold_time;
        let started = wire::start(guest, on_failure, seen.clone()).await;
        let proxy = started.map_err(Stop::DoesNotStart)?;
        let registration = &proxy.registration;
        let (offers, is_guard) = (registration.offers, registration.guard);
        let keeper = Keeper::in_memory();
        let keeper = keeper.map_err(|error| Finding::failure(error.to_string()))?;
        let values = StoredValues::apart(keeper, [&*proxy.name]);
        let [client, agent] = wire::serve(vec![Member::from(proxy)], values);
        Ok(Self {
            client,
            agent,
            inbox: Vec::new(),
            answers: HashMap::new(),
            marks: Vec::new(),
            seen,
            last: 0,
            count: 0,
            offers,
            is_guard,
            hold_time,
        })
    }

    /// Plays `initialize` with this version of the protocol.
    pub async fn initialize(&mut self, version: u64) -> Result<(), Stop> {
        let params = format!(r#"{{"protocolVersion":{version},{CLIENT}}}"#);
        let agent = if version == 2 { AGENT_2 } else { AGENT };
        let result = format!(r#"{{"protocolVersion":{version},{agent}}}"#);
        self.set_up("initialize", &params, &result).await.map(drop)
    }

    /// Sets up a session with this name. Returns the setup request as the agent received it.
    pub async fn session(&mut self, name: &str) -> Result<Option<Message>, Stop> {
        let params = r#"{"cwd":"/project","mcpServers":[]}"#;
        let result = format!(r#"{{"sessionId":"{name}"}}"#);
        self.set_up("session/new", params, &result).await
    }

    /// Plays a setup request of the client. Returns it as the agent received it.
    async fn set_up(
        &mut self,
        method: &str,
        params: &str,
        result: &str,
    ) -> Result<Option<Message>, Stop> {
        let (mut asked, mut answer) = self.try_to_set_up(method, params, result).await?;
        let was_failed = |play: &Self| play.seen.lock().was_failed();
        let kind = |answer: &Option<Message>| answer.as_ref().map(Message::kind);
        if kind(&answer) != Some(Kind::Result) && was_failed(self) {
            // A client would retry.
            (asked, answer) = self.try_to_set_up(method, params, result).await?;
        }
        if kind(&answer) == Some(Kind::Result) {
            return Ok(asked);
        }
        let (what, came) = match &answer {
            Some(answer) => (
                "does not succeed",
                Some(line('+', "client gets", "error", answer.body())),
            ),
            None => ("is not answered", None),
        };
        let what =
            format!("`{method}` {what} with the component in the chain: the check cannot continue");
        let lines = [
            line(' ', "client", method, params),
            line('-', "client gets", "result", result),
        ];
        let finding = Finding::failure(what).with_case(lines.into_iter().chain(came));
        Err(finding.into())
    }

    /// Returns the request that the agent received, and the answer that the client received.
    async fn try_to_set_up(
        &mut self,
        method: &str,
        params: &str,
        result: &str,
    ) -> Result<(Option<Message>, Option<Message>), Stop> {
        let ask = self.ask(Peer::Client, method, params).await?;
        self.rest().await?;
        let mut asked = self.take(Peer::Agent, method).pop();
        if asked.is_none() && self.answers(&ask).is_empty() {
            // The request may wait for the component's restart.
            self.pass(RESTART).await?;
            asked = self.take(Peer::Agent, method).pop();
        }
        if let Some(asked) = &asked {
            self.answer(Peer::Agent, asked, &Ok(result.to_owned()))
                .await?;
            self.rest().await?;
            if self.answers(&ask).is_empty() {
                self.pass(RESTART).await?;
            }
        }
        Ok((asked, self.answers(&ask).pop()))
    }

    /// Sends a request of an end. The params are JSON.
    pub async fn ask(&mut self, from: Peer, method: &str, params: &str) -> Result<Ask, Stop> {
        self.last += 1;
        let id = self.last;
        let wire = self.sender(from);
        wire.ask(&id.to_string(), method, &params).await?;
        Ok(Ask {
            from,
            id,
            method: method.to_owned(),
        })
    }

    /// Sends a notification of an end. The params are JSON.
    pub async fn tell(&mut self, from: Peer, method: &str, params: &str) -> Result<(), Stop> {
        self.sender(from).tell(method, &params).await?;
        Ok(())
    }

    /// Cancels a request of an end.
    pub async fn cancel(&mut self, ask: &Ask) -> Result<(), Stop> {
        let params = format!(r#"{{"requestId":{}}}"#, ask.id);
        self.tell(ask.from, acp_chain_acp::CANCEL_REQUEST, &params)
            .await
    }

    /// Answers a request that an end received.
    pub async fn answer(
        &mut self,
        from: Peer,
        request: &Message,
        outcome: &Result<String, String>,
    ) -> Result<(), Stop> {
        let Some(id) = request.id() else {
            return Ok(());
        };
        let (slot, body) = match outcome {
            Ok(result) => ("result", result),
            Err(error) => ("error", error),
        };
        self.sender(from).answer(&id, slot, body).await?;
        Ok(())
    }

    /// The end that sends a message now.
    fn sender(&mut self, from: Peer) -> &mut Wire {
        self.count += 1;
        self.wire(from)
    }

    fn wire(&mut self, peer: Peer) -> &mut Wire {
        match peer {
            Peer::Client => &mut self.client,
            Peer::Agent => &mut self.agent,
        }
    }

    /// Waits until everything is idle.
    pub async fn rest(&mut self) -> Result<(), Stop> {
        let (mut rounds, from) = (0, self.count);
        loop {
            sleep(REST).await;
            let has_received = self.receive().await?;
            let is_broken = self.seen.lock().broken().is_some();
            if is_broken {
                return Err(Stop::Broke);
            }
            if !has_received && !self.seen.is_busy() {
                return Ok(());
            }
            rounds += usize::from(has_received);
            if rounds > ROUNDS || self.count - from > MOST {
                return Err(Stop::NoRest);
            }
        }
    }

    /// Lets time pass, and waits until everything is idle.
    pub async fn pass(&mut self, time: Duration) -> Result<(), Stop> {
        sleep(time).await;
        self.rest().await
    }

    /// Lets the component's `hold-time` pass, after which the host has taken back all held messages.
    pub async fn pass_hold_time(&mut self) -> Result<(), Stop> {
        self.pass(self.hold_time + Duration::from_secs(1)).await
    }

    /// Processes received messages. Returns whether there were any.
    async fn receive(&mut self) -> Result<bool, Stop> {
        let mut has_received = false;
        for to in [Peer::Client, Peer::Agent] {
            loop {
                let Some(message) = self.wire(to).receive() else {
                    self.wire(to).release();
                    break;
                };
                has_received = true;
                self.count += 1;
                self.file(to, message).await?;
            }
        }
        Ok(has_received)
    }

    async fn file(&mut self, to: Peer, message: Message) -> Result<(), Stop> {
        let kind = message.kind();
        if kind != Kind::Request
            && let Some(mark) = Mark::read(message.body())
        {
            self.marks.push((to, mark, message.clone()));
        }
        match kind {
            Kind::Result | Kind::Error => {
                let id = message.id().map(|id| id.as_str().to_owned());
                let answers = self.answers.entry((to, id.unwrap_or_default()));
                answers.or_default().push(message);
            }
            _ if !self.seen.is_own(to, &message) => self.inbox.push((to, message)),
            Kind::Request => {
                let outcome = least(to, message.method());
                self.answer(to, &message, &outcome).await?;
            }
            Kind::Notification => {}
        }
        Ok(())
    }

    /// Takes the received messages of this method at one end.
    pub fn take(&mut self, to: Peer, method: &str) -> Vec<Message> {
        let is_it =
            |(peer, message): &mut (Peer, Message)| *peer == to && **message.method() == *method;
        let taken = self.inbox.extract_if(.., is_it);
        taken.map(|(_, message)| message).collect()
    }

    /// Takes all received messages at one end.
    pub fn take_all(&mut self, to: Peer) -> Vec<Message> {
        let taken = self.inbox.extract_if(.., |(peer, _)| *peer == to);
        taken.map(|(_, message)| message).collect()
    }

    /// Answers all requests received at one end, with the smallest answer that the schema allows.
    pub async fn answer_all(&mut self, to: Peer) -> Result<(), Stop> {
        for message in self.take_all(to) {
            let outcome = least(to, message.method());
            self.answer(to, &message, &outcome).await?;
        }
        Ok(())
    }

    /// The answers to a request.
    pub fn answers(&self, ask: &Ask) -> Vec<Message> {
        let key = (ask.from, ask.id.to_string());
        self.answers.get(&key).cloned().unwrap_or_default()
    }

    /// An error unless each of these requests has exactly one answer.
    pub fn check_answers(&self, asks: &[Ask]) -> Result<(), Finding> {
        for ask in asks {
            let answers = self.answers(ask);
            let count = match answers.len() {
                1 => continue,
                0 => "never answered".to_owned(),
                more => format!("answered {more} times"),
            };
            let (who, method) = (ask.from.as_str(), quote(&ask.method, MAX_QUOTE));
            let asked = line(' ', who, &ask.method, &format!("(id {})", ask.id));
            let gets = format!("{who} gets");
            let all = answers.iter();
            let all = all.map(|answer| line('+', &gets, "answer", answer.body()));
            let finding = Finding::failure(format!("the {who}'s `{method}` is {count}"));
            return Err(finding.with_case([asked].into_iter().chain(all)));
        }
        Ok(())
    }

    /// An error unless the numbers of received marks rise in each session, at each end.
    pub fn check_order(&self) -> Result<(), Finding> {
        let mut latest: HashMap<(Peer, usize), (usize, &Message)> = HashMap::new();
        for (to, mark, message) in &self.marks {
            let known = latest.insert((*to, mark.session), (mark.number, message));
            if let Some((number, earlier)) = known.filter(|(number, _)| *number > mark.number) {
                let gets = format!("{} gets", to.as_str());
                let what = format!(
                    "message {number} of a session arrives at the {} before message {}",
                    to.as_str(),
                    mark.number
                );
                let shown =
                    |mark, message: &Message| line(mark, &gets, &word(message), message.body());
                return Err(Finding::failure(what).with_case([
                    shown('-', message),
                    shown(' ', earlier),
                    shown('+', message),
                ]));
            }
        }
        Ok(())
    }

    /// An error if the component still holds a message. `why` says why it should not.
    pub fn check_held(&self, why: &str) -> Result<(), Finding> {
        let state = self.seen.lock();
        let held = state.held.values().next();
        match held.and_then(|at| state.calls.get(*at)) {
            Some(held) => Err(
                Finding::failure(format!("it still holds {} {why}", name(held)))
                    .with_case(shown(held)),
            ),
            None => Ok(()),
        }
    }
}

/// The smallest answer of an end that the schema allows.
fn least(to: Peer, method: &str) -> Result<String, String> {
    let side = match to {
        Peer::Client => Side::Client,
        Peer::Agent => Side::Agent,
    };
    let mut known = methods().iter();
    let known = known
        .find(|known| known.name == method && known.side == side && known.kind == Asks::Request);
    let result = known.and_then(|known| known.result(&[]));
    result.ok_or_else(|| Error::new(code::METHOD_NOT_FOUND, "Method not found").to_json())
}

fn word(message: &Message) -> String {
    match message.kind() {
        Kind::Result => "result".to_owned(),
        Kind::Error => "error".to_owned(),
        _ => message.method().to_string(),
    }
}
