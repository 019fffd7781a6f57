//! A command line in an agent's tool call.

#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// For a shell.
    Text(String),
    /// A program and its arguments.
    List(Vec<String>),
}

impl Line {
    pub fn texts(&self) -> &[String] {
        match self {
            Self::Text(text) => std::slice::from_ref(text),
            Self::List(words) => words,
        }
    }

    /// Its approximate size, in bytes.
    pub fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::List(words) => words.iter().map(|word| word.len() + 32).sum(),
        }
    }
}
