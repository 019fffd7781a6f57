//! Further work, as values: a handler deals with the message in hand at once, and returns further work as steps. One
//! loop takes them.
//!
//! Steps are kept on a stack, those of one handler in order and above all earlier ones. So the consequences of a step
//! are carried out before the step after it, as if each were a call.

use std::sync::Arc;
use std::vec;

use super::lookups::Arrived;
use crate::exchange::{Exchange, ExchangeId};
use crate::labels::Labels;
use crate::route::HopIndex;
use crate::routed::Routed;
use crate::version::Version;
use acp_chain_acp::Life;
use acp_chain_channel::{Change, Effect, Failure, MessageId, Outcome};
use acp_chain_mcp::component::channel::Ask;
use acp_chain_mcp::{Asked, ConnectionId, Question};
use acp_chain_mcp::{LinkId, ServerId};
use acp_chain_rpc::Message;

/// One step of further work.
pub(super) enum Step {
    /// A message goes on from where it is.
    Send(Routed),
    /// A message goes on from a proxy that is done with it, unless it must wait there.
    Depart(HopIndex, Routed),
    /// A request is answered.
    Answer(Answer),
    /// An answer is back, and everything that had to end first has ended.
    HandOver(Box<Back>),
    /// Nobody waits for the answer to a request any more.
    Withdraw(ExchangeId, Message),
    /// The effects of a proxy's call are carried out, from here on.
    Effects(Box<Did>),
    /// A client's request that sets up a session starts, as its route is known now.
    SetOut(Routed),
    /// A message of the client goes on that had to wait for its session.
    GoOn(Box<Arrived>),
    /// Messages go on that waited for something that a proxy no longer holds.
    Release(HopIndex),
    /// The effects of a proxy's call are carried out; now for its decision.
    Conclude(HopIndex, Box<Outcome>),
    /// A version of a proxy is told that a message was taken from it.
    TellTaken(HopIndex, Version, MessageId),
    /// A replaced version of a proxy is done with a message, which goes to the next version.
    Deliver(HopIndex, Routed),
    /// A message ends, as its proxy could not decide it for this reason.
    Fail(HopIndex, Routed, Arc<str>),
    /// A proxy broke.
    Break(HopIndex, Box<Failure>),
    /// The open requests of a broken native proxy are answered; its first message may go on.
    CutOff(HopIndex, Option<Routed>, Arc<str>),
    /// Everything that a proxy had when it broke is settled; it is given up if there is a reason.
    Broken(HopIndex, Option<String>),
    /// The client has sent a request that does this in a session.
    ClientAsked(Life, Arc<str>),
    /// MCP continues.
    Mcp(Task),
}

/// Further work of MCP.
pub(super) enum Task {
    /// The outputs of seats are carried out.
    Wanted,
    /// A request is at its seat: it may have been cancelled before.
    CatchUp(ExchangeId),
    /// A seat was told that a request is cancelled: it may not have answered.
    Withdrawn(ServerId, ExchangeId),
    /// A connection ends.
    Disconnect(ConnectionId),
    /// The open requests on a connection are cancelled: its seat is told that it has ended, with this message if a
    /// caller sent it.
    Disconnected {
        server: ServerId,
        connection: ConnectionId,
        ask: Option<Asked>,
        said: Option<Message>,
    },
    /// A server ends.
    Close(ServerId),
    /// A server that ends has no open requests left, in either direction: its connections end, too.
    CloseConnections(ServerId),
    /// The seat of a server that ends produces its last output.
    Over(ServerId),
    /// A server is removed.
    Remove(ServerId),
    /// A message that waited for an MCP client's connection is sent on it.
    Say(LinkId, Message),
    /// An MCP client left, and the requests to it are answered.
    LinkLost(LinkId),
    /// An MCP client left, and its requests are cancelled: it leaves this connection.
    Leave(LinkId, ConnectionId),
    /// An MCP client is removed.
    Forget(LinkId),
    /// The seats of a component after this one are told of a change.
    Changed(HopIndex, Change, ServerId),
    /// The seats of a proxy's own servers after this one are told that it was restarted.
    ProviderLost(HopIndex, ServerId),
    /// A seat was told that its provider was restarted: its connections are gone.
    ForgetConnections(ServerId),
    /// A component asks the caller in a call.
    GiveAsks(ServerId, Question, Vec<Ask>),
}

/// An answer that starts at a position on its request's route.
pub(super) struct Answer {
    pub number: ExchangeId,
    pub at: usize,
    pub message: Message,
    /// The labels of the request, as the part that answers it leaves them.
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
pub(super) struct Back {
    pub number: ExchangeId,
    pub exchange: Exchange,
    pub routed: Routed,
}

/// The effects of a proxy's call.
pub(super) struct Did {
    pub hop: HopIndex,
    /// Those still to be carried out.
    pub effects: vec::IntoIter<Effect>,
    /// Its questions to the callers of its tools: last, and all at once.
    pub asks: Vec<(MessageId, MessageId, Message)>,
}

const _: () = assert!(size_of::<Step>() <= 48, "steps are moved about");

/// The steps to take.
pub(super) struct Steps(Vec<Step>);

impl Steps {
    pub fn new() -> Self {
        // It never shrinks, and there may be thousands of chains.
        Self(Vec::with_capacity(8))
    }

    /// Adds a step after all that the same handler has pushed.
    pub fn push(&mut self, step: Step) {
        self.0.push(step);
    }

    /// Answers a request at a position, on behalf of the host.
    pub fn answer_at(&mut self, number: ExchangeId, at: usize, message: Message) {
        self.push(Step::Answer(Answer::new(number, at, message)));
    }

    /// Answers a request where it is.
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

    /// Where the next handler begins to push.
    pub fn mark(&self) -> usize {
        self.0.len()
    }

    /// Makes the steps pushed since be taken in that order, before all others.
    pub fn in_order_since(&mut self, mark: usize) {
        if self.0.len() > mark + 1 {
            self.0[mark..].reverse();
        }
    }
}

impl Extend<Step> for Steps {
    fn extend<T: IntoIterator<Item = Step>>(&mut self, steps: T) {
        self.0.extend(steps);
    }
}

#[cfg(test)]
mod tests {
    use super::{Step, Steps};

    /// Takes all steps; a release of a proxy pushes those that `comes` returns. Returns the order.
    fn taken(first: &[usize], comes: impl Fn(usize) -> Vec<usize>) -> Vec<usize> {
        let mut steps = Steps::new();
        steps.extend(first.iter().map(|hop| Step::Release(*hop)));
        steps.in_order_since(0);
        let mut order = Vec::new();
        while let Some(Step::Release(hop)) = steps.pop() {
            order.push(hop);
            let mark = steps.mark();
            steps.extend(comes(hop).into_iter().map(Step::Release));
            steps.in_order_since(mark);
        }
        order
    }

    #[test]
    fn what_a_handler_pushes_is_taken_in_that_order() {
        assert_eq!(taken(&[1, 2, 3], |_| Vec::new()), [1, 2, 3]);
    }

    #[test]
    fn what_comes_of_a_step_is_taken_before_the_one_behind_it() {
        let comes = |hop| match hop {
            1 => vec![11, 12],
            12 => vec![121],
            _ => Vec::new(),
        };
        assert_eq!(taken(&[1, 2], comes), [1, 11, 12, 121, 2]);
    }
}
