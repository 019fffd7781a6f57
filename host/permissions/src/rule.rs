//! Rules of the extension `permissions`, with the lines that they come from, and what no rule could be made of.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

/// How many rules of an agent are taken. With more, none allows anything.
pub(crate) const MOST_RULES: usize = 4096;

/// A rule of `permissions`, as `guests/permissions/config.schema.json` describes it. An empty condition matches
/// everything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rule {
    /// What becomes of a call that matches.
    pub decision: Decision,
    /// Kinds of tools.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kind: Vec<&'static str>,
    /// Patterns for titles.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub title: Vec<String>,
    /// Globs for paths.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<String>,
    /// Patterns for commands.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Whether a command that it allows may write and read files by redirections.
    pub redirections: bool,
    /// What it was made of.
    pub from: Source,
    /// How it differs from what it was made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The decision of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// The call is allowed.
    Allow,
    /// The call is refused.
    Deny,
    /// The user is asked.
    Ask,
}

impl Decision {
    /// Its name in a manifest.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Ask => "ask",
        }
    }

    /// Its place among decisions, of which the strictest is first.
    pub(crate) fn laxity(self) -> u8 {
        match self {
            Self::Deny => 0,
            Self::Ask => 1,
            Self::Allow => 2,
        }
    }
}

/// What a rule was made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Source {
    /// The file.
    #[serde(serialize_with = "shown")]
    pub file: PathBuf,
    /// The line in it, counted from 1.
    pub line: usize,
    /// The text of the rule there.
    pub rule: String,
}

/// Paths need not be text, and JSON has only text.
fn shown<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

/// Something of which no rule was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Left {
    /// What it is.
    pub from: Source,
    /// Why there is no rule of it.
    pub why: String,
}

/// The rules of one agent, in the order in which they are tried, and what is missing from them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Import {
    /// The first that matches decides.
    pub rules: Vec<Rule>,
    /// What no rule was made of.
    pub left: Vec<Left>,
    /// Whether a rule that denies or asks may be missing. Then no rule allows anything.
    pub partial: bool,
}

impl Import {
    /// Records that there is no rule of this.
    pub(crate) fn leave(&mut self, from: Source, why: impl Into<String>) {
        let why = why.into();
        self.left.push(Left { from, why });
    }

    /// Records something that may have denied a call, or asked about it, and that cannot be read.
    pub(crate) fn miss(&mut self, from: Source, why: impl Into<String>) {
        self.partial = true;
        self.leave(from, why);
    }

    /// Adds the rules that were made of something with this decision, or the reason that there are none.
    pub(crate) fn take(
        &mut self,
        from: Source,
        decision: Decision,
        made: Result<Vec<Rule>, String>,
    ) {
        match made {
            Ok(rules) => self.rules.extend(rules),
            Err(why) if decision == Decision::Allow => self.leave(from, why),
            Err(why) => self.miss(from, why),
        }
    }

    /// Orders the rules of an agent in which what denies is tried before what asks, and that before what allows.
    pub(crate) fn order_by_strictness(&mut self) {
        self.rules.sort_by_key(|rule| rule.decision.laxity());
    }

    /// Takes out what never decides, as an earlier rule is about the same, and what allows, if a rule that denies or
    /// asks may be missing. A question that stands for a denial gives way to a later denial of the same.
    pub(crate) fn finished(mut self) -> Self {
        if let Some(rule) = self.rules.get(MOST_RULES) {
            let from = rule.from.clone();
            self.miss(from, format!("there are more than {MOST_RULES} rules"));
            self.rules.truncate(MOST_RULES);
        }
        let mut known: HashMap<Conditions, usize> = HashMap::new();
        for rule in std::mem::take(&mut self.rules) {
            let conditions = rule.conditions();
            if let Some(at) = known.get(&conditions) {
                let earlier = &mut self.rules[*at];
                let is_denial = rule.decision == Decision::Deny;
                if is_denial && earlier.decision == Decision::Ask && earlier.note.is_some() {
                    *earlier = rule;
                } else if earlier.decision != rule.decision {
                    let Source { file, line, .. } = &earlier.from;
                    let why = format!(
                        "{}:{line} says `{}` about the same, and counts",
                        file.display(),
                        earlier.decision.as_str()
                    );
                    self.leave(rule.from, why);
                }
            } else if self.partial && rule.decision == Decision::Allow {
                let why = "something that denies or asks may be missing, see the lines that cannot be read";
                self.leave(rule.from, why);
            } else {
                known.insert(conditions, self.rules.len());
                self.rules.push(rule);
            }
        }
        self
    }
}

/// The conditions of a rule: kinds, titles, paths and commands.
type Conditions = (Vec<&'static str>, Vec<String>, Vec<String>, Vec<String>);

impl Rule {
    /// A rule without conditions.
    pub(crate) fn new(decision: Decision, from: &Source) -> Self {
        Self {
            decision,
            kind: Vec::new(),
            title: Vec::new(),
            path: Vec::new(),
            command: Vec::new(),
            redirections: true,
            from: from.clone(),
            note: None,
        }
    }

    fn conditions(&self) -> Conditions {
        let Self {
            kind,
            title,
            path,
            command,
            ..
        } = self;
        (kind.clone(), title.clone(), path.clone(), command.clone())
    }

    pub(crate) fn kinds(mut self, kinds: &[&'static str]) -> Self {
        self.kind = kinds.to_vec();
        self
    }

    pub(crate) fn titles(mut self, titles: Vec<String>) -> Self {
        self.title = titles;
        self
    }

    pub(crate) fn paths(mut self, paths: Vec<String>) -> Self {
        self.path = paths;
        self
    }

    pub(crate) fn commands(mut self, commands: Vec<String>) -> Self {
        self.command = commands;
        // Agents do not allow redirections to and from files by the words of a command, and a rule that does may stand
        // behind one that does not: then both would allow more than each.
        self.redirections = self.decision != Decision::Allow;
        self
    }

    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }
}

/// Rules that deny or ask about a tool by its name. A name is only in the titles of calls that hooks report, so for a
/// tool of a known kind, other calls of the kind lead to a question.
pub(crate) fn refuse_tool(
    decision: Decision,
    names: Vec<String>,
    kind: Option<&'static str>,
    from: &Source,
) -> Vec<Rule> {
    let by_title = Rule::new(decision, from).titles(names);
    let of_kind = kind.map(|kind| {
        let note =
            format!("a request need not name the tool, so you are asked about the kind `{kind}`");
        Rule::new(Decision::Ask, from).kinds(&[kind]).note(note)
    });
    [by_title].into_iter().chain(of_kind).collect()
}
