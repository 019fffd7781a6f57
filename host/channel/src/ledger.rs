//! The messages to which one proxy may refer: those that it has been called with or holds, and its own requests.

use std::sync::Arc;
use std::time::Duration;

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};

use super::check::{Rules, allow, check, check_json, check_length, check_named, check_readers};
use super::work::Work;
use super::{
    Action, CAPABILITIES, Change, Decision, Delivery, Effect, MessageId, Offer, Peer, Progress,
    capability, seen_subject, subject,
};
use crate::limits::{LONGEST_PAUSE, LONGEST_URI, Limits, PAUSES, Quantity, SHORTEST_PAUSE};
use acp_chain_acp::HOOK;
use acp_chain_powers::{Actions, Grant, LONGEST_METHOD, MASK, Sight};
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_rpc::{self as rpc, Message, UPDATE_KIND, member};

/// Why the host refused a proxy's call.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChannelError {
    /// No power covers the call, or it is not allowed here.
    #[error("{0}")]
    Denied(String),
    /// The proxy holds no such message, or settled it already.
    #[error("no such message, or it is settled already")]
    UnknownMessage,
    /// Not JSON, or not possible for the message.
    #[error("{0}")]
    Invalid(String),
    /// The proxy has too much outstanding.
    #[error("too much is outstanding")]
    Full,
}

pub(super) fn denied<T>(why: impl Into<String>) -> Result<T, ChannelError> {
    Err(ChannelError::Denied(why.into()))
}

pub(super) fn invalid<T>(why: impl Into<String>) -> Result<T, ChannelError> {
    Err(ChannelError::Invalid(why.into()))
}

/// The bytes to keep a message here and on its way, beside its text.
const ENTRY: usize = 512;

/// The maximum number of values in a body of which a part is shown: each value takes many times its bytes.
const MOST_VALUES: usize = 10_000;

/// The longest text that goes with a report of progress, in bytes.
const LONGEST_PROGRESS: usize = 4096;

/// The ledger of one proxy: every number that the proxy may use, and its effects in the current call.
///
/// A number always identifies the same message. A message leaves the ledger when it is settled or, if the proxy does
/// not hold it, when the call with it returns.
#[derive(Debug)]
pub struct Ledger {
    next: MessageId,
    messages: HashMap<MessageId, Entry>,
    /// The proxy's own open requests.
    asked: HashSet<MessageId>,
    pauses: HashSet<MessageId>,
    held: usize,
    held_bytes: usize,
    effects: Vec<Effect>,
    effect_bytes: usize,
    saved: Option<String>,
    work: Work,
    limits: Arc<Limits>,
    pub(super) grant: Arc<Grant>,
    started: bool,
}

#[derive(Debug)]
struct Entry {
    message: Message,
    /// The part of the message that the proxy may read, if any.
    shown: Option<Message>,
    sender: Peer,
    /// The method; for a response, the request's.
    method: Arc<str>,
    /// Whether a guard has decided about the message.
    sealed: bool,
    /// Whether this is a call of one of the proxy's offers to the agent.
    own: bool,
    /// The `_meta` of such a call.
    meta: Box<str>,
    held: bool,
    /// The length of the session's name.
    session: usize,
}

impl Entry {
    /// The cost of keeping the entry, in bytes, including the part shown to the proxy if that is a copy.
    fn cost(&self) -> usize {
        let shown = self.shown.as_ref();
        let copy = shown.filter(|shown| **shown != self.message);
        let copy = copy.map_or(0, Message::cost);
        ENTRY + self.message.cost() + copy + self.meta.len() + self.session
    }
}

impl Ledger {
    /// An empty ledger that numbers messages from `first`. Nothing may be sent before [`Ledger::start`].
    pub fn new(first: MessageId, limits: Arc<Limits>, grant: Arc<Grant>) -> Self {
        Self {
            next: first,
            messages: HashMap::new(),
            asked: HashSet::new(),
            pauses: HashSet::new(),
            held: 0,
            held_bytes: 0,
            effects: Vec::new(),
            effect_bytes: 0,
            saved: None,
            work: Work::default(),
            limits,
            grant,
            started: false,
        }
    }

    /// Allows the proxy to send messages from now on.
    pub fn start(&mut self) {
        self.started = true;
    }

    /// A new number for a message.
    pub fn allot(&mut self) -> MessageId {
        let id = self.next;
        self.next += 1;
        id
    }

    /// Adds a message that the proxy is called with. Returns the part that the proxy may read, if any.
    pub fn hand_in(&mut self, delivery: &Delivery) -> Option<Message> {
        self.put(delivery, self.shown(delivery))
    }

    /// Adds the answer to the proxy's own request.
    pub fn hand_in_answer(&mut self, delivery: &Delivery) {
        self.answered(delivery.id);
        self.put(delivery, Some(delivery.message.clone()));
    }

    fn put(&mut self, delivery: &Delivery, shown: Option<Message>) -> Option<Message> {
        let entry = Entry {
            message: delivery.message.clone(),
            shown: shown.clone(),
            sender: delivery.sender,
            method: delivery.method.clone(),
            sealed: delivery.sealed,
            own: false,
            meta: Box::default(),
            held: false,
            session: delivery.session.as_ref().map_or(0, |session| session.len()),
        };
        self.messages.insert(delivery.id, entry);
        shown
    }

    /// The part of a message that the proxy may read: all of it, all but hidden places, or nothing.
    fn shown(&self, delivery: &Delivery) -> Option<Message> {
        let Delivery {
            message,
            sender,
            method,
            is_replayed,
            ..
        } = delivery;
        let subject = seen_subject(&self.grant, message, *sender, method, *is_replayed);
        let places = match self.grant.sight(&subject) {
            Sight::Nothing => return None,
            Sight::All => return Some(message.clone()),
            Sight::Part(places) => places,
        };
        let body = message.body();
        let is_large = message.len() > self.limits.body || has_many_values(body);
        let part = if is_large {
            MASK.to_owned()
        } else {
            places.part_of(serde_json::from_str(body).ok()?)
        };
        Some(message.with_part(&part))
    }

    /// Adds a call of one of the proxy's offers. The proxy can read the arguments and, with [`Ledger::meta`], the
    /// caller's metadata.
    pub fn hand_in_call(&mut self, id: MessageId, method: &Arc<str>, arguments: &str, meta: &str) {
        let message = Message::request(method, arguments);
        let entry = Entry {
            shown: Some(message.clone()),
            message,
            sender: Peer::Agent,
            method: method.clone(),
            sealed: false,
            own: true,
            meta: meta.into(),
            held: false,
            session: 0,
        };
        self.messages.insert(id, entry);
    }

    /// Records that the proxy's own request has been answered.
    pub fn answered(&mut self, id: MessageId) {
        if !self.asked.remove(&id) {
            self.pauses.remove(&id);
        }
    }

    /// Checks the proxy's decision about the message of the current call. Removes the message, unless the proxy holds
    /// it.
    pub fn take_back(&mut self, id: MessageId, decision: Decision) -> Result<Action, ChannelError> {
        // Forwarding needs no power, and is the most frequent decision.
        if matches!(decision, Decision::Forward)
            && self.messages.get(&id).is_some_and(|entry| !entry.own)
        {
            self.messages.remove(&id);
            return Ok(Action::Forward);
        }
        let entry = self
            .messages
            .get_mut(&id)
            .ok_or(ChannelError::UnknownMessage)?;
        let rules = rules(&self.limits, &self.grant, entry);
        let action = check(&entry.message, decision, rules, &mut self.work);
        if matches!(action, Ok(Action::Hold)) {
            let bytes = self.held_bytes + entry.cost();
            if self.held < self.limits.held && bytes <= self.limits.held_bytes {
                entry.held = true;
                self.held += 1;
                self.held_bytes = bytes;
                return action;
            }
            self.messages.remove(&id);
            return Err(ChannelError::Full);
        }
        self.messages.remove(&id);
        action
    }

    /// Removes a message that needs no decision, such as the answer to an own request.
    pub fn close(&mut self, id: MessageId) {
        self.messages.remove(&id);
    }

    /// Takes the proxy's effects, and the state that it saved.
    pub fn take_effects(&mut self) -> (Vec<Effect>, Option<String>) {
        self.effect_bytes = 0;
        self.work = Work::default();
        (std::mem::take(&mut self.effects), self.saved.take())
    }

    /// `channel.request`.
    pub fn request(
        &mut self,
        to: Peer,
        method: &str,
        params: &str,
    ) -> Result<MessageId, ChannelError> {
        let message = self.outgoing(to, Message::request, method, params)?;
        self.send_request(|id| Effect::Request { id, to, message })
    }

    /// Sends a request under a new number, which is open until it is answered.
    pub(super) fn send_request(
        &mut self,
        effect: impl FnOnce(MessageId) -> Effect,
    ) -> Result<MessageId, ChannelError> {
        if self.asked.len() >= self.limits.requests {
            return Err(ChannelError::Full);
        }
        let id = self.allot();
        self.push(effect(id))?;
        self.asked.insert(id);
        Ok(id)
    }

    /// `channel.notify`.
    pub fn notify(&mut self, to: Peer, method: &str, params: &str) -> Result<(), ChannelError> {
        let message = self.outgoing(to, Message::notification, method, params)?;
        self.push(Effect::Notify { to, message })
    }

    /// `channel.settle`.
    pub fn settle(&mut self, id: MessageId, decision: Decision) -> Result<(), ChannelError> {
        let entry = self.messages.get(&id).filter(|entry| entry.held);
        let entry = entry.ok_or(ChannelError::UnknownMessage)?;
        let rules = rules(&self.limits, &self.grant, entry);
        let action = check(&entry.message, decision, rules, &mut self.work)?;
        if matches!(action, Action::Hold) {
            return invalid("the message is held already");
        }
        self.push(Effect::Settle { id, action })?;
        self.let_go(id);
        Ok(())
    }

    /// `channel.fail`.
    pub fn fail(&mut self, id: MessageId, reason: &str) -> Result<(), ChannelError> {
        if !self.messages.get(&id).is_some_and(|entry| entry.held) {
            return Err(ChannelError::UnknownMessage);
        }
        let reason = quote(reason, MAX_QUOTE);
        self.push(Effect::Fail { id, reason })?;
        self.let_go(id);
        Ok(())
    }

    /// Answers a held request with an error on behalf of the proxy, without checking its limits; does nothing if the
    /// request is settled already.
    pub fn refuse(&mut self, id: MessageId, error: rpc::Error) {
        if self.messages.get(&id).is_some_and(|entry| entry.held) {
            let action = Action::Answer(Message::error(&error));
            self.effects.push(Effect::Settle { id, action });
            self.let_go(id);
        }
    }

    /// `channel.wake-after`.
    pub fn wake_after(&mut self, milliseconds: u32) -> Result<MessageId, ChannelError> {
        self.may_speak()?;
        let milliseconds = u64::from(milliseconds).max(SHORTEST_PAUSE);
        if milliseconds > LONGEST_PAUSE {
            let longest = Quantity::Time.show(LONGEST_PAUSE);
            return invalid(format!("a pause takes {longest} at most"));
        }
        if self.pauses.len() >= PAUSES {
            return Err(ChannelError::Full);
        }
        let id = self.allot();
        let after = Duration::from_millis(milliseconds);
        self.push(Effect::Wake { id, after })?;
        self.pauses.insert(id);
        Ok(id)
    }

    /// `channel.cancel`.
    pub fn cancel(&mut self, id: MessageId) -> Result<(), ChannelError> {
        if !self.asked.contains(&id) && !self.pauses.contains(&id) {
            return Err(ChannelError::UnknownMessage);
        }
        self.push(Effect::Cancel { id })
    }

    /// `channel.report-progress`.
    pub fn progress(&mut self, id: MessageId, progress: Progress) -> Result<(), ChannelError> {
        let call = self.messages.get(&id).filter(|entry| entry.own);
        call.ok_or(ChannelError::UnknownMessage)?;
        let numbers = [Some(progress.progress), progress.total];
        if !numbers.into_iter().flatten().all(f64::is_finite) {
            return invalid("progress is measured in finite numbers");
        }
        let length = progress.message.as_ref().map_or(0, String::len);
        if length > LONGEST_PROGRESS {
            let text = format!("a message about progress may have {LONGEST_PROGRESS} bytes");
            return invalid(text);
        }
        self.push(Effect::Progress { id, progress })
    }

    /// `channel.call-meta`.
    pub fn meta(&mut self, call: MessageId) -> Result<&str, ChannelError> {
        let entry = self.messages.get(&call).filter(|entry| entry.own);
        let entry = entry.ok_or(ChannelError::UnknownMessage)?;
        self.work.spend(entry.meta.len())?;
        Ok(&entry.meta)
    }

    /// `channel.ask-caller`.
    pub fn ask(
        &mut self,
        call: MessageId,
        method: &str,
        params: &str,
    ) -> Result<MessageId, ChannelError> {
        let entry = self.messages.get(&call).filter(|entry| entry.own);
        let entry = entry.ok_or(ChannelError::UnknownMessage)?;
        let Some(capability) = capability(method) else {
            let method = quote(method, MAX_QUOTE);
            return denied(format!("no caller supports the method {method}"));
        };
        if Offer::of(&entry.method) == Some(Offer::Completion) {
            return denied("a completion cannot ask its caller");
        }
        let capable = member(&entry.meta, CAPABILITIES);
        let capable = capable.and_then(|capable| member(capable, capability));
        if !capable.is_some_and(|capable| capable.starts_with('{')) {
            return denied(format!(
                "the caller did not say that it has the capability `{capability}`"
            ));
        }
        self.check_text(method.len() + params.len(), params)?;
        check_readers(&self.grant, method, params, &mut self.work)?;
        let message = Message::request(method, params);
        self.send_request(|id| Effect::Ask { id, call, message })
    }

    /// `channel.tools-changed` and its like.
    pub fn changed(&mut self, change: Change) -> Result<(), ChannelError> {
        self.may_speak()?;
        if !self.grant.has("tools") {
            return denied("none of its powers covers it: that takes `tools`");
        }
        if let Change::Resource(uri) = &change
            && uri.len() > LONGEST_URI
        {
            let text = format!("the URI of a resource may have {LONGEST_URI} bytes");
            return invalid(text);
        }
        self.push(Effect::Changed(change))
    }

    /// Checks the list that a call returns: its length, and that it is JSON.
    pub fn check_list(&mut self, text: &str) -> Result<(), ChannelError> {
        self.check_text(text.len(), text)
    }

    /// Checks a text of a message of this length: the length, and that the text is JSON.
    fn check_text(&mut self, length: usize, text: &str) -> Result<(), ChannelError> {
        check_length(length, self.limits.message)?;
        self.work.spend(text.len())?;
        check_json(text)
    }

    /// `channel.read`.
    pub fn read(&mut self, id: MessageId, pointer: &str) -> Result<Option<&str>, ChannelError> {
        let entry = self.messages.get(&id).ok_or(ChannelError::UnknownMessage)?;
        let Some(shown) = &entry.shown else {
            let subject = subject(&entry.message, entry.sender, &entry.method);
            return Err(allow(&self.grant, Actions::READ, &subject)
                .err()
                .unwrap_or(ChannelError::UnknownMessage));
        };
        self.work.look_up(shown.body(), pointer)?;
        if pointer == UPDATE_KIND {
            // It was found already where powers tell updates apart.
            return Ok(shown.update_text());
        }
        rpc::resolve(shown.body(), pointer)
            .map_err(|error| ChannelError::Invalid(error.to_string()))
    }

    /// `channel.save`.
    pub fn save(&mut self, state: String) -> Result<(), ChannelError> {
        if state.len() > self.limits.state {
            return Err(ChannelError::Full);
        }
        self.saved = Some(state);
        Ok(())
    }

    /// Removes a held message that is settled, or taken away by the host.
    pub fn let_go(&mut self, id: MessageId) {
        if let Some(entry) = self.messages.remove(&id).filter(|entry| entry.held) {
            self.held -= 1;
            self.held_bytes -= entry.cost();
        }
    }

    pub(super) fn may_speak(&self) -> Result<(), ChannelError> {
        if !self.started {
            return denied("nothing can be sent during init");
        }
        Ok(())
    }

    /// The proxy's own message, if it may send it in the name of the neighbour on its other side.
    fn outgoing(
        &mut self,
        to: Peer,
        make: fn(&str, &str) -> Message,
        method: &str,
        params: &str,
    ) -> Result<Message, ChannelError> {
        self.may_speak()?;
        if method.len() > LONGEST_METHOD || method.contains(char::is_control) {
            return invalid("not a valid method name");
        }
        let mut reserved = ["proxy/", "$/", HOOK].into_iter();
        if method == "initialize" || reserved.any(|start| method.starts_with(start)) {
            return denied(format!("{method} is the host's to send"));
        }
        self.check_text(method.len() + params.len(), params)?;
        let message = make(method, params);
        let subject = subject(&message, to.opposite(), method);
        allow(&self.grant, Actions::SEND, &subject)?;
        check_named(method, params)?;
        check_readers(&self.grant, method, params, &mut self.work)?;
        Ok(message)
    }

    fn push(&mut self, effect: Effect) -> Result<(), ChannelError> {
        let bytes = self.effect_bytes + effect.size();
        if self.effects.len() >= self.limits.emitted || bytes > self.limits.emitted_bytes {
            return Err(ChannelError::Full);
        }
        self.effect_bytes = bytes;
        self.effects.push(effect);
        Ok(())
    }
}

/// Whether a JSON text has more than [`MOST_VALUES`] values.
fn has_many_values(json: &str) -> bool {
    let (mut values, mut is_text, mut is_escaped) = (1, false, false);
    for byte in json.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => is_text = !is_text,
            b',' | b'[' | b'{' if !is_text => values += 1,
            _ => {}
        }
        if values > MOST_VALUES {
            return true;
        }
    }
    false
}

fn rules<'a>(limits: &Limits, grant: &'a Grant, entry: &'a Entry) -> Rules<'a> {
    Rules {
        grant,
        subject: subject(&entry.message, entry.sender, &entry.method),
        longest: limits.message,
        own: entry.own,
        sealed: entry.sealed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unstarted() -> Ledger {
        let limits = Limits {
            requests: 2,
            held: 1,
            held_bytes: 1000,
            emitted: 4,
            emitted_bytes: 1000,
            state: 10,
            ..Limits::default()
        };
        Ledger::new(1, limits.into(), Grant::unlimited().into())
    }

    fn ledger() -> Ledger {
        let mut ledger = unstarted();
        ledger.start();
        ledger
    }

    fn deliver(ledger: &mut Ledger, message: Message) -> MessageId {
        let id = ledger.allot();
        ledger.hand_in(&Delivery {
            id,
            sender: Peer::Client,
            method: message.method().clone(),
            session: None,
            message,
            with_body: true,
            sealed: false,
            is_replayed: false,
        });
        id
    }

    #[test]
    fn a_message_is_settled_once_and_only_while_it_is_held() {
        let mut ledger = ledger();
        let id = deliver(&mut ledger, Message::request("m", "{}"));
        assert_eq!(
            ledger.settle(id, Decision::Forward),
            Err(ChannelError::UnknownMessage)
        );
        ledger.take_back(id, Decision::Hold).unwrap();
        assert!(matches!(
            ledger.settle(id, Decision::Discard),
            Err(ChannelError::Invalid(_))
        ));
        assert!(matches!(
            ledger.settle(id, Decision::Replace("{".into())),
            Err(ChannelError::Invalid(_))
        ));
        assert_eq!(ledger.settle(id, Decision::Forward), Ok(()));
        assert_eq!(
            ledger.settle(id, Decision::Forward),
            Err(ChannelError::UnknownMessage)
        );
        assert_eq!(ledger.take_effects().0.len(), 1);
    }

    #[test]
    fn a_message_can_be_read_while_it_is_in_hand() {
        let mut ledger = ledger();
        let id = deliver(&mut ledger, Message::request("m", r#"{"a":[1]}"#));
        assert_eq!(ledger.read(id, "/a/0"), Ok(Some("1")));
        assert_eq!(ledger.read(id, "/b"), Ok(None));
        assert!(matches!(
            ledger.read(id, "b"),
            Err(ChannelError::Invalid(_))
        ));
        ledger.take_back(id, Decision::Forward).unwrap();
        assert_eq!(ledger.read(id, ""), Err(ChannelError::UnknownMessage));
    }

    #[test]
    fn nothing_is_sent_before_the_start_or_in_the_hosts_name() {
        let mut ledger = unstarted();
        assert!(matches!(
            ledger.notify(Peer::Agent, "m", "{}"),
            Err(ChannelError::Denied(_))
        ));
        ledger.start();
        for method in [
            "initialize",
            "proxy/successor",
            "$/cancel_request",
            "_acp-chain/hook/before_tool",
        ] {
            let denied = ledger.request(Peer::Agent, method, "{}");
            assert!(matches!(denied, Err(ChannelError::Denied(_))), "{method}");
        }
        assert!(matches!(
            ledger.notify(Peer::Agent, "m", "x"),
            Err(ChannelError::Invalid(_))
        ));
        assert_eq!(ledger.notify(Peer::Agent, "m", "null"), Ok(()));
    }

    #[test]
    fn parameters_of_the_protocol_are_no_list() {
        let mut ledger = ledger();
        let listed = ledger.notify(Peer::Client, "session/update", " [\"s\",[\"plan\"]]");
        assert!(
            matches!(listed, Err(ChannelError::Invalid(_))),
            "{listed:?}"
        );
        assert_eq!(ledger.notify(Peer::Client, "_list", "[1]"), Ok(()));
    }

    #[test]
    fn bounds_hold() {
        let mut ledger = ledger();
        let first = ledger.request(Peer::Client, "m", "{}").unwrap();
        ledger.request(Peer::Client, "m", "{}").unwrap();
        assert_eq!(
            ledger.request(Peer::Client, "m", "{}"),
            Err(ChannelError::Full)
        );
        ledger.answered(first);
        assert_eq!(ledger.cancel(first), Err(ChannelError::UnknownMessage));
        let one = deliver(&mut ledger, Message::notification("m", "{}"));
        let two = deliver(&mut ledger, Message::notification("m", "{}"));
        ledger.take_back(one, Decision::Hold).unwrap();
        assert!(matches!(
            ledger.take_back(two, Decision::Hold),
            Err(ChannelError::Full)
        ));
        ledger.settle(one, Decision::Discard).unwrap();
        ledger.take_effects();
        let long = Message::notification("m", &format!("[{}]", "0,".repeat(500) + "0"));
        let long = deliver(&mut ledger, long);
        assert!(matches!(
            ledger.take_back(long, Decision::Hold),
            Err(ChannelError::Full)
        ));
        for _ in 0..3 {
            ledger.notify(Peer::Client, "m", "{}").unwrap();
        }
        ledger.notify(Peer::Client, "m", "{}").unwrap();
        assert_eq!(
            ledger.notify(Peer::Client, "m", "{}"),
            Err(ChannelError::Full)
        );
    }

    #[test]
    fn a_state_is_kept_until_the_next_one_and_within_its_limit() {
        let mut ledger = ledger();
        ledger.save("one".to_owned()).unwrap();
        ledger.save("two".to_owned()).unwrap();
        assert_eq!(ledger.save("x".repeat(11)), Err(ChannelError::Full));
        assert_eq!(ledger.take_effects().1.as_deref(), Some("two"));
        assert_eq!(ledger.take_effects().1, None);
    }

    #[test]
    fn a_caller_gets_only_requests_that_its_capabilities_cover_and_only_during_its_call() {
        let mut ledger = ledger();
        let meta =
            r#"{"x":1,"io.modelcontextprotocol/clientCapabilities":{"roots":{},"sampling":7}}"#;
        let mut call = |method: &str| {
            let id = ledger.allot();
            ledger.hand_in_call(id, &method.into(), "{}", meta);
            id
        };
        let (tool, completion) = (call("tools/call"), call("completion/complete"));
        let message = deliver(&mut ledger, Message::request("m", "{}"));
        assert_eq!(ledger.meta(tool), Ok(meta));
        assert_eq!(ledger.meta(message), Err(ChannelError::UnknownMessage));
        assert!(ledger.ask(tool, "roots/list", "null").is_ok());
        for (call, method) in [
            (tool, "sampling/createMessage"),
            (tool, "elicitation/create"),
            (tool, "tools/list"),
            (completion, "roots/list"),
        ] {
            let asked = ledger.ask(call, method, "{}");
            assert!(matches!(asked, Err(ChannelError::Denied(_))), "{method}");
        }
        let asked = ledger.ask(message, "roots/list", "{}");
        assert_eq!(asked, Err(ChannelError::UnknownMessage));
        assert!(matches!(
            ledger.ask(tool, "roots/list", "{"),
            Err(ChannelError::Invalid(_))
        ));
        ledger.ask(tool, "roots/list", "{}").unwrap();
        assert_eq!(
            ledger.ask(tool, "roots/list", "{}"),
            Err(ChannelError::Full)
        );
        assert_eq!(ledger.take_effects().0.len(), 2);
        // Once the call is settled, there is no caller.
        ledger
            .take_back(tool, Decision::Respond("{}".into()))
            .unwrap();
        let asked = ledger.ask(tool, "roots/list", "{}");
        assert_eq!(asked, Err(ChannelError::UnknownMessage));
    }

    #[test]
    fn a_proxy_without_powers_sends_nothing() {
        let mut ledger = Ledger::new(1, Limits::default().into(), Grant::default().into());
        ledger.start();
        let denied = ledger.notify(Peer::Client, "session/update", "{}");
        assert!(matches!(denied, Err(ChannelError::Denied(_))));
        let denied = ledger.request(Peer::Client, "fs/read_text_file", "{}");
        assert!(matches!(denied, Err(ChannelError::Denied(_))));
        assert!(ledger.take_effects().0.is_empty());
    }

    #[test]
    fn parts_that_no_power_shows_are_hidden() {
        let limits = Limits {
            body: 1 << 20,
            ..Limits::default()
        };
        let grant = Grant::new("me", ["session-setup.read"], Vec::new()).unwrap();
        let mut ledger = Ledger::new(1, limits.into(), grant.into());
        let mut shown = |params: &str| {
            let id = deliver(&mut ledger, Message::request("session/new", params));
            ledger.read(id, "").unwrap().unwrap().to_owned()
        };
        assert_eq!(
            shown(
                r#"{"cwd":"/p","mcpServers":[{"name":"m","command":"s","oauth":{"token":"s"},"env":[{"name":"A","value":"s"}]}],"_meta":{"k":"s"},"token":"s"}"#
            ),
            r#"{"cwd":"/p","mcpServers":[{"name":"m","command":"[hidden]","oauth":{},"env":[]}],"_meta":{},"token":"[hidden]"}"#
        );
        let long = format!(r#"{{"cwd":"{}"}}"#, "x".repeat(2 << 20));
        assert_eq!(shown(&long), MASK);
        let many = format!(r#"{{"cwd":"/p","n":[{}0]}}"#, "0,".repeat(20_000));
        assert_eq!(shown(&many), MASK);
        let commas = format!(r#"{{"cwd":"\"{}"}}"#, ",".repeat(20_000));
        assert_eq!(shown(&commas), commas);
    }

    #[test]
    fn the_bytes_read_for_a_call_are_bounded() {
        let mut ledger = ledger();
        let long = format!(r#"{{"a":{{"b":"{}"}}}}"#, "x".repeat(60 << 20));
        let id = deliver(&mut ledger, Message::request("m", &long));
        assert!(ledger.read(id, "/a/b").is_ok());
        assert!(ledger.read(id, "/a/b").is_ok());
        assert_eq!(ledger.read(id, "/a/b"), Err(ChannelError::Full));
        ledger.take_effects();
        assert!(ledger.read(id, "/a/b").is_ok());
        let deep = "/a".repeat(63);
        assert_eq!(ledger.read(id, &deep), Err(ChannelError::Full));
        let pointer = "/".repeat(5000);
        assert!(matches!(
            ledger.read(id, &pointer),
            Err(ChannelError::Invalid(_))
        ));
        let method = "m".repeat(257);
        let told = ledger.notify(Peer::Agent, &method, "null");
        assert!(matches!(told, Err(ChannelError::Invalid(_))));
    }
}
