//! The table of checks. Each check has its own file.

mod answers;
mod cancellation;
mod determinism;
mod limits;
mod order;
mod restart;
mod starts;
mod tools;
mod untouched;
mod versions;

use super::check::Check;

/// All checks, in order.
pub const CHECKS: &[Check] = &[
    Check {
        name: "starts",
        promise: "It starts within its limits, subscribes only to what its powers cover, and does not break on any configuration",
        remedy: "ask for the powers that cover what it subscribes to, and for no others; decline a configuration with an `err`",
        run: starts::run,
    },
    Check {
        name: "untouched",
        promise: "Every message of the protocol passes it, byte for byte except for its deliberate changes",
        remedy: "edit only the place that changes (`edit`) instead of rewriting the body, and `forward` unknown messages",
        run: untouched::run,
    },
    Check {
        name: "order",
        promise: "Messages of a session stay in their order, with any number of sessions at once",
        remedy: "settle held messages in the order of their arrival, and hold the later messages of a session with the first",
        run: order::run,
    },
    Check {
        name: "answers",
        promise: "Every request gets one answer, and every held message is settled",
        remedy: "settle each held message (`channel.settle`, `channel.fail`) on every path, including errors and missing answers",
        run: answers::run,
    },
    Check {
        name: "cancellation",
        promise: "It releases cancelled requests and the messages of cancelled turns, and every sender gets an answer",
        remedy: "settle held messages in `on-cancel`, usually by `reject` with the code -32800",
        run: cancellation::run,
    },
    Check {
        name: "restart",
        promise: "After a failure between any two messages it restarts, with or without its saved state, and every request is answered",
        remedy: "let `init` take any saved text: if it cannot read the text, decline or ignore it",
        run: restart::run,
    },
    Check {
        name: "limits",
        promise: "It stays within its limits with many sessions and long messages, and forgets finished turns",
        remedy: "drop the state of a turn when it ends, and of a session when it closes; or ask for a higher limit",
        run: limits::run,
    },
    Check {
        name: "versions",
        promise: "It copes with every version of the protocol, and with unknown methods",
        remedy: "`forward` unknown messages, and accept any `protocolVersion`",
        run: versions::run,
    },
    Check {
        name: "tools",
        promise: "Its tools, resources and prompts are listed correctly, and cope with any arguments, and with cancellation",
        remedy: "check arguments, and answer impossible calls with an error (`err`, or a result with `isError`)",
        run: tools::run,
    },
    Check {
        name: "determinism",
        promise: "It reacts to the same messages in the same way",
        remedy: "only a warning: tests cannot cover behaviour that depends on a clock or on chance",
        run: determinism::run,
    },
];
