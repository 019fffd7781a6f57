//! Patterns for the names of methods.

/// The longest name of a method that a proxy may use, in bytes.
pub const LONGEST_METHOD: usize = 256;

/// An exact name, or a prefix ending in `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    name: String,
    prefix: bool,
}

/// Why a text is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// Nothing.
    #[error("an empty text names no method")]
    Empty,
    /// A `*` before the end.
    #[error("a `*` stands only at the end of {0:?}, for any rest")]
    Star(String),
    /// A character that is in no name.
    #[error("{0:?} names no method: there is a space or a control character in it")]
    Space(String),
    /// The host's own.
    #[error("{0} is the host's own, and never reaches a proxy")]
    Host(String),
    /// Longer than any name.
    #[error("a name of {0} bytes is longer than that of any method")]
    Long(usize),
    /// Only subtractions.
    #[error("{0:?} takes away what nothing before it gives; put \"*\" before it")]
    Nothing(String),
}

impl Pattern {
    /// Reads a pattern.
    pub fn new(text: &str) -> Result<Self, PatternError> {
        if text.len() > LONGEST_METHOD {
            return Err(PatternError::Long(text.len()));
        }
        let name = text.strip_suffix('*').unwrap_or(text);
        if text.is_empty() {
            return Err(PatternError::Empty);
        }
        if name.contains('*') {
            return Err(PatternError::Star(text.to_owned()));
        }
        if name.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(PatternError::Space(text.to_owned()));
        }
        if name.starts_with("$/") || name.starts_with("proxy/") {
            return Err(PatternError::Host(text.to_owned()));
        }
        Ok(Self {
            name: name.to_owned(),
            prefix: name.len() < text.len(),
        })
    }

    /// Whether it covers a method.
    #[must_use]
    pub fn covers(&self, method: &str) -> bool {
        match self.prefix {
            // As most are.
            true if self.name.is_empty() => true,
            true => method.starts_with(&self.name),
            false => method == self.name,
        }
    }
}

impl std::fmt::Display for Pattern {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(&self.name)?;
        f.write_str(if self.prefix { "*" } else { "" })
    }
}

/// A set of methods: those that one pattern covers and no `!` pattern takes away.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Methods {
    given: Vec<Pattern>,
    taken: Vec<Pattern>,
}

impl Methods {
    /// Reads a list of patterns; with a leading `!` they take away.
    pub fn new(patterns: &[impl AsRef<str>]) -> Result<Self, PatternError> {
        let mut methods = Self::default();
        for text in patterns.iter().map(AsRef::as_ref) {
            match text.strip_prefix('!') {
                None => methods.given.push(Pattern::new(text)?),
                Some(_) if methods.given.is_empty() => {
                    return Err(PatternError::Nothing(text.to_owned()));
                }
                Some(taken) => methods.taken.push(Pattern::new(taken)?),
            }
        }
        Ok(methods)
    }

    /// Whether a method is one of them.
    #[must_use]
    pub fn contain(&self, method: &str) -> bool {
        self.given.iter().any(|pattern| pattern.covers(method))
            && !self.taken.iter().any(|pattern| pattern.covers(method))
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.given.is_empty()
    }

    /// What gives methods, and what takes some of them away again.
    #[must_use]
    pub fn patterns(&self) -> (&[Pattern], &[Pattern]) {
        (&self.given, &self.taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_covers_a_prefix_and_a_bang_takes_away() {
        let methods = Methods::new(&["session/*", "initialize", "!session/request_*"]).unwrap();
        for (method, contained) in [
            ("session/prompt", true),
            ("session/", true),
            ("sessions", false),
            ("initialize", true),
            ("initialize2", false),
            ("session/request_permission", false),
        ] {
            assert_eq!(methods.contain(method), contained, "{method}");
        }
        let none: [&str; 0] = [];
        assert!(!Methods::new(&none).unwrap().contain(""));
    }

    #[test]
    fn what_no_method_can_be_called_is_no_pattern() {
        for (wrong, error) in [
            ("", "an empty text names no method"),
            ("ses*ion", "a `*` stands only at the end of \"ses*ion\""),
            ("session prompt", "names no method"),
            ("$/cancel_request", "is the host's own"),
            ("proxy/*", "is the host's own"),
            ("!session/prompt", "takes away what nothing before it gives"),
        ] {
            let told = Methods::new(&[wrong]).unwrap_err().to_string();
            assert!(told.contains(error), "{told}");
        }
    }
}
