//! What the agent reports: calls that it begins without a hook, what it uses, and the ends of turns; and the time.
//!
//! Reports cannot wait, so they are counted at once. While the user is asked about a limit, the agent may spend as much
//! as a yes would allow, and is stopped then.

use std::rc::Rc;
use std::time::Duration;

use acp_chain_proxy::{Head, Response, Version, sleep, spawn};

use crate::account::{Account, Amounts, Limits, Measure, OnLimit, Period};
use crate::brake::Brake;
use crate::calls::{Call, Mentions};
use crate::session::Session;
use crate::usage::{self, Report, Tokens};

/// How often the time of turns is counted.
const TICK: Duration = Duration::from_secs(10);

impl Brake {
    /// Takes note of an update.
    pub(crate) fn updated(self: &Rc<Self>, session: &str, head: &Head) {
        match head.read::<String>("/update/sessionUpdate").as_deref() {
            // An old session is replayed outside of turns.
            Some("tool_call" | "tool_call_update") if self.has_turn(session) => {
                self.mentioned(session, &Call::read(head, "/update"));
            }
            Some("usage_update") => self.reported(session, (None, usage::cost(head))),
            Some("state_update") => self.changed_state(session, head),
            _ => {}
        }
    }

    /// Takes note of the answer to a prompt.
    pub(crate) fn answered(self: &Rc<Self>, session: &str, response: &Response) {
        self.reported(session, (Tokens::read(&response.head, ""), None));
        if self.state.version.get() == Version::V1 || response.ends_turn() {
            self.with(session, |session| session.end(1));
            self.keep();
        }
    }

    /// Version 2: the agent begins to work, or has ended all of its work.
    fn changed_state(self: &Rc<Self>, session: &str, head: &Head) {
        let is_idle = head.is_idle();
        if self.state.version.get() == Version::V1 || is_idle != self.has_turn(session) {
            return;
        }
        if is_idle {
            self.reported(session, (Tokens::read(head, "/update"), None));
            self.with(session, |session| session.end(u32::MAX));
        } else {
            self.with(session, Session::prepare);
            self.with(session, Session::begin);
            self.keep_time();
        }
        self.keep();
    }

    /// The agent mentions a call.
    pub(crate) fn mentioned(self: &Rc<Self>, session: &str, call: &Call) {
        let state = &self.state;
        let mentions = if state.has_named_hooks.get() {
            Mentions::CountUnreported
        } else if state.has_hooks.get() {
            Mentions::Pass
        } else {
            Mentions::Count
        };
        if let Some(added) = self.with(session, |session| session.calls.mention(call, mentions)) {
            self.spend(session, [0, 0, added, 0]);
        }
    }

    fn reported(self: &Rc<Self>, session: &str, report: Report) {
        let prices = self.config.prices.as_ref();
        let added = self.with(session, |session| {
            let is_old = !session.was_prompted;
            session.usage.add(report, prices, is_old)
        });
        if added != Amounts::default() {
            self.state.has_reports.set(true);
            self.spend(session, added);
        }
    }

    /// Counts what cannot wait, and looks at the limits, after the current call. Where no turn runs, the next prompt
    /// finds those that are reached, and only notices are shown.
    fn spend(self: &Rc<Self>, session: &str, added: Amounts) {
        let (brake, session) = (Rc::clone(self), session.to_owned());
        spawn(async move {
            let turn = brake.gate(&session);
            let was_over = brake.limit_of_turn(&session).is_some();
            let mut outcome = brake.count(&session, &added).await;
            let has_turn = brake.has_turn(&session);
            if !has_turn
                && !was_over
                && let Some(reached) = brake.limit_of_turn(&session)
            {
                let text =
                    format!("{reached}; that was reported at its end, so it was not stopped");
                brake.tell(&session, &text);
            }
            let check = |account: &mut Account, limits: &Limits| {
                let matters = has_turn || limits.action == OnLimit::Tell;
                matters.then(|| account.over(limits)).flatten()
            };
            if outcome.is_ok() {
                outcome = brake.pass(&session, check).await;
                brake.keep();
            }
            if let Err(why) = outcome {
                brake.halt(&session, &turn, &why, false);
            }
        });
    }

    /// The limit of the turn that is reached, unless the user is only notified of such limits.
    fn limit_of_turn(&self, session: &str) -> Option<String> {
        let (config, period) = (&self.config, Period::Turn);
        let limits = config.limits(period);
        let stops = limits.action != OnLimit::Tell;
        let over = |session: &mut Session| {
            let measure = session.turn.over(limits).filter(|_| stops)?;
            Some(config.reached(period, measure, &session.turn))
        };
        self.with(session, over)
    }

    /// Counts what was spent in all periods. An error if it must not wait for the answer to an open question.
    async fn count(&self, session: &str, added: &Amounts) -> Result<(), String> {
        let is_waiting = self.with(session, |session| session.is_waiting());
        let mut outcome = Ok(());
        for period in Period::ALL {
            let limits = self.config.limits(period);
            let count = |account: &mut Account| {
                account.add(added);
                let is_due = is_waiting && limits.action != OnLimit::Tell;
                let measure = is_due.then(|| account.beyond(limits)).flatten()?;
                Some(self.config.reached(period, measure, account))
            };
            let counted = self.change(period, session, count).await;
            outcome = outcome.and(counted.and_then(|why| why.flatten().map_or(Ok(()), Err)));
        }
        self.keep();
        outcome
    }

    /// Counts the time of turns, in a task that ends with the last turn.
    pub(crate) fn keep_time(self: &Rc<Self>) {
        if !self.config.limit_any(Measure::Time) || self.ticks.replace(true) {
            return;
        }
        let brake = Rc::clone(self);
        spawn(async move {
            let sessions = &brake.state.sessions;
            while !sessions.with_turns().is_empty() {
                let slept = sleep(TICK).await;
                for session in sessions.with_turns() {
                    if let Err(error) = &slept {
                        let text = format!("the time of turns is not counted: {error}");
                        brake.tell(&session, &text);
                    } else if !brake.with(&session, |session| session.is_held()) {
                        // While the user thinks about a call that waits, the time is not the agent's.
                        brake.spend(&session, [0, 0, 0, TICK.as_secs()]);
                    }
                }
                if slept.is_err() {
                    break;
                }
            }
            brake.ticks.set(false);
        });
    }

    fn has_turn(&self, session: &str) -> bool {
        self.with(session, |session| session.has_turn())
    }
}
