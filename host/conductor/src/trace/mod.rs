//! What crossed which hop, and what the proxies decided: one JSON object a line, written as it happens.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::SystemTime;

use humantime::format_rfc3339_micros;
use serde::Serialize;
use serde_json::value::RawValue;

use acp_chain_rpc::{Kind, Message};
use acp_chain_system::files;

/// Who the host is in a trace.
pub const HOST: &str = "acp-chain";

/// What a line is about.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct About<'a> {
    /// The number of the request within the chain, if it is about one, or its answer. It is the same on
    /// all hops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<u64>,
    /// The method; of a response, that of the request.
    pub method: &'a str,
    /// The session that the message belongs to.
    pub session: Option<&'a str>,
}

/// A message on its way from the part of the chain that touched it last to the next that sees
/// it. Parts that it does not concern do not appear.
#[derive(Debug)]
pub struct Leg<'a> {
    /// `client`, `agent`, the id of a proxy, or [`HOST`].
    pub from: &'a str,
    /// `client`, `agent`, the id of a proxy, or [`HOST`].
    pub to: &'a str,
    /// The id that whoever asked has given the request, as JSON text.
    pub id: Option<&'a str>,
    /// What it is about.
    pub about: About<'a>,
    /// The message.
    pub message: &'a Message,
}

/// Writes lines to a file.
#[derive(Debug)]
pub struct Trace {
    file: BufWriter<File>,
}

#[derive(Serialize)]
struct Crossed<'a> {
    from: &'a str,
    to: &'a str,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a RawValue>,
    #[serde(flatten)]
    about: About<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct Decided<'a> {
    proxy: &'a str,
    decision: &'a str,
    #[serde(flatten)]
    about: About<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
}

#[derive(Serialize)]
struct Line<T> {
    time: String,
    #[serde(flatten)]
    what: T,
}

impl Trace {
    /// Appends to a file. If it is not there, it is made for its owner alone: it will hold all
    /// that is said.
    pub fn open(path: &Path) -> std::io::Result<Self> {
        Ok(Self {
            file: BufWriter::new(files::append_private(path)?),
        })
    }

    /// Writes one leg.
    pub fn crossed(&mut self, leg: &Leg) {
        let body = serde_json::from_str(leg.message.body()).ok();
        let (kind, slot) = match leg.message.kind() {
            Kind::Request => ("request", 0),
            Kind::Notification => ("notification", 0),
            Kind::Result => ("response", 1),
            Kind::Error => ("response", 2),
        };
        self.write(Crossed {
            from: leg.from,
            to: leg.to,
            kind,
            id: leg.id.and_then(|id| serde_json::from_str(id).ok()),
            about: leg.about,
            params: body.filter(|_| slot == 0),
            result: body.filter(|_| slot == 1),
            error: body.filter(|_| slot == 2),
        });
    }

    /// Writes what a proxy decided about a message, and why the host did that in its place.
    pub fn decided(&mut self, proxy: &str, decision: &str, about: About, why: Option<&str>) {
        self.write(Decided {
            proxy,
            decision,
            about,
            why,
        });
    }

    /// A trace that cannot be written says so in the log and disturbs nobody.
    fn write(&mut self, what: impl Serialize) {
        let time = format_rfc3339_micros(SystemTime::now()).to_string();
        let line = Line { time, what };
        let written = serde_json::to_writer(&mut self.file, &line)
            .map_err(std::io::Error::from)
            .and_then(|()| self.file.write_all(b"\n"))
            .and_then(|()| self.file.flush());
        if let Err(error) = written {
            tracing::warn!("the trace cannot be written: {error}");
        }
    }
}
