//! `acp-chain receipts show`: a line per record.

use std::path::PathBuf;

use acp_chain_receipts::{Record, What};
use acp_chain_rpc::untrusted::Untrusted;
use console::style;

use super::each;
use crate::{Result, out};

/// How many bytes of a chain are shown.
const CHAIN: usize = 400;

/// How many characters of a digest are shown.
const DIGEST: usize = 12;

#[derive(Debug, clap::Args)]
pub struct Show {
    /// The folder of the log
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Only what belongs to this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only what this proxy decided
    #[arg(long, value_name = "ID")]
    proxy: Option<String>,
    /// Only what happened on this connection
    #[arg(long, value_name = "LETTERS")]
    connection: Option<String>,
}

impl Show {
    pub fn main(self) -> Result<()> {
        each(&self.folder, |number, record| {
            !self.shows(&record) || out::say(format_args!("{}", text(number, &record)))
        })
    }

    fn shows(&self, record: &Record) -> bool {
        let is =
            |wanted: Option<&String>, found: Option<&String>| wanted.is_none() || wanted == found;
        is(self.session.as_ref(), record.session.as_ref())
            && is(self.proxy.as_ref(), record.proxy.as_ref())
            && is(self.connection.as_ref(), record.connection.as_ref())
    }
}

fn text(number: u64, record: &Record) -> String {
    let mut words = vec![
        style(format!("{number} {}", shown(&record.time)))
            .dim()
            .to_string(),
        style(record.what).bold().to_string(),
    ];
    let route = match (&record.from, &record.to) {
        (Some(from), Some(to)) => Some(format!("{} → {}", shown(from), shown(to))),
        _ => None,
    };
    let names = [&record.proxy, &record.decision, &record.method];
    let names = names.into_iter().flatten().map(|name| shown(name));
    words.extend(route.into_iter().chain(names));
    let facts = [
        ("session", &record.session),
        ("call", &record.call),
        ("kind", &record.kind),
        ("outcome", &record.outcome),
        ("user", &record.user),
        ("agent", &record.agent),
        ("program", &record.program),
    ];
    let facts = facts
        .into_iter()
        .filter_map(|(name, fact)| Some(format!("{name}={}", shown(fact.as_ref()?))));
    let digests = [
        ("content", &record.content),
        ("before", &record.before),
        ("after", &record.after),
    ];
    let digests = digests.into_iter().filter_map(|(name, digest)| {
        let digest: String = digest.as_ref()?.chars().take(DIGEST).collect();
        Some(
            style(format!("{name}={}…", shown(&digest)))
                .dim()
                .to_string(),
        )
    });
    words.extend(facts.chain(digests));
    if let Some(chain) = &record.chain {
        words.push(Untrusted::within(chain.get(), CHAIN).to_string());
    }
    if let (What::Removal, Some(removed)) = (record.what, record.removed) {
        words.push(format!("the first {removed} records"));
    }
    words.join(" ")
}

fn shown(name: &str) -> String {
    Untrusted::new(name).to_string()
}
