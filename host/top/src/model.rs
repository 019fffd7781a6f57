//! Statistics of running chains. Names and reasons are text from outside.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use acp_chain_live::Found;
use acp_chain_trace::{Decision, Line, Role, State};
use serde::Serialize;

/// The period over which messages are counted.
const WINDOW: Duration = Duration::from_secs(10);

/// How many messages are counted one by one; a proxy cannot be called more often.
const COUNTED: usize = 100_000;

/// How many samples the percentiles are taken from.
const TIMES: usize = 1024;

/// How many failures of a proxy are kept.
const FAILURES: usize = 8;

/// All processes with running chains, ordered by their numbers.
#[derive(Debug, Default)]
pub struct Model {
    hosts: BTreeMap<(u32, PathBuf), Host>,
}

/// A process with chains.
#[derive(Debug)]
pub struct Host {
    pub process: u32,
    /// The chains by their connection ids, one per connection.
    chains: BTreeMap<String, Chain>,
    /// Lines of unknown connections that were dropped because we read too slowly.
    pub dropped: u64,
    /// Why the lines of the process cannot be read, though it runs.
    pub wrong: Option<String>,
    /// When we started to listen.
    began: Instant,
}

#[derive(Debug)]
pub struct Chain {
    pub connection: String,
    /// The first line of the chain.
    pub heading: Line,
    /// In the order of the chain; those of projects are last.
    pub proxies: Vec<Proxy>,
    /// Lines that were dropped because we read too slowly.
    pub dropped: u64,
    /// When we started to listen.
    began: Instant,
}

#[derive(Debug, Default)]
pub struct Proxy {
    pub id: String,
    pub state: Option<State>,
    pub restarts: u64,
    pub memory: Option<u64>,
    /// The process id of a native proxy, whose memory is read from the system.
    process: Option<u32>,
    /// Calls that the powers of the proxy do not cover.
    pub denied: u64,
    /// Held messages, among those that arrived while we listened.
    pub held: u64,
    /// The times and causes of failures, the latest first.
    pub failures: VecDeque<(String, String)>,
    messages: VecDeque<Instant>,
    worked: Times,
    waited: Times,
}

/// The latest durations, in microseconds.
#[derive(Debug, Default)]
struct Times(VecDeque<u64>);

/// The figures of a proxy.
#[derive(Debug, Serialize)]
pub struct Figures {
    /// Received messages per second.
    pub messages_per_second: f64,
    pub worked: Option<Spread>,
    pub waited: Option<Spread>,
}

/// The median and the 99th percentile, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Spread {
    pub p50: u64,
    pub p99: u64,
}

/// The order of a chain's proxies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    #[default]
    Chain,
    Messages,
    Work,
    Memory,
    Restarts,
}

impl Model {
    /// Adds a process with chains.
    pub fn begin(&mut self, found: &Found, now: Instant) {
        let key = (found.process, found.path.clone());
        let host = self.hosts.entry(key).or_insert_with(|| Host {
            process: found.process,
            chains: BTreeMap::new(),
            dropped: 0,
            wrong: None,
            began: now,
        });
        host.wrong = None;
    }

    /// Notes that the lines of a process cannot be read, though it runs.
    pub fn fail(&mut self, process: u32, path: &Path, why: String) {
        if let Some(host) = self.hosts.get_mut(&(process, path.to_owned())) {
            host.chains.clear();
            host.wrong = Some(why);
        }
    }

    /// Removes a process that has ended.
    pub fn end(&mut self, process: u32, path: &Path) {
        self.hosts.remove(&(process, path.to_owned()));
    }

    /// Adds a line that a process sent.
    pub fn take(&mut self, process: u32, path: &Path, line: Line, now: Instant) {
        if let Some(host) = self.hosts.get_mut(&(process, path.to_owned())) {
            host.take(line, now);
        }
    }

    /// Reads the memory of native proxies.
    pub fn look(&mut self, memory_of: impl Fn(&[u32]) -> HashMap<u32, u64>) {
        let hosts = self.hosts.values_mut();
        let chains = hosts.flat_map(|host| host.chains.values_mut());
        let proxies = chains.flat_map(|chain| &mut chain.proxies);
        let running = proxies.filter_map(|proxy| Some((proxy.process?, proxy)));
        let mut programs: Vec<_> = running.collect();
        let processes: Vec<_> = programs.iter().map(|(process, _)| *process).collect();
        let memory = memory_of(&processes);
        for (process, proxy) in &mut programs {
            proxy.memory = memory.get(process).copied();
        }
    }

    pub fn hosts(&self) -> impl Iterator<Item = &Host> {
        self.hosts.values()
    }
}

impl Host {
    fn take(&mut self, line: Line, now: Instant) {
        if line.is_end() {
            self.chains.remove(&line.connection);
            return;
        }
        if let Some(chain) = self.chains.get_mut(&line.connection) {
            chain.take(line, now);
        } else if line.version.is_some() {
            let chain = Chain::new(line, self.began);
            self.chains.insert(chain.connection.clone(), chain);
        } else {
            self.dropped += line.dropped.unwrap_or_default();
        }
    }

    /// The chains; those whose proxies receive the most messages are first.
    pub fn busiest(&self, now: Instant) -> Vec<&Chain> {
        let mut chains: Vec<_> = self.chains.values().collect();
        chains.sort_by_cached_key(|chain| std::cmp::Reverse(chain.messages(now)));
        chains
    }
}

impl Chain {
    fn new(heading: Line, began: Instant) -> Self {
        let mut chain = Self {
            connection: heading.connection.clone(),
            heading,
            proxies: Vec::new(),
            dropped: 0,
            began,
        };
        for id in chain.heading.proxies.clone().into_iter().flatten() {
            chain.proxy(&id);
        }
        chain
    }

    fn take(&mut self, line: Line, now: Instant) {
        self.dropped += line.dropped.unwrap_or_default();
        if let Some((_, to, _)) = line.crossed() {
            let to = to.to_owned();
            if let Some(proxy) = self.proxies.iter_mut().find(|proxy| proxy.id == to) {
                proxy.receive(&line, now);
            }
        } else if let Some(id) = line.proxy.clone() {
            let proxy = self.proxy(&id);
            proxy.take(line);
            // Proxies of projects end with their last session.
            let has_ended = proxy.state == Some(State::Ended) && proxy.failures.is_empty();
            if has_ended && !self.began_with(&id) {
                self.proxies.retain(|proxy| proxy.id != id);
            }
        }
    }

    fn proxy(&mut self, id: &str) -> &mut Proxy {
        let known = self.proxies.iter().position(|proxy| proxy.id == id);
        let at = known.unwrap_or_else(|| {
            self.proxies.push(Proxy {
                id: id.to_owned(),
                ..Proxy::default()
            });
            self.proxies.len() - 1
        });
        &mut self.proxies[at]
    }

    fn began_with(&self, id: &str) -> bool {
        let mut proxies = self.heading.proxies.iter().flatten();
        proxies.any(|known| known == id)
    }

    /// How many messages the proxies received recently.
    fn messages(&self, now: Instant) -> usize {
        let proxies = self.proxies.iter();
        let counts = proxies.map(|proxy| proxy.received_within(WINDOW, now));
        counts.sum()
    }

    /// The name of the agent, or a note that the chain is part of another one.
    pub fn agent(&self) -> &str {
        match self.heading.role {
            Some(Role::Proxy) => "a proxy of another chain",
            _ => self.heading.agent.as_deref().unwrap_or("an agent"),
        }
    }

    /// The user, if a server has authenticated one.
    pub fn user(&self) -> Option<&str> {
        self.heading.user.as_deref()
    }

    /// When the chain began.
    pub fn since(&self) -> Option<&str> {
        Some(&*self.heading.time).filter(|time| !time.is_empty())
    }

    pub fn figures(&self, proxy: &Proxy, now: Instant) -> Figures {
        let window = WINDOW.min(now.saturating_duration_since(self.began));
        let count = proxy.received_within(window, now);
        #[allow(clippy::cast_precision_loss, reason = "it is bounded")]
        let rate = if window.is_zero() {
            0.0
        } else {
            count as f64 / window.as_secs_f64()
        };
        Figures {
            messages_per_second: rate,
            worked: proxy.worked.spread(),
            waited: proxy.waited.spread(),
        }
    }

    /// The proxies in this order; equal ones are in the chain's order.
    pub fn sorted(&self, sort: Sort, now: Instant) -> Vec<&Proxy> {
        let mut proxies: Vec<_> = self.proxies.iter().collect();
        let work = |proxy: &Proxy| proxy.worked.spread().map_or(0, |spread| spread.p99);
        match sort {
            Sort::Chain => {}
            Sort::Messages => proxies.sort_by(|first, second| {
                let rate = |proxy| self.figures(proxy, now).messages_per_second;
                rate(second).total_cmp(&rate(first))
            }),
            Sort::Work => proxies.sort_by_key(|proxy| std::cmp::Reverse(work(proxy))),
            Sort::Memory => proxies.sort_by_key(|proxy| std::cmp::Reverse(proxy.memory)),
            Sort::Restarts => proxies.sort_by_key(|proxy| std::cmp::Reverse(proxy.restarts)),
        }
        proxies
    }
}

impl Proxy {
    /// How many messages the proxy received within this period.
    fn received_within(&self, window: Duration, now: Instant) -> usize {
        let is_new = |at: &&Instant| now.saturating_duration_since(**at) <= window;
        self.messages.iter().rev().take_while(is_new).count()
    }

    fn receive(&mut self, line: &Line, now: Instant) {
        if self.messages.len() == COUNTED {
            self.messages.pop_front();
        }
        while let Some(first) = self.messages.front()
            && now.saturating_duration_since(*first) > WINDOW
        {
            self.messages.pop_front();
        }
        self.messages.push_back(now);
        self.waited.push(line.waited);
    }

    fn take(&mut self, line: Line) {
        self.denied += line.denied.unwrap_or_default();
        match line.decision {
            Some(Decision::Hold) => self.held += 1,
            Some(Decision::Expire) => self.held = self.held.saturating_sub(1),
            Some(_) if line.held.is_some() => self.held = self.held.saturating_sub(1),
            _ => {}
        }
        self.worked.push(line.worked);
        if let Some(state) = line.state {
            self.state = Some(state);
            self.restarts = line.restarts.unwrap_or(self.restarts);
            // A program that continues keeps its last known memory.
            if line.process.is_none() || line.process != self.process {
                self.memory = line.memory;
            }
            self.process = line.process;
            if state != State::Running {
                self.held = 0;
            }
        }
        let failed = matches!(line.decision, Some(Decision::Fail | Decision::Expire));
        let why = match (line.why, line.state) {
            // A given-up proxy has the cause of its last failure.
            (_, Some(State::Ended)) => None,
            (Some(why), _) => Some(why),
            (None, _) if failed => Some("it held a message for too long".to_owned()),
            (None, _) => None,
        };
        let Some(why) = why else { return };
        // Messages that fail because the proxy broke have the same cause.
        if self.failures.front().is_some_and(|(_, last)| *last == why) && failed {
            return;
        }
        self.failures.push_front((line.time, why));
        self.failures.truncate(FAILURES);
    }
}

impl Times {
    fn push(&mut self, micros: Option<u64>) {
        let Some(micros) = micros else { return };
        if self.0.len() == TIMES {
            self.0.pop_front();
        }
        self.0.push_back(micros);
    }

    fn spread(&self) -> Option<Spread> {
        let mut sorted: Vec<_> = self.0.iter().copied().collect();
        sorted.sort_unstable();
        let last = sorted.len().checked_sub(1)?;
        Some(Spread {
            p50: sorted[last / 2],
            p99: sorted[last * 99 / 100],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_cover_the_last_seconds_and_proxies_are_sorted() {
        let (mut model, found, begun) = (Model::default(), found(), Instant::now());
        model.begin(&found, begun);
        let mut at = begun;
        for (count, line) in LINES.lines().filter(|line| !line.is_empty()).enumerate() {
            at = begun + Duration::from_secs(count as u64);
            let line = serde_json::from_str(line).unwrap();
            model.take(found.process, &found.path, line, at);
        }
        let host = model.hosts().next().unwrap();
        let chain = host.busiest(at)[0];
        let ids = |sort| {
            let sorted = chain.sorted(sort, at).into_iter();
            sorted.map(|proxy| proxy.id.clone()).collect::<Vec<_>>()
        };
        assert_eq!(chain.agent(), "gemini");
        assert_eq!(ids(Sort::Chain), ["a", "b"]);
        assert_eq!(ids(Sort::Memory), ["b", "a"]);
        assert_eq!(ids(Sort::Messages), ["b", "a"]);
        assert_eq!(ids(Sort::Work), ["b", "a"]);
        let b = &chain.proxies[1];
        assert_eq!((b.restarts, b.denied, b.held), (1, 2, 0));
        assert_eq!(b.failures.len(), 1);
        let figures = chain.figures(b, at);
        assert_eq!(figures.worked, Some(Spread { p50: 4, p99: 4 }));
        assert_eq!(figures.waited, Some(Spread { p50: 7, p99: 7 }));
        let later = chain.figures(b, at + WINDOW + WINDOW);
        assert!(figures.messages_per_second > 0.0 && later.messages_per_second == 0.0);
    }

    const LINES: &str = r#"
{"version":1,"connection":"x","role":"agent","proxies":["a","b"],"agent":"gemini"}
{"connection":"x","proxy":"a","state":"running","restarts":0,"memory":10}
{"connection":"x","from":"client","to":"b","kind":"notification","method":"m","waited":7}
{"connection":"x","proxy":"b","decision":"hold","method":"m","worked":4}
{"connection":"x","proxy":"b","state":"failed","restarts":0,"why":"it broke"}
{"connection":"x","proxy":"b","decision":"fail","method":"m","why":"it broke"}
{"connection":"x","proxy":"b","denied":2,"invalid":0,"full":0}
{"connection":"x","proxy":"b","state":"running","restarts":1,"memory":20}
"#;

    fn found() -> Found {
        Found {
            path: "/s".into(),
            process: 7,
        }
    }
}
