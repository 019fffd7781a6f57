//! The hooks of a simulated agent, as in tests: the agent's end itself sends the requests about tool runs, which an
//! agent never does, and gets the outcomes as answers. One that has passed all proxies is answered with its parameters.

use std::collections::HashMap;

use acp_chain_acp::{CANCEL_REQUEST, HOOK};
use acp_chain_channel::Peer;
use acp_chain_router::{HookOutcome, Router};
use acp_chain_rpc::{Error, Id, Kind, Message, code, member};

/// The open requests of a simulated agent, by the numbers of their reports.
#[derive(Debug, Default)]
pub struct SimulatedHooks {
    last: u64,
    open: HashMap<u64, Id>,
}

impl SimulatedHooks {
    /// Takes a message of the agent if it is about a tool run; otherwise returns it.
    pub fn take(&mut self, message: Message, router: &mut Router) -> Option<Message> {
        if let Some(id) = message.id()
            && message.kind() == Kind::Request
            && message.method().starts_with(HOOK)
        {
            self.last += 1;
            self.open.insert(self.last, id);
            let report = Message::request(message.method(), message.body());
            router.receive_from_hook(self.last, report);
            return None;
        }
        match self.cancelled(&message) {
            Some(report) => {
                router.cancel_of_hook(report);
                None
            }
            None => Some(message),
        }
    }

    /// The report that a message cancels.
    fn cancelled(&self, message: &Message) -> Option<u64> {
        if &**message.method() != CANCEL_REQUEST {
            return None;
        }
        let cancelled = Id::parse(member(message.body(), "requestId")?)?;
        let mut open = self.open.iter();
        open.find_map(|(report, id)| (*id == cancelled).then_some(*report))
    }

    /// Answers the requests about which the proxies have decided.
    pub fn answer(&mut self, router: &mut Router) {
        for (report, outcome) in router.take_hook_outcomes() {
            let Some(id) = self.open.remove(&report) else {
                continue;
            };
            let answer = match outcome {
                HookOutcome::Passed(request) => Message::result(request.body()),
                HookOutcome::Refused(reason) => {
                    Message::error(&Error::new(code::INVALID_REQUEST, reason))
                }
            };
            answer.write(Some(id.as_str()), router.outbox(Peer::Agent));
        }
    }
}
