//! This program's own metrics beside its server's: agents, instances of proxies, and the process itself.

use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use acp_chain_remote::server::metrics::{Page, Source};

use acp_chain_conductor::Exit;
use acp_chain_sandbox::Total;
use acp_chain_system::process::Process;

/// The agents of all connections.
#[derive(Clone, Default)]
pub struct Agents(Arc<Counts>);

#[derive(Default)]
struct Counts {
    started: AtomicU64,
    not_started: AtomicU64,
    ended: AtomicU64,
    failed: AtomicU64,
}

impl Agents {
    /// Counts the start of a chain with its agent, or a failure of it.
    pub fn began(&self, has_begun: bool) {
        let count = if has_begun {
            &self.0.started
        } else {
            &self.0.not_started
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts the end of a chain that had started.
    pub fn ended(&self, exit: Exit) {
        let Exit::Ended { agent } = exit else { return };
        self.0.ended.fetch_add(1, Ordering::Relaxed);
        if agent.is_some_and(|status: ExitStatus| !status.success()) {
            self.0.failed.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn write(&self, page: &mut Page) {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        // Read in this order, so that no more agents have ended than started.
        let ended = get(&self.0.ended);
        let started = get(&self.0.started);
        let about = "Agents that run.";
        page.value("acp_chain_agents", about, started.saturating_sub(ended));
        let about = "Agents that were started.";
        page.value("acp_chain_agents_started_total", about, started);
        page.values(
            "acp_chain_agents_failed_total",
            "Agents, or chains before them, that did not start, and agents that ended with a failure.",
            "when",
            [
                ("start", get(&self.0.not_started)),
                ("end", get(&self.0.failed)),
            ],
        );
    }
}

/// The sources of these metrics. Call it before rights are given up.
pub fn sources(agents: Agents, total: Arc<Total>) -> Vec<Source> {
    let process = Process::open();
    vec![
        Box::new(move |page| agents.write(page)),
        Box::new(move |page| {
            let about = "Instances of proxies that are awake.";
            page.value("acp_chain_proxy_instances", about, total.instances());
            let about = "The memory of these instances.";
            page.value("acp_chain_proxy_memory_bytes", about, total.memory());
        }),
        Box::new(move |page| of_process(&process, page)),
    ]
}

/// Process metrics under their standard names (Prometheus, "Writing client libraries"). Those that the system does not
/// report are left out.
fn of_process(process: &Process, page: &mut Page) {
    page.values(
        "acp_chain_build_info",
        "The version of the program.",
        "version",
        [(env!("CARGO_PKG_VERSION"), 1)],
    );
    if let Some(time) = process.cpu_time() {
        let about = "Processor time that was used, in seconds.";
        page.value("process_cpu_seconds_total", about, time.as_secs_f64());
    }
    if let Some(memory) = process.memory() {
        let about = "Resident memory, in bytes.";
        page.value("process_resident_memory_bytes", about, memory);
    }
    if let Some(open) = process.descriptors() {
        let about = "Files, pipes and sockets that are open.";
        page.value("process_open_fds", about, open);
    }
    if let Some(most) = process.most_descriptors() {
        let about = "The limit of open files, pipes and sockets.";
        page.value("process_max_fds", about, most);
    }
    let about = "When the process started, in seconds since 1970.";
    page.value(
        "process_start_time_seconds",
        about,
        process.begun().as_secs(),
    );
}
