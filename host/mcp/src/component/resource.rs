//! A resource or a resource template that a component has listed. Only the texts are kept: the agent may also read
//! unlisted resources.

use super::section::Item;
use crate::protocol::string;
use crate::uris::LONGEST;

#[derive(Debug)]
pub struct Resource;

/// A template for the URIs of resources.
#[derive(Debug)]
pub struct Template;

impl Item for Resource {
    const WORD: &'static str = "resource";

    fn read(text: &str, place: usize, _: &mut usize) -> Result<(Box<str>, Self), String> {
        let uri = identified(text, "uri", Self::WORD, place)?;
        if is_uri(&uri) {
            Ok((uri, Self))
        } else {
            Err(format!(
                "resource {place} of its list has a uri that does not begin with a scheme, as in \
                 `scheme:rest`, or has spaces in it"
            ))
        }
    }
}

impl Item for Template {
    const WORD: &'static str = "template";

    fn read(text: &str, place: usize, _: &mut usize) -> Result<(Box<str>, Self), String> {
        identified(text, "uriTemplate", Self::WORD, place).map(|uri| (uri, Self))
    }
}

/// The identifier of an item. An error if the item lacks it or a name.
fn identified(text: &str, key: &str, word: &str, place: usize) -> Result<Box<str>, String> {
    let uri = string(text, key).filter(|uri| (1..=LONGEST).contains(&uri.len()));
    let uri = uri.ok_or_else(|| {
        format!("{word} {place} of its list lacks a {key} of 1 to {LONGEST} bytes")
    })?;
    match string(text, "name") {
        Some(name) if !name.is_empty() => Ok(uri.into()),
        _ => Err(format!("its {word} {uri:?} lacks a name")),
    }
}

/// Whether a text begins with a URI scheme (RFC 3986, section 3), and has no spaces or control characters.
fn is_uri(text: &str) -> bool {
    let is_scheme = |scheme: &str| {
        let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        scheme.starts_with(|first: char| first.is_ascii_alphabetic()) && scheme.bytes().all(is_fine)
    };
    let scheme = text.split_once(':').map(|(scheme, _)| scheme);
    scheme.is_some_and(is_scheme)
        && !text.contains(|letter: char| letter.is_control() || letter.is_whitespace())
}
