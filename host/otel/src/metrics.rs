//! Turns lines of traces into measurements, by proxy.

use std::collections::HashMap;

use acp_chain_trace::{Decision, Line, State};
use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Histogram, Meter};

use crate::bodies::{self, Usage, is_proxy};
use crate::mapping::{self, identifier};
use crate::memory::{Memories, MemoryProbe, entry};
use crate::requests::Agent;

/// The boundaries of durations, in seconds: proxies take from microseconds to minutes.
const SECONDS: [f64; 12] = [
    0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.01, 0.05, 0.25, 1.0, 10.0, 60.0,
];

/// The conventions' boundaries for tokens.
const TOKENS: [f64; 14] = [
    1.0,
    4.0,
    16.0,
    64.0,
    256.0,
    1024.0,
    4096.0,
    16_384.0,
    65_536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
];

#[derive(Debug)]
pub struct Metrics {
    messages: Counter<u64>,
    decisions: Counter<u64>,
    worked: Histogram<f64>,
    held: Histogram<f64>,
    failures: Counter<u64>,
    restarts: Counter<u64>,
    denials: Counter<u64>,
    tokens: Histogram<u64>,
    memories: Memories,
    /// The restarts counted so far, by open connection and proxy: each line has the total.
    counted: HashMap<String, HashMap<String, u64>>,
}

impl Metrics {
    pub fn new(meter: &Meter, memory_of: MemoryProbe) -> Self {
        let counter = |name, what| {
            let counter = meter.u64_counter(name).with_description(what);
            counter.build()
        };
        let seconds = |name, what| {
            let histogram = meter.f64_histogram(name).with_description(what);
            histogram
                .with_unit("s")
                .with_boundaries(SECONDS.to_vec())
                .build()
        };
        let tokens = meter
            .u64_histogram(mapping::TOKEN_USAGE)
            .with_description("Number of input and output tokens used.")
            .with_unit("{token}")
            .with_boundaries(TOKENS.to_vec());
        let memories = Memories::default();
        let seen = memories.clone();
        // The callback is called as long as the meter exists.
        let _ = meter
            .i64_observable_up_down_counter(mapping::MEMORY)
            .with_description("Memory of proxies")
            .with_unit("By")
            .with_callback(move |observer| {
                for (name, memory) in seen.by_proxy(memory_of) {
                    if let (Some(proxy), Ok(memory)) = (proxy(&name), i64::try_from(memory)) {
                        observer.observe(memory, &[proxy]);
                    }
                }
            })
            .build();
        Self {
            memories,
            messages: counter(mapping::MESSAGES, "Messages received by a proxy"),
            decisions: counter(mapping::DECISIONS, "Decisions of proxies about messages"),
            worked: seconds(
                mapping::DURATION,
                "How long a proxy worked until it decided",
            ),
            held: seconds(mapping::HELD, "How long a proxy held a message"),
            failures: counter(
                mapping::FAILURES,
                "Messages that a proxy could not decide about, or held for too long",
            ),
            restarts: counter(mapping::RESTART_COUNT, "Number of restarts of a proxy"),
            denials: counter(mapping::DENIALS, "Calls of a proxy that were denied"),
            tokens: tokens.build(),
            counted: HashMap::new(),
        }
    }

    /// Handles a line.
    pub fn take(&mut self, line: &Line) {
        self.memories.take(line);
        if line.is_end() {
            self.counted.remove(&line.connection);
        }
        if let Some((_, to, _)) = line.crossed() {
            if is_proxy(to)
                && let Some(proxy) = proxy(to)
            {
                self.messages.add(1, &[proxy]);
            }
            return;
        }
        let named = line.proxy.as_deref();
        let Some((name, proxy)) = named.and_then(|name| Some((name, proxy(name)?))) else {
            return;
        };
        if let Some(decision) = line.decision {
            self.decided(line, proxy, decision);
            return;
        }
        for (denial, count) in bodies::denials(line) {
            let denial = KeyValue::new(mapping::DENIAL, denial);
            self.denials.add(count, &[proxy.clone(), denial]);
        }
        if let (Some(State::Running), Some(restarts @ 1..)) = (line.state, line.restarts)
            && let Some(before) = entry(&mut self.counted, &line.connection, name, 0)
        {
            let new = restarts.saturating_sub(*before);
            *before = restarts;
            self.restarts.add(new, &[proxy]);
        }
    }

    fn decided(&self, line: &Line, proxy: KeyValue, decision: Decision) {
        let seconds = |micros: u64| std::time::Duration::from_micros(micros).as_secs_f64();
        let about = [proxy, KeyValue::new(mapping::DECISION, decision.as_str())];
        self.decisions.add(1, &about);
        if let Some(worked) = line.worked {
            self.worked.record(seconds(worked), &about[..1]);
        }
        if let Some(held) = line.held {
            self.held.record(seconds(held), &about[..1]);
        }
        if matches!(decision, Decision::Fail | Decision::Expire) {
            let why = KeyValue::new(mapping::ERROR_TYPE, decision.as_str());
            self.failures.add(1, &[about[0].clone(), why]);
        }
    }

    /// Records the tokens of a turn.
    pub fn used(&self, usage: &Usage, agent: &Agent) {
        let counts = [("input", usage.input), ("output", usage.output)];
        for (kind, count) in counts {
            let Some(count) = count else { continue };
            let mut about = vec![
                KeyValue::new(mapping::OPERATION, mapping::TURN),
                KeyValue::new(mapping::TOKEN_TYPE, kind),
            ];
            let name = agent.name.clone();
            about.extend(name.map(|name| KeyValue::new(mapping::AGENT_NAME, name)));
            self.tokens.record(count, &about);
        }
    }
}

fn proxy(name: &str) -> Option<KeyValue> {
    identifier(name).map(|name| KeyValue::new(mapping::PROXY, name.to_owned()))
}
