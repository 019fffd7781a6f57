//! One run of the suite for each way to a server.

use acp_chain::bridge::pipe::{SECRET, SOCKET};
use acp_chain_tests::declared::{address, variable};
use acp_chain_tests::host::{InProcess, peer};
use acp_chain_tests::provider::Provider;
use serde_json::Value;
use tokio::task::JoinSet;

use super::suite::{Findings, Front, Suite, front, run};

/// Agents with each bridge.
const HTTP: &str = r#"{"protocolVersion":2,"capabilities":{"session":{"mcp":{"http":{}}}}}"#;
const STDIO: &str = r#"{"protocolVersion":1}"#;

/// The client's server, in the dialect of the RFD.
const DECLARED: &str = r#"[{"type":"acp","name":"conformance","id":"conformance"}]"#;

/// A proxy in front of a server, and a proxy that is a server.
const PASS: Proxies = &[("pass", "{}")];
const COMPONENT: Proxies = &[("conformance", "{}")];

/// Components, and their configuration.
type Proxies = &'static [(&'static str, &'static str)];

/// A run of the suite.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub suite: Suite,
    pub version: &'static str,
}

const fn of(suite: Suite, version: &'static str) -> Run {
    Run { suite, version }
}

/// All runs, and whether they run at every change: the oldest and the newest version of MCP, and the newest
/// version in the stable release of the suite.
pub const RUNS: [(Run, bool); 6] = [
    (of(Suite::Stable, "2025-06-18"), false),
    (of(Suite::Stable, "2025-11-25"), true),
    (of(Suite::Next, "2025-03-26"), true),
    (of(Suite::Next, "2025-06-18"), false),
    (of(Suite::Next, "2025-11-25"), false),
    (of(Suite::Next, "2026-07-28"), true),
];

/// The findings on each way.
pub struct Scores {
    /// The server direct, and through the chain, over HTTP.
    http: [Findings; 2],
    /// The same on standard input and output.
    stdio: [Findings; 2],
    /// A component, over either bridge.
    component: [Findings; 2],
}

impl Scores {
    pub const HEADINGS: [&str; 6] = [
        "server, HTTP",
        "through the chain",
        "server, stdio",
        "through the chain",
        "component, HTTP",
        "component, stdio",
    ];

    /// How many scenarios passed, of how many.
    pub fn cells(&self) -> Vec<String> {
        let all = [&self.http, &self.stdio, &self.component];
        let all = all.into_iter().flatten();
        let counted = all.map(|found| {
            let passed = found.values().filter(|why| why.is_empty()).count();
            format!("{passed} of {}", found.len())
        });
        counted.collect()
    }

    /// Whether there are neither losses nor faults.
    pub fn is_fine(&self) -> bool {
        self.lost().is_empty() && self.faults().is_empty()
    }

    /// Scenarios that a component fails over HTTP although it has their features. The gateway in front of the
    /// other bridge has failures of its own.
    pub fn faults(&self) -> Vec<(&String, &String)> {
        let [http, _] = &self.component;
        let failed = http
            .iter()
            .flat_map(|(name, why)| why.iter().map(move |why| (name, why)));
        let lacks = |why: &str| LACKING.iter().any(|lacking| why.contains(lacking));
        failed.filter(|(_, why)| !lacks(why)).collect()
    }

    /// Scenarios that pass direct and fail through the chain, with the reasons.
    pub fn lost(&self) -> Vec<(&String, Option<&Vec<String>>)> {
        let ways = [&self.http, &self.stdio].into_iter();
        let lost = ways.flat_map(|[direct, chained]| {
            let passed = direct.iter().filter(|(_, why)| why.is_empty());
            let chained = passed.map(|(name, _)| (name, chained.get(name)));
            chained.filter(|(_, why)| why.is_none_or(|why| !why.is_empty()))
        });
        lost.collect()
    }
}

/// The suite's messages about features that a component lacks: a log, two of the suite's tools, and its own
/// names for requests to its client, which are the host's.
const LACKING: [&str; 4] = [
    "Method not found: logging/setLevel",
    "not found. Available tools",
    "Not testable: server does not list the diagnostic tool",
    "inputRequests missing expected key",
];

/// Runs the suite on every way.
pub async fn scores(of: Run) -> Scores {
    let server = peer("bin/npm-conformance-server");
    let server = server.to_str().expect("UTF-8");
    let on = async |front: Front| run(of.suite, of.version, &front.url).await;
    // Each chain starts only when it is needed, since the ends of an idle chain do not wait for long.
    let through = async |agent, proxies, servers| {
        let chained = ChainedServer::new(agent, proxies, servers).await;
        run(of.suite, of.version, &chained.front.url).await
    };
    let http = async {
        let direct = on(front("npm-conformance-server", &["http"]).await).await;
        [direct, through(HTTP, PASS, DECLARED).await]
    };
    let stdio = async {
        let gateway = front("npm-conformance-front", &["gateway", server]).await;
        [on(gateway).await, through(STDIO, PASS, DECLARED).await]
    };
    let component = async {
        let http = through(HTTP, COMPONENT, "[]").await;
        [http, through(STDIO, COMPONENT, "[]").await]
    };
    let (http, stdio, component) = tokio::join!(http, stdio, component);
    Scores {
        http,
        stdio,
        component,
    }
}

/// A server in a chain, with the front of its bridge.
struct ChainedServer {
    front: Front,
    _chain: JoinSet<()>,
}

impl ChainedServer {
    async fn new(agent: &str, proxies: Proxies, servers: &str) -> Self {
        let mut chain = InProcess::initialized_with(proxies, agent).await;
        let declared = chain.session("session-1", servers).await;
        let mut tasks = JoinSet::new();
        let InProcess { client, agent, .. } = chain;
        tasks.spawn(Provider::of("npm-conformance-server").serve(client));
        // The agent receives no more requests.
        tasks.spawn(async move {
            let _agent = agent;
            std::future::pending::<()>().await;
        });
        Self {
            front: bridge(&declared[0]).await,
            _chain: tasks,
        }
    }
}

/// The front of a bridge.
async fn bridge(declared: &Value) -> Front {
    if declared["type"] == "http" {
        let (url, bearer) = address(declared);
        return front("npm-conformance-front", &["relay", &url, &bearer]).await;
    }
    let shim = declared["command"].as_str().expect("a command");
    let variables = [SOCKET, SECRET].map(|name| format!("{name}={}", variable(declared, name)));
    let [socket, secret] = &variables;
    let arguments = ["gateway", "env", socket, secret, shim, "mcp-shim"];
    front("npm-conformance-front", &arguments).await
}
