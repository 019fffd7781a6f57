//! Numbers that are not the proxy's own, and actions that make no sense.

use hostile::{ATTACKED, Mode, NEIGHBOUR};

use crate::hostile::row::{Answer, Fate, PROMPT, Row, Step, withstands};

const STREAM: &[Step] = &[Step::Prompt("stream 5")];

withstands! {
    it_uses_numbers_that_are_not_its_own: Row::guest(Mode::Numbers)
        .report(&["numbers: unknown 20"]);

    it_settles_in_ways_that_do_not_fit_and_twice: Row::guest(Mode::SettleTwice)
        .script(&[PROMPT, Step::Tell])
        .report(&["settle: invalid 3, ok 1, unknown 2"])
        .also(|aftermath| assert_eq!(aftermath.texts(ATTACKED).concat(), "attacked"));

    it_drops_a_request: Row::guest(Mode::Misfit)
        .config("kind = 'request'")
        .fate(Fate::Fails);

    it_refuses_a_notification: Row::guest(Mode::Misfit)
        .config("kind = 'notification'")
        .script(STREAM)
        .loses()
        .fate(Fate::Fails)
        .answer(Answer::Passes);

    it_answers_an_answer: Row::guest(Mode::Misfit)
        .config("kind = 'response'")
        .fate(Fate::Fails);

    it_makes_of_a_request_what_is_not_json: Row::guest(Mode::NotJson)
        .config("kind = 'request'")
        .fate(Fate::Fails);

    it_answers_with_what_is_not_json: Row::guest(Mode::NotJson)
        .config("kind = 'request'\ncount = 1")
        .fate(Fate::Fails);

    it_refuses_with_data_that_are_not_json: Row::guest(Mode::NotJson)
        .config("kind = 'request'\ncount = 2")
        .fate(Fate::Fails);

    it_makes_of_a_notification_what_is_not_json: Row::guest(Mode::NotJson)
        .config("kind = 'notification'")
        .script(STREAM)
        .loses()
        .fate(Fate::Fails)
        .answer(Answer::Passes);

    it_makes_of_a_response_what_is_not_json: Row::guest(Mode::NotJson)
        .config("kind = 'response'")
        .fate(Fate::Fails);

    it_hides_lines_in_what_it_sends: Row::guest(Mode::Smuggle)
        .report(&["smuggle: invalid 4, ok 1"])
        .also(|aftermath| {
            assert!(aftermath.told_agent("_hostile/smuggled").is_empty());
            assert_eq!(aftermath.texts(ATTACKED), ["smuggled"]);
        });

    it_speaks_in_the_hosts_name: Row::guest(Mode::Host)
        .report(&["host: denied 20"])
        .also(|aftermath| {
            assert_eq!(aftermath.told_agent("initialize").len(), 1);
            for method in ["proxy/initialize", "proxy/successor", "$/cancel_request"] {
                assert!(aftermath.told(method).is_empty());
                assert!(aftermath.told_agent(method).is_empty());
            }
        });

    it_moves_messages_to_another_session: Row::guest(Mode::Move)
        .fate(Fate::Fails)
        .report(&["lets it change \"/sessionId\""])
        .also(|aftermath| {
            let there = aftermath.texts(NEIGHBOUR);
            assert!(there.iter().all(|text| text != ATTACKED));
        });
}
