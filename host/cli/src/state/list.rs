//! `acp-chain state list`: the proxies that have stored values.

use std::time::SystemTime;

use humantime::format_rfc3339_seconds;
use serde_json::json;

use super::{owner, values};
use crate::Result;
use acp_chain_app::home;
use acp_chain_channel::limits::about;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_state::{Database, Summary};

#[derive(Debug, clap::Args)]
pub struct List {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl List {
    pub fn main(self) -> Result<()> {
        home::check_owners()?;
        let summaries = match Database::find(&home::database()?)? {
            Some(database) => database.namespaces()?,
            None => Vec::new(),
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
            say!("No proxy has stored anything.");
        }
        Ok(())
    }
}

fn facts(summary: &Summary) -> serde_json::Value {
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
    say!("  from      {}", quote(&namespace.source, MAX_QUOTE));
    say!("  for       {}", owner(namespace));
    say!(
        "  has       {}, {} with keys",
        values(summary.count),
        about(summary.bytes)
    );
    say!("  since     {}", text(summary.since));
    say!("  changed   {}", text(summary.changed));
}

fn text(time: SystemTime) -> String {
    format_rfc3339_seconds(time).to_string()
}
