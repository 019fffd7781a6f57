//! A balancer with its file in `examples/serve`, except for its own address and those of its replicas.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use acp_chain_tests::host::peer;
use acp_chain_tests::wire::in_time;
use reqwest::{Certificate, Client, StatusCode};
use tempfile::TempDir;
use tokio::process::{Child, Command};

use super::replica::Replica;
use super::turn::Connection;

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/serve");

/// The balancer's program.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Haproxy,
    Nginx,
    Envoy,
    Caddy,
}

pub(crate) struct Balancer {
    kind: Kind,
    process: Child,
    /// Its host, which its certificate names, and its port.
    pub(crate) address: String,
    client: Client,
    folder: TempDir,
}

impl Kind {
    fn file(self) -> &'static str {
        match self {
            Self::Haproxy => "haproxy.cfg",
            Self::Nginx => "nginx.conf",
            Self::Envoy => "envoy.yaml",
            Self::Caddy => "Caddyfile",
        }
    }

    /// The log line when `a` is not ready, if running connections depend on that. The other balancers route running
    /// connections without health checks.
    fn says_of_a(self) -> Option<&'static str> {
        match self {
            Self::Haproxy => Some("Server replicas/a is DOWN"),
            Self::Nginx | Self::Envoy | Self::Caddy => None,
        }
    }

    /// The example with the settings of this machine.
    fn here(self, text: &str) -> String {
        match self {
            Self::Haproxy | Self::Envoy => text.replace("0.0.0.0", "127.0.0.1"),
            // Its files are in the test's folder, and it runs as the user of the tests.
            Self::Nginx => text
                .replace("listen 8443", "listen 127.0.0.1:8443")
                .replace(
                    "\nhttp {\n",
                    "\nhttp {\naccess_log off; client_body_temp_path body; proxy_temp_path proxy;\n\
                 fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;\n",
                ),
            Self::Caddy => text.replace("https://:8443 {\n", "https://:8443 {\n\tbind 127.0.0.1\n"),
        }
    }

    fn command(self, file: &Path, folder: &Path) -> Command {
        let program = |name: &str| Command::new(peer("bin").join(name));
        let mut command = match self {
            Self::Haproxy => {
                let mut command = program("haproxy");
                command.args(["-db", "-f"]).arg(file);
                command
            }
            Self::Nginx => {
                let mut command = program("nginx");
                command.arg("-p").arg(folder).arg("-c").arg(file);
                // One process, which ends when it is killed.
                command.args([
                    "-e",
                    "stderr",
                    "-g",
                    "daemon off; master_process off; pid nginx.pid;",
                ]);
                command
            }
            Self::Envoy => {
                let mut command = program("envoy");
                command
                    .args(["--use-dynamic-base-id", "--concurrency", "1", "-c"])
                    .arg(file);
                command
            }
            Self::Caddy => {
                let mut command = program("caddy");
                command
                    .args(["run", "--adapter", "caddyfile", "--config"])
                    .arg(file);
                command.env("HOME", folder);
                command
            }
        };
        command.current_dir(folder);
        command
    }

    fn start(self, file: &Path, folder: &Path) -> Child {
        let log = folder.join("log");
        let log = File::options().create(true).append(true).open(log).unwrap();
        let mut command = self.command(file, folder);
        command.stdin(Stdio::null()).kill_on_drop(true);
        command.stdout(log.try_clone().unwrap()).stderr(log);
        command.spawn().unwrap()
    }
}

impl Balancer {
    /// Starts a balancer before the replicas `a` and `b`, and waits until it admits a client.
    pub(crate) async fn start(kind: Kind, [a, b]: [&Replica; 2]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let certificate = certified.cert.pem();
        fs::write(folder.path().join("cert.pem"), &certificate).unwrap();
        let pem = folder.path().join("tls.pem");
        fs::write(
            &pem,
            certificate.clone() + &certified.signing_key.serialize_pem(),
        )
        .unwrap();

        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let text = fs::read_to_string(Path::new(EXAMPLES).join(kind.file())).unwrap();
        let mut text = kind
            .here(&text)
            .replace("/etc/acp-chain/tls.pem", pem.to_str().unwrap());
        for (number, replica) in [(1, a), (2, b)] {
            let (host, at) = replica.address.split_once(':').unwrap();
            text = text.replace(&format!("10.0.0.{number}:8600"), &replica.address);
            text = text.replace(
                &format!("address: 10.0.0.{number}, port_value: 8600"),
                &format!("address: {host}, port_value: {at}"),
            );
        }
        let text = text.replace("8443", &port.to_string());
        let settings = text
            .lines()
            .filter(|line| !line.trim_start().starts_with('#'));
        for line in settings {
            assert!(
                !line.contains("10.0.0.") && !line.contains("/etc/"),
                "{line}"
            );
        }
        let file = folder.path().join(kind.file());
        fs::write(&file, text).unwrap();

        let process = kind.start(&file, folder.path());

        let _ = rustls::crypto::ring::default_provider().install_default();
        let certificate = Certificate::from_pem(certificate.as_bytes()).unwrap();
        let client = Client::builder().no_proxy().tls_certs_only([certificate]);
        let mut balancer = Self {
            kind,
            process,
            address: format!("localhost:{port}"),
            client: client.build().unwrap(),
            folder,
        };
        balancer.is_there().await;
        balancer
    }

    async fn is_there(&mut self) {
        let let_in = async {
            while let Err(status) = self.connects().await {
                let log = self.log();
                assert!(
                    self.process.try_wait().unwrap().is_none(),
                    "{status}: {log}"
                );
            }
        };
        in_time("an admitted client", let_in).await;
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    /// Kills the balancer, with all its connections.
    pub(crate) async fn dies(&mut self) {
        self.process.kill().await.unwrap();
    }

    /// Restarts the balancer at the same address.
    pub(crate) async fn comes_back(&mut self) {
        let file = self.folder.path().join(self.kind.file());
        self.process = self.kind.start(&file, self.folder.path());
        self.is_there().await;
    }

    /// Waits until the balancer knows that `a` drains, if that could affect running turns.
    pub(crate) async fn knows_that_a_drains(&self) {
        let knows = async {
            while self
                .kind
                .says_of_a()
                .is_some_and(|says| !self.log().contains(says))
            {
                tokio::task::yield_now().await;
            }
        };
        in_time("the balancer's log line", knows).await;
    }

    /// The file of the balancer's certificate.
    pub(crate) fn certificate(&self) -> PathBuf {
        self.folder.path().join("cert.pem")
    }

    /// A connection to the replica that the balancer chooses, unless it is refused.
    pub(crate) async fn connects(&self) -> Result<Connection, StatusCode> {
        Connection::begin(&self.client, &format!("https://{}/acp", self.address)).await
    }

    /// The same for a client that retries when the replica refuses it.
    pub(crate) async fn connects_in_the_end(&self) -> Connection {
        let let_in = async {
            loop {
                match self.connects().await {
                    Ok(connection) => return connection,
                    Err(status) => assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE),
                }
            }
        };
        in_time("a connection", let_in).await
    }

    /// A connection to this replica, as soon as the balancer chooses it.
    pub(crate) async fn connects_to(&self, node: &str) -> Connection {
        let let_in = async {
            loop {
                let connection = self.connects_in_the_end().await;
                if connection.node() == node {
                    return connection;
                }
                connection.end().await;
            }
        };
        in_time("a connection to a replica", let_in).await
    }
}
