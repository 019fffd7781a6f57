//! The limits of a proxy, all in one table.
//!
//! Exceeding a limit affects only the proxy that did. The manifest may set each limit, up to the user's ceiling; limits
//! that cannot be set are in [`FIXED`].

mod account;
mod quantity;

use std::time::Duration;

use acp_chain_rpc::transport::lenient;

pub use account::{Account, Charge};
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
    #[must_use]
    pub fn named(key: &str) -> Option<&'static Self> {
        TABLE.iter().find(|limit| limit.key == key)
    }

    /// The value of the limit in `limits`, in bytes or milliseconds, or as a number.
    #[must_use]
    pub fn of(&self, limits: &Limits) -> u64 {
        (self.get)(limits)
    }

    /// The value of the limit in `limits`, with its unit.
    #[must_use]
    pub fn show(&self, limits: &Limits) -> String {
        self.quantity.show(self.of(limits))
    }

    /// Sets the limit in `limits`; `value` is in bytes or milliseconds, or a number.
    pub fn put(&self, limits: &mut Limits, value: u64) {
        (self.set)(limits, value);
    }
}

/// A limit that cannot be set.
#[derive(Clone, Copy, Debug)]
pub struct Fixed {
    /// Its name.
    pub name: &'static str,
    /// What it counts.
    pub quantity: Quantity,
    /// The limit, in bytes, milliseconds or as a number.
    pub value: u64,
    /// What it limits.
    pub what: &'static str,
    /// What happens when it is exceeded.
    pub passing: &'static str,
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
            #[must_use]
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
        "bytes of what it sent or changed that wait for other proxies", past it "it breaks".
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

/// The stack of a component's code, in bytes.
pub const WASM_STACK: usize = 512 * KIB;

/// How many files, streams and timers of WASI a proxy may have open: each file takes a handle of the host, and the
/// entries of an open directory are kept in memory.
pub const HANDLES: usize = 64;

/// The largest component file, in bytes.
pub const COMPONENT: usize = 256 * MIB;

/// The longest lock file, in bytes.
pub const LOCK: usize = MIB;

/// The longest manifest, in bytes.
pub const MANIFEST: usize = MIB;

/// The longest answer of a registry that is not a component, in bytes.
pub const REGISTRY_ANSWER: usize = 4 * MIB;

/// The longest signature, in bytes.
pub const SIGNATURE: usize = 4 * KIB;

/// How many signatures of one extension are checked.
pub const SIGNATURES: usize = 8;

/// The longest list of revocations, in bytes.
pub const REVOCATIONS: usize = 4 * MIB;

/// How much of the line tables of a component is kept, in bytes.
pub const LINE_TABLES: usize = 2 * MIB;

/// How much compiled code is kept between runs, in bytes.
pub const CODE_CACHE: u64 = GIB as u64;

/// The longest line of a client or an agent, in bytes.
pub const LINE: usize = 64 * MIB;

/// The longest id of a request, in bytes.
pub const LONGEST_ID: usize = KIB;

/// How many requests of one side may be open.
pub const OPEN: usize = 1 << 16;

/// How many bytes may be kept for the open requests of one side: ids, methods, names of sessions.
pub const OPEN_KEPT: usize = 64 * MIB;

/// How many bytes may be kept for one connection, on all accounts together.
pub const KEPT: usize = GIB;

/// While this many bytes wait for one side or for proxies, no input is read that could add to them.
pub const UNREAD: usize = MIB;

/// While this many bytes wait for a side, that side itself is not read either, since it sends requests without reading
/// answers; and no proxy is called, since it could add to them.
pub const FLOOD: usize = 16 * MIB;

/// How many bytes of notices may wait for the user's next turn.
pub const NOTICES: usize = 64 * KIB;

/// How many proxies of projects one connection may have at once.
pub const PROJECT_PROXIES: usize = 256;

/// How many MCP servers one session may have.
pub const MCP_SERVERS: usize = 256;

/// How many MCP servers the client, or one proxy, may have in all open sessions.
pub const MCP_SERVERS_OF_ONE: usize = 4096;

/// How many MCP servers are kept for sessions that were set up again without them, until those sessions end.
pub const MCP_REPLACED: usize = 64;

/// How many requests to one MCP server may be open, and how many connections to it.
pub const MCP_OPEN: usize = 1024;

/// How many bytes of messages from callers and provider are kept for one MCP server. A single text may be longer.
pub const MCP_KEPT: usize = 16 * MIB;

/// How many bytes of messages from callers and providers are kept for all MCP servers.
pub const MCP_KEPT_OF_ALL: usize = 128 * MIB;

/// The longest list of a proxy's offers for the agent, in bytes.
pub const MCP_LIST: usize = MIB;

/// How many entries such a list may have.
pub const MCP_LIST_COUNT: usize = 1000;

/// The longest URI of a resource, in bytes.
pub const LONGEST_URI: usize = 4 * KIB;

/// The longest message of an MCP client of the agent's, and the longest body of its HTTP requests, in
/// bytes.
pub const MCP_MESSAGE: usize = 16 * MIB;

/// While this many bytes of MCP clients' messages wait, further messages are not accepted yet.
pub const MCP_HEARD: usize = 32 * MIB;

/// While this many bytes wait for an MCP client, no more may be queued for it.
pub const MCP_UNREAD: usize = 16 * MIB;

/// How many of the last bytes sent in an HTTP session are kept for a client that lost a stream.
pub const MCP_WINDOW: usize = 256 * KIB;

/// How many bytes of each connection to the bridges, and for each MCP client, do not count towards the totals, as the
/// numbers of both are bounded.
pub const MCP_FREE: usize = 16 * KIB;

/// How many bytes from MCP clients may wait to be accepted, past the first of each connection.
pub const MCP_LOAD: usize = 64 * MIB;

/// How many bytes may wait for all MCP clients, past the first of each.
pub const MCP_UNREAD_OF_ALL: usize = 128 * MIB;

/// How many bytes of MCP clients' messages may wait for connections to servers.
pub const MCP_CONNECTING: usize = 32 * MIB;

/// How many MCP clients there may be, beside stand-alone requests.
pub const MCP_LINKS: usize = 256;

/// How many MCP clients one server may have.
pub const MCP_LINKS_OF_SERVER: usize = 64;

/// How many connections there may be to the socket of the bridges, and to their HTTP port. Over HTTP
/// each open request has one.
pub const MCP_CONNECTIONS: usize = 1536;

/// The shortest pause after which a proxy is called again, in milliseconds.
pub const SHORTEST_PAUSE: u64 = 10;
/// The longest pause that a proxy may request, in milliseconds.
pub const LONGEST_PAUSE: u64 = 60 * 60 * 1000;

/// How many pauses of a proxy may run at once.
pub const PAUSES: usize = 16;

/// After a call at the end of a pause, the proxy rests for at least this many times the duration of the call.
pub const REST: u32 = 9;

/// How many replaced versions of a proxy may have unfinished work.
pub const OLD_VERSIONS: usize = 4;

/// The limits that cannot be set, and that users may run into.
pub const FIXED: &[Fixed] = &[
    Fixed {
        name: "stack",
        quantity: Quantity::Size,
        value: WASM_STACK as u64,
        what: "the stack of a component's code",
        passing: "it breaks",
    },
    Fixed {
        name: "handles",
        quantity: Quantity::Count,
        value: HANDLES as u64,
        what: "files, streams and timers of WASI that it has open",
        passing: "it breaks",
    },
    Fixed {
        name: "pause",
        quantity: Quantity::Time,
        value: LONGEST_PAUSE,
        what: "the longest time after which a proxy asks to be called again; the shortest is 10 ms",
        passing: "it is not called",
    },
    Fixed {
        name: "pauses",
        quantity: Quantity::Count,
        value: PAUSES as u64,
        what: "such times that run at once",
        passing: "the proxy's call to the channel fails",
    },
    Fixed {
        name: "rest",
        quantity: Quantity::Count,
        value: REST as u64,
        what: "between two such calls, how many times as long as the first of them took",
        passing: "it is called later",
    },
    Fixed {
        name: "old versions",
        quantity: Quantity::Count,
        value: OLD_VERSIONS as u64,
        what: "replaced versions of a proxy with held messages or open requests",
        passing: "the oldest ends",
    },
    Fixed {
        name: "component",
        quantity: Quantity::Size,
        value: COMPONENT as u64,
        what: "the component file",
        passing: "it is not loaded",
    },
    Fixed {
        name: "lock",
        quantity: Quantity::Size,
        value: LOCK as u64,
        what: "the lock beside a manifest",
        passing: "it is not read",
    },
    Fixed {
        name: "manifest",
        quantity: Quantity::Size,
        value: MANIFEST as u64,
        what: "a manifest, and your config.toml",
        passing: "it is not read",
    },
    Fixed {
        name: "registry answer",
        quantity: Quantity::Size,
        value: REGISTRY_ANSWER as u64,
        what: "a registry's answer about an extension",
        passing: "the extension is not installed",
    },
    Fixed {
        name: "signature",
        quantity: Quantity::Size,
        value: SIGNATURE as u64,
        what: "a signature of an extension",
        passing: "the extension is not installed",
    },
    Fixed {
        name: "signatures",
        quantity: Quantity::Count,
        value: SIGNATURES as u64,
        what: "signatures of an extension",
        passing: "the rest is ignored",
    },
    Fixed {
        name: "revocations",
        quantity: Quantity::Size,
        value: REVOCATIONS as u64,
        what: "the list of extensions that must not run",
        passing: "the list is rejected; the previous one applies",
    },
    Fixed {
        name: "line tables",
        quantity: Quantity::Size,
        value: LINE_TABLES as u64,
        what: "the line tables of a component (DWARF, `.debug_line`)",
        passing: "reports of failures have only names of functions",
    },
    Fixed {
        name: "code cache",
        quantity: Quantity::Size,
        value: CODE_CACHE,
        what: "cached compiled code",
        passing: "the least recently used is evicted",
    },
    Fixed {
        name: "line",
        quantity: Quantity::Size,
        value: LINE as u64,
        what: "a message of the client, the agent or a native proxy",
        passing: "the message is dropped, and its sender or requester gets an error",
    },
    Fixed {
        name: "lines of a message",
        quantity: Quantity::Count,
        value: lenient::LINES as u64,
        what: "lines that are joined into one message",
        passing: "the lines are malformed",
    },
    Fixed {
        name: "bytes of these lines",
        quantity: Quantity::Size,
        value: lenient::BYTES as u64,
        what: "the joined message",
        passing: "the lines are malformed",
    },
    Fixed {
        name: "id",
        quantity: Quantity::Size,
        value: LONGEST_ID as u64,
        what: "the id of a request of the client, the agent or a native proxy",
        passing: "the request is refused",
    },
    Fixed {
        name: "open",
        quantity: Quantity::Count,
        value: OPEN as u64,
        what: "unanswered requests of the client, of the agent, or of a native proxy",
        passing: "the request is refused",
    },
    Fixed {
        name: "open kept",
        quantity: Quantity::Size,
        value: OPEN_KEPT as u64,
        what: "bytes kept of those: their ids, methods and sessions",
        passing: "the request is refused",
    },
    Fixed {
        name: "kept",
        quantity: Quantity::Size,
        value: KEPT as u64,
        what: "bytes kept for one connection in total: of open requests, of messages that \
               proxies hold, that wait behind those, and that proxies have between them, of notices, and \
               of MCP messages",
        passing: "a request for more is treated as exceeding the limit of that part",
    },
    Fixed {
        name: "unread",
        quantity: Quantity::Size,
        value: UNREAD as u64,
        what: "bytes that wait for one side, for the proxies, or for a native proxy",
        passing: "the other side is not read for a while; a native proxy that reads nothing for 30 s breaks",
    },
    Fixed {
        name: "flood",
        quantity: Quantity::Size,
        value: FLOOD as u64,
        what: "bytes from proxies and answers that wait for one side, or for a native proxy",
        passing: "that side is not read, and no proxy called, until it reads some",
    },
    Fixed {
        name: "notices",
        quantity: Quantity::Size,
        value: NOTICES as u64,
        what: "notices for the user's next turn",
        passing: "further ones are left out, and the user is notified how many",
    },
    Fixed {
        name: "project proxies",
        quantity: Quantity::Count,
        value: PROJECT_PROXIES as u64,
        what: "projects that have open sessions, each a native proxy with its components inside",
        passing: "the session of a further project is refused",
    },
    Fixed {
        name: "mcp servers",
        quantity: Quantity::Count,
        value: MCP_SERVERS as u64,
        what: "MCP servers of one session",
        passing: "the session is refused",
    },
    Fixed {
        name: "mcp servers of one",
        quantity: Quantity::Count,
        value: MCP_SERVERS_OF_ONE as u64,
        what: "MCP servers of the client, or of one proxy, in all open sessions",
        passing: "further ones are not declared, and the user is notified",
    },
    Fixed {
        name: "mcp replaced",
        quantity: Quantity::Count,
        value: MCP_REPLACED as u64,
        what: "MCP servers that open sessions were set up again without",
        passing: "the oldest one ends",
    },
    Fixed {
        name: "mcp open",
        quantity: Quantity::Count,
        value: MCP_OPEN as u64,
        what: "open requests to one MCP server, and connections to it",
        passing: "the request is refused",
    },
    Fixed {
        name: "mcp kept",
        quantity: Quantity::Size,
        value: MCP_KEPT as u64,
        what: "bytes that wait for one MCP server",
        passing: "the request is refused",
    },
    Fixed {
        name: "mcp kept of all",
        quantity: Quantity::Size,
        value: MCP_KEPT_OF_ALL as u64,
        what: "bytes that wait for all MCP servers, and of components' lists and clients' subscriptions",
        passing: "the request is refused",
    },
    Fixed {
        name: "mcp list",
        quantity: Quantity::Size,
        value: MCP_LIST as u64,
        what: "a proxy's list of tools, of resources and templates, or of prompts",
        passing: "the list is ignored, and the error says so",
    },
    Fixed {
        name: "mcp list entries",
        quantity: Quantity::Count,
        value: MCP_LIST_COUNT as u64,
        what: "tools, resources, templates or prompts in such a list",
        passing: "further ones are left out, and the user is notified",
    },
    Fixed {
        name: "mcp message",
        quantity: Quantity::Size,
        value: MCP_MESSAGE as u64,
        what: "a message of the agent's MCP client over a bridge",
        passing: "over HTTP it is refused; over stdio the client is disconnected",
    },
    Fixed {
        name: "mcp heard",
        quantity: Quantity::Size,
        value: MCP_HEARD as u64,
        what: "bytes of such messages that wait",
        passing: "further ones are not accepted yet",
    },
    Fixed {
        name: "mcp unread",
        quantity: Quantity::Size,
        value: MCP_UNREAD as u64,
        what: "bytes that wait for one MCP client",
        passing: "the client is disconnected when more comes",
    },
    Fixed {
        name: "mcp unread of all",
        quantity: Quantity::Size,
        value: MCP_UNREAD_OF_ALL as u64,
        what: "bytes that wait for all MCP clients, past the first 16 KiB of each, and of each \
               request that stands alone, which make 28 MiB",
        passing: "a client is disconnected when more comes for it",
    },
    Fixed {
        name: "mcp window",
        quantity: Quantity::Size,
        value: MCP_WINDOW as u64,
        what: "bytes, and 256 events, of what was last sent in an HTTP session, for a client that lost a \
               stream; they count as unread",
        passing: "the oldest are not kept",
    },
    Fixed {
        name: "mcp load",
        quantity: Quantity::Size,
        value: MCP_LOAD as u64,
        what: "bytes of messages of MCP clients that are incomplete or not accepted yet, past the first \
               16 KiB of each connection, which make 48 MiB",
        passing: "over HTTP the message is refused; over stdio the client is disconnected",
    },
    Fixed {
        name: "mcp connecting",
        quantity: Quantity::Size,
        value: MCP_CONNECTING as u64,
        what: "bytes of messages of MCP clients that wait for connections to servers",
        passing: "the client is disconnected",
    },
    Fixed {
        name: "mcp clients",
        quantity: Quantity::Count,
        value: MCP_LINKS as u64,
        what: "MCP clients on the bridges; a request of MCP 2026-07-28 over HTTP does not count",
        passing: "an unused HTTP session makes room, or the new client is refused",
    },
    Fixed {
        name: "mcp clients of a server",
        quantity: Quantity::Count,
        value: MCP_LINKS_OF_SERVER as u64,
        what: "MCP clients of one server",
        passing: "the same",
    },
    Fixed {
        name: "mcp connections",
        quantity: Quantity::Count,
        value: MCP_CONNECTIONS as u64,
        what: "connections to the socket, or to the HTTP port, of the bridges",
        passing: "one that has shown no secret makes room, or the new one is closed at once",
    },
];

/// All limits as a Markdown table, with these ceilings.
#[must_use]
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
    fn the_free_bytes_add_up_to_what_the_table_says() {
        // Over HTTP an open request has a connection of its own.
        assert_eq!(MCP_FREE * (MCP_LINKS + MCP_CONNECTIONS), 28 * MIB);
        // To the socket, and to the port.
        assert_eq!(MCP_FREE * 2 * MCP_CONNECTIONS, 48 * MIB);
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
            "docs/limits.md is behind; put in what `acp-chain limits` prints"
        );
    }
}
