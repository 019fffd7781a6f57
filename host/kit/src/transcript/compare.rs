//! Compares received messages with expected ones.

use std::collections::BTreeMap;
use std::ops::Range;

use super::act::{Act, Kind, Said};
use super::align::{Pair, align};
use super::ends::Arrival;
use super::json::Json;
use super::log::LogLine;
use super::outcome::Outcome;
use super::pattern::JsonPattern;
use super::play::Player;
use super::say::in_session;
use acp_chain_channel::Peer;

impl Player<'_> {
    /// Compares all received messages with `steps`, the expectations after the step just played. The outcomes are in
    /// the order of the steps.
    pub(super) fn compare(&mut self, steps: Range<usize>) -> Vec<Outcome> {
        let mut by_step: BTreeMap<Option<usize>, Vec<Outcome>> = BTreeMap::new();
        for outcome in std::mem::take(&mut self.pending) {
            by_step.entry(outcome.step()).or_default().push(outcome);
        }
        for peer in [Peer::Client, Peer::Agent] {
            let mut last = None;
            for outcome in self.compare_end(peer, steps.clone()) {
                last = last.max(outcome.step());
                by_step.entry(last).or_default().push(outcome);
            }
        }
        for at in steps {
            if let Some(Act::Logs(proxy, text)) = self.script.steps.get(at).map(|step| &step.act) {
                let outcome = if self.has_logged(proxy, text) {
                    Outcome::AsWritten(at)
                } else {
                    Outcome::Missing(at)
                };
                by_step.entry(Some(at)).or_default().push(outcome);
            }
        }
        by_step.into_values().flatten().collect()
    }

    /// Compares the messages received at one end.
    fn compare_end(&mut self, peer: Peer, steps: Range<usize>) -> Vec<Outcome> {
        let script = self.script;
        let expected = steps.filter_map(|at| match &script.steps.get(at)?.act {
            Act::Gets(end, said) if *end == peer => Some((at, said)),
            _ => None,
        });
        let expected: Vec<_> = expected.collect();
        let came = self.end(peer).take();
        let came: Vec<_> = came
            .into_iter()
            .map(|came| self.unwrap(peer, came))
            .collect();
        let said: Vec<_> = expected.iter().map(|(_, said)| *said).collect();
        let pairs = align(&said, &came, &self.captures);
        let outcomes = pairs.into_iter().map(|pair| match pair {
            Pair::Same(old, new) | Pair::Changed(old, new) => {
                let ((at, said), came) = (expected[old], &came[new]);
                self.expected(peer, at, said, came)
            }
            Pair::Missing(old) => Outcome::Missing(expected[old].0),
            Pair::Extra(new) => self.unexpected(peer, &came[new]),
        });
        outcomes.collect()
    }

    /// The outcome of an expected message, whose body may differ.
    fn expected(&mut self, peer: Peer, at: usize, said: &Said, came: &Arrival) -> Outcome {
        if let (Some(name), Some(id)) = (&said.name, &came.id) {
            self.end(peer).got.insert(name.clone(), id.clone());
        }
        let Some(pattern) = &said.body else {
            return Outcome::AsWritten(at);
        };
        if let Some(captures) = pattern.matches(&came.body, &self.captures) {
            self.captures = captures;
            return Outcome::AsWritten(at);
        }
        let body = Some(self.adapt(pattern, &came.body));
        let said = Said {
            body,
            ..said.clone()
        };
        Outcome::Changed(at, Act::Gets(peer, said))
    }

    /// The pattern that replaces one that does not match. Its matching parts are captured.
    pub(super) fn adapt(&mut self, pattern: &JsonPattern, value: &Json) -> JsonPattern {
        if self.loosens {
            pattern.loosen(value, &mut self.captures)
        } else {
            pattern.fit(value, &mut self.captures)
        }
    }

    /// The outcome of an unexpected message.
    fn unexpected(&mut self, peer: Peer, came: &Arrival) -> Outcome {
        let mut said = came.said.clone();
        if let (Kind::Request(method), Some(id)) = (&said.kind, &came.id) {
            let name = self.name_for(peer, method);
            self.end(peer).got.insert(name.clone(), id.clone());
            said.name = Some(name);
        }
        let mut body = came.body.clone();
        if let (Kind::Request(method) | Kind::Notification(method), Json::Object(members)) =
            (&said.kind, &mut body)
        {
            let own = members.get("sessionId").and_then(Json::as_text);
            if in_session(method) && own.is_some() && own == self.session.as_deref() {
                members.shift_remove("sessionId");
            }
        }
        // The chain passes missing params on as `null`, which is not shown; a result of `null` is.
        let is_there = body != Json::Null || said.kind == Kind::Result;
        said.body = is_there.then(|| JsonPattern::of(body));
        Outcome::Extra(self.done, Act::Gets(peer, said))
    }

    /// A name for a request received at an end: that of a request with the same method that the other end sent, or a
    /// numbered one.
    fn name_for(&mut self, peer: Peer, method: &str) -> String {
        let asked = self.asked.iter().filter(|((end, name), asked)| {
            *end != peer && *asked == method && !self.taken.contains(&(peer, name.clone()))
        });
        let theirs = asked.map(|((_, name), _)| name.clone()).min();
        let numbered = || {
            let names = (1..).map(|number| format!("r{number}"));
            let mut free = names.filter(|name| !self.taken.contains(&(peer, name.clone())));
            free.next().unwrap_or_default()
        };
        let name = theirs.unwrap_or_else(numbered);
        self.taken.insert((peer, name.clone()));
        name
    }

    /// Unwraps an MCP server's answer from the ACP message that carries it.
    fn unwrap(&self, peer: Peer, mut came: Arrival) -> Arrival {
        let is_call = |name: &String| peer == Peer::Agent && self.calls.contains(name);
        if came.said.kind != Kind::Result || !came.said.name.as_ref().is_some_and(is_call) {
            return came;
        }
        let (kind, body) = match (came.body.get("result"), came.body.get("error")) {
            (Some(result), _) => (Kind::Result, result.clone()),
            (None, Some(error)) => (Kind::Error, error.clone()),
            (None, None) => return came,
        };
        (came.said.kind, came.body) = (kind, body);
        came
    }

    /// Whether a proxy has logged this since the last expected line.
    fn has_logged(&mut self, proxy: &str, text: &JsonPattern) -> bool {
        let from = self.expected_log.get(proxy).copied().unwrap_or_default();
        let is_it = |line: &LogLine| {
            let text = text.matches(&Json::Text(line.text.clone()), &self.captures);
            text.filter(|_| line.proxy.as_deref() == Some(proxy))
        };
        let lines = self.log.since(from);
        let mut found = lines.iter().enumerate();
        let Some((at, captures)) = found.find_map(|(at, line)| Some((at, is_it(line)?))) else {
            return false;
        };
        self.expected_log.insert(proxy.to_owned(), from + at + 1);
        self.captures = captures;
        true
    }
}
