//! The dialects: for each agent, where its reports have what, the kinds of its tools, and how its hooks are answered.

mod auggie;
mod claude;
mod cline;
mod codex;
mod copilot;
mod gemini;
mod opencode;
mod pi;
mod plugin;
mod qwen;

use std::ffi::OsString;

use crate::attach::Switch;
use crate::prefix::Prefix;
use crate::report::{MalformedReport, Report};
use crate::texts::Texts;
use crate::unhooked::Unhooked;
use crate::{Answer, Attachment, CannotAttach, CannotCarryOut, Decision, Event, Kind, Moment, Run};

/// How one agent's hooks report and are answered.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is something that an agent can do, or cannot"
)]
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
    /// Whether its first report is of the whole process, and names no session. Each session that begins then gives a
    /// sign of its own.
    pub greets_once: bool,
    /// Whether a plugin in the agent's own process reports, and no program that the agent starts for each event.
    pub(crate) is_plugin: bool,
    unhooked: &'static [Unhooked],
    /// Whether calls that the agent rejects without a hook are known by that table. If not, a call that failed may be
    /// one of these.
    pub knows_rejected: bool,
    tools: Tools,
    /// Where updates of ACP have the name of a tool (JSON Pointer), as reports have it.
    pub tool_at: Option<&'static str>,
    places: Places,
    prefix: Option<Prefix>,
    /// What switches the hooks off, whatever is attached.
    switches: &'static [Switch],
    answer: fn(&Report<'_>, &str, Moment, &Decision) -> Option<Answer>,
    closed: fn(Moment, &str) -> Answer,
    attach: fn(&Run<'_>, &Dialect) -> Result<Attachment, CannotAttach>,
}

/// The names of tools, separated by spaces, by their kind.
type Tools = &'static [(Kind, &'static str)];

/// Where reports have what: JSON Pointers, of which the first with a value counts.
#[derive(Debug)]
struct Places {
    session: &'static [&'static str],
    parents: &'static [&'static str],
    call: &'static [&'static str],
    subagent: &'static [&'static str],
    /// The server of a tool: empty if it is not known whether the tool is the agent's own.
    server: &'static [&'static str],
    tool: &'static [&'static str],
    input: &'static [&'static str],
    output: &'static [&'static str],
    cwd: &'static [&'static str],
}

/// A dialect without hooks. What dialects do not say otherwise is as here.
const NONE: Dialect = Dialect {
    name: "",
    changes_input: false,
    changes_output: false,
    changes_failures: false,
    events: &[],
    greets_once: false,
    is_plugin: false,
    unhooked: &[],
    knows_rejected: false,
    tools: &[],
    tool_at: None,
    places: Places {
        session: &[],
        parents: &[],
        call: &[],
        subagent: &[],
        server: &[],
        tool: &[],
        input: &[],
        output: &[],
        cwd: &[],
    },
    prefix: None,
    switches: &[],
    answer: |_, _, _, _| None,
    closed: |_, reason| Answer::blocks(reason),
    attach: |_, _| Ok(Attachment::default()),
};

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
    &gemini::GEMINI,
    &opencode::KILO,
    &opencode::OPENCODE,
    &pi::PI,
    &qwen::QWEN,
];

/// The reason of a refusal that has none: agents may take a refusal without a reason for none, as Codex does.
const NO_REASON: &str = "acp-chain: refused, without a reason";

/// The longest list of the sessions that one is within, as JSON text.
const LONGEST_PARENTS: usize = 16 * 1024;

/// The dialect of this name.
pub fn dialect(name: &str) -> Option<&'static Dialect> {
    ALL.iter().copied().find(|dialect| dialect.name == name)
}

/// The event before a tool that the record of a session has, under the name that the agent's hooks report, and with
/// this input (JSON text). If there is no dialect of the agent's name, the kind is not known. What else is known is put
/// into the event.
pub fn recorded(agent: &str, tool: &str, input: &str) -> Event {
    Event {
        moment: Moment::BeforeTool,
        session: None,
        parents: Vec::new(),
        call: None,
        subagent: None,
        server: server(tool).map(str::to_owned),
        kind: dialect(agent).map_or(Kind::Other, |dialect| dialect.kind(tool)),
        tool: tool.to_owned(),
        input: object(input),
        cwd: None,
        output: Vec::new(),
        failed: false,
    }
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
            let tool: Option<String> = report.value(places.tool);
            let tool = tool.ok_or(MalformedReport::Missing("tool"))?;
            let input = report.at(places.input).map(object);
            let input = input.ok_or(MalformedReport::Missing("input"))?;
            let prefix = self.prefix.filter(|_| Prefix::is_of(&tool));
            let prefix = prefix.filter(|_| moment == Moment::AfterTool);
            let without = prefix.and_then(|prefix| prefix.removed(&input));
            (tool, without.unwrap_or(input))
        } else {
            (String::new(), "null".to_owned())
        };
        let parents = report.at(places.parents);
        if parents.is_some_and(|parents| parents.len() > LONGEST_PARENTS) {
            return Err(MalformedReport::TooMany("parents"));
        }
        let output = report.at(places.output);
        let output = output.filter(|_| moment == Moment::AfterTool);
        let texts = output.map(|output| Texts::of(output).ok_or(MalformedReport::Json));
        let texts = texts.transpose()?.unwrap_or_default();
        let told: Option<String> = report.value(places.server);
        let kind = if told.is_some() {
            Kind::Other
        } else {
            self.kind(&tool)
        };
        let told = told.filter(|name| !name.is_empty());
        Ok(Event {
            moment,
            session: report.value(places.session),
            parents: report.value(places.parents).unwrap_or_default(),
            call: report.value(places.call),
            subagent: report.value(places.subagent),
            server: told.or_else(|| server(&tool).map(str::to_owned)),
            kind,
            tool,
            input,
            cwd: report.value(places.cwd),
            output: texts.contents(),
            failed: event.ends_with(FAILURE) || report.at(&["/failed"]) == Some("true"),
        })
    }

    /// A decision about an event, as the agent gets it: its commands run behind what lets its hooks see all that they
    /// do. Proxies and the client see nothing of that: [`read`](Self::read) takes it off what has run, and
    /// [`without_prefix`](Self::without_prefix) off what the agent shows.
    pub fn with_prefix(&self, event: &Event, decision: Decision) -> Decision {
        let Some(prefix) = self.prefix.filter(|_| Prefix::is_of(&event.tool)) else {
            return decision;
        };
        let input = match &decision {
            Decision::Pass if event.moment == Moment::BeforeTool => &event.input,
            Decision::Input(input) => input,
            _ => return decision,
        };
        let unreadable = || Decision::Refuse("acp-chain: the command cannot be read".to_owned());
        prefix.put(input).map_or_else(unreadable, Decision::Input)
    }

    /// A message of the agent (JSON text) with the commands of the model in place of those that run; `None` if they are
    /// the same, or it shows none.
    pub fn without_prefix(&self, message: &str) -> Option<String> {
        self.prefix?.hidden(message)
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
        let unexplained = Decision::Refuse(NO_REASON.to_owned());
        let explained = match decision {
            Decision::Pass => return Ok(Answer::default()),
            Decision::Refuse(reason) if reason.trim().is_empty() => &unexplained,
            Decision::Input(input) if !self.may_replace(report, input) => return Err(cannot),
            _ => decision,
        };
        (self.answer)(&report, event, moment, explained).ok_or(cannot)
    }

    /// Whether an input (JSON text) is one in place of that of a report: an object, or of the same type. An agent may
    /// take anything else for no change, and run the tool as the model wants.
    fn may_replace(&self, report: Report<'_>, input: &str) -> bool {
        let own = report.at(self.places.input).unwrap_or_default();
        let start = input.bytes().next();
        start == Some(b'{') || start == own.bytes().next()
    }

    /// The answer to an event about which nothing could be decided: a refusal, for this reason.
    pub fn closed(&self, event: &str, reason: &str) -> Answer {
        let moment = self.moment(event).unwrap_or(Moment::BeforeTool);
        (self.closed)(moment, reason)
    }

    /// Whether reports name calls as ACP does.
    pub fn names_calls(&self) -> bool {
        !self.places.call.is_empty()
    }

    /// Whether an update of ACP (JSON text) is of a call for which the agent runs no hook.
    pub fn runs_no_hook(&self, update: &str) -> bool {
        let mut unhooked = self.unhooked.iter();
        unhooked.any(|unhooked| unhooked.is_shown_by(update))
    }

    /// What an agent of this dialect is started with, so that its hooks report to the host of this run.
    ///
    /// # Errors
    /// If something of the user's that has to be merged with ours cannot be read, or switches hooks off.
    pub fn attach(&self, run: &Run<'_>) -> Result<Attachment, CannotAttach> {
        if let Some(name) = self.switched_off_by(run.args, run.variable) {
            return Err(CannotAttach::SwitchedOff(name));
        }
        (self.attach)(run, self)
    }

    /// What of these arguments and this environment keeps the agent from running our hooks, whatever is attached.
    pub fn switched_off_by(
        &self,
        args: &[OsString],
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Option<&'static str> {
        let mut switches = self.switches.iter();
        switches.find_map(|switch| switch.of(args, variable))
    }

    fn moment(&self, event: &str) -> Result<Moment, MalformedReport> {
        let mut events = self.events.iter();
        let found = events.find(|(name, _)| *name == event);
        let unknown = || MalformedReport::Event(event.to_owned());
        found.map(|(_, moment)| *moment).ok_or_else(unknown)
    }

    /// The names of the tools that are known, each with its kind.
    fn tools(&self) -> impl Iterator<Item = (&'static str, Kind)> {
        let kinds = self.tools.iter();
        kinds.flat_map(|(kind, names)| names.split(' ').map(move |name| (name, *kind)))
    }

    fn kind(&self, tool: &str) -> Kind {
        let found = self.tools().find(|(name, _)| *name == tool);
        found.map_or(Kind::Other, |(_, kind)| kind)
    }
}

/// The server in the name of a tool, where it is spelt `mcp__SERVER__TOOL`. Other spellings do not tell where the
/// server's name ends.
fn server(tool: &str) -> Option<&str> {
    let (server, _) = tool.strip_prefix("mcp__")?.split_once("__")?;
    Some(server)
}

/// An input, as an object also where the agent writes it as text. It is in one line, as in the message about it:
/// otherwise it would be taken for one that a proxy has changed.
fn object(input: &str) -> String {
    let text = serde_json::from_str::<String>(input).ok();
    let text = text.filter(|text| text.trim_start().starts_with('{') && Report::new(text).is_ok());
    let object = text.as_deref().unwrap_or(input);
    object.replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests;
