//! What a hook's client and the host exchange on one connection: a report, and the answer to it.
//!
//! The client sends a line with the token of the run, the dialect, the event and the length of the report in bytes,
//! and then the report. The host answers with a line of the exit code and the lengths of both outputs, and then these.
//! A connection has one report. This file uses only the standard library, since the client is compiled alone, too.

use std::fmt::Write as _;

/// The variables by which a client finds its host: its socket, and the token of this run.
pub const SOCKET: &str = "ACP_CHAIN_HOOK_SOCKET";
/// See [`SOCKET`].
pub const TOKEN: &str = "ACP_CHAIN_HOOK_TOKEN";

/// The longest first line of either side, in bytes.
pub const LONGEST_LINE: usize = 256;

/// The longest report, and the longest output of an answer, in bytes.
pub const LONGEST_REPORT: usize = 16 * 1024 * 1024;

/// The first line of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The token of the run.
    pub token: String,
    /// The dialect.
    pub dialect: String,
    /// The event, as the agent names it.
    pub event: String,
    /// The length of the report in bytes.
    pub length: usize,
}

/// What the hook's process writes, and its exit code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The exit code.
    pub code: u8,
    /// To its standard output.
    pub stdout: String,
    /// To its standard error.
    pub stderr: String,
}

impl Header {
    /// Reads the line, without its line break. `None` if it has other parts, or names a report that is too long.
    pub fn parse(line: &str) -> Option<Self> {
        let mut parts = line.split(' ').map(str::to_owned);
        let (token, dialect, event) = (parts.next()?, parts.next()?, parts.next()?);
        let length = parts.next()?.parse().ok()?;
        (parts.next().is_none() && length <= LONGEST_REPORT).then_some(Self {
            token,
            dialect,
            event,
            length,
        })
    }

    /// The line, with its line break.
    pub fn line(&self) -> String {
        let Self {
            token,
            dialect,
            event,
            length,
        } = self;
        format!("{token} {dialect} {event} {length}\n")
    }
}

impl Answer {
    /// The bytes that the host sends.
    pub fn encode(&self) -> String {
        let (stdout, stderr) = (&self.stdout, &self.stderr);
        let mut bytes = format!("{} {} {}\n", self.code, stdout.len(), stderr.len());
        let _ = write!(bytes, "{stdout}{stderr}");
        bytes
    }

    /// Reads these bytes. `None` if they are cut or odd: nothing of them counts then.
    pub fn decode(bytes: &str) -> Option<Self> {
        let (line, rest) = bytes.split_once('\n')?;
        let mut numbers = line.split(' ');
        let code = numbers.next()?.parse().ok()?;
        let stdout: usize = numbers.next()?.parse().ok()?;
        let stderr: usize = numbers.next()?.parse().ok()?;
        let (out, err) = rest.split_at_checked(stdout)?;
        (numbers.next().is_none() && err.len() == stderr).then(|| Self {
            code,
            stdout: out.to_owned(),
            stderr: err.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_first_line_with_other_parts_is_no_report() {
        let header = Header {
            token: "t".to_owned(),
            dialect: "pi".to_owned(),
            event: "before_tool".to_owned(),
            length: 3,
        };
        assert_eq!(header.line(), "t pi before_tool 3\n");
        assert_eq!(Header::parse("t pi before_tool 3"), Some(header));
        for line in [
            "",
            "t pi before_tool",
            "t pi before_tool x",
            "t pi before_tool 3 4",
            "t pi before_tool 16777217",
        ] {
            assert_eq!(Header::parse(line), None, "{line:?}");
        }
    }

    proptest! {
        /// An answer arrives whole, or not at all.
        #[test]
        fn an_answer_that_is_cut_is_none(code: u8, stdout in ".{0,20}", stderr in ".{0,20}", cut in 0_usize..60) {
            let answer = Answer { code, stdout, stderr };
            let bytes = answer.encode();
            prop_assert_eq!(Answer::decode(&bytes), Some(answer));
            if cut < bytes.len() && bytes.is_char_boundary(cut) {
                prop_assert_eq!(Answer::decode(&bytes[..cut]), None);
            }
        }
    }
}
