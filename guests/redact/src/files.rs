//! Files that the agent has read through the client, as it got them, and the secrets that were withheld from it: so
//! that a secret is restored when the agent writes the file back.
//!
//! A secret is restored only in the file from which it was read in the same session, by the same path, and only where
//! it is clear which of the file's secrets belongs there. The stored amount is bounded, and lost with the instance: it
//! is never saved.

mod markers;
mod restore;

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};

use acp_chain_proxy::{Head, MessageId};
use acp_chain_secrets::Redacted;

use markers::markers;
pub(crate) use restore::Unclear;

/// How many bytes are stored of one file, and of all of them. The least recently used is evicted first.
const MOST_OF_ONE: usize = 1024 * 1024;
const MOST: usize = 4 * 1024 * 1024;
/// How many unanswered reads are remembered.
const MOST_READS: usize = 1024;

/// A session, and a path in the agent's spelling.
type Name = (String, String);

#[derive(Default)]
pub(crate) struct Files {
    reads: RefCell<BTreeMap<MessageId, Read>>,
    /// The most recently used is last.
    known: RefCell<VecDeque<(Name, File)>>,
}

struct Read {
    name: Name,
    /// Not all of the file.
    part: bool,
}

/// A file as the agent has it.
#[derive(Default)]
struct File {
    text: String,
    /// The secrets of its markers, in order; for a marker from the file itself, that marker.
    secrets: Vec<String>,
}

impl Files {
    /// The agent requests a file.
    pub(crate) fn on_read(&self, session: &str, head: &Head) {
        let Some(path) = head.read("/path") else {
            return;
        };
        let part = ["/line", "/limit"]
            .into_iter()
            .any(|place| head.read::<u64>(place).is_some());
        let mut reads = self.reads.borrow_mut();
        if reads.len() == MOST_READS {
            // A cancelled one is never answered.
            reads.pop_first();
        }
        let name = (session.to_owned(), path);
        reads.insert(head.id, Read { name, part });
    }

    /// The agent gets this text, from which something was withheld.
    pub(crate) fn on_content(&self, id: MessageId, content: &str, redacted: Option<&Redacted>) {
        let Some(Read { name, part }) = self.reads.borrow_mut().remove(&id) else {
            return;
        };
        let file = File::of(content, redacted);
        let known = self.take(&name);
        let file = match known.filter(|_| part) {
            Some(known) => file.map(|file| known.and(file)),
            None => file,
        };
        self.put(name, file);
    }

    /// The agent does not get it.
    pub(crate) fn on_no_content(&self, id: MessageId) {
        self.reads.borrow_mut().remove(&id);
    }

    /// The text to write in place of one with markers, if it differs. `is_given` tells whether the agent got this
    /// marker from here.
    pub(crate) fn on_write(
        &self,
        session: &str,
        path: &str,
        text: &str,
        is_given: impl Fn(&str) -> bool,
    ) -> Result<Option<String>, Unclear> {
        let name = (session.to_owned(), path.to_owned());
        let known = self.take(&name);
        match restore::secrets(known.as_ref(), text, is_given) {
            Ok(secrets) => {
                let restored = restore::with(text, &secrets);
                let file = File {
                    text: text.to_owned(),
                    secrets,
                };
                self.put(name, Some(file));
                Ok((restored != text).then_some(restored))
            }
            Err(unclear) => {
                self.put(name, known);
                Err(unclear)
            }
        }
    }

    fn take(&self, name: &Name) -> Option<File> {
        let mut known = self.known.borrow_mut();
        let at = known.iter().position(|(of, _)| of == name)?;
        known.remove(at).map(|(_, file)| file)
    }

    fn put(&self, name: Name, file: Option<File>) {
        let worth = |file: &File| !file.secrets.is_empty() && file.size() <= MOST_OF_ONE;
        let Some(file) = file.filter(worth) else {
            return;
        };
        let mut known = self.known.borrow_mut();
        known.push_back((name, file));
        let cost =
            |((session, path), file): &(Name, File)| session.len() + path.len() + file.size();
        let mut size: usize = known.iter().map(cost).sum();
        while size > MOST
            && let Some(oldest) = known.pop_front()
        {
            size -= cost(&oldest);
        }
    }
}

impl File {
    /// `None` if the secret of a marker is unclear.
    fn of(content: &str, redacted: Option<&Redacted>) -> Option<Self> {
        let (text, places) = match redacted {
            Some(redacted) => (&*redacted.text, &redacted.places[..]),
            None => (content, &[][..]),
        };
        let mut places = places.iter().peekable();
        let mut secrets = Vec::new();
        for marker in markers(text) {
            match places.next_if(|place| place.shown == marker) {
                Some(place) => secrets.push(content[place.hidden.clone()].to_owned()),
                None => secrets.push(text[marker].to_owned()),
            }
        }
        let file = Self {
            text: text.to_owned(),
            secrets,
        };
        places.next().is_none().then_some(file)
    }

    /// Merges it with another part.
    fn and(mut self, part: Self) -> Self {
        self.text.push('\n');
        self.text.push_str(&part.text);
        self.secrets.extend(part.secrets);
        self
    }

    fn size(&self) -> usize {
        let secrets = self.secrets.iter();
        self.text.len() + secrets.map(|secret| secret.len() + 32).sum::<usize>()
    }
}

#[cfg(test)]
mod tests;
