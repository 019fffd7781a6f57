//! Sources of extensions, as written on command lines and in locks.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde_with::{DeserializeFromStr, SerializeDisplay};

use super::digest::{Digest, NoDigest};
use super::is_name;
use acp_chain_address::is_safe;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};

/// The error about another scheme.
const ONLY_HTTPS: &str =
    "only `https` is supported, and `http` on this machine; a registry is named without a scheme";

/// The source of an extension.
#[derive(Clone, Debug, PartialEq, Eq, SerializeDisplay, DeserializeFromStr)]
pub enum Source {
    /// `redact`: a built-in extension.
    BuiltIn(String),
    /// `./redact.wasm`, `/somewhere/redact.wasm`: a file.
    File(PathBuf),
    /// `https://example.com/redact.wasm#sha256=HEX`: a file on a web server, which may be unencrypted on this machine.
    Https {
        /// The URL.
        url: String,
        /// The expected digest.
        digest: Digest,
    },
    /// `registry.example/org/redact:1.2@sha256:HEX`: an artifact in an OCI registry.
    Registry(Reference),
}

/// An artifact in an OCI registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The host, and its port if it is not the default.
    pub registry: String,
    /// The path of the repository.
    pub repository: String,
    /// The tag, which may move to another version.
    pub tag: Option<String>,
    /// The digest of the OCI manifest.
    pub digest: Option<Digest>,
}

/// A text that is not a source.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The text has none of the forms.
    #[error(
        "`{}` is not a source: expected the name of a built-in extension, the path of a file \
         (`./NAME`, or ending in `.wasm`), `https://…#sha256=…`, or a reference as \
         `registry.example/org/name:1.2`",
        quote(.0, MAX_QUOTE)
    )]
    NoSource(String),
    /// The URL cannot be used.
    #[error("`{}` cannot be a source: {}", quote(.0, MAX_QUOTE), .1)]
    Url(String, &'static str),
    /// The text after a URL or a reference is not a digest.
    #[error(transparent)]
    NoDigest(#[from] NoDigest),
    /// The reference is malformed.
    #[error("`{}` is not a reference to a registry: {}", quote(.0, MAX_QUOTE), .1)]
    Reference(String, &'static str),
}

impl Source {
    /// Resolves a file's path relative to `folder`. Other sources stay as they are.
    #[must_use]
    pub fn from_folder(self, folder: &Path) -> Self {
        match self {
            Self::File(path) => Self::File(folder.join(path)),
            other => other,
        }
    }

    /// Whether the source names a digest, so that its content cannot change.
    pub fn is_fixed(&self) -> bool {
        match self {
            Self::BuiltIn(_) | Self::File(_) => false,
            Self::Https { .. } => true,
            Self::Registry(reference) => reference.digest.is_some(),
        }
    }
}

impl FromStr for Source {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<Self, SourceError> {
        if let Some((scheme, _)) = text.split_once("://") {
            return match scheme {
                "https" | "http" => web(text),
                _ => Err(SourceError::Url(text.to_owned(), ONLY_HTTPS)),
            };
        }
        let is_wasm = Path::new(text)
            .extension()
            .is_some_and(|extension| extension == "wasm");
        match text.split_once('/') {
            // The folder here, or the one above, is no name: the error is that it is not a file.
            None if is_wasm || matches!(text, "." | "..") => Ok(Self::File(text.into())),
            None if is_name(text) => Ok(Self::BuiltIn(text.to_owned())),
            Some((first, _)) if is_registry(first) => Ok(Self::Registry(text.parse()?)),
            Some(_) => Ok(Self::File(text.into())),
            None if text.contains(std::path::is_separator) => Ok(Self::File(text.into())),
            None => Err(SourceError::NoSource(text.to_owned())),
        }
    }
}

/// Whether the first part of a path is a host, not a folder: with a dot inside, with a port, or this machine.
fn is_registry(first: &str) -> bool {
    let is_folder = first.starts_with('.');
    first == "localhost" || !is_folder && first.contains(['.', ':'])
}

/// A file on a web server. Its digest makes it safe to fetch from a server on this machine without encryption.
fn web(text: &str) -> Result<Source, SourceError> {
    let wrong = |wrong| SourceError::Url(text.to_owned(), wrong);
    let with_hash = text
        .split_once("#sha256=")
        .map(|(url, hex)| (url, format!("sha256:{hex}")));
    let with_at = || {
        text.split_once("@sha256:")
            .map(|(url, hex)| (url, format!("sha256:{hex}")))
    };
    let found = with_hash.or_else(with_at);
    let url = found.as_ref().map_or(text, |(url, _)| *url);
    let parsed = url::Url::parse(url).map_err(|_| wrong("it is not a URL"))?;
    if !is_safe(&parsed) {
        return Err(wrong(ONLY_HTTPS));
    }
    let (url, digest) = found.ok_or_else(|| {
        wrong("a file on a web server needs its digest: add `#sha256=` and 64 hexadecimal digits")
    })?;
    if parsed.fragment().is_some() {
        return Err(wrong("it has two fragments"));
    }
    if !parsed.username().is_empty() || parsed.password().is_some() {
        return Err(wrong(
            "the URL is stored in a file, so it must not contain a password",
        ));
    }
    Ok(Source::Https {
        url: url.to_owned(),
        digest: digest.parse::<Digest>()?,
    })
}

impl Reference {
    /// The version to request: the digest, or else the tag.
    pub fn version(&self) -> String {
        let digest = self.digest.map(|digest| digest.to_string());
        digest
            .or_else(|| self.tag.clone())
            .unwrap_or_else(|| "latest".to_owned())
    }

    /// Whether the registry is on this machine.
    pub fn is_local(&self) -> bool {
        let host = match self.registry.strip_prefix('[') {
            Some(rest) => rest.split(']').next(),
            None => self.registry.split(':').next(),
        };
        matches!(host, Some("localhost" | "127.0.0.1" | "::1"))
    }
}

/// Parses by the grammar of the OCI distribution specification.
impl FromStr for Reference {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<Self, SourceError> {
        let wrong = |wrong| SourceError::Reference(text.to_owned(), wrong);
        let (rest, digest) = match text.split_once('@') {
            Some((rest, digest)) => (rest, Some(digest.parse::<Digest>()?)),
            None => (text, None),
        };
        let (registry, rest) = rest
            .split_once('/')
            .filter(|(registry, _)| is_registry(registry))
            .ok_or_else(|| {
                wrong("it must begin with the host of the registry, as in `ghcr.io/`")
            })?;
        let (repository, tag) = match rest.split_once(':') {
            Some((repository, tag)) => (repository, Some(tag)),
            None => (rest, None),
        };
        if !is_host(registry) {
            return Err(wrong("the host has invalid characters"));
        }
        if repository.len() > 255 || !repository.split('/').all(is_component) {
            return Err(wrong(
                "a repository has small letters, digits, and `.`, `_`, `-` between them",
            ));
        }
        if tag.is_some_and(|tag| !is_tag(tag)) {
            return Err(wrong(
                "a tag has up to 128 letters, digits, `.`, `_` or `-`",
            ));
        }
        Ok(Self {
            registry: registry.to_owned(),
            repository: repository.to_owned(),
            tag: tag.map(str::to_owned),
            digest,
        })
    }
}

fn is_host(registry: &str) -> bool {
    let url = url::Url::parse(&format!("https://{registry}/"));
    let plain = |c: char| c.is_ascii_alphanumeric() || ".-:[]".contains(c);
    registry.len() <= 255 && registry.chars().all(plain) && url.is_ok_and(|url| url.path() == "/")
}

fn is_component(component: &str) -> bool {
    let is_edge = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    component.starts_with(is_edge)
        && component.ends_with(is_edge)
        && component.chars().all(|c| is_edge(c) || "._-".contains(c))
}

fn is_tag(tag: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    tag.starts_with(is_word)
        && tag.len() <= 128
        && tag.chars().all(|c| is_word(c) || ".-".contains(c))
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::BuiltIn(name) => f.write_str(name),
            // Without `./`, it would be the name of a built-in extension.
            Self::File(path) if path.components().count() == 1 => write!(f, "./{}", path.display()),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Https { url, digest } => write!(f, "{url}#sha256={}", digest.hex()),
            Self::Registry(reference) => write!(f, "{reference}"),
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}/{}", self.registry, self.repository)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        match self.digest {
            Some(digest) => write!(f, "@{digest}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEX: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn every_form_is_printed_as_it_was_parsed() {
        for text in [
            "redact".to_owned(),
            "./redact".to_owned(),
            "./redact.wasm".to_owned(),
            "../up/redact.wasm".to_owned(),
            "/somewhere/with a space/redact.wasm".to_owned(),
            "folder/redact.wasm".to_owned(),
            format!("https://example.com/a/b?c=d#sha256={HEX}"),
            format!("http://127.0.0.1:8000/a.wasm#sha256={HEX}"),
            format!("http://localhost/a.wasm#sha256={HEX}"),
            "ghcr.io/org/name".to_owned(),
            "ghcr.io/org/name:1.2".to_owned(),
            "localhost/name:latest".to_owned(),
            "localhost:5000/org/na-me/is__long:1.2".to_owned(),
            "[::1]:5000/name".to_owned(),
            format!("registry.example/org/name@sha256:{HEX}"),
            format!("registry.example/org/name:1.2@sha256:{HEX}"),
        ] {
            let source: Source = text.parse().unwrap_or_else(|error| panic!("{error}"));
            let path = Source::File(text.as_str().into());
            assert_eq!(source.to_string(), text);
            let is_path = text.starts_with(['.', '/']) || text.starts_with("folder/");
            assert_eq!(source == path, is_path, "{text}");
        }
        let at = format!("https://example.com/a@sha256:{HEX}").parse::<Source>();
        assert_eq!(
            at.unwrap().to_string(),
            format!("https://example.com/a#sha256={HEX}")
        );
        for file in ["a.wasm", ".", ".."] {
            assert_eq!(file.parse::<Source>().unwrap(), Source::File(file.into()));
        }
    }

    #[test]
    fn only_this_machine_is_local() {
        let local = |text: &str| text.parse::<Reference>().unwrap().is_local();
        assert!(local("localhost/a") && local("127.0.0.1:1/a") && local("[::1]:1/a"));
        assert!(!local("127.0.0.2.example/a") && !local("localhost.example:80/a"));
    }

    #[test]
    fn an_error_says_what_a_source_is() {
        for (text, expected) in [
            (
                "",
                "is not a source: expected the name of a built-in extension",
            ),
            ("what is this", "is not a source"),
            ("http://example.com/a.wasm", "only `https` is supported"),
            (
                &format!("http://127.0.0.1.example/a#sha256={HEX}"),
                "only `https` is supported",
            ),
            (
                &format!("ftp://127.0.0.1/a#sha256={HEX}"),
                "only `https` is supported",
            ),
            (
                "http://127.0.0.1/a.wasm",
                "needs its digest: add `#sha256=`",
            ),
            (
                "https://example.com/a.wasm",
                "needs its digest: add `#sha256=`",
            ),
            (
                "https://example.com/a.wasm#sha256=12",
                "`sha256:12` is not a digest",
            ),
            (
                &format!("https://me:secret@example.com/a#sha256={HEX}"),
                "must not contain a password",
            ),
            (&format!("https://#sha256={HEX}"), "it is not a URL"),
            ("ghcr.io/Org/name", "a repository has small letters"),
            ("ghcr.io/", "a repository has small letters"),
            ("ghcr.io/../../name", "a repository has small letters"),
            ("ghcr.io/org//name", "a repository has small letters"),
            ("ghcr.io/org/name:", "a tag has up to 128"),
            ("ghcr.io/org/name:a:b", "a tag has up to 128"),
            ("ghcr.io/org/name@sha256:0", "is not a digest"),
            ("gh\u{1b}cr.io/org/name", "the host has invalid characters"),
            ("user@ghcr.io/name", "is not a"),
            ("ghcr.io:port/name", "the host has invalid characters"),
        ] {
            let error = text.parse::<Source>().unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
            assert!(!error.contains('\u{1b}'), "{error}");
        }
    }
}
