//! Whether a promise holds.

/// What was seen of a promise that holds, or why it does not.
pub type Verdict = Result<String, Reason>;

/// Why a promise does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is broken.
    Broken(String),
    /// This system cannot keep it, as the book says.
    NotHere(String),
}

impl From<String> for Reason {
    fn from(why: String) -> Self {
        Self::Broken(why)
    }
}

impl From<&str> for Reason {
    fn from(why: &str) -> Self {
        Self::Broken(why.to_owned())
    }
}

/// Broken, unless this is so.
pub fn ensure(is_so: bool, why: impl FnOnce() -> String) -> Result<(), Reason> {
    if is_so {
        Ok(())
    } else {
        Err(Reason::Broken(why()))
    }
}
