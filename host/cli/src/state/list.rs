//! `acp-chain state list`: the proxies that have stored values.

use std::time::SystemTime;

use humantime::format_rfc3339_seconds;
use serde_json::json;

use super::{owner, server, values};
use crate::Result;
use acp_chain_app::home;
use acp_chain_app::serve::store;
use acp_chain_channel::limits::about;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_state::{Database, Summary};

#[derive(Debug, clap::Args)]
pub struct List {
    /// Those of a server's users, in the store that its replicas share: the one that config.toml names
    #[arg(long)]
    store: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl List {
    pub fn main(self) -> Result<()> {
        home::check_owners()?;
        let summaries = if self.store {
            store::list_values(&server()?)?
        } else {
            own()?
        };
        if self.json {
            let all: Vec<_> = summaries.iter().map(facts).collect();
            say!("{:#}", json!({ "state": all }));
            return Ok(());
        }
        for summary in &summaries {
            print(summary);
        }
        if summaries.is_empty() {
            show!("No proxy has stored anything.");
        }
        Ok(())
    }
}

/// What the user's database has.
fn own() -> Result<Vec<Summary>> {
    // A mistake in the settings is none of what is asked.
    if server().is_ok_and(|set| store::has_values(&set)) {
        tell!("what the users of your server have is in its store: add `--store` to see it");
    }
    let found = Database::find(&home::database()?)?;
    let summaries = found.map(|database| database.namespaces()).transpose()?;
    Ok(summaries.unwrap_or_default())
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
