//! The script of the soak: the chain, and its turns.

use std::fmt::Write as _;
use std::path::Path;

/// The components.
pub const PROXIES: [&str; 3] = ["does", "pass", "redact"];

/// The proxy that crashes.
pub const CRASHES: &str = "crashes";

/// The method that makes it crash, as a request from the client or a notification from the agent.
pub const CRASH: &str = "test/crash";

/// The request that it sends to the client at each prompt, which it holds until the answer.
pub const ASKED: &str = "test/asked";

/// How many sessions have a turn open at the same time.
pub const SESSIONS: usize = 4;

/// The client makes it crash once in this many turns. The agent does so within a turn, see [`turn`].
pub const CLIENT_CRASHES: u64 = 97;

/// Of the turns in which the agent could make it crash, one in this many does.
const AGENT_CRASHES: u64 = 16;

/// How the client ends a turn before the agent does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Cancel {
    Never,
    /// By `session/cancel`.
    Session,
    /// By `$/cancel_request`.
    Request,
}

/// One turn: the instructions for the agent, and how the client cancels the turn.
type Turn = (&'static str, Cancel);

/// The turns, in their order.
const TURNS: [Turn; 6] = [
    ("stream 20 some words of an answer", Cancel::Never),
    (
        "permission edit Edit a file /project/main.rs\nstream 5",
        Cancel::Never,
    ),
    ("stream 5\nwait", Cancel::Session),
    (
        "read /project/notes.md\nstream 10\npermission read Read it /project/notes.md",
        Cancel::Never,
    ),
    ("stream 5\nwait", Cancel::Request),
    ("stream 5\nwithdraw test/withdrawn\nstream 5", Cancel::Never),
];

/// A turn during which the proxy crashes.
const CRASHING: Turn = ("stream 5\ntell test/crash\nstream 5", Cancel::Never);

/// The turn with that number.
pub fn turn(number: u64) -> Turn {
    let kinds = TURNS.len() as u64 + 1;
    let (round, kind) = (number / kinds, number % kinds);
    match usize::try_from(kind).ok().and_then(|kind| TURNS.get(kind)) {
        Some(turn) => *turn,
        None if round.is_multiple_of(AGENT_CRASHES) => CRASHING,
        None => TURNS[0],
    }
}

/// The chain: the crashing proxy is restarted every time.
pub fn manifest(components: &Path) -> String {
    let mut manifest = String::new();
    let crashes = format!(
        "on-failure = 'restart'
limits = {{ restarts = 100, restart-window = '1 s' }}
powers = ['prompts.read', 'prompts.change']
methods = {{ 'test/*' = ['read', 'change', 'answer', 'send'] }}

[proxy.config.requests]
'session/prompt' = ['count', {{ ask = {{ to = 'client', method = '{ASKED}', params = {{}} }} }}]
'{CRASH}' = [{{ break = 'panic' }}]
[proxy.config.notifications]
'{CRASH}' = [{{ break = 'panic' }}]"
    );
    // If the held message is a cancellation, no message may follow it: then the host ends the hold.
    let holds = "powers = ['answers.read', 'answers.change', 'turns.read']
config.hold-every = 3\non-failure = 'bypass'\nlimits.hold-time = '100 ms'";
    let proxies = [
        (CRASHES, "does", &*crashes),
        ("holds", "pass", holds),
        (
            "neighbour",
            "redact",
            "powers = [
                'prompts.read', 'prompts.change', 'answers.read', 'answers.change',
                'answers.send', 'turns.read', 'permissions.read', 'permissions.change',
            ]",
        ),
    ];
    for (id, component, terms) in proxies {
        let path = components.join(component).with_extension("wasm");
        let path = path.display();
        // Writing to a string does not fail.
        let _ = writeln!(
            manifest,
            "[[proxy]]\nid = {id:?}\npath = '{path}'\n{terms}\n"
        );
    }
    manifest
}
