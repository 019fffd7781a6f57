//! The checks: one table, and a file each.

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

use super::finding::Finding;
use super::under_test::UnderTest;

/// Something that every proxy has to bear.
#[derive(Debug)]
pub struct Check {
    /// What it is called on the command line.
    pub name: &'static str,
    /// What holds for a component that passes it.
    pub promise: &'static str,
    /// What to do about one that does not.
    pub remedy: &'static str,
    pub(super) run: fn(&UnderTest) -> Vec<Finding>,
}

/// All of them, in their order.
pub const CHECKS: &[Check] = &[
    Check {
        name: "starts",
        promise: "It starts within its limits, asks to see what its powers let it see, and breaks over no configuration",
        remedy: "ask for the powers that cover what it subscribes to, and for no others; decline a configuration with an `err`",
        run: starts::run,
    },
    Check {
        name: "untouched",
        promise: "Every message of the protocol passes it, byte for byte but for what it changes on purpose",
        remedy: "edit the one place that is to change (`edit`) in place of writing the body anew, and `forward` what it does not know",
        run: untouched::run,
    },
    Check {
        name: "order",
        promise: "Messages of a session stay in their order, with any number of sessions at once",
        remedy: "settle what it holds in the order in which it came, and hold the later messages of a session with the first",
        run: order::run,
    },
    Check {
        name: "answers",
        promise: "Every request gets one answer, and whatever it holds it settles",
        remedy: "settle each held message (`channel.settle`, `channel.fail`) on every way, errors and answers that never come among them",
        run: answers::run,
    },
    Check {
        name: "cancellation",
        promise: "What is withdrawn or stopped it lets go, and the sender has an answer",
        remedy: "settle in `on-cancel` what it holds, commonly by `reject` with the code -32800",
        run: cancellation::run,
    },
    Check {
        name: "restart",
        promise: "When it fails between any two messages it starts again, with what it saved or without, and nobody waits in vain",
        remedy: "let `init` take every saved text: what it cannot read, it declines or forgets",
        run: restart::run,
    },
    Check {
        name: "limits",
        promise: "It keeps to its limits with many sessions and long messages, and forgets the turns that are over",
        remedy: "forget what belongs to a turn when it ends, and to a session when it closes; or raise the limit that it asks for",
        run: limits::run,
    },
    Check {
        name: "versions",
        promise: "It bears every version of the protocol, and methods that nobody knows",
        remedy: "`forward` what it does not know, and take every `protocolVersion` for one that may be",
        run: versions::run,
    },
    Check {
        name: "tools",
        promise: "Its tools, resources and prompts are listed right, and bear any arguments, and being given up",
        remedy: "check arguments, and answer with an error (`err`, or a result with `isError`) what cannot be done",
        run: tools::run,
    },
    Check {
        name: "determinism",
        promise: "The same messages make it do the same",
        remedy: "this is a warning only: what depends on a clock or on chance, no test can hold it to",
        run: determinism::run,
    },
];

/// The findings of a check that stops at the first.
fn first(checked: Result<(), Finding>) -> Vec<Finding> {
    checked.err().into_iter().collect()
}
