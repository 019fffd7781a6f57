//! The values that proxies store: requests that the router collects go to the process that has the values, one after
//! the other. So they keep their order, and a chain with many requests does not keep others waiting.

use std::collections::HashMap;
use std::fmt::Write;
use std::future::pending;
use std::path::PathBuf;
use std::pin::Pin;
use std::time::SystemTime;

use serde_json::{Value, json};

use acp_chain_router::{NOT_HERE, Router, ValueCall, ValueRequest};
use acp_chain_state::{Keeper, KeeperError, Loaded, Namespace, StoreOutcome};

/// What a proxy is told if the values cannot be used: the reason names files.
const UNAVAILABLE: &str = "stored values cannot be used now; acp-chain's log says why";

/// Where the proxies of a chain store values.
#[derive(Clone, Debug)]
pub struct StoredValues {
    /// Asks the process that has the values.
    pub keeper: Keeper,
    /// The owner of each proxy's values, by the proxy's id, without a project. Other proxies cannot store any.
    pub namespaces: HashMap<String, Namespace>,
}

impl StoredValues {
    /// Values of these proxies that no extension has: for tests and simulations, with `Keeper::in_memory`.
    pub fn apart<'p>(keeper: Keeper, proxies: impl IntoIterator<Item = &'p str>) -> Self {
        let namespace = |proxy: &str| Namespace {
            extension: proxy.to_owned(),
            source: "in memory".to_owned(),
            user: None,
            project: None,
        };
        let proxies = proxies.into_iter();
        Self {
            keeper,
            namespaces: proxies
                .map(|proxy| (proxy.to_owned(), namespace(proxy)))
                .collect(),
        }
    }

    /// The owner of a proxy's values: the user, or the project with this folder; `None` if the proxy has none.
    pub fn namespace(&self, proxy: &str, project: Option<&str>) -> Option<Namespace> {
        let of_user = self.namespaces.get(proxy)?.clone();
        Some(Namespace {
            project: project.map(PathBuf::from),
            ..of_user
        })
    }
}

/// The values of a connection's proxies.
pub struct Values {
    stored: StoredValues,
    /// The request whose outcome is awaited.
    asked: Option<Asked>,
    /// How often the values could not be used.
    failures: u32,
}

type Asked = Pin<Box<dyn Future<Output = ValueOutcome> + Send>>;

/// The outcome of a request, as JSON text.
pub struct ValueOutcome {
    number: u64,
    outcome: Result<String, KeeperError>,
}

impl Values {
    pub fn new(stored: StoredValues) -> Self {
        Self {
            stored,
            asked: None,
            failures: 0,
        }
    }

    /// Whether the outcome of a request is awaited.
    pub fn are_awaited(&self) -> bool {
        self.asked.is_some()
    }

    /// Asks for what the router's next request is about, unless the outcome of another one is awaited.
    pub fn ask(&mut self, router: &mut Router) {
        while self.asked.is_none()
            && let Some(request) = router.take_value_request()
        {
            let project = request.project.as_deref();
            match self.stored.namespace(&request.proxy, project) {
                Some(namespace) => {
                    let keeper = self.stored.keeper.clone();
                    self.asked = Some(Box::pin(asked(keeper, namespace, request)));
                }
                None => router.receive_value(request.number, Err(NOT_HERE)),
            }
        }
    }

    /// The next outcome; pending if none is awaited. Cancel safe.
    pub async fn next(&mut self) -> ValueOutcome {
        match &mut self.asked {
            Some(asked) => asked.await,
            None => pending().await,
        }
    }

    /// Gives the router an outcome, and asks for the next value.
    pub fn came(&mut self, ValueOutcome { number, outcome }: ValueOutcome, router: &mut Router) {
        self.asked = None;
        match outcome {
            Ok(result) => router.receive_value(number, Ok(&result)),
            Err(error) => {
                let why = self.why(&error, router);
                router.receive_value(number, Err(&why));
            }
        }
        self.ask(router);
    }

    /// What a proxy is told about an error. The user is notified of the first that is not the proxy's own.
    fn why(&mut self, error: &KeeperError, router: &mut Router) -> String {
        if matches!(error, KeeperError::Limit(_) | KeeperError::Busy) {
            return error.to_string();
        }
        self.failures += 1;
        if self.failures == 1 {
            router.tell_user(&format!(
                "Proxies cannot load and store their values: {error}."
            ));
        }
        if self.failures.is_power_of_two() {
            let count = self.failures;
            tracing::error!(count, "stored values cannot be used: {error}");
        }
        match error {
            KeeperError::Unavailable(_) => UNAVAILABLE.to_owned(),
            error => error.to_string(),
        }
    }
}

/// Asks for a value, and waits for the outcome.
async fn asked(keeper: Keeper, namespace: Namespace, request: ValueRequest) -> ValueOutcome {
    let (key, number) = (&*request.key, request.number);
    let outcome = match &request.call {
        ValueCall::Load => {
            let loaded = keeper.load(&namespace, key).await;
            loaded.map(|found| loaded_json(&found))
        }
        ValueCall::Store { version, value } => {
            let stored = keeper.store(&namespace, key, *version, value.as_deref());
            stored.await.map(|outcome| stored_json(&outcome))
        }
    };
    ValueOutcome {
        number,
        outcome: outcome.map(|json| json.to_string()),
    }
}

fn loaded_json(found: &Loaded) -> Value {
    json!({
        "value": found.value,
        "version": found.version,
        "since": found.since.and_then(rfc3339),
    })
}

fn stored_json(outcome: &StoreOutcome) -> Value {
    match outcome {
        StoreOutcome::Stored { version } => json!({ "version": version }),
        StoreOutcome::Conflict(found) => json!({ "conflict": loaded_json(found) }),
    }
}

/// A time in UTC; `None` for one that the format cannot express.
fn rfc3339(time: SystemTime) -> Option<String> {
    let mut text = String::new();
    let time = humantime::format_rfc3339_millis(time);
    write!(text, "{time}").is_ok().then_some(text)
}

#[cfg(test)]
mod tests;
