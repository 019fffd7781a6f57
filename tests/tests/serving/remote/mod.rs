//! `acp-chain serve`, as clients reach it over HTTP and WebSocket (RFD streamable-http-websocket-transport).

mod access;
mod attacks;
mod bridge;
mod drain;
mod files;
mod gate;
mod gateway;
mod issuer;
mod keys;
mod limits;
mod metrics;
mod prometheus;
mod raw;
mod receipts;
mod replicas;
mod resume;
mod served;
mod sleep;
mod strangers;
mod streams;
mod values;
mod watch;
mod websocket;
mod wire;
