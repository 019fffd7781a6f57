//! Bearer tokens of a file: a line each, `NAME sha256:HEX [GROUP …]`; `#` begins a comment.
//!
//! The file contains no secrets: a token is 256 random bits, and its hash reveals nothing of it.

use std::fmt::{self, Write};
use std::io;
use std::str::FromStr;

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use serde_with::{DeserializeFromStr, SerializeDisplay};

use super::tickets::draw;
use super::{Digest, User, digest};

/// The prefix of our tokens, so that leaked ones can be found.
const PREFIX: &str = "acp_";

/// One line of the file: the owner of a token.
#[derive(Clone, Debug, PartialEq, Eq, SerializeDisplay, DeserializeFromStr)]
pub struct Token {
    hash: Digest,
    user: User,
}

/// What is wrong with a file of tokens.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct TokensError {
    /// Counted from 1.
    pub line: usize,
    /// The expected contents.
    pub what: &'static str,
}

impl Token {
    /// A new entry for this user, and the token itself, which is kept nowhere else.
    pub fn make(name: &str, groups: Vec<String>) -> io::Result<(Self, String)> {
        let invalid = |what| io::Error::new(io::ErrorKind::InvalidInput, what);
        if !is_word(name) {
            return Err(invalid(NAME));
        }
        if !groups.iter().all(|group| is_word(group)) {
            return Err(invalid(GROUP));
        }
        let drawn = draw().map_err(|error| {
            io::Error::other(format!("the system gives no random bytes: {error}"))
        })?;
        let secret = format!("{PREFIX}{drawn}");
        let user = User {
            name: name.to_owned(),
            groups,
        };
        let hash = digest(secret.as_bytes());
        Ok((Self { hash, user }, secret))
    }

    pub fn user(&self) -> &User {
        &self.user
    }

    pub(super) fn into_entry(self) -> (Digest, User) {
        (self.hash, self.user)
    }
}

/// Reads the text of a file.
pub fn read(text: &str) -> Result<Vec<Token>, TokensError> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut hashes = std::collections::HashSet::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let wrong = |what| TokensError { line: at + 1, what };
        let token: Token = line.parse().map_err(wrong)?;
        if !hashes.insert(token.hash) {
            return Err(wrong("another line has the same token; remove one of them"));
        }
        tokens.push(token);
    }
    Ok(tokens)
}

/// Whether a bearer token is one of ours, and not a JWT.
pub(super) fn is_ours(token: &str) -> bool {
    token.starts_with(PREFIX)
}

const NAME: &str = "a name has up to 64 letters of ASCII, digits, and `.`, `_`, `@` or `-`, as in `alice@example.com`";
const GROUP: &str = "a group has up to 64 letters of ASCII, digits, and `.`, `_`, `@` or `-`";
const LINE: &str =
    "expected `NAME sha256:HEX [GROUP …]`, as `acp-chain serve-token NAME` prints it";

/// `#` is excluded: the names of other kinds of users contain one.
fn is_word(text: &str) -> bool {
    let is_part = |c: u8| c.is_ascii_alphanumeric() || b"._@-".contains(&c);
    (1..=64).contains(&text.len()) && text.bytes().all(is_part)
}

impl FromStr for Token {
    type Err = &'static str;

    fn from_str(line: &str) -> Result<Self, Self::Err> {
        let mut words = line.split_ascii_whitespace();
        let name = words.next().filter(|name| is_word(name)).ok_or(NAME)?;
        let hash = words.next().and_then(|word| word.strip_prefix("sha256:"));
        let hash = hash.and_then(|hash| HEXLOWER_PERMISSIVE.decode(hash.as_bytes()).ok());
        let hash = hash.and_then(|hash| hash.try_into().ok()).ok_or(LINE)?;
        let groups = words.map(|word| is_word(word).then(|| word.to_owned()).ok_or(GROUP));
        Ok(Self {
            hash,
            user: User {
                name: name.to_owned(),
                groups: groups.collect::<Result<_, _>>()?,
            },
        })
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let hash = HEXLOWER.encode(&self.hash);
        write!(f, "{} sha256:{hash}", self.user.name)?;
        for group in &self.user.groups {
            f.write_char(' ')?;
            f.write_str(group)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_entry_is_read_back_and_contains_no_secret() {
        let groups = vec!["staff".to_owned(), "ops".to_owned()];
        let (token, secret) = Token::make("alice@example.com", groups).unwrap();
        assert_eq!((secret.len(), &secret[..4]), (4 + 43, "acp_"));
        let line = token.to_string();
        assert!(!line.contains(&secret[4..]), "{line}");
        assert!(line.starts_with("alice@example.com sha256:") && line.ends_with(" staff ops"));
        assert_eq!(read(&format!("{line}\n")), Ok(vec![token.clone()]));
        assert_eq!(digest(secret.as_bytes()), token.hash);
        let (other, its_secret) = Token::make("alice@example.com", Vec::new()).unwrap();
        assert!(other.hash != token.hash && its_secret != secret);
    }

    #[test]
    fn comments_and_empty_lines_are_left_out() {
        let (one, _) = Token::make("one", Vec::new()).unwrap();
        let (two, _) = Token::make("two", vec!["g".to_owned()]).unwrap();
        let text = format!("# users\n\n  {one}\t# since May\r\n#{one}\n{two}");
        assert_eq!(read(&text), Ok(vec![one, two]));
        assert_eq!(read(""), Ok(Vec::new()));
    }

    #[test]
    fn an_error_names_the_line() {
        let hash = "0".repeat(64);
        for (text, line, what) in [
            (
                format!("a sha256:{hash}\nb sha256:{hash}"),
                2,
                "the same token",
            ),
            ("\nalice".to_owned(), 2, LINE),
            (format!("alice {hash}"), 1, LINE),
            (format!("alice sha256:{}", &hash[1..]), 1, LINE),
            (format!("alice sha256:{hash}0"), 1, LINE),
            (format!("alice sha256:{}g", &hash[1..]), 1, LINE),
            (format!("alice sha256:+{}", &hash[1..]), 1, LINE),
            (format!("ali/ce sha256:{hash}"), 1, NAME),
            (format!("älice sha256:{hash}"), 1, NAME),
            (format!("{} sha256:{hash}", "a".repeat(65)), 1, NAME),
            (format!("alice sha256:{hash} a,b"), 1, GROUP),
        ] {
            let wrong = read(&text).unwrap_err();
            assert!(
                wrong.line == line && wrong.what.contains(what),
                "{text}: {wrong}"
            );
        }
        for (name, group) in [
            ("", "g"),
            ("a#b", "g"),
            ("a b", "g"),
            ("a", ""),
            ("a", "g\n"),
        ] {
            let made = Token::make(name, vec![group.to_owned()]);
            assert!(made.is_err(), "{name:?} {group:?}");
        }
    }
}
