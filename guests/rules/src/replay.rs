//! The user's words as repeated by the agent, without this proxy's addition.
//!
//! Agents replay a prompt in one chunk or in several, cut anywhere. A chunk with the beginning of a mark is held until
//! the next chunk, which gets its text. Before any other update of the conversation, or when the agent pauses, the held
//! chunk is passed on as it was. At most one is held per session, and few in total.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use acp_chain_proxy::{Action, Edit, Head, MessageId, settle, sleep, spawn};

use crate::mark::{More, cut};
use crate::titles;

/// The maximum number of sessions with a held chunk.
const MOST: usize = 16;

/// A chunk waits for the next one for this long, or for up to twice as long.
const PAUSE: Duration = Duration::from_secs(1);

const TEXT: &str = "/update/content/text";
const RESOURCE: &str = "/update/content/resource/text";

#[derive(Default)]
pub(crate) struct Replay {
    held: Rc<RefCell<HashMap<String, HeldChunk>>>,
    /// Whether a task waits for a pause of the agent.
    waits: Rc<Cell<bool>>,
}

struct HeldChunk {
    id: MessageId,
    /// Its own text.
    text: String,
    /// The chunk's text, preceded by undecided text of earlier chunks.
    all: String,
    /// The message that it belongs to, if chunks have one.
    message: Option<String>,
    /// Whether some time has passed since its arrival.
    is_old: bool,
}

impl Replay {
    /// The action for an update.
    pub(crate) fn on_update(&self, session: &str, head: &Head) -> Action {
        let kind = head.read::<String>("/update/sessionUpdate");
        let text = match kind.as_deref() {
            Some("user_message_chunk") => head.read(TEXT),
            _ => None,
        };
        if let Some(text) = text {
            return self.on_text(session, head, text);
        }
        self.release(session);
        match kind.as_deref() {
            Some("user_message_chunk") => of_resource(head),
            Some("user_message") => of_message(head),
            Some("session_info_update") => titles::of_update(head),
            _ => Action::Forward,
        }
    }

    /// No more of the held text will come.
    pub(crate) fn release(&self, session: &str) {
        let held = self.held.borrow_mut().remove(session);
        if let Some(held) = held {
            held.release();
        }
    }

    /// Passes on chunks that have waited for a while.
    fn release_after_a_pause(&self) {
        if self.waits.replace(true) {
            return;
        }
        let (held, waits) = (Rc::clone(&self.held), Rc::clone(&self.waits));
        spawn(async move {
            // Without a pause, the next chunk decides.
            while !held.borrow().is_empty() && sleep(PAUSE).await.is_ok() {
                grow_older(&mut held.borrow_mut());
            }
            waits.set(false);
        });
    }

    fn on_text(&self, session: &str, head: &Head, text: String) -> Action {
        let message = head.read::<String>("/update/messageId");
        let is_other = |chunk: &HeldChunk| chunk.message != message;
        if self.held.borrow().get(session).is_some_and(is_other) {
            self.release(session);
        }
        let before = self.held.borrow_mut().remove(session);
        let all = match before {
            Some(HeldChunk { id, all, .. }) => {
                // Its text is passed on with this one's.
                let _ = settle(id, Action::Discard);
                all + &text
            }
            None => text.clone(),
        };
        let mut waiting = self.held.borrow_mut();
        if waiting.len() < MOST && cut(&all, More::May).open {
            let chunk = HeldChunk {
                id: head.id,
                text,
                all,
                message,
                is_old: false,
            };
            waiting.insert(session.to_owned(), chunk);
            self.release_after_a_pause();
            return Action::Hold;
        }
        of_text(TEXT, &text, &all)
    }
}

/// Some time has passed: passes on the chunks that were held all the time.
fn grow_older(held: &mut HashMap<String, HeldChunk>) {
    for (_, chunk) in held.extract_if(|_, chunk| chunk.is_old) {
        chunk.release();
    }
    for chunk in held.values_mut() {
        chunk.is_old = true;
    }
}

impl HeldChunk {
    fn release(self) {
        // After the hold time, the host has settled the chunk itself.
        let _ = settle(self.id, of_text(TEXT, &self.text, &self.all));
    }
}

/// Replaces the text of a chunk by `all` without the addition.
fn of_text(pointer: &str, text: &str, all: &str) -> Action {
    let cut = cut(all, More::Never);
    if cut.is_all() {
        Action::Discard
    } else if cut.text == text {
        Action::Forward
    } else {
        Action::Edit(vec![Edit::set(pointer, &*cut.text)])
    }
}

/// A chunk without text: the added resource, or something of the user's.
fn of_resource(head: &Head) -> Action {
    match head.read::<String>(RESOURCE) {
        Some(text) => of_text(RESOURCE, &text, &text),
        None if is_link(head, "/update/content") => Action::Discard,
        None => Action::Forward,
    }
}

/// A whole message, as version 2 has them.
fn of_message(head: &Head) -> Action {
    let (mut edits, mut left) = (Vec::new(), 0);
    for index in 0.. {
        let block = format!("/update/content/{index}");
        if head.read::<String>(&format!("{block}/type")).is_none() {
            break;
        }
        let places = [format!("{block}/text"), format!("{block}/resource/text")];
        let texts = places.into_iter().filter_map(|place| {
            let text = head.read::<String>(&place)?;
            Some((place, cut(&text, More::Never)))
        });
        let Some((place, cut)) = texts.into_iter().next() else {
            left += usize::from(!is_link(head, &block));
            continue;
        };
        left += usize::from(!cut.is_all());
        if cut.found {
            edits.push(Edit::set(place, &*cut.text));
        }
    }
    match (edits.is_empty(), left) {
        (true, _) => Action::Forward,
        (false, 0) => Action::Discard,
        (false, _) => Action::Edit(edits),
    }
}

fn is_link(head: &Head, block: &str) -> bool {
    let uri = head.read::<String>(&format!("{block}/uri"));
    uri.is_some_and(|uri| uri == crate::mark::uri())
}
