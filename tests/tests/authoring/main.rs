//! The tools for authors of proxies: templates, toolchains, transcripts, and proxies in every language.

mod author;
mod dev;
mod examples;
mod javascript;
mod proxy_conformance;
mod released;
mod shout;
mod transcripts;
