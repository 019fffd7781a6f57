//! Hosts the chain of a manifest, between its own standard streams and those of an agent.
//!
//! The process keeps the rights of its user; `acp-chain run` gives them up first.

use std::env;
use std::error::Error;
use std::future::pending;
use std::process::{ExitCode, Stdio};

use acp_chain::chain::{self, Chain, ChildIo, Settings};
use acp_chain::extension::Installed;
use acp_chain::host::{self, Host, Ready, ReadyProxy};
use acp_chain::limits::LINE;
use acp_chain::manifest::{Manifest, User};
use acp_chain::sandbox::Engine;
use acp_chain::transport::Transport;
use tokio::io::{stdin, stdout};
use tokio::process::Command;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match host_chain().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("embedder: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn host_chain() -> Result<(), Box<dyn Error>> {
    let mut args = env::args_os().skip(1);
    let (Some(path), Some(agent)) = (args.next(), args.next()) else {
        return Err("usage: embedder MANIFEST AGENT [ARGUMENT…]".into());
    };
    let manifest = Manifest::read(path.as_ref(), &User::default(), &Installed::default())?;
    let host = Host::new(Engine::new(None)?);
    let loaded = host.load(host::plan(&manifest)?, |_, load| load());
    let proxies = loaded.into_iter().map(|proxy| match proxy.component {
        Some(component) => Ok(ReadyProxy {
            entry: proxy.plan.entry,
            ready: Ready::loaded(component)?,
        }),
        None => Err("this program starts no native proxies".into()),
    });
    let proxies = proxies.collect::<Result<Vec<_>, Box<dyn Error>>>()?;
    let started = host::start(&manifest, proxies, None).await?;

    let mut agent = Command::new(agent)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let output = agent.stdout.take().expect("its output is a pipe");
    let input = agent.stdin.take().expect("its input is a pipe");
    let mut chain = Some(Chain {
        notices: started.notices,
        reach: manifest.reach,
        ..Chain::new(started.proxies, ChildIo::over(output, input))
    });
    let start = async |_| Ok(chain.take().expect("a chain starts once"));
    let client = Transport::lines(stdin(), stdout(), LINE);
    chain::serve(client, start, pending(), Settings::default()).await;
    Ok(())
}
