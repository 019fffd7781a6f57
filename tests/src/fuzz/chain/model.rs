//! Facts about each message that need no knowledge of how a chain works.

mod sessions;

use std::collections::{BTreeMap, HashMap, HashSet};

use acp_chain::channel::{FailurePolicy, MessageId, Peer};
use acp_chain::limits::{Limits, OLD_VERSIONS};

use self::sessions::Session;

/// Identifies a message; it is in the message's body.
pub type Tag = u64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Notification,
    Request,
    Answer,
}

/// The state of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Underway,
    /// It left at the other end.
    Left,
    /// A proxy ended it; it must not leave.
    Ended,
}

#[derive(Clone, Debug)]
struct MessageRecord {
    kind: Kind,
    toward: Peer,
    session: Option<usize>,
    /// The expected body; none if a proxy made an error of the message.
    body: Option<String>,
    fate: Fate,
    /// Whether its order counts: an end sent it, and no proxy held it.
    in_line: bool,
    /// Whether it may be dropped, or turned into an error, because a proxy failed.
    may_be_lost: bool,
    /// Whether no component subscribed to it.
    unseen: bool,
    /// The projects' proxies that it passed, if an end sent it: it must pass all of its session.
    passed: Option<HashSet<usize>>,
}

#[derive(Default)]
pub struct Model {
    hops: Vec<Hop>,
    messages: BTreeMap<Tag, MessageRecord>,
    /// The open requests of each end, by the end's own ids.
    waits: [HashMap<String, Tag>; 2],
    /// The requests that each end received and has not answered, by the ids on that wire.
    asked: [Vec<(u64, Tag)>; 2],
    /// Every request that each end ever received.
    ever_asked: [HashMap<u64, Tag>; 2],
    /// The requests that their senders cancelled.
    withdrawn: HashSet<Tag>,
    /// The requests of proxies that have broken since: their answers have no receiver.
    orphaned: HashSet<Tag>,
    /// The answered requests, by the answer.
    answered: HashMap<Tag, Tag>,
    /// The client's prompts, the messages that cancel their turns, and the prompts cancelled while a proxy held them.
    prompts: HashSet<Tag>,
    stops: HashSet<Tag>,
    stopped: HashSet<Tag>,
    /// The sessions that were set up.
    sessions: Vec<Session>,
    /// Whether sessions have projects.
    pub has_projects: bool,
    gone: [bool; 2],
    /// Whether a program broke: answers to its earlier requests have no receiver.
    leaks: bool,
    /// Whether anything was held for too long.
    time_has_passed: bool,
}

struct Hop {
    on_failure: FailurePolicy,
    is_native: bool,
    /// The project chain that the proxy belongs to, if any.
    chain: Option<usize>,
    broke: usize,
    /// The current version.
    version: u64,
    held: HashMap<MessageId, Tag>,
    /// The proxy's open requests.
    asked: HashMap<MessageId, Tag>,
    /// The proxy's open requests for stored values.
    values: HashSet<MessageId>,
}

fn index(peer: Peer) -> usize {
    match peer {
        Peer::Client => 0,
        Peer::Agent => 1,
    }
}

impl Model {
    /// Adds a proxy, of this project chain if any. Returns the proxy's number.
    pub fn add_hop(
        &mut self,
        on_failure: FailurePolicy,
        is_native: bool,
        chain: Option<usize>,
    ) -> usize {
        self.hops.push(Hop {
            on_failure,
            is_native,
            chain,
            broke: 0,
            version: 0,
            held: HashMap::new(),
            asked: HashMap::new(),
            values: HashSet::new(),
        });
        self.hops.len() - 1
    }

    /// An end or a proxy sends a message.
    pub fn sets_out(
        &mut self,
        kind: Kind,
        toward: Peer,
        session: Option<usize>,
        at_end: bool,
        body: impl FnOnce(Tag) -> String,
    ) -> Tag {
        let tag = self.messages.len() as Tag + 1;
        let known = MessageRecord {
            kind,
            toward,
            session,
            body: Some(body(tag)),
            fate: Fate::Underway,
            in_line: at_end,
            // A proxy that was given up rejects everything.
            may_be_lost: self.leaks
                || self.gone[index(toward)]
                || self.hops.iter().any(Hop::may_refuse_all),
            unseen: false,
            passed: at_end.then(HashSet::new),
        };
        self.messages.insert(tag, known);
        tag
    }

    pub fn body(&self, tag: Tag) -> &str {
        self.messages[&tag].body.as_deref().unwrap_or("null")
    }

    pub fn session(&self, tag: Tag) -> Option<usize> {
        self.messages[&tag].session
    }

    fn known(&mut self, tag: Tag) -> &mut MessageRecord {
        self.messages.get_mut(&tag).expect("a sent message")
    }

    // Actions of the ends.

    pub fn is_seen_by_nobody(&mut self, tag: Tag) {
        self.known(tag).unseen = true;
    }

    pub fn is_prompt(&mut self, tag: Tag) {
        self.prompts.insert(tag);
    }

    pub fn has_prompts(&self) -> bool {
        !self.prompts.is_empty()
    }

    /// Cancels the turns of a session whose prompts a proxy holds when this message passes the proxy.
    pub fn stops_turn(&mut self, tag: Tag) {
        self.stops.insert(tag);
        let session = self.session(tag);
        for prompt in self.prompts.clone() {
            if self.session(prompt) == session {
                self.known(prompt).may_be_lost = true;
            }
        }
    }

    pub fn waits_for(&mut self, end: Peer, id: String, tag: Tag) {
        self.waits[index(end)].insert(id, tag);
    }

    pub fn waiting(&self, end: Peer) -> Vec<(String, Tag)> {
        let waits = &self.waits[index(end)];
        let mut waits: Vec<_> = waits.iter().map(|(id, tag)| (id.clone(), *tag)).collect();
        waits.sort();
        waits
    }

    pub fn withdraws(&mut self, tag: Tag) {
        self.withdrawn.insert(tag);
    }

    pub fn is_asked(&self, end: Peer) -> bool {
        !self.asked[index(end)].is_empty()
    }

    pub fn asked_of(&self, end: Peer) -> usize {
        self.asked[index(end)].len()
    }

    /// An end answers one of the requests that it received. Returns the id and the request.
    pub fn is_to_answer(&mut self, end: Peer, which: usize) -> (u64, Tag) {
        self.asked[index(end)].remove(which)
    }

    pub fn answers(&mut self, answer: Tag, request: Tag) {
        self.answered.insert(answer, request);
    }

    /// Whether an answer is for a proxy that broke after its request.
    fn is_for_nobody(&self, tag: Tag) -> bool {
        let request = self.answered.get(&tag);
        request.is_some_and(|request| self.orphaned.contains(request))
    }

    // Actions of the proxies.

    pub fn changes(&mut self, tag: Tag, body: Option<String>) {
        self.known(tag).body = body;
    }

    /// A proxy drops a message, or answers it.
    pub fn ends(&mut self, tag: Tag) {
        let known = self.known(tag);
        assert_eq!(known.fate, Fate::Underway, "{known:?}");
        known.fate = Fate::Ended;
    }

    /// A proxy could not decide on a message.
    pub fn fails_on(&mut self, hop: usize, tag: Tag) {
        let bypass = self.hops[hop].on_failure == FailurePolicy::Bypass;
        self.known(tag).may_be_lost |= !bypass;
    }

    pub fn holds(&mut self, hop: usize, id: MessageId, tag: Tag) {
        self.known(tag).in_line = false;
        self.hops[hop].held.insert(id, tag);
    }

    pub fn held(&self, hop: usize) -> Vec<(MessageId, Tag)> {
        let held = &self.hops[hop].held;
        let mut held: Vec<_> = held.iter().map(|(id, tag)| (*id, *tag)).collect();
        held.sort_unstable();
        held
    }

    pub fn lets_go(&mut self, hop: usize, id: MessageId) -> Option<Tag> {
        self.hops[hop].held.remove(&id)
    }

    pub fn kind(&self, tag: Tag) -> Kind {
        self.messages[&tag].kind
    }

    pub fn asks(&mut self, hop: usize, id: MessageId, tag: Tag) {
        self.hops[hop].asked.insert(id, tag);
    }

    pub fn own_requests(&self, hop: usize) -> Vec<(MessageId, Tag)> {
        let asked = &self.hops[hop].asked;
        let mut asked: Vec<_> = asked.iter().map(|(id, tag)| (*id, *tag)).collect();
        asked.sort_unstable();
        asked
    }

    /// A proxy receives the answer to its own request.
    pub fn is_answered(&mut self, hop: usize, id: MessageId, answer: Option<Tag>) {
        let asked = self.hops[hop].asked.remove(&id);
        asked.expect("an answer comes once, and only to the requester");
        if let Some(answer) = answer {
            self.known(answer).fate = Fate::Left;
        }
    }

    pub fn asks_for_value(&mut self, hop: usize, id: MessageId) {
        self.hops[hop].values.insert(id);
    }

    /// A proxy receives the outcome of its request for a stored value.
    pub fn gets_value(&mut self, hop: usize, id: MessageId) {
        let was_open = self.hops[hop].values.remove(&id);
        assert!(was_open, "an outcome comes once, and only to the requester");
    }

    /// An instance of a proxy ends with these requests for stored values. Returns whether one was open.
    pub fn loses_values(&mut self, hop: usize, ids: &HashSet<MessageId>) -> bool {
        let open = &mut self.hops[hop].values;
        let before = open.len();
        open.retain(|id| !ids.contains(id));
        open.len() < before
    }

    /// A proxy breaks, on this message if any.
    pub fn breaks(&mut self, hop: usize, at: Option<Tag>) {
        self.hops[hop].broke += 1;
        let held: Vec<_> = self.hops[hop].held.drain().map(|(_, tag)| tag).collect();
        for tag in held.into_iter().chain(at) {
            self.fails_on(hop, tag);
            self.known(tag).in_line = false;
        }
        self.hops[hop].values.clear();
        let asked: Vec<_> = self.hops[hop].asked.drain().map(|(_, tag)| tag).collect();
        self.withdrawn.extend(&asked);
        self.orphaned.extend(asked);
        if self.hops[hop].may_refuse_all() {
            for known in self.messages.values_mut() {
                known.may_be_lost = true;
            }
        }
    }

    /// The user's own proxies that are components, and their policies.
    pub fn own_components(&self) -> Vec<(usize, FailurePolicy)> {
        let own = self.hops.iter().enumerate();
        let own = own.filter(|(_, hop)| hop.chain.is_none() && !hop.is_native);
        own.map(|(number, hop)| (number, hop.on_failure)).collect()
    }

    pub fn is_newer(&self, hop: usize, version: u64) -> bool {
        version > self.hops[hop].version
    }

    pub fn is_old(&self, hop: usize, version: u64) -> bool {
        version < self.hops[hop].version
    }

    /// This version of a proxy becomes the current one.
    pub fn is_replaced(&mut self, hop: usize, version: u64) {
        self.hops[hop].version = version;
    }

    /// A version of a proxy ends, with its held messages and open requests. Returns whether it had any.
    pub fn is_gone(
        &mut self,
        hop: usize,
        held: impl Iterator<Item = MessageId>,
        asked: impl Iterator<Item = MessageId>,
    ) -> bool {
        let mut had_something = false;
        for id in held {
            if let Some(tag) = self.hops[hop].held.remove(&id) {
                had_something = true;
                self.fails_on(hop, tag);
                self.known(tag).in_line = false;
            }
        }
        for id in asked {
            if let Some(tag) = self.hops[hop].asked.remove(&id) {
                had_something = true;
                self.withdrawn.insert(tag);
                self.orphaned.insert(tag);
            }
        }
        had_something
    }

    /// Whether a version with work to finish may be ended.
    pub fn may_be_ended(&self, hop: usize, version: u64) -> bool {
        self.time_has_passed || self.hops[hop].version - version > OLD_VERSIONS as u64
    }

    /// A program breaks: its messages are lost, requests to it are answered with an error, and requests
    /// that it forwarded are cancelled, and their answers discarded.
    pub fn program_breaks(&mut self, hop: usize) {
        self.hops[hop].broke += 1;
        self.leaks = true;
        for (tag, known) in &mut self.messages {
            known.may_be_lost = true;
            known.in_line = false;
            self.withdrawn.insert(*tag);
        }
    }

    pub fn everything_held_may_expire(&mut self) {
        self.time_has_passed = true;
        for hop in 0..self.hops.len() {
            for (_, tag) in self.held(hop) {
                self.fails_on(hop, tag);
            }
        }
    }

    pub fn nothing_leaves_any_more(&mut self, end: Peer) {
        self.gone[index(end)] = true;
        self.asked[index(end)].clear();
    }

    // Messages that leave.

    /// A message leaves at its end, with this body.
    pub fn leaves(&mut self, end: Peer, tag: Tag, body: &str) {
        let known = self.messages.get(&tag).expect("a sent message").clone();
        assert_eq!(known.toward, end, "wrong end: {known:?}");
        assert!(
            !self.stopped.contains(&tag),
            "its turn was cancelled: {known:?}"
        );
        if self.stops.contains(&tag) {
            // It has passed all proxies that hold messages.
            let held = self.hops.iter().flat_map(|hop| hop.held.values());
            let of_session = held.filter(|held| {
                self.prompts.contains(held) && **held < tag && self.session(**held) == known.session
            });
            let stopped: Vec<_> = of_session.copied().collect();
            self.stopped.extend(stopped);
        }
        assert_eq!(known.fate, Fate::Underway, "it must not leave: {known:?}");
        if let Some(expected) = &known.body {
            assert_eq!(body, expected, "the body differs");
        }
        self.overtakes_nothing(tag, &known);
        self.has_passed_all(&known);
        self.known(tag).fate = Fate::Left;
    }

    /// No earlier message of the same session and direction is still underway, unless a proxy held
    /// that one; an answer also waits for notifications that proxies hold.
    fn overtakes_nothing(&self, tag: Tag, known: &MessageRecord) {
        if !known.in_line || self.is_loose(known.session) {
            return;
        }
        for (earlier, other) in self.messages.range(..tag) {
            let line = (other.toward, other.session) == (known.toward, known.session);
            let waits = other.in_line
                || known.kind == Kind::Answer
                    && other.kind == Kind::Notification
                    && self
                        .hops
                        .iter()
                        .any(|hop| hop.held.values().any(|held| held == earlier));
            let counts = !other.may_be_lost && !self.is_for_nobody(*earlier);
            let overtaken = line && waits && counts && other.fate == Fate::Underway;
            assert!(!overtaken, "{tag} {known:?} overtakes {earlier} {other:?}");
        }
    }

    /// With components only, and when all of them are idle or busy: a message to which none of them
    /// subscribed waits only for messages of the same session and direction.
    pub fn nothing_waits_in_vain(&self) {
        let all = self.messages.iter();
        let underway = |known: &MessageRecord| known.fate == Fate::Underway;
        for (tag, waits) in all.filter(|(_, known)| known.unseen && underway(known)) {
            let line = (waits.toward, waits.session);
            let mut others = self.messages.values();
            let is_behind = others.any(|other| {
                !other.unseen && underway(other) && (other.toward, other.session) == line
            });
            // Answers of proxies and the host are in the same order, and have no tag.
            let mut requests = self.open_requests();
            let may_be_behind = requests.any(|request| {
                let request = &self.messages[&request];
                (request.toward.opposite(), request.session) == line
            });
            assert!(is_behind || may_be_behind, "{tag} {waits:?} waits in vain");
        }
    }

    /// The requests that may have no answer yet.
    fn open_requests(&self) -> impl Iterator<Item = Tag> {
        let ends = self.waits.iter().flat_map(HashMap::values);
        let proxies = self.hops.iter().flat_map(|hop| hop.asked.values());
        ends.chain(proxies).chain(&self.orphaned).copied()
    }

    /// An end receives a request with this id.
    pub fn is_asked_under(&mut self, end: Peer, id: u64, tag: Tag) {
        let before = self.ever_asked[index(end)].insert(id, tag);
        assert_eq!(before, None, "the id {id} was used before");
        let loaded = self.sessions.iter_mut().find(|session| session.load == tag);
        if let Some(session) = loaded.filter(|_| end == Peer::Agent) {
            session.is_known = true;
        }
        self.asked[index(end)].push((id, tag));
    }

    /// An end receives the cancellation of a request.
    pub fn is_told_of_withdrawal(&self, end: Peer, id: u64) {
        let tag = self.ever_asked[index(end)].get(&id);
        let tag = tag.unwrap_or_else(|| panic!("no request has id {id}"));
        assert!(self.withdrawn.contains(tag), "{tag} was not cancelled");
    }

    /// The end that received the host's request with this id. The host's ids are unique.
    pub fn who_was_asked(&self, id: u64) -> Peer {
        let mut ends = [Peer::Client, Peer::Agent].into_iter();
        let end = ends.find(|end| self.ever_asked[index(*end)].contains_key(&id));
        end.unwrap_or_else(|| panic!("no request has id {id}"))
    }

    /// The end that has its own request with this id open.
    pub fn who_waits_for(&self, id: &str) -> Peer {
        let mut ends = [Peer::Client, Peer::Agent].into_iter();
        let end = ends.find(|end| self.waits[index(*end)].contains_key(id));
        end.unwrap_or_else(|| panic!("no open request has id {id}"))
    }

    /// An end receives the answer to its own request.
    pub fn gets_answer(&mut self, end: Peer, id: &str) -> Tag {
        let tag = self.waits[index(end)].remove(id);
        tag.unwrap_or_else(|| panic!("no open request has id {id}"))
    }

    // The state at the end.

    pub fn nobody_waits(&self) {
        assert_eq!(self.waits, [HashMap::new(), HashMap::new()]);
        for hop in &self.hops {
            assert!(hop.asked.is_empty(), "a proxy waits for {:?}", hop.asked);
            assert!(hop.values.is_empty(), "a proxy waits for a value");
        }
    }

    /// Every request was answered, and no message is lost.
    pub fn is_complete(&self) {
        self.nobody_waits();
        for (tag, known) in &self.messages {
            let lost = known.fate == Fate::Underway && !known.may_be_lost;
            // A cancelled request or its answer may end anywhere.
            let answered = known.kind != Kind::Notification;
            let excused = answered || self.is_for_no_session(known.session);
            assert!(!lost || excused, "{tag} is lost: {known:?}");
        }
    }
}

impl Hop {
    /// Whether the proxy may have been given up, so that every message to it is rejected.
    fn may_refuse_all(&self) -> bool {
        match self.on_failure {
            FailurePolicy::Refuse => self.broke > 0,
            FailurePolicy::Restart => self.broke > Limits::default().restarts,
            FailurePolicy::RestartThenBypass | FailurePolicy::Bypass => false,
        }
    }
}
