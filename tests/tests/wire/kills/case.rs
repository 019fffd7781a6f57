//! What is killed, when, and under which policy.

/// A part of the chain: client, native proxy, component, native proxy, agent; and what hosts it.
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
    /// The host too, but it is told to stop, and not killed.
    Told,
}

/// How far the client has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// `initialize` is not answered yet.
    Initialize,
    /// It is, and there is a session, and nothing to do.
    Idle,
    /// A session is being set up.
    SessionNew,
    /// There is a turn.
    Prompt,
    /// The agent has streamed, and asks the client something.
    Stream,
    /// Then the client has withdrawn its prompt.
    CancelRequest,
    /// Or it has told the agent to stop.
    SessionCancel,
    /// It has told the agent to stop a turn whose prompt the component holds, and goes on holding.
    HeldCancel,
}

/// What the manifest says of every proxy.
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
    /// Whether another session is in a turn of its own.
    pub(crate) second: bool,
    /// Whether a native proxy has the request and has not passed it on, or its receiver has it.
    pub(crate) in_hand: bool,
    /// Whether the client leaves as soon as the part is killed.
    pub(crate) leaves: bool,
}

impl Part {
    /// How it is called in the manifest and in transcripts.
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

    /// The proxies that are gone with it, if it is made of any.
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
    /// The last request on the way there, if the stage is reached as soon as somebody has it.
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

/// All that can happen to a part.
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
        // There is no session yet.
        let has_second = !self.second || self.stage > Stage::Initialize;
        let is_kept = !self.in_hand || self.part.is_native() && self.stage.request().is_some();
        // With others everything ends anyway.
        let goes_on = !self.leaves || !self.part.proxies().is_empty();
        has_second && is_kept && goes_on
    }
}
