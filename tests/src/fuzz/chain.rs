//! Chains of proxies that take any action, between ends that send any message.
//!
//! The bytes choose the next action. A [`model`] knows of each message only when it was sent, whether
//! it may be lost, and its expected body; the messages that leave the chain are checked against that.

mod ends;
mod model;
mod native;
mod projects;
mod proxy;
mod swaps;
mod values;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use acp_chain::chain::{Member, Native, Proxy, Router, Terms};
use acp_chain::channel::{FailurePolicy, Grant, Peer, Source};
use acp_chain::limits::Limits;
use acp_chain::native::Dialect;
use acp_chain::rpc::Error;
use tokio::sync::oneshot;

use self::model::Model;
use self::native::Program;
use self::projects::Finder;
use self::proxy::Script;

/// The most rounds until a chain is at rest at the end.
const PATIENCE: usize = 10_000;

/// The step in which a newer version of a proxy comes.
const SWAP: usize = usize::MAX;

/// Messages leave in order, unchanged or as a proxy changed them; every request gets exactly one
/// answer, whichever proxy breaks; no other message is lost.
///
/// The first byte chooses the number of proxies, whether the chain is a proxy, whether sessions have projects, and
/// whether newer versions of proxies come; one byte per proxy, its failure policy, and whether it is a program; the
/// others choose the steps. A message of a session passes the proxies of its project, and of no other.
///
/// # Panics
/// If this does not hold.
pub fn chain(data: &[u8]) {
    let world = World::new(data);
    let shape = world.lock().choose(256);
    let (count, is_proxy) = (shape % 4, shape / 4 % 4 == 3);
    let has_projects = !is_proxy && shape / 16 % 2 == 1;
    world.lock().model.has_projects = has_projects;
    let has_swaps = shape / 64 % 2 == 1;
    let members: Vec<_> = (0..count).map(|_| new_member(&world, None).1).collect();
    let is_native = |member: &Member| matches!(member, Member::Native(_));
    let programs = members.iter().enumerate();
    let programs = programs.map(|(hop, member)| is_native(member).then(|| Program::new(hop)));
    let mut driver = Driver {
        programs: programs.collect(),
        has_programs: members.iter().any(is_native),
        broken: HashMap::new(),
        is_proxy,
        has_swaps,
        finder: has_projects.then(Finder::new),
        router: Router::new(members, None),
        values: VecDeque::new(),
        world,
    };
    driver.router.keep_values();
    if is_proxy {
        driver.router.set_parent(Dialect::Proxy);
    }
    if has_projects {
        driver.router.find_projects(false);
    }
    while !driver.world.lock().choices.is_empty() {
        driver.step();
    }
    driver.come_to_rest();
}

/// The state shared by the driver and the proxies.
#[derive(Clone)]
struct World(Arc<Mutex<State>>);

struct State {
    /// The choices still to make, in reverse order.
    choices: Vec<u8>,
    model: Model,
    /// The signals that let busy proxies continue.
    busy: Vec<oneshot::Sender<()>>,
}

impl World {
    fn new(data: &[u8]) -> Self {
        Self(Arc::new(Mutex::new(State {
            choices: data.iter().rev().copied().collect(),
            model: Model::default(),
            busy: Vec::new(),
        })))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// One of `count` choices; the first when no bytes are left.
    fn choose(&mut self, count: usize) -> usize {
        self.choices
            .pop()
            .map_or(0, |byte| usize::from(byte) % count)
    }
}

/// A proxy, with its number in the model; of this project chain, if any.
fn new_member(world: &World, chain: Option<usize>) -> (usize, Member) {
    let shape = world.lock().choose(256);
    let on_failure = [
        FailurePolicy::Restart,
        FailurePolicy::RestartThenBypass,
        FailurePolicy::Bypass,
        FailurePolicy::Refuse,
    ][shape % 4];
    let is_native = shape / 4 % 4 == 3;
    let hop = world.lock().model.add_hop(on_failure, is_native, chain);
    let name = format!("proxy-{hop}");
    if is_native {
        let native = Native {
            name,
            dialect: Some(Dialect::Proxy),
            on_failure,
            sees_tool_runs: false,
            program: None,
        };
        return (hop, native.into());
    }
    let script = Script {
        world: world.clone(),
        hop,
    };
    let started = script.begin(1);
    let source = Box::new(script) as Box<dyn Source>;
    let terms = Terms {
        sleep_after: (shape / 16 % 2 == 1).then_some(IDLE),
        ..terms(on_failure)
    };
    let is_asleep = shape / 32 % 2 == 1;
    let proxy = Proxy {
        name,
        registration: started.registration,
        part: (!is_asleep).then_some(started.part),
        source,
        terms,
    };
    (hop, proxy.into())
}

/// The idle time before a proxy falls asleep, if it may.
const IDLE: Duration = Duration::from_secs(1);

/// The terms of all proxies.
fn terms(on_failure: FailurePolicy) -> Terms {
    Terms {
        limits: Arc::new(Limits::default()),
        grant: Arc::new(Grant::unlimited()),
        on_failure,
        sleep_after: None,
    }
}

struct Driver {
    router: Router,
    /// The programs of native members, by place.
    programs: Vec<Option<Program>>,
    has_programs: bool,
    /// The numbers in the model of programs that broke, by place.
    broken: HashMap<usize, usize>,
    /// Whether the chain is a proxy of a parent, which has both ends.
    is_proxy: bool,
    /// Whether newer versions of proxies come.
    has_swaps: bool,
    /// Finds the projects of sessions, if they have any.
    finder: Option<Finder>,
    /// The requests for stored values whose outcome the router waits for, by their numbers, in order.
    values: VecDeque<u64>,
    world: World,
}

impl Driver {
    /// Takes one step: an end or a proxy acts, or time passes.
    fn step(&mut self) {
        let (what, peer) = {
            let mut world = self.world.lock();
            let peer = [Peer::Client, Peer::Agent][world.choose(2)];
            let count = if self.finder.is_some() { 16 } else { 12 };
            let swaps = if self.has_swaps { 4 } else { 0 };
            let what = world.choose(count + swaps);
            // Swaps are last, so that the bytes mean the same without them.
            (if what < count { what } else { SWAP }, peer)
        };
        match what {
            0..=2 => self.say(peer, model::Kind::Notification),
            3 => self.say(peer, model::Kind::Request),
            4 | 5 => self.answer(peer),
            6 => self.withdraw(peer),
            7 => self.finish_one(),
            8 => self.pass_time(),
            9 => self.pass_one(),
            10 => self.break_one(),
            12 => self.set_up(),
            13 | 14 => self.find(),
            15 => self.close(),
            SWAP => self.swap_one(),
            _ => {
                // A burst: the next steps come before any proxy is called.
                return;
            }
        }
        let budget = [1000, 1, 0][self.world.lock().choose(3)];
        self.router.pump(budget);
        self.take_out();
        self.look();
        self.give_value();
        if !self.has_programs && !self.router.is_ready() {
            self.world.lock().model.nothing_waits_in_vain();
        }
    }

    /// Time passes until the next timer.
    fn pass_time(&mut self) {
        if let Some(at) = self.router.next_timer() {
            self.world.lock().model.everything_held_may_expire();
            self.becomes(at);
            self.router.advance(at);
        }
    }

    /// One of the busy proxies continues.
    fn finish_one(&mut self) {
        let go = {
            let mut world = self.world.lock();
            match world.busy.len() {
                0 => return,
                count => {
                    let which = world.choose(count);
                    world.busy.remove(which)
                }
            }
        };
        // The proxy may have been dropped.
        let _ = go.send(());
        self.collect();
    }

    /// Collects the results of busy proxies.
    fn collect(&mut self) {
        loop {
            let finished = {
                let (_, _, busy, ..) = self.router.split();
                let mut busy = std::pin::pin!(busy);
                match busy.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                    Poll::Ready(finished) => finished,
                    Poll::Pending => return,
                }
            };
            self.router.finished(finished);
        }
    }

    /// Lets the ends answer all requests, and the proxies decide on all messages, until nothing is left.
    fn come_to_rest(&mut self) {
        for _ in 0..PATIENCE {
            self.router.pump(1000);
            self.collect();
            self.take_out();
            self.look();
            let busy = !self.world.lock().busy.is_empty();
            if busy {
                self.finish_one();
                continue;
            }
            if self.has_to_pass() {
                self.pass_one();
                continue;
            }
            if self.give_all_values() {
                continue;
            }
            let asked = [Peer::Client, Peer::Agent]
                .into_iter()
                .find(|peer| self.world.lock().model.is_asked(*peer));
            if let Some(peer) = asked {
                self.answer(peer);
            } else if self.router.next_timer().is_some() {
                self.pass_time();
            } else if self.router.is_idle() {
                self.world.lock().model.is_complete();
                assert!(!self.router.is_owed(Peer::Client) && !self.router.is_owed(Peer::Agent));
                return if self.is_proxy {
                    // The client would be lost with the agent.
                } else {
                    self.lose_the_agent();
                };
            }
        }
        panic!("the chain does not come to rest");
    }

    /// When an end has disconnected, requests to it are answered too.
    fn lose_the_agent(&mut self) {
        self.router.lose(Peer::Agent, &Error::new(1, "gone"));
        self.world.lock().model.nothing_leaves_any_more(Peer::Agent);
        self.say(Peer::Client, model::Kind::Request);
        for _ in 0..PATIENCE {
            self.router.pump(1000);
            self.collect();
            self.take_out();
            self.look();
            let client = self.world.lock().model.is_asked(Peer::Client);
            if self.has_to_pass() {
                self.pass_one();
            } else if self.give_all_values() {
                // What follows from them comes in the next round.
            } else if client {
                self.answer(Peer::Client);
            } else if self.router.next_timer().is_some() {
                self.pass_time();
            } else if self.router.is_idle() {
                self.world.lock().model.nobody_waits();
                return;
            }
        }
        panic!("the chain does not come to rest without an agent");
    }
}
