//! Too long, too deep, too often.

use hostile::Mode;

use crate::hostile::row::{Answer, Fate, QUIET, Row, Step, withstands};

withstands! {
    it_gives_every_function_a_huge_text: Row::guest(Mode::Huge)
        .config("size = 10_000_000")
        .peak(QUIET + 128)
        .report(&["huge: "]);

    it_sends_a_message_of_100_mib: Row::guest(Mode::Send)
        .config("size = 104_857_600")
        // An unoptimized host computes for a long time over so much data.
        .limits("memory = '256 MiB'\ntime = '1 min'")
        .peak(QUIET + 256)
        .report(&["send: invalid 4"]);

    it_sends_more_than_a_call_may_carry: Row::guest(Mode::Send)
        .config("size = 200_000_000")
        .limits("memory = '512 MiB'")
        .fate(Fate::Breaks)
        .peak(QUIET + 256)
        .report(&["hostile::size::send"]);

    it_makes_a_message_of_100_mib: Row::guest(Mode::Replace)
        .config("size = 104_857_600")
        .limits("memory = '512 MiB'\ntime = '1 min'")
        .fate(Fate::Fails)
        .peak(QUIET + 384);

    it_fails_with_a_huge_reason: Row::guest(Mode::HugeReason)
        .config("size = 10_000_000")
        .fate(Fate::Fails)
        .peak(QUIET + 64);

    it_refuses_with_a_huge_error: Row::guest(Mode::HugeError)
        .config("size = 10_000_000")
        .answer(Answer::Any)
        .peak(QUIET + 96);

    it_subscribes_to_a_huge_method: Row::guest(Mode::HugeMethod)
        .config("size = 10_000_000")
        .fate(Fate::NeverStarts)
        .peak(QUIET + 64);

    it_changes_a_long_message_ten_thousand_times: Row::guest(Mode::Edit)
        .config("count = 10_000")
        .script(&[Step::LongPrompt(1 << 20)])
        .fate(Fate::Fails)
        .peak(QUIET + 32);

    it_nests_a_million_arrays: Row::guest(Mode::Nest)
        .config("size = 2_000_000")
        .fate(Fate::Fails)
        .peak(QUIET + 64)
        .report(&["nest: "])
        .also(|aftermath| assert_eq!(aftermath.told_agent("_hostile/nested").len(), 0));
}
