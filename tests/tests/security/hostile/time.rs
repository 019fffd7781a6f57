//! Attacks on everybody's time.

use hostile::Mode;

use crate::hostile::row::{Answer, Fate, PROMPT, Row, Step, withstands};

const SHORT: &str = "time = '500 ms'";

withstands! {
    it_computes_for_ever_over_a_request: Row::guest(Mode::Spin)
        .limits(SHORT)
        .fate(Fate::Breaks)
        .report(&["longer than 500", "hostile::time::spin"]);

    it_computes_for_ever_over_a_response: Row::guest(Mode::SpinOnResponse)
        .limits(SHORT)
        .fate(Fate::Breaks)
        .report(&["longer than 500", "hostile::time::spin"]);

    it_computes_for_ever_when_a_request_is_withdrawn: Row::guest(Mode::SpinOnCancel)
        .script(&[PROMPT, Step::Withdraw])
        .limits(SHORT)
        .fate(Fate::Breaks)
        .answer(Answer::Any)
        .report(&["longer than 500", "hostile::time::spin"]);

    it_computes_for_ever_while_it_starts: Row::guest(Mode::SpinInInit)
        .limits("init-time = '500 ms'")
        .fate(Fate::NeverStarts)
        .report(&["longer than 500"]);

    it_computes_for_ever_over_what_belongs_to_no_session: Row::guest(Mode::SpinOverNobodys)
        .limits("time = '1 min'")
        .script(&[Step::TellNobody])
        .apart();

    it_calls_the_host_for_ever: Row::guest(Mode::CallForEver)
        .limits(SHORT)
        .fate(Fate::Breaks)
        .report(&["longer than 500", "hostile::time::call_for_ever"]);
}
