//! The part that is killed, the stage, and the policy.

/// A part of the chain: client, native proxy, component, native proxy, agent; and the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Client,
    Before,
    Component,
    Behind,
    /// Both native proxies at once.
    Natives,
    Agent,
    Host,
    /// The host too, but it gets SIGTERM and is not killed.
    Told,
}

/// The stage that the client has reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// `initialize` is not answered yet.
    Initialize,
    /// `initialize` is answered, there is a session, and no request is open.
    Idle,
    /// A session is being set up.
    SessionNew,
    /// A turn is open.
    Prompt,
    /// The agent has streamed, and has sent the client a request.
    Stream,
    /// As in `Stream`, and the client has cancelled its prompt with `$/cancel_request`.
    CancelRequest,
    /// As in `Stream`, and the client has cancelled the turn with `session/cancel`.
    SessionCancel,
    /// The client has cancelled, with `session/cancel`, a turn whose prompt the component holds and keeps holding.
    HeldCancel,
}

/// The failure policy of every proxy in the manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Policy {
    Refuse,
    Bypass,
    Restart,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Case {
    pub(crate) part: Part,
    pub(crate) stage: Stage,
    pub(crate) policy: Policy,
    /// Whether another session has an open turn.
    pub(crate) second: bool,
    /// Whether a native proxy has the request and has not forwarded it; otherwise its receiver has it.
    pub(crate) in_hand: bool,
    /// Whether the client disconnects as soon as the part is killed.
    pub(crate) leaves: bool,
}

impl Part {
    /// Its name in the manifest and in transcripts.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Before => "before",
            Self::Component => "component",
            Self::Behind => "behind",
            Self::Natives => "natives",
            Self::Agent => "agent",
            Self::Host | Self::Told => "host",
        }
    }

    pub(crate) fn is_native(self) -> bool {
        matches!(self, Self::Before | Self::Behind | Self::Natives)
    }

    /// The proxies that the part consists of.
    pub(crate) fn proxies(self) -> &'static [&'static str] {
        match self {
            Self::Before => &["before"],
            Self::Component => &["component"],
            Self::Behind => &["behind"],
            Self::Natives => &["before", "behind"],
            Self::Client | Self::Agent | Self::Host | Self::Told => &[],
        }
    }
}

impl Stage {
    /// The last request on the way to the stage, if the stage is reached when that request arrives.
    pub(crate) fn request(self) -> Option<&'static str> {
        match self {
            Self::Initialize => Some("initialize"),
            Self::SessionNew => Some("session/new"),
            Self::Prompt => Some("session/prompt"),
            Self::Stream => Some("session/request_permission"),
            Self::Idle | Self::CancelRequest | Self::SessionCancel | Self::HeldCancel => None,
        }
    }
}

impl Policy {
    /// The value of `on-failure`.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Bypass => "bypass",
            Self::Restart => "restart",
        }
    }
}

/// All cases of a part.
pub(crate) fn cases(part: Part) -> Vec<Case> {
    use Stage::{
        CancelRequest, HeldCancel, Idle, Initialize, Prompt, SessionCancel, SessionNew, Stream,
    };
    let stages = [
        Initialize,
        Idle,
        SessionNew,
        Prompt,
        Stream,
        CancelRequest,
        SessionCancel,
        HeldCancel,
    ];
    let all = stages.into_iter().flat_map(|stage| {
        let policies = [Policy::Refuse, Policy::Bypass, Policy::Restart];
        policies.into_iter().flat_map(move |policy| {
            (0..8).map(move |bits| Case {
                part,
                stage,
                policy,
                second: bits & 1 > 0,
                in_hand: bits & 2 > 0,
                leaves: bits & 4 > 0,
            })
        })
    });
    all.filter(|case| case.is_possible()).collect()
}

impl Case {
    fn is_possible(self) -> bool {
        // At `Stage::Initialize` there is no session.
        let has_second = !self.second || self.stage > Stage::Initialize;
        let is_kept = !self.in_hand || self.part.is_native() && self.stage.request().is_some();
        // With other parts, everything ends anyway.
        let goes_on = !self.leaves || !self.part.proxies().is_empty();
        has_second && is_kept && goes_on
    }
}
