//! A row of the table: an attack, and the required state of the chain after it.

use hostile::Mode;

use crate::hostile::aftermath::Aftermath;
use crate::hostile::module::Module;

/// A row with the name of its tests, which describes what the row shows.
pub type NamedRow = (&'static str, Row);

/// The attacker.
#[derive(Clone, Copy)]
pub enum Attacker {
    /// The guest in Rust.
    Guest(Mode),
    /// A hand-written module, which lies to the host as no compiler would.
    Module(&'static Module),
}

/// A step of the client in the attacked session. At the end the client waits for all answers.
#[derive(Clone, Copy)]
pub enum Step {
    /// Sends a prompt.
    Prompt(&'static str),
    /// Sends a prompt with a text of that many bytes, which the agent echoes in chunks.
    LongPrompt(usize),
    /// Waits for the answers to the prompts.
    Await,
    /// Cancels the last prompt.
    Withdraw,
    /// Sends a notification that only the attacker knows: `_hostile/go`.
    Tell,
    /// Sends the same notification, in no session.
    TellNobody,
    /// Sends the attacker a short notification, and before that the neighbour a long one.
    TellBehindLong,
}

/// The text of a prompt where it does not matter.
pub const PROMPT: Step = Step::Prompt("echo attacked");

/// The expected outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The answer is a result.
    Passes,
    /// The answer is an error that names the attacker.
    Fails,
    /// Any answer.
    Any,
}

/// The expected fate of the attacker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It survives, and the attack has no effect.
    Lives,
    /// It survives, but could not decide about the message.
    Fails,
    /// It breaks once.
    Breaks,
    /// It breaks whenever it is restarted.
    Loops,
    /// It does not start, and neither does the chain, unless the policy is `bypass`.
    NeverStarts,
}

/// The failure policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Policy {
    Restart,
    Bypass,
    Refuse,
}

impl Policy {
    /// The value in the manifest.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Restart => "restart",
            Self::Bypass => "bypass",
            Self::Refuse => "refuse",
        }
    }
}

/// An attack, and the required state after it.
#[derive(Clone, Copy)]
pub struct Row {
    pub by: Attacker,
    /// The rest of the attacker's configuration, in TOML.
    pub config: &'static str,
    /// The attacker's powers, in TOML; all powers, if this is empty.
    pub grant: &'static str,
    /// The limits that differ from the defaults, in TOML.
    pub limits: &'static str,
    /// Whether the bystander is a second attacker instead.
    pub accomplice: bool,
    pub script: &'static [Step],
    pub fate: Fate,
    /// The outcome of the last prompt, if it does not follow from the fate.
    pub answer: Option<Answer>,
    /// Whether the attacker does not even see the neighbour's messages.
    pub apart: bool,
    /// Whether notifications of the agent are lost when the attacker could not decide about them, unless it
    /// is bypassed.
    pub loses: bool,
    /// The limit for the program's memory, in MiB.
    pub peak: u64,
    /// Texts that the log must contain.
    pub report: &'static [&'static str],
    /// Further checks.
    pub also: fn(&Aftermath),
}

/// The memory of a chain of two proxies in which nothing special happens, in MiB: two instances, and the
/// host's own memory. Pages of files are not counted, such as those of the program and of code that was
/// compiled before.
pub const QUIET: u64 = 44;

impl Row {
    /// Whether there is a chain, with the attacker or without it.
    pub fn has_chain(&self, policy: Policy) -> bool {
        match self.fate {
            Fate::NeverStarts => policy == Policy::Bypass,
            _ => true,
        }
    }

    /// The expected outcome of the last prompt of the attacked session.
    pub fn answer_to_attack(&self, policy: Policy) -> Answer {
        self.answer.unwrap_or(match (self.fate, policy) {
            (Fate::Lives, _) | (_, Policy::Bypass) => Answer::Passes,
            _ => Answer::Fails,
        })
    }

    /// The expected outcome of the neighbour's later requests.
    pub fn answer_to_neighbour(&self, policy: Policy) -> Answer {
        match (self.fate, policy) {
            _ if self.apart => Answer::Passes,
            (Fate::Breaks | Fate::Loops, Policy::Refuse) | (Fate::Loops, Policy::Restart) => {
                Answer::Fails
            }
            _ => Answer::Passes,
        }
    }

    const fn new(by: Attacker) -> Self {
        Self {
            by,
            config: "",
            grant: "",
            limits: "",
            accomplice: false,
            script: &[PROMPT],
            fate: Fate::Lives,
            answer: None,
            apart: false,
            loses: false,
            peak: QUIET,
            report: &[],
            also: |_| {},
        }
    }

    pub const fn guest(mode: Mode) -> Self {
        Self::new(Attacker::Guest(mode))
    }

    pub const fn module(module: &'static Module) -> Self {
        Self::new(Attacker::Module(module))
    }

    pub const fn config(self, config: &'static str) -> Self {
        Self { config, ..self }
    }

    pub const fn grant(self, grant: &'static str) -> Self {
        Self { grant, ..self }
    }

    pub const fn limits(self, limits: &'static str) -> Self {
        Self { limits, ..self }
    }

    pub const fn with_accomplice(self) -> Self {
        Self {
            accomplice: true,
            ..self
        }
    }

    pub const fn script(self, script: &'static [Step]) -> Self {
        Self { script, ..self }
    }

    pub const fn fate(self, fate: Fate) -> Self {
        Self { fate, ..self }
    }

    pub const fn answer(self, answer: Answer) -> Self {
        Self {
            answer: Some(answer),
            ..self
        }
    }

    pub const fn apart(self) -> Self {
        Self {
            apart: true,
            ..self
        }
    }

    pub const fn loses(self) -> Self {
        Self {
            loses: true,
            ..self
        }
    }

    pub const fn peak(self, peak: u64) -> Self {
        Self { peak, ..self }
    }

    pub const fn report(self, report: &'static [&'static str]) -> Self {
        Self { report, ..self }
    }

    pub const fn also(self, also: fn(&Aftermath)) -> Self {
        Self { also, ..self }
    }
}

/// Defines the rows of a family, `ROWS`, and for each row a test with every policy.
macro_rules! withstands {
    ($($name:ident: $row:expr;)+) => {
        pub const ROWS: &[crate::hostile::row::NamedRow] = &[$((stringify!($name), $name::ROW)),+];

        $(mod $name {
            use super::*;
            use crate::hostile::attack::withstand;
            use crate::hostile::row::Policy;

            pub const ROW: crate::hostile::row::Row = $row;

            #[tokio::test]
            async fn and_starts_again() {
                withstand(stringify!($name), &ROW, Policy::Restart).await;
            }

            #[tokio::test]
            async fn and_is_bypassed() {
                withstand(stringify!($name), &ROW, Policy::Bypass).await;
            }

            #[tokio::test]
            async fn and_is_refused() {
                withstand(stringify!($name), &ROW, Policy::Refuse).await;
            }
        })+
    };
}

pub(crate) use withstands;
