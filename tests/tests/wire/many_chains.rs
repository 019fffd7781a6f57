//! One host with several connections at once.

use std::fs;

use acp_chain::extension::{Installed, Location, Store};
use acp_chain::host::{self, Host, Ready, ReadyProxy};
use acp_chain::manifest::{Manifest, User};
use acp_chain::sandbox::Engine;
use acp_chain_tests::host::{InProcess, component, passes};
use acp_chain_tests::transcript::Transcript;

fn new_host() -> Host {
    Host::new(Engine::new(None).expect("an engine"))
}

#[test]
fn what_is_installed_is_loaded_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path());
    let pass = fs::read(component("pass")).unwrap();
    let digest = store.change().unwrap().add(&pass).unwrap();
    let stored = store.sized(&digest, pass.len() as u64).unwrap();
    let file = stored.path.clone();
    let location = Location::Stored(stored);

    let host = new_host();
    assert_eq!(host.component(&location).unwrap().size(), pass.len() as u64);
    fs::remove_file(&file).unwrap();
    assert!(host.component(&location).is_ok());
    assert!(new_host().component(&location).is_err());
}

#[tokio::test]
async fn chains_of_one_host_know_nothing_of_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = passes(folder.path(), 2).unwrap();
    let manifest = Manifest::read(&path, &User::default(), &Installed::default()).unwrap();
    let host = new_host();
    let mut chains = Vec::new();
    for _ in 0..3 {
        let loaded = host.load(host::plan(&manifest).unwrap(), |_, load| load());
        let proxies = loaded.into_iter().map(|proxy| ReadyProxy {
            entry: proxy.plan.entry,
            ready: Ready::Guest(proxy.component.unwrap().unwrap()),
        });
        let started = host::start(&manifest, proxies, None).await.unwrap();
        assert!(started.notices.is_empty());
        chains.push(InProcess::of(started.proxies, &Transcript::new()));
    }
    // Each chain has a turn while the others are in the middle of theirs.
    let mut asked = Vec::new();
    for (at, chain) in chains.iter_mut().enumerate() {
        let params = format!(r#"{{"protocolVersion":1,"_meta":{{"chain":{at}}}}}"#);
        asked.push((chain.client.ask("initialize", &params), params));
    }
    for (chain, (id, params)) in chains.iter_mut().zip(asked).rev() {
        let request = chain.agent.receive().await.unwrap();
        assert_eq!(request.params.as_deref(), Some(&*params));
        for line in request.result(r#"{"protocolVersion":1}"#) {
            chain.agent.send(line);
        }
        assert!(chain.client.response(&id).await.result.is_some());
    }
}
