//! Powers over permission requests and questions to the user.

use super::{answer, change, exchange, read, send};
use crate::Kinds;
use crate::Peer::Agent;

const PERMISSION: &[&str] = &["session/request_permission"];
const QUESTION: &[&str] = &["elicitation/create"];
const ANSWERED: &[&str] = &["elicitation/complete"];

const ASKED: [crate::Cover; 2] = exchange(Agent, PERMISSION);
const QUESTIONED: [crate::Cover; 2] = exchange(Agent, QUESTION);

powers! {
    "permissions.read": Medium, because "files and commands are in it";
        it "reads what the agent asks your permission for, and what you decide", by &ASKED;

    "permissions.change": High, because "you may permit what you would not have";
        it "changes what the agent asks your permission for, but not what it is for, or keeps it from being asked", by
        &[change(Agent, Kinds::REQUEST, PERMISSION, places! {
            "/": "title" "description" "toolCall/title";
            "/toolCall/content/*/content/": "text" "title" "name" "description" "resource/text";
            "/toolCall/content/*/": "oldText" "newText";
            "/toolCall/": "rawInput" "rawOutput";
            "/subject/": "command" "toolCall/title";
            "/subject/toolCall/content/*/content/": "text" "title" "name" "description"
                "resource/text";
            "/subject/toolCall/": "content/*/patch/text" "rawInput" "rawOutput";
            "/": "_meta" "toolCall/_meta";
            "/subject/": "_meta" "toolCall/_meta";
        })];

    "permissions.answer": High, because "it can permit the agent anything";
        it "answers the agent's requests for permission in your place", by
        &[answer(Agent, PERMISSION)];

    "permissions.ask": Medium, because "you may permit what the agent never asked for";
        it "asks for your permission as if it were the agent", by
        &[send(Agent, Kinds::REQUEST, PERMISSION)];

    "questions.read": Medium, because "what you answer may be a password";
        it "reads what the agent asks you, and what you answer", by
        &[QUESTIONED[0], QUESTIONED[1], read(Agent, Kinds::NOTIFICATION, ANSWERED)];

    "questions.change": High, because "you may answer what you would not have";
        it "changes what the agent asks you, or keeps it from being asked", by
        &[change(Agent, Kinds::REQUEST, QUESTION, places! {
            "/": "message";
            "/requestedSchema/": "title" "description";
            "/requestedSchema/properties/*/": "title" "description" "default";
            "/": "_meta";
        })];

    "questions.answer": High, because "it can decide for you";
        it "answers the agent's questions in your place", by &[answer(Agent, QUESTION)];

    "questions.ask": Medium, because "what you answer may be a password";
        it "asks you questions as if it were the agent", by
        &[send(Agent, Kinds::REQUEST, QUESTION), send(Agent, Kinds::NOTIFICATION, ANSWERED)];
}
