//! The receipts of the chains of a trial: their log verifies, has what was decided and what became of tool calls, and
//! nothing of what the agent read.

use std::process::Command;

use anyhow::Result;
use serde_json::Value;

use super::Record;
use crate::agents::places::Place;
use crate::agents::steps::{Outcome, Step};

/// The proxy that refuses a command, or answers the agent's question about it.
const GUARD: &str = "permissions";

/// Adds the outcome to the record. `contents` were in what the agent read. No chain runs.
pub fn step(place: &Place, contents: &[&str], record: &mut Record) {
    let (works, said) = match found(place, contents) {
        Ok(missing) => (missing.is_empty(), missing.join(", ")),
        Err(error) => (false, format!("{error:#}")),
    };
    let outcome = Outcome::of(Step::KeepsReceipts, works, said);
    record.outcomes.push(outcome);
}

/// What is not as it should be.
fn found(place: &Place, contents: &[&str]) -> Result<Vec<String>> {
    let log = place.receipts();
    let of_log = |words: &str| {
        let mut command = Command::new(&place.installed.program);
        command.args(words.split(' ')).arg(&log);
        command.env("HOME", &place.home);
        command
    };
    xtask::printed(&mut of_log("receipts verify"))?;
    let exported = xtask::printed(&mut of_log("receipts export --to json"))?;
    let records: Vec<Value> = serde_json::from_str(&exported)?;
    let has = |what: &str, fits: fn(&Value) -> bool| {
        let mut those = records.iter().filter(|record| record["what"] == what);
        those.any(fits)
    };
    let is_refusal = |record: &Value| {
        let decisions = ["refuse", "answer"];
        record["proxy"] == GUARD && decisions.iter().any(|name| record["decision"] == *name)
    };
    let is_outcome = |record: &Value| record["call"].is_string() && record["outcome"].is_string();
    let mut wrong = Vec::new();
    if !has("chain", |record| record["role"] == "agent") {
        wrong.push("no chain is recorded".to_owned());
    }
    if !has("decision", is_refusal) {
        wrong.push(format!("no refusal of `{GUARD}` is recorded"));
    }
    if !has("tool", is_outcome) {
        wrong.push("no outcome of a tool call is recorded".to_owned());
    }
    let shown = contents
        .iter()
        .filter(|content| exported.contains(**content));
    wrong.extend(shown.map(|content| format!("{content} is in the records")));
    Ok(wrong)
}
