//! The agent of all measurements: it answers at once, and streams as requested.
//!
//! A prompt begins with `ping`, which only ends the turn, or with `burst COUNT SIZE`, which first streams COUNT chunks
//! with a text of SIZE bytes. With `hook PLACE`, it first starts a [process](crate::hooks::STARTS) of its hooks, and
//! its answer has the time that it took.
//!
//! If [`PROMPTS`] names a file, a line is appended for each prompt, and the names of sessions are unique.

use std::env;
use std::fs::{File, OpenOptions};
use std::io::{Read, Result, Write};
use std::process;
use std::time::{SystemTime, UNIX_EPOCH};

use memchr::memmem;
use serde_json::json;

use crate::hooks::Hooks;
use crate::lines::Lines;

/// The variable with a file. A line of it has the agent's process, the session, and the fourth word of a prompt.
pub const PROMPTS: &str = "ACP_CHAIN_BENCH_PROMPTS";

/// How many bytes of small messages are written at once.
const WRITE: usize = 64 * 1024;

/// The filling of chunks: words, as streamed by agents.
const WORDS: &[u8] = b"the quick brown fox jumps over the lazy dog and ";

/// Serves one client until its stream ends.
///
/// # Errors
/// If the client cannot be read or written to.
pub fn serve(input: impl Read, mut output: impl Write) -> Result<()> {
    let mut lines = Lines::new(input);
    let (mut sessions, mut hooks) = (0, Hooks::default());
    let mut log = log()?;
    let unique = if log.is_some() {
        unique()
    } else {
        String::new()
    };
    while let Some(line) = lines.next_line()? {
        let Some((method, id)) = text(line, b"\"method\":\"").zip(id(line)) else {
            continue;
        };
        let result = match method {
            b"initialize" => r#"{"protocolVersion":1,"agentCapabilities":{}}"#.to_owned(),
            b"session/new" => {
                sessions += 1;
                let session = format!("session-{unique}{sessions}");
                hooks.begin(line, &session)?;
                format!(r#"{{"sessionId":"{session}"}}"#)
            }
            b"session/prompt" => {
                if let Some(log) = &mut log {
                    note(line, log)?;
                }
                prompt(line, &mut hooks, &mut output)?
            }
            _ => "{}".to_owned(),
        };
        let id = String::from_utf8_lossy(id);
        let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n");
        output.write_all(answer.as_bytes())?;
    }
    Ok(())
}

fn log() -> Result<Option<File>> {
    let path = env::var_os(PROMPTS);
    let open = |path| OpenOptions::new().create(true).append(true).open(path);
    path.map(open).transpose()
}

/// What no other process has.
fn unique() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    format!(
        "{}-{}-",
        process::id(),
        since.unwrap_or_default().as_millis()
    )
}

/// Appends a line about a prompt, at once: others write to the file as well.
fn note(line: &[u8], log: &mut File) -> Result<()> {
    let session = String::from_utf8_lossy(text(line, b"\"sessionId\":\"").unwrap_or_default());
    let asked = text(line, b"\"text\":\"").unwrap_or_default();
    let asked = String::from_utf8_lossy(&asked[..asked.len().min(64)]);
    let word = asked.split(' ').nth(3).unwrap_or_default();
    log.write_all(format!("{} {session} {word}\n", process::id()).as_bytes())
}

/// This many bytes of words.
#[must_use]
pub fn words(size: usize) -> Vec<u8> {
    WORDS.iter().copied().cycle().take(size).collect()
}

/// Handles a prompt. Returns its answer.
fn prompt(line: &[u8], hooks: &mut Hooks, output: &mut impl Write) -> Result<String> {
    let asked = text(line, b"\"text\":\"").unwrap_or_default();
    let asked = String::from_utf8_lossy(&asked[..asked.len().min(64)]);
    let mut words = asked.split(' ');
    let what = words.next();
    let mut number = || words.next().and_then(|number| number.parse().ok());
    match (what, number(), number()) {
        (Some("burst"), Some(count), Some(size)) => burst(line, count, size, output)?,
        (Some("hook"), Some(place), None) => {
            let took = hooks.start(place)?;
            return Ok(json!({ "stopReason": "end_turn", "_meta": { "ms": took } }).to_string());
        }
        _ => {}
    }
    Ok(r#"{"stopReason":"end_turn"}"#.to_owned())
}

fn burst(line: &[u8], mut count: usize, size: usize, output: &mut impl Write) -> Result<()> {
    let session = text(line, b"\"sessionId\":\"").unwrap_or_default();
    let update = update(session, size);
    let at_once = (WRITE / update.len()).clamp(1, usize::max(count, 1));
    let many = update.repeat(at_once);
    while count > 0 {
        let now = count.min(at_once);
        output.write_all(&many[..now * update.len()])?;
        count -= now;
    }
    Ok(())
}

fn update(session: &[u8], size: usize) -> Vec<u8> {
    let head = br#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":""#;
    let middle =
        br#"","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""#;
    let words = words(size);
    [&head[..], session, middle, &words, b"\"}}}}\n"].concat()
}

/// The text after `behind`, up to the next quote. It has no escapes.
fn text<'l>(line: &'l [u8], behind: &[u8]) -> Option<&'l [u8]> {
    let rest = &line[memmem::find(line, behind)? + behind.len()..];
    Some(&rest[..memchr::memchr(b'"', rest)?])
}

/// The id of a request, as spelt.
fn id(line: &[u8]) -> Option<&[u8]> {
    let name = b"\"id\":";
    let rest = &line[memmem::find(line, name)? + name.len()..];
    let end = match rest.first()? {
        b'"' => memchr::memchr(b'"', &rest[1..])? + 2,
        _ => rest.iter().position(|byte| b",}".contains(byte))?,
    };
    Some(&rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_streams_what_it_is_told_and_answers() {
        let asked = br#"{"jsonrpc":"2.0","id":"a-1","method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"burst 700 100"}]}}
{"method":"session/new","params":{},"jsonrpc":"2.0","id":7}
"#;
        let mut said = Vec::new();
        serve(&asked[..], &mut said).unwrap();
        let said = String::from_utf8(said).unwrap();
        let lines: Vec<_> = said.lines().collect();
        assert_eq!(lines.len(), 702);
        assert!(lines[..700].iter().all(|line| {
            let update: serde_json::Value = serde_json::from_str(line).unwrap();
            let text = update["params"]["update"]["content"]["text"].as_str();
            update["params"]["sessionId"] == "s" && text.is_some_and(|text| text.len() == 100)
        }));
        assert_eq!(
            lines[700..],
            [
                r#"{"jsonrpc":"2.0","id":"a-1","result":{"stopReason":"end_turn"}}"#,
                r#"{"jsonrpc":"2.0","id":7,"result":{"sessionId":"session-1"}}"#
            ]
        );
    }
}
