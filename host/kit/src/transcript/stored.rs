//! The values that proxies have stored: those with which a transcript begins, and those that it expects.
//!
//! They are in memory, where only the chain and the transcript change them.

use std::ops::Range;

use indexmap::IndexMap;

use super::act::{Act, ValuesOf};
use super::json::Json;
use super::outcome::Outcome;
use super::pattern::JsonPattern;
use super::play::{Player, Stop};
use super::say::cannot_be_sent;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};

impl Player<'_> {
    /// Puts the values that the transcript begins with.
    pub(super) async fn put_first(&mut self) -> Result<(), Stop> {
        let script = self.script;
        for step in &script.steps[..script.beginning()] {
            if let Act::HasStored(of, values) = &step.act {
                self.put(of, values).await?;
            }
        }
        Ok(())
    }

    /// Puts values in place of whatever there is.
    pub(super) async fn put(&mut self, of: &ValuesOf, values: &JsonPattern) -> Result<(), Stop> {
        let filled = values.fill(&self.captures).ok_or_else(cannot_be_sent)?;
        let namespace = self.values.namespace(&of.proxy, of.folder.as_deref());
        let (Json::Object(members), Some(namespace)) = (filled, namespace) else {
            return Ok(());
        };
        let keeper = self.values.keeper.clone();
        for (key, value) in members {
            let text = match value {
                Json::Null => None,
                Json::Text(text) => Some(text),
                value => Some(value.to_string()),
            };
            let put = async {
                let version = keeper.load(&namespace, &key).await?.version;
                keeper
                    .store(&namespace, &key, version, text.as_deref())
                    .await
            };
            put.await.map_err(|error| {
                let key = quote(&key, MAX_QUOTE);
                Stop(format!("`{key}` cannot be stored: {error}"))
            })?;
        }
        Ok(())
    }

    /// Compares what proxies have stored with the expectations among these steps.
    pub(super) async fn compare_stored(&mut self, steps: Range<usize>) {
        let script = self.script;
        for at in steps {
            let Some(Act::Stores(of, pattern)) = script.steps.get(at).map(|step| &step.act) else {
                continue;
            };
            let stored = self.stored(of, pattern).await;
            let outcome = match pattern.matches(&stored, &self.captures) {
                Some(captures) => {
                    self.captures = captures;
                    Outcome::AsWritten(at)
                }
                None => {
                    let adapted = self.adapt(pattern, &stored);
                    Outcome::Changed(at, Act::Stores(of.clone(), adapted))
                }
            };
            self.pending.push(outcome);
        }
    }

    /// What is stored under the keys that a pattern names.
    async fn stored(&self, of: &ValuesOf, pattern: &JsonPattern) -> Json {
        let mut stored = IndexMap::new();
        let namespace = self.values.namespace(&of.proxy, of.folder.as_deref());
        if let Some(namespace) = namespace {
            for key in pattern.members() {
                // No value has a key that is too long.
                let loaded = self.values.keeper.load(&namespace, key).await;
                let value = loaded.ok().and_then(|loaded| loaded.value);
                stored.extend(value.map(|text| (key.clone(), shown(text))));
            }
        }
        Json::Object(stored)
    }
}

/// A stored text: the object or the array that it is the JSON of, or else the text.
fn shown(text: String) -> Json {
    match Json::read(&text) {
        Ok(json @ (Json::Object(_) | Json::List(_))) => json,
        _ => Json::Text(text),
    }
}
