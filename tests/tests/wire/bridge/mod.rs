//! The bridge lets in exactly those MCP clients that know the secret of a server, and relays what
//! they and the server say, each message to whom it is for.

mod clients;
mod http;
mod limits;
mod locks;
mod modern;
mod server;
mod shim;
