//! `acp-chain state list`: the proxies that have stored values.

use std::time::SystemTime;

use humantime::format_rfc3339_seconds;
use serde_json::json;

use super::{OwnerArgs, amounts, owner, server, values};
use crate::Result;
use acp_chain_app::home;
use acp_chain_app::serve::kept::{self, Amounts};
use acp_chain_app::serve::store;
use acp_chain_channel::limits::about;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_state::{Database, Filter, Summary};

#[derive(Debug, clap::Args)]
pub struct List {
    #[command(flatten)]
    of: OwnerArgs,
    /// Those of a server's users, in the store that its replicas share: the one that config.toml names
    #[arg(long)]
    store: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The values of a namespace, and if they are of `brake`, the day and what was spent.
type Listed = (Summary, Option<(String, Amounts)>);

impl List {
    pub fn main(self) -> Result<()> {
        home::check_owners()?;
        let filter = self.of.filter();
        let listed: Vec<Listed> = if self.store {
            let summaries = store::list_values(&server()?, &filter)?.into_iter();
            summaries.map(|summary| (summary, None)).collect()
        } else {
            own(&filter)?
        };
        if self.json {
            let all = listed.iter().map(|(summary, spent)| {
                let mut one = facts(summary);
                if let Some((day, counted)) = spent {
                    one["day"] = json!(Some(day).filter(|day| !day.is_empty()));
                    one["spent"] = json!(counted);
                }
                one
            });
            say!("{:#}", json!({ "state": all.collect::<Vec<_>>() }));
            return Ok(());
        }
        for (summary, spent) in &listed {
            print(summary);
            if let Some((day, counted)) = spent {
                let words = amounts(counted);
                if day.is_empty() {
                    show!("  spent     {words}");
                } else {
                    show!("  spent     {words}, on {day}");
                }
            }
        }
        if listed.is_empty() {
            if filter == Filter::default() {
                show!("No proxy has stored anything.");
            } else {
                show!("There are no such values; without a choice, all are listed.");
            }
        }
        Ok(())
    }
}

/// What the user's database has of these.
fn own(filter: &Filter) -> Result<Vec<Listed>> {
    // A mistake in the settings is none of what is asked.
    if server().is_ok_and(|set| store::has_values(&set)) {
        tell!("what the users of your server have is in its store: add `--store` to see it");
    }
    let Some(database) = Database::find(&home::database()?)? else {
        return Ok(Vec::new());
    };
    let summaries = database.chosen(filter)?.into_iter();
    let listed = summaries.map(|summary| {
        let spent = kept::spent(&database, &summary.namespace);
        (summary, spent)
    });
    Ok(listed.collect())
}

/// The values of a namespace, as JSON.
pub fn facts(summary: &Summary) -> serde_json::Value {
    let namespace = &summary.namespace;
    json!({
        "extension": namespace.extension,
        "source": namespace.source,
        "user": namespace.user,
        "project": namespace.project,
        "values": summary.count,
        "bytes": summary.bytes,
        "since": text(summary.since),
        "changed": text(summary.changed),
    })
}

fn print(summary: &Summary) {
    let namespace = &summary.namespace;
    say!("{}", quote(&namespace.extension, MAX_QUOTE));
    show!("  from      {}", quote(&namespace.source, MAX_QUOTE));
    show!("  for       {}", owner(namespace));
    say!(
        "  has       {}, {} with keys",
        values(summary.count),
        about(summary.bytes)
    );
    show!("  since     {}", text(summary.since));
    show!("  changed   {}", text(summary.changed));
}

/// The values of a namespace, as a line.
pub fn line(summary: &Summary) -> String {
    let namespace = &summary.namespace;
    format!(
        "{} has {} for {}, last changed at {}",
        quote(&namespace.extension, MAX_QUOTE),
        values(summary.count),
        owner(namespace),
        text(summary.changed)
    )
}

/// A time.
pub fn text(time: SystemTime) -> String {
    format_rfc3339_seconds(time).to_string()
}
