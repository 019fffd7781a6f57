//! The outputs of a seat, while it handles an input.

use super::seat::{Caller, Output};
use super::wire::Said;
use super::{Asked, ConnectionId, Question};
use acp_chain_rpc::{Error, Message};

/// The outputs of a seat, in order, and the number of its last request.
#[derive(Debug, Default)]
pub struct Outputs {
    all: Vec<Output>,
    pub last: Question,
}

impl Outputs {
    pub fn take(&mut self) -> Vec<Output> {
        std::mem::take(&mut self.all)
    }

    pub fn push(&mut self, output: Output) {
        self.all.push(output);
    }

    /// A number for a request of the seat.
    pub fn number(&mut self) -> Question {
        self.last += 1;
        self.last
    }

    pub fn answer(&mut self, ask: Asked, outcome: Message) {
        self.push(Output::Answer {
            ask,
            outcome,
            meta: None,
            outer: false,
        });
    }

    pub fn result(&mut self, ask: Asked, result: &str) {
        self.answer(ask, Message::result(result));
    }

    pub fn fail(&mut self, ask: Asked, error: &Error) {
        self.answer(ask, Message::error(error));
    }

    /// Answers a request with the error, if there is one. Otherwise the request has been or will be answered.
    pub fn settle(&mut self, ask: Asked, done: Result<(), Error>) {
        if let Err(error) = done {
            self.fail(ask, &error);
        }
    }

    /// Answers with `{}`, if an answer is expected.
    pub fn done(&mut self, ask: Option<Asked>) {
        if let Some(ask) = ask {
            self.result(ask, "{}");
        }
    }

    /// Sends the provider an ACP request.
    pub fn ask_provider(&mut self, question: Question, method: &str, params: &str) {
        let message = Message::request(method, params);
        self.push(Output::Provider(Some(question), message));
    }

    pub fn ask_caller(&mut self, question: Question, connection: ConnectionId, said: Said) {
        self.push(Output::AskCaller {
            question,
            connection,
            said,
        });
    }

    /// Sends a notification to a caller. `of` is the request that it belongs to.
    pub fn tell_caller(&mut self, caller: Caller, of: Option<Asked>, said: Said) {
        self.push(Output::TellCaller { caller, of, said });
    }

    pub fn withdraw(&mut self, question: Question) {
        self.push(Output::Withdraw { question });
    }
}
