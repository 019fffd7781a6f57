//! A command line in an agent's tool call.

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Line {
    /// For a shell.
    Text(String),
    /// A program and its arguments.
    List(Vec<String>),
}

impl Line {
    /// Its approximate size, in bytes.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::List(words) => words.iter().map(|word| word.len() + 32).sum(),
        }
    }
}
