//! Powers over the conversation of user and agent: prompts, answers, tool calls, plans and turns.

use super::{ALTER, answer, change, errors, read, send, updates};
use crate::Peer::{Agent, Client};
use crate::{Actions, Cover, Kinds, Updates};

const PROMPT: &[&str] = &["session/prompt"];

const TEXTS: &[&str] = &[
    "user_message_chunk",
    "agent_message_chunk",
    "agent_thought_chunk",
    "user_message",
    "agent_message",
    "agent_thought",
    "notice",
    "compaction_update",
    "compaction_summary_chunk",
    "subagent_update",
    "session_message",
    "session_message_chunk",
    "prompt_suggestions_update",
];

const MESSAGES: Updates = Updates::Of(TEXTS);

const TOOL_CALLS: Updates = Updates::Of(&[
    "tool_call",
    "tool_call_update",
    "tool_call_content_chunk",
    "terminal_update",
    "terminal_output_chunk",
]);

const PLANS: Updates = Updates::Of(&["plan", "plan_update", "plan_removed"]);

powers! {
    "prompts.read": Medium, because "prompts can hold secrets";
        it "reads what you write to the agent", by &[read(Client, Kinds::REQUEST, PROMPT)];

    "prompts.change": High, because "it can make the agent do what you did not ask for";
        it "changes, delays or refuses what you write to the agent", by
        &[change(Client, Kinds::REQUEST, PROMPT, &["/prompt", "/idempotencyKey"])];

    "prompts.answer": Medium, because "the agent never receives the prompts that it answers";
        it "answers your prompts in place of the agent", by &[answer(Client, PROMPT)];

    "prompts.send": High, because "it can make the agent do what you did not ask for";
        it "prompts the agent as if it were you", by &[send(Client, Kinds::REQUEST, PROMPT)];

    "answers.read": Medium, because "answers can hold secrets";
        it "reads what the agent writes to you: messages, thoughts, and history", by
        &[updates(Actions::READ, MESSAGES, &[]), read(Agent, Kinds::ERROR, PROMPT)];

    "answers.change": Medium, because "you decide by what you read, and it can imitate the agent";
        it "changes, delays or drops the texts that the agent writes to you", by
        &[
            updates(ALTER, MESSAGES, places! {
                "/update/content/": "text" "title" "name" "description" "resource/text";
                "/update/content/*/": "text" "title" "name" "description" "resource/text";
                "/update/summary/*/": "text" "title" "name" "description" "resource/text";
                "/update/": "title" "description" "suggestions" "error";
                "/update/state/error/": "message" "data";
                "/**/": "_meta";
            }),
            errors(Agent, PROMPT),
            // For a failed turn, in version 2.
            updates(Actions::CHANGE, Updates::Of(&["state_update"]), places! {
                "/update/error/": "message" "data";
            }),
        ];

    "answers.send": Medium, because "you decide by what you read";
        it "writes to you as if it were the agent", by &[updates(Actions::SEND, MESSAGES, &[])];

    "history.read": Medium, because "an old conversation can hold secrets";
        it "reads the conversation that the agent repeats when you open an old session", by
        &[Cover {
            is_aside: true,
            ..updates(Actions::READ, Updates::Replayed(TEXTS), &[])
        }];

    "tool-calls.read": Medium, because "files, commands and their output are in it";
        it "reads which tools the agent uses, with what input, and the results", by
        &[updates(Actions::READ, TOOL_CALLS, &[])];

    "tool-calls.change": High, because "it can hide what the agent does from you";
        it "changes, delays or drops the texts of the tool calls that you are shown", by
        &[updates(ALTER, TOOL_CALLS, places! {
            "/update/": "title" "content/text";
            "/update/content/content/": "text" "title" "name" "description" "resource/text";
            "/update/content/patch/": "text";
            "/update/content/*/content/": "text" "title" "name" "description" "resource/text";
            "/update/content/*/": "oldText" "newText" "patch/text";
            "/update/": "rawInput" "rawOutput" "command" "output/data" "data";
            "/**/": "_meta";
        })];

    "tool-calls.send": Medium, because "you decide by what you read";
        it "shows you tool calls as if the agent made them", by
        &[updates(Actions::SEND, TOOL_CALLS, &[])];

    "plans.read": Low, because "plans say what the agent is about to do";
        it "reads the agent's plans", by &[updates(Actions::READ, PLANS, &[])];

    "plans.change": Medium, because "you decide by what you read";
        it "changes, delays or drops the agent's plans", by
        &[updates(ALTER, PLANS, &["/update/entries", "/update/plan", "/**/_meta"])];

    "plans.show": Low, because "a plan is only shown, and causes no action";
        it "shows you plans", by &[updates(Actions::SEND, PLANS, &[])];

    "other-updates.read": Medium, because "the contents are unknown";
        it "reads what the agent shows you of kinds that this version does not know", by
        &[updates(Actions::READ, Updates::Unknown, &[])];

    "other-updates.change": High, because "the effect on your editor is unknown";
        it "changes, delays or drops what the agent shows you of kinds that this version does not know", by
        &[updates(ALTER, Updates::Unknown, &["/update", "/_meta"])];

    "turns.read": Low, because "no text of yours or the agent's is in it";
        it "sees when turns end, why, and what they used, and when you stop one or end its session", by
        &[
            read(Agent, Kinds::RESPONSE, PROMPT),
            // They end with their session, and nothing of a turn arrives afterwards.
            read(Agent, Kinds::RESPONSE, &["session/close", "session/archive"]),
            read(Client, Kinds::NOTIFICATION, &["session/cancel"]),
            read(Client, Kinds::REQUEST, &["tool_call/cancel", "terminal/cancel"]),
            read(Agent, Kinds::RESPONSE, &["tool_call/cancel", "terminal/cancel"]),
            updates(
                Actions::READ,
                Updates::Of(&["state_update", "usage_update", "replay_complete"]),
                &[],
            ),
        ];

    "turns.stop": Low, because "nothing is done that you did not ask for; you start again";
        it "stops turns, tools and commands that are under way", by
        &[
            send(Client, Kinds::NOTIFICATION, &["session/cancel"]),
            send(Client, Kinds::REQUEST, &["tool_call/cancel", "terminal/cancel"]),
        ];
}
