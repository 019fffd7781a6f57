//! The decisions: whether a prompt or a call passes, and what happens at a limit.
//!
//! Prompts, and calls that hooks report, are counted before they pass, and wait while the user is asked about a limit.
//! Only one of a session is looked at at a time, so none passes on what another has spent.

use std::cell::Cell;
use std::mem;
use std::rc::Rc;
use std::sync::Arc;

use acp_chain_calls::gate::{self, refuse};
use acp_chain_proxy::acp::{CANCEL, PERMISSION};
use acp_chain_proxy::{Action, Peer, Version, debug, info, save, warn};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::Mutex;

use crate::account::{Account, Limits, Measure, OnLimit, Period};
use crate::calls::Call;
use crate::config::Config;
use crate::session::{Session, Sessions};
use crate::{ledger, words};

/// The notices with the first prompt.
const NEW: &str = "nothing is stored from before, or it was removed";
const UNREPORTED: &str = "the agent has not reported tokens or cost so far: until it does, limits on these do not \
                          hold, only those on tool calls and minutes";

/// What a later instance gets.
#[derive(Default, Deserialize, Serialize)]
pub(crate) struct State {
    pub(crate) version: Cell<Version>,
    /// Whether the agent has reported what it uses.
    pub(crate) has_reports: Cell<bool>,
    /// Whether a hook has reported a call. Then calls are counted by what hooks report.
    pub(crate) has_hooks: Cell<bool>,
    /// Whether a hook has reported a call with its id.
    #[serde(default)]
    pub(crate) has_named_hooks: Cell<bool>,
    /// Whether the notices of the first prompt were shown.
    pub(crate) is_introduced: Cell<bool>,
    /// The number of the last question.
    questions: Cell<u64>,
    pub(crate) sessions: Sessions,
}

#[derive(Default)]
pub(crate) struct Brake {
    pub(crate) config: Config,
    pub(crate) state: State,
    /// Whether a task counts the time of turns.
    pub(crate) ticks: Cell<bool>,
}

impl Brake {
    /// Decides about a prompt.
    pub(crate) async fn prompt(self: &Rc<Self>, session: &str) -> Action {
        if let Err(why) = self.prepare(session).await {
            return self.answer(session, &why);
        }
        self.with(session, Session::begin);
        self.keep();
        self.keep_time();
        Action::Forward
    }

    async fn prepare(&self, session: &str) -> Result<(), String> {
        if let Some(why) = self.with(session, |session| session.owed.take()) {
            return Err(why);
        }
        self.introduce(session).await;
        self.with(session, Session::prepare);
        self.pass(session, |own, limits| own.full(limits)).await
    }

    /// Shows, with the first prompt, what the user has to know of the budgets.
    async fn introduce(&self, session: &str) {
        let is_first = !self.state.is_introduced.replace(true);
        // Sessions of a connection may be in different projects.
        let is_new = !self.with(session, |session| session.was_prompted);
        for (period, is_due) in [(Period::Day, is_first), (Period::Project, is_new)] {
            let name = period.name();
            if !is_due || self.config.limits(period).is_empty() {
                continue;
            }
            let text = match ledger::load(period, session).await.map(|found| found.since) {
                // The host writes times in UTC.
                Ok(Some(since)) if !since.starts_with(&ledger::today(0)) => continue,
                Err(_) if !self.config.go_on_unstored => continue,
                // On the whole first day, so what is stored since then must not be denied.
                Ok(since) => {
                    let from = since.as_deref().unwrap_or("now");
                    format!("the budget of the {name} counts from {from} on: {NEW}")
                }
                Err(error) => format!("the budget of the {name} does not hold: {error}"),
            };
            self.tell(session, &text);
        }
        let mut reported = [Measure::Tokens, Measure::Cost].into_iter();
        if is_first && !self.state.has_reports.get() && reported.any(|of| self.config.limit_any(of))
        {
            self.tell(session, UNREPORTED);
        }
    }

    /// Answers a prompt in place of the agent. In version 2, only the agent can end a turn.
    fn answer(&self, session: &str, why: &str) -> Action {
        self.keep();
        let text = format!("the prompt was not sent to the agent: {why}");
        gate::answer(self.state.version.get(), session, &text)
    }

    /// Decides about a call that a hook reports before it runs.
    pub(crate) async fn run(&self, session: &str, call: &Call) -> Action {
        let _waits = self.with(session, |session| Rc::clone(&session.waits));
        self.state.has_hooks.set(true);
        if call.has_id() {
            self.state.has_named_hooks.set(true);
        }
        let was_counted = self.with(session, |session| session.calls.report(call));
        let check = |account: &mut Account, limits: &Limits| {
            if was_counted {
                return account.over(limits);
            }
            account.take_call(limits)
        };
        let turn = self.gate(session);
        match self.pass(session, check).await {
            Ok(()) => {
                self.keep();
                Action::Forward
            }
            Err(why) => {
                self.halt(session, &turn, &why, false);
                refuse(&why)
            }
        }
    }

    /// Passes if the turn is not stopped, nothing is repeated too often, and this check finds no limit that is reached;
    /// or these limits are raised. The state is to be kept afterwards.
    pub(crate) async fn pass(
        &self,
        session: &str,
        check: impl Fn(&mut Account, &Limits) -> Option<Measure>,
    ) -> Result<(), String> {
        let gate = self.gate(session);
        let _alone = gate.lock().await;
        if let Some(why) = self.with(session, |session| session.gate.halted.clone()) {
            return Err(why);
        }
        let repeats = &self.config.repeats;
        while let Some(found) = self.with(session, |session| session.calls.repetition(repeats)) {
            self.resolve(session, &gate, repeats.action, &found.text)
                .await?;
            // A late answer is about no other turn.
            if !Arc::ptr_eq(&self.gate(session), &gate) {
                break;
            }
            self.with(session, |session| session.calls.raise(&found));
        }
        for period in Period::ALL {
            let limits = self.config.limits(period);
            let look = |account: &mut Account| {
                let measure = check(account, limits)?;
                Some((measure, self.config.reached(period, measure, account)))
            };
            while let Some((measure, reached)) = self.change(period, session, look).await?.flatten()
            {
                self.resolve(session, &gate, limits.action, &reached)
                    .await?;
                let raise = |account: &mut Account| account.raise(measure, limits);
                self.change(period, session, raise).await?;
            }
        }
        Ok(())
    }

    /// Changes the account of a period. `None` if it has no limits, or the user lets the agent go on without it.
    pub(crate) async fn change<T>(
        &self,
        period: Period,
        session: &str,
        mut change: impl FnMut(&mut Account) -> T,
    ) -> Result<Option<T>, String> {
        let today = match period {
            Period::Turn => return Ok(Some(self.with(session, |own| change(&mut own.turn)))),
            Period::Session => return Ok(Some(self.with(session, |own| change(&mut own.total)))),
            _ if self.config.limits(period).is_empty() => return Ok(None),
            Period::Day => ledger::today(self.config.utc_offset.saturating_mul(60)),
            Period::Project => String::new(),
        };
        let name = period.name();
        match ledger::change(period, session, &today, change).await {
            Ok((changed, is_new)) => {
                let was_stored = self.with(session, |session| {
                    mem::replace(&mut session.stored[period as usize], true)
                });
                if is_new && was_stored {
                    let text = format!("the budget of the {name} was removed, and counts anew");
                    self.tell(session, &text);
                }
                Ok(Some(changed))
            }
            Err(error) => {
                let text = format!("the budget of the {name} cannot be counted: {error}");
                warn!("{text}");
                self.config.go_on_unstored.then_some(None).ok_or(text)
            }
        }
    }

    /// Acts on a limit that is reached. An error if the agent may not go on.
    async fn resolve(
        &self,
        session: &str,
        turn: &Arc<Mutex<()>>,
        action: OnLimit,
        reached: &str,
    ) -> Result<(), String> {
        let allowed = match action {
            OnLimit::Tell => {
                self.tell(session, reached);
                Ok(())
            }
            OnLimit::Ask => self.ask(session, reached).await,
            OnLimit::Stop => Err(reached.to_owned()),
        };
        if let Err(why) = &allowed {
            self.halt(session, turn, why, action == OnLimit::Stop);
        }
        allowed
    }

    /// Asks the user whether the agent may go on. An error if there is no yes of a person, with the reason.
    async fn ask(&self, session: &str, reached: &str) -> Result<(), String> {
        let number = self.state.questions.get() + 1;
        self.state.questions.set(number);
        let params = words::question(self.state.version.get(), session, number, reached);
        let asked = Peer::Client.request(PERMISSION, params);
        let is_early = gate::early(self.config.least_time());
        let answer = asked.await;
        if !answer.is_ok_and(|answer| words::is_yes(&answer)) {
            return Err(reached.to_owned());
        }
        if is_early.get() {
            return Err(format!(
                "{reached}; the yes came faster than a person can give it, and does not count"
            ));
        }
        Ok(())
    }

    /// The gate of the current turn.
    pub(crate) fn gate(&self, session: &str) -> Arc<Mutex<()>> {
        self.with(session, |session| Arc::clone(&session.gate.lock))
    }

    /// Stops the turn of this gate, once: a late answer stops no other one. Where the user was not asked, the next
    /// prompt is answered with the reason.
    pub(crate) fn halt(&self, session: &str, turn: &Arc<Mutex<()>>, why: &str, is_owed: bool) {
        let halts = self.with(session, |session| {
            let halts = Arc::ptr_eq(&session.gate.lock, turn) && session.gate.halt(why);
            if halts {
                let owed = format!("the last turn was stopped, as {why}; send it again");
                session.owed = is_owed.then_some(owed);
            }
            halts
        });
        if halts {
            self.tell(session, &format!("the turn is stopped: {why}"));
            if let Err(error) = Peer::Agent.notify(CANCEL, json!({ "sessionId": session })) {
                warn!("the turn cannot be stopped: {error}");
            }
            self.keep();
        }
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
            warn!("what was spent is not saved, and forgotten if the proxy breaks: {error}");
        }
    }
}
