//! Attackers that break at the worst moment.

use hostile::Mode;

use crate::hostile::aftermath::Aftermath;
use crate::hostile::row::{Answer, Fate, PROMPT, Row, Step, withstands};

/// Prompts, one after the other.
const FIVE: &[Step] = &[
    PROMPT,
    Step::Await,
    PROMPT,
    Step::Await,
    PROMPT,
    Step::Await,
    PROMPT,
    Step::Await,
    PROMPT,
];

withstands! {
    it_traps_on_a_message: Row::guest(Mode::Trap)
        .config("count = 1")
        .fate(Fate::Breaks)
        .report(&["hostile::crash::trap", "a trap, as it was to be"]);

    it_traps_on_every_message: Row::guest(Mode::Trap)
        .config("count = 1")
        .script(FIVE)
        .fate(Fate::Loops)
        .report(&["hostile::crash::trap"]);

    it_traps_on_every_third_message: Row::guest(Mode::Trap)
        .config("count = 3")
        .script(&[PROMPT, PROMPT, PROMPT, PROMPT, PROMPT, PROMPT, PROMPT])
        .fate(Fate::Loops)
        .answer(Answer::Any)
        .report(&["hostile::crash::trap"]);

    it_traps_while_it_starts: Row::guest(Mode::TrapInInit)
        .fate(Fate::NeverStarts)
        .report(&["hostile::crash::trap"]);

    it_does_not_want_to_start: Row::guest(Mode::ErrInInit)
        .fate(Fate::NeverStarts)
        .report(&["it does not want to"]);

    it_uses_the_channel_while_it_starts: Row::guest(Mode::SendInInit)
        .report(&["early: denied 3, unknown 3"])
        .also(|aftermath| {
            assert!(aftermath.told("_hostile/early").is_empty());
            assert!(aftermath.told_agent("_hostile/early").is_empty());
        });

    it_cannot_be_started_with_what_it_saved: Row::guest(Mode::SaveAndTrap)
        .script(&[PROMPT, Step::Await, PROMPT])
        .fate(Fate::Loops)
        .report(&["save: ok 1", "hostile::crash::save_then_trap"]);

    what_it_did_in_the_call_that_broke_is_not_done: Row::guest(Mode::SendAndTrap)
        .config("count = 10")
        .fate(Fate::Breaks)
        .report(&["hostile::crash::send_and_trap"])
        .also(|aftermath| {
            assert!(aftermath.told("_hostile/dropped").is_empty());
            assert!(aftermath.told_agent("_hostile/dropped").is_empty());
            assert!(!aftermath.log.contains("what broke has saved"));
        });

    what_it_asked_is_withdrawn: Row::guest(Mode::AskThenTrap)
        .config("count = 5")
        .script(&[PROMPT, Step::Await, PROMPT])
        .fate(Fate::Breaks)
        .report(&["ask: ok 5", "hostile::crash::ask_then_trap"])
        .also(assert_withdrawn);
}

fn assert_withdrawn(aftermath: &Aftermath) {
    let asked = aftermath.told("_hostile/ask");
    assert_eq!(asked.len(), 5);
    let withdrawn = aftermath.told("$/cancel_request");
    for request in asked {
        let id = request.id.as_deref().unwrap_or_default();
        let params = Some(format!(r#"{{"requestId":{id}}}"#));
        let told = withdrawn.iter().filter(|cancel| cancel.params == params);
        assert_eq!(told.count(), 1, "{id}");
    }
}
