//! Signs of life of the agent's hooks. If the first one comes while a session is set up, no prompt reaches the agent
//! before it: a prompt waits, for a short time. A session in which the hooks turned out not to work takes no prompts.

use std::ops::ControlFlow;
use std::time::Duration;

use super::core::Core;
use super::proof::FirstSign;
use super::steps::Step;
use crate::clock::Timer;
use crate::losses::Loss;
use acp_chain_acp::Life;
use acp_chain_channel::Peer;
use acp_chain_hops::exchange::{ExchangeId, Stage};
use acp_chain_hops::route::Place;
use acp_chain_hops::routed::Routed;
use acp_chain_rpc::{Error, Message, code};

/// How long a prompt waits for a sign: an agent may load its plugins after it has begun the session.
pub const TIME: Duration = Duration::from_secs(10);

const SILENT: &str = "the agent's hooks have given no sign of life within 10 s, so no proxy would see what its tools \
                      do. Begin a new session; if that does not help, start with `--hooks off`, and with no `hooks` \
                      in a manifest: then proxies see only what the agent asks or reports";

const SILENT_BUT_PASSES: &str = "the agent's hooks have given no sign of life within 10 s: they may work differently \
                                 in this version, and proxies may not see what its tools do.";

const FULL: &str = "the prompt has to wait for a sign of life of the agent's hooks, and too much waits already; try \
                    again later";

pub(super) const BROKEN: &str = "the agent's hooks do not work in this session, so it is stopped. Begin a new session; \
                                 if that does not help, start with `--hooks off`, and with no `hooks` in a manifest: \
                                 then proxies see only what the agent asks or reports";

/// Admits a message to the agent, unless it is a prompt that must wait or is rejected.
#[cold]
pub(super) fn admit(core: &mut Core, routed: Routed) -> ControlFlow<(), Routed> {
    if routed.is_response() {
        return ControlFlow::Continue(routed);
    }
    match routed.life {
        Life::Prompts => return admit_prompt(core, routed),
        Life::Stops | Life::Ends => stop(core, &routed),
        _ => {}
    }
    ControlFlow::Continue(routed)
}

fn admit_prompt(core: &mut Core, mut routed: Routed) -> ControlFlow<(), Routed> {
    let Some(proof) = &core.proof else {
        return ControlFlow::Continue(routed);
    };
    let session = routed.session().map(|session| &**session);
    let is_broken = proof.is_another() || session.is_some_and(|session| proof.is_broken(session));
    if !is_broken && !proof.awaits_sign(FirstSign::Session, session) {
        return ControlFlow::Continue(routed);
    }
    let why = if is_broken { BROKEN } else { SILENT };
    let Some(number) = routed.exchange else {
        core.lose(Loss::Refused, Place::Edge(Peer::Client), &why);
        return ControlFlow::Break(());
    };
    let exchange = core.exchanges.get(number);
    routed.charge = core.kept.charge(routed.cost());
    if exchange.is_some_and(|exchange| exchange.cancel.is_some()) {
        answer(core, number, &Error::cancelled());
    } else if is_broken {
        refuse(core, number, BROKEN);
    } else if routed.charge.is_none() {
        refuse(core, number, FULL);
    } else if let Some(proof) = &mut core.proof {
        core.exchanges.stage(number, Stage::Unproven);
        core.clock.set_after(TIME, Timer::Sign(number));
        proof.waiting.insert(number, routed);
    }
    ControlFlow::Break(())
}

/// Answers the waiting prompts of a session that the client stops or ends: they must not reach the agent after that.
fn stop(core: &mut Core, message: &Routed) {
    let (Some(proof), Some(session)) = (&core.proof, message.session()) else {
        return;
    };
    for number in proof.waiting_in(session) {
        if let Some(prompt) = take(core, number) {
            let end = core.end_of_stopped(&prompt);
            core.answer_of_end(number, Peer::Agent, end);
        }
    }
}

/// Notes a sign of life of a session, or of the whole process. The prompts that waited for it go on.
pub(super) fn came(core: &mut Core, session: Option<&str>) {
    if let Some(proof) = &mut core.proof {
        proof.note_sign(session);
        let free = proof.free();
        go_on(core, free);
    }
}

/// Handles a prompt that has waited too long for a sign. Where a missing sign means that the hooks do not work, it is
/// rejected; otherwise the user is notified, and no prompt waits again.
pub(super) fn late(core: &mut Core, number: ExchangeId) {
    let Some(proof) = &mut core.proof else { return };
    if proof.terms.stops {
        if take(core, number).is_some() {
            refuse(core, number, SILENT);
        }
        return;
    }
    proof.need_no_sign();
    let free = proof.free();
    core.tell_once("signs", SILENT_BUT_PASSES);
    go_on(core, free);
}

/// Cancels a waiting prompt.
pub(super) fn withdraw(core: &mut Core, number: ExchangeId) {
    if take(core, number).is_some() {
        answer(core, number, &Error::cancelled());
    }
}

fn go_on(core: &mut Core, prompts: Vec<ExchangeId>) {
    for number in prompts {
        let routed = take(core, number);
        core.steps.extend(routed.map(Step::SendPrompt));
    }
}

/// Ends the wait of a prompt. `None` if it is answered already, as the connection has ended.
fn take(core: &mut Core, number: ExchangeId) -> Option<Routed> {
    let mut routed = core.proof.as_mut()?.waiting.remove(&number)?;
    core.clock.clear(Timer::Sign(number));
    routed.charge = None;
    core.exchanges.get(number)?;
    core.exchanges.stage(number, Stage::Moving);
    Some(routed)
}

fn refuse(core: &mut Core, number: ExchangeId, why: &str) {
    core.losses
        .note(Loss::Refused, Place::Edge(Peer::Client), &why);
    let error = Error::new(code::INTERNAL_ERROR, format!("acp-chain: {why}"));
    answer(core, number, &error);
}

fn answer(core: &mut Core, number: ExchangeId, error: &Error) {
    let error = Message::error(error);
    core.answer_of_end(number, Peer::Agent, error);
}
