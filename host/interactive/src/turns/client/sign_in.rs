//! Signing in to the agent: by a request that the user chooses by number, or by a command that the user runs elsewhere.

use acp_chain_acp::AUTHENTICATE;
use acp_chain_app::sign_in::Login;
use acp_chain_rpc::code;
use acp_chain_rpc::untrusted::Untrusted;
use serde_json::{Value, json};
use tokio::io::AsyncRead;

use super::{Client, RequestResult};
use crate::turns::failure;
use crate::turns::question::numbered;
use crate::turns::scene::Ending;
use crate::{Result, Screen};

/// The invitation to choose one.
const ASK: &str = "The number of your way to sign in: ";

impl<R: AsyncRead + Unpin> Client<'_, R> {
    /// Sends a request, and sends it again after the user has signed in, if the agent requires that.
    pub(super) async fn ask_signed_in(
        &mut self,
        method: &str,
        params: Value,
        session: Option<&Value>,
    ) -> Result<RequestResult> {
        loop {
            let answered = self.ask(method, params.clone(), session).await?;
            let error = match answered {
                Ok(Err(error)) if error["code"] == code::AUTH_REQUIRED => error,
                other => return Ok(other),
            };
            if let Err(ending) = self.sign_in(method, &error).await? {
                return Ok(Err(ending));
            }
        }
    }

    /// Lets the user sign in, in one of the ways that the agent has. Without any, the error of the request is shown, too:
    /// some agents give this code to all errors.
    async fn sign_in(&mut self, method: &str, error: &Value) -> Result<Result<(), Ending>> {
        self.shown.end();
        let screen = self.screen;
        screen.say(format_args!("The agent wants you to sign in first."));
        if self.logins.is_empty() {
            let lines = failure::lines(method, error, "");
            screen.say(format_args!("{}", lines.join("\n")));
        }
        if !self.scene.has_terminal || self.logins.is_empty() {
            show_elsewhere(&self.logins, screen);
            return Ok(Err(Ending::Login));
        }
        show(&self.logins, screen);
        loop {
            let line = match self.typed(ASK).await? {
                Ok(Some(line)) => line,
                Ok(None) => return Ok(Err(Ending::Login)),
                Err(Ending::Failed) => return Ok(Err(self.report_end())),
                Err(ending) => return Ok(Err(ending)),
            };
            let Some(login) = numbered(&self.logins, &line).cloned() else {
                screen.say(format_args!("It must be one of the numbers above."));
                continue;
            };
            // The rights to start a program are given up already.
            if login.command.is_some() {
                show_elsewhere(&[login], screen);
                return Ok(Err(Ending::Login));
            }
            match self
                .ask(AUTHENTICATE, json!({ "methodId": login.id }), None)
                .await?
            {
                Ok(Ok(_)) => {
                    screen.say(format_args!("You are signed in."));
                    return Ok(Ok(()));
                }
                Ok(Err(error)) => {
                    self.failed(AUTHENTICATE, &error);
                }
                Err(ending) => return Ok(Err(ending)),
            }
        }
    }
}

/// Shows the ways to sign in, numbered.
fn show(logins: &[Login], screen: &dyn Screen) {
    for (login, number) in logins.iter().zip(1..) {
        screen.say(format_args!("  {number}. {}", login.name));
    }
}

/// Says how to sign in outside of `acp-chain try`.
fn show_elsewhere(logins: &[Login], screen: &dyn Screen) {
    let mut commands = logins.iter().filter(|login| login.command.is_some());
    match (commands.next(), logins) {
        (None, []) => screen.say(format_args!(
            "It does not say how: sign in with its own program, as its authors say, then try again."
        )),
        (None, others) => {
            screen.say(format_args!(
                "It can be done in a terminal with `acp-chain try`, in an editor, or with the agent's own \
                 program:"
            ));
            for login in others {
                screen.say(format_args!("  - {}", login.name));
            }
        }
        (Some(first), _) => {
            screen.say(format_args!("Run this in a terminal, then try again:"));
            for login in std::iter::once(first).chain(commands) {
                let command = login.command.as_deref().unwrap_or_default();
                screen.say(format_args!(
                    "  {}    # {}",
                    Untrusted::new(command),
                    login.name
                ));
            }
        }
    }
}
