//! The client of `acp-chain try`: it offers the agent no files and no terminal, shows its output, and lets the user
//! answer. An interrupt cancels the turn, and a second one quits.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::path::PathBuf;

use crate::Result;
use acp_chain_acp::{CANCEL, CANCEL_REQUEST, INITIALIZE, NEW, PERMISSION, PROMPT, UPDATE};
use acp_chain_ends::client::{choose, new_session, prompt};
use acp_chain_ends::{Arrival, End, Outcome, notification};
use acp_chain_picture::{chain, changes};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, DuplexStream};

use super::question::Question;
use super::shown::AgentOutput;
use crate::typed::picture::Picture;
use crate::typed::prompts::{Prompts, invite};
use crate::typed::wire::Wire;
use acp_chain_app::sign_in::{self, Login, logins};
use acp_chain_conductor::native::CommandLine;
use acp_chain_rpc::code;
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};
use acp_chain_system::stop::Interrupts;

/// The environment of a client.
pub struct Scene {
    /// The agent's command.
    pub agent: CommandLine,
    /// The working directory of the session.
    pub folder: PathBuf,
    /// The maximum width of the picture.
    pub columns: usize,
    /// Whether there is a user to ask.
    pub has_terminal: bool,
}

/// How the client ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The prompts ended.
    Done,
    /// The chain, the agent or the last turn failed, which was reported.
    Failed,
    /// The agent requires a login, which was reported.
    Login,
    /// The user interrupted the client.
    Interrupted,
}

pub struct Client<'s, R> {
    wire: Wire,
    end: End,
    prompts: Prompts<R>,
    interrupts: Interrupts,
    picture: Picture,
    scene: &'s Scene,
    /// The proxies of the chain, once it has begun.
    proxies: &'s RefCell<Vec<String>>,
    shown: AgentOutput,
    /// Open questions; the first one is shown.
    questions: VecDeque<Question>,
    logins: Vec<Login>,
}

/// An event.
enum Event {
    Arrival(Arrival),
    /// A line was typed; `None` at the end of the input.
    Typed(Option<String>),
    Interrupt,
    /// The chain has ended.
    Ended,
}

/// The outcome of a request, or how the client ended before it.
type Answered = Result<Outcome, Ending>;

impl<'s, R: AsyncRead + Unpin> Client<'s, R> {
    pub fn new(
        stream: DuplexStream,
        input: R,
        interrupts: Interrupts,
        picture: Picture,
        scene: &'s Scene,
        proxies: &'s RefCell<Vec<String>>,
    ) -> Self {
        Self {
            wire: Wire::new(stream),
            end: End::default(),
            prompts: Prompts::new(input),
            interrupts,
            picture,
            scene,
            proxies,
            shown: AgentOutput::default(),
            questions: VecDeque::new(),
            logins: Vec::new(),
        }
    }

    /// Plays the client: one turn with this prompt, or one per typed line.
    pub async fn run(mut self, prompt: Option<String>) -> Result<Ending> {
        let session = match self.begin().await? {
            Ok(session) => session,
            Err(ending) => return Ok(ending),
        };
        let is_single = prompt.is_some();
        let mut next = prompt;
        let mut ending = Ending::Done;
        loop {
            let text = match next.take() {
                Some(text) => text,
                None if is_single => return Ok(ending),
                None => match self.typed().await? {
                    Ok(Some(text)) => text,
                    Ok(None) => return Ok(ending),
                    // The end of the agent was reported with the last turn.
                    Err(Ending::Failed) if ending == Ending::Failed => return Ok(ending),
                    Err(Ending::Failed) => return Ok(report_end()),
                    Err(ending) => return Ok(ending),
                },
            };
            ending = match self.turn(&session, &text).await? {
                end @ (Ending::Done | Ending::Failed) => end,
                end @ (Ending::Login | Ending::Interrupted) => return Ok(end),
            };
        }
    }

    /// Sends `initialize`, and begins a session.
    async fn begin(&mut self) -> Result<Result<Value, Ending>> {
        match self.ask(INITIALIZE, sign_in::params(), None).await? {
            Ok(Ok(result)) => self.logins = logins(&result, &self.scene.agent),
            Ok(Err(error)) => return Ok(Err(failed(&error))),
            Err(ending) => return Ok(Err(ending)),
        }
        say!(
            "{}\n",
            chain(self.proxies.borrow().iter().map(String::as_str))
        );
        let params = new_session(&self.scene.folder);
        Ok(match self.ask(NEW, params, None).await? {
            Ok(Ok(result)) => Ok(result["sessionId"].clone()),
            Ok(Err(error)) => Err(self.refused(&error)),
            Err(ending) => Err(ending),
        })
    }

    /// Takes a turn, and shows what the proxies did with it.
    async fn turn(&mut self, session: &Value, text: &str) -> Result<Ending> {
        let params = prompt(session, text);
        let answered = self.ask(PROMPT, params, Some(session)).await?;
        self.shown.end();
        self.dismiss().await;
        let ending = match answered {
            Ok(Ok(result)) => {
                let reason = result["stopReason"].as_str().unwrap_or("end_turn");
                if reason != "end_turn" {
                    say!("The turn ended: {}.", quote(reason, MAX_QUOTE));
                }
                Ending::Done
            }
            Ok(Err(error)) => self.refused(&error),
            Err(ending) => return Ok(ending),
        };
        let legs = self.picture.next();
        say!("{}\n", changes(&legs, self.scene.columns));
        Ok(ending)
    }

    /// Sends a request, and handles events until it is answered. `session` has the turn that an interrupt cancels.
    async fn ask(
        &mut self,
        method: &str,
        params: Value,
        session: Option<&Value>,
    ) -> Result<Answered> {
        let request = self.end.request(method, params, ());
        if self.wire.send(&request).await.is_err() {
            return Ok(Err(report_end()));
        }
        let mut cancels = session;
        loop {
            let reads = self.scene.has_terminal && !self.questions.is_empty();
            match self.event(reads).await? {
                Event::Arrival(Arrival::Answer((), outcome)) => return Ok(Ok(outcome)),
                Event::Arrival(arrival) => self.serve(arrival).await,
                Event::Typed(line) => self.choose(line.as_deref()).await,
                Event::Interrupt => match cancels.take() {
                    Some(session) => self.cancel(session).await,
                    None => return Ok(Err(Ending::Interrupted)),
                },
                Event::Ended => return Ok(Err(report_end())),
            }
        }
    }

    /// The next prompt; `None` at the end of the input.
    async fn typed(&mut self) -> Result<Result<Option<String>, Ending>> {
        invite();
        loop {
            match self.event(true).await? {
                Event::Typed(line) if self.questions.is_empty() => return Ok(Ok(line)),
                // An agent may request permissions between turns, too.
                Event::Typed(line) => {
                    self.choose(line.as_deref()).await;
                    if self.questions.is_empty() {
                        invite();
                    }
                }
                Event::Arrival(arrival) => self.serve(arrival).await,
                Event::Interrupt => return Ok(Err(Ending::Interrupted)),
                Event::Ended => return Ok(Err(Ending::Failed)),
            }
        }
    }

    /// The next event. Lines are read only when wanted.
    async fn event(&mut self, reads: bool) -> Result<Event> {
        tokio::select! {
            biased;
            () = self.interrupts.next() => Ok(Event::Interrupt),
            message = self.wire.receive() => Ok(match message {
                Ok(Some(message)) => Event::Arrival(self.end.take(message)),
                Ok(None) | Err(_) => Event::Ended,
            }),
            line = self.prompts.next(), if reads => Ok(Event::Typed(line?)),
        }
    }

    /// Handles a message that is not an answer.
    async fn serve(&mut self, arrival: Arrival) {
        let request = match arrival {
            Arrival::Request(request) => request,
            Arrival::Notification(method, params) => {
                return match &*method {
                    UPDATE => self.shown.update(&params["update"]),
                    CANCEL_REQUEST => self.withdraw(&params["requestId"]).await,
                    _ => {}
                };
            }
            Arrival::Answer(..) | Arrival::Stray(_) => return,
        };
        self.shown.end();
        if request.method() != PERMISSION {
            let why = "the client of `acp-chain try` does not support this method";
            return self.send(request.refuse(code::METHOD_NOT_FOUND, why)).await;
        }
        let question = Question { request };
        if !self.scene.has_terminal {
            let outcome = question.refuse();
            return self.send(question.request.respond(outcome)).await;
        }
        if self.questions.is_empty() {
            question.show();
        }
        self.questions.push_back(question);
    }

    /// Answers the current question, and asks the next.
    async fn choose(&mut self, line: Option<&str>) {
        let Some(question) = self.questions.front() else {
            return;
        };
        let outcome = match line {
            Some(line) => question.chosen(line),
            None => Some(question.refuse()),
        };
        let Some(outcome) = outcome else {
            return Question::ask();
        };
        let answer = question.request.respond(outcome);
        self.send(answer).await;
        self.questions.pop_front();
        self.questions.iter().take(1).for_each(Question::show);
    }

    /// Withdraws a question that has been cancelled.
    async fn withdraw(&mut self, id: &Value) {
        let is_it = |question: &Question| question.request.id() == id;
        let Some(at) = self.questions.iter().position(is_it) else {
            return;
        };
        if let Some(question) = self.questions.remove(at) {
            let why = "it was withdrawn";
            let refusal = question.request.refuse(code::REQUEST_CANCELLED, why);
            self.send(refusal).await;
        }
        if at == 0 {
            say!("\nThis question was withdrawn.");
            self.questions.iter().take(1).for_each(Question::show);
        }
    }

    /// Cancels the turn.
    async fn cancel(&mut self, session: &Value) {
        self.shown.end();
        say!("\nThe turn is being cancelled; another interrupt ends acp-chain.");
        let params = json!({ "sessionId": session });
        self.send(notification(CANCEL, params)).await;
        self.dismiss().await;
    }

    /// Answers the open questions of a turn that has ended, as cancelled.
    async fn dismiss(&mut self) {
        for question in std::mem::take(&mut self.questions) {
            self.send(question.request.respond(choose(None))).await;
        }
    }

    /// Sends a message. If the chain has ended, receiving reports it.
    async fn send(&mut self, message: Value) {
        let _ = self.wire.send(&message).await;
    }

    /// Reports why the agent refused, and what to do if it requires a login.
    fn refused(&self, error: &Value) -> Ending {
        if error["code"] != code::AUTH_REQUIRED {
            return failed(error);
        }
        say!("The agent wants you to sign in first.");
        let commands: Vec<_> = self
            .logins
            .iter()
            .filter(|login| login.command.is_some())
            .collect();
        match (&commands[..], &self.logins[..]) {
            ([], []) => {
                say!(
                    "It does not say how: sign in with its own program, as its authors say, then try again."
                );
            }
            ([], others) => {
                let names: Vec<_> = others.iter().map(|login| &*login.name).collect();
                say!(
                    "It can be done in an editor, or with the agent's own program, then try again: {}.",
                    names.join(", ")
                );
            }
            (commands, _) => {
                say!("Run this in a terminal, then try again:");
                for login in commands {
                    let command = login.command.as_deref().unwrap_or_default();
                    say!("  {}    # {}", Untrusted::new(command), login.name);
                }
            }
        }
        Ending::Login
    }
}

fn failed(error: &Value) -> Ending {
    let message = error["message"].as_str().map(str::to_owned);
    let message = message.unwrap_or_else(|| error.to_string());
    tell!("acp-chain try: {}", message_of(&message));
    Ending::Failed
}

/// The text of an error, without the host's prefix.
fn message_of(message: &str) -> String {
    let message = message.strip_prefix("acp-chain: ").unwrap_or(message);
    quote(message, 4 * MAX_QUOTE)
}

fn report_end() -> Ending {
    tell!(
        "acp-chain try: the chain has ended; the log has the reason: `acp-chain doctor` shows where it is"
    );
    Ending::Failed
}
