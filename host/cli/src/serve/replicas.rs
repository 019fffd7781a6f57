//! `acp-chain serve status` and `acp-chain serve end`: the replicas of one store, and ending what they serve.

use std::collections::BTreeMap;
use std::time::{Duration, UNIX_EPOCH};

use humantime::{format_duration, format_rfc3339_seconds};
use serde_json::json;

use acp_chain_app::ChainError;
use acp_chain_app::serve::{ServeSettings, store};
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_state::Summary;
use acp_chain_store::{Answer, Call, Replica, ServedSession, UsedBudget, UsedSlots};

use crate::state::{facts, line};

/// How many proxies that keep values are listed: as many as of everything else.
const LISTED: usize = 256;

#[derive(Debug, clap::Subcommand)]
pub enum ServeCommand {
    /// List the replicas of the store that config.toml names, and the sessions that they serve
    Status(Status),
    /// End the connections of a user, or with a session, at all replicas; the user may connect again
    End(End),
}

#[derive(Debug, clap::Args)]
pub struct Status {
    /// Only the sessions of this user
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
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
        let account = self.user.clone();
        let kept = kept_values(settings, self.user.as_deref())?;
        let calls = [
            Call::Replicas,
            Call::Sessions { user: self.user },
            Call::Budgets {
                account: account.clone(),
            },
            Call::Slots { account },
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
        if self.json {
            let values: Vec<_> = kept.iter().map(facts).collect();
            say!(
                "{:#}",
                json!({
                    "replicas": replicas,
                    "sessions": sessions,
                    "budgets": budgets,
                    "slots": slots,
                    "values": values,
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
        budgets.iter().for_each(print_budget);
        slots.iter().for_each(print_slots);
        for summary in &kept {
            say!("{}", line(summary));
        }
        Ok(())
    }
}

/// What proxies keep in the store, such as what `brake` has counted: for a user or for all.
fn kept_values(settings: &ServeSettings, user: Option<&str>) -> Result<Vec<Summary>, ChainError> {
    if !store::has_values(settings) {
        return Ok(Vec::new());
    }
    let mut all = store::list_values(settings)?;
    all.retain(|one| user.is_none() || one.namespace.user.as_deref() == user);
    all.truncate(LISTED);
    Ok(all)
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

fn print_budget(budget: &UsedBudget) {
    let account = quote(&budget.account, MAX_QUOTE);
    let kind = quote(&budget.kind, MAX_QUOTE);
    let left = Duration::from_secs(budget.left.div_ceil(1000));
    say!(
        "{account} has used {} {kind}; the hour goes on for {}",
        budget.used,
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
