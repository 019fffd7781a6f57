//! Permission requests and their answers: for the access log, and only if there is one.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use acp_chain_rpc::{Id, Kind, Message, member, value_at};
use serde::Deserialize;

use super::access_log::{Entry, LogContext};

/// How many open requests are remembered, how many options of each, and the longest name of an option, in bytes.
/// Further requests are not logged; answers with other options are logged as `other`.
const REQUESTS: usize = 256;
const OPTIONS: usize = 32;
const NAME: usize = 256;

/// The open permission requests.
#[derive(Debug)]
pub struct Permissions {
    log: Arc<LogContext>,
    pending: HashMap<Id, PendingRequest>,
}

#[derive(Debug)]
struct PendingRequest {
    session: Option<Arc<str>>,
    /// The kind of each option.
    options: Vec<(String, &'static str)>,
    begun: Instant,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Choice {
    option_id: String,
    kind: String,
}

impl Permissions {
    pub fn new(log: &Arc<LogContext>) -> Self {
        Self {
            log: log.clone(),
            pending: HashMap::new(),
        }
    }

    /// The agent requests a permission.
    pub fn request(&mut self, message: &Message) {
        let Some(id) = message.id() else { return };
        if self.log.access.is_none() || self.pending.len() >= REQUESTS {
            return;
        }
        let options = member(message.body(), "options");
        let options = options.and_then(|options| serde_json::from_str(options).ok());
        let options: Vec<Choice> = options.unwrap_or_default();
        let pending = PendingRequest {
            session: message.session().cloned(),
            options: options
                .into_iter()
                .filter(|option| option.option_id.len() <= NAME)
                .take(OPTIONS)
                .map(|option| (option.option_id, kind(&option.kind)))
                .collect(),
            begun: Instant::now(),
        };
        self.pending.insert(id, pending);
    }

    /// The client answers a request.
    pub fn answer(&mut self, message: &Message) {
        let id = message.id();
        let Some(pending) = id.and_then(|id| self.pending.remove(&id)) else {
            return;
        };
        let verdict = match message.kind() {
            Kind::Error => "error",
            _ => pending.verdict(message.body()),
        };
        self.log.write(Entry {
            event: "permission",
            session: pending.session.as_deref(),
            verdict: Some(verdict),
            ms: pending.begun.elapsed().as_millis(),
            ..Entry::default()
        });
    }

    /// Drops the open requests: the chain has ended.
    pub fn clear(&mut self) {
        self.pending = HashMap::new();
    }
}

impl PendingRequest {
    fn verdict(&self, answer: &str) -> &'static str {
        let text = |place| value_at::<String>(answer, place);
        match text("/outcome/outcome").as_deref() {
            Some("selected") => {
                let chosen = text("/outcome/optionId");
                let mut options = self.options.iter();
                let option = options.find(|(name, _)| Some(name) == chosen.as_ref());
                option.map_or("other", |(_, kind)| kind)
            }
            Some("cancelled") => "cancelled",
            _ => "other",
        }
    }
}

/// One of the protocol's kinds.
fn kind(named: &str) -> &'static str {
    let kinds = ["allow_once", "allow_always", "reject_once", "reject_always"];
    let known = kinds.into_iter().find(|kind| *kind == named);
    known.unwrap_or("other")
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::server::access_log::AccessLog;
    use crate::server::metrics::TransportKind;

    fn message(text: &str) -> Message {
        Message::parse(Bytes::copy_from_slice(text.as_bytes())).unwrap()
    }

    /// Permissions with an access log, and the guard that keeps the log alive.
    fn permissions() -> (Permissions, impl Sized) {
        let (access, writer) = AccessLog::new(Box::new(std::io::sink()));
        let log = Arc::new(LogContext {
            access: Some(access),
            figures: Arc::default(),
            connection: None,
            user: Arc::default(),
            way: TransportKind::Http,
            peer: ([127, 0, 0, 1], 9).into(),
        });
        (Permissions::new(&log), writer)
    }

    #[test]
    fn each_answer_is_logged_once_by_its_meaning() {
        let (mut permissions, _writer) = permissions();
        let ask = r#"{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"a","options":[{"optionId":"y","name":"Yes","kind":"allow_once"},{"optionId":"n","name":"No","kind":"reject_always"},{"optionId":"?","name":"Hm","kind":"x"}]}}"#;
        permissions.request(&message(ask));
        let pending = &permissions.pending[&Id::from(7)];
        for (answer, verdict) in [
            (
                r#"{"outcome":{"outcome":"selected","optionId":"y"}}"#,
                "allow_once",
            ),
            (
                r#"{"outcome":{"outcome":"selected","optionId":"n"}}"#,
                "reject_always",
            ),
            (
                r#"{"outcome":{"outcome":"selected","optionId":"?"}}"#,
                "other",
            ),
            (
                r#"{"outcome":{"outcome":"selected","optionId":"z"}}"#,
                "other",
            ),
            (r#"{"outcome":{"outcome":"cancelled"}}"#, "cancelled"),
            (r#"{"outcome":{"outcome":"later"}}"#, "other"),
            ("{}", "other"),
            ("null", "other"),
        ] {
            assert_eq!(pending.verdict(answer), verdict, "{answer}");
        }
        permissions.answer(&message(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#));
        assert!(permissions.pending.is_empty());
    }

    #[test]
    fn remembered_requests_are_bounded() {
        let (mut permissions, _writer) = permissions();
        for id in 0..=REQUESTS {
            permissions.request(&message(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"session/request_permission"}}"#
            )));
        }
        assert_eq!(permissions.pending.len(), REQUESTS);
    }
}
