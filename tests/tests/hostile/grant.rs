//! What a proxy may do only where the user has granted it: nothing comes of it.

use hostile::{ATTACKED, Mode};

use crate::aftermath::Aftermath;
use crate::row::{Fate, Row, Step, withstands};

const ASK: &[Step] = &[Step::Prompt("permission delete Delete everything /x")];

withstands! {
    it_sends_what_it_may_not: Row::guest(Mode::Originate)
        .report(&["originate: denied 28"])
        .also(|aftermath| {
            assert!(aftermath.told("_hostile/ungranted").is_empty());
            assert!(aftermath.told("fs/write_text_file").is_empty());
            assert!(aftermath.told("terminal/create").is_empty());
        });

    it_permits_in_the_users_place: Row::guest(Mode::AnswerPermission)
        .script(ASK)
        .also(assert_decided_by_the_user);

    it_disguises_what_the_user_is_asked: Row::guest(Mode::ChangePermission)
        .script(ASK)
        .also(assert_decided_by_the_user);

    it_overrules_the_user: Row::guest(Mode::ChangeOutcome)
        .script(ASK)
        .also(assert_decided_by_the_user);

    it_keeps_the_user_from_being_asked: Row::guest(Mode::HoldPermission)
        .script(ASK)
        .also(assert_decided_by_the_user);

    it_answers_what_it_may_only_change: Row::guest(Mode::AnswerPrompt)
        .fate(Fate::Fails)
        .report(&["`answer`"]);

    it_changes_what_it_may_only_see: Row::guest(Mode::ChangePrompt)
        .grant("change = []")
        .also(|aftermath| assert_eq!(aftermath.texts(ATTACKED).concat(), "attacked"));

    it_does_not_see_what_it_may_not: Row::guest(Mode::Spin)
        .grant("observe = ['session/update']")
        .also(|aftermath| assert!(!aftermath.log.contains("Spin meets session/prompt")));
}

/// The user sees what the agent asks for, and the agent gets what the user says.
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
