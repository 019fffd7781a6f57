//! What a prompt brings: secrets in its text, and what it embeds or links.

use acp_chain_calls::directory::Directory;
use acp_chain_calls::title::LogTitle;
use acp_chain_calls::uri;
use acp_chain_proxy::{Head, Json, read};
use serde::Deserialize;

use crate::judge::{Effects, Judge, holds, key};
use crate::label::{Label, Labels};
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
        let blocks = body
            .as_ref()
            .and_then(|body| body.at::<Vec<Block>>("/prompt"));
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
            let uris = [block.uri, block.resource.and_then(|resource| resource.uri)];
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

    fn add_uri(&mut self, uri: &str, judge: &Judge, directory: Option<&Directory>) {
        let path = uri::path(uri);
        let is_outside = match &path {
            Some(path) => !holds(directory, path),
            None => uri::is_on_network(uri),
        };
        if is_outside {
            let source = "what a prompt embeds or links from outside of the project";
            self.effects.brings.add(&[Label::A], source);
        }
        let Some(path) = path else {
            return;
        };
        if judge.is_private(&path, &[], directory) {
            let source = format!("the private place {} in a prompt", LogTitle(Some(&path)));
            self.effects.brings.add(&[Label::B], &source);
        }
        self.effects.reads.insert(key(&path, directory));
    }
}
