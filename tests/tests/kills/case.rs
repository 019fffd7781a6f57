//! What is killed, when, and under which policy.

/// A part of the chain: client, native proxy, component, native proxy, agent; and what hosts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Client,
    Before,
    Component,
    Behind,
    Agent,
    Host,
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
    /// Whether a native proxy has the request and has not passed it on, or the agent has it.
    pub(crate) in_hand: bool,
}

impl Part {
    /// How it is called in the manifest and in transcripts.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Before => "before",
            Self::Component => "component",
            Self::Behind => "behind",
            Self::Agent => "agent",
            Self::Host => "host",
        }
    }

    pub(crate) fn is_native(self) -> bool {
        matches!(self, Self::Before | Self::Behind)
    }
}

impl Stage {
    /// The request that is open then, if the stage is reached as soon as somebody has it.
    pub(crate) fn request(self) -> Option<&'static str> {
        match self {
            Self::Initialize => Some("initialize"),
            Self::SessionNew => Some("session/new"),
            Self::Prompt => Some("session/prompt"),
            Self::Idle | Self::Stream | Self::CancelRequest | Self::SessionCancel => None,
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
    use Stage::{CancelRequest, Idle, Initialize, Prompt, SessionCancel, SessionNew, Stream};
    let mut cases = Vec::new();
    for stage in [
        Initialize,
        Idle,
        SessionNew,
        Prompt,
        Stream,
        CancelRequest,
        SessionCancel,
    ] {
        for policy in [Policy::Refuse, Policy::Bypass, Policy::Restart] {
            for second in [false, true] {
                for in_hand in [false, true] {
                    // No session is there yet; nobody else keeps a request.
                    let is_none = second && stage == Initialize
                        || in_hand && !(part.is_native() && stage.request().is_some());
                    let case = Case {
                        part,
                        stage,
                        policy,
                        second,
                        in_hand,
                    };
                    cases.extend((!is_none).then_some(case));
                }
            }
        }
    }
    cases
}
