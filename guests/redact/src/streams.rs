//! Text that the agent streams, one running text per session: its tail, if that may be the beginning of a secret, is
//! kept here, and sent with the next chunk, or in a chunk of its own before anything else is shown.
//!
//! A chunk is not held because of its tail: its decided part is passed on at once, so a pause longer than the hold time
//! loses no text. At a pause, the beginning of a tail is sent, too (see [`Detector::glimpse`]).
//!
//! All of it is saved, so that a later instance finds the end of a secret whose beginning an earlier one has withheld.
//! The stored amount is bounded, per session and in total: at the bound, the longest tail is given up and sent as a
//! marker.

use std::cell::RefCell;
use std::collections::BTreeMap;

use acp_chain_proxy::{Json, Peer};
use acp_chain_secrets::{Coding, Detector, End, Marking, Tail, UNCLEAR};
use serde::{Deserialize, Serialize};

use crate::update::Chunk;

/// The maximum number of bytes stored for all sessions together. The saved form is at worst a few times as long, below
/// the host's limit.
const ALL: usize = 160 * 1024;

/// The maximum length of a chunk without its text.
const AROUND: usize = 16 * 1024;

#[derive(Default, Deserialize, Serialize)]
pub(crate) struct Streams(RefCell<BTreeMap<String, Stream>>);

#[derive(Default, Deserialize, Serialize)]
struct Stream {
    /// Distinguishes its chunks from those of another text: their kind and their ids.
    identity: String,
    tail: Tail,
    /// Present if the tail is not empty.
    last: Option<LastChunk>,
    #[serde(skip)]
    age: Age,
}

/// The state of a tail since the last chunk.
#[derive(Clone, Copy, Default, PartialEq)]
enum Age {
    /// The chunk has just arrived.
    #[default]
    New,
    /// Some time has passed.
    Old,
    /// The agent paused, and the beginning of the tail was sent.
    Shown,
}

/// The last chunk of a text, in which the tail may have to be sent.
#[derive(Deserialize, Serialize)]
struct LastChunk {
    /// Its parameters, with an empty text.
    params: String,
    /// The pointer to the text in them.
    pointer: String,
    coding: Coding,
}

impl Streams {
    /// Adds a chunk to the running text of its session. Returns the decided text, to replace that of the chunk, or
    /// `None` if the two are equal. `params` are the chunk's parameters with an empty text. Nothing is withheld at the
    /// end.
    pub(crate) fn next(
        &self,
        marking: Marking,
        session: &str,
        chunk: &Chunk,
        end: End,
        params: impl FnOnce() -> String,
    ) -> Result<Option<String>, String> {
        let is_other = |stream: &Stream| stream.identity != chunk.identity;
        if self.0.borrow().get(session).is_some_and(is_other) {
            self.flush(marking, session)?;
        }
        let mut streams = self.0.borrow_mut();
        let stream = streams.entry(session.to_owned()).or_default();
        stream.identity = chunk.identity.clone();
        stream.age = Age::New;
        let decided = marking.next(&mut stream.tail, &chunk.decoded.text, end)?;
        stream.last = (!stream.tail.is_empty()).then(|| LastChunk {
            params: params(),
            pointer: chunk.pointer.clone(),
            coding: chunk.coding,
        });
        if stream.size() - stream.tail.len() > AROUND {
            return Err("a chunk has too much data beside its text".into());
        }
        drop(streams);
        self.shrink(marking, session)?;
        Ok(decided)
    }

    /// Whether there is a tail whose beginning is still to be sent.
    pub(crate) fn have_more(&self) -> bool {
        let streams = self.0.borrow();
        let waits = |stream: &Stream| stream.last.is_some() && stream.age != Age::Shown;
        streams.values().any(waits)
    }

    /// Some time has passed: sends the beginnings of the tails that were there all the time.
    pub(crate) fn grow_older(&self, detector: &Detector) -> Result<(), String> {
        let mut streams = self.0.borrow_mut();
        let shown = streams
            .values_mut()
            .map(|stream| stream.grow_older(detector));
        // An error of one does not stop the others.
        shown.fold(Ok(()), Result::and)
    }

    /// Ends the running text of a session, and sends its withheld part. Returns whether there was one.
    pub(crate) fn flush(&self, marking: Marking, session: &str) -> Result<bool, String> {
        let Some(mut stream) = self.0.borrow_mut().remove(session) else {
            return Ok(false);
        };
        let rest = marking.next(&mut stream.tail, "", End::Here)?;
        send(stream.last.as_ref(), &rest.unwrap_or_default())?;
        Ok(true)
    }

    /// Gives up tails of other sessions, the longest first, until the stored amount is within bounds.
    fn shrink(&self, marking: Marking, session: &str) -> Result<(), String> {
        let mut streams = self.0.borrow_mut();
        let mut size: usize = streams.values().map(Stream::size).sum();
        while size > ALL {
            let others = streams.iter().filter(|(name, _)| *name != session);
            let Some((name, _)) = others.max_by_key(|(_, stream)| stream.size()) else {
                return Ok(());
            };
            let name = name.clone();
            let given_up = streams.remove(&name).unwrap_or_default();
            size -= given_up.size();
            send(given_up.last.as_ref(), &marking.of(UNCLEAR))?;
        }
        Ok(())
    }
}

impl Stream {
    fn grow_older(&mut self, detector: &Detector) -> Result<(), String> {
        match self.age {
            Age::New => self.age = Age::Old,
            Age::Old => {
                self.age = Age::Shown;
                let text = detector.glimpse(&self.tail);
                send(self.last.as_ref(), text)?;
                self.tail.show(text.len());
            }
            Age::Shown => {}
        }
        Ok(())
    }

    /// The bytes needed to store it.
    fn size(&self) -> usize {
        let Self {
            identity,
            tail,
            last,
            age: _,
        } = self;
        identity.len() + tail.len() + last.as_ref().map_or(0, |last| last.params.len())
    }
}

/// Sends a text, if there is any, in a chunk like the last one of its running text.
fn send(last: Option<&LastChunk>, text: &str) -> Result<(), String> {
    let Some(LastChunk {
        params,
        pointer,
        coding,
    }) = last.filter(|_| !text.is_empty())
    else {
        return Ok(());
    };
    let mut params = Json::try_from(params.clone()).map_err(|error| error.to_string())?;
    params
        .put(pointer, coding.encoded(text))
        .map_err(|error| error.to_string())?;
    let sent = Peer::Client.notify("session/update", params);
    sent.map_err(|error| error.to_string())
}
