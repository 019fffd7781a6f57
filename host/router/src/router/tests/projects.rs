//! Sessions with projects: they wait for the lookup of their project, and pass its proxies and no others.

mod joining;
mod natives;
mod waiting;
mod ways;

use std::path::PathBuf;

use super::sessions::{SeenMessages, watches};
use super::{agent, client, received, update};
use crate::Member;
use crate::router::Router;
use acp_chain_channel::{Failure, Peer};

/// A router with these proxies of the user, and lookups of projects.
fn with<P: Into<Member>>(own: Vec<P>) -> Router {
    let mut router = Router::new(own, None);
    router.find_projects(false);
    router
}

/// A router with one proxy of the user, which sees everything, and lookups of projects.
fn watched(seen: &SeenMessages) -> Router {
    with(vec![watches("own", seen)])
}

/// A request that sets up a session.
fn setup(id: u64, method: &str, session: Option<&str>, cwd: &str) -> String {
    let session = session.map_or_else(String::new, |session| {
        format!(r#""sessionId":"{session}","#)
    });
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"session/{method}","params":{{{session}"cwd":"{cwd}"}}}}"#
    )
}

/// The lookups, by number.
fn wanted(router: &mut Router) -> Vec<(u64, PathBuf)> {
    router.take_lookups()
}

/// Answers a lookup with a project of this name. If the project has to join, it has one proxy of the same name.
fn finds(router: &mut Router, number: u64, project: &str, member: impl Into<Member>) {
    finds_all(router, number, project, vec![member.into()]).unwrap();
}

fn finds_all(
    router: &mut Router,
    number: u64,
    project: &str,
    members: Vec<Member>,
) -> Result<(), Failure> {
    if router.lacks(number, project) {
        router.join(project.into(), project, members)?;
    }
    router.found(number, Some(project));
    router.pump(1000);
    Ok(())
}

/// Answers a lookup with no project.
fn finds_none(router: &mut Router, number: u64) {
    router.found(number, None);
    router.pump(1000);
}

/// Sends the agent's answer to the request with this number, which names this session.
fn begins(router: &mut Router, number: u64, session: &str) {
    agent(
        router,
        &format!(r#"{{"jsonrpc":"2.0","id":{number},"result":{{"sessionId":"{session}"}}}}"#),
    );
}

fn fails(router: &mut Router, number: u64) {
    let line = format!(r#"{{"jsonrpc":"2.0","id":{number},"error":{{"code":1,"message":"no"}}}}"#);
    agent(router, &line);
}

/// A session of this name in a new project of the name `project`, whose proxy sees everything. Its request
/// has this number.
fn opened(
    router: &mut Router,
    number: u64,
    session: &str,
    project: &'static str,
    seen: &SeenMessages,
) {
    client(router, &setup(1000 + number, "new", None, project));
    assert_eq!(wanted(router), [(number, project.into())]);
    finds(router, number, project, watches(project, seen));
    begins(router, number, session);
    received(router, Peer::Client);
    received(router, Peer::Agent);
    super::sessions::taken(seen);
}

/// Closes a session by a request with this number.
fn closed(router: &mut Router, number: u64, session: &str) {
    let id = 1000 + number;
    client(
        router,
        &format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"session/close","params":{{"sessionId":"{session}"}}}}"#
        ),
    );
    let line = format!(r#"{{"jsonrpc":"2.0","id":{number},"result":{{}}}}"#);
    agent(router, &line);
    received(router, Peer::Client);
    received(router, Peer::Agent);
}
