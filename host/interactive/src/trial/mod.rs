//! A trial: a built-in client and agent are at the ends of the chain, and the user sees what the proxy does with each
//! message. A line of standard input is a prompt, and the trial ends with the input.

mod agent;
mod client;

use crate::{Error, Result, Screen};
use acp_chain_acp::{INITIALIZE, NEW, PROMPT};
use acp_chain_ends::client::{Services, new_session, prompt};
use acp_chain_picture::{chain, turn};
use tokio::io::{AsyncRead, DuplexStream};
use tokio::sync::watch;

pub use self::agent::play_agent;
use self::client::Client;
use crate::typed::picture::{Picture, columns};
use crate::typed::prompts::{INVITATION, Prompts};
use acp_chain_app::Report;
use acp_chain_app::dev::{BuildResult, DevProject, Disconnect, tell};
use acp_chain_rpc::untrusted::Untrusted;

/// The parts of a trial.
pub struct Trial {
    pub project: DevProject,
    pub picture: Picture,
    pub built: watch::Receiver<BuildResult>,
    /// Our end of the client's connection.
    pub client: DuplexStream,
    /// Where texts for the user go.
    pub screen: &'static dyn Screen,
    /// Where news for the developer go.
    pub report: &'static dyn Report,
}

impl Trial {
    /// Plays the client, until there are no more prompts. Also ends if the prompts end before a version has started.
    pub async fn run(
        mut self,
        prompts: impl AsyncRead + Unpin,
        mut prompted: Disconnect,
    ) -> Result<()> {
        let screen = self.screen;
        let folder = self.project.folder.clone();
        let services = Services::new(
            Some(folder),
            "the client of a trial does not support this method",
        );
        let begin = services.initialize();
        let mut client = Client::new(self.client, services, screen);
        let is_over = |_| Error::NotBuilt;
        loop {
            // A version built while the chain starts with this one is tried next.
            let built = self.built.wait_for(Option::is_some).await;
            let is_built = matches!(&*built.map_err(is_over)?, Some(Ok(_)));
            let Err(error) = client.ask(INITIALIZE, begin.clone()).await? else {
                break;
            };
            // Build errors are reported already; the next version may start.
            if is_built {
                tell(self.report, &Untrusted::new(error).to_string());
            }
            tokio::select! {
                biased;
                built = self.built.changed() => built.map_err(is_over)?,
                () = prompted.wait() => {
                    screen.tell(format_args!(
                        "acp-chain dev: the input has ended, and there is nothing to try yet"
                    ));
                    return Ok(());
                }
            }
        }
        let manifest = self.project.chain()?.manifest;
        screen.say(format_args!(
            "{}",
            chain(manifest.proxies.iter().map(|entry| &*entry.id))
        ));
        let params = new_session(&self.project.folder);
        let session = match client.ask(NEW, params).await? {
            Ok(result) => result["sessionId"].clone(),
            Err(error) => return Err(Error::NoSession(Untrusted::new(error).to_string())),
        };
        let mut prompts = Prompts::new(prompts, screen);
        prompts.invite(INVITATION);
        while let Some(text) = prompts.next(INVITATION).await? {
            // The picture shows the answer, whatever it is.
            let _ = client.ask(PROMPT, prompt(&session, &text)).await?;
            screen.say(format_args!(
                "{}\n",
                turn(&self.picture.take_turn(), columns())
            ));
            prompts.invite(INVITATION);
        }
        Ok(())
    }
}
