//! Powers over your machine: files and commands through your editor, and tools.

use super::{answer, change, cover, decide, errors, exchange, read, send};
use crate::Peer::{Agent, Client};
use crate::{Actions, Kinds};

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

powers! {
    "files.read": High, because "any file, also outside of the project, if your editor lets it";
        it "reads files that your editor can open", by &[send(Agent, Kinds::REQUEST, READ_FILE)];

    "files.write": High, because "what is in files may be run";
        it "writes files through your editor", by &[send(Agent, Kinds::REQUEST, WRITE_FILE)];

    "files.watch": Medium, because "files can hold secrets";
        it "sees which files the agent reads and writes through your editor, and what is in them", by
        &WATCH_FILES;

    "files.redirect": High, because "it can have your keys read, and your start files written";
        it "changes which files the agent reads and writes through your editor", by
        &[change(Agent, Kinds::REQUEST, FILES, &["/path", "/line", "/limit"])];

    "files.change": High, because "what is in files may be run";
        it "changes what the agent reads and writes through your editor", by
        &[
            change(Client, Kinds::RESULT, READ_FILE, &["/content"]),
            errors(Client, FILES),
            decide(Agent, WRITE_FILE, &["/content"]),
            answer(Agent, READ_FILE),
        ];

    "files.refuse": Low, because "nothing is read or written that would not have been";
        it "keeps the agent from reading and writing files through your editor", by
        &[
            cover(Actions::REFUSE, Agent, Kinds::REQUEST, FILES),
            cover(Actions::REFUSE, Client, Kinds::RESULT, READ_FILE),
        ];

    "terminals.run": High, because "a command has all of your rights";
        it "runs commands through your editor", by &[send(Agent, Kinds::REQUEST, TERMINALS)];

    "terminals.watch": Medium, because "commands can print secrets";
        it "sees which commands the agent runs through your editor, and what they print", by
        &WATCH_TERMINALS;

    "terminals.redirect": High, because "a command has all of your rights";
        it "changes which commands the agent runs through your editor", by
        &[change(Agent, Kinds::REQUEST, RUN, places! {
            "/": "command" "args" "env" "cwd" "outputByteLimit";
        })];

    "terminals.change": Medium, because "the agent goes on by what it reads";
        it "changes what the agent reads of the output of commands", by
        &[
            change(Client, Kinds::RESULT, OUTPUT, &["/output", "/truncated", "/exitStatus"]),
            errors(Client, TERMINALS),
            answer(Agent, OUTPUT),
        ];

    "terminals.refuse": Low, because "nothing is run that would not have been";
        it "keeps the agent from running commands through your editor", by
        &[
            cover(Actions::REFUSE, Agent, Kinds::REQUEST, RUN),
            cover(Actions::REFUSE, Client, Kinds::RESULT, OUTPUT),
        ];

    "tools": High, because "models follow what they read, and you permit what they ask for";
        it "gives the agent tools, resources and prompts of its own (MCP), whose texts the agent's model reads, and asks you or that model while they are used", by
        &[];

    "mcp.read": Medium, because "tools' inputs and results are in it";
        it "reads messages between the agent and MCP servers in your editor or in other proxies", by
        &[
            read(Agent, CALLS.union(Kinds::RESPONSE), MCP),
            read(Client, CALLS.union(Kinds::RESPONSE), MCP),
        ];

    "mcp.serve", with "mcp.read": High,
        because "models follow what they read, and you permit what they ask for";
        it "answers for MCP servers that it has declared itself, whose texts the agent's model reads", by
        &[answer(Agent, MCP), send(Client, CALLS, MCP)];

    "mcp.change": High, because "it can make tools do what you did not ask for";
        it "changes messages between the agent and MCP servers in your editor or in other proxies", by
        &[
            change(Agent, CALLS, MCP, MCP_PLACES),
            change(Client, CALLS, MCP, MCP_PLACES),
            change(Agent, Kinds::RESULT, MCP, &[""]),
            change(Client, Kinds::RESULT, MCP, &[""]),
            errors(Agent, MCP),
            errors(Client, MCP),
        ];
}
