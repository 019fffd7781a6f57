//! An agent behind `brake`: a loop of the same call is stopped, a day's budget holds for two connections at once and for
//! a later one, and a limit on tokens holds if the agent reports any.
//!
//! How often a command ran is seen from the file to which it adds a line.

use std::fs;

use acp_chain_acp::PROMPT;
use anyhow::Result;
use serde_json::json;

use super::{Record, TO_END, Trial, turn};
use crate::agents::hooked::Hooked;
use crate::agents::places::Place;
use crate::agents::roster::Launch;
use crate::agents::steps::{Outcome, Step};

/// The file with a line for each run.
const RUNS: &str = "runs";

/// How often the same call may be made in a turn.
const SAME: usize = 3;

/// How many calls a day may have.
const DAY: usize = 5;

/// What `brake` answers with in place of the agent.
const NOT_SENT: &str = "the prompt was not sent to the agent";

/// Takes the steps, and adds their outcomes to the record.
pub fn steps(hooked: &Hooked, place: &Place, launch: &Launch, record: Record) -> Result<Record> {
    let limits = json!({
        "repeats": {"same-call": SAME, "action": "stop"},
        "day": {"tool-calls": DAY, "action": "stop"},
    });
    hooked.write_chain(place, &[json!({"use": "brake", "config": limits})])?;
    // An agent that is stopped by `session/cancel` has begun one call more.
    let more = usize::from(hooked.only_asks);

    let mut first = Trial::connect(place, launch, "brake-first", record)?;
    first.greet()?;
    first.take_turn(&repeat(place))?;
    let made = runs(place);
    let is_stopped = (SAME..=SAME + more).contains(&made);
    first.note(Step::StopsLoop, is_stopped);

    let mut second = Trial::connect(place, launch, "brake-second", Record::default())?;
    second.greet()?;
    second.take_turn(&repeat(place))?;
    let total = runs(place);
    let is_kept = (DAY..=DAY + more).contains(&total);
    // Whether it leaves a process is seen when the first one ends.
    second.client.close(TO_END)?;
    let is_refused = first.has_no_turn()?;
    let record = first.exit()?;

    let mut later = Trial::connect(place, launch, "brake-later", record)?;
    later.greet()?;
    let works = is_kept && is_refused && later.has_no_turn()?;
    later.note(Step::KeepsBudget, works);
    let record = later.exit()?;
    count_tokens(hooked, place, launch, record)
}

/// Takes two turns in a session that may use one token: the model reports more for the first.
fn count_tokens(hooked: &Hooked, place: &Place, launch: &Launch, record: Record) -> Result<Record> {
    let limits = json!({"session": {"tokens": 1, "action": "stop"}});
    hooked.write_chain(place, &[json!({"use": "brake", "config": limits})])?;
    let mut trial = Trial::connect(place, launch, "brake-tokens", record)?;
    trial.greet()?;
    let session = trial.open_permissive()?;
    trial.client.ask(PROMPT, turn(&session, "text"))?;
    trial.client.heard();
    trial.client.ask(PROMPT, turn(&session, "text"))?;
    let said = trial.client.text().trim().to_owned();
    // Without a report, nothing can be counted.
    let outcome = if said.contains(NOT_SENT) {
        Outcome::of(Step::CountsTokens, true, said)
    } else {
        Outcome::not_offered(Step::CountsTokens)
    };
    trial.record.outcomes.push(outcome);
    trial.exit()
}

/// The script of a model that makes the same call again and again.
fn repeat(place: &Place) -> String {
    format!("loop echo run >> {}", place.work.join(RUNS).display())
}

fn runs(place: &Place) -> usize {
    let lines = fs::read_to_string(place.work.join(RUNS)).unwrap_or_default();
    lines.lines().count()
}

impl Trial<'_> {
    /// Whether a prompt is answered by `brake`, and the model gets none.
    fn has_no_turn(&mut self) -> Result<bool> {
        let before = self.place.model.requests()?;
        self.client.heard();
        self.take_turn("text")?;
        let after = self.place.model.requests()?;
        let is_asked = after[before.len()..]
            .iter()
            .any(|line| line.contains("[[text]]"));
        Ok(self.client.text().contains(NOT_SENT) && !is_asked)
    }

    fn note(&mut self, step: Step, works: bool) {
        let made = runs(self.place);
        let said = format!("{made} runs, \"{}\"", self.client.text().trim());
        let outcome = Outcome::of(step, works, said);
        self.record.outcomes.push(outcome);
    }
}
