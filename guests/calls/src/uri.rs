//! URIs of what a prompt embeds or links.

use percent_encoding::percent_decode_str;

/// The path in a URI of a file (RFC 8089), or in a reference without a scheme. That of another machine begins with
/// `//`.
pub fn path(uri: &str) -> Option<String> {
    let scheme = uri.split_once(':').filter(|(scheme, _)| scheme.len() > 1);
    let Some((scheme, rest)) = scheme else {
        return Some(uri.to_owned());
    };
    let of_file = Some(rest).filter(|_| scheme.eq_ignore_ascii_case("file"))?;
    let given = of_file.split(['?', '#']).next().unwrap_or(of_file);
    let path = match given.strip_prefix("//") {
        Some(rest) => match rest.split_once('/') {
            Some(("" | "localhost", path)) => format!("/{path}"),
            _ => format!("//{rest}"),
        },
        None => given.to_owned(),
    };
    let decoded = percent_decode_str(&path).decode_utf8_lossy();
    let has_drive =
        matches!(decoded.as_bytes(), [b'/', letter, b':', ..] if letter.is_ascii_alphabetic());
    Some(decoded[usize::from(has_drive)..].to_owned())
}

/// Schemes of editors for what is their own: a thread, a selection.
const EDITORS: &[&str] = &["zed"];

/// Whether an editor names something of its own by this URI, which then has no authority: `zed:///agent/thread/1`.
pub fn is_of_editor(uri: &str) -> bool {
    uri.split_once(":///").is_some_and(|(scheme, _)| {
        let mut editors = EDITORS.iter();
        editors.any(|own| scheme.eq_ignore_ascii_case(own))
    })
}

/// Whether a URI has an authority, as those of the network have.
pub fn is_on_network(uri: &str) -> bool {
    let behind = uri.split_once("://").map(|(_, rest)| rest);
    behind.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
}
