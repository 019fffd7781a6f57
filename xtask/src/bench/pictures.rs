//! The conversation in the pictures of the inspector: a trace of a turn in which each proxy does something. The keys in
//! it are made up.

use serde_json::{Value, json};

/// The pictures, and whether they are dark.
pub const FILES: [(&str, bool); 2] = [("inspector-light.png", false), ("inspector-dark.png", true)];

/// The file of the trace, whose name is in them.
pub const TRACE: &str = "trace.jsonl";

/// Whether the page shows the turn to its end.
pub const IS_WHOLE: &str = "!!document.querySelector('#conversation .is-end')";

/// What is clicked: the notes that say what the proxies made of the prompt, and the message that `redact` sent on.
pub const CLICKS: [&str; 2] = [
    "#conversation .is-prompt .note:last-child button[aria-expanded]",
    "#conversation .is-prompt .note:last-child p > button",
];

/// Whether the message that was clicked is shown.
pub const IS_CHOSEN: &str = "!!document.querySelector('#detail .change')";

const PROXIES: [&str; 3] = ["rules", "permissions", "redact"];

const SESSION: &str = "sess-41c8";

const KEY: &str = "AKIAIOSFODNN7EXAMPLQ";

/// What `redact` puts in its place.
const MARK: &str = "[redacted: aws-access-token]";

/// The minute in which all happens.
const MINUTE: &str = "2026-11-23T14:06";

/// A trace, and the time and the number of the message at its end.
#[derive(Default)]
struct Trace {
    text: String,
    micros: u64,
    messages: u64,
}

/// A message, with its number within the chain if it is a request or an answer.
struct Message {
    kind: &'static str,
    method: &'static str,
    request: Option<u64>,
}

fn message(kind: &'static str, method: &'static str, request: Option<u64>) -> Message {
    Message {
        kind,
        method,
        request,
    }
}

/// The lines of the trace.
pub fn conversation() -> String {
    let mut trace = Trace::default();
    trace.line(
        0,
        &json!({
            "version": 1, "program": "acp-chain", "role": "agent", "proxies": PROXIES, "masked": false,
            "agent": "claude-agent-acp",
        }),
    );
    prompt(&mut trace);
    let thought = "The bucket is in another region. I look at the configuration first.";
    trace.says(1_800_000, "agent_thought_chunk", thought);
    read(&mut trace);
    push(&mut trace);
    trace.says(
        900_000,
        "agent_message_chunk",
        "The client signs for `us-east-1`, but the bucket is in `eu-central-1`: set the region in `upload.toml`. I did \
         not push, as your rules do not allow that.",
    );
    let end = message("response", "session/prompt", Some(1));
    let result = json!({"stopReason": "end_turn"});
    trace.crosses(40_000, &["agent", "redact", "client"], &end, &result);
    trace.text
}

/// The prompt, to which `rules` adds the project's, and from which `redact` takes a key.
fn prompt(trace: &mut Trace) {
    let asks = message("request", "session/prompt", Some(1));
    let written = format!("Why does the upload fail? I use the key {KEY}.");
    let rules = "Rules of this project: never push; run `make check` before a commit.";
    let with_rules = format!("{rules}\n\n{written}");
    let blocks =
        |text: &str| json!({"sessionId": SESSION, "prompt": [{"type": "text", "text": text}]});
    trace.messages += 1;
    trace.hop(0, ["client", "rules"], &asks, &blocks(&written));
    trace.decides(240, "rules", "change", &asks);
    trace.hop(30, ["rules", "redact"], &asks, &blocks(&with_rules));
    trace.decides(310, "redact", "change", &asks);
    let kept = blocks(&with_rules.replace(KEY, MARK));
    trace.hop(40, ["redact", "agent"], &asks, &kept);
}

/// A command that shows a file with the key, which `redact` takes out of the result.
fn read(trace: &mut Trace) {
    let input = json!({"command": "cat upload.toml"});
    trace.calls(700_000, "call-1", "cat upload.toml", &input);
    trace.reports(2_000, "before_tool", "call-1", &input, None);
    let output = format!("region = \"us-east-1\"\nkey = \"{KEY}\"");
    trace.reports(31_000, "after_tool", "call-1", &input, Some(&output));
    trace.ends(3_000, "call-1", "completed", &output.replace(KEY, MARK));
}

/// A command about which the agent asks, and which `permissions` refuses.
fn push(trace: &mut Trace) {
    let command = "git push --force origin main";
    let input = json!({"command": command});
    trace.calls(1_300_000, "call-2", command, &input);
    let mut asks = message("request", "session/request_permission", Some(2));
    let question = json!({
        "sessionId": SESSION,
        "toolCall": {"toolCallId": "call-2", "title": command, "kind": "execute", "rawInput": input},
        "options": [
            {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
            {"optionId": "no", "name": "Reject", "kind": "reject_once"},
        ],
    });
    trace.messages += 1;
    trace.hop(900, ["agent", "redact"], &asks, &question);
    trace.decides(120, "redact", "forward", &asks);
    trace.hop(20, ["redact", "permissions"], &asks, &question);
    trace.decides(180, "permissions", "answer", &asks);
    asks.kind = "response";
    let outcome = json!({"outcome": {"outcome": "selected", "optionId": "no"}});
    let way = ["permissions", "redact", "agent"];
    trace.crosses(30, &way, &asks, &outcome);
    let told = "Denied by rule 2 of the proxy `permissions`, without asking you.";
    trace.ends(2_000, "call-2", "failed", told);
}

impl Trace {
    /// A line, so many microseconds after the one before.
    fn line(&mut self, after: u64, members: &Value) {
        self.micros += after;
        let (seconds, micros) = (self.micros / 1_000_000, self.micros % 1_000_000);
        let mut line = json!({
            "time": format!("{MINUTE}:{:02}.{micros:06}Z", 12 + seconds),
            "connection": "k7wqza",
        });
        for (name, value) in members.as_object().into_iter().flatten() {
            line[name] = value.clone();
        }
        self.text.push_str(&line.to_string());
        self.text.push('\n');
    }

    /// What all lines about a message have.
    fn about(&self, message: &Message) -> Value {
        let mut members = json!({
            "message": self.messages, "method": message.method, "session": SESSION,
        });
        if let Some(request) = message.request {
            members["request"] = request.into();
        }
        members
    }

    /// The last message crosses from one part to another.
    fn hop(&mut self, after: u64, [from, to]: [&str; 2], message: &Message, body: &Value) {
        let mut members = self.about(message);
        let slot = if message.kind == "response" {
            "result"
        } else {
            "params"
        };
        members["kind"] = message.kind.into();
        members["from"] = from.into();
        members["to"] = to.into();
        members["size"] = (body.to_string().len() + 60).into();
        members[slot] = body.clone();
        // The host's own requests have none.
        let is_hosts = message.method.starts_with('_');
        if message.kind == "request" && !is_hosts {
            members["id"] = message.request.into();
        }
        self.line(after, &members);
    }

    /// A proxy decides about the last message.
    fn decides(&mut self, after: u64, proxy: &str, decision: &str, message: &Message) {
        let mut members = self.about(message);
        members["proxy"] = proxy.into();
        members["decision"] = decision.into();
        members["worked"] = (after * 3 / 4).into();
        self.line(after, &members);
    }

    /// A new message crosses from part to part, unchanged.
    fn crosses(&mut self, after: u64, way: &[&str], message: &Message, body: &Value) {
        self.messages += 1;
        for (at, hop) in way.windows(2).enumerate() {
            let [from, to] = [hop[0], hop[1]];
            if at > 0 {
                self.decides(90, from, "forward", message);
            }
            self.hop(if at == 0 { after } else { 20 }, [from, to], message, body);
        }
    }

    fn update(&mut self, after: u64, update: &Value) {
        let told = message("notification", "session/update", None);
        let body = json!({"sessionId": SESSION, "update": update});
        self.crosses(after, &["agent", "redact", "client"], &told, &body);
    }

    /// The agent writes a text.
    fn says(&mut self, after: u64, kind: &str, text: &str) {
        let content = json!({"type": "text", "text": text});
        self.update(after, &json!({"sessionUpdate": kind, "content": content}));
    }

    /// A tool call begins.
    fn calls(&mut self, after: u64, id: &str, title: &str, input: &Value) {
        let call = json!({
            "sessionUpdate": "tool_call", "toolCallId": id, "title": title, "kind": "execute",
            "status": "in_progress", "rawInput": input,
        });
        self.update(after, &call);
    }

    /// A tool call ends.
    fn ends(&mut self, after: u64, id: &str, status: &str, text: &str) {
        let content = json!([{"type": "content", "content": {"type": "text", "text": text}}]);
        let call = json!({
            "sessionUpdate": "tool_call_update", "toolCallId": id, "status": status, "content": content,
        });
        self.update(after, &call);
    }

    /// A hook reports a call before it runs, or its output, out of which `redact` takes the key.
    fn reports(&mut self, after: u64, event: &str, id: &str, input: &Value, output: Option<&str>) {
        let (method, status) = match event {
            "before_tool" => ("_acp-chain/hook/before_tool", "pending"),
            _ => ("_acp-chain/hook/after_tool", "completed"),
        };
        let asks = message("request", method, Some(100 + self.messages));
        let report = |output: Option<String>| {
            let mut report = json!({
                "sessionId": SESSION,
                "toolCall": {"toolCallId": id, "title": "Bash", "kind": "execute", "status": status, "rawInput": input},
                "canChange": true,
            });
            if let Some(output) = output {
                report["output"] = json!([output]);
            }
            report
        };
        let before = report(output.map(str::to_owned));
        self.messages += 1;
        self.hop(after, ["agent", "redact"], &asks, &before);
        let decision = if output.is_some() {
            "change"
        } else {
            "forward"
        };
        self.decides(150, "redact", decision, &asks);
        let kept = report(output.map(|output| output.replace(KEY, MARK)));
        if output.is_some() {
            self.hop(20, ["redact", "client"], &asks, &kept);
        } else {
            self.hop(20, ["redact", "permissions"], &asks, &kept);
            self.decides(160, "permissions", "forward", &asks);
            self.hop(20, ["permissions", "client"], &asks, &kept);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_proxy_does_something_and_no_key_reaches_the_agent_by_a_prompt() {
        let trace = conversation();
        let lines: Vec<Value> = trace
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        for proxy in PROXIES {
            let mut own = lines.iter().filter(|line| line["proxy"] == proxy);
            assert!(own.any(|line| line["decision"] != "forward"), "{proxy}");
        }
        let prompts = lines
            .iter()
            .filter(|line| line["method"] == "session/prompt");
        let mut to_agent = prompts.filter(|line| line["to"] == "agent");
        assert!(to_agent.all(|line| !line["params"].to_string().contains(KEY)));
        assert!(lines.is_sorted_by_key(|line| line["time"].to_string()));
    }
}
