//! No sequence of calls side by side, answers and turns lets more run than the limits allow.

use acp_chain_proxy::values::Keeper;
use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Step {
    /// A hook reports a call, with an id or without.
    Run(bool),
    /// The agent shows the next call before its hook reports it.
    Mention,
    /// The user answers the oldest question.
    Answer(bool),
    /// The turn ends, and another one begins if no limit is reached.
    Turn,
    /// Another editor makes calls.
    Other(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        5 => any::<bool>().prop_map(Step::Run),
        1 => Just(Step::Mention),
        2 => any::<bool>().prop_map(Step::Answer),
        1 => Just(Step::Turn),
        1 => (1..3_u64).prop_map(Step::Other),
    ];
    proptest::collection::vec(step, 1..60)
}

/// What happened in a period: the calls that ran, and how often the user let the agent go on.
#[derive(Debug, Default)]
struct Period {
    ran: u64,
    yeses: u64,
}

struct Play {
    host: Host,
    /// The prompts that the agent works on.
    prompts: Vec<MessageId>,
    questions: Vec<SentMessage>,
    number: usize,
    /// The turn, the session and the day.
    periods: [Period; 3],
}

impl Play {
    fn step(&mut self, step: &Step) {
        match step {
            Step::Run(has_id) => {
                self.number += 1;
                let (id, command) = (format!("c{}", self.number), format!("make {}", self.number));
                report(&mut self.host, has_id.then_some(&*id), &command);
            }
            Step::Mention => mention(&mut self.host, self.number + 1),
            Step::Answer(yes) if !self.questions.is_empty() => {
                let asked = self.questions.remove(0);
                for period in &mut self.periods {
                    period.yeses += u64::from(*yes);
                }
                answer(&mut self.host, &asked, if *yes { "go-on" } else { "stop" });
            }
            Step::Answer(_) => {}
            Step::Turn => {
                for prompt in std::mem::take(&mut self.prompts) {
                    end(&mut self.host, prompt);
                }
                self.look();
                self.periods[0] = Period::default();
                prompt(&mut self.host);
            }
            Step::Other(calls) => self.other(*calls),
        }
        self.look();
    }

    /// Takes note of what has left the brake.
    fn look(&mut self) {
        let seen = seen(&mut self.host);
        for period in &mut self.periods {
            period.ran += seen.passed.len() as u64;
        }
        self.questions.extend(seen.questions);
        self.prompts.extend(seen.prompts);
    }

    /// Another editor spends what it finds.
    fn other(&mut self, calls: u64) {
        let values = self.host.values(Keeper::User);
        let Some(stored) = values.get("day") else {
            return;
        };
        let mut record: Value = serde_json::from_str(stored).expect("JSON");
        let spent = record["account"]["spent"][2].as_u64().expect("a number");
        record["account"]["spent"][2] = (spent + calls).into();
        self.host
            .put_value(Keeper::User, "day", Some(&record.to_string()));
    }
}

proptest! {
    #[test]
    fn no_limit_is_overshot(steps in steps(), turn in 1..4_u64, session in 1..6_u64, day in 1..9_u64) {
        let config = json!({
            "turn": { "tool-calls": turn }, "session": { "tool-calls": session },
            "day": { "tool-calls": day }, "repeats": {},
        });
        let mut play = Play {
            host: host(config),
            prompts: Vec::new(),
            questions: Vec::new(),
            number: 0,
            periods: <[Period; 3]>::default(),
        };
        play.step(&Step::Turn);
        for step in &steps {
            play.step(step);
            for (period, limit) in play.periods.iter().zip([turn, session, day]) {
                prop_assert!(period.ran <= limit * (1 + period.yeses), "{period:?} of {limit}");
            }
        }
    }
}
