//! The results of calls, counted by answer, for the log.

use std::collections::BTreeMap;

use crate::bindings::acp_chain::proxy::channel::{self, ChannelError, ErrorCode, Level};

pub(crate) fn say(text: &str) {
    channel::log(Level::Info, text);
}

#[derive(Default)]
pub(crate) struct Tally(BTreeMap<&'static str, u32>);

impl Tally {
    pub(crate) fn count<T>(&mut self, answer: Result<T, ChannelError>) {
        let answer = match answer.map_err(|error| error.code) {
            Ok(_) => "ok",
            Err(ErrorCode::Denied) => "denied",
            Err(ErrorCode::UnknownMessage) => "unknown",
            Err(ErrorCode::Invalid) => "invalid",
            Err(ErrorCode::Full) => "full",
            Err(ErrorCode::Other) => "other",
        };
        *self.0.entry(answer).or_default() += 1;
    }

    /// `settle: invalid 3, ok 1, unknown 1`
    pub(crate) fn say(&self, what: &str) {
        let counts = self
            .0
            .iter()
            .map(|(answer, count)| format!("{answer} {count}"));
        say(&format!(
            "{what}: {}",
            counts.collect::<Vec<_>>().join(", ")
        ));
    }
}
