//! The work of proxies, as futures.

use std::pin::Pin;
use std::task::{Context, Poll};

use acp_chain_channel::{Call, Failure, Part, Reply, Started, Starting};
use acp_chain_hops::route::HopIndex;

/// What a proxy is busy with.
pub(super) enum Work {
    Call(Call),
    Start(Starting),
    /// The start of an instance for a sleeping component.
    Wake(Starting),
}

/// A proxy and its work.
pub(super) struct BusyProxy {
    pub hop: HopIndex,
    pub work: Work,
}

/// The result of a proxy's work.
pub(super) enum WorkResult {
    Called(Box<dyn Part>, Reply),
    Started(Result<Started, Failure>),
    Awake(Result<Started, Failure>),
}

impl Future for BusyProxy {
    type Output = FinishedWork;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<FinishedWork> {
        let hop = self.hop;
        let done = match &mut self.work {
            Work::Call(call) => {
                let called = call.as_mut().poll(context);
                called.map(|(part, reply)| WorkResult::Called(part, reply))
            }
            Work::Start(starting) => starting.as_mut().poll(context).map(WorkResult::Started),
            Work::Wake(starting) => starting.as_mut().poll(context).map(WorkResult::Awake),
        };
        done.map(|done| FinishedWork(hop, done))
    }
}

/// A busy proxy that has finished its work.
pub struct FinishedWork(pub(super) HopIndex, pub(super) WorkResult);
