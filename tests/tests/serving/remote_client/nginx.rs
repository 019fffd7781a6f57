//! A real server that is not an agent: the error for the user names its URL, its answer and the next step.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::net::TcpListener;
use std::process::Stdio;

use acp_chain_tests::host::peer;
use acp_chain_tests::wire::in_time;
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

use super::program;
use super::refused::told;

/// For each path: the server's configuration, and the errors for the schemes `http` and `ws`.
const ANSWERS: [(&str, &str, [&str; 2]); 16] = [
    (
        "page",
        "default_type text/html; return 200 '<html>It works!</html>';",
        NO_AGENT,
    ),
    ("nothing", "return 200 '';", NO_AGENT),
    ("text", "default_type text/plain; return 200 ok;", NO_AGENT),
    (
        "json",
        "default_type application/json; return 200 '{\"status\":\"up\"}';",
        NO_AGENT,
    ),
    (
        "coded",
        "default_type application/json; add_header Content-Encoding gzip; return 200 plain;",
        NO_AGENT,
    ),
    (
        "accepted",
        "return 202;",
        [
            "names no connection",
            "does not support WebSocket (202 Accepted)",
        ],
    ),
    (
        "empty",
        "return 204;",
        [
            "names no connection",
            "does not support WebSocket (204 No Content)",
        ],
    ),
    (
        "moved",
        "return 308 https://elsewhere.example/acp;",
        ["give that one (308 Permanent Redirect); the server answered: https://elsewhere.example/acp";
            2],
    ),
    (
        "locked",
        "add_header WWW-Authenticate 'Basic realm=x' always; return 401;",
        ["it requires a token; give one by ACP_CHAIN_CONNECT_TOKEN"; 2],
    ),
    ("forbidden", "return 403;", ["access denied"; 2]),
    (
        "missing",
        "return 404;",
        ["check that the path is right, often /acp"; 2],
    ),
    ("get", "return 405;", ["(405 Method Not Allowed)"; 2]),
    ("media", "return 415;", ["(415 Unsupported Media Type)"; 2]),
    ("broken", "return 500;", ["(500 Internal Server Error)"; 2]),
    (
        "gateway",
        "proxy_pass http://127.0.0.1:1;",
        ["(502 Bad Gateway)"; 2],
    ),
    ("closed", "return 444;", ["the connection broke"; 2]),
];

const NO_AGENT: [&str; 2] = [
    "its answer names no connection; check that the URL is that of an agent, often with the path /acp",
    "it does not support WebSocket (200 OK); try the same URL with http in place of ws",
];

struct Nginx {
    address: String,
    _process: Child,
    _folder: TempDir,
}

impl Nginx {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap().to_string();
        drop(free);
        let mut places = String::new();
        for (path, answer, _) in ANSWERS {
            let _ = writeln!(places, "location = /{path} {{ {answer} }}");
        }
        let file = folder.path().join("nginx.conf");
        fs::write(
            &file,
            format!(
                "events {{}}\nhttp {{\naccess_log off; client_body_temp_path body; proxy_temp_path proxy;\n\
                 fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;\n\
                 server {{\nlisten {address};\n{places}}}\n}}\n"
            ),
        )
        .unwrap();
        let log = File::create(folder.path().join("log")).unwrap();
        let mut nginx = Command::new(peer("bin").join("nginx"));
        nginx.arg("-p").arg(folder.path()).arg("-c").arg(&file);
        let alone = "daemon off; master_process off; pid nginx.pid;";
        nginx.args(["-e", "stderr", "-g", alone]).kill_on_drop(true);
        let process = nginx.stdin(Stdio::null()).stderr(log).spawn().unwrap();
        in_time("nginx", async {
            while TcpStream::connect(&address).await.is_err() {
                tokio::task::yield_now().await;
            }
        })
        .await;
        Self {
            address,
            _process: process,
            _folder: folder,
        }
    }
}

#[tokio::test]
async fn what_nginx_answers_is_said_with_the_next_step() {
    let nginx = Nginx::start().await;
    for (path, _, said) in ANSWERS {
        for (scheme, expected) in ["http", "ws"].into_iter().zip(said) {
            let url = format!("{scheme}://{}/{path}", nginx.address);
            let told = told(program(&["connect", &url])).await;
            assert!(told.starts_with(&format!("acp-chain: {url}: ")), "{told}");
            assert!(told.contains(expected), "{told}");
            assert_eq!(told.lines().count(), 1, "{told}");
        }
    }
}
