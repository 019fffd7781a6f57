//! The watching process.

use std::collections::HashSet;
use std::io::{self, BufRead};
use std::thread;
use std::time::Duration;

use acp_chain_remote::gate::Keys;
use acp_chain_rpc::json_lines;
use tokio::sync::watch;
use tokio::task::LocalSet;
use tokio::time::interval;

use super::KeySources;
use super::files::Files;
use super::issuers::{IssuerKeys, Issuers};
use crate::Error;

/// How often files are checked.
const LOOK: Duration = Duration::from_secs(1);

/// Watches the sources that the first line of standard input names, until the server ends.
pub fn serve() -> Result<(), Error> {
    let mut input = io::stdin().lock().lines();
    let watched = input.next().and_then(Result::ok);
    let watched = watched.and_then(|line| serde_json::from_str(&line).ok());
    let watched = watched.ok_or(Error::Misused("watch-keys", ""))?;
    drop(input);
    let runtime = crate::runtime()?;
    let (ask, asks) = watch::channel(());
    thread::spawn(move || {
        for _ in io::stdin().lock().lines().map_while(Result::ok) {
            ask.send_replace(());
        }
        // The server has ended.
        std::process::exit(0);
    });
    LocalSet::new().block_on(&runtime, follow(&watched, &asks));
    Ok(())
}

/// Sends all keys once they are known, and after each change.
async fn follow(watched: &KeySources, asks: &watch::Receiver<()>) {
    let mut files = Files::of(watched);
    let mut keys = Keys::default();
    files.read(&mut keys);
    let mut issuers = Issuers::follow(watched, asks);
    let mut answered = HashSet::new();
    while answered.len() < issuers.count {
        let fetched = issuers.next().await;
        answered.insert(fetched.0.clone());
        put(fetched, &mut keys);
    }
    let mut sent = keys.clone();
    send(&sent);
    let mut looks = interval(LOOK);
    loop {
        tokio::select! {
            _ = looks.tick() => files.read(&mut keys),
            fetched = issuers.next() => put(fetched, &mut keys),
        }
        if keys != sent {
            sent.clone_from(&keys);
            send(&sent);
        }
    }
}

fn put((issuer, jwks): IssuerKeys, keys: &mut Keys) {
    if let Some(jwks) = jwks {
        keys.jwks.insert(issuer, jwks);
    }
}

#[expect(clippy::disallowed_methods, reason = "the server reads it")]
fn send(keys: &Keys) {
    if json_lines::send(&mut io::stdout().lock(), keys).is_err() {
        std::process::exit(0);
    }
}
