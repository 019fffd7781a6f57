//! Names given by operators: a node, and the path of the endpoint.

use std::fmt;
use std::str::FromStr;

use hyper::http::uri::PathAndQuery;

/// The longest name of a node, in bytes: with 128 random bits, an id is no longer than some proxies accept.
const LONGEST: usize = 64;

/// A replica, by the name that prefixes the ids of its connections. A dot ends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node(String);

/// The path at which clients are served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint(String);

/// Why a name cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
pub enum NameError {
    /// The text is not a node's name.
    #[error("a node's name has 1 to {LONGEST} letters, digits and `-`")]
    Node,
    /// The text is not a path.
    #[error("a path begins with `/`, has no query, and is neither /healthz nor /readyz")]
    Endpoint,
    /// The system provides no random bytes.
    #[error("the system gives no random bytes: {0}")]
    NoRandom(getrandom::Error),
}

impl Node {
    /// A random name, practically unique.
    pub fn random() -> Result<Self, NameError> {
        let random = getrandom::u32().map_err(NameError::NoRandom)?;
        Ok(Self(format!("{random:08x}")))
    }
}

impl Default for Endpoint {
    fn default() -> Self {
        Self("/acp".to_owned())
    }
}

impl Endpoint {
    /// Whether `path` is this endpoint. It may have a slash more, as with some clients.
    pub fn is_at(&self, path: &str) -> bool {
        self.0 == path || path.strip_suffix('/') == Some(&*self.0)
    }

    /// Whether `path` is this endpoint followed by `behind`.
    pub fn is_under(&self, path: &str, behind: &str) -> bool {
        path.strip_prefix(self.0.trim_end_matches('/')) == Some(behind)
    }
}

impl FromStr for Node {
    type Err = NameError;

    fn from_str(name: &str) -> Result<Self, NameError> {
        let is_fine = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        if (1..=LONGEST).contains(&name.len()) && name.chars().all(is_fine) {
            Ok(Self(name.to_owned()))
        } else {
            Err(NameError::Node)
        }
    }
}

impl FromStr for Endpoint {
    type Err = NameError;

    fn from_str(path: &str) -> Result<Self, NameError> {
        let parsed: Option<PathAndQuery> = path.parse().ok();
        let is_path = parsed.is_some_and(|parsed| parsed.path() == path) && path.starts_with('/');
        if is_path && !["/healthz", "/readyz"].contains(&path) {
            Ok(Self(path.to_owned()))
        } else {
            Err(NameError::Endpoint)
        }
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl PartialEq<str> for Endpoint {
    fn eq(&self, path: &str) -> bool {
        self.0 == path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_balancers_and_clients_can_send() {
        for good in ["a", "node-1", "0a1b2c3d"] {
            assert_eq!(good.parse::<Node>().unwrap().to_string(), good);
        }
        for bad in ["", "a.b", "a b", "a/b", "é", &"a".repeat(65)] {
            assert!(bad.parse::<Node>().is_err(), "{bad}");
        }
        for good in ["/", "/acp", "/a/b-c"] {
            assert_eq!(good.parse::<Endpoint>().unwrap(), *good);
        }
        for bad in ["", "acp", "/a?b", "/a b", "/healthz", "*"] {
            assert!(bad.parse::<Endpoint>().is_err(), "{bad}");
        }
        assert!(Endpoint::default().to_string().parse::<Endpoint>().is_ok());
        for (path, is_at) in [
            ("/acp", true),
            ("/acp/", true),
            ("/acp//", false),
            ("/", false),
        ] {
            assert_eq!(Endpoint::default().is_at(path), is_at, "{path}");
        }
        assert!(Node::random().unwrap().to_string().parse::<Node>().is_ok());
    }
}
