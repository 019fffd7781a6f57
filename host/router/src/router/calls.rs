//! Tool calls of the agent, of which each must be reported by a hook before it runs. The host learns of one that was
//! not when the agent shows its end, so this stops what follows, and not the call itself.
//!
//! Hooks are answered before their tools run, so a report always arrives before the end of its call.

use std::slice;
use std::sync::Arc;

use serde_json::json;

use super::core::Core;
use super::hooks::ReportNumber;
use super::mcp::Mcp;
use super::proof::FirstSign;
use super::signs;
use acp_chain_acp::{BEFORE_TOOL, CANCEL, Life, PERMISSION, UPDATE};
use acp_chain_channel::Peer;
use acp_chain_hops::exchange::{ExchangeId, Origin, PromptState};
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_rpc::{Message, member, resolve, text_member, value_at};

/// The cost of a broken session, besides its name.
const ENTRY: usize = 128;

/// Where a request names the call that it is about: a report or a permission request of version 1, and those of
/// version 2.
const CALL: [&str; 3] = [
    "/toolCall/toolCallId",
    "/subject/toolCall/toolCallId",
    "/subject/toolCallId",
];

const EARLY: &str = "the agent began to work on a prompt before its hooks gave a sign of life";

/// Notes what a hook reports: a sign of life and, before a tool runs, its call. An error says why the report is
/// refused.
pub(super) fn reported(
    core: &mut Core,
    report: ReportNumber,
    request: &Message,
) -> Result<(), String> {
    let session = request.session();
    let root = session.map(|session| core.sessions.root(session).clone());
    let Some(proof) = &mut core.proof else {
        return Ok(());
    };
    if &**request.method() == BEFORE_TOOL {
        let is_new = proof.is_new(report);
        match call_of(request) {
            Some(call) if is_new => proof.note_call(&call),
            Some(_) => {}
            None => {
                let tool: Option<String> = value_at(request.body(), "/toolCall/title");
                let input = resolve(request.body(), "/toolCall/rawInput");
                let input = input.ok().flatten().unwrap_or_default();
                let session = root.as_deref().unwrap_or_default();
                proof.note_unnamed(report, session, &tool.unwrap_or_default(), input);
            }
        }
    }
    let session = session.map(|session| &**session);
    let is_broken = session.is_some_and(|session| proof.is_broken(session));
    signs::came(core, session);
    if is_broken {
        return Err(format!("acp-chain: {}", signs::BROKEN));
    }
    Ok(())
}

/// The id of the call that a request is about.
fn call_of(request: &Message) -> Option<String> {
    CALL.iter()
        .find_map(|place| value_at(request.body(), place))
}

/// Looks at a notification that arrives from the agent.
#[cold]
pub(super) fn updated(core: &mut Core, mcp: &Mcp, message: &Message) {
    if &**message.method() != UPDATE
        || !matches!(message.update(), Some("tool_call" | "tool_call_update"))
    {
        return;
    }
    let update = member(message.body(), "update");
    let (Some(proof), Some(session), Some(update)) = (&core.proof, message.session(), update)
    else {
        return;
    };
    // The model has answered. An agent's own words may come earlier, such as a warning.
    let is_early = proof.awaits_sign(FirstSign::Prompt, Some(&**session))
        && !proof.is_broken(session)
        && message.update() == Some("tool_call")
        && !(proof.terms.runs_no_hook)(update);
    if is_early && has_turn(core, mcp, session) {
        return fail(core, session, EARLY);
    }
    judge(core, mcp, session, update);
}

/// Looks at a request that arrives from the agent.
#[cold]
pub(super) fn asked(core: &mut Core, message: &Message) {
    let session = message.session();
    let root = session.map(|session| core.sessions.root(session).clone());
    if &**message.method() == PERMISSION
        && let Some(proof) = &mut core.proof
        && let Some(call) = call_of(message)
    {
        let about = member(message.body(), "toolCall").unwrap_or("{}");
        proof.note_question(root.as_deref().unwrap_or_default(), &call, about);
    }
}

/// Looks at an answer of the agent, before it arrives: the turns of version 1 end with it. While a session has another
/// prompt, its turn goes on.
#[cold]
pub(super) fn answered(core: &mut Core, mcp: &Mcp, number: ExchangeId) {
    let Some(prompt) = core.exchanges.get(number) else {
        return;
    };
    let (life, session) = (prompt.life, prompt.far_session().cloned());
    let Some(session) = session.filter(|_| life == Life::Prompts) else {
        return;
    };
    let mut open = core.exchanges.iter();
    let has_another = open.any(|(other, asked)| other != number && asked.is_prompt_in(&session));
    if let Some(proof) = &mut core.proof
        && !has_another
        && !mcp.turns.has(&session)
    {
        proof.note_end(&session);
    }
}

/// Looks at an update of a call (JSON text). Outside turns, it belongs to the history, which hooks have not seen.
fn judge(core: &mut Core, mcp: &Mcp, session: &Arc<str>, update: &str) {
    let call = text_member(update, "toolCallId");
    let turn = turn_of(core, mcp, session);
    let is_stopped = turn.as_ref().is_some_and(|turn| is_stopped(core, turn));
    let Some(proof) = &mut core.proof else { return };
    let Some(turn) = turn else {
        return proof.excuse(call.as_deref());
    };
    if proof.is_broken(&turn) || !proof.lacks_report(&turn, call.as_deref(), update, is_stopped) {
        return;
    }
    let name = text_member(update, "title").or(call).unwrap_or_default();
    let name = quote(&name, MAX_QUOTE);
    let lacked = proof.precedent();
    let what =
        format!("the agent ran the tool `{name}` without {lacked}, so no proxy could check it");
    fail(core, &turn, &what);
}

/// Handles a proof that the hooks do not work in a session: its turn is stopped, and it takes no more prompts. If such
/// hooks are not known well enough for that, the user is notified once.
fn fail(core: &mut Core, session: &Arc<str>, what: &str) {
    let Some(proof) = &mut core.proof else { return };
    if !proof.terms.stops {
        let text = format!(
            "{what}. The agent may work differently in this version or mode; further ones are not reported."
        );
        return core.tell_once("calls", &text);
    }
    let charge = core.agent.kept.charge_anyway(ENTRY + session.len());
    proof.broken.insert(session.clone(), charge);
    tracing::error!("a turn is stopped: {what}");
    core.exchanges.note_stop(session);
    let params = json!({ "sessionId": &**session }).to_string();
    core.send(Peer::Agent, &Message::notification(CANCEL, &params), None);
    core.tell_user(&format!(
        "{what}. The turn is stopped, and this session takes no more prompts. Begin a new session; if that does not \
         help, start with `--hooks off`, and with no `hooks` in a manifest: then proxies see only what the agent asks or \
         reports."
    ));
}

/// The session of ACP that a report or an update belongs to, of the agent's names for it the first that is known;
/// `None` if that cannot be known.
///
/// Some agents give a subagent a session of its own of which ACP never hears. If only that is named, or nothing, it
/// belongs to the only session, or to the only one with a turn. With several turns at once, it could belong to any of
/// them: then it has no session, as the wrong proxies would decide.
pub(super) fn session_of(core: &Core, mcp: &Mcp, names: &[Arc<str>]) -> Option<Arc<str>> {
    let known = names.iter().find(|name| core.sessions.has(name));
    // Of a session within others that are unknown, ACP has ended the one that it belongs to.
    if known.is_some() || names.len() > 1 {
        return known.cloned();
    }
    let begun = || core.sessions.begun();
    let mut with_turn = begun().filter(|session| has_turn(core, mcp, session));
    only(&mut begun()).or_else(|| only(&mut with_turn)).cloned()
}

fn only<T>(all: &mut impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.next().is_none().then_some(first)
}

/// The session whose turn an update of this session belongs to, if there is one. While the client sets the session up,
/// updates are its history. A proxy could do that in a turn, so that nothing was judged.
fn turn_of(core: &Core, mcp: &Mcp, session: &Arc<str>) -> Option<Arc<str>> {
    let is_clients = |number| {
        let asked = core.exchanges.get(number);
        asked.is_some_and(|asked| matches!(asked.origin, Origin::Edge(Peer::Client, _)))
    };
    if core.sessions.is_being_set_up(session, is_clients) {
        return None;
    }
    let of = session_of(core, mcp, slice::from_ref(session))?;
    let root = core.sessions.root(&of).clone();
    has_turn(core, mcp, &root).then_some(root)
}

fn has_turn(core: &Core, mcp: &Mcp, session: &Arc<str>) -> bool {
    core.has_turn(session) || mcp.turns.has(session)
}

/// Whether the client has stopped the turn of a session, which is named as the agent does.
fn is_stopped(core: &Core, session: &Arc<str>) -> bool {
    let mut open = core.exchanges.iter();
    let is_given_up = open.any(|(_, prompt)| {
        let is_stopped = prompt.turn == PromptState::GivenUp || prompt.cancel.is_some();
        prompt.is_prompt_in(session) && is_stopped
    });
    let running = core.turns.get(session);
    is_given_up || running.is_some_and(|turn| turn.is_given_up)
}
