//! What crossed which hop: one JSON object a line, written as it happens.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::rpc::{Kind, Message};
use crate::system::files;

/// A message on its way from the part of the chain that touched it last to the next that sees
/// it. Parts that it does not concern do not appear.
#[derive(Debug)]
pub struct Leg<'a> {
    /// `client`, `agent` or the id of a proxy.
    pub from: &'a str,
    /// `client`, `agent` or the id of a proxy.
    pub to: &'a str,
    /// The method; of a response, that of the request.
    pub method: &'a str,
    /// The session that the message belongs to.
    pub session: Option<&'a str>,
    /// The message.
    pub message: &'a Message,
}

/// Writes legs to a file.
#[derive(Debug)]
pub struct Trace {
    file: BufWriter<File>,
}

#[derive(Serialize)]
struct Line<'a> {
    from: &'a str,
    to: &'a str,
    kind: &'static str,
    method: &'a str,
    session: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a RawValue>,
}

impl Trace {
    /// Appends to a file. If it is not there, it is made for its owner alone: it will hold all
    /// that is said.
    pub fn open(path: &Path) -> std::io::Result<Self> {
        Ok(Self {
            file: BufWriter::new(files::append_private(path)?),
        })
    }

    /// Writes one leg. A trace that cannot be written says so in the log and disturbs nobody.
    pub fn record(&mut self, leg: &Leg) {
        let body = serde_json::from_str(leg.message.body()).ok();
        let (kind, slot) = match leg.message.kind() {
            Kind::Request => ("request", 0),
            Kind::Notification => ("notification", 0),
            Kind::Result => ("response", 1),
            Kind::Error => ("response", 2),
        };
        let line = Line {
            from: leg.from,
            to: leg.to,
            kind,
            method: leg.method,
            session: leg.session,
            params: body.filter(|_| slot == 0),
            result: body.filter(|_| slot == 1),
            error: body.filter(|_| slot == 2),
        };
        let written = serde_json::to_writer(&mut self.file, &line)
            .map_err(std::io::Error::from)
            .and_then(|()| self.file.write_all(b"\n"))
            .and_then(|()| self.file.flush());
        if let Err(error) = written {
            tracing::warn!("the trace cannot be written: {error}");
        }
    }
}
