//! The proof of life, over what real agents have reported and shown.
//!
//! Each file of `recorded` is of an agent behind a chain that refuses some of its commands: its shell, its files, several
//! calls at once, an MCP server, subagents, a turn that is stopped, and a session that is loaded. Where its name says
//! `same-ids`, the model numbers the calls of each message from 1; where it says `asks`, the agent asks before it runs a
//! tool, as it does by itself. A line is what a hook `report`s and whether the chain has `refused` it, an `update` about a
//! call, a call that the agent `asks` about, what the `client` sends, or what the agent `answer`s; of each, the parts that
//! count.

use acp_chain_acp::BEFORE_TOOL;
use acp_chain_channel::Peer;
use acp_chain_hooks::{Dialect, dialect};
use acp_chain_router::{FirstSign, HookTerms, IfUnlike, Proxy, Router};
use acp_chain_rpc::Message;
use bytes::{Buf as _, Bytes};
use serde_json::{Value, json};

/// A recorded agent.
struct Recorded {
    name: &'static str,
    dialect: &'static str,
    lines: &'static str,
    /// Without how many of its reports, if one at a time is missing, its turn is stopped. The others are of calls that
    /// failed or were stopped, of subagents that are not shown, or have the id of another one that has not ended.
    noticed: usize,
}

macro_rules! recorded {
    ($name:literal, $dialect:literal, $noticed:literal) => {
        Recorded {
            name: $name,
            dialect: $dialect,
            lines: include_str!(concat!("recorded/", $name, ".jsonl")),
            noticed: $noticed,
        }
    };
}

const ALL: &[Recorded] = &[
    recorded!("auggie", "auggie", 11),
    recorded!("claude", "claude", 18),
    recorded!("claude-asks", "claude", 3),
    recorded!("cline-same-ids", "cline", 11),
    recorded!("codex", "codex", 14),
    recorded!("codex-asks", "codex", 3),
    recorded!("codex-older", "codex-older", 12),
    recorded!("copilot", "copilot", 17),
    recorded!("copilot-asks", "copilot", 3),
    recorded!("copilot-same-ids", "copilot", 16),
    recorded!("opencode", "opencode", 17),
    recorded!("opencode-asks", "opencode", 3),
    recorded!("opencode-same-ids", "opencode", 12),
    recorded!("pi", "pi", 12),
    recorded!("qwen", "qwen", 12),
    recorded!("qwen-asks", "qwen", 3),
];

fn terms(dialect: &'static Dialect) -> HookTerms {
    HookTerms {
        meta: None,
        first_sign: FirstSign::Session,
        signs_new: false,
        judges_failures: dialect.knows_rejected,
        names_calls: dialect.names_calls(),
        tool_at: dialect.tool_at,
        runs_no_hook: Box::new(move |update| dialect.runs_no_hook(update)),
        cleaned: Box::new(|_| None),
        unlike: Box::new(|_| None),
        if_unlike: IfUnlike::Tell,
        stops: true,
    }
}

/// A connection on which a recording is played.
struct Connection {
    router: Router,
    /// The last requests that the agent has got, by their methods.
    asked: Vec<(String, Value)>,
    /// How many requests and reports there were.
    number: u64,
    /// How often the agent was told to stop.
    stops: usize,
}

impl Connection {
    fn new(dialect: &'static Dialect, session: &Value) -> Self {
        let mut router = Router::new(Vec::<Proxy>::new(), None);
        router.attach_hooks(terms(dialect));
        router.receive_sign_of_hooks(None);
        let mut connection = Self {
            router,
            asked: Vec::new(),
            number: 0,
            stops: 0,
        };
        let params = json!({ "cwd": "/home/me/work", "mcpServers": [] });
        connection.ask(Peer::Client, "session/new", &params);
        connection.answer("session/new", &json!({ "sessionId": session }));
        connection
    }

    fn say(&mut self, from: Peer, message: &Value) {
        let message = Message::parse(Bytes::from(message.to_string())).unwrap();
        self.router.receive(from, message);
        self.flush();
    }

    /// Takes what both ends get.
    fn flush(&mut self) {
        self.router.pump(1000);
        let client = self.router.outbox(Peer::Client);
        client.copy_to_bytes(client.remaining());
        let agent = self.router.outbox(Peer::Agent);
        let sent = agent.copy_to_bytes(agent.remaining());
        for line in sent.split(|byte| *byte == b'\n') {
            let Ok(message) = serde_json::from_slice::<Value>(line) else {
                continue;
            };
            let method = message["method"].as_str().unwrap_or_default();
            self.stops += usize::from(method == "session/cancel");
            self.asked.push((method.to_owned(), message["id"].clone()));
        }
    }

    fn ask(&mut self, from: Peer, method: &str, params: &Value) {
        self.number += 1;
        let id = format!("r{}", self.number);
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.say(from, &request);
    }

    fn notify(&mut self, from: Peer, method: &str, params: &Value) {
        let notification = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.say(from, &notification);
    }

    /// Answers the last request of this method.
    fn answer(&mut self, method: &str, result: &Value) {
        let mut asked = self.asked.iter().rev();
        let (_, id) = asked.find(|(asked, _)| asked == method).unwrap();
        let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        self.say(Peer::Agent, &answer);
    }

    fn report(&mut self, session: &Value, call: &Value, is_refused: bool) {
        self.number += 1;
        let params = json!({ "sessionId": session, "toolCall": call }).to_string();
        let request = Message::request(BEFORE_TOOL, &params);
        self.router.receive_from_hook(self.number, request);
        self.flush();
        self.router.take_hook_outcomes();
        if is_refused {
            let id = call["toolCallId"].as_str();
            self.router.note_refused_report(self.number, id);
        }
    }

    fn take(&mut self, line: &Value) {
        let session = &line["session"];
        let of_session = |member: &str| json!({ "sessionId": session, member: line[member] });
        if line["report"].is_object() {
            let is_refused = line["refused"] == true;
            return self.report(session, &line["report"], is_refused);
        }
        if line["update"].is_object() {
            return self.notify(Peer::Agent, "session/update", &of_session("update"));
        }
        if line["asks"].is_object() {
            let params = json!({ "sessionId": session, "toolCall": line["asks"], "options": [] });
            return self.ask(Peer::Agent, "session/request_permission", &params);
        }
        let params = json!({ "sessionId": session, "cwd": "/home/me/work", "mcpServers": [] });
        match (line["client"].as_str(), line["answer"].as_str()) {
            (Some("cancel"), _) => {
                self.notify(Peer::Client, "session/cancel", &params);
                // That is not for lack of a report.
                self.stops = self.stops.saturating_sub(1);
            }
            (Some(asked), _) => self.ask(Peer::Client, &format!("session/{asked}"), &params),
            (_, Some("prompt")) => {
                self.answer("session/prompt", &json!({ "stopReason": "end_turn" }));
            }
            (_, Some(asked)) => self.answer(&format!("session/{asked}"), &json!({})),
            (None, None) => panic!("an unknown line: {line}"),
        }
    }
}

/// The number of the line at which a turn is stopped, if one is. The line `without` is left out.
fn stopped_at(recorded: &Recorded, without: Option<usize>) -> Option<usize> {
    let lines: Vec<Value> = recorded
        .lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let dialect = dialect(recorded.dialect).unwrap();
    let mut connection = Connection::new(dialect, &lines[0]["session"]);
    for (index, line) in lines.iter().enumerate() {
        if Some(index) == without {
            continue;
        }
        connection.take(line);
        if connection.stops > 0 {
            return Some(index);
        }
    }
    None
}

#[test]
fn what_real_agents_do_stops_no_turn() {
    for recorded in ALL {
        assert_eq!(stopped_at(recorded, None), None, "{}", recorded.name);
    }
}

#[test]
fn without_one_report_a_turn_is_stopped() {
    for recorded in ALL {
        let lines = recorded.lines.lines().enumerate();
        let reports = lines.filter(|(_, line)| line.contains(r#""refused":false"#));
        let noticed = reports.filter(|(index, _)| stopped_at(recorded, Some(*index)).is_some());
        assert_eq!(noticed.count(), recorded.noticed, "{}", recorded.name);
    }
}
