//! `acp-chain permissions explain`: plays one request that rules decide about against the proxies of a chain, and
//! prints their explanations: a permission request, or that of a hook before a tool runs.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::Result;
use crate::path::path;
use acp_chain_acp::{BEFORE_TOOL, UPDATE};
use acp_chain_permissions::{RequestSearch, SESSION, ToolRequest};
use serde_json::{Value, json};

use crate::test::Stage;
use crate::trace::each;
use acp_chain_channel::Peer;
use acp_chain_kit::transcript::{Act, Json, JsonPattern, Kind, Said, Script};
use acp_chain_rpc::untrusted::Untrusted;

/// The largest request that is read, in bytes.
const LONGEST: u64 = 32 << 20;

/// How many lines with requests are named.
const MOST_LINES: usize = 20;

/// A kind of request, with the proxies that decide about it.
struct Topic {
    /// The power of these proxies.
    power: &'static str,
    /// What it means if no proxy has the power.
    without_proxies: &'static str,
    /// What it means if no proxy explains a decision.
    without_lines: &'static str,
}

const PERMISSIONS: Topic = Topic {
    power: "permissions.answer",
    without_proxies: "no proxy of the chain may answer permission requests, so all go to the user",
    without_lines: "No proxy of the chain explains a decision about the request, so it goes to the user.",
};

const TOOL_RUNS: Topic = Topic {
    power: "tool-runs.refuse",
    without_proxies: "no proxy of the chain may refuse a tool before it runs, so all run unless the agent asks",
    without_lines: "No proxy of the chain explains a decision about the tool, so it runs unless the agent asks.",
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain permissions explain --command 'git push origin main'
  acp-chain permissions explain trace.jsonl:42
  acp-chain permissions explain request.json --cwd ~/project
  echo '{\"kind\":\"execute\",\"title\":\"git log\"}' | acp-chain permissions explain -")]
pub struct Explain {
    /// A line of a trace (`trace.jsonl:42`), a file with a request, its parameters or a tool call as JSON, or `-` for
    /// standard input. A request is for a permission, or what a hook of the agent reports before a tool runs
    /// (`_acp-chain/hook/before_tool`)
    #[arg(required_unless_present = "command")]
    request: Option<String>,
    /// Explain what becomes of this command, if an agent asks to run it
    #[arg(long, value_name = "COMMAND", conflicts_with = "request")]
    command: Option<String>,
    /// The manifest; by default, your own chain
    #[arg(long, value_name = "FILE", value_parser = path())]
    manifest: Option<PathBuf>,
    /// The working directory of the session; by default that of the trace, or the current one
    #[arg(long, value_name = "DIRECTORY", value_parser = path())]
    cwd: Option<PathBuf>,
}

impl Explain {
    pub fn main(self) -> Result<()> {
        let request = self.read()?;
        let topic = topic(&request);
        let cwd = match (&self.cwd, request.cwd) {
            (None, Some(cwd)) => cwd,
            (named, _) => {
                let folder = named.as_deref().unwrap_or(Path::new("."));
                std::path::absolute(folder)?.display().to_string()
            }
        };
        let setup = json!({ "cwd": cwd, "mcpServers": [] });
        let session = Act::Session(SESSION.to_owned(), pattern(setup)?);
        let said = |kind: Kind, name: Option<&str>, params: Value| {
            let said = Said {
                kind,
                name: name.map(str::to_owned),
                body: Some(pattern(params)?),
            };
            Ok::<_, crate::Error>(Act::Says(Peer::Agent, said))
        };
        let mut acts = vec![session];
        for update in request.updates {
            acts.push(said(Kind::Notification(UPDATE.into()), None, update)?);
        }
        let kind = Kind::Request(request.method);
        acts.push(said(kind, Some("asked"), request.params)?);
        let script = Script::of(acts);
        let stage = Stage::new(None)?;
        let played = stage
            .play_with(topic.power, &script, self.manifest.as_deref())?
            .ok_or(topic.without_proxies)?;
        if let Some(why) = played.stopped() {
            return Err(Untrusted::new(why).to_string().into());
        }
        let lines = played.said_last();
        for (proxy, text) in &lines {
            say!("{}: {}", Untrusted::new(proxy), Untrusted::new(text));
        }
        if lines.is_empty() {
            say!("{}", topic.without_lines);
        }
        Ok(())
    }

    fn read(&self) -> Result<ToolRequest> {
        let call = self.command.as_ref().map(
            |command| json!({ "kind": "execute", "title": command, "rawInput": { "command": command } }),
        );
        if let Some(request) = call.and_then(ToolRequest::of_json) {
            return Ok(request);
        }
        let place = self.request.as_deref().unwrap_or_default();
        let line = place.rsplit_once(':');
        let line = line.and_then(|(file, line)| Some((Path::new(file), line.parse().ok()?)));
        if let Some((file, line)) = line.filter(|_| !Path::new(place).exists()) {
            return of_trace(file, line);
        }
        let shown = match place {
            "-" => Untrusted::new("standard input"),
            file => Untrusted::new(file),
        };
        let unread = |error: std::io::Error| {
            format!(
                "{shown}: {error}; a request is in a file, in a line of a trace as in `trace.jsonl:42`, or in standard \
                 input (`-`), and `--command COMMAND` needs none"
            )
        };
        let mut text = String::new();
        match place {
            "-" => std::io::stdin().take(LONGEST).read_to_string(&mut text),
            file => std::fs::File::open(file)
                .and_then(|file| file.take(LONGEST).read_to_string(&mut text)),
        }
        .map_err(unread)?;
        let value = serde_json::from_str(&text).map_err(|error| match of_any_line(place) {
            Some(lines) => {
                wrong!("{shown}: it is a trace, so name a line, as in `{shown}:42`; {lines}")
            }
            None => wrong!("{shown}: it is not JSON: {error}"),
        })?;
        ToolRequest::of_json(value).ok_or_else(|| {
            wrong!(
                "{shown}: this is neither a permission request nor a tool that is about to run: it has no `toolCall`, \
                 no `subject`, and no `title` of a call, or another method"
            )
        })
    }
}

/// The kind of a request.
fn topic(request: &ToolRequest) -> &'static Topic {
    match &*request.method {
        BEFORE_TOOL => &TOOL_RUNS,
        _ => &PERMISSIONS,
    }
}

/// The lines of a trace that have requests, as a sentence; `None` if the file is no trace, or has none.
fn of_any_line(file: &str) -> Option<String> {
    let mut search = RequestSearch::new(usize::MAX);
    each(Path::new(file), |number, line| search.take(number, line)).ok()?;
    let lines = search.history().err().filter(|lines| !lines.is_empty())?;
    Some(format!("it has requests in the lines {}", listed(&lines)))
}

/// The first of these numbers.
fn listed(lines: &[usize]) -> String {
    let first: Vec<_> = lines
        .iter()
        .take(MOST_LINES)
        .map(usize::to_string)
        .collect();
    let more = if lines.len() > MOST_LINES {
        ", …"
    } else {
        ""
    };
    format!("{}{more}", first.join(", "))
}

/// The request in a line of a trace.
fn of_trace(file: &Path, wanted: usize) -> Result<ToolRequest> {
    let mut search = RequestSearch::new(wanted);
    let mut last = 0;
    each(file, |number, line| {
        last = number;
        search.take(number, line)
    })?;
    let mut history = search.history().map_err(|others| {
        let others = if others.is_empty() {
            "the trace has none up to there".to_owned()
        } else {
            let others = listed(&others);
            format!("up to there the trace has them in the lines {others}")
        };
        let shown = Untrusted::new(file.display());
        if last < wanted {
            return wrong!("{shown}:{wanted}: there is no such line, the last one is {last}; {others}");
        }
        wrong!(
            "{shown}:{wanted}: this line is neither a permission request nor a tool that is about to run; {others}"
        )
    })?;
    each(file, |number, line| history.take(number, &line))?;
    Ok(history.request())
}

fn pattern(value: Value) -> Result<JsonPattern> {
    let json = Json::read(&value.to_string()).map_err(|error| wrong!("{error}"))?;
    Ok(JsonPattern::of(json))
}
