//! How each kind of loss is caused, and how it is reported.

use acp_chain::chain::losses::Loss;
use acp_chain_tests::chain::{entry, program};

const PROXY: &str = env!("CARGO_BIN_EXE_native-proxy");

pub(super) const BROKE: &str =
    "the proxy `does` broke: wasm trap: wasm `unreachable` instruction executed. It is";

/// A step of a turn.
#[derive(Clone, Copy)]
pub(super) enum Step {
    /// The client sends this line.
    Client(&'static str),
    /// The agent sends this line, with the id of the turn's request in place of `{turn}`.
    Agent(&'static str),
    /// The client receives a line that contains this.
    Hears(&'static str),
    /// The agent receives a line that contains this.
    AgentHears(&'static str),
}

use Step::{Agent, AgentHears, Client, Hears};

const PLAN: Step = Agent(
    r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[]}}}"#,
);

/// One way to lose something, and its reports.
pub(super) struct Scene {
    pub manifest: String,
    /// The lines that the client sends before `initialize`.
    pub early: &'static [&'static str],
    /// The steps of the first turn, which the second one repeats.
    pub steps: &'static [Step],
    /// The beginnings of all notices to the user in both turns.
    pub notices: &'static [&'static str],
    pub log: &'static str,
}

impl Scene {
    fn new(steps: &'static [Step], notices: &'static [&'static str], log: &'static str) -> Self {
        Self {
            manifest: String::new(),
            early: &[],
            steps,
            notices,
            log,
        }
    }

    fn with(self, manifest: String) -> Self {
        Self { manifest, ..self }
    }

    fn early(self, early: &'static [&'static str]) -> Self {
        Self { early, ..self }
    }
}

fn does(terms: &str) -> String {
    entry("does", "does", terms)
}

/// A proxy that breaks at chunks, under a policy.
fn breaks(policy: &str) -> String {
    let config = "[proxy.config.notifications]\n'session/update' = [{ break = 'panic' }]\n\
                  [proxy.config.requests]\n'test/panic' = [{ break = 'panic' }]\n\
                  'test/ask' = [{ ask = { to = 'client', method = 'test/asked', params = {} } }]";
    does(&format!("on-failure = '{policy}'\n{config}"))
}

/// The ways to cause a loss of this kind.
pub(super) fn scenes(loss: Loss) -> Vec<Scene> {
    match loss {
        Loss::Line => line(),
        Loss::Misplaced => misplaced(),
        Loss::Unasked => unasked(),
        Loss::Guarded => guarded(),
        Loss::Undecided => undecided(),
        Loss::Offer => offer(),
        Loss::Server => server(),
        Loss::Broken => broken(),
        Loss::Refused => refused(),
        Loss::Early => early(),
        Loss::Late => late(),
        Loss::Nameless => nameless(),
        Loss::Crossed => crossed(),
        Loss::Unconnected => unconnected(),
        Loss::Orphaned => orphaned(),
        // The agent is not played: this loss has a test of its own.
        Loss::Unread => Vec::new(),
    }
}

fn line() -> Vec<Scene> {
    vec![
        Scene::new(
            &[Agent("words")],
            &["a line of the agent is lost: the message is not JSON"],
            "a line of the agent is lost: the message is not JSON",
        ),
        // For a lost answer, the requester gets an error.
        Scene::new(
            &[
                Client(r#"{"jsonrpc":"2.0","id":"x","method":"test/any"}"#),
                AgentHears("test/any"),
                Agent(r#"{"jsonrpc":"2.0","id":{asked},"result":{]}"#),
                Hears("acp-chain: the answer of the agent is lost: the message is not JSON"),
            ],
            &["a line of the agent is lost: the message is not JSON"],
            "a line of the agent is lost: the message is not JSON",
        ),
        // The proxy sends three lines that are discarded before each message that it forwards.
        Scene::new(
            &[],
            &[
                "dropped what the proxy `native` sent: a line: the message is not JSON",
                "dropped what the proxy `native` sent: a response to no open request: id \"nobody's\"",
                "dropped what the proxy `native` sent: a proxy/successor must have a method in its params",
            ],
            "dropped what the proxy `native` sent: a line: the message is not JSON",
        )
        .with(program("native", &[PROXY, "--garbage"])),
    ]
}

fn misplaced() -> Vec<Scene> {
    vec![
        Scene::new(
            &[Agent(r#"{"jsonrpc":"2.0","method":"proxy/successor"}"#)],
            &["dropped a notification from the agent: proxy/successor is spoken between"],
            "dropped a notification from the agent: proxy/successor is spoken between",
        ),
        Scene::new(
            &[Client(
                r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{}}"#,
            )],
            &["dropped a $/cancel_request from the client that names no request"],
            "dropped a $/cancel_request from the client that names no request",
        ),
    ]
}

fn unasked() -> Vec<Scene> {
    vec![
        Scene::new(
            &[Agent(r#"{"jsonrpc":"2.0","id":"mine","result":{}}"#)],
            &[r#"dropped a response of the agent to no open request: id "mine""#],
            r#"dropped a response of the agent to no open request: id "mine""#,
        ),
        Scene::new(
            &[Client(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#)],
            &["dropped a response of the client to no open request: id 7"],
            "dropped a response of the client to no open request: id 7",
        ),
        // The agent could not read a message.
        Scene::new(
            &[Agent(
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#,
            )],
            &[
                "dropped a response of the agent to no open request: id null, the error `Parse error`",
            ],
            "dropped a response of the agent to no open request: id null, the error `Parse error`",
        ),
    ]
}

fn nameless() -> Vec<Scene> {
    vec![
        // Some software answers notifications.
        Scene::new(
            &[Agent(
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"Method not found"}}"#,
            )],
            &[],
            "dropped a response of the agent to no open request: id null",
        ),
        Scene::new(
            &[Client(r#"{"jsonrpc":"2.0","result":{}}"#)],
            &[],
            "dropped a response of the client to no open request: id null",
        ),
    ]
}

fn guarded() -> Vec<Scene> {
    vec![
        Scene::new(
            &[Agent(
                r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan","sessionUpdate":"plan","entries":[]}}}"#,
            )],
            &["session/update cannot pass the guard `redact`: "],
            "session/update cannot pass the guard `redact`: ",
        )
        .with(entry("redact", "redact", "")),
        Scene::new(
            &[
                Client(
                    r#"{"jsonrpc":"2.0","id":"x","method":"session/prompt","params":{"sessionId":"s","sessionId":"t","prompt":[]}}"#,
                ),
                Hears("acp-chain: session/prompt cannot pass the guard `redact`: "),
            ],
            &[],
            "session/prompt cannot pass the guard `redact`: ",
        )
        .with(entry("redact", "redact", "")),
    ]
}

fn undecided() -> Vec<Scene> {
    let config = "limits.hold-time = '50 ms'\n\
                          [proxy.config.notifications]\n'session/update' = ['hold']\n\
                          [proxy.config.requests]\n'test/hold' = ['hold']";
    let refuses = does(&format!("on-failure = 'refuse'\n{config}"));
    let bypassed = does(&format!("on-failure = 'bypass'\n{config}"));
    vec![
            Scene::new(
                &[PLAN],
                &[
                    "the proxy `does` failed on session/update: it held the message for too long; it is refused: the \
                     notification \"session/update\" of 117 bytes from the agent of session \"s\"",
                ],
                "the proxy `does` failed on session/update: it held the message for too long; it is refused: ",
            )
            .with(refuses.clone()),
            Scene::new(
                &[
                    Client(r#"{"jsonrpc":"2.0","id":"x","method":"test/hold"}"#),
                    Hears("acp-chain: the proxy `does` failed on test/hold: it held the message for too long\""),
                ],
                &[],
                "the proxy `does` failed on test/hold: it held the message for too long; it is refused: ",
            )
            .with(refuses),
            // Nothing is lost.
            Scene::new(
                &[PLAN, Hears(r#""sessionUpdate":"plan""#)],
                &[],
                "the proxy `does` failed on session/update: it held the message for too long; it goes on unchanged: ",
            )
            .with(bypassed),
        ]
}

fn offer() -> Vec<Scene> {
    vec![
        Scene::new(
            &[
                Client(
                    r#"{"jsonrpc":"2.0","id":"x","method":"session/new","params":{"cwd":"/","mcpServers":[]}}"#,
                ),
                AgentHears("acp-chain-"),
                Agent(r#"{"jsonrpc":"2.0","id":{asked},"result":{"sessionId":"t"}}"#),
                Hears(r#""sessionId":"t""#),
                Agent(
                    r#"{"jsonrpc":"2.0","id":"q","method":"mcp/message","params":{"serverId":"acp-chain-1","requestId":"r","method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"a","version":"1"}}}}}"#,
                ),
                AgentHears(r#""id":"q""#),
            ],
            &["of the proxy `tools`, tools that it lists are left out: it lists two tools \"echo\"."],
            "tools that it lists are left out: it lists two tools",
        )
        .with(entry("tools", "tools", "powers = ['tools']\nconfig.duplicate = true")),
    ]
}

fn server() -> Vec<Scene> {
    vec![Scene::new(
        &[
            Client(
                r#"{"jsonrpc":"2.0","id":"x","method":"session/new","params":{"cwd":"/","mcpServers":[{"type":"acp","name":"theirs"}]}}"#,
            ),
            AgentHears(r#""mcpServers":[]"#),
            Agent(r#"{"jsonrpc":"2.0","id":{asked},"result":{"sessionId":"t"}}"#),
        ],
        &["these MCP servers are not declared to the agent: theirs. Over ACP a server needs"],
        "these MCP servers are not declared to the agent: theirs. Over ACP a server needs",
    )]
}

fn broken() -> Vec<Scene> {
    vec![
        Scene::new(
            &[
                Client(r#"{"jsonrpc":"2.0","id":"x","method":"test/panic"}"#),
                Hears("acp-chain: the proxy `does` failed on test/panic: "),
                PLAN,
            ],
            &[BROKE],
            "the proxy `does` failed on session/update: it broke before: ",
        )
        .with(breaks("refuse")),
    ]
}

fn refused() -> Vec<Scene> {
    vec![
        Scene::new(
            &[
                Client("words"),
                Hears(r#""id":null,"error":{"code":-32700,"message":"the message is not JSON"#),
            ],
            &[],
            "a line of the client is lost: the message is not JSON",
        ),
        Scene::new(
            &[
                Client(r#"{"jsonrpc":"2.0","id":"x","method":"proxy/initialize"}"#),
                Hears(
                    r#""id":"x","error":{"code":-32600,"message":"proxy/initialize is spoken between"#,
                ),
            ],
            &[],
            "refused a request from the client: proxy/initialize is spoken between",
        ),
        Scene::new(
            &[
                Agent(r#"{"jsonrpc":"2.0","id":"y","method":"proxy/initialize"}"#),
                AgentHears(
                    r#""id":"y","error":{"code":-32600,"message":"proxy/initialize is spoken"#,
                ),
            ],
            &[],
            "refused a request from the agent: proxy/initialize is spoken between",
        ),
    ]
}

fn early() -> Vec<Scene> {
    vec![
        Scene::new(&[], &[], "dropped a message before initialize: test/early")
            .early(&[r#"{"jsonrpc":"2.0","method":"test/early"}"#]),
    ]
}

fn late() -> Vec<Scene> {
    vec![Scene::new(
        // The agent answers the turn a second time at its end.
        &[Agent(
            r#"{"jsonrpc":"2.0","id":{turn},"result":{"stopReason":"end_turn"}}"#,
        )],
        &[],
        "dropped a response of the agent to no open request: id 2",
    )]
}

fn crossed() -> Vec<Scene> {
    vec![Scene::new(
        &[Client(
            r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"done"}}"#,
        )],
        &[],
        "a $/cancel_request from the client came too late",
    )]
}

fn unconnected() -> Vec<Scene> {
    vec![Scene::new(
        &[Agent(
            r#"{"jsonrpc":"2.0","method":"mcp/message","params":{"connectionId":"none","method":"test/any"}}"#,
        )],
        &[],
        "no MCP connection `none` is open",
    )]
}

fn orphaned() -> Vec<Scene> {
    vec![
        Scene::new(
            &[
                Client(r#"{"jsonrpc":"2.0","id":"x","method":"test/ask"}"#),
                Hears("test/asked"),
                Client(r#"{"jsonrpc":"2.0","id":"y","method":"test/panic"}"#),
                Hears(r#""id":"y","error""#),
                Client(r#"{"jsonrpc":"2.0","id":{heard},"result":{}}"#),
            ],
            &[BROKE],
            "an earlier instance sent the request",
        )
        .with(breaks("restart")),
    ]
}
