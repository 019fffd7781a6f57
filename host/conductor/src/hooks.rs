//! The hooks of the connection's agent: what they report becomes a request of the router, and its outcome the hook's
//! answer. The router makes sure that they report.
//!
//! Every report is answered. One that cannot be read, or about which no decision comes, is refused.

mod ran;

use std::collections::HashMap;
use std::mem;
use std::sync::Arc;

use serde_json::Value;

use acp_chain_acp::BEFORE_TOOL;
use acp_chain_hooks::server::{Arrival, Report, Reports};
use acp_chain_hooks::{Answer, Decision, Event, KnownAgent, Moment, Sign};
use acp_chain_router::{FirstSign, HookOutcome, HookTerms, IfUnlike, Router};
use acp_chain_rpc::Message;
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};

use ran::DecidedInputs;

/// How often the proxies are asked about a tool run that they change. More changes are taken for endless.
const ROUNDS: u32 = 4;

/// The hooks of an agent.
#[derive(Debug)]
pub struct AgentHooks {
    reports: Reports,
    agent: &'static KnownAgent,
    session_meta: Option<Value>,
    is_tried: bool,
    are_required: bool,
    open: HashMap<u64, OpenReport>,
    /// The last notice about a decision that could not be carried out.
    told: Option<String>,
    decided: DecidedInputs,
    /// Whether the user was notified that another input has run than the one decided about.
    has_told_of_others: bool,
}

/// A report about which the proxies have not decided yet.
#[derive(Debug)]
struct OpenReport {
    report: Report,
    /// What the proxies are asked about.
    event: Event,
    session: Arc<str>,
    /// Whether a proxy has changed what the agent reported.
    is_changed: bool,
    /// How often they have been asked.
    rounds: u32,
}

impl AgentHooks {
    /// The hooks of this agent, and what they report. `session_meta` merges into the `_meta` of requests that set up a
    /// session, on their way to the agent; no proxy sees it. If the agent's version is one that was tried, hooks that
    /// turn out not to work stop the session; otherwise, or if the agent only asks, the user is notified. If they
    /// `are_required`, an agent that says to be another one, or another version, is refused.
    pub fn new(
        reports: Reports,
        agent: &'static KnownAgent,
        session_meta: Option<Value>,
        is_tried: bool,
        are_required: bool,
    ) -> Self {
        Self {
            reports,
            agent,
            session_meta,
            is_tried,
            are_required,
            open: HashMap::new(),
            told: None,
            decided: DecidedInputs::default(),
            has_told_of_others: false,
        }
    }

    /// What the router has to know about them.
    pub(crate) fn terms(&self) -> HookTerms {
        let (dialect, agent) = (self.reports.dialect(), self.agent);
        HookTerms {
            meta: self.session_meta.clone(),
            first_sign: match self.agent.sign {
                Sign::Session => FirstSign::Session,
                Sign::Prompt => FirstSign::Prompt,
                Sign::Never => FirstSign::Never,
            },
            signs_new: dialect.greets_once,
            judges_failures: dialect.knows_rejected,
            names_calls: dialect.names_calls(),
            tool_at: dialect.tool_at,
            runs_no_hook: Box::new(move |update: &str| dialect.runs_no_hook(update)),
            cleaned: Box::new(move |line: &str| dialect.without_prefix(line)),
            unlike: Box::new(move |answer: &str| agent.unlike(answer)),
            if_unlike: if self.are_required {
                IfUnlike::Refuse
            } else {
                IfUnlike::Tell
            },
            stops: self.is_tried && !self.agent.only_asks(),
        }
    }

    /// The next arrival. Cancel safe.
    pub(crate) async fn next(&mut self) -> Arrival {
        self.reports.next().await
    }

    /// Handles an arrival.
    pub(crate) fn arrived(&mut self, arrival: Arrival, router: &mut Router) {
        match arrival {
            Arrival::Report(report) => self.receive(report, router),
            Arrival::Withdrawn(number) => {
                if let Some(open) = self.open.remove(&number) {
                    router.cancel_of_hook(number);
                    note_refusal(router, number, &open.event);
                }
            }
        }
    }

    fn receive(&mut self, report: Report, router: &mut Router) {
        let number = report.number;
        let read = self.reports.dialect().read(&report.event, &report.text);
        let before = read
            .as_ref()
            .ok()
            .filter(|event| event.moment == Moment::BeforeTool);
        let call = before.and_then(|event| event.call.clone());
        let request = match read {
            Ok(event) => self.request(event, router),
            Err(error) => Err(error.to_string()),
        };
        match request {
            Ok(None) => self.reports.answer(number, Answer::default()),
            Ok(Some((event, session, request))) => {
                self.compare(&session, &event, router);
                let open = OpenReport {
                    report,
                    event,
                    session,
                    is_changed: false,
                    rounds: 1,
                };
                self.open.insert(number, open);
                router.receive_from_hook(number, request);
            }
            Err(why) => {
                tracing::warn!(
                    "refused a report of the agent's hooks: {}",
                    Untrusted::new(&why)
                );
                if let Some(call) = call {
                    router.note_refused_call(&call);
                }
                self.reports.answer(number, self.refusal(&report, &why));
            }
        }
    }

    /// Notifies the user once if a tool has run with another input than the one that the proxies have decided about.
    fn compare(&mut self, session: &str, event: &Event, router: &mut Router) {
        let is_other =
            event.moment == Moment::AfterTool && self.decided.has_other_run(session, event);
        if !is_other {
            return;
        }
        let tool = quote(&event.tool, MAX_QUOTE);
        tracing::error!("the tool {tool} has run with another input than the one decided about");
        if mem::replace(&mut self.has_told_of_others, true) {
            return;
        }
        router.tell_user(&format!(
            "the tool `{tool}` has run with another input than the one that the proxies have decided about: another \
             hook, of yours or of a project, changes inputs. Further ones are only in the log."
        ));
    }

    /// The request about an event; none about a sign of life, which the router gets at once.
    fn request(
        &self,
        mut event: Event,
        router: &mut Router,
    ) -> Result<Option<(Event, Arc<str>, Message)>, String> {
        let dialect = self.reports.dialect();
        let named = event.session.as_deref();
        let Some(method) = event.moment.method() else {
            if named.is_some() || dialect.greets_once {
                router.receive_sign_of_hooks(named);
            }
            return Ok(None);
        };
        let parents = mem::take(&mut event.parents);
        let lineage = named.into_iter().chain(parents.iter().map(String::as_str));
        let lineage: Vec<Arc<str>> = lineage.map(Arc::from).collect();
        let session = router.session_of_report(&lineage);
        let session = session.ok_or(
            "the report is of a session that ACP does not know, and could belong to several",
        )?;
        // A subagent with a session of its own.
        if event.subagent.is_none() && named.is_some_and(|name| *name != *session) {
            event.subagent.clone_from(&event.session);
        }
        let params = self.params(&event, &session);
        let params = params.map_err(|error| error.to_string())?;
        Ok(Some((event, session, Message::request(method, &params))))
    }

    fn params(&self, event: &Event, session: &str) -> serde_json::Result<String> {
        let dialect = self.reports.dialect();
        let can_change = match event.moment {
            Moment::AfterTool if event.failed => dialect.changes_failures,
            Moment::AfterTool => dialect.changes_output,
            _ => dialect.changes_input,
        };
        event.params(session, can_change)
    }

    /// Answers the reports about which the proxies have decided.
    pub(crate) fn answer(&mut self, router: &mut Router) {
        for (number, outcome) in router.take_hook_outcomes() {
            // The hook may have disconnected.
            let Some(mut open) = self.open.remove(&number) else {
                continue;
            };
            let decision = match outcome {
                HookOutcome::Passed(message) => open.event.decision(message.body()),
                HookOutcome::Refused(reason) => Ok(Decision::Refuse(reason)),
            };
            let mut decision = decision.unwrap_or_else(|error| Decision::Refuse(error.to_string()));
            if let Decision::Input(input) = decision {
                // A proxy that has decided already has not seen this input.
                open.event.input = input;
                open.is_changed = true;
                open.rounds += 1;
                match self.again(&open) {
                    Ok(request) => {
                        self.open.insert(number, open);
                        router.receive_from_hook(number, request);
                        continue;
                    }
                    Err(why) => decision = Decision::Refuse(format!("acp-chain: {why}")),
                }
            }
            let OpenReport {
                report,
                event,
                session,
                ..
            } = open;
            if decision == Decision::Pass && open.is_changed {
                decision = Decision::Input(event.input.clone());
            }
            let dialect = self.reports.dialect();
            let whole = dialect.with_prefix(&event, decision);
            let mut is_refused = matches!(whole, Decision::Refuse(_));
            let answer = dialect.answer(&report.event, &report.text, &whole);
            let answer = answer.unwrap_or_else(|error| {
                is_refused = true;
                let tool = quote(&event.tool, MAX_QUOTE);
                let notice = format!(
                    "a proxy decided about the tool `{tool}` what cannot be carried out: {error}"
                );
                if self.told.as_ref() != Some(&notice) {
                    router.tell_user(&notice);
                    self.told = Some(notice);
                }
                self.refusal(&report, &error.to_string())
            });
            if is_refused {
                note_refusal(router, number, &event);
            } else if event.moment == Moment::BeforeTool {
                self.decided.note(&session, &event);
            }
            self.reports.answer(number, answer);
        }
    }

    /// The request about a tool run that a proxy has changed.
    fn again(&self, open: &OpenReport) -> Result<Message, String> {
        if open.rounds > ROUNDS {
            return Err(
                "the proxies of this chain change this tool run again and again".to_owned(),
            );
        }
        let params = self.params(&open.event, &open.session);
        let params = params.map_err(|error| error.to_string())?;
        Ok(Message::request(BEFORE_TOOL, &params))
    }

    /// The answer to a report about which nothing could be decided.
    fn refusal(&self, report: &Report, why: &str) -> Answer {
        let dialect = self.reports.dialect();
        let reason = format!("acp-chain: {why}");
        let refused = Decision::Refuse(reason.clone());
        let answer = dialect.answer(&report.event, &report.text, &refused);
        answer.unwrap_or_else(|_| dialect.closed(&report.event, &reason))
    }
}

/// Notes that a report of a call is refused.
fn note_refusal(router: &mut Router, number: u64, event: &Event) {
    if event.moment == Moment::BeforeTool {
        router.note_refused_report(number, event.call.as_deref());
    }
}

#[cfg(test)]
mod tests;
