//! Steps: further work as values. A handler handles the current message at once, and pushes further work as steps. One
//! loop runs them.
//!
//! Steps are kept on a stack: those of one handler in order, above all earlier ones. So the consequences of a step are
//! carried out before the next step, as if each were a call.

use std::sync::Arc;
use std::vec;

use super::lookups::WaitingMessage;
use acp_chain_acp::Life;
use acp_chain_channel::{Change, Effect, Failure, MessageId, Outcome};
use acp_chain_hops::exchange::{Exchange, ExchangeId};
use acp_chain_hops::labels::Labels;
use acp_chain_hops::route::HopIndex;
use acp_chain_hops::routed::Routed;
use acp_chain_hops::version::Version;
use acp_chain_mcp::component::channel::Ask;
use acp_chain_mcp::{ConnectionId, IncomingId, LinkId, OutgoingId, ServerId};
use acp_chain_rpc::{Error, Message};

/// One step of further work.
pub(super) enum Step {
    /// Sends a message on from its position.
    Send(Routed),
    /// Sends a message on from a proxy that is done with it, unless the message must wait there.
    Depart(HopIndex, Routed),
    /// Starts the answer to a request.
    Answer(Answer),
    /// Gives an answer to its requester, once everything that had to end first has ended.
    HandOver(Box<ReturnedAnswer>),
    /// Cancels a request, on behalf of the host.
    Withdraw(ExchangeId),
    /// Carries out the remaining effects of a proxy's call.
    Effects(Box<CallEffects>),
    /// Starts a client's request that sets up a session, as its route is known now.
    SetOut(Routed),
    /// Sends on a message of the client that waited for its session's project.
    GoOn(Box<WaitingMessage>),
    /// Sends the agent a prompt that waited for a sign of life of its hooks.
    SendPrompt(Routed),
    /// Sends on messages that waited for messages that a proxy no longer holds.
    Release(HopIndex),
    /// Carries out the decision of a proxy's call, after its effects.
    Conclude(HopIndex, Box<Outcome>),
    /// Notifies a version of a proxy that a message was taken from it.
    NotifyTaken(HopIndex, Version, MessageId),
    /// Delivers a message to the next version of a proxy, as a replaced version is done with it.
    Deliver(HopIndex, Routed),
    /// Handles a message about which its proxy could not decide, for this reason.
    Fail(HopIndex, Routed, Arc<str>),
    /// Handles the failure of a proxy.
    Break(HopIndex, Box<Failure>),
    /// Answers the open requests at a broken native proxy; its first message is treated by policy.
    CutOff(HopIndex, Option<Routed>, Arc<str>),
    /// Continues once all messages that a broken proxy had are settled; gives the proxy up if there is a reason.
    Broken(HopIndex, Option<String>),
    /// Notes that the client has sent a request that prompts or ends a session.
    ClientRequested(Life, Arc<str>),
    /// Continues with MCP.
    Mcp(Task),
}

/// Further work of MCP.
pub(super) enum Task {
    /// Carries out the next output of a seat.
    Wanted,
    /// Passes on the cancellation of a request that has reached its seat, if it was cancelled before.
    CatchUp(ExchangeId),
    /// Answers a cancelled request, if its seat has not.
    Withdrawn(ServerId, ExchangeId),
    /// Ends a connection.
    Disconnect(ConnectionId),
    /// Notifies the seat that a connection has ended, once the open requests on it are cancelled; with this message if
    /// a caller sent it.
    Disconnected {
        server: ServerId,
        connection: ConnectionId,
        ask: Option<IncomingId>,
        said: Option<Message>,
    },
    /// Ends a server.
    Close(ServerId),
    /// Ends the connections of a server that ends, once it has no open requests in either direction.
    DisconnectAll(ServerId),
    /// Takes the last output of the seat of a server that ends.
    Over(ServerId),
    /// Removes a server.
    Remove(ServerId),
    /// Sends a message that waited for an MCP client's connection.
    SendConnected(LinkId, Message),
    /// Cancels the requests of an MCP client that disconnected, once the requests to it are answered.
    LinkLost(LinkId),
    /// Ends the connection of an MCP client that disconnected, if it has one, once its requests are cancelled, and
    /// removes the client.
    Leave(LinkId, Option<ConnectionId>),
    /// Notifies the seats of a proxy that it was restarted.
    ProviderRestarted(HopIndex),
    /// Notifies the seat of a component of a change.
    Changed(ServerId, Change),
    /// Notifies the seat of a server that its provider was restarted.
    ProviderLost(ServerId),
    /// Removes the connections of a seat whose provider was restarted.
    ForgetConnections(ServerId),
    /// Gives a seat a component's requests to the caller in a call.
    GiveAsks(ServerId, OutgoingId, Vec<Ask>),
}

/// An answer that starts at a position on its request's route.
pub(super) struct Answer {
    pub number: ExchangeId,
    pub at: usize,
    pub message: Message,
    /// The labels of the request, where a component or the host in its place answers; otherwise the part's own.
    pub labels: Labels,
}

impl Answer {
    /// An answer that no proxy made.
    pub fn new(number: ExchangeId, at: usize, message: Message) -> Self {
        Self {
            number,
            at,
            message,
            labels: Labels::default(),
        }
    }
}

/// An answer that is back where its request came from.
pub(super) struct ReturnedAnswer {
    pub number: ExchangeId,
    pub exchange: Exchange,
    pub routed: Routed,
}

/// The effects of a proxy's call.
pub(super) struct CallEffects {
    pub hop: HopIndex,
    /// The effects that are not carried out yet.
    pub effects: vec::IntoIter<Effect>,
    /// The proxy's requests to the callers of its tools, which are carried out last, and all at once.
    pub asks: Vec<(MessageId, MessageId, Message)>,
}

const _: () = assert!(size_of::<Step>() <= 48, "steps are moved about");

/// The stack of steps.
pub(super) struct Steps(Vec<Step>);

impl Steps {
    pub fn new() -> Self {
        // The stack never shrinks, and there may be thousands of chains.
        Self(Vec::with_capacity(8))
    }

    /// Adds a step after all that the same handler has pushed.
    pub fn push(&mut self, step: impl Into<Step>) {
        self.0.push(step.into());
    }

    /// Adds steps after all that the same handler has pushed.
    pub fn extend<S: Into<Step>>(&mut self, steps: impl IntoIterator<Item = S>) {
        self.0.extend(steps.into_iter().map(Into::into));
    }

    /// Cancels these requests, on behalf of the host.
    pub fn withdraw(&mut self, numbers: impl IntoIterator<Item = ExchangeId>) {
        self.extend(numbers.into_iter().map(Step::Withdraw));
    }

    /// Answers a request at a position, on behalf of the host.
    pub fn answer_at(&mut self, number: ExchangeId, at: usize, message: Message) {
        self.push(Step::Answer(Answer::new(number, at, message)));
    }

    /// Answers a request at a position with an error, on behalf of the host.
    pub fn refuse_at(&mut self, number: ExchangeId, at: usize, error: &Error) {
        self.answer_at(number, at, Message::error(error));
    }

    /// Answers a request at its current position.
    pub fn answer_here(&mut self, routed: &Routed, message: Message) {
        if let Some(number) = routed.exchange {
            self.push(Step::Answer(Answer {
                number,
                at: routed.at,
                message,
                labels: routed.labels,
            }));
        }
    }

    /// The next step.
    pub fn pop(&mut self) -> Option<Step> {
        self.0.pop()
    }

    /// The position at which the next handler begins to push.
    pub fn mark(&self) -> usize {
        self.0.len()
    }

    /// Orders the steps pushed since `mark`, so that they run in that order, before all others.
    pub fn in_order_since(&mut self, mark: usize) {
        if self.0.len() > mark + 1 {
            self.0[mark..].reverse();
        }
    }
}

impl From<Task> for Step {
    fn from(task: Task) -> Self {
        Self::Mcp(task)
    }
}

#[cfg(test)]
mod tests {
    use super::{Step, Steps};

    /// Runs all steps; a step pushes those that `follow` returns for it. Returns the order.
    fn run(first: &[usize], follow: impl Fn(usize) -> Vec<usize>) -> Vec<usize> {
        let mut steps = Steps::new();
        steps.extend(first.iter().map(|hop| Step::Release(*hop)));
        steps.in_order_since(0);
        let mut order = Vec::new();
        while let Some(Step::Release(hop)) = steps.pop() {
            order.push(hop);
            let mark = steps.mark();
            steps.extend(follow(hop).into_iter().map(Step::Release));
            steps.in_order_since(mark);
        }
        order
    }

    #[test]
    fn steps_of_a_handler_run_in_order() {
        assert_eq!(run(&[1, 2, 3], |_| Vec::new()), [1, 2, 3]);
    }

    #[test]
    fn consequences_of_a_step_run_before_the_next_step() {
        let follow = |hop| match hop {
            1 => vec![11, 12],
            12 => vec![121],
            _ => Vec::new(),
        };
        assert_eq!(run(&[1, 2], follow), [1, 11, 12, 121, 2]);
    }
}
