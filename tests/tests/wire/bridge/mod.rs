//! The bridge lets in exactly those MCP clients that know the secret of a server, and relays the messages of
//! clients and server, each to its receiver.

mod clients;
mod http;
mod limits;
mod locks;
mod modern;
mod server;
mod shim;
