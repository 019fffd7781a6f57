//! Why a play stops, and the resulting finding.

use std::time::Duration;

use super::excerpt::{name, shown};
use super::finding::Finding;
use crate::observed::Observations;
use crate::transcript::wire;
use acp_chain_channel::Failure;

/// The maximum duration of a check, in real time.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// Why a play stops.
#[derive(Debug)]
pub enum Stop {
    /// The component broke; [`Observations`] has the failure.
    Broke,
    /// The component does not start.
    DoesNotStart(Failure),
    /// The component does not become idle.
    NoRest,
    /// The chain accepts no more messages.
    Blocked,
    /// The check takes longer than [`PATIENCE`].
    TooLong,
    /// Another finding.
    Found(Finding),
}

impl From<Finding> for Stop {
    fn from(finding: Finding) -> Self {
        Self::Found(finding)
    }
}

impl From<wire::Blocked> for Stop {
    fn from(_: wire::Blocked) -> Self {
        Self::Blocked
    }
}

/// The finding of a play that stopped.
pub fn finding(stop: Stop, seen: &Observations) -> Finding {
    if let Some((called, failure)) = seen.lock().broken() {
        return broke(&format!("on {}", name(called)), failure).with_case(shown(called));
    }
    if let Some(failure) = &seen.lock().not_started {
        return broke("when it is restarted", failure);
    }
    match stop {
        Stop::Found(finding) => finding,
        Stop::DoesNotStart(failure) => Finding {
            is_last: true,
            ..broke("when it starts", &failure)
        },
        Stop::NoRest => Finding {
            is_last: true,
            ..Finding::failure(
                "it does not become idle: it keeps sending messages, whatever the answers are",
            )
        }
        .with_remedy(
            "send a bounded number of messages per received message, and none for each answer",
        ),
        Stop::Blocked => Finding::failure(
            "the chain accepts no more messages: those that the component holds or sends fill it",
        ),
        // `seen` has the failure: see above.
        Stop::Broke => Finding::failure("it breaks"),
        Stop::TooLong => Finding::failure(format!(
            "the check was not finished after {}; it had found no failure until then",
            humantime::format_duration(PATIENCE)
        ))
        .with_remedy("find out what takes so long; `--cases` plays fewer messages"),
    }
}

/// The finding about a component that broke.
pub fn broke(when: &str, failure: &Failure) -> Finding {
    let details = failure.details();
    let details = details.lines().filter(|line| !line.trim().is_empty());
    let details = details.take(12).map(|line| format!("! {}", line.trim()));
    Finding::failure(format!("it breaks {when}: {failure}"))
        .with_case(details.collect::<Vec<_>>())
        .with_remedy("fix the error in the lines with `!`; `forward` a message that it cannot handle, or reject it with an `err`")
}
