//! The text about a chain and its proxies: the same on the screen, in the table and in JSON.

use std::time::Instant;

use serde_json::{Value, json};

use super::model::{Chain, Host, Model, Proxy, Sort, Spread};
use acp_chain_channel::limits::Quantity;
use acp_chain_rpc::untrusted::Untrusted;

/// How many bytes of a name or a reason are shown.
const NAME: usize = 64;
const REASON: usize = 400;

/// How many chains of a process are shown.
const BUSIEST: usize = 20;

/// The columns.
pub const COLUMNS: [&str; 9] = [
    "PROXY", "STATE", "MSG/S", "WORK", "WAIT", "MEMORY", "RESTARTS", "DENIED", "HELD",
];

/// A name, safe to show.
pub fn name(text: &str) -> String {
    Untrusted::within(text, NAME).to_string()
}

/// A reason, safe to show.
pub fn reason(text: &str) -> String {
    Untrusted::within(text, REASON).to_string()
}

/// The content of a row.
pub enum TableRow<'m> {
    /// A process, or a chain.
    Title(String),
    Proxy(&'m Host, &'m Chain, &'m Proxy),
}

/// The rows: for each process, the busiest chains and the number of the others.
pub fn rows(model: &Model, sort: Sort, now: Instant) -> Vec<TableRow<'_>> {
    let mut rows = Vec::new();
    for host in model.hosts() {
        let chains = host.busiest(now);
        let process = host.process;
        let titled = match (&host.wrong, &*chains) {
            (Some(wrong), _) => reason(wrong),
            (None, []) => "no client yet".to_owned(),
            (None, [chain]) => title(chain, host.dropped),
            (None, _) => format!("{} connections{}", chains.len(), missed(host.dropped)),
        };
        rows.push(TableRow::Title(format!("process {process}: {titled}")));
        for chain in chains.iter().take(BUSIEST) {
            if chains.len() > 1 {
                let (connection, titled) = (name(&chain.connection), title(chain, 0));
                rows.push(TableRow::Title(format!(
                    "connection {connection}: {titled}"
                )));
            }
            let proxies = chain.sorted(sort, now).into_iter();
            rows.extend(proxies.map(|proxy| TableRow::Proxy(host, chain, proxy)));
        }
        if let more @ 1.. = chains.len().saturating_sub(BUSIEST) {
            rows.push(TableRow::Title(format!(
                "and {more} connections more, which are not busier"
            )));
        }
    }
    rows
}

/// The title of a chain.
fn title(chain: &Chain, dropped: u64) -> String {
    let since = chain.since().and_then(|time| time.split_once('T'));
    let since = since.map_or(String::new(), |(_, time)| {
        let time = time.split('.').next().unwrap_or_default();
        format!(", since {}", name(time))
    });
    let user = chain.user();
    let user = user.map_or(String::new(), |user| format!(" for {}", name(user)));
    let missed = missed(chain.dropped + dropped);
    format!("{}{user}{since}{missed}", name(chain.agent()))
}

fn missed(dropped: u64) -> String {
    match dropped {
        0 => String::new(),
        count => format!(", {count} lines missed"),
    }
}

/// The columns of a proxy.
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

/// The whole table, for a file or another program.
pub fn table(model: &Model, now: Instant) -> String {
    let mut text = String::new();
    let mut lines = Vec::new();
    for row in rows(model, Sort::Chain, now) {
        match row {
            TableRow::Title(title) => {
                text += &columns(&std::mem::take(&mut lines));
                if !text.is_empty() {
                    text.push('\n');
                }
                text += &title;
                text.push('\n');
            }
            TableRow::Proxy(_, chain, proxy) => {
                if lines.is_empty() {
                    lines.push(COLUMNS.map(str::to_owned));
                }
                lines.push(cells(chain, proxy, now));
            }
        }
    }
    text + &columns(&lines)
}

/// Aligned cells.
fn columns(rows: &[[String; COLUMNS.len()]]) -> String {
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max();
    let widths: Vec<_> = (0..COLUMNS.len()).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths);
        let cells = cells.map(|(cell, width)| format!("{cell:<0$}", width.unwrap_or(0)));
        let line = cells.collect::<Vec<_>>().join("  ");
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// The statistics as JSON, with all chains. A process without a client has one entry without proxies.
pub fn json(model: &Model, now: Instant) -> Value {
    let chains = model.hosts().flat_map(|host| {
        let chains = host.busiest(now);
        if chains.is_empty() {
            vec![json!({
                "process": host.process,
                "dropped": host.dropped,
                "proxies": [],
                "wrong": host.wrong,
            })]
        } else {
            chains
                .into_iter()
                .map(|chain| of_chain(host, chain, now))
                .collect()
        }
    });
    json!({ "chains": chains.collect::<Vec<_>>() })
}

fn of_chain(host: &Host, chain: &Chain, now: Instant) -> Value {
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
    let heading = &chain.heading;
    json!({
        "process": host.process,
        "connection": chain.connection,
        "program": heading.program,
        "role": heading.role,
        "agent": heading.agent,
        "user": heading.user,
        "since": chain.since(),
        "dropped": chain.dropped,
        "proxies": proxies.collect::<Vec<_>>(),
    })
}
