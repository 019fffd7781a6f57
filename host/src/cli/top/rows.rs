//! What is shown of a chain and its proxies, in words: the same on the screen, in the table and in JSON.

use std::time::Instant;

use serde_json::{Value, json};

use super::model::{Chain, Model, Proxy, Sort, Spread};
use crate::channel::limits::Quantity;
use crate::untrusted::Untrusted;

/// How much of a name is shown, and of a reason, in bytes.
const NAME: usize = 64;
const REASON: usize = 400;

/// The columns.
pub const COLUMNS: [&str; 9] = [
    "PROXY", "STATE", "MSG/S", "WORK", "WAIT", "MEMORY", "RESTARTS", "DENIED", "HELD",
];

/// A name as it may be shown.
pub fn name(text: &str) -> String {
    Untrusted::within(text, NAME).to_string()
}

/// A reason as it may be shown.
pub fn reason(text: &str) -> String {
    Untrusted::within(text, REASON).to_string()
}

/// What a chain is.
pub fn title(chain: &Chain) -> String {
    let since = chain.since().and_then(|time| time.split_once('T'));
    let since = since.map_or(String::new(), |(_, time)| {
        let time = time.split('.').next().unwrap_or_default();
        format!(", since {}", name(time))
    });
    let dropped = match chain.dropped {
        0 => String::new(),
        count => format!(", {count} lines missed"),
    };
    let (process, agent) = (chain.process, name(chain.agent()));
    format!("process {process}: {agent}{since}{dropped}")
}

/// What is in the columns of a proxy.
pub fn cells(chain: &Chain, proxy: &Proxy, now: Instant) -> [String; COLUMNS.len()] {
    let figures = chain.figures(proxy, now);
    let size = |memory| Quantity::Size.show(memory);
    [
        name(&proxy.id),
        proxy.state.map_or("-", |state| state.as_str()).to_owned(),
        format!("{:.1}", figures.messages_per_second),
        spread(figures.worked),
        spread(figures.waited),
        proxy.memory.map_or("-".to_owned(), size),
        proxy.restarts.to_string(),
        proxy.denied.to_string(),
        proxy.held.to_string(),
    ]
}

fn spread(spread: Option<Spread>) -> String {
    spread.map_or("-".to_owned(), |spread| {
        format!("{}/{}", micros(spread.p50), micros(spread.p99))
    })
}

fn micros(micros: u64) -> String {
    match micros {
        0..1_000 => format!("{micros}µs"),
        1_000..1_000_000 => format!("{}ms", micros / 1_000),
        _ => format!("{}s", micros / 1_000_000),
    }
}

/// All of it, for a file or another program.
pub fn table(model: &Model, now: Instant) -> String {
    let mut text = String::new();
    for chain in model.chains() {
        if !text.is_empty() {
            text.push('\n');
        }
        text += &title(chain);
        text.push('\n');
        let proxies = chain.sorted(Sort::Chain, now).into_iter();
        let head = COLUMNS.map(str::to_owned);
        let rows: Vec<_> = std::iter::once(head)
            .chain(proxies.map(|proxy| cells(chain, proxy, now)))
            .collect();
        let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max();
        let widths: Vec<_> = (0..COLUMNS.len()).map(width).collect();
        for row in &rows {
            let cells = row.iter().zip(&widths);
            let cells = cells.map(|(cell, width)| format!("{cell:<0$}", width.unwrap_or(0)));
            let line = cells.collect::<Vec<_>>().join("  ");
            text += line.trim_end();
            text.push('\n');
        }
    }
    text
}

/// The same as JSON.
pub fn json(model: &Model, now: Instant) -> Value {
    let chains = model.chains().map(|chain| {
        let proxies = chain.proxies.iter().map(|proxy| {
            let failures = proxy.failures.iter();
            let failures = failures.map(|(time, why)| json!({ "time": time, "why": why }));
            json!({
                "id": proxy.id,
                "state": proxy.state,
                "figures": chain.figures(proxy, now),
                "memory": proxy.memory,
                "restarts": proxy.restarts,
                "denied": proxy.denied,
                "held": proxy.held,
                "failures": failures.collect::<Vec<_>>(),
            })
        });
        let heading = chain.heading.as_ref();
        json!({
            "process": chain.process,
            "connection": heading.map(|line| &line.connection),
            "program": heading.and_then(|line| line.program.as_ref()),
            "role": heading.and_then(|line| line.role),
            "agent": heading.and_then(|line| line.agent.as_ref()),
            "since": chain.since(),
            "dropped": chain.dropped,
            "proxies": proxies.collect::<Vec<_>>(),
        })
    });
    json!({ "chains": chains.collect::<Vec<_>>() })
}
