//! Actions without the power for them: they have no effect.

use hostile::{ATTACKED, Mode};

use crate::hostile::aftermath::Aftermath;
use crate::hostile::row::{Fate, Row, Step, withstands};

const ASK: &[Step] = &[Step::Prompt("permission delete Delete everything /x")];

/// The powers to see a whole turn, but not to send anything.
const NO_WORD: &str = "powers = ['prompts.read', 'prompts.change', 'answers.read', 'turns.read']";

/// The powers to see the user's decision, and to decide other things.
const NO_DECISION: &str = "powers = [
    'prompts.read', 'prompts.change', 'answers.read', 'answers.change', 'tool-calls.change',
    'turns.read', 'permissions.read', 'questions.answer', 'files.change',
]";

withstands! {
    it_sends_what_it_may_not: Row::guest(Mode::Originate)
        .grant(NO_WORD)
        .report(&["originate: denied 28"])
        .also(|aftermath| {
            assert!(aftermath.told("_hostile/ungranted").is_empty());
            assert!(aftermath.told("fs/write_text_file").is_empty());
            assert!(aftermath.told("terminal/create").is_empty());
        });

    it_permits_in_the_users_place: Row::guest(Mode::AnswerPermission)
        .grant(NO_DECISION)
        .script(ASK)
        .also(assert_decided_by_the_user);

    it_disguises_what_the_user_is_asked: Row::guest(Mode::ChangePermission)
        .grant(NO_DECISION)
        .script(ASK)
        .also(assert_decided_by_the_user);

    it_overrules_the_user: Row::guest(Mode::ChangeOutcome)
        .grant(NO_DECISION)
        .script(ASK)
        .also(assert_decided_by_the_user);

    it_keeps_the_user_from_being_asked: Row::guest(Mode::HoldPermission)
        .grant(NO_DECISION)
        .script(ASK)
        .also(assert_decided_by_the_user);

    it_answers_what_it_may_only_change: Row::guest(Mode::AnswerPrompt)
        .grant("powers = ['prompts.read', 'prompts.change']")
        .fate(Fate::Fails)
        .report(&["`prompts.answer`"]);

    it_changes_what_it_may_only_see: Row::guest(Mode::ChangePrompt)
        .grant("powers = ['prompts.read', 'answers.change']")
        .also(|aftermath| assert_eq!(aftermath.texts(ATTACKED).concat(), "attacked"));

    it_stores_values_without_the_power: Row::guest(Mode::StoreForEver)
        .grant("powers = ['prompts.read']")
        .report(&["store: denied 2"]);

    it_does_not_see_what_it_may_not: Row::guest(Mode::Spin)
        .grant("powers = ['answers.read']")
        .also(|aftermath| assert!(!aftermath.log.contains("Spin meets session/prompt")));
}

/// The user sees the agent's request, and the agent gets the user's decision.
fn assert_decided_by_the_user(aftermath: &Aftermath) {
    let session = format!(r#""sessionId":"{ATTACKED}""#);
    let mut asked = aftermath.told("session/request_permission");
    asked.retain(|message| message.line.contains(&session));
    let [question] = asked[..] else {
        panic!("{} questions", asked.len())
    };
    assert!(
        question.line.contains("Delete everything"),
        "{}",
        question.line
    );
    assert_eq!(aftermath.texts(ATTACKED), ["selected reject-once"]);
}
