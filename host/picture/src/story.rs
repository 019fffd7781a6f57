//! The picture: the chain, and the messages of a turn.

use std::cmp::Ordering;

use console::{measure_text_width, style, truncate_str};

use crate::chunks::joined;
use crate::{Kind, Leg};

/// The width of the column with the sender and the receiver.
const ROUTE: usize = 32;

/// The minimum width of the column with the text. In narrower lines the text is below.
const TEXT: usize = 24;

/// One message, and the requests and answers that proxies send because of it.
struct Passage<'a> {
    legs: Vec<&'a Leg>,
}

/// Consecutive hops on which a message is unchanged.
struct Stretch<'a> {
    route: Vec<&'a str>,
    /// The message that the text belongs to, if not the passage's own.
    aside: String,
    text: String,
    before: Option<String>,
}

/// The chain, on one line.
#[must_use]
pub fn chain<'p>(proxies: impl IntoIterator<Item = &'p str>) -> String {
    let proxies = proxies.into_iter();
    let proxies = proxies.map(|id| format!("{} ⇄ ", style(id).cyan()));
    format!("  client ⇄ {}agent", proxies.collect::<String>())
}

/// The messages of a turn, in lines of this width, with a blank line before each message.
#[must_use]
pub fn turn(legs: &[Leg], width: usize) -> String {
    let told = passages(legs);
    let told = told.iter().filter(|passage| !passage.is_before_the_turn());
    lines(told.flat_map(|passage| passage.lines(width)))
}

/// The messages of a turn, shortened: chunks are merged, other unchanged notifications are counted, and stored values are
/// left out.
#[must_use]
pub fn changes(legs: &[Leg], width: usize) -> String {
    let mut legs = joined(legs);
    legs.retain(|leg| !leg.is_of_stored_value());
    let told = passages(&legs);
    let told: Vec<_> = told
        .iter()
        .filter(|passage| !passage.is_before_the_turn())
        .collect();
    let alike = |one: &&Passage, other: &&Passage| {
        let routes = [one, other].map(|passage| passage.unchanged());
        routes[0].is_some() && routes[0] == routes[1]
    };
    lines(told.chunk_by(alike).flat_map(|alike| {
        match alike {
            [first, _, ..] => first.counted(alike.len(), width),
            alike => alike
                .iter()
                .flat_map(|passage| passage.lines(width))
                .collect(),
        }
    }))
}

fn lines(lines: impl Iterator<Item = String>) -> String {
    lines.collect::<Vec<_>>().join("\n")
}

/// Groups the legs by message, in the order in which the messages started.
fn passages(legs: &[Leg]) -> Vec<Passage<'_>> {
    let mut passages: Vec<Passage> = Vec::new();
    for leg in legs {
        match passages
            .iter_mut()
            .find(|passage| passage.continues_with(leg))
        {
            Some(passage) => passage.legs.push(leg),
            None => passages.push(Passage { legs: vec![leg] }),
        }
    }
    passages
}

impl<'a> Passage<'a> {
    /// Whether it precedes the turn and is unchanged.
    fn is_before_the_turn(&self) -> bool {
        matches!(&*self.legs[0].method, "initialize" | "session/new") && self.stretches().len() == 1
    }

    fn heading(&self) -> String {
        let first = self.legs[0];
        let verb = match first.kind {
            Kind::Request => "asks",
            Kind::Notification => "tells",
            Kind::Response => "answers",
        };
        format!("{} {verb} {}", first.from, first.title())
    }

    fn lines(&self, width: usize) -> Vec<String> {
        let heading = format!("\n{}", style(self.heading()).bold());
        let stretches = self.stretches();
        let stretches = stretches.iter().flat_map(|stretch| stretch.lines(width));
        std::iter::once(heading).chain(stretches).collect()
    }

    /// The method and the route of an unchanged notification.
    fn unchanged(&self) -> Option<(&str, Vec<&str>)> {
        let first = self.legs[0];
        let mut stretches = self.stretches();
        let is_told = matches!(first.kind, Kind::Notification) && stretches.len() == 1;
        // A message that cannot be shown may have been changed.
        let is_told = is_told && self.legs.iter().all(|leg| leg.is_whole());
        is_told.then(|| (&*first.method, stretches.swap_remove(0).route))
    }

    /// The line for `count` notifications of its kind.
    fn counted(&self, count: usize, width: usize) -> Vec<String> {
        let heading = format!("{}, {count} times", self.heading());
        let route = self
            .unchanged()
            .map_or(String::new(), |(_, route)| route.join(" → "));
        vec![
            format!("\n{}", style(heading).bold()),
            format!(
                "{}{}",
                beginning(&route, "", width),
                style("(unchanged)").dim()
            ),
        ]
    }

    /// Whether a leg belongs to this message, or to a request or answer of a proxy that has it.
    fn continues_with(&self, leg: &Leg) -> bool {
        let first = self.legs[0];
        let mut own = self.legs.iter().filter(|one| one.is_same_message(first));
        let Some(reached) = own.next_back().map(|last| &last.to) else {
            return false;
        };
        if leg.is_same_message(first) {
            return leg.from == *reached;
        }
        if is_end(reached) {
            return false;
        }
        match leg.kind {
            Kind::Request => leg.from == *reached,
            Kind::Notification => false,
            // The answer to the proxy's request, or the proxy's own answer on its way back.
            Kind::Response => {
                let mut asked = self.legs.iter().filter(|asked| asked.method == leg.method);
                leg.to == *reached && asked.any(|asked| asked.from == *reached)
                    || leg.method == first.method
                        && self.legs.last().is_some_and(|last| last.to == leg.from)
            }
        }
    }

    fn stretches(&self) -> Vec<Stretch<'a>> {
        let first = self.legs[0];
        let mut stretches: Vec<Stretch> = Vec::new();
        let mut before: Option<String> = None;
        for leg in &self.legs {
            let text = leg.text();
            let own = leg.is_same_message(first);
            let aside = match (own, leg.kind) {
                (true, _) => String::new(),
                (_, Kind::Response) => "answer: ".to_owned(),
                _ => format!("{}: ", leg.title()),
            };
            match stretches.last_mut() {
                Some(last) if last.continues_with(leg, &aside, &text) => last.route.push(&leg.to),
                _ => stretches.push(Stretch {
                    route: vec![&leg.from, &leg.to],
                    aside,
                    before: before.clone().filter(|_| own),
                    text: text.clone(),
                }),
            }
            if own {
                before = Some(text);
            }
        }
        stretches
    }
}

impl Stretch<'_> {
    fn continues_with(&self, leg: &Leg, aside: &str, text: &str) -> bool {
        let is_same = self.aside == aside && self.text == text && leg.is_whole();
        is_same && self.route.last() == Some(&&*leg.from)
    }

    fn lines(&self, width: usize) -> Vec<String> {
        let mut start = beginning(&self.route.join(" → "), &self.aside, width);
        let mut told = Vec::new();
        for line in changed_lines(self.before.as_deref(), &self.text) {
            let used = start.rsplit('\n').next().map_or(0, measure_text_width);
            let room = width.saturating_sub(used);
            told.push(format!("{start}{}", truncate_str(&line, room, "…")));
            start = " ".repeat(used);
        }
        if told.is_empty() {
            told.push(format!("{start}{}", style(self.no_new_line()).dim()));
        }
        told
    }

    /// The description of a text without new lines.
    fn no_new_line(&self) -> String {
        if self.before.as_deref() == Some(&*self.text) {
            return "(unchanged)".to_owned();
        }
        let count = |text: &str| said_lines(text).count();
        let (old, new) = (self.before.as_deref().map_or(0, count), count(&self.text));
        let lines = if old.abs_diff(new) == 1 {
            "line"
        } else {
            "lines"
        };
        match old.cmp(&new) {
            _ if new == 0 => "(nothing)".to_owned(),
            Ordering::Greater => format!("({} {lines} fewer)", old - new),
            Ordering::Less => format!("({} {lines} repeated)", new - old),
            Ordering::Equal => "(the same lines, repeated or arranged differently)".to_owned(),
        }
    }
}

impl Leg {
    fn is_same_message(&self, other: &Leg) -> bool {
        self.kind == other.kind && self.method == other.method
    }
}

fn is_end(part: &str) -> bool {
    matches!(part, "client" | "agent")
}

/// The line before the text of a message: its route, and the message if it is another one.
fn beginning(route: &str, aside: &str, width: usize) -> String {
    let pad = ROUTE.saturating_sub(measure_text_width(route));
    let used = measure_text_width(route) + pad + 4 + measure_text_width(aside);
    let aside = style(aside).dim();
    if width < used + TEXT {
        format!("  {route}  {aside}\n    ")
    } else {
        format!("  {route}{}  {aside}", " ".repeat(pad))
    }
}

/// The lines that are not blank.
fn said_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim().is_empty())
}

/// The lines that are not in the text before, with their new parts coloured.
fn changed_lines(before: Option<&str>, text: &str) -> Vec<String> {
    let lines = said_lines(text);
    let Some(before) = before else {
        return lines.map(str::to_owned).collect();
    };
    let old: Vec<&str> = before.lines().collect();
    let new = lines.filter(|line| !old.contains(line));
    new.map(|line| {
        let nearest = old.iter().max_by_key(|old| common_start(old, line).len());
        highlight(nearest.copied().unwrap_or(""), line)
    })
    .collect()
}

fn highlight(old: &str, new: &str) -> String {
    let start = common_start(old, new);
    if start.is_empty() {
        return style(new).green().to_string();
    }
    let (old, new) = (&old[start.len()..], &new[start.len()..]);
    let same_end = old
        .chars()
        .rev()
        .zip(new.chars().rev())
        .take_while(|(a, b)| a == b);
    let end: usize = same_end.map(|(letter, _)| letter.len_utf8()).sum();
    let (middle, end) = new.split_at(new.len() - end);
    format!("{start}{}{end}", style(middle).green())
}

fn common_start<'a>(old: &str, new: &'a str) -> &'a str {
    let same = old.chars().zip(new.chars()).take_while(|(a, b)| a == b);
    let length = same.map(|(letter, _)| letter.len_utf8()).sum();
    &new[..length]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leg(from: &str, to: &str, kind: &str, method: &str, body: &str) -> Leg {
        let slot = if kind == "response" {
            "result"
        } else {
            "params"
        };
        serde_json::from_str(&format!(
            r#"{{"from":"{from}","to":"{to}","kind":"{kind}","method":"{method}","{slot}":{body}}}"#
        ))
        .unwrap()
    }

    fn prompt(from: &str, to: &str, text: &str) -> Leg {
        let body = format!(r#"{{"prompt":[{{"type":"text","text":"{text}"}}]}}"#);
        leg(from, to, "request", "session/prompt", &body)
    }

    fn chunk(from: &str, to: &str, text: &str) -> Leg {
        let body = format!(r#"{{"update":{{"content":{{"text":"{text}"}}}}}}"#);
        leg(from, to, "notification", "session/update", &body)
    }

    const EDIT: &str = r#"{"toolCall":{"title":"Edit a"}}"#;

    #[test]
    fn a_message_is_shown_with_the_requests_and_answers_of_proxies() {
        console::set_colors_enabled(false);
        let (read, ask) = ("fs/read_text_file", "session/request_permission");
        let legs = [
            leg("client", "agent", "request", "initialize", "{}"),
            prompt("client", "rules", "fix it with KEY"),
            leg(
                "rules",
                "client",
                "request",
                read,
                r#"{"path":"/p/AGENTS.md"}"#,
            ),
            leg(
                "client",
                "rules",
                "response",
                read,
                r#"{"content":"be brief"}"#,
            ),
            prompt("rules", "redact", r"be brief\nfix it with KEY"),
            prompt("redact", "agent", r"be brief\nfix it with ***"),
            leg("agent", "redact", "request", ask, EDIT),
            leg("redact", "permissions", "request", ask, EDIT),
            leg(
                "permissions",
                "agent",
                "response",
                ask,
                r#"{"outcome":{"optionId":"yes"}}"#,
            ),
            chunk("agent", "redact", "to"),
            chunk("redact", "client", ""),
            chunk("agent", "redact", "ken"),
            chunk("redact", "client", "***"),
            leg(
                "agent",
                "client",
                "response",
                "session/prompt",
                r#"{"stopReason":"end_turn"}"#,
            ),
        ];
        assert_eq!(
            chain(["rules", "permissions", "redact"]),
            "  client ⇄ rules ⇄ permissions ⇄ redact ⇄ agent"
        );
        assert_eq!(
            turn(&legs, 100),
            "
client asks session/prompt
  client → rules                    fix it with KEY
  rules → client                    fs/read_text_file: /p/AGENTS.md
  client → rules                    answer: be brief
  rules → redact                    be brief
  redact → agent                    fix it with ***

agent asks session/request_permission
  agent → redact → permissions      Edit a
  permissions → agent               answer: yes

agent tells session/update
  agent → redact                    to
  redact → client                   (nothing)

agent tells session/update
  agent → redact                    ken
  redact → client                   ***

agent answers session/prompt
  agent → client                    end_turn"
        );
    }

    #[test]
    fn removed_and_repeated_lines_are_counted() {
        console::set_colors_enabled(false);
        let legs = [
            prompt("client", "a", r"one\ntwo\nthree"),
            prompt("a", "b", r"one\nthree"),
            prompt("b", "c", r"one\nthree\nthree\nthree"),
            prompt("c", "d", r"three\none\nthree\nthree"),
            prompt("d", "agent", ""),
        ];
        assert_eq!(
            turn(&legs, 100),
            "
client asks session/prompt
  client → a                        one
                                    two
                                    three
  a → b                             (1 line fewer)
  b → c                             (2 lines repeated)
  c → d                             (the same lines, repeated or arranged differently)
  d → agent                         (nothing)"
        );
    }

    #[test]
    fn a_message_forwarded_after_a_request_is_shown_as_unchanged() {
        console::set_colors_enabled(false);
        let read = "fs/read_text_file";
        let legs = [
            prompt("client", "a", "go on"),
            leg("a", "client", "request", read, r#"{"path":"/p"}"#),
            leg("client", "a", "response", read, r#"{"content":"ok"}"#),
            prompt("a", "agent", "go on"),
        ];
        let shown = turn(&legs, 100);
        assert!(
            shown.ends_with("  a → agent                         (unchanged)"),
            "{shown}"
        );
        // The text's column is narrower by the text before it.
        let narrow = turn(&legs, 60);
        assert!(narrow.contains("fs/read_text_file: \n    /p\n"), "{narrow}");
    }

    #[test]
    fn stored_values_are_left_out_unless_they_fail() {
        console::set_colors_enabled(false);
        let load = "load-value";
        let failure = r#"{"from":"acp-chain","to":"a","kind":"response","method":"load-value",
            "error":{"message":"the disk is full"}}"#;
        let failure: Leg = serde_json::from_str(failure).unwrap();
        let legs = [
            prompt("client", "a", "go on"),
            leg("a", "acp-chain", "request", load, r#"{"key":"k"}"#),
            leg("acp-chain", "a", "response", load, r#"{"value":null}"#),
            prompt("a", "agent", "go on"),
        ];
        let whole = turn(&legs, 100);
        assert!(whole.contains(load), "{whole}");
        assert_eq!(
            changes(&legs, 100),
            "
client asks session/prompt
  client → a → agent                go on"
        );
        let failed = changes(&[failure], 100);
        assert!(failed.contains("the disk is full"), "{failed}");
    }

    #[test]
    fn in_a_narrow_terminal_the_text_is_below_the_route() {
        console::set_colors_enabled(false);
        let read = "fs/read_text_file";
        let legs = [
            prompt("client", "rules", r"fix what is broken, please\nno more"),
            leg("rules", "client", "request", read, r#"{"path":"/p/A"}"#),
            leg("client", "rules", "response", read, r#"{"content":"ok"}"#),
        ];
        let shown = turn(&legs, 24);
        let lines: Vec<_> = shown.lines().map(str::trim_end).collect();
        let expected = [
            "",
            "client asks session/prompt",
            "  client → rules",
            "    fix what is broken,…",
            "    no more",
            "  rules → client  fs/read_text_file:",
            "    /p/A",
            "  client → rules  answer:",
            "    ok",
        ];
        assert_eq!(lines, expected);
        // From 60 columns on, the text is beside the route.
        assert!(turn(&legs, 59).contains("rules  \n    fix"));
        assert!(turn(&legs, 60).contains("rules                    fix"));
    }

    fn update(from: &str, to: &str, kind: &str, text: &str) -> Leg {
        let body =
            format!(r#"{{"update":{{"sessionUpdate":"{kind}","content":{{"text":"{text}"}}}}}}"#);
        leg(from, to, "notification", "session/update", &body)
    }

    #[test]
    fn chunks_are_merged_and_unchanged_notifications_are_counted() {
        console::set_colors_enabled(false);
        let said = |from, to, text| update(from, to, "agent_message_chunk", text);
        let legs = [
            prompt("client", "agent", "go on"),
            said("agent", "redact", "The KE"),
            said("redact", "client", "The "),
            said("agent", "redact", "Y is"),
            update("agent", "client", "tool_call_update", "one"),
            update("agent", "client", "tool_call_update", "two"),
            said("agent", "redact", " her"),
            said("redact", "client", "*** is her"),
            said("agent", "redact", "e."),
            said("redact", "client", "e."),
        ];
        assert_eq!(
            changes(&legs, 100),
            "
client asks session/prompt
  client → agent                    go on

agent tells session/update
  agent → redact                    The KEY is
  redact → client                   The 

agent tells session/update, 2 times
  agent → client                    (unchanged)

agent tells session/update
  agent → redact                     here.
  redact → client                   *** is here."
        );
    }

    #[test]
    fn other_lines_are_skipped_and_terminal_controls_have_no_effect() {
        let trace = concat!(
            r#"{"from":"agent","to":"client","kind":"notification","method":"session/update","#,
            r#""params":{"update":{"content":{"text":"\u001b[2Jall"}}}}"#,
            "\n",
            r#"{"proxy":"p","decision":"forward","method":"session/update","session":"s"}"#,
        );
        let legs = crate::legs(trace).unwrap();
        assert_eq!(legs.len(), 1);
        assert_eq!(legs[0].text(), "\u{fffd}[2Jall");
        assert!(crate::legs("{").is_err());
    }

    #[test]
    fn tool_calls_are_shown_by_title_and_updates_without_text_by_kind() {
        let trace = [
            r#"{"sessionUpdate":"tool_call","toolCallId":"a","title":"Edit it","status":"pending"}"#,
            r#"{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"completed"}"#,
            r#"{"sessionUpdate":"tool_call_update","toolCallId":"b","status":"failed"}"#,
            r#"{"sessionUpdate":"available_commands_update","availableCommands":[]}"#,
            r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"image","data":""}}"#,
        ]
        .map(|update| {
            format!(
                r#"{{"from":"agent","to":"client","kind":"notification","method":"session/update","params":{{"update":{update}}}}}"#
            )
        });
        let legs = crate::legs(&trace.join("\n")).unwrap();
        let texts: Vec<_> = legs.iter().map(Leg::text).collect();
        let expected = [
            "Edit it (pending)",
            "Edit it (completed)",
            "tool_call_update (failed)",
            "available_commands_update",
            "agent_message_chunk",
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn an_unrepresentable_message_is_shown_as_such() {
        console::set_colors_enabled(false);
        let deep = "[".repeat(200) + &"]".repeat(200);
        let trace = [
            r#"{"update":{"content":{"text":"a\ud800b"}}}"#,
            r#"{"update":{"content":{"text":"c"}},"_meta":1e999}"#,
            &format!(r#"{{"update":{{"content":{{"text":"d"}}}},"_meta":{deep}}}"#),
        ]
        .map(|params| {
            format!(
                r#"{{"from":"agent","to":"client","kind":"notification","method":"session/update","params":{params}}}"#
            )
        });
        let legs = crate::legs(&trace.join("\n")).unwrap();
        let texts: Vec<_> = legs.iter().map(Leg::text).collect();
        let unshown = "(cannot be shown)";
        assert_eq!(texts, ["a\u{fffd}b", unshown, unshown]);
    }
}
