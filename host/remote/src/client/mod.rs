//! A remote agent, as a client reaches it.
