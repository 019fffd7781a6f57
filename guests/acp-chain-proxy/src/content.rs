//! Blocks of content, in the results of tools and in the messages of prompts.

use serde::Serialize;

use crate::Json;

/// A block of content.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct Content(Json);

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text {
        text: &'a str,
    },
    Image {
        data: &'a str,
        #[serde(rename = "mimeType")]
        mime_type: &'a str,
    },
    Audio {
        data: &'a str,
        #[serde(rename = "mimeType")]
        mime_type: &'a str,
    },
    ResourceLink {
        uri: &'a str,
        name: &'a str,
    },
}

impl Content {
    /// A text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::block(&Block::Text { text })
    }

    /// An image: its bytes in Base64, and their type, like `image/png`.
    #[must_use]
    pub fn image(data: &str, mime_type: &str) -> Self {
        Self::block(&Block::Image { data, mime_type })
    }

    /// A sound: its bytes in Base64, and their type, like `audio/wav`.
    #[must_use]
    pub fn audio(data: &str, mime_type: &str) -> Self {
        Self::block(&Block::Audio { data, mime_type })
    }

    /// A link to a resource that the agent may read.
    #[must_use]
    pub fn link(uri: &str, name: &str) -> Self {
        Self::block(&Block::ResourceLink { uri, name })
    }

    /// Any other block.
    #[must_use]
    pub fn raw(block: Json) -> Self {
        Self(block)
    }

    fn block(block: &Block) -> Self {
        // Texts in a fixed form always serialize.
        Self(Json::of(block).unwrap_or_else(|_| Json::null()))
    }
}
