//! The batches of one end (JSON-RPC 2.0 §6), whose answers are sent together.
//!
//! The messages of a batch are routed one by one. The bytes of waiting answers are bounded: past the bound, the answers
//! that have arrived are sent, and the others follow in another line.

use std::collections::HashMap;

use super::Outbox;
use crate::{Id, Message};

/// The maximum number of bytes of answers that wait for others.
const WAIT: usize = 1024 * 1024;

type BatchId = u64;

/// The open batches of an end, and the answers that wait for others of their batch.
#[derive(Debug, Default)]
pub struct Batches {
    /// The batches of unanswered requests, by id: only the id `null` may be that of several.
    requests: HashMap<Id, Vec<BatchId>>,
    open: HashMap<BatchId, Batch>,
    /// The batch that is being received.
    current: Option<BatchId>,
    last: BatchId,
    /// The number of bytes of answers that wait for others.
    waiting: usize,
}

#[derive(Debug, Default)]
struct Batch {
    /// The number of unanswered requests.
    unanswered: usize,
    /// The line of answers so far, without its end.
    answers: Outbox,
}

impl Batches {
    /// Starts to receive a batch.
    pub fn begin(&mut self) {
        self.last += 1;
        self.open.insert(self.last, Batch::default());
        self.current = Some(self.last);
    }

    /// Notes an open request of the batch that is being received. Its id must differ from those of all other open
    /// requests, unless it is `null`: the answers to those cannot be told apart.
    pub fn opened(&mut self, id: &Id) {
        if let Some(current) = self.current
            && let Some(batch) = self.open.get_mut(&current)
        {
            batch.unanswered += 1;
            self.requests.entry(id.clone()).or_default().push(current);
        }
    }

    /// Notes that the batch is complete.
    pub fn end(&mut self, out: &mut Outbox) {
        if let Some(id) = self.current.take() {
            self.finish(id, out);
        }
    }

    /// Writes the answer to an open request at once, or with the others of its batch.
    pub fn answer(&mut self, message: &Message, id: &str, out: &mut Outbox) {
        let batch = Id::parse(id).and_then(|id| self.take(&id));
        if let Some(open) = batch.and_then(|batch| self.open.get_mut(&batch)) {
            open.unanswered -= 1;
        }
        self.join(batch, message, id, out);
    }

    /// Writes the answer to a message that has just arrived and was not opened: another open request may have its id.
    pub fn answer_at_once(&mut self, message: &Message, id: &str, out: &mut Outbox) {
        self.join(self.current, message, id, out);
    }

    /// The batch of an open request, which is answered now.
    fn take(&mut self, id: &Id) -> Option<BatchId> {
        let of_id = self.requests.get_mut(id)?;
        let batch = of_id.pop();
        if of_id.is_empty() {
            self.requests.remove(id);
        }
        batch
    }

    fn join(&mut self, batch: Option<BatchId>, message: &Message, id: &str, out: &mut Outbox) {
        let open = batch.and_then(|batch| Some((batch, self.open.get_mut(&batch)?)));
        let Some((batch, open)) = open else {
            return message.write(Some(id), out);
        };
        let before = open.answers.len();
        open.answers.push_str(if before == 0 { "[" } else { "," });
        message.write_text(Some(id), &mut open.answers);
        self.waiting += open.answers.len() - before;
        if self.waiting > WAIT {
            self.flush(batch, out);
        }
        self.finish(batch, out);
    }

    /// Whether no batch is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    fn finish(&mut self, id: BatchId, out: &mut Outbox) {
        let is_over = |batch: &Batch| batch.unanswered == 0;
        if self.current != Some(id) && self.open.get(&id).is_some_and(is_over) {
            self.flush(id, out);
            self.open.remove(&id);
        }
    }

    /// Writes the answers that have arrived.
    fn flush(&mut self, id: BatchId, out: &mut Outbox) {
        let answers = self.open.get_mut(&id).map(|batch| &mut batch.answers);
        if let Some(answers) = answers.filter(|answers| !answers.is_empty()) {
            let answers = std::mem::take(answers);
            self.waiting -= answers.len();
            out.append(answers);
            out.push_str("]\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Buf;

    use super::*;
    use crate::Error;

    #[test]
    fn a_refusal_is_of_its_own_batch_and_takes_no_answer_from_another() {
        let mut batches = Batches::default();
        let mut out = Outbox::default();
        let one = Id::parse("1").unwrap();
        let refusal = Message::error(&Error::new(-32600, "no"));
        batches.begin();
        batches.opened(&one);
        batches.opened(&Id::parse("2").unwrap());
        batches.end(&mut out);
        // The same id again, in another batch, and alone.
        batches.begin();
        batches.answer_at_once(&refusal, "1", &mut out);
        batches.end(&mut out);
        batches.answer_at_once(&refusal, "1", &mut out);
        for id in ["1", "2"] {
            batches.answer(&Message::result("0"), id, &mut out);
        }
        assert!(batches.is_empty() && batches.requests.is_empty());
        let text = out.copy_to_bytes(out.remaining());
        let refused = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"no"}}"#;
        let answers =
            r#"[{"jsonrpc":"2.0","id":1,"result":0},{"jsonrpc":"2.0","id":2,"result":0}]"#;
        let expected = format!("[{refused}]\n{refused}\n{answers}\n");
        assert_eq!(std::str::from_utf8(&text).unwrap(), expected);
    }

    #[test]
    fn each_request_of_a_batch_with_the_id_null_is_awaited() {
        let mut batches = Batches::default();
        let mut out = Outbox::default();
        batches.begin();
        batches.opened(&Id::null());
        batches.opened(&Id::null());
        batches.end(&mut out);
        batches.answer(&Message::result("0"), "null", &mut out);
        assert_eq!(out.remaining(), 0);
        batches.answer(&Message::result("1"), "null", &mut out);
        assert!(batches.is_empty() && batches.requests.is_empty());
        let text = out.copy_to_bytes(out.remaining());
        let answers =
            r#"[{"jsonrpc":"2.0","id":null,"result":0},{"jsonrpc":"2.0","id":null,"result":1}]"#;
        assert_eq!(std::str::from_utf8(&text).unwrap().trim_end(), answers);
    }

    #[test]
    fn waiting_answers_are_bounded() {
        let mut batches = Batches::default();
        let mut out = Outbox::default();
        let ids = ["1", "2", "3", "4"];
        batches.begin();
        ids.into_iter()
            .filter_map(Id::parse)
            .for_each(|id| batches.opened(&id));
        batches.end(&mut out);
        let long = Message::result(&format!("\"{}\"", "x".repeat(WAIT / 2)));
        for id in ["1", "2"] {
            assert_eq!(out.len(), 0);
            batches.answer(&long, id, &mut out);
        }
        assert!(out.len() > WAIT && batches.waiting == 0);
        for id in ["3", "4"] {
            batches.answer(&Message::result("0"), id, &mut out);
        }
        assert!(batches.is_empty() && batches.requests.is_empty());
        let text = out.copy_to_bytes(out.remaining());
        let text = std::str::from_utf8(&text).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(
            lines[1],
            r#"[{"jsonrpc":"2.0","id":3,"result":0},{"jsonrpc":"2.0","id":4,"result":0}]"#
        );
        assert!(lines.len() == 2 && lines[0].starts_with('[') && lines[0].ends_with(']'));
    }
}
