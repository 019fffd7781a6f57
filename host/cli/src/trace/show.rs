//! `acp-chain trace show`: a line per event.

use std::path::PathBuf;

use crate::{Result, out};
use acp_chain_trace::{Decision, Kind, Line, State, Would};
use console::{measure_text_width, style};

use super::each;
use acp_chain_channel::limits::Quantity;
use acp_chain_rpc::untrusted::Untrusted;

/// The width of the part of a line with the sender and the receiver.
const ROUTE: usize = 28;

/// How many bytes of a body are shown.
const BODY: usize = 160;

/// How many bytes of a name are shown.
const NAME: usize = 100;

#[derive(Debug, clap::Args)]
pub struct Show {
    /// The trace
    #[arg(value_name = "FILE")]
    trace: PathBuf,
    /// Only what belongs to this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only messages of this method, or of those that begin with what stands before a `*`
    #[arg(long, value_name = "METHOD")]
    method: Option<String>,
    /// Only what this proxy got, sent and decided; `client` and `agent` do as well
    #[arg(long, value_name = "ID")]
    proxy: Option<String>,
    /// Only what happened on this connection, where the trace has several
    #[arg(long, value_name = "LETTERS")]
    connection: Option<String>,
}

impl Show {
    pub fn main(self) -> Result<()> {
        let (mut first, mut are_several) = (None, false);
        each(&self.trace, |_, line| {
            let first = first.get_or_insert_with(|| line.connection.clone());
            are_several |= *first != line.connection;
            if self.shows(&line)
                && let Some(text) = text(&line, are_several)
            {
                return out::say(format_args!("{text}"));
            }
            true
        })
    }

    fn shows(&self, line: &Line) -> bool {
        let is_session = |session: &String| line.session.as_ref() == Some(session);
        let is_method = |method: &String| {
            let own = line.method.as_deref().unwrap_or_default();
            match method.strip_suffix('*') {
                Some(beginning) => own.starts_with(beginning),
                None => own == method,
            }
        };
        let is_proxy = |proxy: &String| {
            let parts = [&line.from, &line.to, &line.proxy];
            parts.iter().any(|part| part.as_ref() == Some(proxy))
        };
        let is_connection = |connection: &String| line.connection == *connection;
        self.connection.as_ref().is_none_or(is_connection)
            && self.session.as_ref().is_none_or(is_session)
            && self.method.as_ref().is_none_or(is_method)
            && self.proxy.as_ref().is_none_or(is_proxy)
    }
}

fn name(text: &str) -> String {
    Untrusted::within(text, NAME).to_string()
}

/// The text of a line, with its connection if there are several; `None` for an empty one.
fn text(line: &Line, are_several: bool) -> Option<String> {
    let (route, what) = if let Some((from, to, kind)) = line.crossed() {
        let route = format!("{} → {}", name(from), name(to));
        (route, message(line, kind))
    } else if let Some((proxy, decision)) = line.decided() {
        (name(proxy), decided(line, decision))
    } else if let (Some(proxy), Some(would)) = (&line.proxy, line.would) {
        (name(proxy), spared(line, would))
    } else if let (Some(proxy), Some(state)) = (&line.proxy, line.state) {
        (name(proxy), became(line, state))
    } else if line.version.is_some() {
        let program = line.program.as_deref().unwrap_or_default();
        let proxies = line.proxies.iter().flatten().map(|proxy| name(proxy));
        let proxies: Vec<_> = proxies.collect();
        let user = line.user.as_deref();
        let user = user.map_or(String::new(), |user| format!(" for {}", name(user)));
        let begins = format!("{} begins{user}: {}", name(program), proxies.join(", "));
        (name(&line.connection), style(begins).bold().to_string())
    } else if line.is_end() {
        (name(&line.connection), style("ends").bold().to_string())
    } else if let Some(dropped) = line.dropped {
        let missing = format!("{dropped} lines are missing here");
        (String::new(), style(missing).red().to_string())
    } else {
        let counts = [
            (line.denied, "denied"),
            (line.invalid, "invalid"),
            (line.full, "past a limit"),
        ];
        let counts = counts.iter().filter_map(|(count, what)| {
            let count = count.filter(|count| *count > 0)?;
            Some(format!("{count} {what}"))
        });
        let counts: Vec<_> = counts.collect();
        let on = line.method.as_deref();
        let on = on.map_or(String::new(), |method| format!(" on {}", name(method)));
        let calls = format!("calls{on}: {}", counts.join(", "));
        (name(line.proxy.as_deref()?), style(calls).red().to_string())
    };
    // The day rarely matters.
    let time = line.time.split_once('T').map_or("", |(_, time)| time);
    let time = if are_several {
        format!("{} {}", name(time), name(&line.connection))
    } else {
        name(time)
    };
    let time = style(time).dim();
    let pad = " ".repeat(ROUTE.saturating_sub(measure_text_width(&route)));
    Some(format!("{time} {route}{pad} {what}"))
}

fn message(line: &Line, kind: Kind) -> String {
    let method = style(name(line.method.as_deref().unwrap_or_default())).cyan();
    let kind = if line.error.is_some() {
        style("error").red().to_string()
    } else {
        kind.as_str().to_owned()
    };
    let body = Untrusted::within(line.body().unwrap_or_default(), BODY);
    let took = took(line.waited, "waited");
    format!("{kind}{} {method}{took} {body}", request(line))
}

fn decided(line: &Line, decision: Decision) -> String {
    let method = name(line.method.as_deref().unwrap_or_default());
    let is_bad = matches!(decision, Decision::Fail | Decision::Expire);
    let decision = if is_bad {
        style(decision.as_str()).red()
    } else {
        style(decision.as_str()).yellow()
    };
    let took = [took(line.worked, "worked"), took(line.held, "held")].concat();
    format!("{decision}{} {method}{took}{}", request(line), why(line))
}

fn spared(line: &Line, would: Would) -> String {
    let method = name(line.method.as_deref().unwrap_or_default());
    let would = style(format!("would {}", would.as_str())).yellow();
    format!("{would}{} {method}{}", request(line), why(line))
}

fn became(line: &Line, state: State) -> String {
    let restarts = match line.restarts.unwrap_or_default() {
        0 => String::new(),
        count => format!(" [restarts: {count}]"),
    };
    let memory = line.memory.map_or(String::new(), |memory| {
        format!(" [{} of memory]", Quantity::Size.show(memory))
    });
    let more = style([restarts, memory].concat()).dim();
    let state = if line.why.is_some() {
        style(state.as_str()).red()
    } else {
        style(state.as_str()).green()
    };
    format!("{state}{more}{}", why(line))
}

fn request(line: &Line) -> String {
    let number = line.request;
    number.map_or(String::new(), |number| format!(" {number}"))
}

fn why(line: &Line) -> String {
    let shown = line.why.as_deref().map(|why| Untrusted::within(why, BODY));
    shown.map_or(String::new(), |why| format!(": {why}"))
}

fn took(micros: Option<u64>, what: &str) -> String {
    micros.map_or(String::new(), |micros| {
        style(format!(" [{what} {micros} µs]")).dim().to_string()
    })
}
