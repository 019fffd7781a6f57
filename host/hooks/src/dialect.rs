//! The dialects: for each agent, where its reports have what, the kinds of its tools, and how its hooks are answered.

mod auggie;
mod claude;
mod cline;
mod codex;
mod copilot;
mod opencode;
mod pi;
mod plugin;
mod qwen;

use crate::report::{MalformedReport, Report};
use crate::texts::texts;
use crate::{Answer, Attachment, CannotAttach, CannotCarryOut, Decision, Event, Kind, Moment, Run};

/// How one agent's hooks report and are answered.
#[derive(Debug)]
pub struct Dialect {
    /// Its name.
    pub name: &'static str,
    /// Whether a tool can run with another input than the model's.
    pub changes_input: bool,
    /// Whether the model can get another result of a tool that succeeded.
    pub changes_output: bool,
    /// The same of a tool that failed.
    pub changes_failures: bool,
    /// The events that are reported, as the agent names them.
    pub events: &'static [(&'static str, Moment)],
    tools: &'static [(&'static str, Kind)],
    places: Places,
    answer: fn(&Report<'_>, &str, Moment, &Decision) -> Option<Answer>,
    closed: fn(Moment, &str) -> Answer,
    attach: fn(&Run<'_>, &Dialect) -> Result<Attachment, CannotAttach>,
}

/// Where reports have what: JSON Pointers, of which the first with a value counts.
#[derive(Debug)]
struct Places {
    session: &'static [&'static str],
    call: &'static [&'static str],
    subagent: &'static [&'static str],
    tool: &'static [&'static str],
    input: &'static [&'static str],
    output: &'static [&'static str],
    cwd: &'static [&'static str],
}

/// The end of the names of events that report a failure.
const FAILURE: &str = "Failure";

/// All dialects.
static ALL: &[&Dialect] = &[
    &auggie::AUGGIE,
    &claude::CLAUDE,
    &cline::CLINE,
    &codex::CODEX,
    &codex::OLDER,
    &copilot::COPILOT,
    &opencode::KILO,
    &opencode::OPENCODE,
    &pi::PI,
    &qwen::QWEN,
];

/// The dialect of this name.
#[must_use]
pub fn dialect(name: &str) -> Option<&'static Dialect> {
    ALL.iter().copied().find(|dialect| dialect.name == name)
}

impl Dialect {
    /// Reads a report: the text that the agent wrote to the hook.
    ///
    /// # Errors
    /// If it is no unambiguous JSON, of no known event, or without what the event must have.
    pub fn read(&self, event: &str, text: &str) -> Result<Event, MalformedReport> {
        let moment = self.moment(event)?;
        let report = Report::new(text)?;
        let places = &self.places;
        let is_tool = moment.method().is_some();
        let (tool, input) = if is_tool {
            let tool = report.text(places.tool);
            let input = report.at(places.input);
            (
                tool.ok_or(MalformedReport::Missing("tool"))?,
                input.map(object).ok_or(MalformedReport::Missing("input"))?,
            )
        } else {
            (String::new(), "null".to_owned())
        };
        let output = report.at(places.output);
        let output = output.filter(|_| moment == Moment::AfterTool).map(texts);
        Ok(Event {
            moment,
            session: report.text(places.session),
            call: report.text(places.call),
            subagent: report.text(places.subagent),
            server: server(&tool).map(str::to_owned),
            kind: self.kind(&tool),
            tool,
            input,
            cwd: report.text(places.cwd),
            output: output.into_iter().flatten().map(|(_, text)| text).collect(),
            failed: event.ends_with(FAILURE) || report.at(&["/failed"]) == Some("true"),
        })
    }

    /// Writes a decision in the agent's form. `event` and `text` are those of the report.
    ///
    /// # Errors
    /// If the agent's hooks have no form for it.
    pub fn answer(
        &self,
        event: &str,
        text: &str,
        decision: &Decision,
    ) -> Result<Answer, CannotCarryOut> {
        let what = match decision {
            Decision::Pass => "let it pass",
            Decision::Refuse(_) => "withhold this result",
            Decision::Input(_) => "change the input of a tool",
            Decision::Output(_) => "change this result",
        };
        let cannot = CannotCarryOut {
            agent: self.name,
            what,
        };
        let (Ok(moment), Ok(report)) = (self.moment(event), Report::new(text)) else {
            return Err(cannot);
        };
        if *decision == Decision::Pass {
            return Ok(Answer::default());
        }
        (self.answer)(&report, event, moment, decision).ok_or(cannot)
    }

    /// The answer to an event about which nothing could be decided: a refusal, for this reason.
    #[must_use]
    pub fn closed(&self, event: &str, reason: &str) -> Answer {
        let moment = self.moment(event).unwrap_or(Moment::BeforeTool);
        (self.closed)(moment, reason)
    }

    /// What an agent of this dialect is started with, so that its hooks report to the host of this run.
    ///
    /// # Errors
    /// If something of the user's that has to be merged with ours cannot be read.
    pub fn attach(&self, run: &Run<'_>) -> Result<Attachment, CannotAttach> {
        (self.attach)(run, self)
    }

    fn moment(&self, event: &str) -> Result<Moment, MalformedReport> {
        let mut events = self.events.iter();
        let found = events.find(|(name, _)| *name == event);
        let unknown = || MalformedReport::Event(event.to_owned());
        found.map(|(_, moment)| *moment).ok_or_else(unknown)
    }

    fn kind(&self, tool: &str) -> Kind {
        let found = self.tools.iter().find(|(name, _)| *name == tool);
        found.map_or(Kind::Other, |(_, kind)| *kind)
    }
}

/// The server in the name of a tool, where it is spelt `mcp__SERVER__TOOL`. Other spellings do not tell where the
/// server's name ends.
fn server(tool: &str) -> Option<&str> {
    let (server, _) = tool.strip_prefix("mcp__")?.split_once("__")?;
    Some(server)
}

/// An input, as an object also where the agent writes it as text.
fn object(input: &str) -> String {
    let text = serde_json::from_str::<String>(input).ok();
    let text = text.filter(|text| text.trim_start().starts_with('{') && Report::new(text).is_ok());
    text.unwrap_or_else(|| input.to_owned())
}

#[cfg(test)]
mod tests;
