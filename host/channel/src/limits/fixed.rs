//! The limits that cannot be set: a constant for the code, and a row of the table for users.

use acp_chain_rpc::transport::lenient;

use super::{GIB, KIB, MIB, Quantity};

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

macro_rules! fixed {
    ($($(#[doc = $doc:literal])+ $name:literal $constant:ident: $amount:ty as $quantity:ident = $value:expr;
       $what:literal, past it $passing:literal.)+) => {
        $($(#[doc = $doc])+ pub const $constant: $amount = $value;)+

        /// The limits that cannot be set, and that users may run into.
        #[allow(
            clippy::cast_lossless,
            clippy::unnecessary_cast,
            reason = "the constants are of several types"
        )]
        pub const FIXED: &[Fixed] = &[$(Fixed {
            name: $name,
            quantity: Quantity::$quantity,
            value: $constant as u64,
            what: $what,
            passing: $passing,
        },)+];
    };
}

fixed! {
    /// The stack of a component's code, in bytes.
    "stack" WASM_STACK: usize as Size = 512 * KIB;
        "the stack of a component's code", past it "it breaks".

    /// How many files, streams and timers of WASI a proxy may have open: each file takes a handle of the host, and the
    /// entries of an open directory are kept in memory.
    "handles" HANDLES: usize as Count = 64;
        "files, streams and timers of WASI that it has open", past it "it breaks".

    /// The longest pause that a proxy may request, in milliseconds.
    "pause" LONGEST_PAUSE: u64 as Time = 60 * 60 * 1000;
        "the longest time after which a proxy asks to be called again; the shortest is 10 ms",
        past it "it is not called".

    /// How many pauses of a proxy may run at once.
    "pauses" PAUSES: usize as Count = 16;
        "such times that run at once", past it "the proxy's call to the channel fails".

    /// After a call at the end of a pause, the proxy rests for at least this many times the duration of the call.
    "rest" REST: u32 as Count = 9;
        "between two such calls, how many times as long as the first of them took",
        past it "it is called later".

    /// How many replaced versions of a proxy may have unfinished work.
    "old versions" OLD_VERSIONS: usize as Count = 4;
        "replaced versions of a proxy with held messages or open requests",
        past it "the oldest ends".

    /// The largest component file, in bytes.
    "component" COMPONENT: usize as Size = 256 * MIB;
        "the component file", past it "it is not loaded".

    /// The longest lock file, in bytes.
    "lock" LOCK: usize as Size = MIB;
        "the lock beside a manifest", past it "it is not read".

    /// The longest manifest, in bytes.
    "manifest" MANIFEST: usize as Size = MIB;
        "a manifest, and your config.toml", past it "it is not read".

    /// The longest answer of a registry that is not a component, in bytes.
    "registry answer" REGISTRY_ANSWER: usize as Size = 4 * MIB;
        "a registry's answer about an extension", past it "the extension is not installed".

    /// The longest signature, in bytes.
    "signature" SIGNATURE: usize as Size = 4 * KIB;
        "a signature of an extension", past it "the extension is not installed".

    /// How many signatures of one extension are checked.
    "signatures" SIGNATURES: usize as Count = 8;
        "signatures of an extension", past it "the rest is ignored".

    /// The longest list of revocations, in bytes.
    "revocations" REVOCATIONS: usize as Size = 4 * MIB;
        "the list of extensions that must not run",
        past it "the list is rejected; the previous one applies".

    /// How much of the line tables of a component is kept, in bytes.
    "line tables" LINE_TABLES: usize as Size = 2 * MIB;
        "the line tables of a component (DWARF, `.debug_line`)",
        past it "reports of failures have only names of functions".

    /// How much compiled code is kept between runs, in bytes.
    "code cache" CODE_CACHE: u64 as Size = GIB as u64;
        "cached compiled code", past it "the least recently used is evicted".

    /// The longest line of a client or an agent, in bytes.
    "line" LINE: usize as Size = 64 * MIB;
        "a message of the client, the agent or a native proxy",
        past it "the message is dropped, and its sender or requester gets an error".

    /// How many lines are joined into one message.
    "lines of a message" JOINED_LINES: usize as Count = lenient::LINES;
        "lines that are joined into one message", past it "the lines are malformed".

    /// The longest message that is joined from several lines, in bytes.
    "bytes of these lines" JOINED_BYTES: usize as Size = lenient::BYTES;
        "the joined message", past it "the lines are malformed".

    /// The longest id of a request, in bytes.
    "id" LONGEST_ID: usize as Size = KIB;
        "the id of a request of the client, the agent or a native proxy",
        past it "the request is refused".

    /// How many requests of one side may be open.
    "open" OPEN: usize as Count = 1 << 16;
        "unanswered requests of the client, of the agent, or of a native proxy",
        past it "the request is refused".

    /// How many bytes may be kept for the open requests of one side: ids, methods, names of sessions.
    "open kept" OPEN_KEPT: usize as Size = 64 * MIB;
        "bytes kept of those: their ids, methods and sessions", past it "the request is refused".

    /// How many bytes may be kept for one connection, on all accounts together.
    "kept" KEPT: usize as Size = GIB;
        "bytes kept for one connection in total: of open requests, of messages that \
         proxies hold, that wait behind those, and that proxies have between them, of notices, and \
         of MCP messages",
        past it "a request for more is treated as exceeding the limit of that part".

    /// While this many bytes wait for one side or for proxies, no input is read that could add to them.
    "unread" UNREAD: usize as Size = MIB;
        "bytes that wait for one side, for the proxies, or for a native proxy",
        past it "the other side is not read for a while; a native proxy that reads nothing for 30 s breaks".

    /// While this many bytes wait for a side, that side itself is not read either, since it sends requests without
    /// reading answers; and no proxy is called, since it could add to them.
    "flood" FLOOD: usize as Size = 16 * MIB;
        "bytes from proxies and answers that wait for one side, or for a native proxy",
        past it "that side is not read, and no proxy called, until it reads some".

    /// How many bytes of notices may wait for the user's next turn.
    "notices" NOTICES: usize as Size = 64 * KIB;
        "notices for the user's next turn",
        past it "further ones are left out, and the user is notified how many".

    /// How many proxies of projects one connection may have at once.
    "project proxies" PROJECT_PROXIES: usize as Count = 256;
        "projects that have open sessions, each a native proxy with its components inside",
        past it "the session of a further project is refused".

    /// How many MCP servers one session may have.
    "mcp servers" MCP_SERVERS: usize as Count = 256;
        "MCP servers of one session", past it "the session is refused".

    /// How many MCP servers the client, or one proxy, may have in all open sessions.
    "mcp servers of one" MCP_SERVERS_OF_ONE: usize as Count = 4096;
        "MCP servers of the client, or of one proxy, in all open sessions",
        past it "further ones are not declared, and the user is notified".

    /// How many MCP servers are kept for sessions that were set up again without them, until those sessions end.
    "mcp replaced" MCP_REPLACED: usize as Count = 64;
        "MCP servers that open sessions were set up again without", past it "the oldest one ends".

    /// How many requests to one MCP server may be open, and how many connections to it.
    "mcp open" MCP_OPEN: usize as Count = 1024;
        "open requests to one MCP server, and connections to it", past it "the request is refused".

    /// How many bytes of messages from callers and provider are kept for one MCP server. A single text may be longer.
    "mcp kept" MCP_KEPT: usize as Size = 16 * MIB;
        "bytes that wait for one MCP server", past it "the request is refused".

    /// How many bytes of messages from callers and providers are kept for all MCP servers.
    "mcp kept of all" MCP_KEPT_OF_ALL: usize as Size = 128 * MIB;
        "bytes that wait for all MCP servers, and of components' lists and clients' subscriptions",
        past it "the request is refused".

    /// The longest list of a proxy's offers for the agent, in bytes.
    "mcp list" MCP_LIST: usize as Size = MIB;
        "a proxy's list of tools, of resources and templates, or of prompts",
        past it "the list is ignored, and the error says so".

    /// How many entries such a list may have.
    "mcp list entries" MCP_LIST_COUNT: usize as Count = 1000;
        "tools, resources, templates or prompts in such a list",
        past it "further ones are left out, and the user is notified".

    /// The longest message of an MCP client of the agent's, and the longest body of its HTTP requests, in
    /// bytes.
    "mcp message" MCP_MESSAGE: usize as Size = 16 * MIB;
        "a message of the agent's MCP client over a bridge",
        past it "over HTTP it is refused; over stdio the client is disconnected".

    /// While this many bytes of MCP clients' messages wait, further messages are not accepted yet.
    "mcp heard" MCP_HEARD: usize as Size = 32 * MIB;
        "bytes of such messages that wait", past it "further ones are not accepted yet".

    /// While this many bytes wait for an MCP client, no more may be queued for it.
    "mcp unread" MCP_UNREAD: usize as Size = 16 * MIB;
        "bytes that wait for one MCP client", past it "the client is disconnected when more comes".

    /// How many bytes may wait for all MCP clients, past the first of each.
    "mcp unread of all" MCP_UNREAD_OF_ALL: usize as Size = 128 * MIB;
        "bytes that wait for all MCP clients, past the first 16 KiB of each, and of each \
         request that stands alone, which make 28 MiB",
        past it "a client is disconnected when more comes for it".

    /// How many of the last bytes sent in an HTTP session are kept for a client that lost a stream.
    "mcp window" MCP_WINDOW: usize as Size = 256 * KIB;
        "bytes, and 256 events, of what was last sent in an HTTP session, for a client that lost a \
         stream; they count as unread",
        past it "the oldest are not kept".

    /// How many bytes from MCP clients may wait to be accepted, past the first of each connection.
    "mcp load" MCP_LOAD: usize as Size = 64 * MIB;
        "bytes of messages of MCP clients that are incomplete or not accepted yet, past the first \
         16 KiB of each connection, which make 48 MiB",
        past it "over HTTP the message is refused; over stdio the client is disconnected".

    /// How many bytes of MCP clients' messages may wait for connections to servers.
    "mcp connecting" MCP_CONNECTING: usize as Size = 32 * MIB;
        "bytes of messages of MCP clients that wait for connections to servers",
        past it "the client is disconnected".

    /// How many MCP clients there may be, beside stand-alone requests.
    "mcp clients" MCP_LINKS: usize as Count = 256;
        "MCP clients on the bridges; a request of MCP 2026-07-28 over HTTP does not count",
        past it "an unused HTTP session makes room, or the new client is refused".

    /// How many MCP clients one server may have.
    "mcp clients of a server" MCP_LINKS_OF_SERVER: usize as Count = 64;
        "MCP clients of one server", past it "the same".

    /// How many connections there may be to the socket of the bridges, and to their HTTP port. Over HTTP
    /// each open request has one.
    "mcp connections" MCP_CONNECTIONS: usize as Count = 1536;
        "connections to the socket, or to the HTTP port, of the bridges",
        past it "one that has shown no secret makes room, or the new one is closed at once".

    /// The longest report of a hook, in bytes.
    "hook report" HOOK_REPORT: usize as Size = 16 * MIB;
        "what a hook of the agent reports: a call, or its result",
        past it "the tool does not run; a result may reach the model all the same".

    /// How many connections of hooks at once may have a report that has not arrived.
    "hook connections" HOOK_CONNECTIONS: usize as Count = 256;
        "connections of hooks whose report has not arrived", past it "further ones wait".

    /// How many connections at once may not have shown a token, or wait for one of [`HOOK_CONNECTIONS`].
    "hook strangers" HOOK_STRANGERS: usize as Count = 256;
        "connections to the socket for hooks that have not shown its secret",
        past it "the oldest one is closed, once it has had 2 s".

    /// How many bytes of reports are read at once, over all connections of hooks.
    "hooks read" HOOK_READING: usize as Size = 64 * MIB;
        "bytes of reports that are read at once, over all connections of hooks",
        past it "further ones wait; after 10 s they are refused".

    /// How many bytes the reports of one run may have that are read or wait for a decision, each with [`HOOK_COST`]
    /// more. A half of [`HOOK_READING`]: one run alone does not use that up.
    "hooks open" HOOK_UNANSWERED: usize as Size = HOOK_READING / 2;
        "bytes of the reports of one agent that are read or wait for a decision; each takes 128 KiB beside its text, \
         so that there are at most 256",
        past it "further ones wait; after 10 s they are refused".

    /// How many sessions with a sign of life of their hooks are remembered, and how many reported calls.
    "hook names" HOOK_NAMES: usize as Count = 1 << 14;
        "sessions and calls, each, of which it is remembered that their hooks have reported",
        past it "the oldest is forgotten, as if its hook had been silent".

    /// How many calls that have not ended, and how many reports that name no call, are known at once: each end of a call
    /// compares all of these with each other.
    "hook calls" HOOK_CALLS: usize as Count = 1 << 10;
        "calls that have not ended, and reports that name no call, each, which are compared",
        past it "the oldest is forgotten, as if its hook had been silent".

    /// The longest key of a stored value, in bytes: a name, a session's id or a digest.
    "stored key" STORED_KEY: usize as Size = 256;
        "the key of a value that a proxy stores", past it "the request fails".

    /// The longest stored value, in bytes: it is sent and written as a whole.
    "stored value" STORED_VALUE: usize as Size = 64 * KIB;
        "a value that a proxy stores", past it "it is not stored; the earlier value stays".

    /// How many values one proxy may store for one user or project.
    "stored values" STORED_VALUES: u64 as Count = 4096;
        "values that a proxy has stored, for each user and project", past it "the same".

    /// How many bytes one proxy may store for one user or project: no proxy takes what all have.
    "stored bytes" STORED_BYTES: u64 as Size = 4 * MIB as u64;
        "bytes of those values and their keys; each takes 64 bytes more", past it "the same".

    /// How many proxies may have stored values, each counted for every user and project: all of them are looked
    /// through for what they take together.
    "stored for" STORED_FOR: u64 as Count = 8192;
        "proxies that have stored values, each counted for every user and project; in the store of replicas, those of \
         each user",
        past it "the same".

    /// How many proxies may have stored values for one user of a server: an eighth of those of all users, so that no user
    /// keeps others from storing theirs.
    "stored for user" STORED_FOR_USER: u64 as Count = STORED_FOR / 8;
        "proxies that have stored values for one user of a server, each counted for every project; not in the store of \
         replicas",
        past it "the same".

    /// How many bytes all proxies may store: the database is read as a whole when it is opened, to find damage.
    "stored in all" STORED_IN_ALL: u64 as Size = 64 * MIB as u64;
        "bytes of all stored values and their keys; in the store of replicas, those of each user", past it "the same".

    /// How many bytes all proxies may store for one user of a server: an eighth of those of all users, as above.
    "stored of user" STORED_OF_USER: u64 as Size = STORED_IN_ALL / 8;
        "bytes of all values that are stored for one user of a server, and their keys; not in the store of replicas",
        past it "the same".

    /// How many requests about stored values wait at once: they take milliseconds, unless a disk hangs.
    "stored waiting" STORED_WAITING: usize as Count = 256;
        "requests about stored values that wait for the database, of all chains of a process",
        past it "the request fails".
}

/// The longest URI of a resource, in bytes.
pub const LONGEST_URI: usize = 4 * KIB;

/// How many bytes of each connection to the bridges, and for each MCP client, do not count towards the totals, as the
/// numbers of both are bounded.
pub const MCP_FREE: usize = 16 * KIB;

/// What a report of a hook counts beside its text: a run has at most 256 reports at once, and as many connections.
pub const HOOK_COST: usize = HOOK_UNANSWERED / 256;

/// The shortest pause after which a proxy is called again, in milliseconds.
pub const SHORTEST_PAUSE: u64 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_free_bytes_add_up_to_what_the_table_says() {
        // Over HTTP an open request has a connection of its own.
        assert_eq!(MCP_FREE * (MCP_LINKS + MCP_CONNECTIONS), 28 * MIB);
        // To the socket, and to the port.
        assert_eq!(MCP_FREE * 2 * MCP_CONNECTIONS, 48 * MIB);
    }

    #[test]
    fn a_report_costs_what_the_table_says() {
        assert_eq!(HOOK_COST, 128 * KIB);
        assert_eq!(HOOK_UNANSWERED / HOOK_COST, 256);
    }
}
