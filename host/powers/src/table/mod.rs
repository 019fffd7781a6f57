//! The table of powers. The documentation, `acp-chain check`, manifests and the host's checks all use this table.

mod account;
mod decisions;
mod fixed;
mod machine;
mod talk;

pub use fixed::{FIXED, Fixed};

use crate::{Actions, Cover, Kinds, Peer, Power, Updates};

/// Every power, by topic.
pub const TABLE: &[&[Power]] = &[
    talk::POWERS,
    decisions::POWERS,
    machine::POWERS,
    account::POWERS,
];

type Texts = &'static [&'static str];

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

/// Reads one side's requests, and the other side's answers.
const fn exchange(sender: Peer, methods: Texts) -> [Cover; 2] {
    [
        cover(Actions::READ, sender, Kinds::REQUEST, methods),
        cover(Actions::READ, sender.opposite(), Kinds::RESPONSE, methods),
    ]
}

/// Reads only these places of requests and of their answers.
const fn partly(exchange: [Cover; 2], asked: Texts, answered: Texts) -> [Cover; 2] {
    let [mut request, mut response] = exchange;
    request.shown = Some(asked);
    response.shown = Some(answered);
    [request, response]
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
        ..cover(
            Actions::CHANGE.union(Actions::REFUSE),
            sender,
            kinds,
            methods,
        )
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
