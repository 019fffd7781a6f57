//! The conductor of one client's connection: reads, routes and writes until either end is closed. If the chain is
//! itself a proxy, its parent is both client and agent.
//!
//! Backpressure bounds the memory: while one side does not read what it is sent, the other side is not read.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::OptionFuture;
use tokio::sync::mpsc;
use tokio::time::{Instant, Sleep, sleep_until};

use super::files::Files;
use super::pipes::{LAST_OUTPUT, PipeEvent, Pipes, ReadFilter, programs_of};
use super::simulated::SimulatedHooks;
use super::values::{ValueOutcome, Values};
use super::{AgentHooks, Chain, Exit, Project, Projects, Role, Settings, Word};
use acp_chain_bridge::Arrival;
use acp_chain_channel::limits::{FLOOD, UNREAD};
use acp_chain_channel::{Failure, Peer};
use acp_chain_process::Process;
use acp_chain_recorder as trace;
use acp_chain_router::{FilePlace, FinishedWork, HopIndex, Member, Order, RUN, Router, Swap};
use acp_chain_rpc::transport::{Drain, Frame, Incoming, Outgoing, Transport};
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_rpc::{Error, Kind, MalformedLine, Message, code, read};

/// How many messages proxies handle before input and output get their turn again.
pub const BUDGET: usize = 256;

/// How long proxies may handle messages before input and output get their turn again. A call in progress continues
/// until it yields.
const SLICE: Duration = Duration::from_millis(10);

/// How many lines of the agent that were no messages are kept for its end.
const PRINTED: usize = 8;

/// What woke the loop.
enum Turn {
    Wrote(Peer, std::io::Result<()>),
    Read(Peer, std::io::Result<bool>),
    Finished(FinishedWork),
    Arrived(Arrival),
    Reported(acp_chain_hooks::server::Arrival),
    Happened(PipeEvent),
    Word(Word),
    Value(ValueOutcome),
    Located(u64, FilePlace),
    Swap(Swap),
    Exited,
    More,
}

/// One end, and its state.
pub struct Side {
    incoming: Box<dyn Incoming>,
    pub(super) outgoing: Box<dyn Outgoing>,
    /// Whether its output has ended.
    pub(super) ended: bool,
    is_read: fn() -> bool,
    /// How many bytes the client, the agent and the native proxies had read when this side was last read.
    taken: [u64; 3],
}

impl Side {
    fn new(transport: Transport) -> Self {
        Self {
            incoming: transport.incoming,
            outgoing: transport.outgoing,
            is_read: transport.is_read,
            ended: false,
            taken: [0; 3],
        }
    }
}

pub struct Conductor {
    pub(super) router: Router,
    pub(super) client: Side,
    /// If the chain is itself a proxy, this side is silent.
    pub(super) agent: Side,
    pub(super) process: Option<Process>,
    pub(super) pipes: Pipes,
    /// Finds the projects of sessions.
    projects: Option<Box<dyn Projects>>,
    /// The values that proxies store.
    pub(super) values: Option<Values>,
    /// The files that proxies read.
    pub(super) files: Files,
    /// The agent's hooks.
    hooks: Option<AgentHooks>,
    /// Those of a simulated agent.
    simulated: Option<SimulatedHooks>,
    /// Newer versions of proxies, which replace running ones.
    swaps: Option<mpsc::Receiver<Swap>>,
    /// Whether the last event was a write.
    wrote: bool,
    /// How long to wait for the output of an agent that has exited or stopped reading.
    last_output: Option<Instant>,
    /// The last lines of the agent that were no messages: they may say why it ends.
    pub(super) printed: VecDeque<String>,
}

impl Conductor {
    /// A connection whose first message is the client's `initialize`, or the parent's
    /// `proxy/initialize`.
    pub fn new(
        client: Transport,
        role: Role,
        chain: Chain,
        settings: Settings,
        initialize: Message,
    ) -> Self {
        let mut members: Vec<Member> = chain.proxies;
        let pipes = Pipes::of(&mut members);
        let names = members.iter().map(|member| member.name().to_owned());
        let agent = chain.agent.as_ref();
        let beginning = trace::Beginning {
            role: match role {
                Role::Agent => trace::Role::Agent,
                Role::Proxy(_) => trace::Role::Proxy,
            },
            proxies: names.collect(),
            agent: agent.and_then(|agent| Some(agent.process.as_ref()?.name().to_owned())),
            chain: chain.about,
        };
        let trace = settings.trace.map(|trace| trace.connection(beginning));
        let mut router = Router::new(members, trace);
        router.set_bridge(settings.program, chain.supervisor, chain.reach);
        for hop in pipes.hops() {
            router.runs_as(hop, pipes.process(hop));
        }
        router.set_log(settings.log);
        if settings.tells_of_unused_tools {
            router.tell_of_unused_tools();
        }
        // A parent has its own routes for the sessions of its client. The proxies of a project are in a process, which
        // no dry run keeps from acting.
        let has_projects = role == Role::Agent && !chain.is_dry_run;
        let projects = chain.projects.filter(|_| has_projects);
        if let Role::Proxy(dialect) = role {
            router.set_parent(dialect);
            if settings.sees_tool_runs {
                router.see_tool_runs();
            }
        }
        if let Some(projects) = &projects {
            router.find_projects(projects.are_required());
        }
        if let Some(hooks) = &chain.hooks {
            router.attach_hooks(hooks.terms());
        }
        if chain.values.is_some() {
            router.keep_values();
        }
        // Where the agent is simulated, so are the files, and the time.
        if !settings.simulates_hooks {
            router.check_reads();
        }
        if chain.is_dry_run {
            router.set_dry_run();
        }
        if chain.is_remote {
            router.set_remote();
        }
        for notice in chain.notices {
            router.tell_user(&notice);
        }
        router.receive(Peer::Client, initialize);
        let (agent, process) = match chain.agent {
            Some(agent) => (agent.transport, agent.process),
            None => (Transport::silent(), None),
        };
        let mut conductor = Self {
            router,
            client: Side::new(client),
            agent: Side::new(agent),
            process,
            pipes,
            projects,
            values: chain.values.map(Values::new),
            files: Files::new(),
            hooks: chain.hooks,
            simulated: settings.simulates_hooks.then(SimulatedHooks::default),
            swaps: settings.swaps,
            wrote: false,
            last_output: None,
            printed: VecDeque::new(),
        };
        // Requests may have arrived together with `initialize`.
        conductor.take_frames(Peer::Client);
        conductor
    }

    /// Reads, routes and writes until either end is closed.
    pub async fn run(mut self, mut stop: Pin<&mut impl Future<Output = ()>>) -> Exit {
        let mut drain: Option<Drain> = None;
        // Kept from turn to turn: to enter a timer into the runtime's list and to remove it takes as long as to route a
        // message.
        let mut alarm: Option<Pin<Box<Sleep>>> = None;
        let patience = loop {
            let begun = Instant::now();
            self.router.advance(begun);
            for _ in 0..BUDGET / RUN {
                self.router.pump(RUN);
                if !self.router.is_ready() || begun.elapsed() > SLICE {
                    break;
                }
            }
            self.carry_out_orders();
            if self.router.is_ready() {
                // Proxies may keep each other busy for ever; let other tasks run.
                tokio::task::yield_now().await;
            }
            if self.agent.ended {
                return self.finish_after_agent(stop).await;
            }
            if !self.client.outgoing.is_open() {
                break true;
            }
            if self.client.ended {
                let is_owed = self.router.is_owed(Peer::Client);
                let both = [Peer::Client, Peer::Agent];
                let all_taken = self.router.most_for_natives() == 0;
                if !is_owed
                    && self.is_idle()
                    && all_taken
                    && both.iter().all(|peer| self.router.outbox(*peer).is_empty())
                {
                    break true;
                }
                let written = self.router.outbox(Peer::Client).taken();
                let new = || Drain::new(self.client.is_read);
                let is_awaited = self.router.is_awaited();
                drain.get_or_insert_with(new).wrote(written, is_awaited);
            }
            if self.last_output.is_some() && !self.reads(Peer::Agent) {
                // The client is the slow one.
                self.last_output = Some(Instant::now() + LAST_OUTPUT);
            }
            let over = OptionFuture::from(drain.as_mut().map(Drain::over));
            let last_output = OptionFuture::from(self.last_output.map(sleep_until));
            let next = self.router.next_timer();
            if alarm.as_ref().map(|alarm| alarm.deadline()) != next {
                alarm = next.map(|at| Box::pin(sleep_until(at)));
            }
            let timer = OptionFuture::from(alarm.as_mut().map(Pin::as_mut));
            // A branch without a future is disabled.
            tokio::select! {
                biased;
                () = &mut stop => break false,
                Some(()) = over => break true,
                Some(()) = last_output => self.agent.ended = true,
                Some(()) = timer => {}
                () = self.turn() => {}
            }
        };
        self.close(patience).await
    }

    /// Waits for something to do, and does it.
    pub(super) async fn turn(&mut self) {
        let read_client = self.reads(Peer::Client);
        let read_agent = self.reads(Peer::Agent);
        let readable = self.readable();
        let more = self.router.is_ready();
        let event = {
            let (client_box, agent_box, busy, arrival, mut natives) = self.router.split();
            let projects = self.projects.as_mut().map(|projects| projects.next());
            let values = self.values.as_mut().map(Values::next);
            let hooks = self.hooks.as_mut().map(AgentHooks::next);
            let swaps = self.swaps.as_mut().map(mpsc::Receiver::recv);
            let exit = self.process.as_mut().map(Process::wait);
            let rest = async {
                // A branch without a future, or whose channel is closed, is disabled.
                tokio::select! {
                    filled = self.client.incoming.read(), if read_client => Turn::Read(Peer::Client, filled),
                    filled = self.agent.incoming.read(), if read_agent => Turn::Read(Peer::Agent, filled),
                    happened = self.pipes.next(&mut natives, &readable) => Turn::Happened(happened),
                    Some(word) = OptionFuture::from(projects) => Turn::Word(word),
                    Some(outcome) = OptionFuture::from(values) => Turn::Value(outcome),
                    (number, place) = self.files.next() => Turn::Located(number, place),
                    Some(report) = OptionFuture::from(hooks), if read_agent => Turn::Reported(report),
                    Some(Some(swap)) = OptionFuture::from(swaps) => Turn::Swap(swap),
                    Some(_) = OptionFuture::from(exit), if self.last_output.is_none() => Turn::Exited,
                    finished = busy => Turn::Finished(finished),
                    arrival = arrival, if read_agent => Turn::Arrived(arrival),
                    () = std::future::ready(()), if more => Turn::More,
                }
            };
            let writes = async {
                tokio::select! {
                    written = self.client.outgoing.write(client_box) => Turn::Wrote(Peer::Client, written),
                    written = self.agent.outgoing.write(agent_box) => Turn::Wrote(Peer::Agent, written),
                }
            };
            // Routed messages are written before a busy proxy continues. After a write, everything else comes first, so
            // that proxies that always send cannot starve the rest.
            if self.wrote {
                tokio::select! { biased; turn = rest => turn, turn = writes => turn }
            } else {
                tokio::select! { biased; turn = writes => turn, turn = rest => turn }
            }
        };
        // The wait may have been long.
        self.router.advance(Instant::now());
        self.wrote = matches!(event, Turn::Wrote(..));
        match event {
            Turn::Wrote(_, Ok(())) | Turn::More => {}
            Turn::Wrote(peer, Err(error)) => {
                tracing::info!("the {} no longer reads: {error}", peer.as_str());
                self.side(peer).outgoing.close();
                let text = format!("acp-chain: the {} no longer reads", peer.as_str());
                let error = Error::new(code::INTERNAL_ERROR, text);
                self.router.stop_writing(peer, &error);
                if peer == Peer::Agent {
                    // It is about to end; its earlier output is still read.
                    let end = Instant::now() + LAST_OUTPUT;
                    self.last_output.get_or_insert(end);
                }
            }
            Turn::Read(peer, filled) => {
                let taken = self.taken();
                self.side(peer).taken = taken;
                let more = filled.unwrap_or_else(|error| {
                    tracing::warn!("the {} cannot be read: {error}", peer.as_str());
                    false
                });
                self.take_frames(peer);
                if !more {
                    self.ended(peer);
                }
            }
            Turn::Finished(finished) => self.router.finished(finished),
            Turn::Happened(happened) => self.happened(happened),
            Turn::Word(Word::Found(number, project)) => self.found(number, project),
            Turn::Word(Word::Notice(text)) => self.router.tell_user(&text),
            Turn::Reported(report) => {
                if let Some(hooks) = &mut self.hooks {
                    hooks.arrived(report, &mut self.router);
                }
            }
            Turn::Value(outcome) => self.value_came(outcome),
            Turn::Located(number, place) => self.router.located(number, place),
            Turn::Swap(swap) => self.router.swap(swap),
            Turn::Arrived(arrival) => self.router.receive_from_bridge(arrival),
            Turn::Exited => {
                // The agent's children may keep its output open; its own output is still read.
                self.last_output = Some(Instant::now() + LAST_OUTPUT);
            }
        }
    }

    /// Whether there is room for more input from a side. While too much waits for an end, a little is still read
    /// whenever that end has read [`UNREAD`] more bytes: otherwise proxies that always send could keep a side from
    /// being read.
    fn reads(&mut self, peer: Peer) -> bool {
        let limits = match peer {
            Peer::Client => [FLOOD, UNREAD, UNREAD],
            Peer::Agent => [UNREAD, FLOOD, UNREAD],
        };
        let (before, taken) = (self.side(peer).taken, self.taken());
        let waits = self.waits().into_iter().zip(limits);
        let has_room =
            waits
                .zip(before.into_iter().zip(taken))
                .all(|((waits, limit), (before, taken))| {
                    waits < limit || taken.saturating_sub(before) >= UNREAD as u64
                });
        has_room && self.router.waiting() < UNREAD && !self.side(peer).ended
    }

    /// Which native proxies are read. Computed at once, since there may be many.
    fn readable(&mut self) -> ReadFilter {
        let [client, agent] =
            [Peer::Client, Peer::Agent].map(|end| self.router.outbox(end).len() < FLOOD);
        ReadFilter {
            is_room: client && agent,
            waiting: self.router.waiting(),
            flooded: self.router.flooded_natives(),
        }
    }

    /// How many bytes wait for the client, the agent, and a native proxy.
    fn waits(&mut self) -> [usize; 3] {
        let [client, agent] = [Peer::Client, Peer::Agent].map(|end| self.router.outbox(end).len());
        [client, agent, self.router.most_for_natives()]
    }

    fn taken(&mut self) -> [u64; 3] {
        let [client, agent] =
            [Peer::Client, Peer::Agent].map(|end| self.router.outbox(end).taken());
        [client, agent, self.router.taken_by_natives()]
    }

    /// Whether no proxy has anything to do, or waits for a stored value or for the place of a file.
    pub(super) fn is_idle(&self) -> bool {
        let are_awaited = self.values.as_ref().is_some_and(Values::are_awaited);
        self.router.is_idle() && !are_awaited && !self.files.are_awaited()
    }

    /// Gives a proxy the outcome of its request for a stored value.
    pub(super) fn value_came(&mut self, outcome: ValueOutcome) {
        if let Some(values) = &mut self.values {
            values.came(outcome, &mut self.router);
        }
    }

    /// Asks for the next stored value that a proxy has requested, and looks for the files that proxies read.
    pub(super) fn ask_for_proxies(&mut self) {
        for read in self.router.take_reads() {
            self.files.look(read);
        }
        if let Some(values) = &mut self.values {
            values.ask(&mut self.router);
        }
    }

    /// Carries out the router's orders about the programs of native proxies, and starts the lookups of projects and of
    /// files, and the requests for stored values.
    pub(super) fn carry_out_orders(&mut self) {
        for order in self.router.take_orders() {
            match order {
                Order::End(hop) => self.pipes.end(hop),
                Order::Remove(hop) => self.pipes.remove(hop),
                Order::Launch(hop) => {
                    let launched = self.pipes.launch(hop);
                    self.router.runs_as(hop, self.pipes.process(hop));
                    self.router.launched(hop, launched);
                }
            }
        }
        if let Some(hooks) = &mut self.hooks {
            hooks.answer(&mut self.router);
        }
        if let Some(simulated) = &mut self.simulated {
            simulated.answer(&mut self.router);
        }
        if let Some(projects) = &mut self.projects {
            for (number, cwd) in self.router.take_lookups() {
                projects.find(number, &cwd);
            }
        }
        self.ask_for_proxies();
    }

    /// Handles the result of a lookup: a project, none, or the reason why the session must not begin.
    fn found(&mut self, number: u64, project: Result<Option<Project>, String>) {
        let Project { key, name, make } = match project {
            Ok(Some(project)) => project,
            Ok(None) => return self.router.found(number, None),
            Err(why) => {
                tracing::warn!("a session does not begin: {}", Untrusted::new(&why));
                return self.router.refuse_session(number, why);
            }
        };
        let joined = if self.router.lacks(number, &key) {
            make().and_then(|members| self.join(&key, &name, members))
        } else {
            Ok(())
        };
        match joined {
            Ok(()) => self.router.found(number, Some(&key)),
            Err(failure) => {
                tracing::error!("the project `{}`: {failure}", Untrusted::new(&name));
                let why = format!("the project `{name}` cannot begin its proxies: {failure}");
                self.router.refuse_session(number, why);
            }
        }
    }

    /// Adds the proxies of a project to the chain.
    fn join(
        &mut self,
        key: &Arc<str>,
        name: &str,
        mut members: Vec<Member>,
    ) -> Result<(), Failure> {
        // There may be orders about the previous proxies at these places.
        self.carry_out_orders();
        let programs = programs_of(&mut members);
        // If there is no place for them, the programs are dropped, which ends them.
        let places = self.router.join(key.clone(), name, members)?;
        for (at, program) in programs {
            let hop = places[at];
            self.pipes.add(hop, program);
            self.router.runs_as(hop, self.pipes.process(hop));
        }
        Ok(())
    }

    fn happened(&mut self, happened: PipeEvent) {
        match happened {
            PipeEvent::Progressed => {}
            PipeEvent::Read(hop) => {
                while let Some(frame) = self.pipes.next_frame(hop) {
                    match read(frame) {
                        Ok(message) => self.router.receive_from_native(hop, message),
                        Err(malformed) => self.take_malformed_from_native(hop, malformed),
                    }
                }
            }
            PipeEvent::Stalled(hop) => self.router.native_stalled(hop),
            PipeEvent::Broke(hop, failure) => self.router.native_broke(hop, &failure),
        }
    }

    /// Takes the messages of a batch one by one. In version 1, which has no batches, takes only answers to open
    /// requests, as from the ends.
    fn take_malformed_from_native(&mut self, hop: HopIndex, mut malformed: MalformedLine) {
        let Some(batch) = malformed.batch.take() else {
            return self.router.take_malformed_from_native(hop, &malformed);
        };
        for text in batch {
            match read(Frame::Line(text)) {
                Ok(message) if message.kind().is_response() || self.router.has_batches() => {
                    self.router.receive_from_native(hop, message);
                }
                Ok(message) => {
                    let id = message.id().filter(|_| message.kind() == Kind::Request);
                    self.router
                        .refuse_native(hop, &malformed.error, id.as_ref());
                }
                Err(member) => self.router.take_malformed_from_native(hop, &member),
            }
        }
    }

    fn side(&mut self, peer: Peer) -> &mut Side {
        match peer {
            Peer::Client => &mut self.client,
            Peer::Agent => &mut self.agent,
        }
    }

    fn take_frames(&mut self, peer: Peer) {
        while let Some(frame) = self.side(peer).incoming.next_frame() {
            match read(frame) {
                Ok(message) => self.take(peer, message),
                Err(mut malformed) => match malformed.batch.take() {
                    Some(batch) => self.take_batch(peer, &malformed, batch),
                    None => self.take_malformed(peer, &malformed),
                },
            }
        }
    }

    fn take(&mut self, from: Peer, message: Message) {
        let message = match &mut self.simulated {
            Some(hooks) if from == Peer::Agent => hooks.take(message, &mut self.router),
            _ => Some(message),
        };
        if let Some(message) = message {
            self.router.receive(from, message);
        }
    }

    /// Takes the messages of a batch one by one. In version 1, which has no batches, takes only answers to open
    /// requests.
    fn take_batch(&mut self, from: Peer, malformed: &MalformedLine, batch: Box<[Bytes]>) {
        let members = batch.into_iter().map(|text| read(Frame::Line(text)));
        if !self.router.has_batches() {
            let mut is_refused = false;
            for member in members {
                match member {
                    Ok(answer) if answer.kind().is_response() => self.router.receive(from, answer),
                    Err(malformed) if self.ends_wait(from, &malformed) => {}
                    _ => is_refused = true,
                }
            }
            if is_refused {
                self.take_malformed(from, malformed);
            }
            return;
        }
        self.router.begin_batch(from);
        for member in members {
            match member {
                Ok(message) => self.router.receive(from, message),
                Err(malformed) => self.take_malformed(from, &malformed),
            }
        }
        self.router.end_batch(from);
    }

    fn take_malformed(&mut self, from: Peer, malformed: &MalformedLine) {
        if from == Peer::Agent {
            self.printed.truncate(PRINTED - 1);
            self.printed.push_front(malformed.beginning().to_owned());
        }
        self.router
            .lose_line(from, &malformed.report(from.as_str()));
        if !self.ends_wait(from, malformed)
            && let Some(id) = malformed.id_for_sender(from)
        {
            self.router.refuse(from, &id, &malformed.error);
        }
    }

    /// If the malformed line may be an answer, answers the requester with an error. Returns whether there was one.
    fn ends_wait(&mut self, from: Peer, malformed: &MalformedLine) -> bool {
        let Some(id) = malformed.answers() else {
            return false;
        };
        let (from_whom, why) = (from.as_str(), &malformed.error.message);
        let text = format!("acp-chain: the answer of the {from_whom} is lost: {why}");
        let error = Error::new(code::INTERNAL_ERROR, text);
        self.router.fail_answer(from, id, &error)
    }

    fn ended(&mut self, peer: Peer) {
        self.side(peer).ended = true;
        if peer == Peer::Client {
            let text = "acp-chain: the client has closed its side";
            tracing::info!("the client has closed its side");
            // The client still reads answers, but will answer no requests.
            self.router
                .lose_answers(peer, &Error::new(code::REQUEST_CANCELLED, text));
        }
    }
}
