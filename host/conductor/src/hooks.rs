//! The hooks of the connection's agent: what they report becomes a request of the router, and its outcome the hook's
//! answer.
//!
//! Every report is answered. One that cannot be read, or about which no decision comes, is refused.

use std::collections::HashMap;

use acp_chain_hooks::server::{Arrival, Report, Server};
use acp_chain_hooks::{Answer, Decision, Event, Moment};
use acp_chain_router::{HookOutcome, Router};
use acp_chain_rpc::Message;
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};

/// The hooks of an agent.
#[derive(Debug)]
pub struct AgentHooks {
    server: Server,
    open: HashMap<u64, OpenReport>,
}

/// A report about which the proxies have not decided yet.
#[derive(Debug)]
struct OpenReport {
    report: Report,
    event: Event,
}

impl AgentHooks {
    /// The hooks that report to this server.
    #[must_use]
    pub fn new(server: Server) -> Self {
        Self {
            server,
            open: HashMap::new(),
        }
    }

    /// The next arrival. Cancel safe.
    pub(crate) async fn next(&mut self) -> Arrival {
        self.server.next().await
    }

    /// Handles an arrival.
    pub(crate) fn arrived(&mut self, arrival: Arrival, router: &mut Router) {
        match arrival {
            Arrival::Report(report) => self.receive(report, router),
            Arrival::Withdrawn(number) => {
                if self.open.remove(&number).is_some() {
                    router.cancel_of_hook(number);
                }
            }
        }
    }

    fn receive(&mut self, report: Report, router: &mut Router) {
        let number = report.number;
        match self.request(&report) {
            Ok(None) => self.server.answer(number, Answer::default()),
            Ok(Some((event, request))) => {
                self.open.insert(number, OpenReport { report, event });
                router.receive_from_hook(number, request);
            }
            Err(why) => {
                tracing::warn!(
                    "refused a report of the agent's hooks: {}",
                    Untrusted::new(&why)
                );
                let reason = format!("acp-chain: {why}");
                self.server
                    .answer(number, self.server.dialect().closed(&report.event, &reason));
            }
        }
    }

    /// The event of a report, and the request about it; none for a sign of life.
    fn request(&self, report: &Report) -> Result<Option<(Event, Message)>, String> {
        let read = self.server.dialect().read(&report.event, &report.text);
        let event = read.map_err(|error| error.to_string())?;
        let Some(method) = event.moment.method() else {
            return Ok(None);
        };
        let session = event.session.as_deref();
        let session = session.ok_or("the report names no session")?;
        let can_change = match event.moment {
            Moment::AfterTool if event.failed => self.server.dialect().changes_failures,
            Moment::AfterTool => self.server.dialect().changes_output,
            _ => self.server.dialect().changes_input,
        };
        let params = event.params(session, can_change);
        let params = params.map_err(|error| error.to_string())?;
        Ok(Some((event, Message::request(method, &params))))
    }

    /// Answers the reports about which the proxies have decided.
    pub(crate) fn answer(&mut self, router: &mut Router) {
        for (number, outcome) in router.take_hook_outcomes() {
            // The hook may have disconnected.
            let Some(OpenReport { report, event }) = self.open.remove(&number) else {
                continue;
            };
            let decision = match outcome {
                HookOutcome::Passed(message) => event.decision(message.body()),
                HookOutcome::Refused(reason) => Ok(Decision::Refuse(reason)),
            };
            let decision = decision.unwrap_or_else(|error| Decision::Refuse(error.to_string()));
            let answer = self
                .server
                .dialect()
                .answer(&report.event, &report.text, &decision);
            let answer = answer.unwrap_or_else(|error| {
                let tool = quote(&event.tool, MAX_QUOTE);
                router.tell_user(&format!(
                    "a proxy decided about the tool `{tool}` what cannot be carried out: {error}"
                ));
                self.server
                    .dialect()
                    .closed(&report.event, &format!("acp-chain: {error}"))
            });
            self.server.answer(number, answer);
        }
    }
}
