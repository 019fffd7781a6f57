//! Native proxies that forward everything, when it is their turn, and break.

use std::collections::VecDeque;

use acp_chain::chain::Order;
use acp_chain::channel::Failure;
use acp_chain::rpc;
use bytes::{Buf, Bytes};

use super::Driver;
use crate::envelope::Message;
use crate::passing::PassingProxy;

/// The program of a native proxy.
pub struct Program {
    passing: PassingProxy,
    /// Its number in the model.
    hop: usize,
    /// The lines that it received and has not forwarded.
    waiting: VecDeque<String>,
}

impl Program {
    pub fn new(hop: usize) -> Self {
        Self {
            hop,
            passing: PassingProxy::new(false, true),
            waiting: VecDeque::new(),
        }
    }
}

impl Driver {
    /// Takes the lines that wait for the programs.
    fn take_out_for_programs(&mut self) {
        self.obey();
        for index in self.router.natives() {
            let (.., mut natives) = self.router.split();
            let outbox = natives.outbox(index).expect("a native member");
            let bytes = outbox.copy_to_bytes(outbox.remaining());
            let text = std::str::from_utf8(&bytes).expect("UTF-8 text");
            if let Some(program) = &mut self.programs[index] {
                program.waiting.extend(text.lines().map(str::to_owned));
            }
        }
    }

    /// Whether a program has a message to forward.
    pub fn has_to_pass(&mut self) -> bool {
        self.take_out_for_programs();
        let mut programs = self.programs.iter().flatten();
        programs.any(|program| !program.waiting.is_empty())
    }

    /// One of the programs forwards its oldest message.
    pub fn pass_one(&mut self) {
        if !self.has_to_pass() {
            return;
        }
        let programs = self.programs.iter().enumerate();
        let waiting = programs.filter(|(_, program)| {
            let program = program.as_ref();
            program.is_some_and(|program| !program.waiting.is_empty())
        });
        let waiting: Vec<_> = waiting.map(|(index, _)| index).collect();
        let index = waiting[self.world.lock().choose(waiting.len())];
        let Some(program) = &mut self.programs[index] else {
            return;
        };
        let line = program.waiting.pop_front().expect("a line waits");
        let message = Message::parse(line).expect("a valid message");
        let passed = program.passing.pass(&message).expect("it can be forwarded");
        if let Some(line) = passed {
            let message = rpc::Message::parse(Bytes::from(line)).expect("a valid message");
            self.router.receive_from_native(index, message);
        }
    }

    /// One of the programs ends, and is restarted if its policy says so.
    pub fn break_one(&mut self) {
        let programs = self.programs.iter().enumerate();
        let running: Vec<usize> = programs
            .filter_map(|(index, program)| program.as_ref().map(|_| index))
            .collect();
        if running.is_empty() {
            return;
        }
        let index = running[self.world.lock().choose(running.len())];
        if let Some(program) = self.programs[index].take() {
            self.broken.insert(index, program.hop);
            self.world.lock().model.program_breaks(program.hop);
        }
        self.router.native_broke(index, &Failure::new("it broke"));
    }

    /// Carries out the router's orders for programs.
    pub(super) fn obey(&mut self) {
        for order in self.router.take_orders() {
            match order {
                Order::Launch(index) => {
                    let hop = self.broken[&index];
                    self.programs[index] = Some(Program::new(hop));
                    self.router.launched(index, Ok(()));
                }
                Order::Remove(index) => self.programs[index] = None,
                Order::End(_) => {}
            }
        }
    }
}
