//! What the checkout says of itself: nothing of it is run.

mod book;
mod languages;
mod layout;
mod targets;
