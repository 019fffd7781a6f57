//! A proxy's place in the chain: the proxy and its state. Each part of the state is changed by one file only.

mod failures;
mod holding;
mod inbox;
mod pauses;
mod phase;
mod requests;
mod versions;

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use tokio::time::Instant;

use self::failures::Failures;
pub use self::holding::HeldMessage;
use self::holding::Holding;
use self::inbox::Inbox;
pub use self::inbox::Item;
use self::pauses::Pauses;
pub use self::phase::Idle;
use self::phase::Phase;
use self::requests::Requests;
use self::versions::Versions;
use crate::member::{Member, Terms};
use crate::native_peer::NativePeer;
use crate::route::HopIndex;
use crate::routed::Routed;
use acp_chain_channel::limits::{Account, Limits};
use acp_chain_channel::{
    Actions, FailurePolicy, Grant, Kinds, MessageId, Offers, Pattern, Registration, Source,
    Subject, Subscription, seen_subject, subject,
};
use acp_chain_rpc::transport::Outbox;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};

/// What runs a proxy.
enum Runtime {
    /// A component, and the source of further instances.
    Component(Box<dyn Source>),
    /// A program.
    Native(Box<NativePeer>),
    /// Nothing: the proxy has left, and its place is free.
    Vacant,
}

pub struct Hop {
    name: String,
    /// The project of the proxy; `None` for the user's own.
    project: Option<Arc<str>>,
    /// Whether the proxy has begun its work: a project's program may still be starting.
    has_begun: bool,
    terms: Terms,
    runtime: Runtime,
    phase: Phase,
    registration: Registration,
    versions: Versions,
    inbox: Inbox,
    holding: Holding,
    requests: Requests,
    pauses: Pauses,
    failures: Failures,
    /// When the last message for the proxy arrived, if the proxy may be put to sleep.
    called: Option<Instant>,
    /// The last state that the proxy saved.
    saved: Option<String>,
    /// The first number of the next instance.
    next_number: MessageId,
}

impl Hop {
    /// A proxy without messages and requests; its accounts are parts of `kept`.
    pub fn new(member: Member, kept: &Account) -> Self {
        match member {
            Member::Component(proxy) => {
                let runtime = Runtime::Component(proxy.source);
                let phase = proxy.part.map_or(Phase::Asleep, Phase::Idle);
                let mut hop = Self::of(proxy.name, proxy.terms, runtime, phase, kept);
                hop.registration = proxy.registration;
                hop
            }
            Member::Native(native) => {
                let limits = Limits {
                    body: usize::MAX,
                    ..Limits::default()
                };
                let terms = Terms {
                    limits: limits.into(),
                    grant: Grant::unlimited().into(),
                    on_failure: native.on_failure,
                    sleep_after: None,
                };
                let peer = NativePeer::new(native.dialect, native.sees_tool_runs, kept);
                let runtime = Runtime::Native(Box::new(peer));
                let mut hop = Self::of(native.name, terms, runtime, Phase::Runs, kept);
                hop.registration.subscriptions = everything();
                hop
            }
        }
    }

    /// A proxy of a project, which joins a connection that has begun.
    pub fn of_project(member: Member, project: Arc<str>, kept: &Account) -> Self {
        let mut hop = Self::new(member, kept);
        hop.project = Some(project);
        if hop.native().is_some() {
            hop.has_begun = false;
            hop.phase = Phase::Busy;
        }
        hop
    }

    /// A place without a proxy: its proxy has left.
    pub fn vacant(kept: &Account) -> Self {
        let phase = Phase::Ended("it has left".to_owned());
        Self::of(
            String::new(),
            Terms::default(),
            Runtime::Vacant,
            phase,
            kept,
        )
    }

    fn of(name: String, terms: Terms, runtime: Runtime, phase: Phase, kept: &Account) -> Self {
        Self {
            name,
            project: None,
            has_begun: true,
            inbox: Inbox::default(),
            holding: Holding::new(kept.part(terms.limits.behind)),
            requests: Requests::new(&terms.limits, kept),
            pauses: Pauses::default(),
            failures: Failures::new(&terms.limits),
            terms,
            runtime,
            phase,
            registration: Registration::default(),
            versions: Versions::default(),
            called: None,
            saved: None,
            next_number: 1,
        }
    }

    #[inline]
    pub fn name(&self) -> &str {
        &self.name
    }

    #[inline]
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Makes the proxy one that offers nothing, and whose failures harm no message: for a dry run.
    #[inline]
    pub fn disregard(&mut self) {
        self.registration.offers = Offers::default();
        self.terms.on_failure = FailurePolicy::Bypass;
    }

    /// Removes all powers. For tests.
    #[inline]
    pub fn disarm(&mut self) {
        self.terms.grant = Grant::default().into();
    }

    /// The memory of the component, in bytes, if it is measured.
    pub fn memory(&self) -> Option<Arc<AtomicUsize>> {
        match &self.runtime {
            Runtime::Component(source) => source.memory(),
            Runtime::Native(_) | Runtime::Vacant => None,
        }
    }

    /// The program of a native proxy.
    #[inline]
    pub fn native(&self) -> Option<&NativePeer> {
        match &self.runtime {
            Runtime::Native(native) => Some(native),
            Runtime::Component(_) | Runtime::Vacant => None,
        }
    }

    /// The program of a native proxy.
    #[inline]
    pub fn native_mut(&mut self) -> Option<&mut NativePeer> {
        match &mut self.runtime {
            Runtime::Native(native) => Some(native),
            Runtime::Component(_) | Runtime::Vacant => None,
        }
    }

    /// The proxy's name in texts for people.
    pub fn title(&self) -> String {
        let of = self.project.as_ref();
        let of = of.map_or_else(String::new, |project| {
            format!(" of the project `{}`", quote(project, MAX_QUOTE))
        });
        format!("the proxy `{}`{of}", self.name)
    }

    /// Whether the proxy is idle, and has nothing open.
    #[inline]
    pub fn is_at_rest(&self) -> bool {
        let is_done = self.native().is_none_or(|native| {
            native.introduction.is_none() && native.open.is_empty() && native.outbox.is_empty()
        });
        is_done
            && !self.is_ending()
            && self.takes_messages()
            && self.is_quiet()
            && self.holds_nothing()
            && self.awaits_nothing()
    }

    /// The subscription through which the proxy sees a message, if a power lets it do anything with it.
    #[inline]
    pub fn subscription(&self, routed: &Routed) -> Option<&Subscription> {
        self.wanted(&self.registration, routed)
    }

    /// Whether the proxy can be asked about tool runs: any component, and a chain of this program. Other programs do
    /// not know these requests.
    #[inline]
    pub fn knows_tool_runs(&self) -> bool {
        self.native().is_none_or(|native| native.sees_tool_runs)
    }

    /// Whether the proxy has subscribed to such messages, whether or not a power covers this one.
    #[inline]
    pub fn has_subscribed(&self, routed: &Routed) -> bool {
        subscribed(&self.registration, routed).is_some()
    }

    /// The subscription in the declaration of one of its versions, if a power lets it do anything with the message.
    #[inline]
    fn wanted<'r>(
        &self,
        registration: &'r Registration,
        routed: &Routed,
    ) -> Option<&'r Subscription> {
        let (grant, sender) = (&self.terms.grant, routed.toward.opposite());
        let subject = || {
            let is_replayed = routed.is_replayed;
            seen_subject(grant, &routed.message, sender, &routed.method, is_replayed)
        };
        subscribed(registration, routed).filter(|_| grant.covers(Actions::TOUCH, &subject()))
    }

    /// Whether others rely on its decisions.
    #[inline]
    pub fn is_guard(&self) -> bool {
        self.registration.guard
    }

    #[inline]
    pub fn offers(&self) -> Offers {
        self.registration.offers
    }

    /// Whether the proxy offers the agent something and may be called for it.
    #[inline]
    pub fn is_server(&self) -> bool {
        !self.offers().is_empty() && self.terms.grant.has("tools") && self.given_up().is_none()
    }

    fn subscribe(&mut self, subscriptions: Vec<Subscription>) {
        self.registration.subscriptions = subscriptions;
    }

    /// Whether a message that the proxy failed to decide goes on unchanged: by the user's failure policy, or because
    /// the proxy has no power to decide about it.
    #[inline]
    pub fn passes_on_failure(&self, routed: &Routed) -> bool {
        // A project's sessions do not begin without the proxies that they rely on.
        if routed.ends_at_proxy() || !self.has_begun {
            return false;
        }
        let policy = self.terms.on_failure;
        // A chain of this program may have guards.
        let may_guard =
            self.is_guard() || self.native().is_some_and(|native| native.sees_tool_runs);
        policy == FailurePolicy::Bypass
            || self.given_up().is_some() && policy.ends_open()
            || routed.labels.is_sealed() && !may_guard
            || !self
                .terms
                .grant
                .covers(Actions::DECIDE, &subject_of(routed))
    }
}

/// The subscription of a registration that covers a message, whether or not a power does.
#[inline]
fn subscribed<'r>(registration: &'r Registration, routed: &Routed) -> Option<&'r Subscription> {
    let (kind, sender) = (routed.message.kind(), routed.toward.opposite());
    let mut subscriptions = registration.subscriptions.iter();
    subscriptions.find(|wanted| wanted.covers(kind, sender, &routed.method))
}

/// The properties of a message by which powers distinguish.
#[inline]
fn subject_of(routed: &Routed) -> Subject<'_> {
    subject(&routed.message, routed.toward.opposite(), &routed.method)
}

/// The subscriptions of a native proxy: everything.
fn everything() -> Vec<Subscription> {
    let all = Pattern::new("*").map(|method| Subscription {
        method,
        sender: None,
        kinds: Kinds::all(),
        with_body: true,
    });
    all.into_iter().collect()
}

/// The messages that wait to be written to native proxies, by index.
pub struct NativeBacklogs<'r>(&'r mut [Hop]);

impl<'r> NativeBacklogs<'r> {
    /// Those of the native proxies among these.
    #[inline]
    pub fn new(hops: &'r mut [Hop]) -> Self {
        Self(hops)
    }

    /// The bytes that wait to be written to this proxy's program; `None` for a component.
    #[inline]
    pub fn outbox(&mut self, index: HopIndex) -> Option<&mut Outbox> {
        Some(&mut self.0.get_mut(index)?.native_mut()?.outbox)
    }

    /// How many bytes wait at this proxy.
    #[inline]
    pub fn backlog(&self, index: HopIndex) -> usize {
        self.0.get(index).map_or(0, Hop::backlog)
    }
}
