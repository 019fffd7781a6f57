//! The names in a transcript: each is defined once before it is used, so typos are found before anything is played.

use std::collections::{BTreeMap, BTreeSet};

use super::act::{Act, Kind, Said};
use super::pattern::JsonPattern;
use acp_chain_channel::Peer;

/// The names that are defined above the current line.
#[derive(Debug, Default)]
pub struct Names {
    /// Requests that an end has sent, with their lines.
    asked: BTreeMap<(&'static str, String), usize>,
    /// Requests that an end has received, with their lines.
    got: BTreeMap<(&'static str, String), usize>,
    captured: BTreeSet<String>,
}

impl Names {
    /// Checks and defines the names of a step.
    ///
    /// # Errors
    /// If a name is undefined, or defined twice.
    pub fn take(&mut self, line: usize, act: &Act) -> Result<(), String> {
        match act {
            Act::Says(end, said) => {
                said.body
                    .as_ref()
                    .map_or(Ok(()), |body| self.check_sendable(body))?;
                self.message(line, *end, said, true)
            }
            Act::Gets(end, said) => {
                self.capture(said.body.as_ref());
                self.message(line, *end, said, false)
            }
            Act::Calls(call) => {
                self.check_sendable(&call.params)?;
                define(&mut self.asked, line, Peer::Agent, &call.name)
            }
            Act::Session(name, params) => {
                self.check_sendable(params)?;
                define(&mut self.asked, line, Peer::Client, &super::setup_of(name))
            }
            Act::Restarts(_, saved) => {
                self.capture(saved.as_ref());
                Ok(())
            }
            Act::Logs(_, expected) | Act::Stores(_, expected) => {
                self.capture(Some(expected));
                Ok(())
            }
            Act::HasStored(_, values) => self.check_sendable(values),
            Act::After(_) | Act::Fails(_) => Ok(()),
        }
    }

    fn message(
        &mut self,
        line: usize,
        end: Peer,
        said: &Said,
        is_said: bool,
    ) -> Result<(), String> {
        let (own, others) = if is_said {
            (&mut self.asked, &self.got)
        } else {
            (&mut self.got, &self.asked)
        };
        let Some(name) = &said.name else {
            return Ok(());
        };
        let key = (end.as_str(), name.clone());
        let (end_name, verb) = (end.as_str(), if is_said { "receives" } else { "sends" });
        match &said.kind {
            Kind::Request(_) => define(own, line, end, name),
            Kind::Result | Kind::Error if !others.contains_key(&key) => Err(format!(
                "the {end_name} {verb} no request `{name}` above; write `{}` there, or correct the name",
                if is_said {
                    format!("{end_name} gets: {name} METHOD")
                } else {
                    format!("{end_name}: {name} METHOD")
                }
            )),
            Kind::Cancel if !own.contains_key(&key) => Err(format!(
                "there is no request `{name}` above that could be cancelled here; correct the name"
            )),
            _ => Ok(()),
        }
    }

    fn capture(&mut self, body: Option<&JsonPattern>) {
        self.captured
            .extend(body.into_iter().flat_map(JsonPattern::names));
    }

    /// An error if a message to be sent contains a wildcard, or a name without a value.
    fn check_sendable(&self, body: &JsonPattern) -> Result<(), String> {
        if body.is_open() {
            return Err(
                "`[..]` matches anything, and so cannot be sent; for the characters themselves write \
                 `\\u005b..]`"
                    .to_owned(),
            );
        }
        let names = body.names();
        match names.iter().find(|name| !self.captured.contains(*name)) {
            Some(name) => Err(format!(
                "`<{name}>` is not captured above; write it in an expectation, or `\\u003c{name}>` for the \
                 characters themselves"
            )),
            None => Ok(()),
        }
    }
}

fn define(
    names: &mut BTreeMap<(&'static str, String), usize>,
    line: usize,
    end: Peer,
    name: &str,
) -> Result<(), String> {
    match names.insert((end.as_str(), name.to_owned()), line) {
        Some(before) => Err(format!(
            "the name `{name}` is already used by the request in line {before}; choose another"
        )),
        None => Ok(()),
    }
}
