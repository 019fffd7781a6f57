//! What cannot wait: calls that an agent without hooks begins without a question, their results, and the ends of turns.
//!
//! Labels that such a call brings are held at once. One that makes it three has begun, so its turn is stopped.

use std::rc::Rc;

use acp_chain_proxy::{Head, Json, Response, Version, read, spawn};

use crate::guard::{Brought, CallName, ENDED, Guard, MENTIONED, REFUSED, STEERED, makes_three};
use crate::handlers::session;
use crate::judge::Effects;
use crate::label::{Label, Labels};
use crate::session::Session;

impl Guard {
    /// Takes note of an update.
    pub(crate) fn updated(self: &Rc<Self>, head: &Head) {
        let session = session(head);
        // Most are chunks of answers, of which no more is read.
        let found: Option<String> = head.read("/update/sessionUpdate");
        let kind = found.as_deref().unwrap_or_default();
        self.state.setups.on_update(session, kind, head);
        let has_hooks = self.state.has_hooks.get();
        if !has_hooks {
            self.turns.on_update(head, found.as_deref());
        }
        match kind {
            // An old session is replayed outside of turns.
            "tool_call" | "tool_call_update" if !has_hooks && self.has_turn(session) => {
                self.mentioned(session, head);
            }
            "tool_call" | "tool_call_update" if has_hooks => self.fetched(session, head),
            "tool_call_content_chunk" if !has_hooks && self.has_turn(session) => {
                self.shown(session, head, "/update/content", "what is shown of a call");
            }
            "state_update" => self.changed_state(session, head),
            _ => {}
        }
    }

    /// Takes note of the answer to a prompt.
    pub(crate) fn answered(&self, response: &Response) {
        self.turns.on_answer(response);
        if self.state.version.get() == Version::V1 || response.ends_turn() {
            self.with(session(&response.head), |own| own.end(1));
            self.keep();
        }
    }

    /// What the agent has read through the editor.
    pub(crate) fn read_by_editor(self: &Rc<Self>, head: &Head) {
        if !self.state.has_hooks.get() {
            self.shown(session(head), head, "", "what the agent reads");
        }
    }

    /// Looks for secrets in what the agent has got.
    fn shown(self: &Rc<Self>, session: &str, head: &Head, at: &str, title: &str) {
        if let Some(body) = read(head.id, at).ok().flatten() {
            let effects = Effects {
                brings: self.secrets_in(session, &body, title),
                title: title.to_owned(),
                ..Effects::default()
            };
            self.found(session, effects);
        }
    }

    fn has_turn(&self, session: &str) -> bool {
        self.with(session, |own| own.has_turn())
    }

    /// Version 2: the agent begins to work, or has ended all of its work.
    fn changed_state(&self, session: &str, head: &Head) {
        let is_idle = head.is_idle();
        if self.state.version.get() == Version::V1 || is_idle != self.has_turn(session) {
            return;
        }
        if is_idle {
            self.with(session, |own| own.end(u32::MAX));
        } else {
            self.with(session, Session::begin);
        }
        self.keep();
    }

    /// The agent mentions a call that has begun.
    fn mentioned(self: &Rc<Self>, session: &str, head: &Head) {
        let status: Option<String> = head.read("/update/status");
        let has_failed = status.as_deref() == Some("failed");
        let has_begun = status.is_some_and(|status| status != "pending");
        let Some(id) = head.read::<String>("/update/toolCallId") else {
            return;
        };
        let name = CallName::by_id(&id);
        self.note_reuse(session, name, head);
        if !has_begun {
            return;
        }
        let may_be_steered = self.may_be_steered(session, name);
        let call = self.turns.call(session, &id);
        let directory = self.directory(session);
        let mut effects = self.judge.effects(&call, None, directory.as_ref());
        if !may_be_steered {
            effects.assumed = Labels::default();
        }
        // It was decided about before it began, or did not run: agents show a call that was refused as failed.
        let was_refused = self.with(session, |own| {
            own.has_decided(CallName::marked(name, REFUSED))
        });
        let update = read(head.id, "/update").ok().flatten();
        let is_decided = self.with(session, |own| own.has_decided(name));
        if is_decided && self.has_other_input(session, update.as_ref()) {
            let decided = self.decided_labels(session, name);
            for labels in [
                &mut effects.brings,
                &mut effects.assumed,
                &mut effects.by_git,
            ] {
                labels.clear(&decided);
            }
        } else if is_decided || (was_refused && has_failed) {
            effects = Effects {
                title: effects.title,
                ..Effects::default()
            };
        }
        if let Some(update) = update {
            let source = format!("what is shown of {}", effects.title);
            let secrets = self.secrets_in(session, &update, &source);
            effects.brings.join(&secrets);
        }
        self.found(session, effects);
    }

    /// Whether an update shows another input of its call than was decided about.
    fn has_other_input(&self, session: &str, update: Option<&Json>) -> bool {
        let given = update.filter(|update| update.at::<Json>("/rawInput").is_some());
        let name = given.and_then(|update| CallName::of(update, ""));
        name.is_some_and(|name| self.with(session, |own| !own.has_decided(name.exact())))
    }

    /// The labels of a call that were decided about.
    fn decided_labels(&self, session: &str, call: u64) -> Vec<Label> {
        let is_decided = |label: &Label| {
            let mark = CallName::marked(call, label.name());
            self.with(session, |own| own.has_decided(mark))
        };
        Label::ALL.into_iter().filter(is_decided).collect()
    }

    /// Forgets what is known of a call that has ended, if the agent begins another one with its id.
    fn note_reuse(&self, session: &str, call: u64, head: &Head) {
        let text = |name: &str| head.read::<String>(&format!("/update/{name}"));
        let is_new = text("sessionUpdate").as_deref() == Some("tool_call");
        let is_open = |status: &str| matches!(status, "pending" | "in_progress");
        let has_ended = text("status").is_some_and(|status| !is_open(&status));
        let marks = [MENTIONED, STEERED, ENDED, REFUSED];
        let ended = CallName::marked(call, ENDED);
        self.with(session, |own| {
            if is_new && own.has_decided(ended) {
                own.forget(call);
                for mark in marks {
                    own.forget(CallName::marked(call, mark));
                }
            }
            if has_ended {
                own.decide(ended);
            }
        });
    }

    /// Whether text from outside may have steered a call that has begun: not the text that the call itself has brought
    /// by an earlier update.
    fn may_be_steered(&self, session: &str, call: u64) -> bool {
        let [mentioned, steered] = [MENTIONED, STEERED].map(|mark| CallName::marked(call, mark));
        self.with(session, |own| {
            if own.has_decided(mentioned) {
                return own.has_decided(steered);
            }
            own.decide(mentioned);
            if own.labels.has(Label::A) {
                own.decide(steered);
            }
            true
        })
    }

    /// A call at the model's provider has no hook, but is shown. It may fetch what anybody has written.
    fn fetched(self: &Rc<Self>, session: &str, head: &Head) {
        let text = |name: &str| head.read::<String>(&format!("/update/{name}"));
        let Some(id) = text("toolCallId").filter(|_| self.has_turn(session)) else {
            return;
        };
        let name = CallName::by_id(&id);
        let mark = CallName::marked(name, "fetch");
        let is_fetch = text("kind").as_deref() == Some("fetch")
            || text("rawInput/type").as_deref() == Some("webSearch");
        if is_fetch {
            self.with(session, |own| own.decide(mark));
        }
        let is_done = text("status").as_deref() == Some("completed");
        let is_new = self.with(session, |own| {
            own.has_decided(mark) && !own.has_decided(name)
        });
        if is_done && is_new {
            let title = "a tool of the model's provider".to_owned();
            let all = Labels::of(&[Label::A, Label::C], &title);
            let effects = Effects {
                brings: all.without(&self.labels(session)),
                title,
                ..Effects::default()
            };
            self.found(session, effects);
        }
    }

    fn secrets_in(&self, session: &str, body: &Json, source: &str) -> Labels {
        if self.labels(session).has(Label::B) {
            return Labels::default();
        }
        let found = self.secrets.find(&body.spelling(), self.find_secrets);
        found.map_or_else(Labels::default, |kind| {
            Labels::of(&[Label::B], &format!("{kind} in {source}"))
        })
    }

    /// Holds what was found, and stores it after the current call.
    fn found(self: &Rc<Self>, session: &str, effects: Effects) {
        let reads = effects.reads_any || !effects.reads.is_empty();
        let held = self.labels(session);
        let brought = Brought {
            certain: effects.brings.clone(),
            assumed: effects.assumed.clone(),
        };
        let brings = brought.to(&held);
        let writes = !effects.writes.is_empty() || !effects.instructs.is_empty();
        if brings.is_empty() && !reads && !writes {
            return;
        }
        self.add(session, &brings);
        let (guard, session) = (Rc::clone(self), session.to_owned());
        spawn(async move {
            if let Err(why) = guard.follow(&session, &effects, &held).await {
                guard.halt(&session, &why);
            }
        });
    }

    /// Stores what a call has brought. An error if its turn must not go on.
    async fn follow(&self, session: &str, effects: &Effects, held: &Labels) -> Result<(), String> {
        self.prepare(session).await?;
        let mut earlier = self.labels(session).without(&effects.brings);
        earlier.join(held);
        let brought = self.with_files(session, effects, &earlier).await?;
        let brings = brought.to(&earlier);
        self.add(session, &brings);
        self.prepare(session).await?;
        self.show(session, held);
        self.note_writes(session, effects).await?;
        // What the session held before is known only now.
        let mut before = self.labels(session).without(&brings);
        before.join(held);
        if makes_three(&before, &brings) {
            let why = Self::three(&before, &brings, &effects.title);
            return Err(format!("{why}; it could not be held"));
        }
        Ok(())
    }

    fn add(&self, session: &str, brings: &Labels) {
        self.with(session, |own| {
            own.is_unstored |= !brings.without(&own.labels).is_empty();
            own.labels.join(brings);
        });
    }
}
