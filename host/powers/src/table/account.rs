//! Powers over the setup of sessions, their settings, your account with the agent, and what is kept for you.

use super::{ALTER, change, cover, decide, errors, exchange, partly, read, send, updates};
use crate::Peer::{Agent, Client};
use crate::{Actions, Cover, Kinds, Updates};

const INITIALIZE: &[&str] = &["initialize"];
const PROMPT: &[&str] = &["session/prompt"];
const SETUP: &[&str] = &[
    "session/new",
    "session/load",
    "session/resume",
    "session/fork",
];
const SETTINGS: &[&str] = &["session/set_mode", "session/set_config_option"];
/// Lists the settings that are available before or in a session.
const OPTIONS: &[&str] = &["session/options"];
const SESSIONS: &[&str] = &[
    "session/list",
    "session/close",
    "session/delete",
    "session/archive",
    "session/unarchive",
    "session/status",
    "session/set_title",
];
const SIGN_IN: &[&str] = &[
    "authenticate",
    "logout",
    "auth/login",
    "auth/logout",
    "auth/status",
    "providers/list",
    "providers/set",
    "providers/disable",
];
const SIGNED_IN: &[&str] = &["auth/status_update"];

/// Changes only the proxy's own marks.
const fn mark(
    sender: crate::Peer,
    kinds: Kinds,
    methods: &'static [&'static str],
    places: &'static [&'static str],
) -> Cover {
    Cover {
        places,
        ..cover(Actions::CHANGE, sender, kinds, methods)
    }
}

const SETTING_UPDATES: Updates = Updates::Of(&[
    "available_commands_update",
    "current_mode_update",
    "config_option_update",
]);
const TITLE_UPDATES: Updates = Updates::Of(&["session_info_update"]);
const TITLES: &[&str] = &["/sessions/*/title"];
const LIST: &[&str] = &["session/list"];
const SESSION_UPDATES: Updates = Updates::Of(&["session_info_update", "cursor_update"]);

/// Names, versions and capabilities of both sides. Of capabilities only the structure is shown: they are switches.
const CAPABILITIES: [Cover; 2] = partly(
    exchange(Client, INITIALIZE),
    places! {
        "/": "protocolVersion";
        "/clientInfo/": "name" "title" "version";
        "/info/": "name" "title" "version";
        "/clientCapabilities/": "auth" "elicitation" "fs" "session/configOptions";
        "/capabilities/": "auth" "elicitation";
        "/": "_meta/{own}/**" "clientCapabilities/_meta/{own}/**" "capabilities/_meta/{own}/**";
    },
    places! {
        "/": "protocolVersion";
        "/agentInfo/": "name" "title" "version";
        "/info/": "name" "title" "version";
        "/agentCapabilities/": "auth" "mcpCapabilities" "promptCapabilities"
            "sessionCapabilities/systemPrompt/mode";
        "/capabilities/": "auth";
        "/capabilities/session/": "mcp" "prompt" "systemPrompt/mode";
        "/authMethods/*/": "id" "methodId" "name" "description" "type";
        "/": "_meta/{own}/**" "agentCapabilities/_meta/{own}/**" "capabilities/_meta/{own}/**"
            "code" "message";
    },
);
const READ_SETUP: [Cover; 2] = exchange(Client, SETUP);
const READ_SETTINGS: [Cover; 2] = exchange(Client, SETTINGS);
const READ_SESSIONS: [Cover; 2] = exchange(Client, SESSIONS);
const READ_SIGN_IN: [Cover; 2] = exchange(Client, SIGN_IN);
const READ_SIGNED_IN: Cover = read(Agent, Kinds::NOTIFICATION, SIGNED_IN);

/// The agent's answer to the setup of a session.
const OFFERED: &[&str] = places! {
    "/": "sessionId" "modes/currentModeId";
    "/modes/availableModes/*/": "id" "name" "description";
    "/configOptions/*/": "id" "configId" "name" "description" "category" "type" "currentValue";
    "/configOptions/*/options/*/": "value" "group" "groupId" "name" "description" "options/*/value"
        "options/*/name" "options/*/description";
    "/availableCommands/*/": "path" "type" "name" "description" "input/type" "input/hint";
    "/": "code" "message";
};
/// Paths are hidden.
const SHOWN_OPTIONS: [Cover; 2] = partly(exchange(Client, OPTIONS), &["/sessionId"], OFFERED);

/// Keys and addresses of services are hidden.
const SHOWN_SIGN_IN: [Cover; 2] = partly(
    READ_SIGN_IN,
    &["/methodId", "/providerId", "/apiType"],
    ACCOUNTS,
);
const ACCOUNTS: &[&str] = places! {
    "/": "state";
    "/accounts/*/": "label" "active" "name" "email" "organization" "description";
    "/providers/*/": "id" "providerId" "supported/*" "required" "current/apiType";
    "/": "code" "message";
};

powers! {
    "capabilities.read": Low, because "names and versions of programs are in it";
        it "sees what your editor and the agent are, and what they are able to do", by
        &CAPABILITIES;

    "marks.add": Low, because "only programs that know the proxy read them";
        it "adds marks of its own, under its own name, to what both sides say about themselves, to prompts, and to the ends of turns", by
        &[
            mark(Client, Kinds::REQUEST, INITIALIZE, places! {
                "/": "_meta/{own}" "clientCapabilities/_meta/{own}" "capabilities/_meta/{own}";
            }),
            mark(Agent, Kinds::RESULT, INITIALIZE, places! {
                "/": "_meta/{own}" "agentCapabilities/_meta/{own}" "capabilities/_meta/{own}";
            }),
            mark(Client, Kinds::REQUEST, PROMPT, &["/_meta/{own}"]),
            mark(Agent, Kinds::RESULT, PROMPT, &["/_meta/{own}"]),
        ];

    "session-setup.read": Low, because "paths and names are in it";
        it "sees how sessions begin: their folders, and the names of their MCP servers, without tokens", by
        &partly(
            READ_SETUP,
            places! {
                "/": "sessionId" "cwd" "additionalDirectories/*";
                "/mcpServers/*/": "type" "name" "id" "serverId";
                "/": "replayFrom/type" "cursorId" "systemPrompt/mode";
            },
            OFFERED,
        );

    "session-setup.secrets", with "session-setup.read": High,
        because "a token lets its holder act as you";
        it "sees the commands, addresses, tokens and headers of your MCP servers", by &READ_SETUP;

    "session-setup.change": High, because "MCP servers are programs that the agent starts";
        it "changes, refuses or answers how sessions begin: their folders, MCP servers, modes and options", by
        &[
            decide(Client, SETUP, places! {
                "/": "cwd" "additionalDirectories" "mcpServers" "replayFrom" "cursorId";
            }),
            change(Agent, Kinds::RESULT, SETUP, places! {
                "/": "modes" "configOptions" "availableCommands";
            }),
            errors(Agent, SETUP),
        ];

    "instructions.change": High, because "it can make the agent do what you did not ask for";
        it "changes the agent's standing instructions when a session begins, and may delay or refuse it", by
        &[Cover { places: &["/systemPrompt"], ..cover(ALTER, Client, Kinds::REQUEST, SETUP) }];

    "settings.read": Low, because "no text of yours is in it";
        it "sees the agent's modes, options and commands, and when you change them", by
        &[
            READ_SETTINGS[0],
            READ_SETTINGS[1],
            SHOWN_OPTIONS[0],
            SHOWN_OPTIONS[1],
            // Options can also be set when a session begins.
            Cover {
                shown: Some(places! {
                    "/": "sessionId";
                    "/configOptions/*/": "configId" "type" "value";
                }),
                is_aside: true,
                ..READ_SETUP[0]
            },
            updates(Actions::READ, SETTING_UPDATES, &[]),
        ];

    "settings.change": High, because "a mode says what the agent may do without asking you";
        it "changes, refuses or answers how you set the agent's mode and options", by
        &[
            decide(Client, SETTINGS, &["/modeId", "/configId", "/value", "/type"]),
            change(Agent, Kinds::RESULT, SETTINGS, &["/configOptions"]),
            change(Client, Kinds::REQUEST, SETUP, &["/configOptions"]),
            decide(Client, OPTIONS, &["/cwd", "/additionalDirectories"]),
            change(Agent, Kinds::RESULT, OPTIONS, places! {
                "/": "modes" "configOptions" "availableCommands";
            }),
            errors(Agent, OPTIONS),
            updates(ALTER, SETTING_UPDATES, places! {
                "/update/": "availableCommands" "currentModeId" "configOptions";
                "/**/": "_meta";
            }),
            errors(Agent, SETTINGS),
        ];

    "settings.send": High, because "a mode says what the agent may do without asking you";
        it "sets the agent's mode and options, and tells your editor of them", by
        &[
            send(Client, Kinds::REQUEST, SETTINGS),
            send(Client, Kinds::REQUEST, OPTIONS),
            updates(Actions::SEND, SETTING_UPDATES, &[]),
        ];

    "titles.read": Medium, because "titles say what you work on";
        it "sees the titles of your sessions", by
        &[
            Cover { shown: Some(TITLES), ..read(Agent, Kinds::RESPONSE, LIST) },
            updates(Actions::READ, TITLE_UPDATES, &[]),
        ];

    "titles.change": Medium, because "you could take a session for another one";
        it "changes the titles of your sessions", by
        &[
            Cover { places: TITLES, ..cover(Actions::CHANGE, Agent, Kinds::RESULT, LIST) },
            updates(Actions::CHANGE, TITLE_UPDATES, &["/update/title"]),
        ];

    "sessions.read": Medium, because "titles say what you work on";
        it "sees your list of sessions with their titles, and when you close, delete or rename one", by
        &[READ_SESSIONS[0], READ_SESSIONS[1], updates(Actions::READ, SESSION_UPDATES, &[])];

    "sessions.change": High, because "it can have the wrong session deleted";
        it "changes, refuses or answers how you list, close, delete and rename sessions", by
        &[
            decide(Client, SESSIONS, &["/cwd", "/cursor", "/archived", "/title"]),
            change(Agent, Kinds::RESULT, SESSIONS, places! {
                "/": "sessions" "nextCursor" "title" "status" "state";
            }),
            updates(ALTER, SESSION_UPDATES, places! {
                "/update/": "title" "updatedAt" "anchor";
                "/**/": "_meta";
            }),
            errors(Agent, SESSIONS),
        ];

    "sessions.send": High, because "a deleted session cannot be restored";
        it "lists, closes, deletes and renames your sessions", by
        &[send(Client, Kinds::REQUEST, SESSIONS), updates(Actions::SEND, SESSION_UPDATES, &[])];

    "sign-in.read": Medium, because "names and addresses of accounts are in it";
        it "sees how you sign in to the agent, with which accounts, and when you sign out, without keys", by
        &[SHOWN_SIGN_IN[0], SHOWN_SIGN_IN[1], Cover { shown: Some(ACCOUNTS), ..READ_SIGNED_IN }];

    "sign-in.secrets", with "sign-in.read": High, because "a key lets its holder act as you";
        it "sees the keys and addresses of the services that the agent uses", by
        &[READ_SIGN_IN[0], READ_SIGN_IN[1], READ_SIGNED_IN];

    "sign-in.change": High,
        because "it can have your prompts sent to another service, and keep you from signing out";
        it "changes, refuses or answers how you sign in and out, and which services the agent uses", by
        &[
            decide(Client, SIGN_IN, places! {
                "/": "methodId" "providerId" "apiType" "baseUrl" "headers";
            }),
            change(Agent, Kinds::RESULT, SIGN_IN, &["/state", "/accounts", "/providers"]),
            change(Agent, Kinds::NOTIFICATION, SIGNED_IN, &["/state", "/accounts"]),
            errors(Agent, SIGN_IN),
        ];

    "sign-in.send": High, because "it can have your prompts sent to another service";
        it "signs you in and out, and sets which services the agent uses", by
        &[send(Client, Kinds::REQUEST, SIGN_IN)];

    "user.read": Medium, because "all that it sees can be attributed to you";
        it "learns your name and your groups, where chains are served to many users", by
        // The user is part of the configuration, not of messages.
        &[];

    "values.keep": Low, because "no other proxy reads them, and you can remove them";
        it "keeps values that outlast the connection: up to 4 MiB for you and for each project", by
        // They are no messages.
        &[];
}
