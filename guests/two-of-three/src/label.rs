//! The labels of a session, and where each came from.
//!
//! Invariant: a label stays, with its first source, until the user clears it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The longest source that is kept, in characters.
const LONGEST: usize = 160;

/// One of three properties that no session has together without the user's yes ("Agents Rule of Two", 2025).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Label {
    /// Text from where anybody can write.
    A,
    /// Secrets, or private places.
    B,
    /// Acts outside.
    C,
}

impl Label {
    pub(crate) const ALL: [Self; 3] = [Self::A, Self::B, Self::C];

    pub(crate) fn name(self) -> &'static str {
        ["A", "B", "C"][self as usize]
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|label| label.name() == name)
    }

    fn meaning(self) -> &'static str {
        [
            "text from outside",
            "secrets or private places",
            "acts outside",
        ][self as usize]
    }
}

/// Labels, each with its source.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct Labels([Option<String>; 3]);

impl Labels {
    pub(crate) fn of(labels: &[Label], source: &str) -> Self {
        let mut own = Self::default();
        own.add(labels, source);
        own
    }

    pub(crate) fn has(&self, label: Label) -> bool {
        self.0[label as usize].is_some()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    pub(crate) fn are_three(&self) -> bool {
        self.0.iter().all(Option::is_some)
    }

    pub(crate) fn add(&mut self, labels: &[Label], source: &str) {
        for label in labels {
            let place = &mut self.0[*label as usize];
            if place.is_none() {
                *place = Some(source.chars().take(LONGEST).collect());
            }
        }
    }

    pub(crate) fn join(&mut self, others: &Self) {
        for label in Label::ALL {
            if let Some(source) = &others.0[label as usize] {
                self.add(&[label], source);
            }
        }
    }

    pub(crate) fn clear(&mut self, labels: &[Label]) {
        for label in labels {
            self.0[*label as usize] = None;
        }
    }

    /// Those that these others do not have.
    pub(crate) fn without(&self, others: &Self) -> Self {
        let mut left = self.clone();
        for label in Label::ALL {
            if others.has(label) {
                left.clear(&[label]);
            }
        }
        left
    }

    /// What each is, and where it came from.
    pub(crate) fn sources(&self) -> String {
        let sources = Label::ALL.into_iter().filter_map(|label| {
            let source = self.0[label as usize].as_ref()?;
            let (name, meaning) = (label.name(), label.meaning());
            Some(format!("{name} ({meaning}) from {source}"))
        });
        sources.collect::<Vec<_>>().join("; ")
    }
}

/// The form in notices: `[A·B]`.
impl fmt::Display for Labels {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = Label::ALL.into_iter().filter(|label| self.has(*label));
        let names: Vec<_> = held.map(Label::name).collect();
        match &names[..] {
            [] => formatter.write_str("[no label]"),
            names => write!(formatter, "[{}]", names.join("·")),
        }
    }
}
