//! A native proxy that forwards everything in both directions: the proxy protocol as a function of
//! one message, without input or output.

use std::collections::HashMap;

use serde_json::value::RawValue;

use crate::envelope::{Message, quoted};

/// A native proxy's end of the wire. Its requests have ids of its own: numbers from 0, or strings.
#[derive(Debug)]
pub struct PassingProxy {
    initialize: &'static str,
    successor: &'static str,
    strings: bool,
    asked: u64,
    /// The id of the forwarded request, by the id of the proxy's own request.
    open: HashMap<String, String>,
}

/// The parameters of `proxy/successor`.
#[derive(serde::Deserialize)]
struct SuccessorParams {
    method: String,
    params: Option<Box<RawValue>>,
}

/// The parameters of `$/cancel_request`.
#[derive(serde::Deserialize)]
struct Cancel {
    #[serde(rename = "requestId")]
    request: Box<RawValue>,
}

impl PassingProxy {
    /// A proxy of the current or the older dialect, whose ids are strings or numbers.
    #[must_use]
    pub fn new(older: bool, strings: bool) -> Self {
        let (initialize, successor) = if older {
            ("_proxy/initialize", "_proxy/successor")
        } else {
            ("proxy/initialize", "proxy/successor")
        };
        Self {
            initialize,
            successor,
            strings,
            asked: 0,
            open: HashMap::new(),
        }
    }

    /// The method of a message without the proxy protocol's wrapping; none for an answer.
    #[must_use]
    pub fn method(&self, message: &Message) -> Option<String> {
        let method = message.method.as_deref()?;
        let carried = || serde_json::from_str::<SuccessorParams>(message.params.as_deref()?).ok();
        Some(if method == self.initialize {
            "initialize".to_owned()
        } else if method == self.successor {
            carried()?.method
        } else {
            method.to_owned()
        })
    }

    /// The line to send for a received message, if any.
    ///
    /// # Errors
    /// If a conductor may not send this message.
    pub fn pass(&mut self, message: &Message) -> serde_json::Result<Option<String>> {
        let Some(method) = message.method.as_deref() else {
            return Ok(self.answer(message));
        };
        let (params, id) = (message.params.as_deref(), message.id.as_deref());
        if method == "$/cancel_request" {
            return self.cancel(params.unwrap_or_default());
        }
        if method == self.successor {
            let carried: SuccessorParams = serde_json::from_str(params.unwrap_or_default())?;
            let params = carried.params.as_deref().map(RawValue::get);
            return Ok(Some(self.tell(&carried.method, params, id, false)));
        }
        if method == self.initialize {
            return Ok(Some(self.tell("initialize", params, id, true)));
        }
        if method.starts_with("proxy/") || method.starts_with("_proxy/") {
            let error = r#"{"code":-32601,"message":"Method not found"}"#;
            return Ok(message.error(error).pop());
        }
        Ok(Some(self.tell(method, params, id, true)))
    }

    fn tell(
        &mut self,
        method: &str,
        params: Option<&str>,
        id: Option<&str>,
        to_successor: bool,
    ) -> String {
        let id = id.map_or(String::new(), |theirs| {
            let own = if self.strings {
                quoted(&format!("own-{}", self.asked))
            } else {
                self.asked.to_string()
            };
            self.asked += 1;
            let member = format!(r#","id":{own}"#);
            self.open.insert(own, theirs.to_owned());
            member
        });
        let method = quoted(method);
        let params = params.map_or(String::new(), |params| format!(r#","params":{params}"#));
        let successor = self.successor;
        if to_successor {
            format!(
                r#"{{"jsonrpc":"2.0"{id},"method":"{successor}","params":{{"method":{method}{params}}}}}"#
            )
        } else {
            format!(r#"{{"jsonrpc":"2.0"{id},"method":{method}{params}}}"#)
        }
    }

    fn answer(&mut self, message: &Message) -> Option<String> {
        let theirs = self.open.remove(message.id.as_deref()?)?;
        let outcome = match (&message.result, &message.error) {
            (Some(result), _) => format!(r#""result":{result}"#),
            (None, error) => format!(r#""error":{}"#, error.as_deref().unwrap_or("null")),
        };
        Some(format!(r#"{{"jsonrpc":"2.0","id":{theirs},{outcome}}}"#))
    }

    fn cancel(&self, params: &str) -> serde_json::Result<Option<String>> {
        let cancel: Cancel = serde_json::from_str(params)?;
        let mut open = self.open.iter();
        let own = open.find(|(_, theirs)| *theirs == cancel.request.get());
        Ok(own.map(|(own, _)| {
            format!(
                r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"requestId":{own}}}}}"#
            )
        }))
    }
}
