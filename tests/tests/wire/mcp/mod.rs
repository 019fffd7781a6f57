//! MCP over ACP: servers of proxies and of the client, and agents of every kind that use them.

mod again;
mod agent;
mod alone;
mod asks;
mod bad_input;
mod declared;
mod ends;
mod many;
mod raw;
mod relayed;
mod tools;
