//! A rule: what it looks at, and what it decides.
//!
//! In doubt the user is asked. What allows must fit the whole call, spelling included; what
//! denies or asks fits if any part of the call does, and takes large and small letters as the
//! same, since the user's file system may do so too.

use acp_chain_proxy::path;
use serde::Deserialize;
use wildmatch::WildMatch;

use crate::call::Call;
use crate::place::Place;

#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Decision {
    Allow,
    Deny,
    Ask,
}

/// A rule as it is written in the manifest. What is not given does not matter to it.
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
    fn all(self) -> Vec<String> {
        match self {
            Self::One(one) => vec![one],
            Self::More(more) => more,
        }
    }
}

pub(crate) struct Rule {
    pub(crate) decision: Decision,
    kinds: Option<Vec<String>>,
    titles: Option<Vec<String>>,
    paths: Option<Vec<Glob>>,
    remember: bool,
}

/// Which paths are meant.
enum Glob {
    Anywhere(String),
    /// Below the session's working directory.
    Project(String),
}

impl Entry {
    pub(crate) fn check(self) -> Result<Rule, String> {
        let paths = self
            .path
            .map(|paths| paths.all().into_iter().map(Glob::new).collect());
        let paths = paths.transpose()?;
        if self.remember && self.decision == Decision::Ask {
            return Err("`remember` has no meaning where the user is asked".into());
        }
        Ok(Rule {
            decision: self.decision,
            kinds: self.kind.map(OneOrMore::all),
            titles: self.title.map(OneOrMore::all),
            paths,
            remember: self.remember,
        })
    }
}

impl Rule {
    pub(crate) fn matches(&self, call: &Call, places: &[Place], cwd: Option<&str>) -> bool {
        let kind = self
            .kinds
            .as_ref()
            .is_none_or(|kinds| call.kind.as_ref().is_some_and(|kind| kinds.contains(kind)));
        kind && self.title_matches(call.title.as_deref())
            && self.paths_match(places, cwd)
            && !(self.decision == Decision::Allow && call.unclear)
    }

    fn title_matches(&self, title: Option<&str>) -> bool {
        let Some(patterns) = &self.titles else {
            return true;
        };
        let Some(title) = title else { return false };
        patterns.iter().any(|pattern| match self.decision {
            Decision::Allow => WildMatch::new(pattern).matches(title),
            Decision::Deny | Decision::Ask => {
                WildMatch::new(&pattern.to_lowercase()).matches(&title.to_lowercase())
            }
        })
    }

    fn paths_match(&self, places: &[Place], cwd: Option<&str>) -> bool {
        let Some(globs) = &self.paths else {
            return true;
        };
        let allows = self.decision == Decision::Allow;
        let fits = |place: &Place| globs.iter().any(|glob| glob.matches(place, cwd, !allows));
        if allows {
            !places.is_empty() && places.iter().all(|place| place.sure && fits(place))
        } else {
            places.iter().any(fits)
        }
    }

    /// The kinds of option that this rule takes, the best first; none if the user is asked.
    pub(crate) fn options(&self) -> Option<[&'static str; 2]> {
        let [once, always] = match self.decision {
            Decision::Allow => ["allow_once", "allow_always"],
            Decision::Deny => ["reject_once", "reject_always"],
            Decision::Ask => return None,
        };
        Some(if self.remember {
            [always, once]
        } else {
            [once, always]
        })
    }
}

impl Glob {
    fn new(pattern: String) -> Result<Self, String> {
        if pattern.starts_with('!') {
            return Err(format!(
                "`path` has `{pattern}`; write a rule that denies or asks before this one \
                 instead of a glob with `!`"
            ));
        }
        if let Some(below) = pattern.strip_prefix("./") {
            return Ok(Self::Project(below.to_owned()));
        }
        if path::is_absolute(&pattern) || pattern.starts_with("**") {
            return Ok(Self::Anywhere(path::normal(&pattern)));
        }
        Err(format!(
            "`path` has `{pattern}`; begin it with `/` or a drive letter, with `./` for the \
             session's directory, or with `**/` for anywhere"
        ))
    }

    fn matches(&self, place: &Place, cwd: Option<&str>, any_case: bool) -> bool {
        let fold = |text: &str| {
            if any_case {
                text.to_lowercase()
            } else {
                text.to_owned()
            }
        };
        let path = fold(&place.path);
        match self {
            Self::Anywhere(glob) => fast_glob::glob_match(fold(glob), path),
            Self::Project(glob) => {
                let Some(cwd) = cwd else { return false };
                let root = fold(&path::normal(cwd));
                let below = path.strip_prefix(root.trim_end_matches('/'));
                let below = below.and_then(|below| below.strip_prefix('/'));
                below.is_some_and(|below| fast_glob::glob_match(fold(glob), below))
            }
        }
    }
}
