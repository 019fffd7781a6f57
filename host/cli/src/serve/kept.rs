//! What proxies keep for the users of a server: printed for operators, and moved into the store of replicas.

use serde_json::{Value, json};

use acp_chain_app::ChainError;
use acp_chain_app::serve::kept::{Account, Accounts, Kept};
use acp_chain_app::serve::{ServeSettings, store};
use acp_chain_channel::limits::about;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_state::{Moved, PAGE};

use crate::out::counted;
use crate::state::{amounts, facts, line, owner, text};

/// Moves what proxies have stored in the data folder into the store, and says what became of it.
pub fn migrate(settings: &ServeSettings) -> Result<(), ChainError> {
    let mut moved = Moved::default();
    let done = store::move_values(settings, &mut moved);
    if moved.added > 0 {
        tell!(
            "{} of the server's users moved from the data folder to the store",
            counted(moved.added, "value")
        );
    }
    if moved.known > 0 {
        tell!(
            "{} that the store had already removed from the data folder",
            counted(moved.known, "value")
        );
    }
    for refusal in &moved.refusals {
        tell!(
            "left in the data folder: `{}` of {}, for {}: {}",
            quote(&refusal.key, MAX_QUOTE),
            quote(&refusal.namespace.extension, MAX_QUOTE),
            owner(&refusal.namespace),
            refusal.why
        );
    }
    let untold = moved.refused - moved.refusals.len() as u64;
    if untold > 0 {
        tell!(
            "{} more left in the data folder, for such reasons",
            counted(untold, "value")
        );
    }
    if moved.refused > 0 {
        tell!(
            "`acp-chain state list` shows what is left, and `acp-chain state wipe --user NAME` removes it"
        );
    }
    if moved.own > 0 {
        tell!(
            "{} in the data folder left there: no user of a server has them",
            counted(moved.own, "value")
        );
    }
    done
}

/// What is kept, as JSON.
pub fn kept_facts(kept: &Kept) -> Value {
    let totals = &kept.totals;
    json!({
        "namespaces": totals.namespaces,
        "users": totals.users,
        "values": totals.values,
        "bytes": totals.bytes,
        "days": accounts_facts(&kept.days),
        "projects": accounts_facts(&kept.projects),
    })
}

/// Whose values are kept, as JSON.
pub fn namespaces_facts(kept: &Kept) -> Vec<Value> {
    kept.namespaces.iter().map(facts).collect()
}

fn accounts_facts(accounts: &Accounts) -> Value {
    let top = accounts.top.iter().map(account_facts);
    json!({
        "top": top.collect::<Vec<_>>(),
        "others": accounts.others,
        "unread": accounts.unread,
    })
}

fn account_facts(account: &Account) -> Value {
    let namespace = &account.namespace;
    json!({
        "source": namespace.source,
        "user": namespace.user,
        "project": namespace.project,
        "day": Some(&account.day).filter(|day| !day.is_empty()),
        "spent": account.spent,
        "changed": text(account.changed),
    })
}

/// Prints what is kept.
pub fn print(kept: &Kept) {
    let totals = &kept.totals;
    if totals.namespaces == 0 {
        return;
    }
    say!(
        "proxies keep {}, {} with keys, for {}",
        counted(totals.values, "value"),
        about(totals.bytes),
        counted(totals.users, "user")
    );
    print_accounts(&kept.days, "user");
    print_accounts(&kept.projects, "project");
    for summary in &kept.namespaces {
        say!("{}", line(summary));
    }
    if kept.namespaces.len() == PAGE {
        say!("there may be more: `--user NAME` lists what is kept for a user");
    }
}

fn print_accounts(accounts: &Accounts, of: &str) {
    for account in &accounts.top {
        let namespace = &account.namespace;
        let user = match &namespace.user {
            Some(user) => quote(user, MAX_QUOTE),
            None => "without a name".to_owned(),
        };
        let place = match &namespace.project {
            Some(project) => format!("in {}", quote(&project.display().to_string(), MAX_QUOTE)),
            None => format!("on {}", account.day),
        };
        let by = match &*namespace.source {
            "built-in" => String::new(),
            source => format!(", by brake of {}", quote(source, MAX_QUOTE)),
        };
        say!("{user}, {place}{by}: {}", amounts(&account.spent));
    }
    if accounts.others > 0 {
        say!(
            "{} more {} less: `--top N` lists some, and `--user NAME` those of a user",
            counted(accounts.others, of),
            if accounts.others == 1 {
                "has spent"
            } else {
                "have spent"
            }
        );
    }
    if accounts.unread > 0 {
        say!(
            "{} of brake cannot be read",
            counted(accounts.unread, "account")
        );
    }
}
