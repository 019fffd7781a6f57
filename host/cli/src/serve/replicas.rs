//! `acp-chain serve status` and `acp-chain serve end`: the replicas of one store, and ending what they serve.

use std::collections::BTreeMap;
use std::time::{Duration, UNIX_EPOCH};

use humantime::{format_duration, format_rfc3339_seconds};
use serde_json::{Value, json};

use acp_chain_app::ChainError;
use acp_chain_app::serve::kept::read;
use acp_chain_app::serve::{ServeSettings, store};
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_store::{Answer, Call, Replica, ServedSession, UsedBudget, UsedSlots};

use super::kept::{self, kept_facts, namespaces_facts};

/// How many of each the store lists at most.
const LISTED: usize = 256;

#[derive(Debug, clap::Subcommand)]
pub enum ServeCommand {
    /// List the replicas of the store that config.toml names, the sessions that they serve, and what users have spent
    Status(Status),
    /// End the connections of a user, or with a session, at all replicas; the user may connect again
    End(End),
}

#[derive(Debug, clap::Args)]
pub struct Status {
    /// Only what is of this user
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// How many users and projects are listed, each, by what `brake` has counted: those who have spent most
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=256))]
    top: u16,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub struct End {
    /// The user, as `acp-chain serve status` names them
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// The session, as `acp-chain serve status` names it
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

impl ServeCommand {
    pub fn main(self, settings: &ServeSettings) -> Result<(), ChainError> {
        match self {
            Self::Status(status) => status.main(settings),
            Self::End(end) => end.main(settings),
        }
    }
}

impl Status {
    fn main(self, settings: &ServeSettings) -> Result<(), ChainError> {
        let user = self.user;
        let calls = [
            Call::Replicas,
            Call::Sessions { user: user.clone() },
            Call::Budgets {
                account: user.clone(),
            },
            Call::Slots {
                account: user.clone(),
            },
        ];
        let (mut replicas, mut sessions) = (Vec::new(), Vec::new());
        let (mut budgets, mut slots) = (Vec::new(), Vec::new());
        for answer in store::ask(settings, &calls)? {
            match answer {
                Answer::Replicas(list) => replicas = list,
                Answer::Sessions(list) => sessions = list,
                Answer::Budgets(list) => budgets = list,
                Answer::Slots(list) => slots = list,
                _ => {}
            }
        }
        let kept = read(settings, user.as_deref(), self.top.into())?;
        if self.json {
            let hours = budgets.iter();
            let hours = hours.map(|budget| budget_facts(budget, settings));
            say!(
                "{:#}",
                json!({
                    "replicas": replicas,
                    "sessions": sessions,
                    "budgets": hours.collect::<Vec<_>>(),
                    "slots": slots,
                    "kept": kept_facts(&kept),
                    "values": namespaces_facts(&kept),
                })
            );
            return Ok(());
        }
        for replica in &replicas {
            print(replica);
        }
        if replicas.is_empty() {
            say!("There are no replicas.");
        }
        print_sessions(&sessions);
        for budget in &budgets {
            print_budget(budget, settings);
        }
        slots.iter().for_each(print_slots);
        if [sessions.len(), budgets.len(), slots.len()].contains(&LISTED) {
            say!("there may be more of these: `--user NAME` lists those of a user");
        }
        kept::print(&kept);
        Ok(())
    }
}

fn print(replica: &Replica) {
    say!("{}", quote(&replica.name, MAX_QUOTE));
    let started = UNIX_EPOCH.checked_add(Duration::from_millis(replica.started));
    if let Some(started) = started {
        say!("  since     {}", format_rfc3339_seconds(started));
    }
    match replica.left {
        0 => say!("  state     over"),
        left => {
            let left = Duration::from_secs(left.div_ceil(1000));
            say!(
                "  state     alive; for {} more if it sends no heartbeat",
                format_duration(left)
            );
        }
    }
    say!("  sessions  {}", replica.sessions);
}

/// The sessions, by their users. The list is cut off at some length.
fn print_sessions(sessions: &[ServedSession]) {
    let mut users: BTreeMap<&str, Vec<&ServedSession>> = BTreeMap::new();
    for session in sessions {
        users.entry(&session.user).or_default().push(session);
    }
    for (user, sessions) in users {
        let user = match user {
            "" => "all users, who have no names".to_owned(),
            user => quote(user, MAX_QUOTE),
        };
        say!("{user}");
        for session in sessions {
            let (name, replica) = (&session.spelling, &session.replica);
            say!(
                "  {}  at {}",
                quote(name, MAX_QUOTE),
                quote(replica, MAX_QUOTE)
            );
        }
    }
}

/// How much may be used of a budget, by the settings of this machine.
fn limit(budget: &UsedBudget, settings: &ServeSettings) -> Option<u64> {
    let budgets = &settings.store.as_ref()?.budgets;
    budgets.limit(&budget.kind, &budget.account)
}

/// A budget, as JSON.
fn budget_facts(budget: &UsedBudget, settings: &ServeSettings) -> Value {
    json!({
        "account": budget.account,
        "kind": budget.kind,
        "used": budget.used,
        "limit": limit(budget, settings),
        "left": budget.left,
    })
}

fn print_budget(budget: &UsedBudget, settings: &ServeSettings) {
    let account = quote(&budget.account, MAX_QUOTE);
    let kind = quote(&budget.kind, MAX_QUOTE);
    let left = Duration::from_secs(budget.left.div_ceil(1000));
    let of = match limit(budget, settings) {
        Some(limit) => format!("{} of {limit}", budget.used),
        None => budget.used.to_string(),
    };
    say!(
        "{account} has used {of} {kind}; the hour goes on for {}",
        format_duration(left)
    );
}

fn print_slots(slots: &UsedSlots) {
    let account = quote(&slots.account, MAX_QUOTE);
    // `connections` or `turns`.
    let kinds = quote(&slots.kind, MAX_QUOTE);
    let one = kinds.strip_suffix('s').filter(|_| slots.used == 1);
    let kind = one.unwrap_or(kinds.as_str());
    say!("{account} has {} {kind} now", slots.used);
}

impl End {
    fn main(self, settings: &ServeSettings) -> Result<(), ChainError> {
        let (kind, name) = match (self.user, self.session) {
            (Some(user), _) => ("user", user),
            (None, session) => ("session", session.unwrap_or_default()),
        };
        let call = Call::Revoke {
            kind: kind.to_owned(),
            name,
        };
        store::ask(settings, &[call])?;
        tell!("all replicas end these connections with their next heartbeat, within some seconds");
        Ok(())
    }
}
