//! Reads files through the client: the requested ones, and optionally those that they refer to, several concurrently,
//! in a fixed order, and within bounds.

use std::cell::RefCell;
use std::collections::{HashSet, VecDeque};

use acp_chain_proxy::Peer;
use futures_util::StreamExt;
use futures_util::stream::FuturesOrdered;
use serde_json::json;

use crate::language::Language;
use crate::project::Project;
use crate::references::{self, Reference};

/// The maximum number of concurrent requests.
const AT_ONCE: usize = 8;
/// The maximum number of requests of a call.
const MOST_REQUESTS: usize = 400;
/// The maximum number of files read by a call.
const MOST_FILES: usize = 150;
/// The maximum amount of text read by a call, in bytes.
const MOST_BYTES: usize = 4 * 1024 * 1024;
/// The maximum length of a file, in bytes.
const LONGEST_FILE: usize = 512 * 1024;
/// The maximum number of lines of a file requested from the client.
const MOST_LINES: u32 = 20_000;
/// The maximum number of unreadable files listed in a result.
const MOST_UNREAD: usize = 30;

/// A file that has been read.
pub(crate) struct File {
    pub(crate) name: String,
    pub(crate) language: Option<Language>,
    pub(crate) text: String,
}

/// The outcome of reading.
#[derive(Default)]
pub(crate) struct Outcome {
    /// The number of files read.
    pub(crate) read: usize,
    /// Unreadable files, with the reasons.
    pub(crate) unread: Vec<String>,
    /// Why reading stopped early.
    pub(crate) stopped: Option<&'static str>,
}

/// A file to be read.
struct QueuedFile {
    reference: Reference,
    /// The file that refers to it.
    by: Option<String>,
}

/// The result of trying the names of a wanted file.
enum LookupResult {
    File(String, String),
    /// It has been read already.
    Before,
    Nothing(String),
}

pub(crate) struct Walk<'a> {
    project: &'a Project,
    session: &'a str,
    /// The names already tried.
    tried: RefCell<HashSet<String>>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(project: &'a Project, session: &'a str) -> Self {
        Self {
            project,
            session,
            tried: RefCell::default(),
        }
    }

    /// Reads these files, and optionally their references, recursively. Each file is passed to `visit`, which may end
    /// the reading with a reason.
    pub(crate) async fn read(
        &self,
        start: Vec<Reference>,
        follow: bool,
        mut visit: impl FnMut(&File, usize) -> Option<&'static str>,
    ) -> Outcome {
        let mut outcome = Outcome::default();
        let mut bytes = 0;
        let wanted = |reference| QueuedFile {
            reference,
            by: None,
        };
        let mut queue: VecDeque<_> = start.into_iter().map(wanted).collect();
        let mut reading = FuturesOrdered::new();
        loop {
            if !queue.is_empty() && self.tried.borrow().len() >= MOST_REQUESTS {
                outcome.stopped = Some("the limit of names per call is reached");
                return outcome;
            }
            while reading.len() < AT_ONCE
                && let Some(wanted) = queue.pop_front()
            {
                reading.push_back(self.find(wanted));
            }
            let Some((wanted, found)) = reading.next().await else {
                return outcome;
            };
            let (name, text) = match found {
                LookupResult::File(name, text) => (name, text),
                LookupResult::Before => continue,
                LookupResult::Nothing(why) => {
                    outcome.miss(wanted, &why);
                    continue;
                }
            };
            outcome.read += 1;
            bytes += text.len();
            let file = File {
                language: Language::of(&name),
                name,
                text,
            };
            outcome.stopped = visit(&file, outcome.read);
            if outcome.read >= MOST_FILES || bytes >= MOST_BYTES {
                outcome.stopped = Some("the limit of files or bytes per call is reached");
            }
            if outcome.stopped.is_some() {
                return outcome;
            }
            if follow && let Some(language) = file.language {
                let mut references = references::references(&file.name, language, &file.text);
                references.truncate(MOST_REQUESTS.saturating_sub(queue.len()));
                queue.extend(references.into_iter().map(|reference| QueuedFile {
                    reference,
                    by: Some(file.name.clone()),
                }));
            }
        }
    }

    /// The first existing file among the names.
    async fn find(&self, wanted: QueuedFile) -> (QueuedFile, LookupResult) {
        let mut why = "there is no such file".to_owned();
        for name in &wanted.reference.names {
            let name = match self.project.name(name) {
                Ok(name) => name,
                Err(outside) => {
                    why = outside;
                    continue;
                }
            };
            if !self.tried.borrow_mut().insert(name.clone()) {
                return (wanted, LookupResult::Before);
            }
            match self.text(&name).await {
                Ok(text) => return (wanted, LookupResult::File(name, text)),
                Err(error) => why = error,
            }
        }
        (wanted, LookupResult::Nothing(why))
    }

    async fn text(&self, name: &str) -> Result<String, String> {
        let params = json!({
            "sessionId": self.session,
            "path": self.project.path(name),
            "limit": MOST_LINES,
        });
        let answer = Peer::Client.request("fs/read_text_file", params).await;
        let text: Option<String> = answer.map_err(|error| error.to_string())?.at("/content");
        let text = text.ok_or("the client gave no content")?;
        match text.len() {
            0..=LONGEST_FILE => Ok(text),
            size => Err(format!(
                "its {size} bytes are more than the {LONGEST_FILE} that are read"
            )),
        }
    }
}

impl Outcome {
    /// Reports a missing file, unless it was only a guess.
    fn miss(&mut self, wanted: QueuedFile, why: &str) {
        if let Some(written) = wanted.reference.written
            && self.unread.len() < MOST_UNREAD
        {
            self.unread.push(match wanted.by {
                Some(by) => format!("`{written}` of {by}: {why}"),
                None => format!("{written}: {why}"),
            });
        }
    }
}
