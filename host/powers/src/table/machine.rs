//! Powers over your machine: files and commands through your editor, and tools.

use super::{change, cover, decide, errors, exchange, send};
use crate::Danger::{High, Low, Medium};
use crate::Peer::{Agent, Client};
use crate::{Actions, Kinds, Power};

const READ_FILE: &[&str] = &["fs/read_text_file"];
const WRITE_FILE: &[&str] = &["fs/write_text_file"];
const FILES: &[&str] = &["fs/read_text_file", "fs/write_text_file"];
const RUN: &[&str] = &["terminal/create"];
const OUTPUT: &[&str] = &["terminal/output"];
const TERMINALS: &[&str] = &[
    "terminal/create",
    "terminal/output",
    "terminal/wait_for_exit",
    "terminal/kill",
    "terminal/release",
];
/// The methods of all dialects.
const MCP: &[&str] = &["mcp/message", "mcp/connect", "mcp/disconnect"];

const WATCH_FILES: [crate::Cover; 2] = exchange(Agent, FILES);
const WATCH_TERMINALS: [crate::Cover; 2] = exchange(Agent, TERMINALS);
const CALLS: Kinds = Kinds::REQUEST.union(Kinds::NOTIFICATION);
const MCP_PLACES: &[&str] = &["/params", "/_meta"];

pub(super) const POWERS: &[Power] = &[
    Power {
        key: "files.read",
        words: "reads files that your editor can open",
        danger: High,
        reason: "any file, also outside of the project, if your editor lets it",
        needs: None,
        covers: &[send(Agent, Kinds::REQUEST, READ_FILE)],
    },
    Power {
        key: "files.write",
        words: "writes files through your editor",
        danger: High,
        reason: "what is in files may be run",
        needs: None,
        covers: &[send(Agent, Kinds::REQUEST, WRITE_FILE)],
    },
    Power {
        key: "files.watch",
        words: "sees which files the agent reads and writes through your editor, and what is in them",
        danger: Medium,
        reason: "files can hold secrets",
        needs: None,
        covers: &WATCH_FILES,
    },
    Power {
        key: "files.redirect",
        words: "changes which files the agent reads and writes through your editor",
        danger: High,
        reason: "it can have your keys read, and your start files written",
        needs: None,
        covers: &[change(
            Agent,
            Kinds::REQUEST,
            FILES,
            &["/path", "/line", "/limit"],
        )],
    },
    Power {
        key: "files.change",
        words: "changes what the agent reads and writes through your editor",
        danger: High,
        reason: "what is in files may be run",
        needs: None,
        covers: &[
            change(Client, Kinds::RESULT, READ_FILE, &["/content"]),
            errors(Client, FILES),
            decide(Agent, WRITE_FILE, &["/content"]),
            cover(
                Actions::ANSWER.union(Actions::REFUSE),
                Agent,
                Kinds::REQUEST,
                READ_FILE,
            ),
        ],
    },
    Power {
        key: "files.refuse",
        words: "keeps the agent from reading and writing files through your editor",
        danger: Low,
        reason: "nothing is read or written that would not have been",
        needs: None,
        covers: &[
            cover(Actions::REFUSE, Agent, Kinds::REQUEST, FILES),
            cover(Actions::REFUSE, Client, Kinds::RESULT, READ_FILE),
        ],
    },
    Power {
        key: "terminals.run",
        words: "runs commands through your editor",
        danger: High,
        reason: "a command has all of your rights",
        needs: None,
        covers: &[send(Agent, Kinds::REQUEST, TERMINALS)],
    },
    Power {
        key: "terminals.watch",
        words: "sees which commands the agent runs through your editor, and what they print",
        danger: Medium,
        reason: "commands can print secrets",
        needs: None,
        covers: &WATCH_TERMINALS,
    },
    Power {
        key: "terminals.redirect",
        words: "changes which commands the agent runs through your editor",
        danger: High,
        reason: "a command has all of your rights",
        needs: None,
        covers: &[change(
            Agent,
            Kinds::REQUEST,
            RUN,
            &["/command", "/args", "/env", "/cwd", "/outputByteLimit"],
        )],
    },
    Power {
        key: "terminals.change",
        words: "changes what the agent reads of the output of commands",
        danger: Medium,
        reason: "the agent goes on by what it reads",
        needs: None,
        covers: &[
            change(
                Client,
                Kinds::RESULT,
                OUTPUT,
                &["/output", "/truncated", "/exitStatus"],
            ),
            errors(Client, TERMINALS),
            cover(
                Actions::ANSWER.union(Actions::REFUSE),
                Agent,
                Kinds::REQUEST,
                OUTPUT,
            ),
        ],
    },
    Power {
        key: "terminals.refuse",
        words: "keeps the agent from running commands through your editor",
        danger: Low,
        reason: "nothing is run that would not have been",
        needs: None,
        covers: &[
            cover(Actions::REFUSE, Agent, Kinds::REQUEST, RUN),
            cover(Actions::REFUSE, Client, Kinds::RESULT, OUTPUT),
        ],
    },
    Power {
        key: "tools",
        words: "gives the agent tools, resources and prompts of its own (MCP), whose texts the agent's model reads, and asks you or that model while they are used",
        danger: High,
        reason: "models follow what they read, and you permit what they ask for",
        needs: None,
        covers: &[],
    },
    Power {
        key: "mcp.read",
        words: "reads messages between the agent and MCP servers in your editor or in other proxies",
        danger: Medium,
        reason: "tools' inputs and results are in it",
        needs: None,
        covers: &[
            cover(Actions::READ, Agent, CALLS.union(Kinds::RESPONSE), MCP),
            cover(Actions::READ, Client, CALLS.union(Kinds::RESPONSE), MCP),
        ],
    },
    Power {
        key: "mcp.serve",
        words: "answers for MCP servers that it has declared itself, whose texts the agent's model reads",
        danger: High,
        reason: "models follow what they read, and you permit what they ask for",
        needs: Some("mcp.read"),
        covers: &[
            cover(
                Actions::ANSWER.union(Actions::REFUSE),
                Agent,
                Kinds::REQUEST,
                MCP,
            ),
            send(Client, CALLS, MCP),
        ],
    },
    Power {
        key: "mcp.change",
        words: "changes messages between the agent and MCP servers in your editor or in other proxies",
        danger: High,
        reason: "it can make tools do what you did not ask for",
        needs: None,
        covers: &[
            change(Agent, CALLS, MCP, MCP_PLACES),
            change(Client, CALLS, MCP, MCP_PLACES),
            change(Agent, Kinds::RESULT, MCP, &[""]),
            change(Client, Kinds::RESULT, MCP, &[""]),
            errors(Agent, MCP),
            errors(Client, MCP),
        ],
    },
];
