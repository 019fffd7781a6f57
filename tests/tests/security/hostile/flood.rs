//! Too much of what is permitted in small amounts.

use acp_chain::limits::FLOOD;
use hostile::Mode;

use crate::hostile::row::{Answer, Fate, PROMPT, QUIET, Row, Step, withstands};

/// The powers to see a prompt, and to store values.
const VALUES: &str = "powers = ['prompts.read', 'values.keep']";

const HELD_SHORTLY: &str = "hold-time = '300 ms'";

withstands! {
    it_floods_the_log: Row::guest(Mode::Log)
        .config("count = 10_000\nsize = 1000");

    it_floods_the_log_with_empty_lines: Row::guest(Mode::Log)
        .config("count = 100_000");

    it_asks_and_takes_no_notice_of_answers: Row::guest(Mode::Ask)
        .config("count = 100_000")
        .limits("requests = 1000\nemitted = 2000")
        .report(&["ask: full 99000, ok 1000"])
        .also(|aftermath| assert_eq!(aftermath.told("_hostile/ask").len(), 500));

    it_asks_by_long_names_and_is_never_answered: Row::guest(Mode::AskByLongNames)
        .config("count = 25\nsize = 1_000_000")
        .script(&[PROMPT, Step::Await, PROMPT, Step::Await, PROMPT, Step::Await, PROMPT])
        .fate(Fate::Loops)
        .answer(Answer::Any)
        .peak(QUIET + 48)
        .report(&["`request-bytes`"]);

    it_asks_twice_for_each_answer: Row::guest(Mode::AskAgain)
        .config("count = 2")
        .also(|aftermath| assert!(aftermath.told("_hostile/echo").len() > 100));

    it_sends_a_thousand_messages_for_one: Row::guest(Mode::Emit)
        .config("count = 1000")
        .report(&["emit: ok 1000"])
        .also(|aftermath| assert_eq!(aftermath.told("_hostile/emitted").len(), 1000));

    it_wants_to_send_a_hundred_thousand: Row::guest(Mode::Emit)
        .config("count = 100_000")
        .report(&["emit: full 98976, ok 1024"])
        .also(|aftermath| assert_eq!(aftermath.told("_hostile/emitted").len(), 1024));

    it_sends_more_bytes_than_it_may: Row::guest(Mode::Emit)
        .config("count = 200\nsize = 100_000")
        .limits("emitted-bytes = '8 MiB'")
        .peak(QUIET + 32)
        .also(|aftermath| {
            let bytes = aftermath.told("_hostile/emitted").into_iter();
            let bytes: usize = bytes.map(|message| message.line.len()).sum();
            assert!((7 << 20..=8 << 20).contains(&bytes), "{bytes}");
        });

    two_send_each_other_a_hundred_for_each: Row::guest(Mode::Ping)
        .config("count = 100\nsize = 1000")
        .limits("in-flight = '128 KiB'")
        .with_accomplice()
        .script(&[Step::Tell])
        .fate(Fate::Loops)
        .apart()
        .peak(QUIET + 64)
        .report(&["`in-flight`"]);

    two_send_each_other_one_message_for_ever: Row::guest(Mode::Ping)
        .config("count = 1")
        .with_accomplice()
        .script(&[Step::Tell])
        .apart()
        // Each message is forwarded to both ends, which may be slow to take it.
        .peak(QUIET + 2 * (FLOOD >> 20) as u64 + 8);

    two_keep_long_messages_between_them: Row::guest(Mode::Ping)
        .config("count = 1\nsize = 1_200_000")
        .with_accomplice()
        .script(&[Step::Tell, Step::Tell, Step::Tell, Step::Tell])
        .apart()
        .peak(QUIET + 256);

    it_holds_everything: Row::guest(Mode::Hold)
        .limits(HELD_SHORTLY)
        .fate(Fate::Fails);

    it_holds_a_little_of_much_that_comes: Row::guest(Mode::Hold)
        .script(&[Step::TellBehindLong; 1000])
        .peak(QUIET + 32);

    it_holds_every_notification: Row::guest(Mode::HoldNotifications)
        .limits(HELD_SHORTLY)
        .loses()
        .script(&[Step::Prompt("stream 100")]);

    it_holds_more_messages_than_it_may: Row::guest(Mode::Hold)
        .limits("held = 10\nhold-time = '300 ms'")
        .script(&[PROMPT; 50])
        .fate(Fate::Fails);

    it_holds_more_bytes_than_it_may: Row::guest(Mode::Hold)
        .limits("held-bytes = '100 KiB'\nhold-time = '300 ms'")
        .script(&[Step::LongPrompt(1 << 20), Step::LongPrompt(1 << 20)])
        .fate(Fate::Fails);

    it_holds_what_much_waits_behind: Row::guest(Mode::HoldNotifications)
        .limits("behind = '1 MiB'")
        .script(&[Step::Prompt("echo attacked\nbulk 2000000")])
        .fate(Fate::Breaks)
        .answer(Answer::Passes)
        .peak(QUIET + 32)
        .report(&["`behind`"]);

    it_saves_more_than_it_may: Row::guest(Mode::Save)
        .config("count = 100\nsize = 2_000_000")
        .peak(QUIET + 16)
        .report(&["save: full 100"]);

    it_stores_and_loads_values_for_ever: Row::guest(Mode::StoreForEver)
        .config("size = 65_536")
        .grant(VALUES)
        .peak(QUIET + 96)
        .report(&["store: full 2, ok 1024"]);

    it_saves_all_the_time: Row::guest(Mode::Save)
        .config("count = 1000\nsize = 1_000_000")
        .peak(QUIET + 16)
        .report(&["save: ok 1000"]);

    it_subscribes_a_million_times: Row::guest(Mode::Subscribe)
        .config("count = 1_000_000")
        .fate(Fate::NeverStarts)
        .peak(QUIET + 128);

    it_subscribes_three_hundred_times: Row::guest(Mode::Subscribe)
        .config("count = 300")
        .fate(Fate::NeverStarts)
        .report(&["subscriptions"]);
}
