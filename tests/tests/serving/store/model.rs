//! Any sequence of calls has the results of a simple model, in both engines. Each sequence has names of its own, so
//! that one store serves all.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use acp_chain_store::{
    Answer, Call, Fence, Holder, LeaseName, PromptState, SlotLimit, Store, TakeRule, UsedSlots,
};
use acp_chain_tests::postgres::start_postgres;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tokio::runtime::Builder;

use super::{LONG, embedded, postgres};

const REPLICAS: [&str; 2] = ["a", "b"];
const USERS: [&str; 2] = ["ann", "bob"];
/// Names of sessions, by what distinguishes them, and their spellings.
const SESSIONS: [(&str, &str); 3] = [("one", "one"), ("one", "ONE"), ("two", "two")];
const PROMPTS: [&str; 2] = ["k", "l"];
const TICKETS: [&str; 2] = ["t", "u"];

/// What is called. Numbers choose from the names; `is_old` is a number or a generation of before.
#[derive(Clone, Debug)]
enum Step {
    Register(usize, bool),
    Beat(usize, bool, bool),
    Leave(usize, bool),
    Whose(usize, usize),
    Take(usize, usize, usize, TakeRule, Option<u64>),
    Release(usize, usize, bool),
    LeaseOf(usize, usize, usize, bool),
    Begin(usize, usize, usize, usize, bool),
    End(usize, usize, usize, bool),
    Draw(usize, u64),
    GiveBack(usize, u64),
    /// A replica, a user, the slot's name, and the user's limit.
    Occupy(usize, usize, u64, u64),
    Vacate(usize, u64, bool),
    Slots(usize),
    /// Whether the user has waited for long.
    NextTurn(usize, bool),
    Issue(usize, usize),
    Redeem(usize),
    Revoke(usize),
    Revoked,
}

fn step() -> impl Strategy<Value = Step> {
    let (replica, user) = (0..REPLICAS.len(), 0..USERS.len());
    let (session, prompt) = (0..SESSIONS.len(), 0..PROMPTS.len());
    let is_old = prop::bool::weighted(0.2);
    let lives = prop::bool::weighted(0.8);
    let rule = prop_oneof![
        Just(TakeRule::New),
        Just(TakeRule::Unowned),
        Just(TakeRule::OwnedOnly)
    ];
    prop_oneof![
        3 => (replica.clone(), lives).prop_map(|(replica, lives)| Step::Register(replica, lives)),
        2 => (replica.clone(), is_old, lives)
            .prop_map(|(replica, is_old, lives)| Step::Beat(replica, is_old, lives)),
        1 => (replica.clone(), is_old).prop_map(|(replica, is_old)| Step::Leave(replica, is_old)),
        2 => (session.clone(), user.clone()).prop_map(|(session, user)| Step::Whose(session, user)),
        6 => (session.clone(), user.clone(), replica.clone(), rule, prop::option::weighted(0.2, 0..3_u64))
            .prop_map(|(session, user, replica, rule, most)| Step::Take(session, user, replica, rule, most)),
        1 => (session.clone(), user.clone(), is_old)
            .prop_map(|(session, user, is_old)| Step::Release(session, user, is_old)),
        2 => (session.clone(), user.clone(), replica.clone(), is_old)
            .prop_map(|(session, user, replica, is_old)| Step::LeaseOf(session, user, replica, is_old)),
        6 => (session.clone(), user.clone(), replica.clone(), prompt.clone(), is_old)
            .prop_map(|(session, user, replica, prompt, is_old)| Step::Begin(session, user, replica, prompt, is_old)),
        3 => (session, user.clone(), prompt, is_old)
            .prop_map(|(session, user, prompt, is_old)| Step::End(session, user, prompt, is_old)),
        2 => (user.clone(), 0..8_u64).prop_map(|(user, amount)| Step::Draw(user, amount)),
        1 => (user.clone(), 0..8_u64).prop_map(|(user, amount)| Step::GiveBack(user, amount)),
        4 => (replica.clone(), user.clone(), 0..3_u64, 0..4_u64)
            .prop_map(|(replica, user, slot, most)| Step::Occupy(replica, user, slot, most)),
        2 => (replica, 0..3_u64, is_old)
            .prop_map(|(replica, slot, is_old)| Step::Vacate(replica, slot, is_old)),
        1 => user.clone().prop_map(Step::Slots),
        2 => (user.clone(), any::<bool>()).prop_map(|(user, waits)| Step::NextTurn(user, waits)),
        1 => (0..TICKETS.len(), user.clone()).prop_map(|(ticket, user)| Step::Issue(ticket, user)),
        1 => (0..TICKETS.len()).prop_map(Step::Redeem),
        1 => user.clone().prop_map(Step::Revoke),
        1 => Just(Step::Revoked),
    ]
}

/// The session and the user of a lease.
type Leased = (&'static str, &'static str);

#[derive(Debug, Default)]
struct Model {
    /// What all names of this sequence begin with.
    prefix: String,
    /// The last number that was given.
    last: u64,
    /// The number of the last revocation before this sequence.
    before: u64,
    /// The generation of each replica, and whether it is alive.
    replicas: BTreeMap<usize, (u64, bool)>,
    /// The session, the user, and the spelling.
    owners: BTreeSet<(&'static str, &'static str, &'static str)>,
    /// The number of a lease, and its replica's generation.
    leases: BTreeMap<Leased, (u64, usize, u64)>,
    prompts: BTreeMap<(Leased, usize), (u64, PromptState)>,
    used: BTreeMap<usize, u64>,
    /// The replica and its generation, the slot's name, and what it counts for.
    slots: BTreeSet<(usize, u64, u64, &'static str)>,
    /// The users who had a turn from a line.
    served: BTreeSet<usize>,
    /// The owners of tickets.
    tickets: BTreeMap<usize, usize>,
    revoked: Vec<(u64, usize)>,
}

/// The limit of the budgets.
const LIMIT: u64 = 10;

/// A group of all users, and the limit of its slots.
const GROUP: (&str, u64) = ("staff", 3);

impl Model {
    fn named(&self, text: &str) -> String {
        format!("{}-{text}", self.prefix)
    }

    fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    fn name(&self, (session, user): Leased) -> LeaseName {
        LeaseName {
            agents: self.prefix.clone(),
            session: session.to_owned(),
            user: self.named(user),
        }
    }

    fn holder(&self, replica: usize, is_old: bool) -> Holder {
        let generation = self
            .replicas
            .get(&replica)
            .map_or(0, |(generation, _)| *generation);
        Holder {
            replica: self.named(REPLICAS[replica]),
            generation: generation.saturating_sub(u64::from(is_old)),
        }
    }

    fn is_alive(&self, replica: usize, is_old: bool) -> bool {
        !is_old && self.replicas.get(&replica).is_some_and(|(_, lives)| *lives)
    }

    fn fence(&self, leased: Leased, is_old: bool) -> Fence {
        let number = self.leases.get(&leased).map_or(0, |(number, ..)| *number);
        Fence {
            name: self.name(leased),
            number: number.saturating_sub(u64::from(is_old)),
        }
    }

    /// Whether the replica of a lease still has it.
    fn serves(&self, (_, replica, generation): (u64, usize, u64)) -> bool {
        self.replicas.get(&replica) == Some(&(generation, true))
    }

    /// The call, and what it returns: durations are 0.
    fn expect(&mut self, step: &Step) -> (Call, Answer) {
        match *step {
            Step::Register(replica, lives) => self.register(replica, lives),
            Step::Beat(replica, is_old, lives) => self.beat(replica, is_old, lives),
            Step::Leave(replica, is_old) => {
                let holder = self.holder(replica, is_old);
                if !is_old && let Some((_, lives)) = self.replicas.get_mut(&replica) {
                    *lives = false;
                }
                (Call::Leave { holder }, Answer::Done)
            }
            Step::Whose(session, user) => self.whose(session, user),
            Step::Take(session, user, replica, rule, most) => {
                self.take((session, user), replica, rule, most)
            }
            Step::Release(session, user, is_old) => {
                let leased = (SESSIONS[session].0, USERS[user]);
                let fence = self.fence(leased, is_old);
                if !is_old {
                    self.leases.remove(&leased);
                }
                (Call::Release { fence }, Answer::Done)
            }
            Step::LeaseOf(session, user, replica, is_old) => {
                self.lease_of((SESSIONS[session].0, USERS[user]), replica, is_old)
            }
            Step::Begin(session, user, replica, prompt, is_old) => {
                self.begin((SESSIONS[session].0, USERS[user]), replica, prompt, is_old)
            }
            Step::End(session, user, prompt, is_old) => {
                self.end((SESSIONS[session].0, USERS[user]), prompt, is_old)
            }
            Step::Draw(user, amount) => self.draw(user, amount),
            Step::GiveBack(user, amount) => self.give_back(user, amount),
            Step::Occupy(replica, user, slot, most) => self.occupy(replica, user, slot, most),
            Step::Vacate(replica, slot, is_old) => {
                let holder = self.holder(replica, is_old);
                let vacated = (replica, holder.generation, slot);
                self.slots.retain(|(replica, generation, slot, _)| {
                    (*replica, *generation, *slot) != vacated
                });
                (Call::Vacate { holder, slot }, Answer::Done)
            }
            Step::Slots(user) => self.slots(user),
            Step::NextTurn(user, waits) => {
                let had_one = !self.served.insert(user);
                let call = Call::NextTurn {
                    user: self.named(USERS[user]),
                    waited: if waits { LONG } else { 0 },
                };
                let answer = if had_one && waits {
                    Answer::HadTurn
                } else {
                    Answer::Done
                };
                (call, answer)
            }
            Step::Issue(ticket, user) => self.issue(ticket, user),
            Step::Redeem(ticket) => {
                let owner = self.tickets.remove(&ticket);
                let call = Call::Redeem {
                    ticket: self.named(TICKETS[ticket]),
                    seen: self.last,
                };
                let sealed = owner.map(|owner| self.named(USERS[owner]));
                (call, Answer::Sealed(sealed))
            }
            Step::Revoke(user) => {
                let number = self.next();
                self.revoked.push((number, user));
                let call = Call::Revoke {
                    kind: "user".to_owned(),
                    name: self.named(USERS[user]),
                };
                (call, Answer::Number(number))
            }
            Step::Revoked => {
                let revoked =
                    self.revoked
                        .iter()
                        .map(|(number, user)| acp_chain_store::Revocation {
                            number: *number,
                            kind: "user".to_owned(),
                            name: self.named(USERS[*user]),
                        });
                let since = self.before;
                (
                    Call::Revoked { since },
                    Answer::Revocations(revoked.collect()),
                )
            }
        }
    }

    fn register(&mut self, replica: usize, lives: bool) -> (Call, Answer) {
        let call = Call::Register {
            replica: self.named(REPLICAS[replica]),
            lease: if lives { LONG } else { 0 },
            seen: 0,
        };
        // It is drawn before it is known whether the name is free.
        let generation = self.next();
        if self.is_alive(replica, false) {
            return (call, Answer::NameTaken { again: 0 });
        }
        self.replicas.insert(replica, (generation, lives));
        (call, Answer::Registered { generation })
    }

    fn beat(&mut self, replica: usize, is_old: bool, lives: bool) -> (Call, Answer) {
        let call = Call::Beat {
            holder: self.holder(replica, is_old),
            lease: if lives { LONG } else { 0 },
            seen: self.last,
        };
        if !self.is_alive(replica, is_old) {
            return (call, Answer::Gone);
        }
        if let Some((_, alive)) = self.replicas.get_mut(&replica) {
            *alive = lives;
        }
        let newest = self
            .revoked
            .last()
            .map_or(self.before, |(number, _)| *number);
        let answer = Answer::Beaten {
            last: self.last,
            revocation: newest,
        };
        (call, answer)
    }

    fn whose(&self, session: usize, user: usize) -> (Call, Answer) {
        let ((session, spelling), user) = (SESSIONS[session], USERS[user]);
        let call = Call::Whose {
            name: self.name((session, user)),
            spelling: spelling.to_owned(),
        };
        let mut owners = self.owners.iter().filter(|(of, ..)| *of == session);
        let answer = Answer::Owned {
            exactly: self.owners.contains(&(session, user, spelling)),
            alike: owners.clone().any(|(_, owner, _)| *owner == user),
            by_others: owners.any(|(_, owner, _)| *owner != user),
        };
        (call, answer)
    }

    fn take(
        &mut self,
        (session, user): (usize, usize),
        replica: usize,
        rule: TakeRule,
        most: Option<u64>,
    ) -> (Call, Answer) {
        let (_, owned) = self.whose(session, user);
        let ((session, spelling), user) = (SESSIONS[session], USERS[user]);
        let leased = (session, user);
        let holder = self.holder(replica, false);
        let call = Call::Take {
            name: self.name(leased),
            spelling: spelling.to_owned(),
            holder: holder.clone(),
            rule,
            most,
            seen: self.last,
        };
        if !self.is_alive(replica, false) {
            return (call, Answer::Gone);
        }
        if let Answer::Owned {
            exactly,
            alike,
            by_others,
        } = owned
        {
            if by_others && !exactly && rule != TakeRule::New {
                return (call, Answer::Foreign);
            }
            if !alike && rule == TakeRule::OwnedOnly {
                return (call, Answer::Unknown);
            }
        }
        let lease = self.leases.get(&leased).copied();
        let by = (replica, holder.generation);
        let is_ours = lease.is_some_and(|(_, replica, generation)| (replica, generation) == by);
        if !is_ours && lease.is_some_and(|lease| self.serves(lease)) {
            return (call, Answer::Held { again: 0 });
        }
        let others = self
            .leases
            .iter()
            .filter(|(other, lease)| other.1 == user && **other != leased && self.serves(**lease));
        if !is_ours && most.is_some_and(|most| others.count() as u64 >= most) {
            return (call, Answer::Full);
        }
        let number = self.next();
        self.leases
            .insert(leased, (number, replica, holder.generation));
        self.owners.insert((session, user, spelling));
        let mut lost = 0;
        for ((of, _), (_, state)) in &mut self.prompts {
            if *of == leased && *state == PromptState::UnderWay {
                *state = PromptState::Lost;
                lost += 1;
            }
        }
        (call, Answer::Leased { number, lost })
    }

    fn lease_of(&self, leased: Leased, replica: usize, is_old: bool) -> (Call, Answer) {
        let holder = self.holder(replica, is_old);
        let by = (replica, holder.generation);
        let lease = self.leases.get(&leased).copied();
        let lease = lease.filter(|(_, replica, generation)| (*replica, *generation) == by);
        let call = Call::LeaseOf {
            name: self.name(leased),
            holder,
        };
        (call, Answer::Number(lease.map_or(0, |(number, ..)| number)))
    }

    fn begin(
        &mut self,
        leased: Leased,
        replica: usize,
        prompt: usize,
        is_old: bool,
    ) -> (Call, Answer) {
        let (fence, holder) = (self.fence(leased, is_old), self.holder(replica, false));
        let call = Call::Begin {
            fence: fence.clone(),
            holder: holder.clone(),
            prompt: PROMPTS[prompt].to_owned(),
            seen: self.last,
        };
        let lease = self.leases.get(&leased).copied();
        let is_held = lease.is_some_and(|lease| {
            lease == (fence.number, replica, holder.generation) && self.serves(lease)
        });
        if is_old || !is_held {
            return (call, Answer::Fenced);
        }
        let known = self.prompts.get(&(leased, prompt)).map(|(_, state)| *state);
        if let Some(state) = known {
            return (call, Answer::Prompt(state));
        }
        let begun = (fence.number, PromptState::UnderWay);
        self.prompts.insert((leased, prompt), begun);
        let number = self.next();
        (call, Answer::Begun { number })
    }

    fn end(&mut self, leased: Leased, prompt: usize, is_old: bool) -> (Call, Answer) {
        let fence = self.fence(leased, is_old);
        let call = Call::End {
            fence: fence.clone(),
            prompt: PROMPTS[prompt].to_owned(),
        };
        let is_leased = !is_old && self.leases.contains_key(&leased);
        match self.prompts.get_mut(&(leased, prompt)) {
            Some((number, state))
                if is_leased && *number == fence.number && *state == PromptState::UnderWay =>
            {
                *state = PromptState::Done;
                (call, Answer::Done)
            }
            _ => (call, Answer::Fenced),
        }
    }

    /// What is sealed is the owner's name.
    fn issue(&mut self, ticket: usize, user: usize) -> (Call, Answer) {
        let owner = self.named(USERS[user]);
        // No two tickets are alike but here, and then the first one counts.
        self.tickets.entry(ticket).or_insert(user);
        let call = Call::Issue {
            ticket: self.named(TICKETS[ticket]),
            user: owner.clone(),
            sealed: owner,
            life: LONG,
        };
        (call, Answer::Done)
    }

    fn give_back(&mut self, user: usize, amount: u64) -> (Call, Answer) {
        let drawn = self.used.entry(user).or_default();
        *drawn = drawn.saturating_sub(amount);
        let call = Call::GiveBack {
            account: self.named(USERS[user]),
            kind: "prompts".to_owned(),
            period: 0,
            amount,
        };
        (call, Answer::Done)
    }

    fn occupy(&mut self, replica: usize, user: usize, slot: u64, most: u64) -> (Call, Answer) {
        let holder = self.holder(replica, false);
        let limit = |kind: &str, account: &str, most| SlotLimit {
            kind: kind.to_owned(),
            account: self.named(account),
            most,
        };
        let call = Call::Occupy {
            holder: holder.clone(),
            slot,
            limits: vec![
                limit("turns-of-group", GROUP.0, GROUP.1),
                limit("turns", USERS[user], most),
            ],
        };
        if !self.is_alive(replica, false) {
            return (call, Answer::Gone);
        }
        if self.occupied(USERS[user]) >= most || self.occupied(GROUP.0) >= GROUP.1 {
            return (call, Answer::Full);
        }
        for account in [USERS[user], GROUP.0] {
            self.slots
                .insert((replica, holder.generation, slot, account));
        }
        (call, Answer::Done)
    }

    fn slots(&self, user: usize) -> (Call, Answer) {
        let account = self.named(USERS[user]);
        let call = Call::Slots {
            account: Some(account.clone()),
        };
        let slots = UsedSlots {
            account,
            kind: "turns".to_owned(),
            used: self.occupied(USERS[user]),
        };
        let list = Some(slots).filter(|slots| slots.used > 0);
        (call, Answer::Slots(list.into_iter().collect()))
    }

    /// How many slots an account has at replicas that are alive.
    fn occupied(&self, account: &str) -> u64 {
        let slots = self.slots.iter();
        let counts = slots.filter(|(replica, generation, _, of)| {
            *of == account && self.replicas.get(replica) == Some(&(*generation, true))
        });
        counts.count() as u64
    }

    fn draw(&mut self, user: usize, amount: u64) -> (Call, Answer) {
        let drawn = self.used.entry(user).or_default();
        let granted = amount.min(LIMIT.saturating_sub(*drawn));
        *drawn += granted;
        let call = Call::Draw {
            account: self.named(USERS[user]),
            kind: "prompts".to_owned(),
            period: 0,
            limit: LIMIT,
            amount,
        };
        (call, Answer::Drawn { granted, again: 0 })
    }
}

/// An answer without the durations that depend on the time.
fn timeless(answer: Answer) -> Answer {
    match answer {
        Answer::Held { .. } => Answer::Held { again: 0 },
        Answer::NameTaken { .. } => Answer::NameTaken { again: 0 },
        Answer::Drawn { granted, .. } => Answer::Drawn { granted, again: 0 },
        other => other,
    }
}

/// Plays sequences of calls to a store that nothing else uses.
fn play(mut store: impl Store, cases: u32, runtime: &tokio::runtime::Runtime) {
    let sequences = Cell::new(0_u32);
    let store = std::cell::RefCell::new(&mut store);
    let config = Config {
        cases,
        // The store goes on, and names with it.
        failure_persistence: None,
        ..Config::default()
    };
    let steps = prop::collection::vec(step(), 1..60);
    let mut runner = TestRunner::new(config);
    let ran = runner.run(&steps, |steps| {
        let mut store = store.borrow_mut();
        sequences.set(sequences.get() + 1);
        let mut model = Model {
            prefix: format!("case-{}", sequences.get()),
            ..Model::default()
        };
        // Two that are not of this sequence say where the numbers are.
        let watcher = Call::Register {
            replica: model.named("watcher"),
            lease: LONG,
            seen: 0,
        };
        let Answer::Registered { generation } =
            runtime.block_on(store.carry_out(&watcher)).unwrap()
        else {
            panic!("it has a name of its own")
        };
        let beat = Call::Beat {
            holder: Holder {
                replica: model.named("watcher"),
                generation,
            },
            lease: LONG,
            seen: 0,
        };
        let Answer::Beaten { last, revocation } = runtime.block_on(store.carry_out(&beat)).unwrap()
        else {
            panic!("it is alive")
        };
        (model.last, model.before) = (last, revocation);
        for step in &steps {
            let (call, expected) = model.expect(step);
            let answer = runtime.block_on(store.carry_out(&call)).unwrap();
            prop_assert_eq!(timeless(answer), expected, "{:?}", call);
        }
        Ok(())
    });
    ran.unwrap_or_else(|failed| panic!("{failed}"));
}

#[test]
fn a_file_has_the_results_of_the_model() {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    play(embedded(folder.path()), 48, &runtime);
}

#[test]
fn postgres_has_the_results_of_the_model() {
    let server = start_postgres();
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let store = runtime.block_on(postgres(&server.url()));
    play(store, 96, &runtime);
}
