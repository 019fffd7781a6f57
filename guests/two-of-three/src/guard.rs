//! The decisions: whether a prompt, a call or a result passes, and what the user is asked before.
//!
//! Invariants: a label is stored before what brings it passes; what cannot be stored does not pass. Only one of a
//! session is decided at a time, so that no two calls side by side make it three.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use acp_chain_calls::directory::Directory;
use acp_chain_calls::title::LogTitle;
use acp_chain_calls::turns::{Turns, hash};
use acp_chain_proxy::acp::CANCEL;
use acp_chain_proxy::values::Keeper;
use acp_chain_proxy::{Json, Peer, Version, debug, info, save, warn};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::Mutex;

use crate::config::Resumed;
use crate::judge::{Effects, Judge, key};
use crate::label::{Label, Labels};
use crate::ledger::{self, Record};
use crate::secret::Secrets;
use crate::session::{Session, Sessions};
use crate::setups::{History, Setups};

/// What a later instance gets.
#[derive(Default, Deserialize, Serialize)]
pub(crate) struct State {
    pub(crate) version: Cell<Version>,
    /// Whether a hook has reported a call. Then only hooks report calls.
    pub(crate) has_hooks: Cell<bool>,
    /// The number of the last question.
    pub(crate) questions: Cell<u64>,
    pub(crate) setups: Setups,
    pub(crate) sessions: Sessions,
}

pub(crate) struct Guard {
    pub(crate) judge: Judge,
    pub(crate) secrets: Secrets,
    pub(crate) find_secrets: bool,
    pub(crate) resumed: Resumed,
    pub(crate) least_time: Duration,
    pub(crate) state: State,
    /// The calls of agents without hooks.
    pub(crate) turns: Turns,
}

/// The names of a call, as hashes: with its input, and without.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallName([u64; 2]);

impl CallName {
    /// The name of the call at a place; `None` if it has no id.
    pub(crate) fn of(params: &Json, at: &str) -> Option<Self> {
        let id: String = params.at(&format!("{at}/toolCallId"))?;
        let input: Option<Json> = params.at(&format!("{at}/rawInput"));
        let input = input.map(|input| input.to_string());
        Some(Self([hash(&(&id, input)), Self::by_id(&id)]))
    }

    /// With its input.
    pub(crate) fn exact(self) -> u64 {
        self.0[0]
    }

    /// A call of which something else is remembered than that it may run. `by_id` is its name without input.
    pub(crate) fn marked(by_id: u64, mark: &str) -> u64 {
        hash(&(by_id, mark))
    }

    pub(crate) fn by_id(id: &str) -> u64 {
        hash(&id)
    }
}

/// The marks of a call: it was refused; it was mentioned; text from outside may have steered it; it has ended.
pub(crate) const REFUSED: &str = "refused";
pub(crate) const MENTIONED: &str = "mentioned";
pub(crate) const STEERED: &str = "steered";
pub(crate) const ENDED: &str = "ended";

impl Guard {
    /// Decides about a call that can wait. An error says why it must not run.
    pub(crate) async fn run(
        &self,
        session: &str,
        name: Option<CallName>,
        effects: &Effects,
    ) -> Result<(), String> {
        let gate = self.with(session, |own| Arc::clone(&own.gate.lock));
        let _alone = gate.lock().await;
        if let Some(why) = self.with(session, |own| own.gate.halted.clone()) {
            return Err(why);
        }
        self.prepare(session).await?;
        let brought = self
            .with_files(session, effects, &self.labels(session))
            .await?;
        let is_again =
            name.is_some_and(|name| self.with(session, |own| own.has_decided(name.exact())));
        if !is_again {
            let taken = self
                .take(session, &brought, &effects.title, Some(&gate))
                .await;
            if taken.is_err()
                && let Some(name) = name
            {
                self.with(session, |own| {
                    own.decide(CallName::marked(name.0[1], REFUSED));
                });
            }
            taken?;
        }
        for hash in name.into_iter().flat_map(|name| name.0) {
            self.with(session, |own| own.decide(hash));
        }
        // An earlier call may have had its id.
        if let Some(CallName([_, by_id])) = name {
            self.with(session, |own| {
                own.forget(CallName::marked(by_id, ENDED));
            });
            self.mark_labels(session, by_id, &brought);
        }
        if effects.writes_fetching {
            self.with(session, |own| own.add_fetching(&effects.writes));
            self.keep();
        }
        self.note_writes(session, effects).await
    }

    /// Remembers which labels of a call were decided about.
    fn mark_labels(&self, session: &str, call: u64, brought: &Brought) {
        self.with(session, |own| {
            for label in Label::ALL {
                let mark = CallName::marked(call, label.name());
                if brought.certain.has(label) || brought.assumed.has(label) {
                    own.decide(mark);
                } else {
                    own.forget(mark);
                }
            }
        });
    }

    /// Takes labels, after a question if that makes it three, or is one more act outside when there are three.
    /// With the gate of a turn, an answer after that turn is none.
    async fn take(
        &self,
        session: &str,
        brought: &Brought,
        what: &str,
        turn: Option<&Arc<Mutex<()>>>,
    ) -> Result<(), String> {
        let before = self.labels(session);
        let (mut held, mut is_allowed) = (before.clone(), false);
        loop {
            let brings = brought.to(&held);
            let mut all = held.clone();
            all.join(&brings);
            if !is_allowed && makes_three(&held, &brings) {
                let text = Self::three(&held, &brings, what);
                self.ask(session, &format!("{text}. Allow it?")).await?;
                is_allowed = true;
                let own = self.with(session, |own| Arc::clone(&own.gate.lock));
                if turn.is_some_and(|turn| !Arc::ptr_eq(turn, &own)) {
                    return Err("the turn has ended".to_owned());
                }
            }
            if all != held {
                self.store(session, &all, |prompts| prompts).await?;
            }
            // What was found meanwhile: by a call that could not wait, or on another connection.
            let more = self.labels(session).without(&all);
            if more.is_empty() {
                self.show(session, &before);
                return Ok(());
            }
            held.join(&more);
        }
    }

    /// Says what makes it three, and where each label came from.
    pub(crate) fn three(held: &Labels, brings: &Labels, what: &str) -> String {
        let more = brings.without(held);
        let sources = held.sources();
        if more.is_empty() {
            return format!(
                "{what} acts outside once more, in a session that holds {held}: {sources}"
            );
        }
        let new = more.sources();
        if held.is_empty() {
            return format!("{what} brings all three: {new}");
        }
        format!("{what} makes it three. It brings {new}. The session holds {held}: {sources}")
    }

    /// What a call brings, with the files that were written under A. `held` is what the session held before it.
    pub(crate) async fn with_files(
        &self,
        session: &str,
        effects: &Effects,
        held: &Labels,
    ) -> Result<Brought, String> {
        let mut brought = Brought {
            certain: effects.brings.clone(),
            assumed: effects.assumed.clone(),
        };
        if effects.is_build
            && let Some(file) = self.with(session, |own| own.fetching(&effects.reads))
        {
            let shown = LogTitle(Some(&file));
            let source =
                format!("{shown}, which this session has written, and which uses the network");
            brought.certain.add(&[Label::A], &source);
        }
        let matters = !brought.certain.has(Label::A) || !brought.assumed.is_empty();
        let reads = effects.reads_any || !effects.reads.is_empty();
        let is_first = !held.has(Label::A) && matters && reads;
        if !is_first && effects.by_git.is_empty() {
            return Ok(brought);
        }
        let loaded = ledger::files(Keeper::Project(session)).await;
        let files = loaded.map_err(unstored)?;
        if is_first && let Some(file) = files.read_by(effects) {
            let source = format!("{}, written under A", LogTitle(Some(file)));
            brought.certain.add(&[Label::A], &source);
            // A command may run what it reads.
            brought.certain.join(&effects.assumed);
        }
        let home = key("", self.directory(session).as_ref());
        if files.have_git(&home) {
            brought.certain.join(&effects.by_git);
        }
        Ok(brought)
    }

    /// Files that are written under A are text from outside for later sessions: those of the project, and in all
    /// projects those outside that agents read by themselves.
    pub(crate) async fn note_writes(&self, session: &str, effects: &Effects) -> Result<(), String> {
        if !self.labels(session).has(Label::A) {
            return Ok(());
        }
        for (of, written) in [
            (Keeper::Project(session), &effects.writes),
            (Keeper::User, &effects.instructs),
        ] {
            let add = |files: &mut ledger::Files| {
                for path in written {
                    files.add(path);
                }
            };
            if !written.is_empty() {
                ledger::change_files(of, add).await.map_err(unstored)?;
            }
        }
        Ok(())
    }

    /// Decides about a result before the agent's model reads it. `kind` is that of a secret in it.
    pub(crate) async fn result(
        &self,
        session: &str,
        title: &str,
        kind: &str,
    ) -> Result<(), String> {
        let gate = self.with(session, |own| Arc::clone(&own.gate.lock));
        let _alone = gate.lock().await;
        self.prepare(session).await?;
        let source = format!("{kind} in the result of {title}");
        let brings = Brought::from(Labels::of(&[Label::B], &source));
        let what = format!("the result of {title}");
        self.take(session, &brings, &what, Some(&gate)).await
    }

    /// Decides about a prompt, and counts it.
    pub(crate) async fn admit(&self, session: &str, effects: &Effects) -> Result<(), String> {
        let gate = self.with(session, |own| Arc::clone(&own.gate.lock));
        let _alone = gate.lock().await;
        self.prepare(session).await?;
        let brought = self
            .with_files(session, effects, &self.labels(session))
            .await?;
        self.take(session, &brought, "this prompt", None).await?;
        let labels = self.labels(session);
        let more = |prompts: u64| prompts.saturating_add(1);
        self.store(session, &labels, more).await
    }

    /// Loads what is stored of a session, and stores what is not. An error says why nothing may go on.
    pub(crate) async fn prepare(&self, session: &str) -> Result<(), String> {
        let (is_loaded, is_unstored) = self.with(session, |own| (own.is_loaded, own.is_unstored));
        let held = self.labels(session);
        if is_loaded && is_unstored {
            return self.store(session, &held, |prompts| prompts).await;
        }
        if !is_loaded {
            let begun = self.beginning(session).await?;
            let mut labels = held.clone();
            labels.join(&begun.labels);
            let known = |prompts: u64| prompts.max(begun.prompts);
            self.store(session, &labels, known).await?;
            self.show(session, &held);
        }
        Ok(())
    }

    /// What a session holds when it is first used on this connection.
    async fn beginning(&self, session: &str) -> Result<Record, String> {
        let setups = &self.state.setups;
        let history = setups.history(session);
        let (parent, replayed) = match &history {
            History::Of { parent, replayed } => (&**parent, *replayed),
            History::New | History::Unknown => (session, 0),
        };
        let found = ledger::load(session, parent).await.map_err(unstored)?;
        let is_forked = parent != session && self.state.sessions.is_loaded(parent);
        let went_on = match (&history, &found) {
            (History::New, _) => false,
            (History::Unknown, _) | (_, None) => true,
            (History::Of { .. }, Some(_)) if is_forked => false,
            (History::Of { .. }, Some(record)) if replayed == 0 => {
                record.prompts > 0 && self.resumed == Resumed::Unknown
            }
            (History::Of { .. }, Some(record)) => replayed > record.prompts,
        };
        let mut record = found.unwrap_or_default();
        if is_forked {
            // Some of them may not be stored yet, or in another project.
            record.labels.join(&self.labels(parent));
        }
        if self.judge.is_untrusted(setups.cwd(session).as_deref()) {
            let source = "the project, which is not trusted";
            record.labels.add(&[Label::A], source);
        }
        if went_on {
            let source = "what may have happened in the session without this proxy";
            record.labels.add(&[Label::A, Label::B], source);
        }
        if !record.labels.has(Label::A) {
            let loaded = ledger::files(Keeper::Project(session)).await;
            let own = loaded.map_err(unstored)?;
            let outside = ledger::files(Keeper::User).await.map_err(unstored)?;
            let home = key("", self.directory(session).as_ref());
            let in_project = own.instructions(&home);
            if let Some(file) = in_project.or_else(|| outside.instructions("")) {
                let shown = LogTitle(Some(file));
                let source = format!("{shown}, written under A, which agents read by themselves");
                record.labels.add(&[Label::A], &source);
            }
        }
        record.prompts = record.prompts.max(replayed);
        Ok(record)
    }

    /// Stores labels of a session beside those that are stored, and changes the number of its prompts.
    async fn store(
        &self,
        session: &str,
        labels: &Labels,
        prompts: impl Fn(u64) -> u64,
    ) -> Result<(), String> {
        let change = |record: &mut Record| {
            record.labels.join(labels);
            record.prompts = prompts(record.prompts);
        };
        let record = ledger::change(session, change).await.map_err(unstored)?;
        self.with(session, |own| {
            own.labels.join(&record.labels);
            // What was found meanwhile is stored next time.
            own.is_unstored = !own.labels.without(&record.labels).is_empty();
            own.is_loaded = true;
        });
        self.keep();
        Ok(())
    }

    /// Stops a turn, once.
    pub(crate) fn halt(&self, session: &str, why: &str) {
        let halts = self.with(session, |own| own.gate.halt(why));
        if halts {
            self.tell(session, &format!("the turn is stopped: {why}"));
            if let Err(error) = Peer::Agent.notify(CANCEL, json!({ "sessionId": session })) {
                warn!("the turn cannot be stopped: {error}");
            }
            self.keep();
        }
    }

    /// Shows the labels of a session, and where those came from that it did not hold before.
    pub(crate) fn show(&self, session: &str, before: &Labels) {
        let labels = self.labels(session);
        let new = labels.without(before);
        if !new.is_empty() {
            self.tell(session, &format!("{labels} {}", new.sources()));
        }
    }

    pub(crate) fn labels(&self, session: &str) -> Labels {
        self.with(session, |own| own.labels.clone())
    }

    pub(crate) fn directory(&self, session: &str) -> Option<Directory> {
        Directory::of(&self.state.setups.cwd(session)?)
    }

    pub(crate) fn with<T>(&self, session: &str, look: impl FnOnce(&mut Session) -> T) -> T {
        self.state.sessions.with(session, look)
    }

    pub(crate) fn tell(&self, session: &str, text: &str) {
        info!("{text}");
        if let Err(error) = self.state.version.get().tell(session, text) {
            debug!("the user was not notified: {error}");
        }
    }

    pub(crate) fn keep(&self) {
        if let Err(error) = save(&self.state) {
            warn!("the state is not saved; if the proxy breaks, sessions hold A and B: {error}");
        }
    }
}

/// What a call, a result or a prompt brings.
pub(crate) struct Brought {
    pub(crate) certain: Labels,
    /// What it may bring besides if text from outside steers it.
    pub(crate) assumed: Labels,
}

impl Brought {
    /// What it brings to a session that holds these labels.
    pub(crate) fn to(&self, held: &Labels) -> Labels {
        let mut brings = self.certain.clone();
        if held.has(Label::A) {
            brings.join(&self.assumed);
        }
        brings
    }
}

impl From<Labels> for Brought {
    fn from(certain: Labels) -> Self {
        Self {
            certain,
            assumed: Labels::default(),
        }
    }
}

/// Whether labels make it three, or add an act outside to three.
pub(crate) fn makes_three(held: &Labels, brings: &Labels) -> bool {
    let mut all = held.clone();
    all.join(brings);
    all.are_three() && (!held.are_three() || brings.has(Label::C))
}

pub(crate) fn unstored(error: String) -> String {
    format!("the labels of the session cannot be stored: {error}")
}
