//! What the checkout says of itself: nothing of it is run but `cargo xtask`, which says what it lacks.

mod book;
mod languages;
mod layout;
mod needs;
mod targets;
