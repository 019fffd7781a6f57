//! Questions to the user, and what the user clears.

use std::sync::Arc;

use acp_chain_calls::gate;
use acp_chain_calls::title::LogTitle;
use acp_chain_proxy::Peer;
use acp_chain_proxy::acp::PERMISSION;
use acp_chain_proxy::values::Keeper;

use crate::guard::{Guard, unstored};
use crate::judge::key;
use crate::label::Label;
use crate::ledger::{self, Record};
use crate::words;

/// How much a question names of what is to be cleared.
const MOST_SHOWN: usize = 16;

impl Guard {
    /// Asks the user. An error if there is no yes of a person, with the reason.
    pub(crate) async fn ask(&self, session: &str, text: &str) -> Result<(), String> {
        let number = self.state.questions.get() + 1;
        self.state.questions.set(number);
        let params = words::question(self.state.version.get(), session, number, text);
        let asked = Peer::Client.request(PERMISSION, params);
        let is_early = gate::early(self.least_time);
        let answer = asked
            .await
            .map_err(|error| format!("the user could not be asked: {}", error.message))?;
        if !words::is_yes(&answer) {
            return Err(format!("the user did not allow it: {text}"));
        }
        if is_early.get() {
            return Err(format!(
                "the editor allowed it faster than a person can, which is no yes: {text}"
            ));
        }
        Ok(())
    }

    /// Clears labels of a session, or marks of files, after a question. Returns what to tell the user.
    pub(crate) async fn clear(&self, session: &str, what: &[String]) -> Result<String, String> {
        let gate = self.with(session, |own| Arc::clone(&own.gate.lock));
        let _alone = gate.lock().await;
        self.prepare(session).await?;
        let held = self.labels(session);
        // The text of a prompt may come from another proxy.
        let shown = |name: &String| match Label::named(name) {
            Some(label) => label.name().to_owned(),
            None => LogTitle(Some(name)).to_string(),
        };
        let listed: Vec<_> = what.iter().take(MOST_SHOWN).map(shown).collect();
        let more = if what.len() > MOST_SHOWN {
            " and more"
        } else {
            ""
        };
        let names = listed.join(", ") + more;
        let text = format!(
            "clear {names}? The session holds {held}: {}",
            held.sources()
        );
        self.ask(session, &text).await?;
        let labels: Vec<_> = what.iter().filter_map(|name| Label::named(name)).collect();
        let is_file = |name: &&String| Label::named(name).is_none();
        let directory = self.directory(session);
        let files: Vec<_> = what
            .iter()
            .filter(is_file)
            .map(|name| match &**name {
                "files" => name.clone(),
                path => key(path, directory.as_ref()),
            })
            .collect();
        let clear = |record: &mut Record| record.labels.clear(&labels);
        ledger::change(session, clear).await.map_err(unstored)?;
        if !files.is_empty() {
            for of in [Keeper::Project(session), Keeper::User] {
                let remove = |stored: &mut ledger::Files| stored.clear(&files);
                let changed = ledger::change_files(of, remove).await;
                changed.map_err(unstored)?;
            }
        }
        let left = self.with(session, |own| {
            own.labels.clear(&labels);
            own.labels.clone()
        });
        self.keep();
        Ok(format!("cleared {names}; the session holds {left}"))
    }
}
