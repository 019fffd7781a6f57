//! A proxy over the Rust SDK that forwards everything.

use agent_client_protocol::{Error, Proxy, Stdio};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    Proxy.v1().connect_to(Stdio::new()).await
}
