//! Projects: sessions wait for the lookups of their projects, and the proxies of projects join and leave the chain.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::core::Core;
use super::lookups::{Lookup, PATIENCE, cwd};
use super::steps::Step;
use crate::clock::Timer;
use acp_chain_channel::Failure;
use acp_chain_channel::limits::PROJECT_PROXIES;
use acp_chain_hops::exchange::{ExchangeId, Stage};
use acp_chain_hops::hop::Hop;
use acp_chain_hops::member::Member;
use acp_chain_hops::native_peer::Order;
use acp_chain_hops::route::{HopIndex, Place, Route};
use acp_chain_hops::routed::Routed;
use acp_chain_recorder::State;
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted};
use acp_chain_rpc::{Error, code};

/// Lets a client's request wait for the lookup of its project, or behind an earlier request of its session that waits.
#[cold]
pub(super) fn wait(core: &mut Core, routed: Routed) -> ControlFlow<(), Routed> {
    if let Some(behind) = core.lookups.behind(routed.session()) {
        behind.request(routed);
        return ControlFlow::Break(());
    }
    match (core.lookups.wanted(&routed), routed.exchange) {
        (Some(cwd), Some(number)) => {
            core.exchanges.stage(number, Stage::Waiting);
            core.lookups.wait(number, cwd, routed);
            ControlFlow::Break(())
        }
        (None, Some(number)) if routed.life.sets_up() => without_folder(core, number, routed),
        _ => ControlFlow::Continue(routed),
    }
}

/// Handles a setup without a working directory, which the protocol demands: the session begins without the proxies of a
/// project and the user is notified or, if projects are required, it is refused.
fn without_folder(core: &mut Core, number: ExchangeId, routed: Routed) -> ControlFlow<(), Routed> {
    const UNKNOWN: &str = "a session's working directory is not named, so its project is not known";
    if core.lookups.are_required {
        tracing::warn!("{UNKNOWN}, and the session does not begin");
        let next = routed.at + 1;
        core.steps.refuse_at(number, next, &refusal(UNKNOWN));
        return ControlFlow::Break(());
    }
    let text = format!("{UNKNOWN}. The session begins without the proxies of a project.");
    core.tell_once("folder", &text);
    ControlFlow::Continue(routed)
}

/// Handles the result of a lookup: the key of a project with proxies in the chain, or none; or an error, with which the
/// session is refused.
pub(super) fn found(core: &mut Core, number: ExchangeId, key: Result<Option<&str>, Error>) {
    let Some(lookup) = take(core, number) else {
        return;
    };
    let route = key.map(|key| {
        let own = key.and_then(|key| core.joined.route(key));
        own.unwrap_or(&core.sessions.main).clone()
    });
    end(core, number, lookup, route);
}

/// Handles a lookup that takes too long: the request takes the route of the user's own proxies or, if projects are
/// required, is refused.
pub(super) fn late(core: &mut Core, number: ExchangeId) {
    let Some(lookup) = take(core, number) else {
        return;
    };
    let cwd = cwd(&lookup.routed.message).unwrap_or_default();
    let (cwd, patience) = (Untrusted::within(&cwd, MAX_QUOTE), PATIENCE.as_secs());
    let unknown = format!("whether a project is at {cwd} was not known within {patience} s");
    if core.lookups.are_required {
        tracing::warn!("{unknown}, so the session does not begin");
        return end(core, number, lookup, Err(refusal(&unknown)));
    }
    let text = format!("{unknown}. The session there begins without the project's proxies.");
    tracing::warn!("{text}");
    core.tell_user(&text);
    let route = core.sessions.main.clone();
    end(core, number, lookup, Ok(route));
}

/// Cancels a waiting request.
pub(super) fn withdraw(core: &mut Core, number: ExchangeId) {
    if let Some(lookup) = take(core, number) {
        end(core, number, lookup, Err(Error::cancelled()));
    }
}

fn take(core: &mut Core, number: ExchangeId) -> Option<Lookup> {
    let lookup = core.lookups.take(number)?;
    core.clock.clear(Timer::Lookup(number));
    Some(lookup)
}

/// Ends the wait of a request, which continues or is answered with an error; the messages behind it continue after it.
fn end(core: &mut Core, number: ExchangeId, lookup: Lookup, route: Result<Route, Error>) {
    let mut routed = lookup.routed;
    // If the connection has ended, the request is answered already.
    if core.exchanges.get(number).is_some() {
        core.exchanges.stage(number, Stage::Moving);
        match route {
            Ok(route) => {
                core.exchanges.lead(number, &route);
                routed.route = route;
                core.steps.push(Step::SetOut(routed));
            }
            Err(error) => core.steps.refuse_at(number, routed.at + 1, &error),
        }
    }
    let behind = lookup.behind.into_iter();
    core.steps
        .extend(behind.map(|said| Step::GoOn(said.into())));
}

/// The error for a session that must not begin.
pub(super) fn refusal(why: &str) -> Error {
    let text = format!("acp-chain: {}", Untrusted::new(why));
    Error::new(code::INTERNAL_ERROR, text)
}

/// Adds the proxies of a project. Returns their places.
pub(super) fn join(
    core: &mut Core,
    key: Arc<str>,
    project: &str,
    members: Vec<Member>,
) -> Result<Vec<HopIndex>, Failure> {
    if !core.joined.have_room(members.len()) {
        return Err(Failure::new(format!(
            "a connection may have at most {PROJECT_PROXIES} proxies of projects; close sessions of other \
             projects first"
        )));
    }
    let project: Arc<str> = project.into();
    let places: Vec<_> = members
        .into_iter()
        .map(|member| place(core, member, project.clone()))
        .collect();
    let (guards, mut hops): (Vec<_>, Vec<_>) =
        (places.iter().copied()).partition(|index| core.hops[*index].is_guard());
    hops.extend(guards);
    let names: Vec<_> = hops.iter().map(|index| core.hops[*index].name()).collect();
    tracing::info!(
        "the proxies of the project `{project}` join: {}",
        names.join(", ")
    );
    // In the order of the chain.
    for index in &hops {
        if core.hops[*index].native().is_some() {
            let at = core.joined.among(&core.programs);
            core.programs.insert(at, *index);
        }
    }
    core.joined.insert(key, hops);
    Ok(places)
}

/// Puts a proxy at a free place.
fn place(core: &mut Core, member: Member, project: Arc<str>) -> HopIndex {
    let mut hop = Hop::of_project(member, project, &core.kept);
    if let Some(native) = hop.native_mut() {
        native.beginning.clone_from(&core.sessions.at_join);
    }
    let index = match core.joined.take_place() {
        Some(index) => {
            core.hops[index] = hop;
            index
        }
        None => {
            core.hops.push(hop);
            core.hops.len() - 1
        }
    };
    // A program is not running before it has answered.
    if core.hops[index].native().is_none() {
        core.trace_state(index, State::Running, None);
    }
    index
}

/// Removes the proxies of projects that have no session and nothing open.
#[cold]
pub(super) fn part(core: &mut Core) {
    let hops = &core.hops;
    for index in core.joined.take_free(|index| hops[index].is_at_rest()) {
        core.trace_tally(index);
        core.trace_state(index, State::Ended, None);
        core.end_pauses(index);
        let hop = std::mem::replace(&mut core.hops[index], Hop::vacant(&core.kept));
        core.losses.forget(Place::Hop(index));
        if hop.native().is_some() {
            core.programs.retain(|program| *program != index);
            core.orders.push(Order::Remove(index));
        }
        let title = hop.title();
        if let Some(tally) = hop.tally() {
            tracing::info!("{title}: failed on {} messages; {tally}", hop.refused());
        }
        tracing::info!("{title} has left");
    }
}
