//! What is to be done next, as values: a handler does what concerns the message in hand at once, and says by
//! steps what comes of it. One loop takes them.
//!
//! Steps lie on a stack, those of one handler in their order and above all that waited before. So what
//! comes of a step is done before the step behind it, as if each were a call.

use std::sync::Arc;
use std::vec;

use super::lookups::Arrived;
use crate::exchange::{Exchange, ExchangeId};
use crate::route::HopIndex;
use crate::routed::Routed;
use crate::versions::Version;
use acp_chain_channel::{Change, Effect, Failure, MessageId, Outcome};
use acp_chain_mcp::component::Ask;
use acp_chain_mcp::seat::{Asked, ConnectionId, Question};
use acp_chain_mcp::{LinkId, ServerId};
use acp_chain_rpc::Message;

/// What is to be done next.
pub(super) enum Step {
    /// A message goes on from where it is.
    Send(Routed),
    /// A message goes on from a proxy that is done with it, unless it must wait there.
    Depart(HopIndex, Routed),
    /// A request has its answer.
    Answer(Answer),
    /// An answer is back, and what had to end before is over.
    HandOver(Box<Back>),
    /// Nobody waits any more for the answer to a request.
    Withdraw(ExchangeId, Message),
    /// What a proxy did in a call is carried out, from here on.
    Effects(Box<Did>),
    /// A request of the client's that sets up a session sets out, its way being known.
    SetOut(Routed),
    /// What the client said in a session goes on, which had to wait for that.
    GoOn(Box<Arrived>),
    /// What waited for something that a proxy no longer holds goes on.
    Release(HopIndex),
    /// What a proxy did in a call is carried out; now for what it decided.
    Conclude(HopIndex, Box<Outcome>),
    /// A version of a proxy is told that a message was taken from it.
    TellTaken(HopIndex, Version, MessageId),
    /// A replaced version of a proxy is done with a message, which the next one is to see.
    Deliver(HopIndex, Routed),
    /// A message ends that its proxy could not decide, for this reason.
    Fail(HopIndex, Routed, Arc<str>),
    /// A proxy broke.
    Break(HopIndex, Box<Failure>),
    /// What a native proxy had when it broke is answered; the message that it began with may go on.
    CutOff(HopIndex, Option<Routed>, Arc<str>),
    /// All that a proxy had when it broke is settled; it is given up, if there is a reason.
    Broken(HopIndex, Option<String>),
    /// The client has sent a request of this method in a session.
    ClientAsked(Arc<str>, Arc<str>),
    /// MCP goes on.
    Mcp(Task),
}

/// What MCP has yet to do.
pub(super) enum Task {
    /// What seats want is carried out.
    Wanted,
    /// A request is at its seat: it may have been withdrawn before.
    CatchUp(ExchangeId),
    /// A seat was told that a request is withdrawn: it may not have answered.
    Withdrawn(ServerId, ExchangeId),
    /// A connection ends.
    Disconnect(ConnectionId),
    /// What was open on a connection is withdrawn: its seat is told that it is over, by this message if
    /// somebody said so.
    Disconnected {
        server: ServerId,
        connection: ConnectionId,
        ask: Option<Asked>,
        said: Option<Message>,
    },
    /// A server ends.
    Close(ServerId),
    /// Nobody is asked or asks any more by a server that ends: its connections do, too.
    CloseConnections(ServerId),
    /// The seat of a server that ends says its last.
    Over(ServerId),
    /// Nothing is left of a server.
    Remove(ServerId),
    /// Something that waited for an MCP client's connection is said on it.
    Say(LinkId, Message),
    /// An MCP client left, and what it was asked is answered.
    LinkLost(LinkId),
    /// What an MCP client asked that left is withdrawn: it leaves this connection.
    Leave(LinkId, ConnectionId),
    /// Nothing is left of an MCP client.
    Forget(LinkId),
    /// The seats of a component hear of a change, those behind this one.
    Changed(HopIndex, Change, ServerId),
    /// The seats of a proxy's own servers hear that it was started again, those behind this one.
    ProviderLost(HopIndex, ServerId),
    /// A seat has heard that its provider was started again: its connections are gone.
    ForgetConnections(ServerId),
    /// A component asks the caller in a call.
    GiveAsks(ServerId, Question, Vec<Ask>),
}

/// An answer that sets out from a position on its request's route.
pub(super) struct Answer {
    pub number: ExchangeId,
    pub at: usize,
    pub message: Message,
    pub maker: Option<HopIndex>,
}

impl Answer {
    /// One that no proxy made.
    pub fn new(number: ExchangeId, at: usize, message: Message) -> Self {
        Self {
            number,
            at,
            message,
            maker: None,
        }
    }
}

/// An answer that is back where its request came from.
pub(super) struct Back {
    pub number: ExchangeId,
    pub exchange: Exchange,
    pub routed: Routed,
}

/// What a proxy did in a call.
pub(super) struct Did {
    pub hop: HopIndex,
    /// What is still to be carried out.
    pub effects: vec::IntoIter<Effect>,
    /// What it asks the callers of its calls: last, and all at once.
    pub asks: Vec<(MessageId, MessageId, Message)>,
}

const _: () = assert!(size_of::<Step>() <= 48, "steps are moved about");

/// Steps that are to be taken.
pub(super) struct Steps(Vec<Step>);

impl Steps {
    pub fn new() -> Self {
        // It keeps what it grows to, and there may be thousands of chains.
        Self(Vec::with_capacity(8))
    }

    /// Adds what is to be done behind all else that the same handler pushes before.
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
                maker: routed.maker,
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

    /// What was pushed since is taken in that order, before all else.
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

    /// Takes all steps; a release of a proxy pushes those that `comes` says. Gives the order.
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
