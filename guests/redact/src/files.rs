//! Files that the agent has read through the client, with markers, and the withheld secrets: a secret is restored when
//! the agent writes the file back.
//!
//! A secret is restored only in the file from which it was read in the same session, by the same path, and only where
//! it is clear which of the file's secrets belongs there. The stored amount is bounded. Secrets are never saved, so a
//! restart loses them.

pub(crate) mod markers;
mod restore;

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};

use acp_chain_proxy::{Head, MessageId};
use acp_chain_secrets::RedactedText;

use markers::markers;
pub(crate) use restore::UnclearMarker;

/// How many bytes are stored of one file, and of all of them. The least recently used is evicted first.
const MOST_OF_ONE: usize = 1024 * 1024;
const MOST: usize = 4 * 1024 * 1024;
/// How many unanswered reads are remembered.
const MOST_READS: usize = 1024;

/// A session, and a path in the agent's spelling.
type Name = (String, String);

#[derive(Default)]
pub(crate) struct Files {
    reads: RefCell<BTreeMap<MessageId, FileRead>>,
    /// The most recently used is last.
    known: RefCell<VecDeque<(Name, File)>>,
}

struct FileRead {
    name: Name,
    /// Whether it begins with the file's first line.
    first: bool,
    /// The most lines that the agent gets.
    limit: Option<u64>,
}

impl FileRead {
    /// Whether this is all of the file.
    fn is_whole(&self, content: &str) -> bool {
        let lines = content.lines().count() as u64;
        self.first && self.limit.is_none_or(|limit| lines < limit)
    }
}

/// A file as the agent received it.
#[derive(Default)]
struct File {
    /// Whether the agent has read all of it.
    whole: bool,
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
        let first = head.read::<u64>("/line").is_none_or(|line| line <= 1);
        let limit = head.read("/limit");
        let mut reads = self.reads.borrow_mut();
        if reads.len() == MOST_READS {
            // A cancelled read may never be answered, so the oldest is evicted.
            reads.pop_first();
        }
        let name = (session.to_owned(), path);
        reads.insert(head.id, FileRead { name, first, limit });
    }

    /// The agent receives this text; `redacted` has the withheld secrets.
    pub(crate) fn on_content(&self, id: MessageId, content: &str, redacted: Option<&RedactedText>) {
        let Some(read) = self.reads.borrow_mut().remove(&id) else {
            return;
        };
        let whole = read.is_whole(content);
        let file = File::of(content, redacted, whole);
        let known = self.take(&read.name);
        let file = match known.filter(|_| !whole) {
            Some(known) => file.map(|file| known.and(file)),
            None => file,
        };
        self.put(read.name, file);
    }

    /// The read failed.
    pub(crate) fn on_no_content(&self, id: MessageId) {
        self.reads.borrow_mut().remove(&id);
    }

    /// The text to write in place of one with markers, if it differs. `is_given` says whether the agent received a
    /// marker from this proxy.
    ///
    /// The stored file is not updated: the write may fail, or be undone, and then the file still has a secret that the
    /// text left out.
    pub(crate) fn on_write(
        &self,
        session: &str,
        path: &str,
        text: &str,
        is_given: impl Fn(&str) -> bool,
    ) -> Result<Option<String>, UnclearMarker> {
        let name = (session.to_owned(), path.to_owned());
        let known = self.take(&name);
        let secrets = restore::secrets(known.as_ref(), text, is_given);
        self.put(name, known);
        let restored = restore::with(text, &secrets?);
        Ok((restored != text).then_some(restored))
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
    fn of(content: &str, redacted: Option<&RedactedText>, whole: bool) -> Option<Self> {
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
            whole,
            text: text.to_owned(),
            secrets,
        };
        places.next().is_none().then_some(file)
    }

    /// Merges it with another part, if neither contains the other.
    fn and(mut self, part: Self) -> Self {
        if self.has(&part) {
            return self;
        }
        if part.has(&self) {
            return part;
        }
        self.whole = false;
        self.text.push('\n');
        self.text.push_str(&part.text);
        self.secrets.extend(part.secrets);
        self
    }

    /// Whether the text of a part is in it, with the same secrets.
    fn has(&self, part: &Self) -> bool {
        let (mut markers, mut before) = (markers(&self.text).peekable(), 0);
        let mut found = self.text.match_indices(&*part.text);
        found.any(|(at, _)| {
            while markers.next_if(|marker| marker.end <= at).is_some() {
                before += 1;
            }
            self.secrets[before..].starts_with(&part.secrets)
        })
    }

    fn size(&self) -> usize {
        let secrets = self.secrets.iter();
        self.text.len() + secrets.map(|secret| secret.len() + 32).sum::<usize>()
    }
}

#[cfg(test)]
mod tests;
