//! The messages that the client and the agent send and receive.

use acp_chain::channel::Peer;
use acp_chain::rpc::{Id, Message};
use acp_chain::transport::Outbox;
use bytes::{Buf, Bytes};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Driver;
use super::model::{Kind, Tag};

/// A line that left, as a JSON-RPC library would read it.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<String>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// The body of a message, with spellings that a careless host would lose.
pub(super) fn body(tag: Tag, session: Option<usize>) -> String {
    match session {
        Some(session) => {
            format!(r#"{{"sessionId":"s{session}", "n":1e400,"t":{tag},"\u0078":"\/"}}"#)
        }
        None => format!(r#"{{"-0":-0.0,"t":{tag}}}"#),
    }
}

/// The tag of a message, if this target made the message.
pub(super) fn tag(body: &str) -> Option<Tag> {
    let (_, rest) = body.split_once(r#""t":"#)?;
    let end = rest.find(|c: char| !c.is_ascii_digit())?;
    rest[..end].parse().ok()
}

impl Driver {
    /// An end sends a request or a notification. Some notifications are seen by no component. Some of the
    /// client's messages are prompts, and some cancel their turns.
    pub(super) fn say(&mut self, from: Peer, kind: Kind) {
        let line = {
            let mut world = self.world.lock();
            let choice = world.choose(256);
            let mut sessions = world.model.earlier().to_vec();
            sessions.extend(world.model.sessions_of(from).into_iter().map(Some));
            let session = sessions[choice % sessions.len()];
            let unseen = kind == Kind::Notification && choice >= 192;
            let toward = from.opposite();
            let may_stop = from == Peer::Client && session.is_some();
            let model = &mut world.model;
            let tag = model.sets_out(kind, toward, session, true, |tag| body(tag, session));
            let body = model.body(tag).to_owned();
            match kind {
                Kind::Request => {
                    let id = match tag % 2 {
                        0 => format!("\"r{tag}\""),
                        _ => tag.to_string(),
                    };
                    let method = if may_stop && choice >= 192 {
                        model.is_prompt(tag);
                        "session/prompt"
                    } else {
                        "request"
                    };
                    let line = format!(
                        r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{body}}}"#
                    );
                    model.waits_for(from, id, tag);
                    line
                }
                _ => {
                    let method = if !unseen {
                        "tell"
                    } else if may_stop && choice >= 224 {
                        model.stops_turn(tag);
                        "session/cancel"
                    } else {
                        "pass"
                    };
                    if unseen {
                        model.is_seen_by_nobody(tag);
                    }
                    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{body}}}"#)
                }
            }
        };
        self.receive(from, line);
    }

    /// An end answers a request.
    pub(super) fn answer(&mut self, from: Peer) {
        let line = {
            let mut world = self.world.lock();
            let count = world.model.asked_of(from);
            if count == 0 {
                return;
            }
            let which = world.choose(count);
            let fails = world.choose(4) == 1;
            let model = &mut world.model;
            let (id, request) = model.is_to_answer(from, which);
            let (session, toward) = (model.session(request), from.opposite());
            let kind = Kind::Answer;
            if fails {
                model.is_refused_by_agent(request);
                let body = |tag| format!(r#"{{"code":1,"message":"no","data":{{"t":{tag}}}}}"#);
                let tag = model.sets_out(kind, toward, session, true, body);
                model.answers(tag, request);
                let error = model.body(tag);
                format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
            } else {
                let body = |tag| format!(r#"{{"t":{tag},"n":1E+2}}"#);
                let tag = model.sets_out(kind, toward, session, true, body);
                model.answers(tag, request);
                let result = model.body(tag);
                format!(r#"{{"jsonrpc":"2.0","result":{result},"id":{id}}}"#)
            }
        };
        self.receive(from, line);
    }

    /// An end cancels a request of its own.
    pub(super) fn withdraw(&mut self, from: Peer) {
        let line = {
            let mut world = self.world.lock();
            let waiting = world.model.waiting(from);
            if waiting.is_empty() {
                return;
            }
            let (id, tag) = &waiting[world.choose(waiting.len())];
            world.model.withdraws(*tag);
            format!(
                r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"requestId":{id}}}}}"#
            )
        };
        self.receive(from, line);
    }

    pub(super) fn receive(&mut self, from: Peer, line: String) {
        let message = Message::parse(Bytes::from(line)).expect("a valid message");
        if !self.is_proxy {
            return self.router.receive(from, message);
        }
        let is_plain = message.kind().is_response() || &**message.method() == "$/cancel_request";
        let carried = if from == Peer::Client || is_plain {
            message
        } else {
            let mut out = Outbox::default();
            message.write_within(
                "proxy/successor",
                message.id().as_ref().map(Id::as_str),
                &mut out,
            );
            let line = out.copy_to_bytes(out.remaining());
            Message::parse(line.slice(..line.len() - 1)).expect("a valid message")
        };
        self.router.receive(Peer::Client, carried);
    }

    /// Takes the lines that wait for the ends, and checks them against the model.
    pub(super) fn take_out(&mut self) {
        for end in [Peer::Client, Peer::Agent] {
            let outbox = self.router.outbox(end);
            let bytes = outbox.copy_to_bytes(outbox.remaining());
            let text = std::str::from_utf8(&bytes).expect("UTF-8 text");
            for line in text.lines() {
                self.hears(end, line);
            }
        }
    }

    fn hears(&mut self, end: Peer, line: &str) {
        let mut line: Line =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let mut world = self.world.lock();
        let model = &mut world.model;
        let mut end = end;
        if self.is_proxy {
            assert_eq!(end, Peer::Client, "there is no agent");
            let carried = line
                .params
                .filter(|_| line.method.as_deref() == Some("proxy/successor"));
            if let Some(carried) = carried {
                let id = line.id;
                line = serde_json::from_str(carried.get()).expect("a wrapped message");
                line.id = id;
                end = Peer::Agent;
            } else if line.method.is_none() {
                end = model.who_waits_for(line.id.map_or("null", RawValue::get));
            }
        }
        let params = line.params.map_or("null", RawValue::get);
        match (line.method.as_deref(), line.id) {
            (Some("$/cancel_request"), None) => {
                let (_, id) = params.split_once(':').expect("the id of a request");
                let id = id.trim_end_matches('}').parse().expect("a numeric id");
                let end = model.who_was_asked(id);
                model.is_told_of_withdrawal(end, id);
            }
            (Some("session/update"), None) => {
                assert!(model.has_prompts(), "there is no turn for a notice");
            }
            (Some(_), id) => {
                let tag = tag(params).expect("a tag");
                model.leaves(end, tag, params);
                if let Some(id) = id {
                    let id = id.get().parse().expect("the host's ids are numbers");
                    model.is_asked_under(end, id, tag);
                }
            }
            (None, id) => {
                let id = id.expect("an answer has an id");
                model.gets_answer(end, id.get());
                let body = line.result.or(line.error).expect("an answer").get();
                // A body without a tag is the host's own.
                if let Some(tag) = tag(body) {
                    model.leaves(end, tag, body);
                }
            }
        }
    }
}
