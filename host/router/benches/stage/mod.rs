//! A chain without input and output: messages enter at one end of its router, and are read from the outbox of the
//! other.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use acp_chain_channel::limits::Limits;
use acp_chain_channel::{
    Call, Decision, Event, Failure, FailurePolicy, Grant, Kinds, Ledger, MessageId, Offers,
    Outcome, Part, Pattern, Peer, Registration, Reply, Source, Starting, Subscription, Tally,
};
use acp_chain_router::trace::Recorder;
use acp_chain_router::{Proxy, Router, Terms};
use acp_chain_rpc::Message;
use acp_chain_rpc::transport::Outbox;
use bytes::Buf;
use tokio::time::Instant;

/// A router with its two ends.
pub struct Stage {
    router: Router,
}

impl Stage {
    /// A router with these proxies, the client's neighbour first, and this trace.
    pub fn new(proxies: Vec<Proxy>, trace: Option<Recorder>) -> Self {
        Self {
            router: Router::new(proxies, trace),
        }
    }

    /// Receives one message, and runs the proxies until they are idle. Passes the outbox of the other end to `look`,
    /// then empties it.
    pub fn carry<T>(&mut self, from: Peer, message: Message, look: impl FnOnce(&Outbox) -> T) -> T {
        self.router.advance(Instant::now());
        self.router.receive(from, message);
        while !self.router.is_idle() {
            self.router.pump(256);
            self.collect();
        }
        let outbox = self.router.outbox(from.opposite());
        let seen = look(outbox);
        outbox.advance(outbox.len());
        seen
    }

    /// Continues with the results of proxies that were busy.
    fn collect(&mut self) {
        loop {
            let finished = {
                let (_, _, busy, ..) = self.router.split();
                let busy = pin!(busy);
                match busy.poll(&mut Context::from_waker(Waker::noop())) {
                    Poll::Ready(finished) => finished,
                    Poll::Pending => return,
                }
            };
            self.router.finished(finished);
        }
    }
}

/// An update with a text of so many bytes, without its newline.
pub fn update(size: usize) -> String {
    let text = "x".repeat(size);
    format!(
        r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"session-1","update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{text}"}}}}}}}}"#
    )
}

/// A proxy without a sandbox, which sees everything and forwards it.
pub fn stub(name: &str) -> Proxy {
    let terms = Terms {
        limits: Arc::new(Limits::default()),
        grant: Arc::new(Grant::all_powers(name)),
        on_failure: FailurePolicy::Refuse,
        sleep_after: None,
    };
    let mut ledger = Ledger::new(1, terms.limits.clone(), terms.grant.clone());
    ledger.start();
    let everything = Subscription {
        method: Pattern::new("*").expect("it is a pattern"),
        sender: None,
        kinds: Kinds::all(),
        with_body: true,
    };
    Proxy {
        name: name.to_owned(),
        registration: Registration {
            subscriptions: vec![everything],
            on_failure: FailurePolicy::Refuse,
            offers: Offers::default(),
            guard: false,
        },
        part: Some(Box::new(Stub(ledger))),
        source: Box::new(NoRestart),
        terms,
    }
}

struct Stub(Ledger);

impl Part for Stub {
    fn allot(&mut self) -> MessageId {
        self.0.allot()
    }

    fn take_away(&mut self, id: MessageId) {
        self.0.let_go(id);
    }

    fn call(mut self: Box<Self>, event: Event) -> Call {
        let Event::Message(delivery) = event else {
            panic!("it is sent messages only")
        };
        self.0.hand_in(&delivery);
        let action = self.0.take_back(delivery.id, Decision::Forward);
        let (effects, saved) = self.0.take_effects();
        let reply = Reply {
            effects,
            saved,
            outcome: Outcome::Decided(action.expect("everything may be forwarded")),
        };
        Box::pin(async move { (self as Box<dyn Part>, reply) })
    }

    fn tally(&self) -> Tally {
        Tally::default()
    }

    fn untold(&mut self) -> Tally {
        Tally::default()
    }
}

/// The source of a proxy that cannot be restarted.
struct NoRestart;

impl Source for NoRestart {
    fn start(&self, _: MessageId, _: Option<String>) -> Starting {
        Box::pin(async { Err(Failure::new("there is only one")) })
    }
}
