//! The limits of a proxy, all in one table.
//!
//! Exceeding a limit affects only the proxy that did. The manifest may set each limit, up to the user's ceiling; limits
//! that cannot be set are in [`FIXED`].

mod account;
mod fixed;
mod quantity;

use std::time::Duration;

pub use account::{Account, Charge};
pub use fixed::*;
pub use quantity::{Amount, Quantity, about};

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
const GIB: usize = 1 << 30;

/// A row of the table: a limit, and what happens when it is exceeded.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Its key in `[proxy.limits]`.
    pub key: &'static str,
    /// What it counts.
    pub quantity: Quantity,
    /// What it limits.
    pub what: &'static str,
    /// What happens to a proxy that exceeds it.
    pub passing: &'static str,
    get: fn(&Limits) -> u64,
    set: fn(&mut Limits, u64),
}

impl Limit {
    /// The row with a key.
    pub fn named(key: &str) -> Option<&'static Self> {
        TABLE.iter().find(|limit| limit.key == key)
    }

    /// The value of the limit in `limits`, in bytes or milliseconds, or as a number.
    pub fn of(&self, limits: &Limits) -> u64 {
        (self.get)(limits)
    }

    /// The value of the limit in `limits`, with its unit.
    pub fn show(&self, limits: &Limits) -> String {
        self.quantity.show(self.of(limits))
    }

    /// Sets the limit in `limits`; `value` is in bytes or milliseconds, or a number.
    pub fn put(&self, limits: &mut Limits, value: u64) {
        (self.set)(limits, value);
    }
}

macro_rules! limits {
    ($($key:literal $field:ident: $amount:ty as $quantity:ident = $default:expr, up to $ceiling:expr;
       $what:literal, past it $passing:literal.)+) => {
        /// What one proxy may use.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Limits {
            $(#[doc = $what] pub $field: $amount,)+
        }

        impl Default for Limits {
            fn default() -> Self {
                Self { $($field: $default,)+ }
            }
        }

        impl Limits {
            /// The values up to which a manifest may raise each limit, unless the user sets other ceilings.
            pub fn ceilings() -> Self {
                Self { $($field: $ceiling,)+ }
            }
        }

        /// Every limit that a manifest may set.
        pub const TABLE: &[Limit] = &[$(Limit {
            key: $key,
            quantity: Quantity::$quantity,
            what: $what,
            passing: $passing,
            get: |limits| limits.$field.to_plain(),
            set: |limits, value| limits.$field = <$amount>::from_plain(value),
        },)+];
    };
}

limits! {
    "memory" memory: usize as Size = 64 * MIB, up to GIB;
        "the linear memory of the component, of all its memories together", past it "it breaks".
    "table-elements" table_elements: usize as Count = 100_000, up to 10_000_000;
        "elements of all its tables", past it "it breaks".
    "instances" instances: usize as Count = 1_000, up to 10_000;
        "core instances, memories and tables, each", past it "it does not start".
    "subscriptions" subscriptions: usize as Count = 256, up to 4096;
        "its subscriptions", past it "it does not start".
    "time" time: Duration as Time = Duration::from_secs(2), up to Duration::from_mins(1);
        "how long it may compute for one message, in processor time; every 10 ms it yields",
        past it "it breaks".
    "init-time" init_time: Duration as Time = Duration::from_secs(10), up to Duration::from_mins(2);
        "how long it may compute for its start, likewise", past it "it does not start".
    "wait" wait: Duration as Time = Duration::from_secs(30), up to Duration::from_mins(10);
        "how long it may wait for clocks and files, in all for one message or for its start", past it "it breaks".
    "calls" calls: usize as Count = 1_000_000, up to 100_000_000;
        "its calls to the channel, and writes to standard output and error, for one message or for its start",
        past it "it breaks".
    "hold-time" hold_time: Duration as Time = Duration::from_mins(10), up to Duration::from_hours(24);
        "time for which it may hold a message",
        past it "the message is taken from it, and settled as if the proxy had failed on it".
    "body" body: usize as Size = 16 * MIB, up to 64 * MIB;
        "the longest message that is handed to it with its body",
        past it "the proxy fails on the message".
    "message" message: usize as Size = 64 * MIB, up to 64 * MIB;
        "the longest message that it may send, or make of another", past it "the call gets `invalid`".
    "call-bytes" call_bytes: usize as Size = 128 * MIB, up to 512 * MIB;
        "what one call may carry from it to the host", past it "it breaks".
    "requests" requests: usize as Count = 1024, up to 65_536;
        "its own requests that are not answered yet", past it "the call gets `full`".
    "request-bytes" request_bytes: usize as Size = 4 * MIB, up to 64 * MIB;
        "bytes kept of these requests, and of those that it sent before it broke: their methods and sessions; \
         and of the sessions that it names for requests of others",
        past it "the proxy breaks, or fails on the message".
    "held" held: usize as Count = 1024, up to 65_536;
        "messages that it holds", past it "the proxy fails on the message".
    "held-bytes" held_bytes: usize as Size = 64 * MIB, up to 512 * MIB;
        "bytes of the messages that it holds, and of the copies of them that it is shown",
        past it "the proxy fails on the message".
    "emitted" emitted: usize as Count = 1024, up to 65_536;
        "messages that it sends or settles for one that it gets", past it "the call gets `full`".
    "emitted-bytes" emitted_bytes: usize as Size = 64 * MIB, up to 512 * MIB;
        "bytes of those messages", past it "the call gets `full`".
    "in-flight" in_flight: usize as Size = 64 * MIB, up to 512 * MIB;
        "bytes of what it sent or changed that wait for other proxies, and of values that it is loading or storing",
        past it "it breaks".
    "behind" behind: usize as Size = 16 * MIB, up to 256 * MIB;
        "bytes that wait behind a notification that it holds", past it "it breaks".
    "log" log: usize as Size = MIB, up to 64 * MIB;
        "what it may write to the log, standard output and error included, however often it is restarted; \
         a line takes 100 bytes beside its text",
        past it "the rest is left out".
    "state" state: usize as Size = MIB, up to 64 * MIB;
        "the state that it saves", past it "the call gets `full`".
    "restarts" restarts: usize as Count = 3, up to 100;
        "how often it is restarted within `restart-window`", past it "it is given up".
    "restart-window" restart_window: Duration as Time = Duration::from_mins(1), up to Duration::from_hours(24);
        "the time in which `restarts` counts", past it "earlier failures are forgotten".
}

/// All limits as a Markdown table, with these ceilings.
pub fn markdown(ceilings: &Limits) -> String {
    let mut rows = vec![
        [
            "Key",
            "Default",
            "Ceiling",
            "What it limits",
            "When exceeded",
        ]
        .map(str::to_owned),
        ["---"; 5].map(str::to_owned),
    ];
    let defaults = Limits::default();
    for limit in TABLE {
        rows.push([
            format!("`{}`", limit.key),
            limit.show(&defaults),
            limit.show(ceilings),
            limit.what.to_owned(),
            limit.passing.to_owned(),
        ]);
    }
    for fixed in FIXED {
        rows.push([
            format!("({})", fixed.name),
            fixed.quantity.show(fixed.value),
            "fixed".to_owned(),
            fixed.what.to_owned(),
            fixed.passing.to_owned(),
        ]);
    }
    let lines = rows.iter().map(|row| format!("| {} |\n", row.join(" | ")));
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_default_is_over_its_ceiling_and_keys_are_unique() {
        let (defaults, ceilings) = (Limits::default(), Limits::ceilings());
        for limit in TABLE {
            assert!(limit.of(&defaults) <= limit.of(&ceilings), "{}", limit.key);
            let same = TABLE.iter().filter(|other| other.key == limit.key);
            assert_eq!(same.count(), 1, "{}", limit.key);
        }
    }

    #[test]
    fn a_limit_shows_what_was_put() {
        for limit in TABLE {
            let mut limits = Limits::default();
            limit.put(&mut limits, 3000);
            assert_eq!(limit.of(&limits), 3000, "{}", limit.key);
            assert_eq!(limit.quantity.read(&limit.show(&limits)), Ok(3000));
        }
    }

    #[test]
    fn the_book_shows_this_table() {
        let page = include_str!("../../../../docs/limits.md");
        assert!(
            page.contains(&markdown(&Limits::ceilings())),
            "docs/limits.md is behind; put in what `acp-chain limits --markdown` prints"
        );
    }
}
