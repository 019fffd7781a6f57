//! The steps that agents take, and their outcomes.

use std::collections::BTreeSet;

/// What an agent does in a trial, and what has to come of it.
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
    /// A tool runs without a question; the chain has seen it.
    Sees,
    /// The chain refuses a command.
    Refuses,
    /// The chain changes a command.
    Changes,
    /// The chain hides the key in a file from the model.
    HidesFile,
    /// The key in the output of a command.
    HidesOutput,
    /// The key in the output of a command that fails.
    HidesFailure,
    /// The chain refuses a command of a subagent.
    Subagent,
    /// `brake` stops a loop of the same call.
    StopsLoop,
    /// `brake` keeps a day's budget over two connections.
    KeepsBudget,
    /// `brake` counts the tokens that the agent reports.
    CountsTokens,
    /// `two-of-three` asks before a key is posted, and with a no it is not.
    AsksBeforeThird,
    /// It does so on each way out.
    AsksOnEachWay,
    /// The log of receipts verifies, and has what was decided.
    KeepsReceipts,
    /// A hook of the user's own still runs.
    OwnHook,
    /// The user's settings are as they were.
    Settings,
    /// The hooks are switched off, and no refused command runs.
    HooksOff,
}

impl Step {
    /// The steps of every agent, in the order in which they are taken.
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
            Self::Sees => "sees",
            Self::Refuses => "refuses",
            Self::Changes => "changes",
            Self::HidesFile => "hides files",
            Self::HidesOutput => "hides output",
            Self::HidesFailure => "hides failed commands",
            Self::Subagent => "subagents",
            Self::StopsLoop => "stops a loop",
            Self::KeepsBudget => "a day's budget",
            Self::CountsTokens => "counts tokens",
            Self::AsksBeforeThird => "asks before the third",
            Self::AsksOnEachWay => "asks on each way out",
            Self::KeepsReceipts => "keeps receipts",
            Self::OwnHook => "the user's own hook",
            Self::Settings => "the user's settings",
            Self::HooksOff => "hooks off",
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
    /// Whether something is as it should be.
    pub fn of(step: Step, works: bool, said: String) -> Self {
        Self {
            step,
            state: State::of(works),
            said,
            seen: BTreeSet::new(),
        }
    }

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
