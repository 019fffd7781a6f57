//! A tool call: the parts that rules examine. Every update of a call counts, even if a later one replaces its values.

use std::collections::BTreeSet;

use acp_chain_proxy::Strings;

use crate::fold::fold;
use crate::input::Input;
use crate::object::Reader;

/// How much is kept of one call, by [`Call::size`]. Anything beyond makes it unclear.
const MOST: usize = 128 * 1024;

/// The protocol's kinds. Others begin with `_`.
pub const KINDS: &[&str] = &[
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

/// Texts by which agents ask the user to open a page or to sign in.
const CONSENTS: &[&str] = &[
    "authenticat",
    "authoriz",
    "device code",
    "in your browser",
    "log in",
    "login",
    "oauth",
    "open a browser",
    "open a page",
    "open a url",
    "open the page",
    "sign in",
    "sign-in",
];

/// What updates, a request or a report say of a call. Memory is bounded.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent")]
pub struct Call {
    /// The last one is the newest.
    pub titles: Vec<String>,
    /// The declared kinds.
    pub kinds: BTreeSet<String>,
    /// The kinds implied by its diffs.
    pub shown: BTreeSet<&'static str>,
    /// The paths of its locations, and of the diffs in its content.
    pub paths: BTreeSet<String>,
    pub input: Input,
    /// Whether it is that of a tool of an MCP server, although it counts as a command, too.
    pub is_of_server: bool,
    /// Whether its status was `completed` or `failed`.
    pub is_over: bool,
    /// Whether it was, or may have been, declared to have content.
    pub has_content: bool,
    /// Whether some of it was not kept or could not be read: no rule may allow it.
    pub unclear: bool,
    size: usize,
}

impl Call {
    /// Merges a `tool_call`, a `tool_call_update`, or the tool call of a permission request. Absent or null members
    /// remove nothing.
    pub fn merge(&mut self, json: &str) {
        let mut reader = Reader::default();
        let update = reader.object(json);
        for title in reader.texts(&update, "title") {
            self.add_title(title);
        }
        for kind in reader.texts(&update, "kind") {
            self.add_kind(kind);
        }
        for locations in reader.all(&update, "locations") {
            for location in reader.items(locations) {
                let location = reader.object(location);
                let paths = reader.texts(&location, "path");
                reader.unclear |= paths.is_empty();
                self.add_paths(paths);
            }
        }
        for content in reader.all(&update, "content") {
            self.has_content = true;
            for item in reader.items(content) {
                self.merge_content(item, &mut reader);
            }
        }
        for input in reader.all(&update, "rawInput") {
            self.input.merge(input);
        }
        let status = reader.texts(&update, "status");
        self.is_over |= status
            .iter()
            .any(|status| matches!(&**status, "completed" | "failed"));
        self.unclear |= reader.unclear;
    }

    /// Merges what the patches in an input (`apply_patch`) do beside editing.
    pub(crate) fn merge_patches(&mut self, input: &str) {
        let mut strings = Strings::of(input);
        while let Ok(Some(string)) = strings.next() {
            let text = string.decoded();
            for line in text.lines().map(str::trim_start) {
                if line.starts_with("*** Delete File:") {
                    self.shown.insert("delete");
                } else if line.starts_with("*** Move to:") {
                    self.shown.insert("move");
                }
            }
        }
    }

    /// Merges a `tool_call_content_chunk`.
    pub fn merge_chunk(&mut self, json: &str) {
        let mut reader = Reader::default();
        let chunk = reader.object(json);
        let content = reader.all(&chunk, "content");
        reader.unclear |= content.is_empty();
        self.has_content = true;
        for item in content {
            self.merge_content(item, &mut reader);
        }
        self.unclear |= reader.unclear;
    }

    fn merge_content(&mut self, json: &str, reader: &mut Reader) {
        let content = reader.object(json);
        let types = reader.texts(&content, "type");
        // Content of an unknown type may be a diff, and is read like one.
        reader.unclear |= types.is_empty();
        let harmless = |kind: &String| matches!(&**kind, "content" | "terminal");
        if !types.is_empty() && types.iter().all(harmless) {
            return;
        }
        reader.unclear |= types.iter().any(|kind| kind != "diff");
        self.shown.insert("edit");
        if reader.all(&content, "deleted").contains(&"true") {
            self.shown.insert("delete");
        }
        // One file in version 1, a list of changes in version 2.
        let paths = reader.texts(&content, "path");
        let changes = reader.all(&content, "changes");
        reader.unclear |= paths.is_empty() && changes.is_empty();
        self.add_paths(paths);
        for changes in changes {
            for change in reader.items(changes) {
                self.merge_change(change, reader);
            }
        }
    }

    fn merge_change(&mut self, json: &str, reader: &mut Reader) {
        let change = reader.object(json);
        let operations = reader.texts(&change, "operation");
        reader.unclear |= operations.is_empty();
        for operation in &operations {
            match &**operation {
                "add" | "modify" | "copy" => {}
                "delete" => drop(self.shown.insert("delete")),
                "move" => drop(self.shown.insert("move")),
                _ => reader.unclear = true,
            }
        }
        let (new, old) = (
            reader.texts(&change, "path"),
            reader.texts(&change, "oldPath"),
        );
        let two = operations
            .iter()
            .any(|name| name == "move" || name == "copy");
        reader.unclear |= new.is_empty() || (two && old.is_empty());
        self.add_paths(new);
        self.add_paths(old);
        // A link redirects later writes to a path that no rule has judged.
        let types = reader.texts(&change, "fileType");
        let known = |name: &String| matches!(&**name, "text" | "binary" | "directory");
        reader.unclear |= !types.iter().all(known);
    }

    /// Merges the earlier updates of the same call.
    pub fn add(&mut self, known: &Self) {
        let own = std::mem::take(&mut self.titles);
        let titles = known.titles.iter().cloned().chain(own);
        titles.for_each(|title| self.add_title(title));
        let kinds = known.kinds.iter().cloned();
        kinds.for_each(|kind| self.add_kind(kind));
        self.shown.extend(&known.shown);
        self.add_paths(known.paths.iter().cloned());
        self.input.add(&known.input);
        self.unclear |= known.unclear;
    }

    pub fn add_title(&mut self, title: String) {
        self.titles.retain(|known| *known != title);
        if self.has_room(&title) {
            self.titles.push(title);
        }
    }

    pub fn add_kind(&mut self, kind: String) {
        if !self.kinds.contains(&kind) && self.has_room(&kind) {
            self.kinds.insert(kind);
        }
    }

    pub fn add_paths(&mut self, paths: impl IntoIterator<Item = String>) {
        for path in paths {
            if !self.paths.contains(&path) && self.has_room(&path) {
                self.paths.insert(path);
            }
        }
    }

    fn has_room(&mut self, text: &str) -> bool {
        // Including the cost of keeping it.
        let size = self.size + text.len() + 64;
        let fits = size <= MOST;
        if fits {
            self.size = size;
        }
        self.unclear |= !fits;
        fits
    }

    /// Its approximate size, in bytes.
    pub fn size(&self) -> usize {
        self.size + self.input.size()
    }

    /// Whether it asks to sign in, or to open a page, rather than about a tool: agents do so by a permission where the
    /// client has no other way.
    pub fn is_consent(&self) -> bool {
        let texts = self.titles.iter().chain(&self.input.texts);
        let says = |text: &String| {
            let words = text.split_whitespace().filter(|word| !word.contains("://"));
            let text = fold(&words.collect::<Vec<_>>().join(" "));
            CONSENTS.iter().any(|consent| text.contains(consent))
        };
        self.kinds.contains("fetch") && texts.into_iter().any(says)
    }

    /// All its kinds, declared and implied.
    pub fn all_kinds(&self) -> impl Iterator<Item = &str> {
        let declared = self.kinds.iter().map(String::as_str);
        declared.chain(self.shown.iter().copied())
    }

    /// Whether it is declared as a read, and shows nothing else.
    pub fn only_reads(&self) -> bool {
        !self.kinds.is_empty()
            && self
                .all_kinds()
                .all(|kind| matches!(kind, "read" | "search"))
    }
}
