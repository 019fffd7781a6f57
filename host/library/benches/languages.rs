//! For `cargo xtask languages`: measures the time of a message through a component, and the memory of the instance
//! after a thousand messages. The arguments are components that change prompts. Prints a line of JSON for each.

#[allow(dead_code, reason = "other benches use the rest")]
#[path = "../../router/benches/stage/mod.rs"]
mod stage;

use std::env;
use std::path::Path;
use std::time::Instant;

use acp_chain::chain::{Proxy, Terms};
use acp_chain::channel::{FailurePolicy, Grant, Peer};
use acp_chain::rpc::Message;
use acp_chain::sandbox::{Component, Engine, Guest};
use bytes::Buf;
use stage::Stage;

/// The number of messages per component.
const MESSAGES: usize = 1000;

#[expect(clippy::disallowed_macros, reason = "programs read it")]
fn main() {
    let paths = env::args().skip(1).filter(|path| !path.starts_with('-'));
    // `cargo bench` starts all benches, this one without arguments.
    for path in paths {
        let (micros, memory) = measure(Path::new(&path));
        println!(r#"{{"micros":{micros},"memory":{memory}}}"#);
    }
}

/// The median time of a message in microseconds, and the memory in bytes after the last.
fn measure(path: &Path) -> (f64, usize) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().expect("a runtime");
    let _guard = runtime.enter();
    let engine = Engine::new(None).expect("an engine");
    let component = Component::load(&engine, path);
    let component = component.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let guest = Guest {
        grant: Grant::all_powers("it").into(),
        ..Guest::new(&engine, component, "it")
    };
    let gauge = guest.gauge.clone();
    let terms = Terms {
        limits: guest.limits.clone(),
        grant: guest.grant.clone(),
        on_failure: FailurePolicy::Refuse,
        sleep_after: None,
    };
    let proxy = runtime.block_on(Proxy::start("it", guest, terms));
    let proxy = proxy.expect("it starts");
    let mut stage = Stage::new(vec![proxy], None);
    let mut all: Vec<_> = (0..MESSAGES)
        .map(|number| prompt(&mut stage, number))
        .collect();
    all.sort_by(f64::total_cmp);
    (all[MESSAGES / 2], gauge.memory())
}

/// The time in microseconds until the prompt is sent on with the text that the proxy adds.
fn prompt(stage: &mut Stage, number: usize) -> f64 {
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":{number},"method":"session/prompt","params":{{"sessionId":"s","prompt":[{{"type":"text","text":"ping"}}]}}}}"#
    );
    let request = Message::parse(line.into()).expect("it is a request");
    let begun = Instant::now();
    let is_changed = stage.carry(Peer::Client, request, |outbox| {
        outbox.chunk().windows(9).any(|part| part == b"Be brief.")
    });
    let micros = begun.elapsed().as_secs_f64() * 1e6;
    assert!(is_changed, "the proxy changes prompts");
    micros
}
