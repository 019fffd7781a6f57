//! The client of `acp-chain try`: it offers the agent the files of the folder and no terminal, shows its output, and
//! lets the user answer. An interrupt cancels the turn, and a second one quits.

mod sign_in;

use std::cell::RefCell;
use std::collections::VecDeque;

use crate::{Result, Screen};
use acp_chain_acp::{CANCEL, CANCEL_REQUEST, INITIALIZE, NEW, PERMISSION, PROMPT, UPDATE};
use acp_chain_ends::client::{choose, new_session, prompt};
use acp_chain_ends::{Arrival, End, Outcome, notification};
use acp_chain_picture::{chain, changes};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, DuplexStream};

use super::question::{self, Question};
use super::scene::{Ending, RunningChain, Scene};
use super::shown::AgentOutput;
use super::silence::{Length, Silence, hint};
use super::{failure, files};
use crate::typed::input::{Input, InputEvent};
use crate::typed::picture::Picture;
use crate::typed::prompts::INVITATION;
use crate::typed::wire::Wire;
use acp_chain_app::agent::correction;
use acp_chain_app::sign_in::{Login, logins, params};
use acp_chain_conductor::native::Tail;
use acp_chain_rpc::code;
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};
use acp_chain_system::stop::Interrupts;

/// What is told of an agent that sends `initialize` back.
const ECHO: &str = "the agent sends back what it gets: it is no ACP agent";

/// How many questions may be open. Further ones are refused.
const MOST_QUESTIONS: usize = 100;

pub struct Client<'s, R> {
    wire: Wire,
    end: End,
    input: Input<R>,
    interrupts: Interrupts,
    picture: Picture,
    scene: &'s Scene,
    screen: &'static dyn Screen,
    running: &'s RefCell<RunningChain>,
    silence: Silence,
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
    /// An answer is long in coming.
    Silence(Length),
    /// The chain has ended.
    Ended,
}

/// The outcome of a request, or how the client ended before it.
type RequestResult = Result<Outcome, Ending>;

impl<'s, R: AsyncRead + Unpin> Client<'s, R> {
    pub fn new(
        stream: DuplexStream,
        input: Input<R>,
        interrupts: Interrupts,
        picture: Picture,
        scene: &'s Scene,
        running: &'s RefCell<RunningChain>,
    ) -> Self {
        Self {
            wire: Wire::new(stream, scene.screen),
            end: End::default(),
            input,
            interrupts,
            picture,
            scene,
            screen: scene.screen,
            running,
            silence: Silence::new(scene.patience),
            shown: AgentOutput::new(scene.screen),
            questions: VecDeque::new(),
            logins: Vec::new(),
        }
    }

    /// Plays the client: one turn with this prompt, or one per typed line.
    pub async fn run(mut self, prompt: Option<String>) -> Result<Ending> {
        let ending = self.play(prompt).await;
        self.input.close().await;
        ending
    }

    async fn play(&mut self, prompt: Option<String>) -> Result<Ending> {
        let session = match self.begin().await? {
            Ok(session) => session,
            Err(ending) => return Ok(ending),
        };
        let is_single = prompt.is_some();
        let mut next = prompt;
        let mut ending = Ending::Done;
        let mut is_first = true;
        loop {
            let text = match next.take() {
                Some(text) => text,
                None if is_single => return Ok(ending),
                None => match self.typed(INVITATION).await? {
                    Ok(Some(text)) => {
                        self.input.keep(&text);
                        text
                    }
                    Ok(None) => {
                        if is_first && !self.scene.has_terminal {
                            self.screen.tell(format_args!(
                                "acp-chain try: standard input has no prompt; `--prompt TEXT` gives one"
                            ));
                        }
                        return Ok(ending);
                    }
                    // The end of the agent was reported with the last turn.
                    Err(Ending::Failed) if ending == Ending::Failed => return Ok(ending),
                    Err(Ending::Failed) => return Ok(self.report_end()),
                    Err(ending) => return Ok(ending),
                },
            };
            is_first = false;
            ending = match self.turn(&session, &text).await? {
                end @ (Ending::Done | Ending::Failed) => end,
                end @ (Ending::Silent | Ending::Login | Ending::Interrupted) => return Ok(end),
            };
        }
    }

    /// Sends `initialize`, and begins a session.
    async fn begin(&mut self) -> Result<Result<Value, Ending>> {
        match self
            .ask(INITIALIZE, params(self.scene.files.is_some()), None)
            .await?
        {
            Ok(Ok(result)) => self.logins = logins(&result, &self.scene.agent),
            // A guard refuses what comes back.
            Ok(Err(error)) if failure::is_of_guard(INITIALIZE, &error) => {
                let error = json!({ "message": ECHO });
                return Ok(Err(self.failed(INITIALIZE, &error)));
            }
            Ok(Err(error)) => return Ok(Err(self.failed(INITIALIZE, &error))),
            Err(ending) => return Ok(Err(ending)),
        }
        self.screen.say(format_args!(
            "{}\n",
            chain(self.running.borrow().proxies.iter().map(String::as_str))
        ));
        let session = new_session(&self.scene.folder);
        Ok(match self.ask_signed_in(NEW, session, None).await? {
            Ok(Ok(result)) => Ok(result["sessionId"].clone()),
            Ok(Err(error)) => Err(self.failed(NEW, &error)),
            Err(ending) => Err(ending),
        })
    }

    /// Takes a turn, and shows what the proxies did with it.
    async fn turn(&mut self, session: &Value, text: &str) -> Result<Ending> {
        let params = prompt(session, text);
        let answered = self.ask_signed_in(PROMPT, params, Some(session)).await?;
        self.shown.end();
        self.dismiss().await;
        let ending = match answered {
            Ok(Ok(result)) => {
                let reason = result["stopReason"].as_str().unwrap_or("end_turn");
                if reason != "end_turn" {
                    self.screen.say(format_args!(
                        "The turn ended: {}.",
                        quote(reason, MAX_QUOTE)
                    ));
                }
                Ending::Done
            }
            Ok(Err(error)) => self.failed(PROMPT, &error),
            Err(ending) => return Ok(ending),
        };
        let failures = self.picture.take_failures();
        let legs = self.picture.take_turn();
        self.screen
            .say(format_args!("{}", changes(&legs, self.scene.columns)));
        // Otherwise, they were told as the reason.
        if ending == Ending::Done {
            for failure in failures {
                self.screen.say(format_args!("  ! {failure}"));
            }
        }
        self.screen.say(format_args!(""));
        Ok(ending)
    }

    /// Sends a request, and handles events until it is answered. `session` has the turn that an interrupt cancels.
    async fn ask(
        &mut self,
        method: &str,
        params: Value,
        session: Option<&Value>,
    ) -> Result<RequestResult> {
        let request = self.end.request(method, params, ());
        if self.wire.send(&request).await.is_err() {
            return Ok(Err(self.report_end()));
        }
        self.silence.begin();
        let answered = self.answered(method, session).await;
        self.silence.end();
        answered
    }

    /// Handles events until the request is answered.
    async fn answered(&mut self, method: &str, session: Option<&Value>) -> Result<RequestResult> {
        let mut cancels = session;
        loop {
            let reads = self.scene.has_terminal && !self.questions.is_empty();
            match self.event(reads.then_some(question::ASK)).await? {
                Event::Arrival(Arrival::Answer((), outcome)) => return Ok(Ok(outcome)),
                // Agents never send this one; a refusal would come back as the answer.
                Event::Arrival(Arrival::Request(request)) if request.method() == INITIALIZE => {
                    return Ok(Err(self.failed(method, &json!({ "message": ECHO }))));
                }
                Event::Arrival(arrival) => self.serve(arrival).await,
                Event::Typed(line) => self.choose(line.as_deref()).await,
                Event::Interrupt => match cancels.take() {
                    Some(session) => self.cancel(session).await,
                    None => return Ok(Err(Ending::Interrupted)),
                },
                Event::Silence(Length::Long) => {
                    let correction = correction(&self.scene.agent);
                    let hint = hint(method, &self.scene.doctor, correction.as_deref());
                    self.screen.tell(format_args!("{hint}"));
                }
                Event::Silence(Length::TooLong) => return Ok(Err(self.give_up(method))),
                Event::Ended => return Ok(Err(self.report_end())),
            }
        }
    }

    /// The next line that is not an answer to a question; `None` at the end of the input.
    async fn typed(&mut self, invitation: &'static str) -> Result<Result<Option<String>, Ending>> {
        self.input.invite(invitation);
        loop {
            let is_asked = !self.questions.is_empty();
            let wanted = if is_asked { question::ASK } else { invitation };
            match self.event(Some(wanted)).await? {
                Event::Typed(line) if self.questions.is_empty() => return Ok(Ok(line)),
                // An agent may request permissions between turns, too.
                Event::Typed(line) => {
                    self.choose(line.as_deref()).await;
                    if self.questions.is_empty() {
                        self.input.invite(invitation);
                    }
                }
                Event::Arrival(arrival) => self.serve(arrival).await,
                Event::Interrupt => return Ok(Err(Ending::Interrupted)),
                Event::Silence(_) => {}
                Event::Ended => return Ok(Err(Ending::Failed)),
            }
        }
    }

    /// The next event. Lines are read only with an invitation.
    async fn event(&mut self, invitation: Option<&'static str>) -> Result<Event> {
        let reads = invitation.is_some();
        let event = tokio::select! {
            biased;
            () = self.interrupts.next() => Event::Interrupt,
            message = self.wire.receive() => match message {
                Ok(Some(message)) => Event::Arrival(self.end.take(message)),
                Ok(None) | Err(_) => Event::Ended,
            },
            // While a question is open, the agent waits for the user.
            length = self.silence.grows(), if self.questions.is_empty() => Event::Silence(length),
            typed = self.input.next(invitation.unwrap_or_default()), if reads => match typed? {
                InputEvent::Line(line) => Event::Typed(Some(line)),
                InputEvent::Ended => Event::Typed(None),
                InputEvent::Interrupt => Event::Interrupt,
            },
        };
        if matches!(event, Event::Arrival(_)) {
            self.silence.interrupt();
        }
        Ok(event)
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
        if request.method() != PERMISSION {
            let (answer, written) = files::answer(self.scene.files.as_ref(), &request);
            if let Some(path) = written {
                self.shown.file(&format!("{path} written"));
            }
            return self.send(answer).await;
        }
        if self.questions.len() >= MOST_QUESTIONS {
            let why = "too many questions wait for the user";
            return self.send(request.refuse(code::INTERNAL_ERROR, why)).await;
        }
        self.shown.end();
        let question = Question::new(request, |id| self.shown.title(id).map(str::to_owned));
        if !self.scene.has_terminal {
            let outcome = question.refuse(self.screen);
            return self.send(question.request.respond(outcome)).await;
        }
        self.questions.push_back(question);
        if self.questions.len() == 1 {
            self.show_question();
        }
    }

    /// Shows the question that is to be answered next, if there is one.
    fn show_question(&self) {
        if let Some(question) = self.questions.front() {
            question.show(self.screen);
            self.input.invite(question::ASK);
        }
    }

    /// Answers the current question, and asks the next.
    async fn choose(&mut self, line: Option<&str>) {
        let Some(question) = self.questions.front() else {
            return;
        };
        let outcome = match line {
            Some(line) => question.chosen(line),
            None => Some(question.refuse(self.screen)),
        };
        let Some(outcome) = outcome else {
            self.screen
                .say(format_args!("It must be one of the numbers above."));
            return self.input.invite(question::ASK);
        };
        let answer = question.request.respond(outcome);
        self.send(answer).await;
        self.silence.interrupt();
        self.questions.pop_front();
        self.show_question();
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
            self.screen
                .say(format_args!("\nThis question was withdrawn."));
            self.show_question();
        }
    }

    /// Cancels the turn.
    async fn cancel(&mut self, session: &Value) {
        self.shown.end();
        self.screen.say(format_args!(
            "\nThe turn is being cancelled; another interrupt ends acp-chain."
        ));
        let params = json!({ "sessionId": session });
        self.send(notification(CANCEL, params)).await;
        self.silence.interrupt();
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

    /// Reports a failed request, and what to do.
    fn failed(&self, method: &str, error: &Value) -> Ending {
        let running = self.running.borrow();
        let printed = running.stderr.as_ref().map_or(String::new(), Tail::text);
        let lines = failure::lines(method, error, &printed);
        self.screen
            .tell(format_args!("acp-chain try: {}", lines.join("\n")));
        // What failed in a proxy is in the log; the doctor starts none.
        match &self.scene.log {
            Some(log) if failure::is_of_proxy(error) => self.screen.tell(format_args!(
                "  more is in {}",
                Untrusted::new(log.display())
            )),
            _ => self
                .screen
                .tell(format_args!("  `{}` says more", self.scene.doctor)),
        }
        Ending::Failed
    }

    /// Reports a request that the agent does not answer.
    fn give_up(&mut self, method: &str) -> Ending {
        self.shown.end();
        let waited = self.scene.patience.unwrap_or_default().as_secs();
        let error = json!({ "message": format!("the agent has sent nothing for {waited} s") });
        self.failed(method, &error);
        Ending::Silent
    }

    fn report_end(&self) -> Ending {
        self.screen.tell(format_args!(
            "acp-chain try: the chain has ended; the log has the reason: `{}` shows where it is",
            self.scene.doctor
        ));
        Ending::Failed
    }
}
