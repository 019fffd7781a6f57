//! Whatever somebody makes the host keep is charged to them, and there is a bound to it: an attack by
//! all that is known to pile up, and a look at the most memory that the program ever had.
//!
//! What components pile up is in the hostile suite.

mod requests;

/// What a program takes in which nothing special happens, in bytes.
const QUIET: u64 = 40 << 20;
