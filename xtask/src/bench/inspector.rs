//! The page of `acp-chain inspect` in a browser: the time to show 100,000 hops, and the time from a key press in the
//! filter to the drawn frame. The viewer of the reference conductor is measured with the same messages, as far as its
//! traces have them. With `--publish`, the tables and pictures of the page are written into the book.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::thread;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::pictures;
use crate::host::Process;
use crate::peers;
use xtask::publish;
use xtask::workspace::Workspace;

const HOPS: usize = 100_000;

const PROXIES: [&str; 5] = ["rules", "todo", "skills", "permissions", "redact"];

/// The filters, and their descriptions.
const FILTERS: [(&str, &str); 7] = [
    ("a proxy", "proxy:redact"),
    ("a status", "status:unanswered"),
    ("words that one message in thirty has", "turn 50 the"),
    ("words that nearly all messages have", "lazy dog"),
    ("words that none has", "zzzz"),
    ("a method and words", "method:session/prompt fox"),
    ("nothing", ""),
];

/// How often each measurement is repeated; the median counts.
const TIMES: usize = 5;

/// The numbers of hops in the reference's viewer, measured once each, as it is slow.
const VIEWED: [usize; 2] = [HOPS / 10, HOPS];

/// The page, and the mark before the tables in it.
const PAGE: &str = "docs/inspector.md";
const BEGIN: &str = "<!-- by cargo xtask bench --inspector -->\n";

/// Text that is shown as it comes, and kept.
#[derive(Default)]
struct Shown(String);

impl Shown {
    fn line(&mut self, line: &str) {
        println!("{line}");
        self.0.push_str(line);
        self.0.push('\n');
    }
}

/// Measures, and prints tables.
pub fn run(workspace: &Workspace, publishes: bool) -> Result<ExitCode> {
    let [driver, chromium] = peers::fetch_browser(workspace)?;
    super::build_program(workspace, "acp-chain-cli")?;
    let program = workspace.target("dist/acp-chain");
    let folder = workspace.target("bench");
    fs::create_dir_all(&folder)?;
    let file = folder.join("inspector.ndjson");
    let lines = trace(HOPS);
    fs::write(&file, &lines)?;
    let count = lines.lines().count();
    let mut browser = Browser::start(&driver, &chromium)?;
    let mut shown = Shown::default();
    let mib = lines.len() >> 20;
    let processors = thread::available_parallelism()?;
    let version = browser.version()?;
    let measured = workspace
        .commit()
        .map_or_else(String::new, |commit| format!(", commit {commit}"));
    shown.line(&format!(
        "{HOPS} hops in a trace of {count} lines and {mib} MiB, in Chromium {version}, on {processors} \
         processors{measured}:\n"
    ));
    shown.line("| What | ms |\n|---|---:|");
    let mut opened = Vec::new();
    for _ in 0..TIMES {
        let inspector = Inspector::start(&program, &file)?;
        opened.push(browser.opened(&inspector.address, count)?);
        drop(inspector);
    }
    let took = middle(opened);
    shown.line(&format!(
        "| open, until all rows are there and drawn | {took} |"
    ));
    let inspector = Inspector::start(&program, &file)?;
    browser.opened(&inspector.address, count)?;
    for (what, filter) in FILTERS {
        let mut took = Vec::new();
        for _ in 0..TIMES {
            browser.filtered("kind:begin")?;
            took.push(browser.filtered(filter)?);
        }
        let term = if filter.is_empty() {
            String::new()
        } else {
            format!(": `{filter}`")
        };
        let middle = middle(took);
        shown.line(&format!("| filter by {what}{term} | {middle} |"));
    }
    drop(inspector);
    let viewer = peers::fetch_viewer(workspace)?;
    shown.line("\nThe viewer of the reference conductor, in the same run, with the same turns:\n");
    shown.line("| Messages | open (ms) | leave out answers (ms) |\n|---:|---:|---:|");
    for hops in VIEWED {
        fs::write(&file, trace(hops))?;
        let theirs = folder.join("viewer.jsons");
        let mut export = Command::new(&program);
        export.args(["trace", "export", "--to", "conductor"]);
        let export = export.arg(&file).stdout(File::create(&theirs)?).status()?;
        ensure!(export.success(), "the trace cannot be exported");
        let count = fs::read_to_string(&theirs)?.lines().count();
        let viewer = Inspector::viewer(&viewer, &theirs)?;
        let opened = browser.viewed(&viewer.address, count)?;
        let filtered = browser.view_filtered()?;
        shown.line(&format!("| {count} | {opened:.0} | {filtered:.0} |"));
    }
    let into = if publishes {
        publish::tables(workspace, PAGE, BEGIN, &shown.0)?;
        workspace.path("docs")
    } else {
        folder.clone()
    };
    picture(&program, &mut browser, &folder.join(pictures::TRACE), &into)?;
    Ok(ExitCode::SUCCESS)
}

/// Takes pictures of a conversation, and of what `redact` made of its prompt, into a folder.
fn picture(program: &Path, browser: &mut Browser, file: &Path, folder: &Path) -> Result<()> {
    fs::write(file, pictures::conversation())?;
    let inspector = Inspector::start(program, file)?;
    for (name, is_dark) in pictures::FILES {
        let address = format!("{}#view=conversation", inspector.address);
        browser.asks(&json!({"open": address, "dark": is_dark}))?;
        browser.asks(&json!({"wait": pictures::IS_WHOLE}))?;
        for selector in pictures::CLICKS {
            browser.asks(&json!({"click": selector}))?;
        }
        browser.asks(&json!({"wait": pictures::IS_CHOSEN}))?;
        let to_top = format!(
            "(async () => {{ document.getElementById('conversation').scrollTop = 0; {DRAWN} }})()"
        );
        browser.asks(&json!({"run": to_top}))?;
        let path = folder.join(name);
        browser.asks(&json!({"shot": path}))?;
        println!("{}", path.display());
    }
    Ok(())
}

fn middle(mut took: Vec<f64>) -> String {
    took.sort_by(f64::total_cmp);
    format!("{:.0}", took[took.len() / 2])
}

/// A change is drawn in the next frame, which is complete when the one after that begins.
const DRAWN: &str =
    "await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));";

/// The program, serving a page.
struct Inspector {
    _process: Process,
    address: String,
}

impl Inspector {
    fn start(program: &Path, trace: &Path) -> Result<Self> {
        let mut command = Command::new(program);
        command.arg("inspect").arg(trace).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn()?;
        let mut address = String::new();
        let out = child.stdout.take().context("no output")?;
        BufReader::new(out).read_line(&mut address)?;
        Ok(Self {
            _process: Process(child),
            address: address.trim().to_owned(),
        })
    }

    /// The reference's viewer.
    fn viewer(program: &Path, trace: &Path) -> Result<Self> {
        let mut command = Command::new(program);
        command.arg(trace).arg("--no-open").stderr(Stdio::piped());
        let mut child = command.stdout(Stdio::null()).spawn()?;
        let mut told = String::new();
        let err = child.stderr.take().context("no error output")?;
        BufReader::new(err).read_line(&mut told)?;
        let address = told.trim().strip_prefix("Trace viewer at ");
        let address = address.context("the viewer has no address")?.to_owned();
        Ok(Self {
            _process: Process(child),
            address,
        })
    }
}

struct Browser {
    _process: Process,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Browser {
    fn start(driver: &Path, chromium: &Path) -> Result<Self> {
        let mut command = Command::new(driver);
        command.arg(chromium).stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        Ok(Self {
            input: child.stdin.take().context("no input")?,
            output: BufReader::new(child.stdout.take().context("no output")?),
            _process: Process(child),
        })
    }

    fn asks(&mut self, asked: &Value) -> Result<Value> {
        writeln!(self.input, "{asked}")?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        let mut answer: Value = serde_json::from_str(&line)?;
        if let Some(error) = answer["error"].as_str() {
            bail!("{asked}: {error}");
        }
        Ok(answer["ok"].take())
    }

    /// The first number of its version.
    fn version(&mut self) -> Result<String> {
        self.asks(&json!({"open": "data:text/html,"}))?;
        let expression = r"navigator.userAgent.match(/Chrome\/(\d+)/)?.[1]";
        let version = self.asks(&json!({"run": expression}))?;
        Ok(version.as_str().context("no version")?.to_owned())
    }

    /// The time from the page's request until all rows are shown, in milliseconds.
    fn opened(&mut self, address: &str, count: usize) -> Result<f64> {
        let waits = format!(
            "inspector.model.count < {count} || inspector.shown < {HOPS} || !document.querySelector('.row')"
        );
        self.drawn(address, &waits)
    }

    /// The time until a page is drawn that waits while this expression holds, in milliseconds.
    fn drawn(&mut self, address: &str, waits: &str) -> Result<f64> {
        self.asks(&json!({"open": address}))?;
        let expression = format!(
            "(async () => {{ while ({waits}) await new Promise((done) => setTimeout(done, 1)); {DRAWN} \
             return performance.now(); }})()"
        );
        self.time(&expression)
    }

    /// What a page measures, in milliseconds.
    fn time(&mut self, expression: &str) -> Result<f64> {
        let took = self.asks(&json!({"run": expression}))?;
        took.as_f64().context("no time")
    }

    /// The time until the reference's viewer shows all messages, in milliseconds.
    fn viewed(&mut self, address: &str, count: usize) -> Result<f64> {
        let waits = format!("document.querySelectorAll('.message-group').length < {count}");
        self.drawn(address, &waits)
    }

    /// The time until the reference's viewer hides answers. Polling is off, as it would redraw everything.
    fn view_filtered(&mut self) -> Result<f64> {
        let expression = format!(
            "(async () => {{ livePolling = false; const begun = performance.now(); \
             document.getElementById('show-responses').click(); {DRAWN} return performance.now() - begun; }})()"
        );
        self.time(&expression)
    }

    /// The time from typing a filter until its result is drawn, in milliseconds.
    fn filtered(&mut self, filter: &str) -> Result<f64> {
        let expression = format!(
            "(async () => {{ const input = document.getElementById('filter'); const before = inspector.list.shown; \
             const begun = performance.now(); input.value = {}; \
             input.dispatchEvent(new Event('input', {{ bubbles: true }})); \
             while (inspector.list.shown === before) await new Promise((done) => setTimeout(done, 1)); \
             {DRAWN} \
             return performance.now() - begun; }})()",
            json!(filter)
        );
        self.time(&expression)
    }
}

/// Turns through five proxies; each turn has an answer in thirty chunks.
fn trace(hops: usize) -> String {
    let mut trace = Trace::default();
    let proxies = json!(PROXIES);
    trace.line(&json!({"version": 1, "program": "acp-chain", "role": "agent", "proxies": proxies}));
    let there: Vec<_> = ["client"]
        .into_iter()
        .chain(PROXIES)
        .chain(["agent"])
        .collect();
    let back: Vec<_> = there.iter().rev().copied().collect();
    let words =
        "The quick brown fox jumps over the lazy dog and goes on with its answer. ".repeat(5);
    for turn in 1.. {
        let session = format!("s{}", turn % 7);
        let prompt = json!({"sessionId": session, "prompt": [{"type": "text", "text": format!("turn {turn} {words}")}]});
        let asks = json!({"kind": "request", "method": "session/prompt", "session": session, "request": turn, "params": prompt});
        trace.message(&there, &asks);
        for chunk in 0..30 {
            let content =
                json!({"type": "text", "text": format!("turn {turn} chunk {chunk} {words}")});
            let update = json!({"sessionId": session, "update": {"sessionUpdate": "agent_message_chunk", "content": content}});
            trace.message(&back, &json!({"kind": "notification", "method": "session/update", "session": session, "params": update}));
        }
        let result = json!({"stopReason": "end_turn"});
        trace.message(&back, &json!({"kind": "response", "method": "session/prompt", "session": session, "request": turn, "result": result}));
        if trace.hops >= hops {
            break;
        }
    }
    trace.text
}

#[derive(Default)]
struct Trace {
    text: String,
    /// The number of messages so far.
    messages: u64,
    hops: usize,
    micros: usize,
}

impl Trace {
    fn line(&mut self, members: &Value) {
        self.micros += 37;
        let (seconds, micros) = (self.micros / 1_000_000, self.micros % 1_000_000);
        let (minutes, seconds) = (seconds / 60, seconds % 60);
        let time = format!("2026-01-01T00:{minutes:02}:{seconds:02}.{micros:06}Z");
        let mut line = json!({"time": time, "connection": "measured"});
        for (name, value) in members.as_object().into_iter().flatten() {
            line[name] = value.clone();
        }
        let _ = writeln!(self.text, "{line}");
    }

    fn message(&mut self, way: &[&str], said: &Value) {
        self.messages += 1;
        for hop in way.windows(2) {
            if PROXIES.contains(&hop[0]) {
                let mut decided = said.clone();
                if let Some(members) = decided.as_object_mut() {
                    members.retain(|name, _| ["method", "session", "request"].contains(&&**name));
                }
                decided["message"] = self.messages.into();
                decided["proxy"] = hop[0].into();
                decided["decision"] = "forward".into();
                decided["worked"] = (self.hops % 900 + 20).into();
                self.line(&decided);
            }
            let mut crossed = said.clone();
            crossed["message"] = self.messages.into();
            crossed["from"] = hop[0].into();
            crossed["to"] = hop[1].into();
            crossed["size"] = 600.into();
            crossed["waited"] = (self.hops % 70).into();
            self.line(&crossed);
            self.hops += 1;
        }
    }
}
