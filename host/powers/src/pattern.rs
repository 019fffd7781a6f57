//! Patterns for the names of methods.

/// The maximum length of a method's name in a proxy, in bytes.
pub const LONGEST_METHOD: usize = 256;

/// An exact name, or a prefix ending in `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    name: String,
    prefix: bool,
}

/// Why a text is not a pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    #[error("the name of a method is empty")]
    Empty,
    /// A `*` before the end.
    #[error("a `*` is allowed only at the end of {0:?}, where it matches any suffix")]
    Star(String),
    /// A space or a control character.
    #[error("{0:?} names no method: it contains a space or a control character")]
    Space(String),
    /// A name reserved for the host.
    #[error("{0} is the host's own, and never reaches a proxy")]
    Host(String),
    /// Longer than [`LONGEST_METHOD`].
    #[error("a name of {0} bytes is too long for a method")]
    Long(usize),
}

impl Pattern {
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

    /// The name, without the `*`.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn is_prefix(&self) -> bool {
        self.prefix
    }

    /// Whether both patterns can cover the same method.
    pub fn meets(&self, other: &Self) -> bool {
        match (self.prefix, other.prefix) {
            (true, true) => {
                self.name.starts_with(&other.name) || other.name.starts_with(&self.name)
            }
            (true, false) => self.covers(&other.name),
            (false, _) => other.covers(&self.name),
        }
    }

    pub fn covers(&self, method: &str) -> bool {
        if !self.prefix {
            method == self.name
        } else if self.name.is_empty() {
            // The common case.
            true
        } else {
            method.starts_with(&self.name)
        }
    }
}

impl std::fmt::Display for Pattern {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(&self.name)?;
        f.write_str(if self.prefix { "*" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_covers_a_prefix_and_nothing_else_does() {
        let pattern = Pattern::new("_vendor/*").unwrap();
        assert!(pattern.covers("_vendor/") && pattern.covers("_vendor/ask"));
        assert!(!pattern.covers("_vendors"));
        let exact = Pattern::new("_vendor/ask").unwrap();
        assert!(exact.covers("_vendor/ask") && !exact.covers("_vendor/asked"));
    }

    #[test]
    fn two_patterns_meet_where_one_method_fits_both() {
        let meet = |one: &str, two: &str| {
            let (one, two) = (Pattern::new(one).unwrap(), Pattern::new(two).unwrap());
            assert_eq!(one.meets(&two), two.meets(&one));
            one.meets(&two)
        };
        assert!(meet("*", "a") && meet("a/*", "a/b") && meet("a/*", "a/b/*") && meet("a", "a"));
        assert!(!meet("a/*", "b/*") && !meet("a", "b") && !meet("a/*", "a"));
    }

    #[test]
    fn invalid_names_of_methods_are_rejected() {
        for (wrong, error) in [
            ("", "the name of a method is empty"),
            ("ses*ion", "a `*` is allowed only at the end of \"ses*ion\""),
            ("session prompt", "names no method"),
            ("$/cancel_request", "is the host's own"),
            ("proxy/*", "is the host's own"),
        ] {
            let message = Pattern::new(wrong).unwrap_err().to_string();
            assert!(message.contains(error), "{message}");
        }
    }
}
