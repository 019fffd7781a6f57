//! MCP over ACP with third-party agents, MCP clients, MCP servers and SDKs.

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
