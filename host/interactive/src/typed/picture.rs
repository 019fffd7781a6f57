//! What the chain did with messages, for an interactive user: kept in memory, bodies included.

use std::io;
use std::sync::Arc;

use acp_chain_picture::{Leg, legs};
use acp_chain_rpc::Mutex;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_secrets::masked;
use acp_chain_trace::{Decision, Line, Sink};

use crate::Screen;
use acp_chain_app::Error;
use acp_chain_app::trace::{self, TraceTarget};
use acp_chain_conductor::trace::{Flush, Trace};

/// The width of the picture without a terminal, in columns.
const WIDTH: usize = 110;

/// How many bytes of messages are kept for one picture.
const LONGEST: usize = 128 << 20;

/// The messages of a trace.
pub struct Picture {
    screen: &'static dyn Screen,
    written: Flush,
    seen: Arc<Mutex<TraceText>>,
}

/// Messages since the last picture, as lines of a trace.
#[derive(Default)]
struct TraceText {
    lines: String,
    left_out: u64,
    /// What proxies failed on, and why; the first of them.
    failures: Vec<String>,
}

/// How many failures of a turn are shown.
const MOST_FAILURES: usize = 8;

struct Memory(Arc<Mutex<TraceText>>);

impl Picture {
    /// Starts a trace, also into a file if one is wanted, and its picture; errors go to the screen.
    pub fn begin(
        target: Option<&TraceTarget>,
        screen: &'static dyn Screen,
    ) -> Result<(Trace, Self), Error> {
        let seen = Arc::new(Mutex::default());
        let trace = trace::open(target)?.unwrap_or_default();
        let trace = trace.to(Memory(Arc::clone(&seen)));
        let written = trace.flush();
        let picture = Self {
            screen,
            written,
            seen,
        };
        Ok((trace, picture))
    }

    /// What proxies failed on since the last call, a line each.
    pub fn take_failures(&mut self) -> Vec<String> {
        self.written.wait();
        std::mem::take(&mut self.seen.lock().failures)
    }

    /// The messages since the last call; none if they cannot be shown, which is reported.
    pub fn take_turn(&mut self) -> Vec<Leg> {
        self.written.wait();
        let seen = std::mem::take(&mut *self.seen.lock());
        if seen.left_out > 0 {
            let (count, most) = (seen.left_out, LONGEST >> 20);
            tracing::warn!("{count} messages are not shown: they came after {most} MiB of others");
        }
        legs(&seen.lines).unwrap_or_else(|error| {
            let screen = self.screen;
            screen.tell(format_args!(
                "acp-chain: this turn cannot be shown: {error}"
            ));
            Vec::new()
        })
    }
}

impl Sink for Memory {
    fn write(&mut self, lines: &[Line]) -> io::Result<()> {
        let mut seen = self.0.lock();
        for line in lines {
            if line.crossed().is_none() {
                if seen.failures.len() < MOST_FAILURES {
                    seen.failures.extend(failure(line));
                }
                continue;
            }
            if seen.lines.len() > LONGEST {
                seen.left_out += 1;
                continue;
            }
            seen.lines.push_str(&serde_json::to_string(line)?);
            seen.lines.push('\n');
        }
        Ok(())
    }
}

/// What a proxy failed on, if the line says so.
fn failure(line: &Line) -> Option<String> {
    if !matches!(line.decision, Some(Decision::Fail)) {
        return None;
    }
    let shown = |text: Option<&str>| quote(&masked(text.unwrap_or("?")), MAX_QUOTE);
    let [proxy, method, why] = [&line.proxy, &line.method, &line.why].map(|text| text.as_deref());
    Some(format!(
        "the proxy `{}` failed on {}: {}",
        shown(proxy),
        shown(method),
        shown(why)
    ))
}

/// The maximum width of the picture.
pub fn columns() -> usize {
    crate::columns().unwrap_or(WIDTH)
}

#[cfg(test)]
mod tests {
    use acp_chain_trace::Kind;
    use serde_json::value::RawValue;

    use super::*;
    use crate::screen::Blank;

    #[test]
    fn a_message_that_cannot_be_shown_is_not_the_end() {
        let (_, mut picture) = Picture::begin(None, &Blank).unwrap();
        let mut memory = Memory(Arc::clone(&picture.seen));
        let nameless = Line {
            from: Some("agent".to_owned()),
            to: Some("client".to_owned()),
            kind: Some(Kind::Notification),
            ..Line::default()
        };
        memory.write(std::slice::from_ref(&nameless)).unwrap();
        assert!(picture.take_turn().is_empty());
        let chunk = r#"{"update":{"content":{"text":"a\ud800b"}}}"#;
        let odd = Line {
            method: Some("session/update".to_owned()),
            params: Some(RawValue::from_string(chunk.to_owned()).unwrap()),
            ..nameless
        };
        memory.write(&[odd]).unwrap();
        assert_eq!(picture.take_turn()[0].text(), "a\u{fffd}b");
    }

    #[test]
    fn what_a_proxy_failed_on_is_kept_also_where_the_message_goes_on() {
        let (_, mut picture) = Picture::begin(None, &Blank).unwrap();
        let mut memory = Memory(Arc::clone(&picture.seen));
        let failed = Line {
            proxy: Some("a".to_owned()),
            decision: Some(Decision::Fail),
            method: Some("session/prompt".to_owned()),
            why: Some("oh\u{1b} no".to_owned()),
            ..Line::default()
        };
        memory.write(&vec![failed; MOST_FAILURES + 1]).unwrap();
        let told = "the proxy `a` failed on session/prompt: oh\\u{1b} no";
        assert_eq!(picture.take_failures(), [told; MOST_FAILURES]);
        assert!(picture.take_failures().is_empty());
    }
}
