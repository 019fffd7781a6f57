//! Names of packages in registries, restricted to those that may be passed to npm and pip: none can be an option, a
//! path, or an address.

/// A package, and its version.
#[derive(Debug, PartialEq, Eq)]
pub struct Spec<'s> {
    /// Its name, for npm with its scope.
    pub name: &'s str,
    /// The extras of a Python package, with their brackets.
    pub extras: &'s str,
    /// The version; `None` for the latest.
    pub version: Option<&'s str>,
}

/// An npm package: `name`, `@scope/name`, each perhaps with `@version` or `@tag`.
pub fn npm(text: &str) -> Option<Spec<'_>> {
    let at = text.char_indices().skip(1).find(|(_, c)| *c == '@');
    let (name, rest) = text.split_at(at.map_or(text.len(), |(at, _)| at));
    let version = rest.strip_prefix('@');
    let mut parts = match name.strip_prefix('@') {
        Some(scoped) => scoped.split('/').collect(),
        None => vec![name],
    };
    let is_scoped = name.starts_with('@') && parts.len() == 2;
    let is_fit = (is_scoped || parts.len() == 1 && !name.starts_with('@'))
        && parts.drain(..).all(is_part)
        && version.is_none_or(is_version);
    is_fit.then_some(Spec {
        name,
        extras: "",
        version,
    })
}

/// A Python package: `name`, `name[extra]`, each perhaps with `@version`, `@latest` or `==version`.
pub fn python(text: &str) -> Option<Spec<'_>> {
    let end = text.find("==").or_else(|| text.find('@'));
    let (whole, rest) = text.split_at(end.unwrap_or(text.len()));
    let version = end.map(|_| rest.trim_start_matches(['=', '@']));
    let (name, extras) = whole.split_at(whole.find('[').unwrap_or(whole.len()));
    let inside = extras
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let is_fit = is_part(name)
        && (extras.is_empty() || inside.is_some_and(|all| all.split(',').all(is_part)))
        && version.is_none_or(is_version);
    is_fit.then_some(Spec {
        name,
        extras,
        version: version.filter(|version| *version != "latest"),
    })
}

fn is_part(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~');
    text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(plain)
}

/// A version, a tag, or, for npm, a range.
fn is_version(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.+!^~".contains(c);
    !text.is_empty() && !text.starts_with('-') && text.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_what_registries_write() {
        for (text, name, version) in [
            ("agent", "agent", None),
            ("agent@1.2.3", "agent", Some("1.2.3")),
            ("@scope/agent", "@scope/agent", None),
            ("@scope/agent@latest", "@scope/agent", Some("latest")),
            (
                "@scope/agent@0.4.0-beta.1",
                "@scope/agent",
                Some("0.4.0-beta.1"),
            ),
        ] {
            let spec = npm(text).unwrap();
            assert_eq!((spec.name, spec.version), (name, version), "{text}");
        }
        for (text, name, extras, version) in [
            ("agent", "agent", "", None),
            ("agent@latest", "agent", "", None),
            ("agent==1.2", "agent", "", Some("1.2")),
            ("agent@1.2rc1", "agent", "", Some("1.2rc1")),
            ("agent[acp,all]==2", "agent", "[acp,all]", Some("2")),
        ] {
            let expected = Spec {
                name,
                extras,
                version,
            };
            assert_eq!(python(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn options_paths_and_addresses_are_no_packages() {
        for text in [
            "",
            "--registry=http://x",
            "-g",
            "../agent",
            "/agent",
            "./agent",
            "git+https://x/y",
            "file:agent",
            "agent@file:../x",
            "agent@https://x/y.tgz",
            "github:user/repo",
            "user/repo",
            "@scope",
            "@scope/",
            "@/agent",
            "agent@--x",
            "agent agent",
            "agent; rm",
            "agent==1 --hash=x",
            "agent\n--index-url",
        ] {
            assert_eq!(npm(text), None, "{text}");
            assert_eq!(python(text), None, "{text}");
        }
    }
}
