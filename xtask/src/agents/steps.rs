//! The steps that every agent takes, and their outcomes.

use std::collections::BTreeSet;

/// The steps, in the order in which they are taken.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Step {
    Initialize,
    NewSession,
    Text,
    Shell,
    ClientTool,
    ChainTool,
    SecondSession,
    Mode,
    Cancel,
    Exit,
    Load,
    Resume,
}

impl Step {
    pub const ALL: [Self; 12] = [
        Self::Initialize,
        Self::NewSession,
        Self::Text,
        Self::Shell,
        Self::ClientTool,
        Self::ChainTool,
        Self::SecondSession,
        Self::Mode,
        Self::Cancel,
        Self::Exit,
        Self::Load,
        Self::Resume,
    ];

    /// The heading of its column.
    pub fn title(self) -> &'static str {
        match self {
            Self::Initialize => "initialize",
            Self::NewSession => "new session",
            Self::Text => "text",
            Self::Shell => "shell",
            Self::ClientTool => "client's tool",
            Self::ChainTool => "chain's tool",
            Self::SecondSession => "second session",
            Self::Mode => "mode",
            Self::Cancel => "cancel",
            Self::Exit => "exit",
            Self::Load => "load",
            Self::Resume => "resume",
        }
    }
}

/// Whether a step is possible.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum State {
    Works,
    Fails,
    /// The agent does not offer it.
    NotOffered,
}

impl State {
    pub fn of(works: bool) -> Self {
        if works { Self::Works } else { Self::Fails }
    }
}

/// The outcome of one step.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub step: Step,
    pub state: State,
    /// The agent's answer, for people.
    pub said: String,
    /// What the client received, without ids and times: this is compared.
    pub seen: BTreeSet<String>,
}

impl Outcome {
    /// The agent does not offer it.
    pub fn not_offered(step: Step) -> Self {
        Self {
            step,
            state: State::NotOffered,
            said: "not offered".into(),
            seen: BTreeSet::new(),
        }
    }
}
