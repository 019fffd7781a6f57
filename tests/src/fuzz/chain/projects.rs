//! Sessions with projects: sessions are set up and closed, and their projects found at once, late or never.
//!
//! Each session is set up once, in a folder of one project, so its messages have one route as long as it exists.

use std::sync::Arc;
use std::time::Duration;

use acp_chain::chain::{Member, PATIENCE};
use acp_chain::channel::Peer;
use tokio::time::Instant;

use super::model::Kind;
use super::native::Program;
use super::{Driver, new_member};

/// The number of projects; one more folder has none.
const PROJECTS: usize = 2;

/// Finds projects, on a clock of its own.
pub(super) struct Finder {
    /// The current time.
    now: Instant,
    /// The open lookups: the number, the session, the folder, and the deadline.
    open: Vec<(u64, usize, usize, Instant)>,
    /// The lookups that missed their deadline: the number and the folder.
    late: Vec<(u64, usize)>,
    /// The chain of each project in the model since the project last joined.
    chains: [usize; PROJECTS],
}

impl Finder {
    pub fn new() -> Self {
        Self {
            now: Instant::now(),
            open: Vec::new(),
            late: Vec::new(),
            chains: [0; PROJECTS],
        }
    }
}

fn key(project: usize) -> Arc<str> {
    format!("project-{project}").into()
}

impl Driver {
    /// The client sets up a session.
    pub(super) fn set_up(&mut self) {
        let line = {
            let mut world = self.world.lock();
            let folder = world.choose(PROJECTS + 1);
            let (model, toward) = (&mut world.model, Peer::Agent);
            let session = model.next_session();
            let body = |tag| {
                format!(
                    r#"{{"sessionId":"s{session}","cwd":"/{folder}/{session}","n":1e400,"t":{tag}}}"#
                )
            };
            let tag = model.sets_out(Kind::Request, toward, Some(session), true, body);
            model.is_set_up(session, tag);
            model.waits_for(Peer::Client, tag.to_string(), tag);
            let body = model.body(tag);
            format!(r#"{{"jsonrpc":"2.0","id":{tag},"method":"session/load","params":{body}}}"#)
        };
        self.receive(Peer::Client, line);
    }

    /// The client closes a session.
    pub(super) fn close(&mut self) {
        let line = {
            let mut world = self.world.lock();
            let sessions = world.model.sessions_of(Peer::Client);
            if sessions.is_empty() {
                return;
            }
            let session = sessions[world.choose(sessions.len())];
            let model = &mut world.model;
            let body = |tag| format!(r#"{{"sessionId":"s{session}","t":{tag}}}"#);
            let tag = model.sets_out(Kind::Request, Peer::Agent, Some(session), true, body);
            model.is_seen_by_nobody(tag);
            model.is_closed(session);
            model.waits_for(Peer::Client, tag.to_string(), tag);
            let body = model.body(tag);
            format!(r#"{{"jsonrpc":"2.0","id":{tag},"method":"session/close","params":{body}}}"#)
        };
        self.receive(Peer::Client, line);
    }

    /// Takes the router's lookups.
    pub(super) fn look(&mut self) {
        let Some(finder) = &mut self.finder else {
            return;
        };
        self.router.advance(finder.now);
        for (number, cwd) in self.router.take_lookups() {
            let mut parts = cwd.iter().skip(1).map(|part| part.to_str()?.parse().ok());
            let mut part = || parts.next().flatten().expect("a folder of a session");
            let (folder, session) = (part(), part());
            let due = finder.now + PATIENCE;
            finder.open.push((number, session, folder, due));
        }
    }

    /// Advances the time; lookups whose deadline has passed become late.
    pub(super) fn becomes(&mut self, at: Instant) {
        let Some(finder) = &mut self.finder else {
            return;
        };
        finder.now = at.max(finder.now + Duration::from_nanos(1));
        let mut world = self.world.lock();
        finder.open.retain(|(number, session, folder, due)| {
            let waits = *due > finder.now;
            if !waits {
                world.model.goes(*session, None);
                finder.late.push((*number, *folder));
            }
            waits
        });
    }

    /// One of the lookups ends: with a project, without one, or with a failure.
    pub(super) fn find(&mut self) {
        let Some(finder) = &mut self.finder else {
            return;
        };
        let mut world = self.world.lock();
        if !finder.late.is_empty() && (finder.open.is_empty() || world.choose(4) == 1) {
            drop(world);
            let (number, project) = finder.late.remove(0);
            let key = key(project);
            assert!(!self.router.lacks(number, &key), "the lookup is over");
            return self.router.found(number, Some(&key));
        }
        if finder.open.is_empty() {
            return;
        }
        let which = world.choose(finder.open.len());
        let (number, session, project, _) = finder.open.remove(which);
        if project == PROJECTS {
            world.model.goes(session, None);
            drop(world);
            return self.router.found(number, None);
        }
        if world.choose(8) == 1 {
            world.model.is_refused(session);
            drop(world);
            let failure = acp_chain::channel::Failure::new("no");
            return self.router.refuse_session(number, failure.to_string());
        }
        drop(world);
        if self.router.lacks(number, &key(project)) {
            self.join(project);
        }
        let chains = self.finder.as_ref().map(|finder| finder.chains);
        let chain = chains.expect("a finder")[project];
        self.world.lock().model.goes(session, Some(chain));
        self.router.found(number, Some(&key(project)));
    }

    fn join(&mut self, project: usize) {
        // First the orders for earlier programs in these places.
        self.obey();
        let (chain, count) = {
            let mut world = self.world.lock();
            (world.model.next_chain(), 1 + world.choose(2))
        };
        let members: Vec<_> = (0..count)
            .map(|_| new_member(&self.world, Some(chain)))
            .collect();
        let is_native: Vec<_> = members
            .iter()
            .map(|(_, member)| matches!(member, Member::Native(_)))
            .collect();
        let (hops, members): (Vec<_>, Vec<_>) = members.into_iter().unzip();
        let joined = self.router.join(key(project), "it", members);
        for (at, place) in joined.expect("free places").into_iter().enumerate() {
            self.programs
                .resize_with(self.programs.len().max(place + 1), || None);
            self.programs[place] = is_native[at].then(|| Program::new(hops[at]));
            self.has_programs |= is_native[at];
        }
        if let Some(finder) = &mut self.finder {
            finder.chains[project] = chain;
        }
    }
}
