//! What a prompt brings: secrets in its text, and what it embeds or links.

use acp_chain_calls::directory::Directory;
use acp_chain_calls::mention::MOST_MENTIONS;
use acp_chain_calls::title::LogTitle;
use acp_chain_calls::uri;
use acp_chain_proxy::{Head, Json, read};
use serde::Deserialize;

use crate::judge::{Effects, Judge, holds, key};
use crate::label::{Label, Labels};
use crate::places::is_outside;
use crate::secret::Secrets;
use crate::words::Order;

/// The longest prompt that is examined, in bytes.
const LONGEST: u64 = 40 * 1024 * 1024;

/// A block of a prompt, as far as it is examined.
#[derive(Deserialize)]
struct Block {
    text: Option<String>,
    uri: Option<String>,
    resource: Option<Resource>,
}

impl Block {
    /// The blocks of a prompt. Some clients write a text without a block.
    fn all(body: &Json) -> Option<Vec<Self>> {
        let one = |text| {
            let block = Self {
                text: Some(text),
                uri: None,
                resource: None,
            };
            vec![block]
        };
        let blocks = body.at::<Vec<Self>>("/prompt");
        blocks.or_else(|| body.at::<String>("/prompt").map(one))
    }
}

#[derive(Deserialize)]
struct Resource {
    uri: Option<String>,
}

#[derive(Default)]
pub(crate) struct Prompt {
    /// An order to this proxy, and whether the prompt has nothing else.
    pub(crate) order: Option<(Order, bool)>,
    pub(crate) effects: Effects,
}

impl Prompt {
    /// Reads a prompt. One that cannot be read may bring anything.
    pub(crate) fn read(
        head: &Head,
        judge: &Judge,
        secrets: &Secrets,
        directory: Option<&Directory>,
    ) -> Self {
        let fits = head.size <= LONGEST;
        let body = fits.then(|| read(head.id, "").ok().flatten()).flatten();
        let blocks = body.as_ref().and_then(Block::all);
        let (Some(body), Some(blocks)) = (body, blocks) else {
            return Self::unread();
        };
        let mut prompt = Self::default();
        let first = blocks.first().and_then(|block| block.text.as_deref());
        let order = first.and_then(Order::read);
        prompt.order = order.map(|order| (order, blocks.len() == 1));
        prompt.effects.title = "the prompt".to_owned();
        prompt.add_secrets(&body, secrets);
        for block in blocks {
            if let Some(text) = &block.text {
                prompt.add_mentions(text, judge, directory);
            }
            let embedded = block.resource.map(|resource| resource.uri);
            // What is embedded without a URI may be of any server.
            let uris = [block.uri, embedded.map(Option::unwrap_or_default)];
            for uri in uris.into_iter().flatten() {
                prompt.add_uri(&uri, judge, directory);
            }
        }
        prompt
    }

    fn unread() -> Self {
        let source = "a prompt that cannot be read";
        let mut prompt = Self::default();
        prompt.effects.brings = Labels::of(&[Label::A, Label::B], source);
        prompt
    }

    fn add_secrets(&mut self, body: &Json, secrets: &Secrets) {
        // `redact` is behind this proxy, so no prompt has its marks yet.
        if let Some(kind) = secrets.find(&body.spelling(), true) {
            let source = format!("{kind} in a prompt");
            self.effects.brings.add(&[Label::B], &source);
        }
    }

    /// A prompt does not say which server a resource is of, so none is trusted.
    fn add_uri(&mut self, uri: &str, judge: &Judge, directory: Option<&Directory>) {
        let path = uri::path(uri).filter(|path| !path.is_empty());
        let leads_out = match &path {
            Some(path) => !holds(directory, path),
            None => !uri::is_of_editor(uri),
        };
        if leads_out {
            let source =
                "what a prompt embeds or links from outside of the project, or from a server";
            self.effects.brings.add(&[Label::A], source);
        }
        if let Some(path) = path {
            self.add_path(&path, judge, directory);
        }
    }

    /// Some agents read the files that a text names by themselves, which no hook reports.
    fn add_mentions(&mut self, text: &str, judge: &Judge, directory: Option<&Directory>) {
        let mut paths = mentioned(text);
        for path in paths.by_ref().take(MOST_MENTIONS) {
            if is_outside(path, directory) {
                let shown = LogTitle(Some(path));
                let source = format!("{shown}, outside of the project, in a prompt");
                self.effects.brings.add(&[Label::A], &source);
            }
            self.add_path(path, judge, directory);
        }
        if paths.next().is_some() {
            let source = "a prompt that names too many files";
            self.effects.brings.add(&[Label::A, Label::B], source);
        }
    }

    fn add_path(&mut self, path: &str, judge: &Judge, directory: Option<&Directory>) {
        if judge.is_private(path, &[], directory) {
            let source = format!("the private place {} in a prompt", LogTitle(Some(path)));
            self.effects.brings.add(&[Label::B], &source);
        }
        self.effects.reads.insert(key(path, directory));
    }
}

/// The paths that a text names as Claude and others read them: `@notes.md`, `@notes.md#L1-9`, `@"my notes.md"`.
fn mentioned(text: &str) -> impl Iterator<Item = &str> {
    let signs = text.match_indices('@');
    signs.filter_map(move |(at, _)| {
        let before = text[..at].chars().next_back();
        let rest = before
            .is_none_or(char::is_whitespace)
            .then(|| &text[at + 1..])?;
        let path = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next()?,
            None => rest.split(char::is_whitespace).next()?,
        };
        let (named, _) = path.split_once('#').unwrap_or((path, ""));
        let file = named.trim_end_matches(['.', ',', ';', ':', '!', '?', ')']);
        let names_some = file.contains(char::is_alphanumeric) && !file.contains("://");
        names_some.then_some(file)
    })
}
