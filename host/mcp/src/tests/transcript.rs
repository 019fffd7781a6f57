//! A seat under test: inputs by number and name, outputs as lines.

use crate::component::channel::{FromComponent, ToComponent};
use crate::protocol;
use crate::seat::{Caller, CallerRequest, Input, Output, Seat};
use crate::wire::McpMessage;
use crate::{ConnectionId, IncomingId, OutgoingId};
use acp_chain_channel::Change;
use acp_chain_channel::limits::{Account, MCP_KEPT_OF_ALL};
use acp_chain_rpc::{Kind, Message, edit};

/// A seat, the number of requests so far, and the messages that the seat dropped.
pub struct Table<S> {
    pub seat: S,
    asked: IncomingId,
    pub drops: Vec<String>,
}

/// The `_meta` of a request of 2026-07-28.
pub const META: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#;

/// The account of all seats.
pub fn kept() -> Account {
    Account::new(MCP_KEPT_OF_ALL)
}

impl<S: Seat> Table<S> {
    pub fn new(seat: S) -> Self {
        Self {
            seat,
            asked: 0,
            drops: Vec::new(),
        }
    }

    pub fn take(&mut self, input: Input) -> Vec<String> {
        let mut lines = Vec::new();
        for output in self.seat.take(input) {
            match output {
                Output::Drop { why } => self.drops.push(why),
                output => lines.push(line(&output)),
            }
        }
        lines
    }

    pub fn connect(&mut self, connection: ConnectionId) -> Vec<String> {
        self.asked += 1;
        let ask = self.asked;
        self.take(Input::Connect {
            ask,
            connection,
            meta: None,
        })
    }

    pub fn disconnect(&mut self, connection: ConnectionId) -> Vec<String> {
        self.asked += 1;
        let ask = Some(self.asked);
        self.take(Input::Disconnect {
            ask,
            connection,
            meta: None,
        })
    }

    fn request(
        &mut self,
        caller: Caller,
        id: &str,
        method: &str,
        params: &str,
        falls_back: bool,
    ) -> Vec<String> {
        self.asked += 1;
        let ask = self.asked;
        self.take(request(ask, caller, id, method, params, falls_back))
    }

    /// A request on a connection. Its id is its number, prefixed with `m`.
    pub fn on(&mut self, connection: ConnectionId, method: &str, params: &str) -> Vec<String> {
        let id = format!(r#""m{}""#, self.asked + 1);
        self.request(Caller::Connection(connection), &id, method, params, false)
    }

    /// A request that stands alone. `params` are without braces, and `_meta` without the common members.
    pub fn alone(&mut self, id: &str, method: &str, params: &str) -> Vec<String> {
        let params = alone(params);
        let text = format!(r#""{id}""#);
        self.request(Caller::Request(id.into()), &text, method, &params, false)
    }

    /// A request that stands alone, by a caller that can begin with `initialize` instead.
    pub fn falls_back(&mut self, id: &str, method: &str, params: &str) -> Vec<String> {
        let params = alone(params);
        let text = format!(r#""{id}""#);
        self.request(Caller::Request(id.into()), &text, method, &params, true)
    }

    pub fn tell(&mut self, connection: ConnectionId, method: &str, params: &str) -> Vec<String> {
        self.take(Input::Notification {
            connection,
            said: McpMessage::new(method, params),
        })
    }

    pub fn withdraw(&mut self, ask: IncomingId) -> Vec<String> {
        self.take(Input::Withdrawn { ask })
    }

    pub fn result(&mut self, question: OutgoingId, result: &str) -> Vec<String> {
        let outcome = Message::result(result);
        self.take(Input::Answered { question, outcome })
    }

    pub fn error(&mut self, question: OutgoingId, error: &str) -> Vec<String> {
        let error = serde_json::from_str(error).unwrap();
        let outcome = Message::error(&error);
        self.take(Input::Answered { question, outcome })
    }

    pub fn provider_asks(&mut self, params: &str) -> Vec<String> {
        self.asked += 1;
        let ask = self.asked;
        let message = &Message::request("mcp/message", params);
        self.take(Input::ProviderRequest { ask, message })
    }

    pub fn changed(&mut self, change: &Change) -> Vec<String> {
        self.take(Input::Component(FromComponent::Changed(change)))
    }

    /// The provider was restarted. These requests of the seat have not been delivered yet.
    pub fn lost(&mut self, waiting: &[OutgoingId]) -> Vec<String> {
        let waiting = &waiting.iter().copied().collect();
        self.take(Input::ProviderLost { waiting })
    }

    pub fn provider_tells(&mut self, params: &str) -> Vec<String> {
        let message = &Message::notification("mcp/message", params);
        self.take(Input::ProviderNotification { message })
    }
}

/// A request.
pub fn request(
    ask: IncomingId,
    caller: Caller,
    id: &str,
    method: &str,
    params: &str,
    falls_back: bool,
) -> Input<'static> {
    Input::Request(CallerRequest {
        ask,
        caller,
        id: protocol::token(Some(id)),
        said: McpMessage::new(method, params),
        falls_back,
    })
}

/// Sets the `_meta` of ACP.
pub fn beside(meta: Option<&str>, said: McpMessage) -> McpMessage {
    let meta = meta.map(Into::into);
    McpMessage { meta, ..said }
}

/// The params of a request that stands alone.
pub fn alone(params: &str) -> String {
    match params {
        "" => format!(r#"{{"_meta":{{{META}}}}}"#),
        params => format!(r#"{{{params},"_meta":{{{META}}}}}"#),
    }
}

fn line(output: &Output) -> String {
    let beside = |meta: Option<&str>| match meta {
        Some(meta) => format!(" beside {meta}"),
        None => String::new(),
    };
    let spelt = |said: &McpMessage| {
        let params = match said.params() {
            "null" => String::new(),
            params => format!(" {params}"),
        };
        format!("{}{params}{}", said.method(), beside(said.meta.as_deref()))
    };
    let outcome = |outcome: &Message| {
        let kind = match outcome.kind() {
            Kind::Error => "error",
            _ => "result",
        };
        format!("{kind} {}", outcome.body())
    };
    match output {
        Output::Answer {
            ask,
            outcome: of,
            meta,
            ..
        } => format!("answer {ask}: {}{}", outcome(of), beside(meta.as_deref())),
        Output::Provider(Some(question), message) => {
            let (method, params) = (message.method(), message.body());
            format!("ask provider {question}: {method} {params}")
        }
        Output::Provider(None, message) => format!("tell provider: {}", message.body()),
        Output::AskCaller {
            question,
            connection,
            said,
        } => format!("ask {connection} {question}: {}", spelt(said)),
        Output::TellCaller { caller, said, .. } => match caller {
            Caller::Connection(id) => format!("tell {id}: {}", spelt(said)),
            Caller::Request(id) => format!("tell {id}: {}", spelt(said)),
        },
        Output::Withdraw { question } => format!("withdraw {question}"),
        Output::Notice { text } => format!("notice: {text}"),
        Output::Drop { why } => format!("drop: {why}"),
        Output::Component { question, asks } => match asks {
            ToComponent::List(offer) => format!("list {} {question}", offer.as_str()),
            ToComponent::Call { method, params } => {
                // Another test checks `_meta`.
                let params = edit(params, "/_meta", None).unwrap();
                format!("call {question}: {method} {params}")
            }
        },
    }
}
