//! What each proxy did: what one end sent beside what the other received, and whether that is what the demo should
//! show.

use acp_chain_acp::PROMPT;
use console::{measure_text_width, style};
use serde_json::Value;

use super::{DemoRun, script};
use crate::wrapped;

/// The width of the column that says whose text it is.
const LABEL: usize = 16;

/// The minimum width of the column with the text. In narrower lines the text is below.
const TEXT: usize = 40;

/// How far the text is indented there.
const NARROW: usize = 4;

/// The beginnings of the markers of `redact`.
const MARKERS: [&str; 2] = ["[redacted", "[hidden here"];

/// What one proxy did.
pub struct Scene {
    title: &'static str,
    /// Whose text it is, and the text.
    rows: Vec<(&'static str, String)>,
    /// Whether the proxy did what it should.
    pub is_kept: bool,
}

/// The scenes, in the order of the turns.
pub(super) fn all(played: &DemoRun) -> [Scene; 5] {
    let received = AgentInput::read(&played.to_agent);
    [
        key(played, &received),
        rules(&received),
        edit(played, &received),
        token(played),
        command(played, &received),
    ]
}

/// A key in a prompt.
fn key(played: &DemoRun, received: &AgentInput) -> Scene {
    let got = received.block(0);
    Scene {
        title: "A key in a prompt: `redact` takes it out",
        is_kept: !played.to_agent.contains(script::KEY) && got.contains(MARKERS[0]),
        rows: vec![("you wrote", script::prompt()), ("the agent got", got)],
    }
}

/// The rules of the project.
fn rules(received: &AgentInput) -> Scene {
    let got = received.block(1);
    let of_rules = script::RULES.lines().filter(|line| line.starts_with('-'));
    let is_kept = of_rules.clone().all(|line| got.contains(line));
    let arrived = of_rules.filter(|line| got.contains(line));
    Scene {
        title: "The project's AGENTS.md: `rules` sends it with your first prompt",
        is_kept,
        rows: vec![("the agent got", arrived.collect::<Vec<_>>().join("\n"))],
    }
}

/// An edit that a rule allows.
fn edit(played: &DemoRun, received: &AgentInput) -> Scene {
    let answer = received.outcome(0);
    let [turn, _] = &played.turns;
    Scene {
        title: "An edit in src: `permissions` allows it, and you are not asked",
        is_kept: answer == "allow" && !turn.was_asked,
        rows: vec![
            ("the agent asks", script::EDIT.to_owned()),
            ("it is told", answer),
            ("you see", turn.updates.join("\n")),
        ],
    }
}

/// A token in the agent's message.
fn token(played: &DemoRun) -> Scene {
    let [turn, _] = &played.turns;
    let is_hidden = |piece: &&str| !played.to_client.contains(*piece);
    Scene {
        title: "A token in the answer, in three pieces: `redact` hides it",
        is_kept: script::TOKEN.iter().all(is_hidden) && turn.message.contains(MARKERS[1]),
        rows: vec![
            ("the agent says", script::leak().concat()),
            ("you see", turn.message.clone()),
        ],
    }
}

/// A command that a rule denies.
fn command(played: &DemoRun, received: &AgentInput) -> Scene {
    let answer = received.outcome(1);
    let [_, turn] = &played.turns;
    Scene {
        title: "A command that deletes everything: `permissions` refuses it",
        is_kept: answer == "reject" && !turn.was_asked,
        rows: vec![
            ("you wrote", script::CLEAN.to_owned()),
            ("the agent asks", script::COMMAND.to_owned()),
            ("it is told", answer),
            ("you see", turn.updates.join("\n")),
        ],
    }
}

/// What the agent received.
struct AgentInput(Vec<Value>);

impl AgentInput {
    fn read(lines: &str) -> Self {
        let messages = lines.lines().map(serde_json::from_str);
        Self(messages.filter_map(Result::ok).collect())
    }

    /// The text of a block of the first prompt; empty without one.
    fn block(&self, at: usize) -> String {
        let prompt = self.0.iter().find(|message| message["method"] == PROMPT);
        let text = prompt.and_then(|prompt| prompt["params"]["prompt"][at]["text"].as_str());
        text.unwrap_or_default().to_owned()
    }

    /// The chosen option of a permission request, in the order of the answers; empty without one.
    fn outcome(&self, at: usize) -> String {
        let mut chosen = self.0.iter().filter_map(|message| {
            let outcome = &message["result"]["outcome"];
            outcome["optionId"].as_str()
        });
        chosen.nth(at).unwrap_or_default().to_owned()
    }
}

impl Scene {
    /// The scene in lines, for a terminal with that many columns.
    pub fn lines(&self, columns: usize) -> Vec<String> {
        let mark = if self.is_kept {
            style("✓").green()
        } else {
            style("✗").red()
        };
        let is_narrow = columns < LABEL + TEXT;
        let indent = if is_narrow { NARROW } else { LABEL + 2 };
        let mut lines = Vec::new();
        for (at, line) in wrapped(self.title, columns.saturating_sub(2))
            .iter()
            .enumerate()
        {
            let title = style(line).bold();
            lines.push(if at == 0 {
                format!("{mark} {title}")
            } else {
                format!("  {title}")
            });
        }
        for (label, text) in &self.rows {
            let width = columns.saturating_sub(indent);
            let texts = text.lines().flat_map(|line| wrapped(line, width));
            let texts = texts.map(|line| emphasised(&line));
            if is_narrow {
                lines.push(format!("  {}", style(label).dim()));
                lines.extend(texts.map(|text| format!("    {text}")));
                continue;
            }
            for (at, text) in texts.enumerate() {
                let whose = if at == 0 { *label } else { "" };
                let pad = " ".repeat(LABEL - measure_text_width(whose));
                lines.push(format!("  {}{pad}{text}", style(whose).dim()));
            }
        }
        lines
    }
}

/// A text with its secrets in red, and with the markers for them in green.
fn emphasised(text: &str) -> String {
    let mut shown = text.to_owned();
    for secret in [script::KEY, script::TOKEN.concat().as_str()] {
        shown = shown.replace(secret, &style(secret).red().to_string());
    }
    let marker = MARKERS.iter().find_map(|begins| {
        let start = text.find(begins)?;
        let end = start + text[start..].find(']')? + 1;
        Some(&text[start..end])
    });
    match marker {
        Some(marker) => shown.replace(marker, &style(marker).green().to_string()),
        None => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::super::editor::UserView;
    use super::*;

    #[test]
    fn in_a_narrow_terminal_the_text_is_below_its_label_and_whole() {
        console::set_colors_enabled(false);
        let scene = Scene {
            title: "A key",
            rows: vec![
                ("you wrote", script::prompt()),
                ("it got", "a\nb".to_owned()),
            ],
            is_kept: true,
        };
        let narrow = scene.lines(40);
        assert_eq!(
            narrow.join("\n"),
            format!(
                "✓ A key\n  you wrote\n    Why does the upload fail? I use the\n    key {}.\n  it got\n    a\n    b",
                script::KEY
            )
        );
        let wrote = script::prompt();
        let wide = scene.lines(80);
        assert_eq!(
            wide.join("\n"),
            format!(
                "✓ A key\n  you wrote       {wrote}\n  it got          a\n{}b",
                " ".repeat(18)
            )
        );
    }

    #[test]
    fn what_did_not_arrive_is_a_broken_promise() {
        let played = DemoRun {
            turns: [UserView::default(), UserView::default()],
            to_client: String::new(),
            to_agent: String::new(),
            trace: String::new(),
        };
        assert!(all(&played).iter().all(|scene| !scene.is_kept));
    }
}
