//! A server over the Rust SDK, with an agent process for each connection.
//!
//! `remote-server AGENT [ARGS…]`

use agent_client_protocol::{AcpAgent, AcpAgentConfig};
use agent_client_protocol_http::AcpHttpServer;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let agent = args.next().ok_or("usage: remote-server AGENT [ARGS…]")?;
    let agent = AcpAgentConfig::new(agent).args(args);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("listening on http://{}/acp", listener.local_addr()?);
    let server = AcpHttpServer::new(move || AcpAgent::new(agent.clone()));
    Ok(axum::serve(listener, server.into_router()).await?)
}
