//! The native proxies: they forward every message except those that they are to keep.

use std::sync::{Arc, Mutex};

use acp_chain_tests::envelope::Message;
use acp_chain_tests::passing::PassingProxy;
use acp_chain_tests::stand_in::StandIn;
use acp_chain_tests::transcript::Transcript;
use rustix::process::Pid;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

/// The place of a native proxy in the chain.
pub(crate) struct Native {
    /// The process in this place, once it has started.
    started: watch::Receiver<Option<Pid>>,
    keeps: Arc<Mutex<Option<KeptMethod>>>,
    task: JoinHandle<()>,
}

/// The method whose next message is kept, and the sender that reports its arrival.
type KeptMethod = (&'static str, oneshot::Sender<()>);

impl Native {
    /// Starts playing the proxy. Its processes may live on after the end of their input.
    pub(crate) fn new(place: StandIn, transcript: Transcript, lives_on: bool) -> Self {
        let (tell, started) = watch::channel(None);
        let keeps: Arc<Mutex<Option<KeptMethod>>> = Arc::default();
        let kept = keeps.clone();
        let task = tokio::spawn(async move {
            loop {
                let (pid, mut wire) = place.started(&transcript).await;
                tell.send_replace(Some(pid));
                let mut passing = PassingProxy::new(false, false);
                while let Some(line) = wire.line().await {
                    let message = Message::parse(line).expect("a message");
                    let method = passing.method(&message);
                    let mut keeps = kept.lock().expect("not poisoned");
                    let keep = keeps.take_if(|(kept, _)| method.as_deref() == Some(kept));
                    if let Some((_, told)) = keep {
                        let _ = told.send(());
                        continue;
                    }
                    drop(keeps);
                    if let Some(line) = passing.pass(&message).expect("a valid message") {
                        wire.send(line);
                    }
                }
                if lives_on {
                    std::future::pending::<()>().await;
                }
            }
        });
        Self {
            started,
            keeps,
            task,
        }
    }

    /// Makes the proxy keep the next message of a method; the receiver resolves when that message arrives.
    pub(crate) fn keep(&self, method: &'static str) -> oneshot::Receiver<()> {
        let (told, kept) = oneshot::channel();
        *self.keeps.lock().expect("not poisoned") = Some((method, told));
        kept
    }

    /// The process in this place, once it has started.
    pub(crate) async fn process(&mut self) -> Pid {
        let started = self.started.wait_for(Option::is_some).await;
        started.expect("an open channel").expect("a process")
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        self.task.abort();
    }
}
