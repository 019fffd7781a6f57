//! The problems of a run: unanswered requests, failures, expired holds, and denied calls of proxies.

use std::collections::{BTreeMap, HashMap};

use crate::{Decision, Kind, Line, State};

/// A problem. Its text has names from the trace unescaped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Finding {
    /// A request got no answer.
    #[error("{method} of {from} (request {request}) has no answer")]
    Unanswered {
        /// The requester.
        from: String,
        method: String,
        /// The number of the request within the chain.
        request: u64,
    },
    /// A proxy could not decide about a message.
    #[error("the proxy `{proxy}` failed on {method}: {why}")]
    Failed {
        proxy: String,
        method: String,
        why: String,
    },
    /// A proxy broke, without losing a message.
    #[error("the proxy `{proxy}` broke: {why}")]
    Broke { proxy: String, why: String },
    /// A proxy held a message for too long.
    #[error("the proxy `{proxy}` held {method} for too long")]
    Expired { proxy: String, method: String },
    /// A proxy exceeded its rights.
    #[error("the proxy `{proxy}` made {}", calls([*denied, *invalid, *full]))]
    Denied {
        proxy: String,
        /// Calls that its powers do not cover.
        denied: u64,
        /// Invalid calls.
        invalid: u64,
        /// Calls past a limit.
        full: u64,
    },
    /// Lines are missing.
    #[error("{0} lines are missing here, since they came faster than they could be written")]
    Dropped(u64),
}

/// The calls of a proxy that were denied, by their causes.
fn calls(counts: [u64; 3]) -> String {
    let causes = [
        ("", "that its powers do not cover"),
        ("invalid ", ""),
        ("", "past a limit"),
    ];
    let calls = counts.iter().zip(causes).filter(|(count, _)| **count > 0);
    let calls: Vec<_> = calls
        .map(|(count, (before, behind))| {
            let s = if *count == 1 { "" } else { "s" };
            let call = format!("{count} {before}call{s} {behind}");
            call.trim_end().to_owned()
        })
        .collect();
    calls.join(", ")
}

/// A request without an answer so far.
#[derive(Debug)]
struct OpenRequest {
    /// The number of its line.
    number: usize,
    from: String,
    method: String,
}

/// Collects problems, line by line.
#[derive(Debug, Default)]
pub struct Findings {
    found: BTreeMap<(usize, usize), Finding>,
    /// The total number of problems.
    count: usize,
    /// Open requests, by connection and number; `None` for those of the host, whose answers are not recorded.
    open: HashMap<(String, u64), Option<OpenRequest>>,
    /// The position of the last reported failure, by connection and proxy, unless a decision reports it too.
    broke: HashMap<(String, String), (usize, usize)>,
}

impl Findings {
    /// Adds a line, with its number.
    pub fn take(&mut self, number: usize, line: &Line) {
        let method = || line.method.clone().unwrap_or_default();
        if let Some(request) = line.request {
            let key = (line.connection.clone(), request);
            match (line.crossed(), line.decided()) {
                (Some((from, _, Kind::Request)), _) => {
                    let asked = || OpenRequest {
                        number,
                        from: from.to_owned(),
                        method: method(),
                    };
                    let first = || (!line.is_hosts_own()).then(asked);
                    self.open.entry(key).or_insert_with(first);
                }
                (Some((_, to, Kind::Response)), _) if matches!(self.open.get(&key), Some(Some(open)) if open.from == to) =>
                {
                    self.open.remove(&key);
                }
                // The requester may be the host, which receives no line.
                (_, Some((_, Decision::Answer | Decision::Refuse))) => {
                    self.open.remove(&key);
                }
                _ => {}
            }
        }
        let proxy = || line.proxy.clone().unwrap_or_default();
        self.take_state(number, line);
        let finding = match line.decision {
            Some(Decision::Fail) => Finding::Failed {
                proxy: proxy(),
                method: method(),
                why: line.why.clone().unwrap_or_default(),
            },
            Some(Decision::Expire) => Finding::Expired {
                proxy: proxy(),
                method: method(),
            },
            _ => {
                let [denied, invalid, full] =
                    [line.denied, line.invalid, line.full].map(Option::unwrap_or_default);
                match line.dropped {
                    Some(count) => Finding::Dropped(count),
                    None if denied > 0 || invalid > 0 || full > 0 => Finding::Denied {
                        proxy: proxy(),
                        denied,
                        invalid,
                        full,
                    },
                    None => return,
                }
            }
        };
        self.add(number, finding);
    }

    /// Handles a line about a proxy's state. Decisions about the messages that a broken proxy had may follow, with the
    /// same cause.
    fn take_state(&mut self, number: usize, line: &Line) {
        let Some(proxy) = &line.proxy else { return };
        let key = || (line.connection.clone(), proxy.clone());
        let why = line.why.clone().unwrap_or_default();
        if line.state == Some(State::Failed) {
            let proxy = proxy.clone();
            let at = self.add(number, Finding::Broke { proxy, why });
            self.broke.insert(key(), at);
        } else if line.decision == Some(Decision::Fail)
            && let Some(at) = self.broke.get(&key())
            && matches!(self.found.get(at), Some(Finding::Broke { why: broke, .. }) if *broke == why)
        {
            self.found.remove(at);
        }
    }

    /// All problems, in the order of their lines.
    pub fn all(mut self) -> Vec<(usize, Finding)> {
        for ((_, request), asked) in std::mem::take(&mut self.open) {
            let Some(OpenRequest {
                number,
                from,
                method,
            }) = asked
            else {
                continue;
            };
            let finding = Finding::Unanswered {
                from,
                method,
                request,
            };
            self.add(number, finding);
        }
        let found = self.found.into_iter();
        found
            .map(|((number, _), finding)| (number, finding))
            .collect()
    }

    fn add(&mut self, number: usize, finding: Finding) -> (usize, usize) {
        let at = (number, self.count);
        self.count += 1;
        self.found.insert(at, finding);
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reader;

    fn found(trace: &str) -> Vec<String> {
        let mut findings = Findings::default();
        for line in Reader::new(trace.as_bytes()) {
            let (number, line) = line.unwrap();
            findings.take(number, &line);
        }
        let all = findings.all().into_iter();
        all.map(|(line, finding)| format!("{line}: {finding}"))
            .collect()
    }

    #[test]
    fn a_run_without_problems_has_no_findings() {
        let trace = r#"
{"version":1,"connection":"a"}
{"connection":"a","from":"client","to":"p","kind":"request","id":1,"request":1,"method":"m"}
{"connection":"a","proxy":"p","decision":"forward","request":1,"method":"m"}
{"connection":"a","from":"p","to":"agent","kind":"request","id":1,"request":1,"method":"m"}
{"connection":"a","from":"agent","to":"p","kind":"response","request":1,"method":"m","result":null}
{"connection":"a","from":"p","to":"client","kind":"response","request":1,"method":"m","result":null}
{"connection":"a","from":"agent","to":"p","kind":"request","id":2,"request":2,"method":"tools/call"}
{"connection":"a","proxy":"p","decision":"answer","request":2,"method":"tools/call"}
{"connection":"a","from":"agent","to":"client","kind":"request","request":3,"method":"mcp/connect"}
{"connection":"a","from":"agent","to":"p","kind":"request","request":4,"method":"_acp-chain/hook/before_tool"}
{"connection":"a","from":"p","to":"client","kind":"request","request":4,"method":"_acp-chain/hook/before_tool"}
"#;
        assert_eq!(found(trace), [""; 0]);
    }

    #[test]
    fn what_a_project_asks_its_host_is_answered_elsewhere() {
        // The chain of a project passes on what the outer one has: that has the agent's id, and the answer.
        let trace = r#"{"connection":"outer","from":"agent","to":"p","kind":"request","id":7,"request":3,"method":"mcp/connect"}
{"connection":"inner","from":"agent","to":"client","kind":"request","request":4,"method":"mcp/connect"}
{"connection":"outer","from":"p","to":"agent","kind":"response","request":3,"method":"mcp/connect","result":{}}
"#;
        assert_eq!(found(trace), [""; 0]);
    }

    #[test]
    fn problems_are_found_with_their_lines() {
        let trace = r#"{"connection":"a","from":"client","to":"p","kind":"request","id":1,"request":1,"method":"m"}
{"connection":"b","from":"agent","to":"client","kind":"response","request":1,"method":"m","result":null}
{"connection":"a","from":"agent","to":"p","kind":"response","request":1,"method":"m","result":null}
{"proxy":"p","decision":"fail","method":"n","why":"it broke"}
{"proxy":"p","decision":"expire","method":"n"}
{"proxy":"p","denied":2,"invalid":0,"full":1}
{"proxy":"p","denied":0,"invalid":1,"full":0}
{"dropped":3}
{"connection":"a","proxy":"q","state":"failed","restarts":0,"why":"it broke"}
{"connection":"a","proxy":"q","decision":"fail","method":"n","why":"it broke"}
{"connection":"a","proxy":"q","state":"running","restarts":1}
{"connection":"a","proxy":"q","state":"failed","restarts":1,"why":"it broke again"}
{"connection":"a","proxy":"q","state":"ended","restarts":1,"why":"it broke again"}
"#;
        let expected = [
            "1: m of client (request 1) has no answer",
            "4: the proxy `p` failed on n: it broke",
            "5: the proxy `p` held n for too long",
            "6: the proxy `p` made 2 calls that its powers do not cover, 1 call past a limit",
            "7: the proxy `p` made 1 invalid call",
            "8: 3 lines are missing here, since they came faster than they could be written",
            "10: the proxy `q` failed on n: it broke",
            "12: the proxy `q` broke: it broke again",
        ];
        assert_eq!(found(trace), expected);
    }
}
