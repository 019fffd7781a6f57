//! Powers over permission requests and questions to the user.

use super::{change, cover, exchange, send};
use crate::Danger::{High, Medium};
use crate::Peer::Agent;
use crate::{Actions, Kinds, Power};

const PERMISSION: &[&str] = &["session/request_permission"];
const QUESTION: &[&str] = &["elicitation/create"];
const ANSWERED: &[&str] = &["elicitation/complete"];

const ASKED: [crate::Cover; 2] = exchange(Agent, PERMISSION);
const QUESTIONED: [crate::Cover; 2] = exchange(Agent, QUESTION);

pub(super) const POWERS: &[Power] = &[
    Power {
        key: "permissions.read",
        words: "reads what the agent asks your permission for, and what you decide",
        danger: Medium,
        reason: "files and commands are in it",
        needs: None,
        covers: &ASKED,
    },
    Power {
        key: "permissions.change",
        words: "changes what the agent asks your permission for, but not what it is for, or keeps it from being asked",
        danger: High,
        reason: "you may permit what you would not have",
        needs: None,
        covers: &[change(
            Agent,
            Kinds::REQUEST,
            PERMISSION,
            &[
                "/title",
                "/description",
                "/toolCall/title",
                "/toolCall/content/*/content/text",
                "/toolCall/content/*/content/title",
                "/toolCall/content/*/content/name",
                "/toolCall/content/*/content/description",
                "/toolCall/content/*/content/resource/text",
                "/toolCall/content/*/oldText",
                "/toolCall/content/*/newText",
                "/toolCall/rawInput",
                "/toolCall/rawOutput",
                "/subject/command",
                "/subject/toolCall/title",
                "/subject/toolCall/content/*/content/text",
                "/subject/toolCall/content/*/content/title",
                "/subject/toolCall/content/*/content/name",
                "/subject/toolCall/content/*/content/description",
                "/subject/toolCall/content/*/content/resource/text",
                "/subject/toolCall/content/*/patch/text",
                "/subject/toolCall/rawInput",
                "/subject/toolCall/rawOutput",
                "/_meta",
                "/toolCall/_meta",
                "/subject/_meta",
                "/subject/toolCall/_meta",
            ],
        )],
    },
    Power {
        key: "permissions.answer",
        words: "answers the agent's requests for permission in your place",
        danger: High,
        reason: "it can permit the agent anything",
        needs: None,
        covers: &[cover(
            Actions::ANSWER.union(Actions::REFUSE),
            Agent,
            Kinds::REQUEST,
            PERMISSION,
        )],
    },
    Power {
        key: "permissions.ask",
        words: "asks for your permission as if it were the agent",
        danger: Medium,
        reason: "you may permit what the agent never asked for",
        needs: None,
        covers: &[send(Agent, Kinds::REQUEST, PERMISSION)],
    },
    Power {
        key: "questions.read",
        words: "reads what the agent asks you, and what you answer",
        danger: Medium,
        reason: "what you answer may be a password",
        needs: None,
        covers: &[
            QUESTIONED[0],
            QUESTIONED[1],
            cover(Actions::READ, Agent, Kinds::NOTIFICATION, ANSWERED),
        ],
    },
    Power {
        key: "questions.change",
        words: "changes what the agent asks you, or keeps it from being asked",
        danger: High,
        reason: "you may answer what you would not have",
        needs: None,
        covers: &[change(
            Agent,
            Kinds::REQUEST,
            QUESTION,
            &[
                "/message",
                "/requestedSchema/title",
                "/requestedSchema/description",
                "/requestedSchema/properties/*/title",
                "/requestedSchema/properties/*/description",
                "/requestedSchema/properties/*/default",
                "/_meta",
            ],
        )],
    },
    Power {
        key: "questions.answer",
        words: "answers the agent's questions in your place",
        danger: High,
        reason: "it can decide for you",
        needs: None,
        covers: &[cover(
            Actions::ANSWER.union(Actions::REFUSE),
            Agent,
            Kinds::REQUEST,
            QUESTION,
        )],
    },
    Power {
        key: "questions.ask",
        words: "asks you questions as if it were the agent",
        danger: Medium,
        reason: "what you answer may be a password",
        needs: None,
        covers: &[
            send(Agent, Kinds::REQUEST, QUESTION),
            send(Agent, Kinds::NOTIFICATION, ANSWERED),
        ],
    },
];
