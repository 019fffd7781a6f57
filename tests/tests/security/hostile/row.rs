//! A row of the table: an attack, and what has to be left of the chain after it.

use hostile::Mode;

use crate::hostile::aftermath::Aftermath;
use crate::hostile::module::Module;

/// A row with the name of its tests, which says what it shows.
pub type NamedRow = (&'static str, Row);

/// What attacks.
#[derive(Clone, Copy)]
pub enum By {
    /// The guest in Rust.
    Guest(Mode),
    /// A module made by hand, which lies to the host as no compiler would.
    Module(&'static Module),
}

/// What the client does in the attacked session. At the end it waits for all answers.
#[derive(Clone, Copy)]
pub enum Step {
    /// It prompts.
    Prompt(&'static str),
    /// It prompts with a text of that many bytes, which the agent echoes in chunks.
    LongPrompt(usize),
    /// It waits for the answers to its prompts.
    Await,
    /// It withdraws its last prompt.
    Withdraw,
    /// It tells something that only the attacker knows: `_hostile/go`.
    Tell,
    /// The same, in no session.
    TellNobody,
    /// It tells the attacker something short, and before that the neighbour something long.
    TellBehindLong,
}

/// The text of a prompt where it does not matter.
pub const PROMPT: Step = Step::Prompt("echo attacked");

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is answered with a result.
    Passes,
    /// It is answered with an error that names the attacker.
    Fails,
    /// It is answered.
    Any,
}

/// What becomes of the attacker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It lives, and nothing comes of the attack.
    Lives,
    /// It lives, but could not decide about the message.
    Fails,
    /// It breaks, and breaks once.
    Breaks,
    /// It breaks as often as it is started again.
    Loops,
    /// It does not start, and neither does the chain, unless the user lets it be bypassed.
    NeverStarts,
}

/// What the user wants to become of it when it breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Policy {
    Restart,
    Bypass,
    Refuse,
}

impl Policy {
    /// As the manifest has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Restart => "restart",
            Self::Bypass => "bypass",
            Self::Refuse => "refuse",
        }
    }
}

/// An attack, and what has to be left.
#[derive(Clone, Copy)]
pub struct Row {
    pub by: By,
    /// The rest of its configuration, in TOML.
    pub config: &'static str,
    /// Its powers, in TOML; everything, if this is empty.
    pub grant: &'static str,
    /// What differs from the default limits, in TOML.
    pub limits: &'static str,
    /// Whether the bystander is a second attacker instead.
    pub accomplice: bool,
    pub script: &'static [Step],
    pub fate: Fate,
    /// What becomes of the last prompt, if it is not what the fate says.
    pub answer: Option<Answer>,
    /// Whether the attacker does not even see what the neighbour says.
    pub apart: bool,
    /// Whether notifications of the agent are lost about which it could not decide, unless it is bypassed.
    pub loses: bool,
    /// The most memory that the program may have, in MiB.
    pub peak: u64,
    /// What the log has to have.
    pub report: &'static [&'static str],
    /// What else has to hold.
    pub also: fn(&Aftermath),
}

/// What a chain of two proxies may take in which nothing special happens, in MiB: two instances, and what the host has of
/// its own. Pages of files are not counted, such as those of the program and of code that was compiled before.
pub const QUIET: u64 = 44;

impl Row {
    /// Whether there is a chain, with or without it.
    pub fn has_chain(&self, policy: Policy) -> bool {
        match self.fate {
            Fate::NeverStarts => policy == Policy::Bypass,
            _ => true,
        }
    }

    /// What becomes of the last prompt of the attacked session.
    pub fn answer_to_attack(&self, policy: Policy) -> Answer {
        self.answer.unwrap_or(match (self.fate, policy) {
            (Fate::Lives, _) | (_, Policy::Bypass) => Answer::Passes,
            _ => Answer::Fails,
        })
    }

    /// What becomes of what the neighbour asks from then on.
    pub fn answer_to_neighbour(&self, policy: Policy) -> Answer {
        match (self.fate, policy) {
            _ if self.apart => Answer::Passes,
            (Fate::Breaks | Fate::Loops, Policy::Refuse) | (Fate::Loops, Policy::Restart) => {
                Answer::Fails
            }
            _ => Answer::Passes,
        }
    }

    const fn new(by: By) -> Self {
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
        Self::new(By::Guest(mode))
    }

    pub const fn module(module: &'static Module) -> Self {
        Self::new(By::Module(module))
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

/// Makes the rows of a family, `ROWS`, and of each a test for every policy.
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
