//! What is known of a tool call: the parts that rules look at.

use acp_chain_proxy::Json;
use serde::{Deserialize, Deserializer};

/// How many locations, and how many changed files, of one call are kept.
const MOST_PATHS: usize = 1024;
/// How long a title may be, in bytes.
const LONGEST_TITLE: usize = 16 * 1024;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Call {
    pub(crate) title: Option<String>,
    pub(crate) kind: Option<String>,
    /// Of its locations and of the diffs in its content.
    pub(crate) paths: Vec<String>,
    locations: Vec<String>,
    diffs: Vec<String>,
    /// There is more of it than is kept, or some of it could not be read: no rule may allow it.
    pub(crate) unclear: bool,
}

/// The fields of a `tool_call`, a `tool_call_update`, or the tool call of a permission request:
/// absent leaves what was known, null clears it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(
    clippy::option_option,
    reason = "absent, null and a value are three things"
)]
pub(crate) struct Patch {
    pub(crate) tool_call_id: String,
    #[serde(default, deserialize_with = "present")]
    title: Option<Option<String>>,
    #[serde(default, deserialize_with = "present")]
    kind: Option<Option<String>>,
    #[serde(default, deserialize_with = "present")]
    locations: Option<Option<Vec<Location>>>,
    #[serde(default, deserialize_with = "present")]
    content: Option<Option<Vec<Json>>>,
}

#[derive(Deserialize)]
struct Location {
    path: String,
}

/// Tells null from absent.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl Call {
    pub(crate) fn update(&mut self, patch: &Patch) {
        if let Some(title) = &patch.title {
            self.title.clone_from(title);
        }
        if let Some(kind) = &patch.kind {
            self.kind.clone_from(kind);
        }
        if let Some(locations) = &patch.locations {
            let locations = locations.iter().flatten();
            self.locations = locations.map(|location| location.path.clone()).collect();
        }
        if let Some(content) = &patch.content {
            self.diffs = content.iter().flatten().flat_map(diff_paths).collect();
        }
        self.gather();
    }

    /// One more piece of content (`tool_call_content_chunk`).
    pub(crate) fn add_content(&mut self, content: &Json) {
        self.diffs.extend(diff_paths(content));
        self.gather();
    }

    /// What was known before: it fills gaps, and every path that was ever named counts.
    pub(crate) fn add(&mut self, known: &Call) {
        self.title = self.title.take().or_else(|| known.title.clone());
        self.kind = self.kind.take().or_else(|| known.kind.clone());
        self.locations.extend(known.locations.iter().cloned());
        self.diffs.extend(known.diffs.iter().cloned());
        self.unclear |= known.unclear;
        self.gather();
    }

    fn gather(&mut self) {
        if self
            .title
            .as_ref()
            .is_some_and(|title| title.len() > LONGEST_TITLE)
        {
            self.title = None;
            self.unclear = true;
        }
        self.unclear |= self.locations.len().max(self.diffs.len()) > MOST_PATHS;
        self.locations.truncate(MOST_PATHS);
        self.diffs.truncate(MOST_PATHS);
        self.paths = self.locations.iter().chain(&self.diffs).cloned().collect();
        self.paths.sort();
        self.paths.dedup();
    }
}

/// The files that a piece of content changes: one in version 1, a list of changes in version 2.
fn diff_paths(content: &Json) -> Vec<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Change {
        path: Option<String>,
        old_path: Option<String>,
    }
    if content.at::<String>("/type").as_deref() != Some("diff") {
        return Vec::new();
    }
    let one = content.at::<String>("/path");
    let changes = content.at::<Vec<Change>>("/changes").unwrap_or_default();
    let many = changes
        .into_iter()
        .flat_map(|change| [change.path, change.old_path]);
    one.into_iter().chain(many.flatten()).collect()
}
