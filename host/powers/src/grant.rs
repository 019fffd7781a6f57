//! The permissions that a user grants to a proxy.

use acp_chain_acp::HOOK;
use foldhash::HashMap;

use crate::{
    Actions, Cover, FIXED, Kind, Kinds, Pattern, Peer, Places, Power, Subject, TABLE, Updates,
};

/// Powers, and methods by name.
#[derive(Clone, Debug, Default)]
pub struct Grant {
    /// For the host's tests, and for programs without a sandbox.
    unlimited: bool,
    powers: Vec<&'static Power>,
    methods: Vec<NamedMethods>,
    covers: HashMap<&'static str, Vec<&'static Cover>>,
    /// Methods of whose bodies only some places can be read.
    partly: Vec<&'static str>,
    /// Whether all of every `session/update` can be read, so that its kind need not be parsed.
    all_updates: bool,
    own: String,
}

/// Methods that no power covers, and the permitted actions on their messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedMethods {
    pub methods: Pattern,
    pub actions: Actions,
}

/// Which part of a message's body a proxy can read.
#[derive(Debug)]
pub enum Sight<'g> {
    Nothing,
    /// Only these places.
    Part(Places<'g>),
    All,
}

/// Why a grant is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GrantError {
    #[error(
        "there is no power `{0}`; did you mean `{1}`? `acp-chain powers` lists them all; one that is \
         newer than this version needs a newer acp-chain"
    )]
    Unknown(String, &'static str),
    #[error("the power `{0}` is named twice")]
    Twice(&'static str),
    /// A power lacks the power that it needs.
    #[error("the power `{0}` makes no sense without `{1}`; name both, or neither")]
    Lacks(&'static str, &'static str),
    /// Methods with powers are not granted by name.
    #[error("`{0}` belongs to the protocol, and is granted by powers: {1}")]
    Covered(String, String),
    /// A method of the host cannot be granted.
    #[error("`{0}` is the host's own, and cannot be granted to a proxy")]
    Host(String),
}

impl Grant {
    /// A grant of these powers, and of these methods, for the proxy with this id.
    pub fn new<'k>(
        id: &str,
        keys: impl IntoIterator<Item = &'k str>,
        methods: Vec<NamedMethods>,
    ) -> Result<Self, GrantError> {
        let mut grant = Self {
            own: format!("acp-chain/{id}"),
            ..Self::default()
        };
        for key in keys {
            let power = Power::named(key)
                .ok_or_else(|| GrantError::Unknown(key.to_owned(), Power::nearest(key)))?;
            if grant.has(power.key) {
                return Err(GrantError::Twice(power.key));
            }
            grant.add(power);
        }
        for power in &grant.powers {
            if let Some(needed) = power.needs.filter(|needed| !grant.has(needed)) {
                return Err(GrantError::Lacks(power.key, needed));
            }
        }
        for named in &methods {
            check_name(&named.methods)?;
        }
        grant.methods = methods;
        Ok(grant.ready())
    }

    fn add(&mut self, power: &'static Power) {
        self.powers.push(power);
        for cover in power.covers {
            for method in cover.methods {
                self.covers.entry(method).or_default().push(cover);
                if cover.shown.is_some() && !self.partly.contains(method) {
                    self.partly.push(method);
                }
            }
        }
    }

    /// The grant with its fast path for updates.
    fn ready(mut self) -> Self {
        let kinds = acp_chain_acp::UPDATES.iter().map(|name| Some(*name));
        let mut updates = kinds.chain([None]).map(|update| Subject {
            sender: Peer::Agent,
            kind: Kind::Notification,
            method: "session/update",
            update,
            is_replayed: false,
        });
        self.all_updates = updates.all(|update| matches!(self.sight(&update), Sight::All));
        self
    }

    /// All powers, for the proxy with this id.
    pub fn all_powers(id: &str) -> Self {
        let mut grant = Self {
            own: format!("acp-chain/{id}"),
            ..Self::default()
        };
        Power::all().for_each(|power| grant.add(power));
        grant.ready()
    }

    /// All powers, and all actions on every method.
    pub fn unlimited() -> Self {
        Self {
            unlimited: true,
            powers: Power::all().collect(),
            ..Self::default()
        }
    }

    pub fn has(&self, key: &str) -> bool {
        self.powers.iter().any(|power| power.key == key)
    }

    /// In the order in which they were named.
    pub fn powers(&self) -> &[&'static Power] {
        &self.powers
    }

    /// The methods that are granted by name.
    pub fn methods(&self) -> &[NamedMethods] {
        &self.methods
    }

    /// Whether updates of different kinds are covered differently, so that their kind must be parsed.
    pub fn tells_updates_apart(&self) -> bool {
        !self.unlimited && !self.all_updates
    }

    pub fn is_unlimited(&self) -> bool {
        self.unlimited
    }

    /// Whether it covers any of these actions on a message.
    pub fn covers(&self, actions: Actions, subject: &Subject) -> bool {
        if self.unlimited || actions.intersects(Actions::READ) && self.reads_every(subject) {
            return true;
        }
        match self.covers.get(subject.method) {
            Some(covers) => {
                let mut covers = covers.iter();
                covers.any(|cover| cover.actions.intersects(actions) && cover.is_about(subject))
            }
            None => self.by_name(subject.method).intersects(actions),
        }
    }

    /// The places of a message that may change.
    pub fn changeable(&self, subject: &Subject) -> Places<'_> {
        let everything = self.unlimited || self.by_name(subject.method).intersects(Actions::CHANGE);
        let places = self.about(Actions::CHANGE, subject);
        let places = places.flat_map(|cover| cover.places).copied();
        Places::new(places.chain(everything.then_some("")), &self.own)
    }

    /// Which part of a message's body can be read.
    pub fn sight(&self, subject: &Subject) -> Sight<'_> {
        if self.reads_every(subject) {
            return Sight::All;
        }
        if !self.covers(Actions::READ, subject) {
            return Sight::Nothing;
        }
        if !self.partly.contains(&subject.method) {
            return Sight::All;
        }
        let shown: Option<Vec<_>> = self
            .about(Actions::READ, subject)
            .map(|cover| cover.shown)
            .collect();
        shown.map_or(Sight::All, |shown| {
            Sight::Part(Places::new(shown.into_iter().flatten().copied(), &self.own))
        })
    }

    /// Whether all of every such message can be read. A fast path for the most frequent messages.
    fn reads_every(&self, subject: &Subject) -> bool {
        self.unlimited || self.all_updates && is_update(subject)
    }

    fn about(&self, actions: Actions, subject: &Subject) -> impl Iterator<Item = &'static Cover> {
        let covers = self.covers.get(subject.method).into_iter().flatten();
        let subject = *subject;
        covers
            .copied()
            .filter(move |cover| cover.actions.intersects(actions) && cover.is_about(&subject))
    }

    /// The actions on a method that is granted by name. A pattern such as `_*` does not reach the agent's hooks: only
    /// powers cover those.
    fn by_name(&self, method: &str) -> Actions {
        if method.starts_with(HOOK) {
            return Actions::empty();
        }
        let named = self
            .methods
            .iter()
            .filter(|named| named.methods.covers(method));
        named.map(|named| named.actions).collect()
    }
}

fn is_update(subject: &Subject) -> bool {
    subject.sender == Peer::Agent
        && subject.kind == Kind::Notification
        && subject.method == "session/update"
}

/// An error if such methods are granted by powers, or are the host's.
fn check_name(methods: &Pattern) -> Result<(), GrantError> {
    for fixed in FIXED {
        let fixed_methods = fixed.methods.iter().filter(|_| fixed.places.is_empty());
        if fixed_methods.copied().any(|method| methods.covers(method)) {
            return Err(GrantError::Host(methods.to_string()));
        }
    }
    let is_of_hooks = methods.name().starts_with(HOOK);
    let is_named =
        |method: &str| methods.covers(method) && (is_of_hooks || !method.starts_with(HOOK));
    let powers: Vec<_> = Power::all()
        .filter(|power| power.methods().any(is_named))
        .map(|power| format!("`{}`", power.key))
        .collect();
    if !powers.is_empty() {
        Err(GrantError::Covered(methods.to_string(), powers.join(", ")))
    } else if is_of_hooks {
        Err(GrantError::Host(methods.to_string()))
    } else {
        Ok(())
    }
}

/// The error text for a missing permission: which powers would allow one of these actions on such a message.
pub fn lacking(actions: Actions, subject: &Subject) -> String {
    let Subject { sender, method, .. } = subject;
    let wanted = Power::all().filter(|power| {
        let mut covers = power.covers.iter();
        covers.any(|cover| {
            cover.actions.intersects(actions)
                && cover.methods.contains(method)
                && cover.is_about(subject)
        })
    });
    let wanted: Vec<_> = wanted.map(|power| format!("`{}`", power.key)).collect();
    let verb = actions.names().join("/");
    let from = sender.as_str();
    if !wanted.is_empty() {
        format!(
            "to {verb} {method:?} from the {from} takes {}",
            wanted.join(" or ")
        )
    } else if is_in_protocol(method) {
        format!("no proxy may {verb} {method:?} from the {from} in this form")
    } else {
        format!(
            "to {verb} {method:?}, which is not of the protocol, takes its name under `methods`"
        )
    }
}

/// Whether the protocol has a method.
fn is_in_protocol(method: &str) -> bool {
    Power::all()
        .flat_map(Power::methods)
        .any(|known| known == method)
}

impl Power {
    /// All powers, by topic.
    pub fn all() -> impl Iterator<Item = &'static Power> {
        TABLE.iter().copied().flatten()
    }

    /// The power with this key.
    pub fn named(key: &str) -> Option<&'static Power> {
        Self::all().find(|power| power.key == key)
    }

    /// The most similar key.
    pub fn nearest(key: &str) -> &'static str {
        let like = |power: &Power| strsim::jaro_winkler(power.key, key);
        let nearest = Self::all().max_by(|one, two| like(one).total_cmp(&like(two)));
        nearest.map_or("", |power| power.key)
    }

    /// The covered methods, possibly with duplicates.
    pub fn methods(&self) -> impl Iterator<Item = &'static str> {
        self.covers.iter().flat_map(|cover| cover.methods).copied()
    }

    /// The actions on any of the covered messages.
    pub fn actions(&self) -> Actions {
        self.covers.iter().map(|cover| cover.actions).collect()
    }
}

impl Cover {
    /// Whether it covers messages of these methods and kinds from this sender; from any sender without one.
    pub fn meets(&self, methods: &Pattern, sender: Option<Peer>, kinds: Kinds) -> bool {
        self.kinds.intersects(kinds)
            && sender.is_none_or(|sender| sender == self.sender)
            && self.methods.iter().any(|method| methods.covers(method))
    }

    /// The covered updates, as text.
    pub fn updates_in_words(&self) -> String {
        match self.updates {
            Updates::None => String::new(),
            Updates::Of(list) => list.join(", "),
            Updates::Replayed(list) => {
                format!("{}, while their session is being opened", list.join(", "))
            }
            Updates::Unknown => "updates of other kinds".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acp_chain_acp::{AFTER_TOOL, BEFORE_TOOL};

    fn subject(sender: Peer, kind: Kind, method: &str) -> Subject<'_> {
        Subject {
            sender,
            kind,
            method,
            update: None,
            is_replayed: false,
        }
    }

    fn grant(keys: &[&str]) -> Grant {
        Grant::new("me", keys.iter().copied(), Vec::new()).unwrap()
    }

    fn named(pattern: &str, actions: Actions) -> NamedMethods {
        NamedMethods {
            methods: Pattern::new(pattern).unwrap(),
            actions,
        }
    }

    #[test]
    fn the_default_grants_nothing() {
        let none = Grant::default();
        for sender in [Peer::Client, Peer::Agent] {
            for kind in [Kind::Request, Kind::Notification, Kind::Result, Kind::Error] {
                for method in ["session/prompt", "session/update", "initialize", "_x", ""] {
                    assert!(!none.covers(Actions::all(), &subject(sender, kind, method)));
                }
            }
        }
    }

    #[test]
    fn a_power_covers_one_direction_and_kind() {
        let grant = grant(&["prompts.change"]);
        let prompt = subject(Peer::Client, Kind::Request, "session/prompt");
        assert!(grant.covers(Actions::CHANGE, &prompt));
        assert!(!grant.covers(Actions::READ | Actions::ANSWER | Actions::SEND, &prompt));
        assert!(grant.changeable(&prompt).contain("/prompt/0"));
        for other in [
            subject(Peer::Agent, Kind::Request, "session/prompt"),
            subject(Peer::Client, Kind::Notification, "session/prompt"),
            subject(Peer::Agent, Kind::Result, "session/prompt"),
        ] {
            assert!(!grant.covers(Actions::all(), &other));
            assert!(grant.changeable(&other).is_empty());
        }
    }

    #[test]
    fn a_power_over_updates_covers_only_their_kinds() {
        let update = |update| Subject {
            update,
            ..subject(Peer::Agent, Kind::Notification, "session/update")
        };
        let grant = grant(&["answers.read", "other-updates.read"]);
        assert!(grant.tells_updates_apart());
        assert!(grant.covers(Actions::READ, &update(Some("agent_message_chunk"))));
        assert!(grant.covers(Actions::READ, &update(Some("_of_tomorrow"))));
        assert!(grant.covers(Actions::READ, &update(None)));
        assert!(!grant.covers(Actions::READ, &update(Some("tool_call"))));
    }

    #[test]
    fn a_power_over_history_covers_only_what_is_replayed() {
        let grant = grant(&["history.read"]);
        assert!(grant.tells_updates_apart());
        for (update, is_replayed, expected) in [
            (Some("user_message_chunk"), true, true),
            (Some("agent_message_chunk"), true, true),
            (Some("agent_message_chunk"), false, false),
            (Some("tool_call"), true, false),
            (None, true, false),
        ] {
            let subject = Subject {
                update,
                is_replayed,
                ..subject(Peer::Agent, Kind::Notification, "session/update")
            };
            assert_eq!(
                grant.covers(Actions::READ, &subject),
                expected,
                "{subject:?}"
            );
            assert!(!grant.covers(Actions::DECIDE, &subject), "{subject:?}");
        }
    }

    #[test]
    fn secrets_are_hidden_without_the_power_to_read_them() {
        let new = subject(Peer::Client, Kind::Request, "session/new");
        assert!(matches!(
            grant(&["session-setup.read"]).sight(&new),
            Sight::Part(_)
        ));
        let secrets = grant(&["session-setup.read", "session-setup.secrets"]);
        assert!(matches!(secrets.sight(&new), Sight::All));
        let lacks = Grant::new("me", ["session-setup.secrets"], Vec::new()).unwrap_err();
        assert_eq!(
            lacks,
            GrantError::Lacks("session-setup.secrets", "session-setup.read")
        );
    }

    #[test]
    fn a_method_of_no_schema_is_granted_by_its_name() {
        let grant = Grant::new("me", [], vec![named("_vendor/*", Actions::READ)]).unwrap();
        let ask = subject(Peer::Agent, Kind::Request, "_vendor/ask");
        assert!(grant.covers(Actions::READ, &ask) && !grant.covers(Actions::CHANGE, &ask));
        assert!(!grant.covers(
            Actions::READ,
            &subject(Peer::Agent, Kind::Request, "_other")
        ));
        for (pattern, error) in [
            (
                "session/prompt",
                "granted by powers: `prompts.read`, `prompts.change`",
            ),
            ("session/*", "belongs to the protocol"),
            ("*", "cannot be granted to a proxy"),
        ] {
            let told = Grant::new("me", [], vec![named(pattern, Actions::READ)]).unwrap_err();
            assert!(told.to_string().contains(error), "{told}");
        }
    }

    #[test]
    fn only_powers_cover_tool_runs() {
        let run = subject(Peer::Agent, Kind::Request, BEFORE_TOOL);
        let result = subject(Peer::Agent, Kind::Request, AFTER_TOOL);
        let everything = vec![named("_*", Actions::all())];
        let by_name = Grant::new("me", [], everything.clone()).unwrap();
        assert!(!by_name.covers(Actions::all(), &run));
        assert!(by_name.changeable(&run).is_empty());
        let reads = Grant::new("me", ["tool-runs.read"], everything).unwrap();
        assert!(reads.covers(Actions::READ, &run) && reads.changeable(&run).is_empty());
        assert!(!reads.covers(Actions::DECIDE | Actions::SEND, &run));
        assert!(!reads.covers(Actions::all(), &result));
        let refuses = grant(&["tool-runs.refuse"]);
        assert!(!refuses.covers(Actions::all() - Actions::REFUSE, &run));
        let changes = grant(&["tool-runs.change", "tool-results.change"]);
        assert!(
            changes
                .changeable(&run)
                .contain("/toolCall/rawInput/command")
        );
        assert!(!changes.changeable(&run).contain("/toolCall/title"));
        assert!(changes.changeable(&result).contain("/output/0"));
        assert!(!changes.changeable(&result).contain("/toolCall/rawInput"));
        assert!(!changes.covers(Actions::ANSWER | Actions::SEND, &result));
        for (pattern, expected) in [
            (BEFORE_TOOL, "granted by powers: `tool-runs.read`"),
            ("_acp-chain/hook/*", "granted by powers: `tool-runs.read`"),
            ("_acp-chain/hook/other", "cannot be granted to a proxy"),
        ] {
            let message = Grant::new("me", [], vec![named(pattern, Actions::READ)]).unwrap_err();
            assert!(message.to_string().contains(expected), "{message}");
        }
    }

    #[test]
    fn the_error_for_an_unknown_power_names_the_nearest() {
        let refused =
            |keys: &[&'static str]| Grant::new("me", keys.iter().copied(), Vec::new()).unwrap_err();
        let unknown = refused(&["prompt.read"]).to_string();
        assert!(
            unknown.contains("there is no power `prompt.read`; did you mean `prompts.read`?"),
            "{unknown}"
        );
        assert_eq!(refused(&["tools", "tools"]), GrantError::Twice("tools"));
    }
}
