//! The metrics of a server, and how its operator gets them.
//!
//! Invariants: counting takes no lock, and no label value is chosen from outside, so the code fixes the number of
//! series. Gauges are not counted but computed on request, so that they are never wrong.
//!
//! | file | what it is |
//! |---|---|
//! | `figures` | the counters |
//! | `page` | the text format of Prometheus |
//! | `listener` | serves them |

mod figures;
mod listener;
mod page;

pub(super) use self::figures::{Count, Histogram};
pub use self::figures::{Figures, Refusal, TransportKind, TurnEnd};
pub use self::listener::Metrics;
pub use self::page::Page;

/// Writes metrics to a page, on each request.
pub type Source = Box<dyn Fn(&mut Page) + Send + Sync>;
