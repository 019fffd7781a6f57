//! MCP over ACP with what others wrote: agents, clients of MCP, servers of MCP, and SDKs.

mod caller;
mod clients;
mod elizacp;
mod ends;
mod everything;
mod inspector;
mod nested;
mod npm;
mod turns;
mod workshop;
