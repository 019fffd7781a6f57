//! What clients are told without asking: that the list has changed, and how far a call is.

use super::{Listed, Listener, Request, Server};
use crate::mcp::protocol::{self, invalid, key, quoted};
use crate::mcp::seat::{Caller, Output, Question};
use crate::rpc::{Error, member};

impl Server {
    pub(super) fn listen(
        &mut self,
        request: Request,
        params: Option<&str>,
        out: &mut Vec<Output>,
    ) -> Result<(), Error> {
        let filter = params.and_then(|params| member(params, "notifications"));
        let Some(filter) = filter.filter(|filter| protocol::is_object(filter)) else {
            return Err(invalid("subscriptions/listen lacks `notifications`"));
        };
        let Some(id) = request.id.clone() else {
            return Err(invalid(
                "the id of subscriptions/listen is none or too long",
            ));
        };
        let tools = member(filter, "toolsListChanged") == Some("true");
        let accepted = match tools {
            true => r#"{"toolsListChanged":true}"#,
            false => "{}",
        };
        let (key, text) = (key::SUBSCRIPTION, id.as_str());
        out.push(Output::TellCaller {
            caller: request.caller.clone(),
            method: protocol::ACKNOWLEDGED.to_owned(),
            params: Some(format!(
                r#"{{"_meta":{{"{key}":{text}}},"notifications":{accepted}}}"#
            )),
            meta: None,
        });
        let ask = request.ask;
        self.listeners.insert(ask, Listener { request, id, tools });
        Ok(())
    }

    pub(super) fn changed(&mut self, out: &mut Vec<Output>) {
        let while_listing = match &mut self.listed {
            Listed::Asked { stale, .. } => {
                *stale = true;
                true
            }
            listed => {
                *listed = Listed::Nothing;
                false
            }
        };
        if while_listing && self.told_while_listing {
            return;
        }
        self.told_while_listing = while_listing;
        if std::mem::replace(&mut self.told, true) {
            return;
        }
        let (_, _, method) = protocol::LISTS[0];
        for (connection, state) in &self.connections {
            if state.ready {
                out.push(Output::TellCaller {
                    caller: Caller::Connection(*connection),
                    method: method.to_owned(),
                    params: None,
                    meta: None,
                });
            }
        }
        for listener in self.listeners.values().filter(|listener| listener.tools) {
            let (key, id) = (key::SUBSCRIPTION, listener.id.as_str());
            out.push(Output::TellCaller {
                caller: listener.request.caller.clone(),
                method: method.to_owned(),
                params: Some(format!(r#"{{"_meta":{{"{key}":{id}}}}}"#)),
                meta: None,
            });
        }
    }

    pub(super) fn progress(
        &mut self,
        question: Question,
        progress: f64,
        total: Option<f64>,
        message: Option<&str>,
    ) -> Option<Output> {
        let call = self.calls.get_mut(&question)?;
        let token = call.token.as_ref()?.as_str();
        let value = protocol::number(progress)?;
        if call.progress.is_some_and(|before| progress <= before) {
            return None;
        }
        call.progress = Some(progress);
        let total = total.and_then(protocol::number);
        let total = total.map(|total| format!(r#","total":{total}"#));
        let message = message.map(|message| format!(r#","message":{}"#, quoted(message)));
        let (total, message) = (total.unwrap_or_default(), message.unwrap_or_default());
        Some(Output::TellCaller {
            caller: call.request.caller.clone(),
            method: "notifications/progress".to_owned(),
            params: Some(format!(
                r#"{{"progressToken":{token},"progress":{value}{total}{message}}}"#
            )),
            meta: None,
        })
    }
}
