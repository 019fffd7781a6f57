//! The second floor: a relay that calls components for each message, with nothing around the calls. It starts an agent,
//! and passes every whole line to instances of a component, as the body of a message; their decisions are ignored.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::str;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result, anyhow};
use memchr::memmem;
use wasmtime::component::{Component, Linker};
use wasmtime::{Engine, Error, Store};

use crate::lines::Lines;

use self::bindings::Proxy;
use self::bindings::acp_chain::proxy::types::{Head, Notification, Peer, Request, Response};

#[allow(
    missing_docs,
    clippy::pedantic,
    reason = "generated from wit/proxy.wit"
)]
mod bindings {
    wasmtime::component::bindgen!({
        path: "../wit/proxy.wit",
        world: "proxy",
        ownership: Borrowing { duplicate_if_necessary: true },
    });
}

/// The start of a line, which shows its kind, as the benchmark's client and agent write it.
const ENVELOPE: usize = 64;

/// An instance, and how many messages it received.
struct Instance {
    store: Store<()>,
    proxy: Proxy,
    calls: u64,
}

impl Instance {
    fn new(engine: &Engine, component: &Component) -> wasmtime::Result<Self> {
        let mut linker = Linker::new(engine);
        // A component that only decides calls no imports.
        linker.define_unknown_imports_as_traps(component)?;
        let mut store = Store::new(engine, ());
        let proxy = Proxy::instantiate(&mut store, component, &linker)?;
        let handler = proxy.acp_chain_proxy_handler();
        let started = handler.call_init(&mut store, "{}", None)?;
        started.map_err(Error::msg)?;
        Ok(Self {
            store,
            proxy,
            calls: 0,
        })
    }

    fn call(&mut self, sender: Peer, line: &str) -> wasmtime::Result<()> {
        self.calls += 1;
        let head = Head {
            id: self.calls,
            sender,
            method: "session/prompt",
            session: Some("session"),
            size: u64::try_from(line.len())?,
        };
        let start = &line.as_bytes()[..line.len().min(ENVELOPE)];
        let has = |member: &str| memmem::find(start, member.as_bytes()).is_some();
        let handler = self.proxy.acp_chain_proxy_handler();
        let store = &mut self.store;
        let decided = match (has("\"method\""), has("\"id\"")) {
            (true, true) => handler.call_on_request(store, Request { head, params: line })?,
            (true, false) => {
                handler.call_on_notification(store, Notification { head, params: line })?
            }
            (false, _) => {
                let outcome = Ok(line);
                handler.call_on_response(store, Response { head, outcome })?
            }
        };
        decided.map(drop).map_err(Error::msg)
    }
}

/// Starts the agent, and forwards lines until it ends.
///
/// # Errors
/// If the component or the agent cannot be started, or a call fails.
pub fn run(component: &Path, count: usize, agent: &mut Command) -> Result<()> {
    let engine = Engine::default();
    let component =
        Component::from_file(&engine, component).map_err(|error| anyhow!("{error:#}"))?;
    let instances = (0..count).map(|_| Instance::new(&engine, &component));
    let instances = instances.collect::<wasmtime::Result<Vec<_>>>();
    let instances = instances.map_err(|error| anyhow!("{error:#}"))?;
    let instances = Arc::new(Mutex::new(instances));

    let agent = agent.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = agent.spawn()?;
    let to = child.stdin.take().context("no pipe")?;
    let from = child.stdout.take().context("no pipe")?;
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let shared = instances.clone();
    thread::spawn(move || carry(input, to, Peer::Client, &shared));
    carry(from, output, Peer::Agent, &instances)?;
    child.wait()?;
    Ok(())
}

/// Forwards the lines of one sender, each through all instances.
fn carry(
    from: impl Read,
    mut to: impl Write,
    sender: Peer,
    instances: &Mutex<Vec<Instance>>,
) -> Result<()> {
    let mut lines = Lines::new(from);
    let mut buffer = Vec::new();
    while let Some(line) = lines.next_line()? {
        let text = str::from_utf8(line)?;
        {
            let mut instances = instances.lock().unwrap_or_else(PoisonError::into_inner);
            for instance in instances.iter_mut() {
                let called = instance.call(sender, text);
                called.map_err(|error| anyhow!("{error:#}"))?;
            }
        }
        buffer.clear();
        buffer.extend_from_slice(line);
        buffer.push(b'\n');
        to.write_all(&buffer)?;
    }
    Ok(())
}
