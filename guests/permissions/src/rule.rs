//! A rule: its conditions, and its decision.
//!
//! In doubt the user is asked. An allowing rule must match the whole call, by its exact spelling; a denying or asking
//! rule matches if any part of the call does, in any possible meaning for a file system.

use acp_chain_calls::call::{Call, KINDS};
use acp_chain_calls::command::{self, Commands, Expansions, Pattern};
use acp_chain_calls::directory::Directory;
use acp_chain_calls::fold::{fold, is_ignorable};
use acp_chain_calls::glob::Glob;
use acp_chain_calls::place::Place;
use acp_chain_calls::verdict::Match;
use serde::{Deserialize, Serialize};
use wildmatch::WildMatch;

/// Whether a rule matches a call.
#[derive(Debug, PartialEq)]
pub(crate) enum Verdict {
    Yes,
    /// It may match, so the user is asked. With the reason.
    Maybe(String),
    /// With the reason.
    No(String),
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Decision {
    Allow,
    Deny,
    Ask,
}

/// A rule as written in the manifest. Missing conditions match everything.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    decision: Decision,
    kind: Option<OneOrMore>,
    title: Option<OneOrMore>,
    path: Option<OneOrMore>,
    command: Option<OneOrMore>,
    #[serde(default)]
    remember: bool,
    redirections: Option<bool>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl OneOrMore {
    fn all(self, key: &str) -> Result<Vec<String>, String> {
        match self {
            Self::One(one) => Ok(vec![one]),
            Self::More(more) if more.is_empty() => Err(format!(
                "`{key}` is empty and would match nothing; remove it to match any value"
            )),
            Self::More(more) => Ok(more),
        }
    }
}

pub(crate) struct Rule {
    pub(crate) decision: Decision,
    kinds: Option<Vec<String>>,
    titles: Option<Vec<String>>,
    paths: Option<Vec<Glob>>,
    commands: Option<Vec<Pattern>>,
    remember: bool,
    /// Whether commands that it allows may open files by redirections.
    redirections: bool,
    texts: Texts,
}

/// Conditions as they are written.
struct Texts {
    paths: Option<Vec<String>>,
    commands: Option<Vec<String>>,
}

/// A permission request, as rules see it.
pub(crate) struct Case<'a> {
    pub(crate) call: &'a Call,
    /// The places of the call's paths.
    pub(crate) places: Vec<Place>,
    /// The question beside the call: it can cause a denial, never an approval.
    pub(crate) question: Option<&'a str>,
    pub(crate) beside: Option<Place>,
    /// Possible paths: words of commands and titles, and texts of the raw input.
    pub(crate) mentioned: Vec<(String, Place)>,
    /// Possible paths in code: the parts of the texts of commands, if they have any.
    pub(crate) in_code: Vec<(String, Place)>,
    /// Words of commands that a shell expands, and what other words may be in a directory to which a command changes.
    pub(crate) expanded: Vec<(String, Place)>,
    /// Whether there are too many possible paths, or too long a text, so that some are missing.
    pub(crate) mentions_more: bool,
    /// The call's commands, if it is about any.
    pub(crate) commands: Option<Commands>,
    /// Whether it asks to sign in, or to open a page.
    pub(crate) is_consent: bool,
    /// Whether it is the run of a tool of which nothing says the kind.
    pub(crate) is_of_any_kind: bool,
    pub(crate) directory: Option<Directory>,
}

impl Entry {
    pub(crate) fn check(self) -> Result<Rule, String> {
        if self.remember && self.decision == Decision::Ask {
            return Err("`remember` has no meaning where the user is asked".into());
        }
        if self.redirections.is_some()
            && (self.decision != Decision::Allow || self.command.is_none())
        {
            return Err(
                "`redirections` has a meaning only beside `command` in a rule that allows".into(),
            );
        }
        let all = |given: Option<OneOrMore>, key| given.map(|values| values.all(key)).transpose();
        let kinds = all(self.kind, "kind")?;
        let unknown = |kind: &&String| !KINDS.contains(&&***kind) && !kind.starts_with('_');
        if let Some(kind) = kinds.iter().flatten().find(unknown) {
            let known = KINDS.join("`, `");
            return Err(format!("there is no kind `{kind}`; there are `{known}`"));
        }
        let texts = Texts {
            paths: all(self.path, "path")?,
            commands: all(self.command, "command")?,
        };
        let globs = texts.paths.as_ref().map(|patterns| {
            let globs = patterns.iter().map(|pattern| Glob::all(pattern));
            globs.collect::<Result<Vec<_>, _>>()
        });
        let paths: Option<Vec<_>> = globs
            .transpose()?
            .map(|globs| globs.into_iter().flatten().collect());
        let shares = paths.iter().flatten().any(Glob::is_share);
        if shares && self.decision == Decision::Allow {
            return Err("`path` has a share, and paths of shares are never allowed".into());
        }
        let commands = texts.commands.as_ref().map(|commands| {
            let patterns = commands.iter().map(|command| Pattern::new(command));
            patterns.collect::<Result<Vec<_>, _>>()
        });
        Ok(Rule {
            decision: self.decision,
            kinds,
            titles: all(self.title, "title")?,
            paths,
            commands: commands.transpose()?,
            remember: self.remember,
            redirections: self.redirections.unwrap_or(true),
            texts,
        })
    }
}

impl Rule {
    /// Whether it matches. A rule that allows also marks the commands that it covers: several such rules may allow a
    /// call together, if no rule between them denies or asks.
    pub(crate) fn judge(&self, case: &Case, covered: &mut [bool]) -> Verdict {
        if case.is_consent && self.titles.is_none() {
            return Verdict::No(
                "only a rule with its `title` decides about signing in or opening a page".into(),
            );
        }
        match self.decision {
            Decision::Allow => self.allows(case, covered).map_or(Verdict::Yes, Verdict::No),
            Decision::Deny | Decision::Ask => self.meets(case),
        }
    }

    /// Whether calls that run commands are among those that it may match.
    fn executes(&self) -> bool {
        let execute = |kind: &String| kind == "execute";
        self.kinds
            .as_ref()
            .is_none_or(|kinds| kinds.iter().any(execute))
    }

    /// Why it does not match, if it does not.
    fn allows(&self, case: &Case, covered: &mut [bool]) -> Option<String> {
        let call = case.call;
        if call.unclear {
            return Some("a part of the call is unreadable or unknown".into());
        }
        self.kind_is_other(call)
            .or_else(|| self.title_is_other(case))
            .or_else(|| self.place_is_other(case))
            .or_else(|| self.command_is_other(case, covered))
    }

    fn kind_is_other(&self, call: &Call) -> Option<String> {
        let kinds = match (&self.kinds, &self.commands) {
            (Some(kinds), _) => kinds,
            (None, Some(_)) => &vec!["execute".to_owned()],
            // In another mode, an agent may request permission less often.
            (None, None) => {
                let switches = call.kinds.contains("switch_mode");
                return switches
                    .then(|| "only a rule that names the kind `switch_mode` allows that".into());
            }
        };
        if call.kinds.is_empty() {
            return Some("the call has no kind".into());
        }
        let is_other = |kind: &&str| !kinds.iter().any(|own| own == kind);
        let other = call.all_kinds().find(is_other)?;
        Some(format!("the call is of the kind {other:?}"))
    }

    fn title_is_other(&self, case: &Case) -> Option<String> {
        let titles = &case.call.titles;
        let patterns = self.titles.as_ref()?;
        if titles.is_empty() {
            return Some("the call has no title".into());
        }
        let fits = |title: &str, is_run: bool| {
            let fits = |pattern: &String| {
                WildMatch::new(pattern).matches(title)
                    && !(is_run && spans_commands(pattern, title))
            };
            is_plain(title) && patterns.iter().any(fits)
        };
        let other = titles.iter().find(|title| !fits(title, self.executes()));
        if let Some(other) = other {
            return Some(format!("no `title` matches {other:?}"));
        }
        if self.commands.is_some() {
            return None;
        }
        self.input_is_other(case, |command| fits(command, true))
    }

    /// Why the input has more than a rule by titles covers: a title is the agent's own text, and may be of its model. A
    /// command in the input has to be one that the titles allow, and a path one that `path` does.
    fn input_is_other(&self, case: &Case, fits: impl Fn(&str) -> bool) -> Option<String> {
        let call = case.call;
        let input = &call.input;
        let is_command = call.kinds.contains("execute") && !call.is_of_server;
        if input.is_odd || (is_command && input.is_given && input.lines.is_empty()) {
            return Some("its input has no command in a known form, and may say anything".into());
        }
        if let Some(command) = command::texts(call).find(|command| !fits(command)) {
            return Some(format!("no `title` matches the command {command:?}"));
        }
        let own = case.directory.as_ref();
        let is_here = |given: &&String| own.is_some_and(|own| own.holds(given));
        let elsewhere = input.directories.iter().filter(|given| !is_here(given));
        let freely = call.only_reads();
        let is_allowed = |path: &&String| {
            let whole = own.map_or_else(|| (*path).clone(), |own| own.join(path));
            let exact = Place::of(&whole, own).exact;
            exact.is_some_and(|exact| {
                let mut globs = self.paths.iter().flatten();
                globs.any(|glob| glob.allows(&exact, own, freely))
            })
        };
        let mut paths = input.paths().chain(elsewhere);
        let path = paths.find(|path| !is_allowed(path))?;
        Some(format!("no `path` allows {path:?}, which its input names"))
    }

    fn place_is_other(&self, case: &Case) -> Option<String> {
        if let Some(why) = self.paths_are_unproved(case) {
            return Some(why.to_owned());
        }
        let freely = case.call.only_reads();
        if self.paths.is_some() && case.places.is_empty() {
            return Some("the call names no path".into());
        }
        let fits = |(place, _): &(&Place, &String)| {
            let Some(exact) = &place.exact else {
                return false;
            };
            match &self.paths {
                Some(globs) => globs
                    .iter()
                    .any(|glob| glob.allows(exact, case.directory.as_ref(), freely)),
                None => freely || !exact.protected.contains(&true),
            }
        };
        let mut places = case.places.iter().zip(&case.call.paths);
        let (_, path) = places.find(|place| !fits(place))?;
        Some(match self.paths {
            Some(_) => format!("no `path` allows {path:?}"),
            None => format!("only a rule whose `path` names {path:?} allows that"),
        })
    }

    /// Why the call may reach more paths than it names.
    fn paths_are_unproved(&self, case: &Case) -> Option<&'static str> {
        let commands = case.commands.as_ref().filter(|_| self.paths.is_some())?;
        // Some editors have a member `command` for what they do with a file.
        let is_other = |kind: &str| !matches!(kind, "read" | "edit" | "delete" | "move" | "search");
        let mut kinds = case.call.all_kinds().peekable();
        let runs = kinds.peek().is_none() || kinds.any(is_other);
        if self.commands.is_none() && runs {
            return Some("a command may reach paths that the call does not name");
        }
        commands
            .has_code
            .then_some("its code may reach paths that the call does not name")
    }

    fn command_is_other(&self, case: &Case, covered: &mut [bool]) -> Option<String> {
        let patterns = self.commands.as_ref()?;
        let Some(commands) = &case.commands else {
            return Some("the call names no command".into());
        };
        if let Some(doubt) = commands.doubt() {
            return Some(doubt.to_owned());
        }
        if let Some(file) = commands.opened().filter(|_| !self.redirections) {
            return Some(format!("it opens {file:?} by a redirection"));
        }
        let left = commands.cover(patterns, Expansions::Read, case.directory.as_ref(), covered)?;
        Some(format!("no `command` allows all of {left:?}"))
    }

    fn meets(&self, case: &Case) -> Verdict {
        let call = case.call;
        let kind = self.kinds.as_ref().is_none_or(|kinds| {
            // Clients show unknown and missing kinds as `other`.
            let other = |kind: &str| !KINDS.contains(&kind);
            let has = |own: &String| {
                call.all_kinds().any(|kind| {
                    let kind = fold(kind);
                    fold(own) == kind || (own == "other" && other(&kind))
                }) || (own == "other" && call.kinds.is_empty())
            };
            kinds.iter().any(has)
        });
        if !kind && !case.is_of_any_kind {
            return Verdict::No("the call is of another kind".into());
        }
        let title = self.titles.as_ref().is_none_or(|patterns| {
            let titles = call.titles.iter().map(String::as_str);
            let mut titles = titles
                .chain(case.question)
                .map(|title| (title, fold(title)));
            titles.any(|(title, folded)| {
                patterns.iter().any(|pattern| {
                    WildMatch::new(pattern).matches(title)
                        || WildMatch::new(&fold(pattern)).matches(&folded)
                })
            })
        });
        if !title {
            return Verdict::No("no `title` matches".into());
        }
        let path = self.paths.as_ref().is_none_or(|globs| {
            let mut declared = case.places.iter().chain(&case.beside);
            declared.any(|place| meets(globs, place, case))
                || case.mentioned.iter().any(|(word, place)| {
                    let meant = globs.iter().filter(|glob| glob.is_meant_by(word));
                    meets(meant, place, case)
                })
                || case.in_code.iter().any(|(part, place)| {
                    let meant = globs.iter().filter(|glob| glob.is_spelt_out_by(part));
                    meets(meant, place, case)
                })
        });
        let doubt_of_path = if path { None } else { self.path_doubt(case) };
        if !path && doubt_of_path.is_none() {
            return Verdict::No("no `path` matches".into());
        }
        let of_any_kind = || "it is not known of which `kind` this tool is".to_owned();
        let doubt = doubt_of_path.or_else(|| (!kind).then(of_any_kind));
        let met = self.commands.as_ref().map_or(Match::Yes, |patterns| {
            let commands = case.commands.as_ref();
            commands.map_or(Match::No, |commands| commands.meet(patterns))
        });
        match (met, doubt) {
            (Match::Yes, None) => Verdict::Yes,
            (Match::Yes, Some(doubt)) => Verdict::Maybe(doubt),
            (Match::Maybe, _) => Verdict::Maybe(
                "the text does not tell whether `command` matches, or a program that does the same"
                    .into(),
            ),
            (Match::No, _) => Verdict::No("no `command` matches".into()),
        }
    }

    /// Why `path` may match although no path that is named does.
    fn path_doubt(&self, case: &Case) -> Option<String> {
        if case.mentions_more {
            return Some("it has too many words to tell whether `path` matches".into());
        }
        let word = self.expanded(case)?;
        Some(format!("`path` may match what {word:?} stands for"))
    }

    /// A word that a shell may expand to a path that matches.
    fn expanded<'c>(&self, case: &'c Case) -> Option<&'c str> {
        let globs = self.paths.as_deref().unwrap_or_default();
        let directory = case.directory.as_ref();
        let mut words = case.expanded.iter();
        let found = words.find(|(word, place)| {
            let mut meant = globs.iter().filter(|glob| glob.is_meant_by(word));
            meant.any(|glob| {
                let mut readings = place.readings.iter();
                readings.any(|reading| glob.may_meet(reading, directory))
            })
        });
        found.map(|(word, _)| &**word)
    }

    /// Warnings about the rule for the user.
    pub(crate) fn warnings(&self) -> Vec<&'static str> {
        let mut warnings = match self.decision {
            Decision::Allow => self.warnings_of_allowing(),
            Decision::Deny | Decision::Ask => self.warnings_of_denying(),
        };
        let mut commands = self.commands.iter().flatten();
        if commands.any(Pattern::has_no_program) {
            warnings.push(
                "a pattern of `command` never matches: it begins with an option or a word of the shell, where the program \
                 has to stand",
            );
        }
        warnings
    }

    fn warnings_of_allowing(&self) -> Vec<&'static str> {
        let mut warnings = Vec::new();
        let titles = self.titles.as_deref();
        let commands = self.commands.as_deref();
        let is_any = |patterns: &[Pattern]| patterns.iter().any(Pattern::is_any);
        let is_hidden = |titles: &[String]| titles.iter().all(|title| !is_plain(title));
        let is_free = titles.is_none() && self.paths.is_none();
        if self.executes() && is_free && commands.is_none_or(is_any) {
            warnings.push(if self.kinds.is_none() && commands.is_none() {
                "it allows every command, and calls of all other kinds; name the commands that you mean in `command`, \
                 or give a `kind`"
            } else {
                "it allows every command; name those that you mean in `command`, or give a `kind`"
            });
        }
        if titles.is_some_and(is_hidden) {
            warnings.push(
                "it never matches: a title with a line break or hidden characters is never allowed",
            );
        } else if titles.is_some() && commands.is_none() && self.paths.is_none() {
            warnings.push(
                "it allows by `title` alone, which is the agent's own text: a call whose input has a command is allowed \
                 only if that matches `title`, too, and one whose input has a path is not; name them in `command` or \
                 `path` (`*` in `title` does not stand for `;`, `&`, `|`, `$`, `<`, `>`, a backquote or a line break)",
            );
        }
        if !self.executes() && commands.is_some() {
            warnings.push("it never matches: `command` is for calls of the kind `execute`");
        }
        let only_executes = |kinds: &Vec<String>| kinds.iter().all(|kind| kind == "execute");
        if self.paths.is_some()
            && commands.is_none()
            && self.kinds.as_ref().is_some_and(only_executes)
        {
            warnings.push(
                "it never matches: a command may reach paths that the call does not name; name the commands in `command`",
            );
        }
        let are_linked = |globs: &Vec<Glob>| globs.iter().all(Glob::is_linked);
        if self.paths.as_ref().is_some_and(are_linked) {
            warnings.push(
                "it never matches: paths below `/proc` and `/dev`, where links lead anywhere, are never allowed",
            );
        }
        if self.commands.iter().flatten().any(Pattern::has_home) {
            warnings.push(
                "`~` in `command` matches only a quoted one: what a shell expands is never allowed",
            );
        }
        warnings
    }

    fn warnings_of_denying(&self) -> Vec<&'static str> {
        let mut warnings = Vec::new();
        let names_commands = |kind: &String| {
            let has_none = [
                "delete",
                "edit",
                "fetch",
                "move",
                "read",
                "search",
                "switch_mode",
                "think",
            ];
            !has_none.contains(&&**kind)
        };
        let has_no_commands = |kinds: &Vec<String>| !kinds.iter().any(names_commands);
        if self.commands.is_some() && self.kinds.as_ref().is_some_and(has_no_commands) {
            warnings.push("it hardly ever matches: `command` is for calls of the kind `execute`");
        }
        let mut commands = self.commands.iter().flatten();
        if commands.any(|command| command.has_options() && !command.has_no_program()) {
            warnings.push(
                "it matches options of `command` only where, and as, they are written: `rm -rf *` is not `rm -fr x`, nor \
                 `rm -r -f x`; to match all, write only the program: `rm *`",
            );
        }
        warnings
    }

    /// Whether it matches every request, so that no rule behind it is tried.
    pub(crate) fn is_last(&self) -> bool {
        let has_conditions = self.kinds.is_some()
            || self.titles.is_some()
            || self.paths.is_some()
            || self.commands.is_some();
        self.decision != Decision::Allow && !has_conditions
    }

    /// Whether it matches all that a later rule does, which then never decides. Not every such pair is found.
    pub(crate) fn shadows(&self, later: &Self) -> bool {
        let same = |own: &String, later: &String| own == later;
        let title = |own: &String, later: &String| {
            own == later || (!own.contains('?') && WildMatch::new(own).matches(later))
        };
        let (paths, later_paths) = (&self.texts.paths, &later.texts.paths);
        match (self.decision, later.decision) {
            // What allows matches by its exact spelling, and wildcards do not match all words.
            (Decision::Allow, Decision::Allow) => {
                has_all(paths.as_ref(), later_paths.as_ref())
                    && has_all(self.titles.as_ref(), later.titles.as_ref())
                    && has_all(self.kinds.as_ref(), later.kinds.as_ref())
                    && has_all(self.texts.commands.as_ref(), later.texts.commands.as_ref())
                    && (self.redirections || !later.redirections)
            }
            (Decision::Allow, Decision::Deny | Decision::Ask) => false,
            // Only a rule with a title decides about signing in.
            (Decision::Deny | Decision::Ask, _) => {
                self.titles.is_some() == later.titles.is_some()
                    && covers(self.titles.as_ref(), later.titles.as_ref(), title)
                    && covers(self.kinds.as_ref(), later.kinds.as_ref(), same)
                    && covers(paths.as_ref(), later_paths.as_ref(), same)
                    && covers(
                        self.commands.as_ref(),
                        later.commands.as_ref(),
                        Pattern::covers,
                    )
            }
        }
    }

    /// Whether it allows by simple patterns what a later rule denies or asks about, so that this one hardly ever decides.
    pub(crate) fn precedes(&self, later: &Self) -> bool {
        let is_by_command = |rule: &Self| rule.titles.is_none() && rule.paths.is_none();
        let (Some(own), Some(narrower)) = (&self.commands, &later.commands) else {
            return false;
        };
        let is_covered = |pattern: &Pattern| {
            let mut covering = own.iter();
            covering.any(|own| own.covers(pattern) && !pattern.covers(own))
        };
        self.decision == Decision::Allow
            && later.decision != Decision::Allow
            && is_by_command(self)
            && is_by_command(later)
            && self.executes()
            && later.executes()
            && narrower.iter().all(is_covered)
    }

    /// The kinds of option that this rule chooses, the best first; empty if the user is asked.
    pub(crate) fn options(&self) -> &'static [&'static str] {
        match (self.decision, self.remember) {
            (Decision::Ask, _) => &[],
            // The agent does not request permission again for a remembered decision, so only `remember` chooses such an
            // option.
            (Decision::Allow, false) => &["allow_once"],
            (Decision::Allow, true) => &["allow_always", "allow_once"],
            (Decision::Deny, false) => &["reject_once", "reject_always"],
            (Decision::Deny, true) => &["reject_always", "reject_once"],
        }
    }
}

/// Whether a condition, which matches everything if it is missing, covers each value of a later rule's.
fn covers<T>(own: Option<&Vec<T>>, later: Option<&Vec<T>>, fits: impl Fn(&T, &T) -> bool) -> bool {
    let Some(own) = own else {
        return true;
    };
    later.is_some_and(|later| {
        let is_covered = |later: &T| own.iter().any(|own| fits(own, later));
        later.iter().all(is_covered)
    })
}

/// Whether a condition has all values of a later rule's.
fn has_all(own: Option<&Vec<String>>, later: Option<&Vec<String>>) -> bool {
    match (own, later) {
        (Some(own), Some(later)) => later.iter().all(|value| own.contains(value)),
        (own, later) => own == later,
    }
}

fn meets<'g>(globs: impl IntoIterator<Item = &'g Glob>, place: &Place, case: &Case) -> bool {
    let directory = case.directory.as_ref();
    let mut globs = globs.into_iter();
    globs.any(|glob| {
        place
            .readings
            .iter()
            .any(|reading| glob.meets(reading, directory))
    })
}

/// Whether a wildcard of the pattern matches a character of the title that ends a command or begins another: then the
/// title has more such characters than the pattern.
fn spans_commands(pattern: &str, title: &str) -> bool {
    let count = |text: &str| {
        text.matches([';', '&', '|', '$', '<', '>', '`', '\n', '\r'])
            .count()
    };
    count(title) > count(pattern)
}

/// Whether a title is one fully visible line.
fn is_plain(title: &str) -> bool {
    let hidden =
        |c: char| c.is_control() || is_ignorable(c) || matches!(c, '\u{2028}' | '\u{2029}');
    !title.contains(hidden)
}
