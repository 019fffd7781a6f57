//! A rule: its conditions, and its decision.
//!
//! In doubt the user is asked. A rule that allows must match the whole call, by its exact spelling; one that denies
//! or asks matches if any part of the call does, in any possible meaning for a file system.

use serde::Deserialize;
use wildmatch::WildMatch;

use crate::call::Call;
use crate::directory::Directory;
use crate::fold::{fold, is_ignorable};
use crate::glob::Glob;
use crate::place::Place;

#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
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
    #[serde(default)]
    remember: bool,
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
                "`{key}` is empty, so that nothing would match; leave it out if any will do"
            )),
            Self::More(more) => Ok(more),
        }
    }
}

/// The kinds that the protocol knows. Others begin with `_`.
const KINDS: &[&str] = &[
    "read",
    "edit",
    "delete",
    "move",
    "search",
    "execute",
    "think",
    "fetch",
    "switch_mode",
    "other",
];

pub(crate) struct Rule {
    pub(crate) decision: Decision,
    kinds: Option<Vec<String>>,
    titles: Option<Vec<String>>,
    paths: Option<Vec<Glob>>,
    remember: bool,
}

/// A permission request, as rules see it.
pub(crate) struct Case<'a> {
    pub(crate) call: &'a Call,
    /// The places of the call's paths.
    pub(crate) places: Vec<Place>,
    /// The question beside the call: it can cause a denial, never an approval.
    pub(crate) question: Option<&'a str>,
    pub(crate) beside: Option<Place>,
    pub(crate) directory: Option<Directory>,
}

impl Entry {
    pub(crate) fn check(self) -> Result<Rule, String> {
        if self.remember && self.decision == Decision::Ask {
            return Err("`remember` has no meaning where the user is asked".into());
        }
        let kinds = self.kind.map(|kinds| kinds.all("kind")).transpose()?;
        let unknown = |kind: &&String| !KINDS.contains(&&***kind) && !kind.starts_with('_');
        if let Some(kind) = kinds.iter().flatten().find(unknown) {
            let known = KINDS.join("`, `");
            return Err(format!("there is no kind `{kind}`; there are `{known}`"));
        }
        let patterns = self.path.map(|paths| paths.all("path")).transpose()?;
        let globs = patterns.map(|patterns| {
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
        Ok(Rule {
            decision: self.decision,
            kinds,
            titles: self.title.map(|titles| titles.all("title")).transpose()?,
            paths,
            remember: self.remember,
        })
    }
}

impl Rule {
    pub(crate) fn matches(&self, case: &Case) -> bool {
        match self.decision {
            Decision::Allow => self.allows(case),
            Decision::Deny | Decision::Ask => self.meets(case),
        }
    }

    fn allows(&self, case: &Case) -> bool {
        let call = case.call;
        let kind = match &self.kinds {
            Some(kinds) => {
                let named = |kind| kinds.iter().any(|own| own == kind);
                !call.kinds.is_empty() && call.all_kinds().all(named)
            }
            // In another mode an agent may ask less.
            None => !call.kinds.contains("switch_mode"),
        };
        let title = self.titles.as_ref().is_none_or(|patterns| {
            let fits = |title: &String| {
                let mut patterns = patterns.iter();
                is_plain(title) && patterns.any(|pattern| WildMatch::new(pattern).matches(title))
            };
            !call.titles.is_empty() && call.titles.iter().all(fits)
        });
        !call.unclear && kind && title && self.allows_places(case)
    }

    fn allows_places(&self, case: &Case) -> bool {
        let freely = case.call.only_reads();
        let fits = |place: &Place| {
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
        let enough = self.paths.is_none() || !case.places.is_empty();
        enough && case.places.iter().all(fits)
    }

    fn meets(&self, case: &Case) -> bool {
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
        let path = self.paths.as_ref().is_none_or(|globs| {
            let places = case.places.iter().chain(&case.beside);
            let mut readings = places.flat_map(|place| &place.readings);
            readings.any(|reading| {
                let mut globs = globs.iter();
                globs.any(|glob| glob.meets(reading, case.directory.as_ref()))
            })
        });
        kind && title && path
    }

    /// The kinds of option that this rule chooses, the best first; empty if the user is asked.
    pub(crate) fn options(&self) -> &'static [&'static str] {
        match (self.decision, self.remember) {
            (Decision::Ask, _) => &[],
            // The agent does not ask again for what it remembers, so only `remember` chooses that.
            (Decision::Allow, false) => &["allow_once"],
            (Decision::Allow, true) => &["allow_always", "allow_once"],
            (Decision::Deny, false) => &["reject_once", "reject_always"],
            (Decision::Deny, true) => &["reject_always", "reject_once"],
        }
    }
}

/// Whether a title is one fully visible line.
fn is_plain(title: &str) -> bool {
    let hidden =
        |c: char| c.is_control() || is_ignorable(c) || matches!(c, '\u{2028}' | '\u{2029}');
    !title.contains(hidden)
}
