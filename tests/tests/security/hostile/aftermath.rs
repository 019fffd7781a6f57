//! The state after an attack: the messages of the client and the agent, and the log.

use std::collections::HashMap;
use std::fs;

use acp_chain_tests::client::chunks;
use acp_chain_tests::envelope::Message;
use acp_chain_tests::transcript::Transcript;
use hostile::{ATTACKED, NEIGHBOUR};
use serde::Deserialize;

use crate::hostile::chain::{Folder, Turn};
use crate::hostile::row::{Answer, Attacker, Fate, Policy, Row};

/// The limit for the log, in bytes: the output that two proxies may write to it, and the host's reports.
const LOG: usize = 3 << 20;

/// The longest text in which the host reports a failure, in bytes.
const TOLD: usize = 4 << 10;

/// All messages, and the log.
pub struct Aftermath {
    /// What the client sent and received.
    pub sent: Vec<Message>,
    pub received: Vec<Message>,
    /// What the agent read and wrote.
    pub read: Vec<Message>,
    pub written: Vec<Message>,
    pub log: String,
    log_file: String,
}

#[derive(Deserialize)]
struct Error {
    code: i64,
    message: String,
}

impl Aftermath {
    /// Every line must be one message.
    pub fn read(folder: &Folder, transcript: &Transcript) -> Self {
        let parse = |line: String| {
            Message::parse(line.as_str()).unwrap_or_else(|error| panic!("{error}: {line}"))
        };
        let recorded = |path| {
            let text = fs::read_to_string(path).unwrap_or_default();
            // The last line may be cut off.
            let whole = text.rfind('\n').map_or("", |end| &text[..end]);
            whole.lines().map(|line| parse(line.to_owned())).collect()
        };
        let lines = |lines: Vec<String>| lines.into_iter().map(parse).collect();
        Self {
            sent: lines(transcript.sent("client")),
            received: lines(transcript.received("client")),
            read: recorded(folder.read()),
            written: recorded(folder.written()),
            log: fs::read_to_string(folder.log()).expect("a log"),
            log_file: folder.log().display().to_string(),
        }
    }

    /// The checks after every attack.
    pub fn assert(&self, row: &Row, policy: Policy) {
        assert_each_answered(&self.sent, &self.received);
        assert_each_answered(&self.written, &self.read);
        self.assert_log(row);
        if row.has_chain(policy) {
            assert!(!self.read.is_empty() && !self.written.is_empty());
            self.assert_neighbour(row.answer_to_neighbour(policy));
            self.assert_notices(row, policy);
        }
        for message in &self.received {
            assert_told_well(message);
        }
    }

    /// The log names the attacker, and nothing in it can be taken for something else.
    fn assert_log(&self, row: &Row) {
        let log = &self.log;
        assert!(log.len() <= LOG, "the log has {} bytes", log.len());
        let plain = |c: char| !c.is_control() || c == '\n';
        assert!(log.chars().all(plain), "{log:?}");
        let mut expected = row.report.to_vec();
        if row.fate != Fate::Lives {
            expected.push("`hostile`");
        }
        if matches!(row.fate, Fate::Breaks | Fate::Loops) && !row.accomplice {
            // The head of the message, and the last output of the proxy. Accomplices break over the messages
            // between them, and not over one message.
            expected.push(ATTACKED);
            if matches!(row.by, Attacker::Guest(_)) {
                expected.push("meets session/");
            }
        }
        for text in expected {
            assert!(log.contains(text), "{log}\nlacks {text}");
        }
    }

    /// The neighbour has its two turns, complete and in order.
    fn assert_neighbour(&self, answer: Answer) {
        let mut texts = self.texts(NEIGHBOUR);
        // The agent reports every cancellation that it receives, in any turn.
        texts.retain(|text| !text.starts_with("cancel_request "));
        if answer == Answer::Passes {
            let turns = [Turn::texts(), Turn::texts()].concat();
            assert_eq!(texts, turns);
        }
    }

    /// The client gets a notice of a proxy that broke or did not start, and one of lost messages.
    fn assert_notices(&self, row: &Row, policy: Policy) {
        const LOST: &str = "it is refused: the notification \"session/update\"";
        let notices = self.notices();
        match row.fate {
            Fate::Breaks | Fate::NeverStarts => assert_eq!(notices.len(), 1, "{notices:?}"),
            Fate::Loops => assert!(!notices.is_empty()),
            _ if row.loses && policy != Policy::Bypass => {
                let is_told = notices.len() == 1 && notices[0].contains(LOST);
                assert!(is_told, "{notices:?}");
            }
            _ => assert!(notices.is_empty(), "{notices:?}"),
        }
        for notice in notices {
            assert!(notice.contains(&self.log_file), "{notice}");
            assert!(is_plain(&notice), "{notice:?}");
        }
    }

    /// The notices in which the host reports a failure to the user.
    fn notices(&self) -> Vec<String> {
        let all = [ATTACKED, NEIGHBOUR].map(|session| self.all_texts(session));
        let mut all = all.concat();
        all.retain(|text| is_notice(text));
        all
    }

    /// The texts of the agent in a session, as the client received them.
    pub fn texts(&self, session: &str) -> Vec<String> {
        let mut texts = self.all_texts(session);
        texts.retain(|text| !is_notice(text));
        texts
    }

    fn all_texts(&self, session: &str) -> Vec<String> {
        let session = format!(r#""sessionId":"{session}""#);
        let lines = self.received.iter().map(|message| message.line.clone());
        let lines: Vec<_> = lines.filter(|line| line.contains(&session)).collect();
        chunks(&lines)
    }

    /// The messages with a method that the client received.
    pub fn told(&self, method: &str) -> Vec<&Message> {
        with_method(&self.received, method)
    }

    /// The messages with a method that the agent received.
    pub fn told_agent(&self, method: &str) -> Vec<&Message> {
        with_method(&self.read, method)
    }
}

fn with_method<'a>(messages: &'a [Message], method: &str) -> Vec<&'a Message> {
    let wanted = |message: &&Message| message.method.as_deref() == Some(method);
    messages.iter().filter(wanted).collect()
}

fn is_notice(text: &str) -> bool {
    text.contains("`hostile`") || text.contains("`hostile-too`")
}

fn is_plain(text: &str) -> bool {
    text.len() <= TOLD && text.chars().all(|c| !c.is_control() || c == '\n')
}

/// Every request has exactly one answer, and every answer a request. Ids are used once.
fn assert_each_answered(asked: &[Message], answered: &[Message]) {
    let mut open: HashMap<&str, usize> = HashMap::new();
    for request in asked.iter().filter(|message| message.is_request()) {
        open.insert(request.id.as_deref().unwrap_or_default(), 0);
    }
    for answer in answered.iter().filter(|message| message.method.is_none()) {
        let id = answer.id.as_deref().unwrap_or_default();
        let count = open.get_mut(id);
        *count.unwrap_or_else(|| panic!("an answer to no request: {}", answer.line)) += 1;
    }
    open.retain(|_, count| *count != 1);
    assert!(open.is_empty(), "requests and their answers: {open:?}");
}

/// Checks the answer to a request; an error must name the attacker.
pub fn assert_answer(message: &Message, expected: Answer) {
    let line = &message.line;
    match expected {
        Answer::Any => {}
        Answer::Passes => assert!(message.result.is_some(), "{line}"),
        Answer::Fails => {
            let error = message.error.as_deref().expect(line);
            let Error { code, message } = serde_json::from_str(error).expect("an error");
            assert_eq!(code, -32603, "{line}");
            let named = message.starts_with("acp-chain: the proxy `hostile");
            assert!(named, "{line}");
        }
    }
}

/// The errors of the host are short, and have no effect on a terminal.
fn assert_told_well(message: &Message) {
    let error = message.error.as_deref();
    if let Some(Ok(error)) = error.map(serde_json::from_str::<Error>)
        && error.message.starts_with("acp-chain: ")
    {
        assert!(is_plain(&error.message), "{:?}", error.message);
    }
}
