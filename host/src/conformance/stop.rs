//! Why a play stops, and what that finds.

use std::time::Duration;

use super::excerpt::{name, shown};
use super::finding::Finding;
use super::observed::Seen;
use crate::channel::Failure;

/// How long a check may take by the machine's clock.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// Why a play stops.
#[derive(Debug)]
pub enum Stop {
    /// The component broke; the observations say how.
    Broke,
    /// It does not start.
    DoesNotStart(Failure),
    /// It never stops sending.
    NoRest,
    /// The chain accepts no more messages.
    Deaf,
    /// It takes too long in real time.
    TooLong,
    /// Another finding.
    Found(Finding),
}

impl From<Finding> for Stop {
    fn from(finding: Finding) -> Self {
        Self::Found(finding)
    }
}

/// The finding of a play that stopped.
pub fn finding(stop: Stop, seen: &Seen) -> Finding {
    if let Some((called, failure)) = seen.lock().broken() {
        return broke(&format!("on {}", name(called)), failure).with_case(shown(called));
    }
    if let Some(failure) = &seen.lock().not_started {
        return broke("when it is started again", failure);
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
                "it does not come to rest: it always has more to send, whatever it is answered",
            )
        }
        .with_remedy(
            "send a bounded number of messages for one that comes, and none for each answer",
        ),
        Stop::Deaf => {
            Finding::failure("the chain reads nothing more: what it holds or sends fills it")
        }
        // The stop itself has been observed.
        Stop::Broke => Finding::failure("it breaks"),
        Stop::TooLong => Finding::failure(format!(
            "it was not done after {} by the clock; what was played until then held",
            humantime::format_duration(PATIENCE)
        ))
        .with_remedy("look for what takes its time; `--cases` plays fewer messages"),
    }
}

/// A finding: it broke.
pub fn broke(when: &str, failure: &Failure) -> Finding {
    let details = failure.details();
    let details = details.lines().filter(|line| !line.trim().is_empty());
    let details = details.take(12).map(|line| format!("! {}", line.trim()));
    Finding::failure(format!("it breaks {when}: {failure}"))
        .with_case(details.collect::<Vec<_>>())
        .with_remedy("fix what the lines with `!` name; what it cannot handle it can `forward`, or refuse with an `err`")
}
