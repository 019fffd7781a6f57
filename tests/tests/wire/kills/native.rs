//! The native proxies: they pass on everything, but for what they are told to keep.

use std::sync::{Arc, Mutex};

use acp_chain_tests::envelope::Message;
use acp_chain_tests::passing::Passing;
use acp_chain_tests::stand_in::StandIn;
use acp_chain_tests::transcript::Transcript;
use rustix::process::Pid;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

/// A native proxy's place.
pub(crate) struct Native {
    /// The process that stands there.
    started: watch::Receiver<Option<Pid>>,
    keeps: Arc<Mutex<Option<Keep>>>,
    task: JoinHandle<()>,
}

/// The method that is not passed on, and who is told that it came.
type Keep = (&'static str, oneshot::Sender<()>);

impl Native {
    /// Lets it play. Its processes may live on when their input has ended.
    pub(crate) fn new(place: StandIn, transcript: Transcript, lives_on: bool) -> Self {
        let (tell, started) = watch::channel(None);
        let keeps: Arc<Mutex<Option<Keep>>> = Arc::default();
        let kept = keeps.clone();
        let task = tokio::spawn(async move {
            loop {
                let (pid, mut wire) = place.started(&transcript).await;
                tell.send_replace(Some(pid));
                let mut passing = Passing::new(false, false);
                while let Some(line) = wire.line().await {
                    let message = Message::parse(line).expect("a message");
                    let method = passing.method(&message);
                    let mut keeps = kept.lock().expect("no other test has it");
                    let keep = keeps.take_if(|(kept, _)| method.as_deref() == Some(kept));
                    if let Some((_, told)) = keep {
                        let _ = told.send(());
                        continue;
                    }
                    drop(keeps);
                    if let Some(line) = passing.pass(&message).expect("what a host may send") {
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

    /// Lets it keep the next message of a method; the receiver hears of it.
    pub(crate) fn keep(&self, method: &'static str) -> oneshot::Receiver<()> {
        let (told, kept) = oneshot::channel();
        *self.keeps.lock().expect("no other test has it") = Some((method, told));
        kept
    }

    /// The process that stands there, or will.
    pub(crate) async fn process(&mut self) -> Pid {
        let started = self.started.wait_for(Option::is_some).await;
        started.expect("the place is there").expect("a process")
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        self.task.abort();
    }
}
