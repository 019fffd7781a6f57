//! Tests of all seats: what they share, and what holds for any messages.

mod hostile;
pub mod transcript;
