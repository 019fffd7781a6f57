//! Steps with stored values. Each answers its request with what became of the value, or `{"error": …}`.

use acp_chain_proxy::values::{self, Keeper, Outcome};
use acp_chain_proxy::{Action, Error, Json, Result};
use serde::Deserialize;
use serde_json::{Value, json};

/// The parameters of a request that loads or stores a value.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Params {
    /// The session whose project has the value; without one, the user has it.
    session_id: Option<String>,
    /// The user has the value, though there is a session.
    #[serde(default)]
    of_user: bool,
    key: String,
    /// The version that is replaced.
    #[serde(default)]
    version: u64,
    /// The value to store; without one, it is removed.
    value: Option<String>,
}

impl Params {
    fn keeper(&self) -> Keeper<'_> {
        let session = self.session_id.as_deref().filter(|_| !self.of_user);
        session.map_or(Keeper::User, Keeper::Project)
    }
}

pub(crate) async fn load(params: &Json) -> Result {
    let params: Params = params.parse()?;
    answer(async { Ok(shown(values::load(params.keeper(), &params.key).await?)) }).await
}

pub(crate) async fn store(params: &Json) -> Result {
    let params: Params = params.parse()?;
    let (key, value) = (&*params.key, params.value.as_deref());
    answer(async {
        let stored = values::store(params.keeper(), key, params.version, value).await?;
        Ok(match stored {
            Outcome::Stored(version) => json!({ "version": version }),
            Outcome::Conflict(other) => json!({ "conflict": shown(other) }),
        })
    })
    .await
}

/// Adds one to the number that is the value.
pub(crate) async fn count(params: &Json) -> Result {
    let params: Params = params.parse()?;
    answer(async {
        let counted = values::update(params.keeper(), &params.key, |value| {
            let count: u64 = value
                .and_then(|value| value.parse().ok())
                .unwrap_or_default();
            Some((count + 1).to_string())
        });
        Ok(shown(counted.await?))
    })
    .await
}

async fn answer(outcome: impl Future<Output = std::result::Result<Value, Error>>) -> Result {
    let outcome = outcome.await;
    let answer = outcome.unwrap_or_else(|error| json!({ "error": error.message }));
    Ok(Action::Respond(answer.into()))
}

fn shown(value: values::Value) -> Value {
    json!({ "value": value.value, "version": value.version, "since": value.since })
}
