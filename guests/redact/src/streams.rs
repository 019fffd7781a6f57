//! Text that the agent streams, one running text a session: the tail of it that may be the
//! beginning of a secret is kept here, and goes out with the next chunk, or in a chunk of its own
//! before anything else is shown.
//!
//! A chunk is not held for the sake of its tail. What is decided goes on at once, and nothing is
//! lost when the agent pauses for longer than the host lets a proxy hold a message.
//!
//! All of it is saved, so that an instance that starts later finds the end of a secret whose
//! beginning an earlier one has kept back.

use std::cell::RefCell;
use std::collections::HashMap;

use acp_chain_proxy::{Json, Peer};
use serde::{Deserialize, Serialize};

use crate::detector::{Detector, End, Tail};

#[derive(Default, Deserialize, Serialize)]
pub(crate) struct Streams(RefCell<HashMap<String, Stream>>);

#[derive(Deserialize, Serialize)]
struct Stream {
    /// What sets its chunks apart from those of another text: their kind and their ids.
    identity: String,
    tail: Tail,
    /// If the tail is not empty.
    last: Option<Last>,
}

/// The last chunk of a text, which the tail may have to go out in.
#[derive(Deserialize, Serialize)]
struct Last {
    params: Json,
    /// Where the text is in them.
    pointer: String,
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
        session: &str,
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
            .get(session)
            .is_some_and(|last| last.identity != identity)
        {
            self.flush(detector, session)?;
        }
        let mut streams = self.0.borrow_mut();
        let stream = streams.entry(session.to_owned()).or_insert_with(|| Stream {
            identity,
            last: None,
            tail: Tail::default(),
        });
        let decided = detector.next(&mut stream.tail, &text, End::Open)?;
        stream.last = (!stream.tail.is_empty()).then(|| Last {
            params: params.clone(),
            pointer: pointer.into(),
        });
        Ok(decided)
    }

    /// Ends the running text of a session: what was kept back of it goes out. True if there was one.
    pub(crate) fn flush(&self, detector: &Detector, session: &str) -> Result<bool, String> {
        let Some(mut stream) = self.0.borrow_mut().remove(session) else {
            return Ok(false);
        };
        if let Some(Last {
            mut params,
            pointer,
        }) = stream.last
        {
            let rest = detector.next(&mut stream.tail, "", End::Here)?;
            params
                .put(&pointer, rest)
                .map_err(|error| error.to_string())?;
            Peer::Client
                .notify("session/update", params)
                .map_err(|error| error.to_string())?;
        }
        Ok(true)
    }
}
