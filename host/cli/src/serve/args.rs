//! The settings for serving: the command line, over `[serve]` of the user's config.toml.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::path::path;
use acp_chain_app::serve::{ServeLimits, ServeSettings};
use acp_chain_remote::gate::{Host, Origin, TlsFiles};
use acp_chain_remote::server::{Endpoint, Node};

#[derive(Debug, clap::Args)]
pub struct ServeArgs {
    /// The address to listen on: 127.0.0.1:8600 unless config.toml says otherwise; port 0 lets the system choose one
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    listen: Option<SocketAddr>,
    /// The address that serves metrics in Prometheus' format, at /metrics; by default, none does
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    metrics: Option<SocketAddr>,
    /// Append a line of JSON to this file for each request and each turn, `-` for standard error
    #[arg(long, value_name = "FILE", value_parser = path())]
    access_log: Option<PathBuf>,
    /// The path of the endpoint: /acp unless config.toml says otherwise
    #[arg(long, value_name = "PATH")]
    path: Option<Endpoint>,
    /// The prefix of the ids of connections, by which balancers find the replica; by default, it is random
    #[arg(long, value_name = "NAME", env = "ACP_CHAIN_NODE")]
    node: Option<Node>,
    /// A host name that clients use, beside localhost and the address
    #[arg(long, value_name = "NAME")]
    host: Vec<Host>,
    /// Also admit web pages of this origin
    #[arg(long, value_name = "ORIGIN")]
    origin: Vec<Origin>,
    /// The file of users and the digests of their tokens, one per line; `acp-chain serve-token` writes it
    #[arg(long, value_name = "FILE", value_parser = path())]
    tokens: Option<PathBuf>,
    /// The certificate for TLS, followed by the intermediate ones; PEM
    #[arg(long, value_name = "FILE", value_parser = path(), requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The private key of that certificate; PEM
    #[arg(long, value_name = "FILE", value_parser = path(), requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Admit clients with a certificate of these authorities; PEM
    #[arg(long, value_name = "FILE", value_parser = path(), requires = "tls_cert")]
    client_ca: Option<PathBuf>,
    /// Do not encrypt: a balancer in front does
    #[arg(long)]
    plain: bool,
    /// How long a silent connection is kept: 120 unless config.toml says otherwise
    #[arg(long, value_name = "SECONDS")]
    resume_seconds: Option<u32>,
    /// How long turns may go on once it is asked to stop: 30 unless config.toml says otherwise
    #[arg(long, value_name = "SECONDS")]
    drain_seconds: Option<u32>,
    /// When an idle proxy is put to sleep, 0 for never: 300 unless config.toml says otherwise, and sooner where many
    /// are awake
    #[arg(long, value_name = "SECONDS")]
    sleep_seconds: Option<u32>,
    /// Only make the tables of the store that config.toml names, or bring them up to date, and move values of the
    /// server's users there that proxies have stored in the data folder
    #[arg(long)]
    pub migrate: bool,
}

/// Reads an address with a port.
fn address(text: &str) -> Result<SocketAddr, &'static str> {
    text.parse()
        .map_err(|_| "it is not an address with a port; write one as in 127.0.0.1:8600")
}

impl ServeArgs {
    /// The user's settings, and over them those of the command line.
    pub fn over(self, mut serve: ServeSettings) -> ServeSettings {
        let gate = &mut serve.gate;
        gate.hosts.extend(self.host);
        gate.origins.extend(self.origin);
        gate.plain |= self.plain;
        gate.tokens = self.tokens.or(gate.tokens.take());
        if let (Some(cert), Some(key)) = (self.tls_cert, self.tls_key) {
            gate.tls = Some(TlsFiles {
                cert,
                key,
                client_ca: self.client_ca,
            });
        }
        let seconds = |given: Option<u32>| given.map(|seconds| Duration::from_secs(seconds.into()));
        let limits = ServeLimits {
            resume: seconds(self.resume_seconds).unwrap_or(serve.limits.resume),
            drain: seconds(self.drain_seconds).unwrap_or(serve.limits.drain),
            sleep: match seconds(self.sleep_seconds) {
                Some(seconds) => Some(seconds).filter(|seconds| !seconds.is_zero()),
                None => serve.limits.sleep,
            },
            ..serve.limits
        };
        ServeSettings {
            listen: self.listen.or(serve.listen),
            metrics: self.metrics.or(serve.metrics),
            access_log: self.access_log.or(serve.access_log),
            path: self.path.unwrap_or(serve.path),
            node: self.node.or(serve.node),
            limits,
            ..serve
        }
    }
}
