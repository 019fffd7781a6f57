//! A test proxy whose tools each do the one thing in their names; the configuration changes the list.
//! It uses the bare interface, because the SDK would keep much of this from the host.
//!
//! It receives no messages but the answers to its own requests. Its failure policy is to be restarted.

mod bindings;
mod call;
mod catalog;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use bindings::calls::Outcome;
use bindings::channel;
use bindings::types::{
    Action, FailurePolicy, MessageId, Notification, Registration, Request, Response, RpcError,
};
use bindings::{handler, tools};
use catalog::Config;

thread_local! {
    static CONFIG: RefCell<Config> = RefCell::default();
    /// Whether the tool `extra` is listed.
    static EXTRA: Cell<bool> = const { Cell::new(false) };
    /// The calls of `slow` and `elicit` by the requests that they wait for.
    static SLOW: RefCell<BTreeMap<MessageId, MessageId>> = RefCell::default();
}

/// The component.
pub struct TestTools;

impl handler::Guest for TestTools {
    fn init(config: String, _: Option<String>) -> Result<Registration, String> {
        std::panic::set_hook(Box::new(|panic| {
            channel::log(channel::Level::Error, &panic.to_string());
        }));
        CONFIG.set(serde_json::from_str(&config).map_err(|error| error.to_string())?);
        Ok(Registration {
            subscriptions: Vec::new(),
            on_failure: FailurePolicy::Restart,
            guard: false,
        })
    }

    fn on_request(_: Request) -> Result<Action, String> {
        Ok(Action::Forward)
    }

    fn on_notification(_: Notification) -> Result<Action, String> {
        Ok(Action::Forward)
    }

    fn on_response(response: Response) -> Result<Action, String> {
        if let Some(call) = SLOW.with_borrow_mut(|slow| slow.remove(&response.head.id)) {
            call::gate_opened(call, response.outcome);
        }
        Ok(Action::Forward)
    }

    fn on_cancel(id: MessageId) -> Result<(), String> {
        say(&format!("call {id} is given up"));
        let gate = SLOW.with_borrow(|slow| {
            let waiting = slow.iter().find(|(_, call)| **call == id);
            waiting.map(|(gate, _)| *gate)
        });
        // A call of `hold-forever` is not settled even then.
        if let Some(gate) = gate {
            SLOW.with_borrow_mut(|slow| slow.remove(&gate));
            call::give_up(id, gate);
        }
        Ok(())
    }
}

impl tools::Guest for TestTools {
    fn list_tools(session: Option<String>) -> Result<tools::Catalog, String> {
        say(&format!(
            "listed for {}",
            session.as_deref().unwrap_or("no session")
        ));
        CONFIG.with_borrow(|config| catalog::list(config, EXTRA.get()))
    }

    fn call_tool(call: tools::ToolCall) -> Result<Outcome, RpcError> {
        say(&format!("called {}", call.name));
        call::run(&call)
    }
}

fn say(text: &str) {
    channel::log(channel::Level::Info, text);
}
