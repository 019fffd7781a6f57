//! The log, and the last failure of each proxy in it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use super::finding::Finding;
use super::{Doctor, Findings};
use acp_chain_app::home;
use acp_chain_channel::Failure;
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_system::writable;

/// How many bytes at the end of a log are examined.
const TAIL: u64 = 4 << 20;

/// How many failures are shown, the newest first.
const MOST: usize = 10;

/// The subject of failures that are not a proxy's.
const CHAIN: &str = "the chain";

/// A failure, and its time.
#[derive(Debug, PartialEq, Eq)]
struct LastFailure {
    time: String,
    says: String,
}

pub fn look(doctor: &Doctor) -> Findings {
    let path = doctor.log_file.clone().or_else(home::log_file);
    let path = path.ok_or_else(|| {
        Finding::problem("there is no place for a log")
            .step("let HOME name a folder of yours, or run with `--log-file FILE`")
    })?;
    let shown = Untrusted::new(path.display());
    let unusable = |error: String| {
        Finding::problem(format!("{shown} cannot be written: {error}"))
            .step("make it writable, or run with `--log-file FILE`")
    };
    let is_there = path.symlink_metadata().is_ok();
    let place = if is_there && !path.is_file() {
        Err("it is not a file".to_owned())
    } else {
        writable::check(&path).map_err(|refusal| refusal.to_string())
    };
    let mut findings = vec![match place {
        Ok(()) if is_there => Finding::fine(format!("{shown}")),
        Ok(()) => Finding::fine(format!("{shown}, which is still empty")),
        Err(error) => unusable(error),
    }];
    if !path.is_file() {
        return Ok(findings);
    }
    // The older log may have failures that this one lacks.
    let old = tail(&path.with_extension("log.old")).unwrap_or_default();
    match tail(&path) {
        Ok(text) => findings.extend(failures(&(old + &text))),
        Err(error) => findings.push(
            Finding::problem(format!("{shown} cannot be read: {error}"))
                .step("make it readable for you"),
        ),
    }
    Ok(findings)
}

/// The end of a file.
fn tail(path: &Path) -> io::Result<String> {
    if !path.is_file() {
        return Ok(String::new());
    }
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn failures(text: &str) -> Vec<Finding> {
    let mut last: Vec<_> = last(text).into_iter().collect();
    last.sort_by(|(_, one), (_, other)| other.time.cmp(&one.time));
    let shown =
        last.into_iter().take(MOST).map(|(subject, failed)| {
            Finding::note(format!("{subject}, last at {}: {}", failed.time, failed.says)).step(
            "if it happens again: `acp-chain check --start` starts each proxy, and the log has more",
        )
        });
    shown.collect()
}

/// The last failure of each proxy in a log, by `Failure::TARGET`. Text from outside cannot imitate such a line: the
/// target precedes the message of a line.
fn last(text: &str) -> BTreeMap<String, LastFailure> {
    let mut last = BTreeMap::new();
    for line in text.lines() {
        let Some((time, says)) = failure(line) else {
            continue;
        };
        let proxy = says
            .strip_prefix("the proxy `")
            .and_then(|rest| rest.split_once("` "));
        let (subject, says) = match (proxy, says.strip_prefix("the chain ")) {
            (Some((name, says)), _) => (format!("the proxy `{name}`"), says),
            (None, Some(says)) => (CHAIN.to_owned(), says),
            (None, None) => continue,
        };
        let (time, says) = (time.to_owned(), says.to_owned());
        last.insert(subject, LastFailure { time, says });
    }
    last
}

/// The time of a line, and its text, if it reports a failure.
fn failure(line: &str) -> Option<(&str, &str)> {
    let (time, rest) = line.split_once(' ')?;
    let (level, rest) = rest.trim_start().split_once(' ')?;
    let says = rest.strip_prefix(Failure::TARGET)?.strip_prefix(": ")?;
    (level == "ERROR").then_some((time, says))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_failure_of_each_proxy_is_found_and_text_of_proxies_is_ignored() {
        let log = "\
e `cut` broke: in the midst of a line\n\
2026-01-01T00:00:01.000000Z ERROR acp_chain::failed: the proxy `one` broke at the request \"x\": wasm trap\n    | main\n\
2026-01-01T00:00:02.000000Z  INFO acp_chain_sandbox::journal: the proxy `one` broke: a lie proxy=\"two\"\n\
2026-01-01T00:00:03.000000Z ERROR acp_chain_sandbox::journal: ERROR acp_chain::failed: the proxy `one` broke: a lie\n\
2026-01-01T00:00:04.000000Z ERROR acp_chain::failed: the proxy `one` is given up, and all messages bypass it: wasm trap\n\
2026-01-01T00:00:05.000000Z ERROR acp_chain::failed: the chain did not start: /c.toml: no\n";
        let found = last(log);
        let says: Vec<_> = found
            .iter()
            .map(|(subject, failed)| format!("{subject} {} {}", &failed.time[18..19], failed.says))
            .collect();
        assert_eq!(
            says,
            [
                "the chain 5 did not start: /c.toml: no",
                "the proxy `one` 4 is given up, and all messages bypass it: wasm trap",
            ]
        );
    }
}
