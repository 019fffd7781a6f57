//! What a server counts, and how it is shown to who operates it.
//!
//! What always holds: to count something takes no lock, and no label has a value that somebody outside chooses, so that
//! there are as many series as there are lines of code that name one. What is open is not counted but looked at when it
//! is asked for, so that it is never wrong.
//!
//! | file | what it is |
//! |---|---|
//! | `figures` | what is counted |
//! | `page` | numbers as Prometheus reads them |
//! | `listener` | where they are asked for |

mod figures;
mod listener;
mod page;

pub(super) use self::figures::Count;
pub use self::figures::{Figures, Refusal, TurnEnd, Way};
pub use self::listener::Metrics;
pub use self::page::Page;

/// Writes some numbers onto a page, each time that somebody asks.
pub type Source = Box<dyn Fn(&mut Page) + Send + Sync>;
