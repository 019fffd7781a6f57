//! `acp-chain serve`, as clients reach it over HTTP and WebSocket (RFD streamable-http-websocket-transport).

mod attacks;
mod drain;
mod gate;
mod gateway;
mod issuer;
mod keys;
mod raw;
mod resume;
mod served;
mod sleep;
mod streams;
mod watch;
mod websocket;
mod wire;
