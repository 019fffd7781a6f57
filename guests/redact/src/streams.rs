//! Text that the agent streams, one running text a session: the tail of it that may be the
//! beginning of a secret is kept here, and goes out with the next chunk, or in a chunk of its own
//! before anything else is shown.
//!
//! A chunk is not held for the sake of its tail. What is decided goes on at once, and nothing is
//! lost when the agent pauses for longer than the host lets a proxy hold a message.

use std::cell::RefCell;
use std::collections::HashMap;

use acp_chain_proxy::{Json, Peer};

use crate::detector::{Detector, End, Tail};

#[derive(Default)]
pub(crate) struct Streams(RefCell<HashMap<Option<String>, Stream>>);

struct Stream {
    /// What sets its chunks apart from those of another text: their kind and their ids.
    identity: String,
    /// The parameters of its last chunk.
    last: Json,
    /// Where the text is in them.
    pointer: &'static str,
    tail: Tail,
}

/// A piece of a running text.
pub(crate) struct Chunk {
    identity: String,
    /// Where the text is in the parameters.
    pub(crate) pointer: &'static str,
    pub(crate) text: String,
}

impl Chunk {
    /// None if these are not the parameters of a chunk of text. A chunk of a message holds a block
    /// of content, one of a tool call holds the block wrapped once more.
    pub(crate) fn of(params: &Json) -> Option<Self> {
        let kind: String = params.at("/update/sessionUpdate")?;
        if !kind.ends_with("_chunk") {
            return None;
        }
        let (pointer, text) = ["/update/content/text", "/update/content/content/text"]
            .into_iter()
            .find_map(|pointer| Some((pointer, params.at(pointer)?)))?;
        let mut update: Json = params.at("/update")?;
        let members = update.members_mut()?;
        members.remove("content");
        members.remove("_meta");
        let identity = update.to_string();
        Some(Self {
            identity,
            pointer,
            text,
        })
    }
}

impl Streams {
    /// Adds a chunk to the running text of its session. Returns the text that is decided by now,
    /// for this chunk to go on with.
    pub(crate) fn next(
        &self,
        detector: &Detector,
        session: Option<&String>,
        params: &Json,
        chunk: Chunk,
    ) -> Result<String, String> {
        let Chunk {
            identity,
            pointer,
            text,
        } = chunk;
        if self
            .0
            .borrow()
            .get(&session.cloned())
            .is_some_and(|last| last.identity != identity)
        {
            self.flush(detector, session)?;
        }
        let mut streams = self.0.borrow_mut();
        let stream = streams.entry(session.cloned()).or_insert_with(|| Stream {
            identity,
            last: Json::null(),
            pointer,
            tail: Tail::default(),
        });
        let decided = detector.next(&mut stream.tail, &text, End::Open)?;
        stream.pointer = pointer;
        stream.last = if stream.tail.is_empty() {
            Json::null()
        } else {
            params.clone()
        };
        Ok(decided)
    }

    /// Ends the running text of a session: what was kept back of it goes out.
    pub(crate) fn flush(
        &self,
        detector: &Detector,
        session: Option<&String>,
    ) -> Result<(), String> {
        let stream = self.0.borrow_mut().remove(&session.cloned());
        let Some(mut stream) = stream.filter(|stream| !stream.tail.is_empty()) else {
            return Ok(());
        };
        let rest = detector.next(&mut stream.tail, "", End::Here)?;
        stream
            .last
            .put(stream.pointer, rest)
            .map_err(|error| error.to_string())?;
        Peer::Client
            .notify("session/update", stream.last)
            .map_err(|error| error.to_string())
    }
}
