//! Servers that refuse us, or are not agents: the error names the URL and the next step, and no secret.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use acp_chain_tests::web;
use tokio::process::Command;

use super::server::Server;
use super::{INITIALIZE, program, start};

/// The error of a connection that fails with its first message.
pub(super) async fn told(command: Command) -> String {
    let mut client = start(command);
    client.wire.ask("initialize", INITIALIZE);
    let exit = client.finish().await.unwrap();
    assert_eq!(exit.status.code(), Some(1), "{}", exit.stderr);
    exit.stderr
}

/// The same with a server that sends this answer.
async fn answered(
    status: &str,
    headers: &str,
    body: &str,
    scheme: &str,
    token: Option<&str>,
) -> String {
    let mut server = Server::start().await;
    let address = server.url().replace("http://", "");
    let url = format!("{scheme}://{address}");
    let mut command = program(&["connect", &format!("{url}?key=s3cret")]);
    command.envs(token.map(|token| ("ACP_CHAIN_CONNECT_TOKEN", token)));
    let method = if scheme == "ws" { "GET" } else { "POST" };
    let (told, ()) = tokio::join!(told(command), async {
        let request = match method {
            "GET" => server.get(None).await,
            _ => server.post().await,
        };
        let bearer = token.map(|token| format!("Bearer {token}"));
        assert_eq!(request.header("authorization"), bearer.as_deref());
        assert_eq!(request.header("origin"), None);
        request.answer(status, headers, body).await;
    });
    assert!(told.starts_with(&format!("acp-chain: {url}: ")), "{told}");
    assert!(!told.contains("s3cret"), "{told}");
    told
}

#[tokio::test]
async fn who_is_not_let_in_is_told_what_to_do() {
    let cases = [
        (
            "401 Unauthorized",
            None,
            "it requires a token; give one by ACP_CHAIN_CONNECT_TOKEN",
        ),
        (
            "401 Unauthorized",
            Some("s3cret-token"),
            "it rejects the token",
        ),
        ("403 Forbidden", Some("s3cret-token"), "access denied"),
        ("404 Not Found", None, "check that the path is right"),
        (
            "302 Found",
            None,
            "it redirects to another address; give that one (302 Found); the server answered: http://elsewhere/acp",
        ),
    ];
    for (status, token, expected) in cases {
        for scheme in ["http", "ws"] {
            let body = "\u{1b}[31msecond\nline";
            let told = answered(
                status,
                "Location: http://elsewhere/acp\r\n",
                body,
                scheme,
                token,
            )
            .await;
            assert!(told.contains(expected), "{told}");
            assert!(
                !told.contains('\u{1b}') && told.lines().count() == 1,
                "{told}"
            );
        }
    }
}

#[tokio::test]
async fn what_is_no_server_of_agents_is_said_to_be_none() {
    let told = answered("200 OK", "", "<html>", "http", None).await;
    assert!(told.contains("its answer names no connection"), "{told}");
    let told = answered("200 OK", "", "<html>", "ws", None).await;
    assert!(
        told.contains("it does not support WebSocket (200 OK)"),
        "{told}"
    );
    let told = answered("426 Upgrade Required", "", "", "ws", None).await;
    assert!(told.contains("try the same URL with http"), "{told}");
}

#[tokio::test]
async fn an_agent_that_refuses_says_why_itself_and_may_be_asked_again() {
    let mut server = Server::start().await;
    let mut client = start(program(&["connect", &server.url()]));
    for id in [1, 2] {
        let asked = client.wire.ask("initialize", INITIALIZE);
        assert_eq!(asked, id.to_string());
        let error = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32000,"message":"sign in first"}}}}"#
        );
        server.post().await.answer("200 OK", "", &error).await;
        let answer = client.wire.response(&asked).await;
        assert!(answer.error.unwrap().contains("sign in first"));
    }
    client.finish().await.unwrap();
}

#[tokio::test]
async fn where_nothing_listens_that_is_said() {
    let (_nobody, address) = web::nobody();
    for scheme in ["http", "ws", "https", "wss"] {
        let told = told(program(&["connect", &format!("{scheme}://{address}/acp")])).await;
        assert!(told.contains("nothing listens there"), "{told}");
    }
    let told = told(program(&["connect", "http://nowhere.invalid/acp"])).await;
    assert!(told.contains("its host is not known"), "{told}");
}

#[tokio::test]
async fn a_token_is_read_from_a_file_that_nobody_else_reads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    fs::write(&path, "from-file\nsecond line\n").unwrap();
    let mut server = Server::start().await;
    let url = server.url();
    let args = [
        "connect",
        &url,
        "--connect-token-file",
        path.to_str().unwrap(),
    ];
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    let said = told(program(&args)).await;
    assert!(
        said.contains("others may read") && said.contains("chmod go-rwx"),
        "{said}"
    );
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    let (said, ()) = tokio::join!(told(program(&args)), async {
        let post = server.post().await;
        assert_eq!(post.header("authorization"), Some("Bearer from-file"));
        post.answer("401 Unauthorized", "", "").await;
    });
    assert!(said.contains("it rejects the token"), "{said}");
}

#[tokio::test]
async fn a_token_goes_nowhere_where_others_could_read_it() {
    let mut command = program(&["connect", "http://agents.invalid/acp"]);
    command.env("ACP_CHAIN_CONNECT_TOKEN", "s3cret");
    let said = told(command).await;
    assert!(
        said.contains("use https or wss") && !said.contains("s3cret"),
        "{said}"
    );
    let said = told(program(&[
        "connect",
        "https://me:s3cret@agents.invalid/acp",
    ]))
    .await;
    assert!(
        said.contains("a user or a password") && !said.contains("s3cret"),
        "{said}"
    );
}

#[tokio::test]
async fn the_first_message_is_initialize() {
    let server = Server::start().await;
    let mut client = start(program(&["connect", &server.url()]));
    client.wire.ask("session/new", "{}");
    let exit = client.finish().await.unwrap();
    assert!(
        exit.stderr
            .contains("the first message of a client is `initialize`"),
        "{}",
        exit.stderr
    );
}

#[tokio::test]
async fn no_log_shows_a_query_or_a_token_however_much_it_says() {
    for (scheme, words) in [
        ("http", vec!["connect"]),
        ("ws", vec!["connect"]),
        ("http", vec!["run", "--connect"]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let mut server = Server::start().await;
        let url = server.url().replace("http://", &format!("{scheme}://"));
        let mut command = program(&words);
        command.arg(format!("{url}?key=s3cret"));
        command
            .env("ACP_CHAIN_LOG", "trace")
            .arg("--log-file")
            .arg(&log);
        command.env("ACP_CHAIN_CONNECT_TOKEN", "s3cret-token");
        command.env("XDG_CONFIG_HOME", folder.path());
        let mut client = start(command);
        client.wire.ask("initialize", INITIALIZE);
        let request = match scheme {
            "ws" => server.get(None).await,
            _ => server.post().await,
        };
        request.answer("401 Unauthorized", "", "").await;
        let exit = client.finish().await.unwrap();
        let log = fs::read_to_string(log).unwrap();
        assert!(
            !exit.stderr.contains("s3cret") && !log.contains("s3cret"),
            "{log}"
        );
        assert!(log.contains("TRACE"), "{log}");
    }
}
