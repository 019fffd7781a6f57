//! Answers the agent's permission requests by rule, and forwards the others to the user; and refuses tools that a rule
//! denies before they run, whether or not the agent asks, and what the client would do for the agent.
//!
//! See the README for the rules and their limits.

mod carried;
mod reports;
mod rule;
mod runs;

use std::cell::Cell;

use acp_chain_calls::command::{self, Commands};
use acp_chain_calls::directory::{Directory, below};
use acp_chain_calls::mention::{
    MOST_BASES, MOST_MENTIONS, bases, expansions, is_named, mentions, named_in_code,
};
use acp_chain_calls::place::Place;
use acp_chain_calls::request::PermissionRequest;
use acp_chain_calls::title::LogTitle;
use acp_chain_calls::turns::Turns;
use acp_chain_proxy::acp::{
    BEFORE_TOOL, CANCEL, ELICITATION, PERMISSION, PROMPT, READ, UPDATE, WRITE,
};
use acp_chain_proxy::{
    Action, Configure, FailurePolicy, Json, Notification, Peer, Proxy, Request, Response, Result,
    Sessions, Subscription, Version, debug, export, info, save, warn,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use carried::CREATE;
use reports::{ClientView, Reports, Ruling};
use rule::{Case, Decision, Entry, Rule, Verdict};
use runs::AllowedRuns;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    /// In order; the first match decides.
    #[serde(default)]
    rules: Vec<Entry>,
}

/// What the rules say about a call.
enum Judgement<'r> {
    /// The number of the first rule that matches, and the rule.
    Rule(usize, &'r Rule),
    /// It is uncertain whether a rule matches.
    Unclear,
    /// No rule matches.
    NoRule,
}

/// What the rules say about a call, and its title, safe to show.
struct Judged<'r> {
    judgement: Judgement<'r>,
    title: String,
}

/// What a later instance gets: the messages that say it are never repeated.
#[derive(Default, Deserialize, Serialize)]
struct State {
    sessions: Sessions,
    version: Cell<Version>,
}

struct Permissions {
    rules: Vec<Rule>,
    state: State,
    turns: Turns,
    reports: Reports,
    allowed: AllowedRuns,
    /// Whether a state was saved, which marks later instances as restarted.
    saved: Cell<bool>,
}

impl Configure for Permissions {
    type Config = Config;

    fn new(config: Config) -> std::result::Result<Self, String> {
        let rules = (1..).zip(config.rules).map(|(number, entry)| {
            entry
                .check()
                .map_err(|wrong| format!("in rule {number} of `rules`: {wrong}"))
        });
        let rules = rules.collect::<std::result::Result<Vec<Rule>, String>>()?;
        warn_about(&rules);
        Ok(Self {
            rules,
            state: State::default(),
            turns: Turns::default(),
            reports: Reports::default(),
            allowed: AllowedRuns::default(),
            saved: Cell::new(false),
        })
    }
}

/// Warns of rules that match less, or more, than their text suggests.
fn warn_about(rules: &[Rule]) {
    if rules.is_empty() {
        warn!("there are no `rules`, so every request goes to the user");
    }
    for (number, rule) in (1..).zip(rules) {
        for warning in rule.warnings() {
            warn!("rule {number}: {warning}");
        }
    }
    let last = (1..).zip(rules).find(|(_, rule)| rule.is_last());
    if let Some((number, _)) = last.filter(|(number, _)| *number < rules.len()) {
        let next = number + 1;
        warn!("rule {number} matches every request, so rule {next} and later ones never match");
    }
    let reached = last.map_or(rules.len(), |(number, _)| number);
    for (number, rule) in (1..).zip(&rules[..reached]) {
        let mut earlier = (1..number).zip(rules);
        if let Some((earlier, _)) = earlier.find(|(_, earlier)| earlier.shadows(rule)) {
            warn!("rule {number} never decides, since rule {earlier} matches all that it does");
            continue;
        }
        let mut earlier = (1..number).zip(rules);
        if let Some((earlier, _)) = earlier.find(|(_, earlier)| earlier.precedes(rule)) {
            warn!(
                "rule {number} hardly ever decides, since rule {earlier} allows before what it is about; put it in front"
            );
        }
    }
}

impl Proxy for Permissions {
    const SUBSCRIPTIONS: &[Subscription] = &[
        Version::SUBSCRIPTION,
        Subscription::requests(PERMISSION).from(Peer::Agent),
        Subscription::requests(ELICITATION).from(Peer::Agent),
        Subscription::requests(BEFORE_TOOL).from(Peer::Agent),
        Subscription::requests(CREATE).from(Peer::Agent),
        Subscription::requests(READ).from(Peer::Agent),
        Subscription::requests(WRITE).from(Peer::Agent),
        Subscription::notifications(UPDATE)
            .from(Peer::Agent)
            .without_body(),
        Subscription::responses(PROMPT)
            .from(Peer::Agent)
            .without_body(),
        Subscription::notifications(CANCEL)
            .from(Peer::Client)
            .without_body(),
    ];

    /// Bypassing it would leave to the user what a rule denies.
    const ON_FAILURE: FailurePolicy = FailurePolicy::Refuse;

    /// No other proxy may alter requests to this proxy, or its answers.
    const GUARD: bool = true;

    fn subscriptions(&self) -> Vec<Subscription> {
        Sessions::beside(Self::SUBSCRIPTIONS)
    }

    fn restore(&mut self, saved: Json) -> Result<()> {
        self.state = saved.parse()?;
        self.turns = Turns::after_restart();
        Ok(())
    }

    async fn on_request(&self, request: Request) -> Result {
        let opens = self.state.sessions.on_request(&request);
        self.keep(opens)?;
        let asked = match &*request.head.method {
            PERMISSION => Some(PermissionRequest::read(&request.params.spelling())),
            ELICITATION => PermissionRequest::read_elicitation(&request.params.spelling()),
            BEFORE_TOOL => return self.run(&request).await,
            CREATE | READ | WRITE => return Ok(self.carry(&request)),
            _ => None,
        };
        let Some(asked) = asked else {
            return Ok(Action::Forward);
        };
        let session = request.head.session.as_deref();
        Ok(self.answer(session, &asked, &request.params))
    }

    async fn on_notification(&self, update: Notification) -> Result {
        let head = &update.head;
        let session = head.session.as_deref().unwrap_or_default();
        if head.method == CANCEL {
            self.reports.on_cancel(session);
            return Ok(Action::Forward);
        }
        self.keep(false)?;
        self.reports.on_update(session, head);
        let kind: Option<String> = head.read("/update/sessionUpdate");
        if self.turns.on_update(head, kind.as_deref()) {
            let reason = head.read::<String>("/update/stopReason");
            self.reports.on_turn_end(session, reason.as_deref());
            self.allowed.end(session);
        }
        Ok(Action::Forward)
    }

    async fn on_response(&self, response: Response) -> Result {
        if let Some(version) = Version::agreed(&response) {
            self.state.version.set(version);
            self.keep(true)?;
            return Ok(Action::Forward);
        }
        let head = &response.head;
        if head.method == PROMPT {
            if self.turns.on_answer(&response) {
                let session = head.session.as_deref().unwrap_or_default();
                let reason = head.read::<String>("/stopReason");
                self.reports.on_turn_end(session, reason.as_deref());
                self.allowed.end(session);
            }
            return Ok(Action::Forward);
        }
        if let Some(session) = head.read::<String>("/sessionId").or(head.session.clone()) {
            self.turns.on_open(&session);
        }
        let opened = self.state.sessions.on_response(&response);
        self.keep(opened)?;
        Ok(Action::Forward)
    }
}

impl Permissions {
    /// Saves changes, and the first time in any case: only a restarted instance gets a saved state.
    fn keep(&self, changed: bool) -> Result<()> {
        let first = !self.saved.replace(true);
        if changed || first {
            save(&self.state)?;
        }
        Ok(())
    }

    /// Decides a request. The decision of a rule is reported to the user and the agent.
    fn answer(&self, session: Option<&str>, asked: &PermissionRequest, params: &Json) -> Action {
        let name = session.unwrap_or_default();
        let known = self.client_view(name, asked);
        let Some((ruling, outcome)) = self.decide(session, asked) else {
            return self.repeat(name, asked, params).unwrap_or(Action::Forward);
        };
        self.reports.show(name, params, &ruling, known);
        let meta = ruling.meta();
        let result = if asked.is_elicitation {
            let action = outcome["optionId"].as_str().unwrap_or("decline");
            json!({ "action": action, "_meta": meta })
        } else {
            json!({ "outcome": outcome, "_meta": meta })
        };
        Action::Respond(result.into())
    }

    /// The parts of the request's call that the client has received.
    fn client_view(&self, session: &str, asked: &PermissionRequest) -> ClientView {
        let any = |is: fn(&Turns, &str, &str) -> bool| {
            let mut ids = asked.ids.iter();
            ids.any(|id| is(&self.turns, session, id))
        };
        ClientView {
            announced: any(Turns::is_known),
            content: any(|turns, session, id| turns.call(session, id).has_content),
        }
    }

    /// The first matching rule, if it is certain.
    fn first(&self, case: &Case, title: &LogTitle) -> Judgement<'_> {
        let mut covered = vec![false; case.commands.as_ref().map_or(0, Commands::count)];
        for (number, rule) in (1..).zip(&self.rules) {
            match rule.judge(case, &mut covered) {
                Verdict::Yes => {
                    debug!("rule {number} matches {title}");
                    return Judgement::Rule(number, rule);
                }
                Verdict::Maybe(why) => {
                    info!("rule {number} may match {title}, so the user is asked: {why}");
                    return Judgement::Unclear;
                }
                Verdict::No(why) => debug!("rule {number} does not match {title}: {why}"),
            }
        }
        debug!("no rule matches {title}");
        Judgement::NoRule
    }

    /// What the rules say about a call.
    fn judge(&self, session: Option<&str>, asked: &PermissionRequest) -> Judged<'_> {
        let mut call = asked.call.clone();
        for id in &asked.ids {
            call.add(&self.turns.call(session.unwrap_or_default(), id));
        }
        if let Some(command) = self.turns.command_of(session.unwrap_or_default(), &call) {
            call.add(&command);
        }
        let session = session.and_then(|session| self.state.sessions.get(session));
        let directory = session.and_then(|session| Directory::of(&session.cwd));
        let place = |path: &String| Place::of(path, directory.as_ref());
        let commands = Commands::of(&call, directory.as_ref());
        let mut mentioned = mentions(&call, commands.as_ref());
        mentioned.retain(|word| is_named(word));
        let in_code = named_in_code(&call, commands.as_ref());
        let expanded = commands.as_ref().map(expansions).unwrap_or_default();
        let is_cut = call.input.is_odd && call.input.has_more;
        let bases = bases(&call, commands.as_ref(), directory.as_ref());
        let elsewhere = |word: &str| {
            let given = bases.iter().take(MOST_BASES);
            let below = given.map(|base| below(base, word));
            below.filter(|path| path != word).collect::<Vec<_>>()
        };
        let placed = |word: &str| {
            let own = [word.to_owned()].into_iter();
            let paths = own.chain(elsewhere(word));
            let named = paths.map(|path| (word.to_owned(), place(&path)));
            named.collect::<Vec<_>>()
        };
        // In another directory, a word may be no path: `cd src && make`.
        let perhaps = mentioned.iter().flat_map(|word| elsewhere(word));
        let perhaps_placed = perhaps.map(|path| (path.clone(), place(&path)));
        let words = mentioned.len().max(in_code.len()).max(expanded.len());
        let most = words * (2 * bases.len() + 1);
        let is_of_any_kind =
            asked.is_of_unknown_tool && call.all_kinds().all(|kind| kind == "other");
        let case = Case {
            call: &call,
            places: call.paths.iter().map(place).collect(),
            question: asked.question.as_deref(),
            beside: asked.cwd.as_ref().map(place),
            mentions_more: most > MOST_MENTIONS || bases.len() > MOST_BASES || is_cut,
            mentioned: mentioned
                .iter()
                .flat_map(|word| placed(word))
                .take(MOST_MENTIONS)
                .collect(),
            in_code: in_code
                .into_iter()
                .flat_map(placed)
                .take(MOST_MENTIONS)
                .collect(),
            expanded: expanded
                .iter()
                .flat_map(|word| placed(word))
                .chain(perhaps_placed)
                .take(MOST_MENTIONS)
                .collect(),
            commands,
            is_consent: asked.opens_page || call.is_consent(),
            is_of_any_kind,
            directory,
        };
        let title = LogTitle(command::title(&call).or(asked.question.as_deref()));
        Judged {
            judgement: self.first(&case, &title),
            title: title.to_string(),
        }
    }

    /// The rule that decides, and the outcome. `None` if the user is asked.
    fn decide(&self, session: Option<&str>, asked: &PermissionRequest) -> Option<(Ruling, Value)> {
        let Judged { judgement, title } = self.judge(session, asked);
        let Judgement::Rule(number, rule) = judgement else {
            debug!("the user is asked about {title}");
            return None;
        };
        let kinds = rule.options();
        let (done, option) = match rule.decision {
            Decision::Allow => ("allowed", asked.options.only(kinds)),
            Decision::Deny => ("denied", asked.options.any(kinds)),
            Decision::Ask => {
                debug!("rule {number}: the user is asked about {title}");
                return None;
            }
        };
        let outcome = match option {
            Some((id, kind)) => {
                info!("rule {number}: {done} {title} ({kind})");
                json!({ "outcome": "selected", "optionId": id })
            }
            None if rule.decision == Decision::Deny => {
                info!("rule {number}: denied {title} (cancelled)");
                json!({ "outcome": "cancelled" })
            }
            None => {
                let kinds = kinds.join("` or `");
                warn!("rule {number}: {title} has not exactly one `{kinds}`, so the user is asked");
                return None;
            }
        };
        let ruling = Ruling {
            number,
            decision: rule.decision,
            title,
        };
        Some((ruling, outcome))
    }
}

export!(Permissions);

#[cfg(test)]
mod tests;
