//! The table of powers. The documentation, `acp-chain check`, manifests and the host's checks all use this table.

/// Places of a body, as a list: those of each row begin alike, and are given by their ends.
macro_rules! places {
    ($($beginning:literal: $($end:literal)+;)+) => {
        &[$($(concat!($beginning, $end),)+)+]
    };
}

/// The powers of one topic. Each row has the key, and the power that must be granted, too, if any; the danger, and why;
/// what the power allows, to be read after `it`; and what it covers.
macro_rules! powers {
    (@needs) => { None };
    (@needs $needs:literal) => { Some($needs) };
    ($($key:literal $(, with $needs:literal)?: $danger:ident, because $reason:literal;
       it $words:literal, by $covers:expr;)+) => {
        pub(super) const POWERS: &[crate::Power] = &[$(crate::Power {
            key: $key,
            words: $words,
            danger: crate::Danger::$danger,
            reason: $reason,
            needs: powers!(@needs $($needs)?),
            covers: $covers,
        },)+];
    };
}

mod account;
mod decisions;
mod fixed;
mod machine;
mod runs;
mod talk;

pub use fixed::{FIXED, Fixed};

use crate::{Actions, Cover, Kinds, Peer, Power, Updates};

/// Every power, by topic.
pub const TABLE: &[&[Power]] = &[
    talk::POWERS,
    decisions::POWERS,
    runs::POWERS,
    machine::POWERS,
    account::POWERS,
];

type Texts = &'static [&'static str];

/// Changes messages, delays them, or drops them.
const ALTER: Actions = Actions::CHANGE.union(Actions::REFUSE);

const fn cover(actions: Actions, sender: Peer, kinds: Kinds, methods: Texts) -> Cover {
    Cover {
        actions,
        sender,
        kinds,
        methods,
        updates: Updates::None,
        places: &[],
        shown: None,
        is_aside: false,
    }
}

/// Reads messages of these kinds.
const fn read(sender: Peer, kinds: Kinds, methods: Texts) -> Cover {
    cover(Actions::READ, sender, kinds, methods)
}

/// Reads one side's requests, and the other side's answers.
const fn exchange(sender: Peer, methods: Texts) -> [Cover; 2] {
    [
        read(sender, Kinds::REQUEST, methods),
        read(sender.opposite(), Kinds::RESPONSE, methods),
    ]
}

/// Reads only these places of requests and of their answers.
const fn partly(exchange: [Cover; 2], asked: Texts, answered: Texts) -> [Cover; 2] {
    let [mut request, mut response] = exchange;
    request.shown = Some(asked);
    response.shown = Some(answered);
    [request, response]
}

/// Rejects or answers requests.
const fn answer(sender: Peer, methods: Texts) -> Cover {
    let actions = Actions::ANSWER.union(Actions::REFUSE);
    cover(actions, sender, Kinds::REQUEST, methods)
}

/// Changes, rejects or answers requests.
const fn decide(sender: Peer, methods: Texts, places: Texts) -> Cover {
    Cover {
        places,
        ..cover(Actions::DECIDE, sender, Kinds::REQUEST, methods)
    }
}

/// Changes or stops messages of these kinds.
const fn change(sender: Peer, kinds: Kinds, methods: Texts, places: Texts) -> Cover {
    Cover {
        places,
        ..cover(ALTER, sender, kinds, methods)
    }
}

/// Changes the message and data of errors.
const fn errors(sender: Peer, methods: Texts) -> Cover {
    change(sender, Kinds::ERROR, methods, &["/message", "/data"])
}

/// Sends requests or notifications on behalf of one side.
const fn send(sender: Peer, kinds: Kinds, methods: Texts) -> Cover {
    cover(Actions::SEND, sender, kinds, methods)
}

/// Actions on updates of these kinds.
const fn updates(actions: Actions, updates: Updates, places: Texts) -> Cover {
    Cover {
        updates,
        places,
        ..cover(
            actions,
            Peer::Agent,
            Kinds::NOTIFICATION,
            &["session/update"],
        )
    }
}
