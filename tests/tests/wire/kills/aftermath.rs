//! The checks after a part was killed.

use std::collections::BTreeMap;

use acp_chain_tests::chain::error_of;
use acp_chain_tests::client::prompt;
use acp_chain_tests::envelope::{Message, notification};
use acp_chain_tests::transcript::Transcript;
use acp_chain_tests::tree;
use acp_chain_tests::wire::{Wire, in_time};
use rustix::process::Signal;

use crate::kills::agent::Agent;
use crate::kills::case::{Part, Policy, Stage};
use crate::kills::scene::{HELD, Scene};

impl Scene {
    /// Without a client or a host, no process is left.
    pub(crate) async fn leaves_nobody(mut self) {
        let end = self.client.exited().await.expect("an exit status");
        assert_eq!(end.success(), self.case.part == Part::Client, "{end}");
        if self.case.part == Part::Client
            && let Some((_, wire)) = self.running.take()
        {
            wire.serve().await;
        }
        tree::is_gone(&self.transcript, self.folder.path()).await;
        for end in ["client", "before", "behind", "agent"] {
            for (id, count) in answers(&self.transcript, end) {
                // The agent of a killed client still gets its answers.
                let is_owed = end == "agent" && self.case.part == Part::Client;
                let fits = count == 1 || count == 0 && !is_owed;
                assert!(fits, "{end}: {count} answers to {id}");
            }
        }
    }

    /// Every open request of the client is answered with this error, and no process is left.
    pub(crate) async fn ends_with_answers(mut self, error: &str, code: i32) {
        let open = std::mem::take(&mut self.open).into_iter().map(|(id, _)| id);
        for id in open.chain(self.held.take()) {
            let answer = self.client.wire.response(&id).await;
            assert_eq!(error_of(&answer), error);
        }
        let agent = self
            .running
            .take()
            .map(|(_, wire)| tokio::spawn(wire.serve()));
        let exit = self.client.finish().await.expect("an exit");
        assert_eq!((exit.status.code(), &*exit.stderr), (Some(code), ""));
        tree::is_gone(&self.transcript, self.folder.path()).await;
        drop(agent);
        is_answered_once(&self.transcript, "client");
    }

    /// When the client disconnects as well, every process still ends.
    pub(crate) async fn ends_with_the_client(mut self) {
        let (_, wire) = self.running.take().expect("the agent has started");
        let agent = tokio::spawn(wire.serve());
        self.client.wire.hang_up();
        let end = self.client.exited().await.expect("an exit");
        assert!(end.success(), "{end}");
        in_time("the agent's end", agent).await.expect("no panic");
        tree::is_gone(&self.transcript, self.folder.path()).await;
        for (id, count) in answers(&self.transcript, "agent") {
            assert!(count <= 1, "agent: {count} answers to {id}");
        }
    }

    /// Without the proxy, the chain keeps working as the manifest's policy demands.
    pub(crate) async fn goes_on(mut self) {
        // The requests that the death of the part settles come first: otherwise the agent or the client might
        // answer earlier. The requests that are still open then wait for the agent.
        let open = std::mem::take(&mut self.open);
        let (settled, open) = open.into_iter().partition(|(_, method)| self.ends(method));
        let begun = self.are_settled(settled).await;
        self.the_held_prompt_ends().await;
        let (_, mut wire) = self.running.take().expect("the agent has started");
        let mut at_agent = std::mem::take(&mut self.at_agent);
        let permission = self.permission.take();
        let mut withdrawn = Vec::new();
        if self.case.part.is_native() {
            withdrawn.extend(ids("agent", &at_agent));
            at_agent.extend(are_withdrawn("agent", &mut wire, &at_agent).await);
            withdrawn.extend(ids("client", permission.as_slice()));
            are_withdrawn("client", &mut self.client.wire, permission.as_slice()).await;
        }
        let mut agent = Agent::go_on(wire, at_agent);
        let cancelled = r#"{"outcome":{"outcome":"cancelled"}}"#;
        let answer = permission.iter().flat_map(|asked| asked.result(cancelled));
        self.client.wire.send_all(answer);
        let begun = begun | self.are_settled(open).await;
        let has_begun = begun || self.case.stage != Stage::Initialize;
        for _ in self.case.part.proxies() {
            // Messages that are sent before the host notices the death may be lost with the proxy; later ones
            // are not.
            self.client.wire.request("test/probe", "{}").await;
        }
        if !has_begun {
            let answer = self.client.wire.request("initialize", "{}").await;
            self.keeps_to_the_policy(&answer);
        }
        self.the_component_lives().await;
        let answer = self.client.wire.request("session/new", "{}").await;
        self.keeps_to_the_policy(&answer);
        self.a_turn_follows(&mut agent).await;
        if self.held.is_some() {
            // Nothing else ends the held prompt.
            self.client.signal(Signal::TERM).expect("still running");
        }
        let exit = self.client.finish().await.expect("an exit");
        assert!(exit.status.success() && exit.stderr.is_empty(), "{exit:?}");
        in_time("the agent's end", agent.task)
            .await
            .expect("no panic");
        tree::is_gone(&self.transcript, self.folder.path()).await;
        for (end, id) in withdrawn {
            assert_eq!(withdrawals(&self.transcript, end, &id), 1, "{end}: of {id}");
        }
        let agent = self.transcript.received("agent");
        assert!(!agent.iter().any(|line| line.contains(HELD)), "{agent:?}");
        for end in ["client", "before", "behind", "agent"] {
            // A proxy that has forwarded the held prompt is ended without an answer to it.
            let waits = end == "before" && self.held.is_some();
            if !waits && !self.case.part.proxies().contains(&end) {
                is_answered_once(&self.transcript, end);
            }
        }
    }

    /// The held prompt, which the client cancelled, ends with the part if it came through the part. The agent
    /// never receives it.
    async fn the_held_prompt_ends(&mut self) {
        let Some(id) = self.held.take_if(|_| self.case.part != Part::Behind) else {
            return;
        };
        let answer = self.client.wire.response(&id).await;
        match self.case.part {
            Part::Component => {
                let cancelled = r#"{"stopReason":"cancelled"}"#;
                assert_eq!(answer.result.as_deref(), Some(cancelled));
            }
            _ => self.names_the_part(&answer),
        }
    }

    /// The component answers a request itself, unless it was killed or cannot be reached.
    async fn the_component_lives(&mut self) {
        let answer = self.client.wire.request("test/alive", "{}").await;
        let is_in_the_way = self.case.part != Part::Behind;
        match (self.case.part, self.case.policy) {
            (_, Policy::Refuse) if is_in_the_way => self.names_the_part(&answer),
            (Part::Component, Policy::Bypass) => {
                assert_eq!(answer.result.as_deref(), Some(r#"{"by":"agent"}"#));
            }
            _ => assert_eq!(answer.result.as_deref(), Some(r#"{"by":"component"}"#)),
        }
    }

    /// A turn after the kill: the part is in it again, or is bypassed, or refuses it.
    async fn a_turn_follows(&mut self, agent: &mut Agent) {
        let natives = self.case.part.proxies().iter();
        let natives = natives.filter(|_| self.case.part.is_native());
        let heard: Vec<_> = natives.map(|end| (end, self.turns_of(end))).collect();
        let prompt = prompt("a", "and now");
        let answer = self.client.wire.request("session/prompt", &prompt).await;
        self.keeps_to_the_policy(&answer);
        for (end, before) in heard {
            let is_in = self.turns_of(end) > before;
            assert_eq!(is_in, self.case.policy == Policy::Restart, "{end}");
        }
        let client = &mut self.client.wire;
        let asked = tokio::select! {
            asked = agent.ask("\"at last\"") => asked,
            // The client answers while it receives.
            () = async { while client.receive().await.is_some() {} } => panic!("the client's end"),
        };
        if self.case.policy == Policy::Refuse {
            self.names_the_part(&asked);
        }
    }

    /// The number of prompts that a proxy has received.
    fn turns_of(&self, end: &str) -> usize {
        let lines = self.transcript.received(end);
        let begins = |line: &&String| line.contains(r#""method":"session/prompt""#);
        lines.iter().filter(begins).count()
    }

    /// Waits for the answers to requests that were open. Returns whether `initialize` is among those that succeeded.
    async fn are_settled(&mut self, open: Vec<(String, &'static str)>) -> bool {
        let mut has_begun = false;
        for (id, method) in open {
            let answer = self.client.wire.response(&id).await;
            self.is_settled(method, &answer);
            has_begun |= method == "initialize" && answer.result.is_some();
        }
        has_begun
    }

    /// Whether the death of the part answers an open request with an error.
    fn ends(&self, method: &str) -> bool {
        match self.case.part {
            Part::Component => is_held(method) && self.case.policy != Policy::Bypass,
            // The part's neighbour can take over an `initialize` that the part has not forwarded.
            _ => {
                !(self.case.in_hand && method == "initialize" && self.case.policy == Policy::Bypass)
            }
        }
    }

    fn is_settled(&self, method: &str, answer: &Message) {
        // A component that has seen a request would also see its answer.
        let is_seen_again = self.case.part == Part::Component && !is_held(method);
        if self.ends(method) || is_seen_again && self.case.policy == Policy::Refuse {
            self.names_the_part(answer);
        } else {
            assert!(answer.result.is_some(), "{}", answer.line);
        }
    }

    /// Checks the answer to a request that was sent after the kill.
    fn keeps_to_the_policy(&self, answer: &Message) {
        match self.case.policy {
            Policy::Refuse => self.names_the_part(answer),
            Policy::Bypass | Policy::Restart => {
                assert!(answer.result.is_some(), "{}", answer.line);
            }
        }
    }

    fn names_the_part(&self, answer: &Message) {
        let error = error_of(answer);
        let mut names = self.case.part.proxies().iter();
        let is_named = names.any(|name| {
            let start = format!("acp-chain: the proxy `{name}` failed on ");
            error.starts_with(&start)
        });
        assert!(is_named, "{error}");
    }
}

/// Whether the component has not forwarded a request when it traps.
fn is_held(method: &str) -> bool {
    matches!(method, "test/hold" | "test/trap")
}

/// The number of answers that an end received to each of its requests.
fn answers(transcript: &Transcript, end: &str) -> BTreeMap<String, usize> {
    let parse = |line: &String| Message::parse(line).expect("a message");
    let sent: Vec<_> = transcript.sent(end).iter().map(parse).collect();
    let received: Vec<_> = transcript.received(end).iter().map(parse).collect();
    let requests = sent.into_iter().filter(Message::is_request);
    let ids = requests.filter_map(|request| request.id);
    ids.map(|id| {
        let answers = received.iter().filter(|message| message.answers(&id));
        let count = answers.count();
        (id, count)
    })
    .collect()
}

/// The ids of the requests that an end has received.
fn ids(end: &'static str, had: &[Message]) -> Vec<(&'static str, String)> {
    let ids = had.iter().filter_map(|asked| asked.id.clone());
    ids.map(|id| (end, id)).collect()
}

/// Waits until the requests that an end has received are cancelled. Returns the requests that arrive meanwhile.
async fn are_withdrawn(end: &'static str, wire: &mut Wire, had: &[Message]) -> Vec<Message> {
    let mut new = Vec::new();
    for (end, id) in ids(end, had) {
        while withdrawals(wire.transcript(), end, &id) == 0 {
            let message = wire.receive().await.expect("the withdrawal");
            new.extend(Some(message).filter(Message::is_request));
        }
    }
    new
}

/// How often a request that an end has received was cancelled.
fn withdrawals(transcript: &Transcript, end: &str, id: &str) -> usize {
    let cancel = notification("$/cancel_request", &format!(r#"{{"requestId":{id}}}"#));
    let received = transcript.received(end);
    received.iter().filter(|line| **line == cancel).count()
}

fn is_answered_once(transcript: &Transcript, end: &str) {
    for (id, count) in answers(transcript, end) {
        assert_eq!(count, 1, "{end}: answers to {id}");
    }
}
