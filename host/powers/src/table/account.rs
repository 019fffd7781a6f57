//! Powers over the setup of sessions, their settings, and your account with the agent.

use super::{change, cover, decide, exchange, partly, send, updates};
use crate::Danger::{High, Low, Medium};
use crate::Peer::{Agent, Client};
use crate::{Actions, Cover, Kinds, Power, Updates};

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
    &[
        "/protocolVersion",
        "/clientInfo/name",
        "/clientInfo/title",
        "/clientInfo/version",
        "/info/name",
        "/info/title",
        "/info/version",
        "/clientCapabilities/auth",
        "/clientCapabilities/elicitation",
        "/clientCapabilities/fs",
        "/clientCapabilities/session/configOptions",
        "/capabilities/auth",
        "/capabilities/elicitation",
        "/_meta/{own}/**",
        "/clientCapabilities/_meta/{own}/**",
        "/capabilities/_meta/{own}/**",
    ],
    &[
        "/protocolVersion",
        "/agentInfo/name",
        "/agentInfo/title",
        "/agentInfo/version",
        "/info/name",
        "/info/title",
        "/info/version",
        "/agentCapabilities/auth",
        "/agentCapabilities/mcpCapabilities",
        "/agentCapabilities/promptCapabilities",
        "/agentCapabilities/sessionCapabilities/systemPrompt/mode",
        "/capabilities/auth",
        "/capabilities/session/mcp",
        "/capabilities/session/prompt",
        "/capabilities/session/systemPrompt/mode",
        "/authMethods/*/id",
        "/authMethods/*/methodId",
        "/authMethods/*/name",
        "/authMethods/*/description",
        "/authMethods/*/type",
        "/_meta/{own}/**",
        "/agentCapabilities/_meta/{own}/**",
        "/capabilities/_meta/{own}/**",
        "/code",
        "/message",
    ],
);
const READ_SETUP: [Cover; 2] = exchange(Client, SETUP);
const READ_SETTINGS: [Cover; 2] = exchange(Client, SETTINGS);
const READ_SESSIONS: [Cover; 2] = exchange(Client, SESSIONS);
const READ_SIGN_IN: [Cover; 2] = exchange(Client, SIGN_IN);
const READ_SIGNED_IN: Cover = cover(Actions::READ, Agent, Kinds::NOTIFICATION, SIGNED_IN);

/// The agent's answer to the setup of a session.
const OFFERED: &[&str] = &[
    "/sessionId",
    "/modes/currentModeId",
    "/modes/availableModes/*/id",
    "/modes/availableModes/*/name",
    "/modes/availableModes/*/description",
    "/configOptions/*/id",
    "/configOptions/*/configId",
    "/configOptions/*/name",
    "/configOptions/*/description",
    "/configOptions/*/category",
    "/configOptions/*/type",
    "/configOptions/*/currentValue",
    "/configOptions/*/options/*/value",
    "/configOptions/*/options/*/group",
    "/configOptions/*/options/*/groupId",
    "/configOptions/*/options/*/name",
    "/configOptions/*/options/*/description",
    "/configOptions/*/options/*/options/*/value",
    "/configOptions/*/options/*/options/*/name",
    "/configOptions/*/options/*/options/*/description",
    "/availableCommands/*/path",
    "/availableCommands/*/type",
    "/availableCommands/*/name",
    "/availableCommands/*/description",
    "/availableCommands/*/input/type",
    "/availableCommands/*/input/hint",
    "/code",
    "/message",
];
/// Paths are hidden.
const SHOWN_OPTIONS: [Cover; 2] = partly(exchange(Client, OPTIONS), &["/sessionId"], OFFERED);

/// Keys and addresses of services are hidden.
const SHOWN_SIGN_IN: [Cover; 2] = partly(
    READ_SIGN_IN,
    &["/methodId", "/providerId", "/apiType"],
    ACCOUNTS,
);
const ACCOUNTS: &[&str] = &[
    "/state",
    "/accounts/*/label",
    "/accounts/*/active",
    "/accounts/*/name",
    "/accounts/*/email",
    "/accounts/*/organization",
    "/accounts/*/description",
    "/providers/*/id",
    "/providers/*/providerId",
    "/providers/*/supported/*",
    "/providers/*/required",
    "/providers/*/current/apiType",
    "/code",
    "/message",
];

pub(super) const POWERS: &[Power] = &[
    Power {
        key: "capabilities.read",
        words: "sees what your editor and the agent are, and what they are able to do",
        danger: Low,
        reason: "names and versions of programs are in it",
        needs: None,
        covers: &CAPABILITIES,
    },
    Power {
        key: "marks.add",
        words: "adds marks of its own, under its own name, to what both sides say about themselves, to prompts, and to the ends of turns",
        danger: Low,
        reason: "only programs that know the proxy read them",
        needs: None,
        covers: &[
            mark(
                Client,
                Kinds::REQUEST,
                INITIALIZE,
                &[
                    "/_meta/{own}",
                    "/clientCapabilities/_meta/{own}",
                    "/capabilities/_meta/{own}",
                ],
            ),
            mark(
                Agent,
                Kinds::RESULT,
                INITIALIZE,
                &[
                    "/_meta/{own}",
                    "/agentCapabilities/_meta/{own}",
                    "/capabilities/_meta/{own}",
                ],
            ),
            mark(Client, Kinds::REQUEST, PROMPT, &["/_meta/{own}"]),
            mark(Agent, Kinds::RESULT, PROMPT, &["/_meta/{own}"]),
        ],
    },
    Power {
        key: "session-setup.read",
        words: "sees how sessions begin: their folders, and the names of their MCP servers, without tokens",
        danger: Low,
        reason: "paths and names are in it",
        needs: None,
        covers: &partly(
            READ_SETUP,
            &[
                "/sessionId",
                "/cwd",
                "/additionalDirectories/*",
                "/mcpServers/*/type",
                "/mcpServers/*/name",
                "/mcpServers/*/id",
                "/mcpServers/*/serverId",
                "/replayFrom/type",
                "/cursorId",
                "/systemPrompt/mode",
            ],
            OFFERED,
        ),
    },
    Power {
        key: "session-setup.secrets",
        words: "sees the commands, addresses, tokens and headers of your MCP servers",
        danger: High,
        reason: "a token lets its holder act as you",
        needs: Some("session-setup.read"),
        covers: &READ_SETUP,
    },
    Power {
        key: "session-setup.change",
        words: "changes, refuses or answers how sessions begin: their folders, MCP servers, modes and options",
        danger: High,
        reason: "MCP servers are programs that the agent starts",
        needs: None,
        covers: &[
            decide(
                Client,
                SETUP,
                &[
                    "/cwd",
                    "/additionalDirectories",
                    "/mcpServers",
                    "/replayFrom",
                    "/cursorId",
                ],
            ),
            change(
                Agent,
                Kinds::RESULT,
                SETUP,
                &["/modes", "/configOptions", "/availableCommands"],
            ),
            super::errors(Agent, SETUP),
        ],
    },
    Power {
        key: "instructions.change",
        words: "changes the agent's standing instructions when a session begins, and may delay or refuse it",
        danger: High,
        reason: "it can make the agent do what you did not ask for",
        needs: None,
        covers: &[Cover {
            places: &["/systemPrompt"],
            ..cover(
                Actions::CHANGE.union(Actions::REFUSE),
                Client,
                Kinds::REQUEST,
                SETUP,
            )
        }],
    },
    Power {
        key: "settings.read",
        words: "sees the agent's modes, options and commands, and when you change them",
        danger: Low,
        reason: "no text of yours is in it",
        needs: None,
        covers: &[
            READ_SETTINGS[0],
            READ_SETTINGS[1],
            SHOWN_OPTIONS[0],
            SHOWN_OPTIONS[1],
            // Options can also be set when a session begins.
            Cover {
                shown: Some(&[
                    "/sessionId",
                    "/configOptions/*/configId",
                    "/configOptions/*/type",
                    "/configOptions/*/value",
                ]),
                is_aside: true,
                ..READ_SETUP[0]
            },
            updates(Actions::READ, SETTING_UPDATES, &[]),
        ],
    },
    Power {
        key: "settings.change",
        words: "changes, refuses or answers how you set the agent's mode and options",
        danger: High,
        reason: "a mode says what the agent may do without asking you",
        needs: None,
        covers: &[
            decide(
                Client,
                SETTINGS,
                &["/modeId", "/configId", "/value", "/type"],
            ),
            change(Agent, Kinds::RESULT, SETTINGS, &["/configOptions"]),
            change(Client, Kinds::REQUEST, SETUP, &["/configOptions"]),
            decide(Client, OPTIONS, &["/cwd", "/additionalDirectories"]),
            change(
                Agent,
                Kinds::RESULT,
                OPTIONS,
                &["/modes", "/configOptions", "/availableCommands"],
            ),
            super::errors(Agent, OPTIONS),
            updates(
                Actions::CHANGE.union(Actions::REFUSE),
                SETTING_UPDATES,
                &[
                    "/update/availableCommands",
                    "/update/currentModeId",
                    "/update/configOptions",
                    "/**/_meta",
                ],
            ),
            super::errors(Agent, SETTINGS),
        ],
    },
    Power {
        key: "settings.send",
        words: "sets the agent's mode and options, and tells your editor of them",
        danger: High,
        reason: "a mode says what the agent may do without asking you",
        needs: None,
        covers: &[
            send(Client, Kinds::REQUEST, SETTINGS),
            send(Client, Kinds::REQUEST, OPTIONS),
            updates(Actions::SEND, SETTING_UPDATES, &[]),
        ],
    },
    Power {
        key: "titles.read",
        words: "sees the titles of your sessions",
        danger: Medium,
        reason: "titles say what you work on",
        needs: None,
        covers: &[
            Cover {
                shown: Some(TITLES),
                ..cover(Actions::READ, Agent, Kinds::RESPONSE, LIST)
            },
            updates(Actions::READ, TITLE_UPDATES, &[]),
        ],
    },
    Power {
        key: "titles.change",
        words: "changes the titles of your sessions",
        danger: Medium,
        reason: "you could take a session for another one",
        needs: None,
        covers: &[
            Cover {
                places: TITLES,
                ..cover(Actions::CHANGE, Agent, Kinds::RESULT, LIST)
            },
            updates(Actions::CHANGE, TITLE_UPDATES, &["/update/title"]),
        ],
    },
    Power {
        key: "sessions.read",
        words: "sees your list of sessions with their titles, and when you close, delete or rename one",
        danger: Medium,
        reason: "titles say what you work on",
        needs: None,
        covers: &[
            READ_SESSIONS[0],
            READ_SESSIONS[1],
            updates(Actions::READ, SESSION_UPDATES, &[]),
        ],
    },
    Power {
        key: "sessions.change",
        words: "changes, refuses or answers how you list, close, delete and rename sessions",
        danger: High,
        reason: "it can have the wrong session deleted",
        needs: None,
        covers: &[
            decide(
                Client,
                SESSIONS,
                &["/cwd", "/cursor", "/archived", "/title"],
            ),
            change(
                Agent,
                Kinds::RESULT,
                SESSIONS,
                &["/sessions", "/nextCursor", "/title", "/status", "/state"],
            ),
            updates(
                Actions::CHANGE.union(Actions::REFUSE),
                SESSION_UPDATES,
                &[
                    "/update/title",
                    "/update/updatedAt",
                    "/update/anchor",
                    "/**/_meta",
                ],
            ),
            super::errors(Agent, SESSIONS),
        ],
    },
    Power {
        key: "sessions.send",
        words: "lists, closes, deletes and renames your sessions",
        danger: High,
        reason: "a deleted session cannot be restored",
        needs: None,
        covers: &[
            send(Client, Kinds::REQUEST, SESSIONS),
            updates(Actions::SEND, SESSION_UPDATES, &[]),
        ],
    },
    Power {
        key: "sign-in.read",
        words: "sees how you sign in to the agent, with which accounts, and when you sign out, without keys",
        danger: Medium,
        reason: "names and addresses of accounts are in it",
        needs: None,
        covers: &[
            SHOWN_SIGN_IN[0],
            SHOWN_SIGN_IN[1],
            Cover {
                shown: Some(ACCOUNTS),
                ..READ_SIGNED_IN
            },
        ],
    },
    Power {
        key: "sign-in.secrets",
        words: "sees the keys and addresses of the services that the agent uses",
        danger: High,
        reason: "a key lets its holder act as you",
        needs: Some("sign-in.read"),
        covers: &[READ_SIGN_IN[0], READ_SIGN_IN[1], READ_SIGNED_IN],
    },
    Power {
        key: "sign-in.change",
        words: "changes, refuses or answers how you sign in and out, and which services the agent uses",
        danger: High,
        reason: "it can have your prompts sent to another service, and keep you from signing out",
        needs: None,
        covers: &[
            decide(
                Client,
                SIGN_IN,
                &[
                    "/methodId",
                    "/providerId",
                    "/apiType",
                    "/baseUrl",
                    "/headers",
                ],
            ),
            change(
                Agent,
                Kinds::RESULT,
                SIGN_IN,
                &["/state", "/accounts", "/providers"],
            ),
            change(
                Agent,
                Kinds::NOTIFICATION,
                SIGNED_IN,
                &["/state", "/accounts"],
            ),
            super::errors(Agent, SIGN_IN),
        ],
    },
    Power {
        key: "sign-in.send",
        words: "signs you in and out, and sets which services the agent uses",
        danger: High,
        reason: "it can have your prompts sent to another service",
        needs: None,
        covers: &[send(Client, Kinds::REQUEST, SIGN_IN)],
    },
    Power {
        key: "user.read",
        words: "learns your name and your groups, where chains are served to many users",
        danger: Medium,
        reason: "all that it sees can be attributed to you",
        needs: None,
        // The user is part of the configuration, not of messages.
        covers: &[],
    },
];
