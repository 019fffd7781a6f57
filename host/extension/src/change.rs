//! The changes between two releases of an extension.

use super::{Release, Source};

/// The changes from one release to another, each as the rest of a sentence that begins with "it".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Changes that need the user's consent.
    pub more: Vec<String>,
    /// Changes that need no consent.
    pub same: Vec<String>,
}

impl Change {
    /// Compares two releases.
    pub fn between(old: &Release, new: &Release) -> Self {
        let mut change = Self::default();
        if old.source != new.source {
            change.more.push(format!(
                "comes from {}, no longer from {}",
                new.source, old.source
            ));
        }
        change.more.extend(match (&old.signer, &new.signer) {
            (old, new) if old == new => None,
            (Some(old), Some(new)) => Some(format!("is signed by {new}, no longer by {old}")),
            (Some(old), None) => Some(format!("is no longer signed, was signed by {old}")),
            // A first signer is a change, too: the user does not know it yet.
            (None, new) => new
                .as_ref()
                .map(|new| format!("is signed by {new}, was not signed")),
        });
        change.version(old, new);
        // What a guard does not see, it does not decide about.
        let is_relied_on = old.guard;
        change.list("power", &old.powers, &new.powers, is_relied_on);
        change.list("import", &old.imports, &new.imports, false);
        let methods = |release: &Release| {
            let named = release.methods.iter();
            let each = named.flat_map(|(name, actions)| {
                actions.iter().map(move |action| format!("{action} {name}"))
            });
            each.collect::<Vec<_>>()
        };
        change.list("method", &methods(old), &methods(new), is_relied_on);
        // Values have units and are not compared by size: any difference counts as more.
        let limits = |release: &Release| {
            let limits = release.limits.iter();
            let each = limits.map(|(key, value)| format!("{key} = {value}"));
            each.collect::<Vec<_>>()
        };
        change.list("limit", &limits(old), &limits(new), false);
        match (old.guard, new.guard) {
            (false, true) => change.more.push(
                "becomes a guard: it stands next to the agent, and may change what other guards decide".to_owned(),
            ),
            (true, false) => change.more.push(
                "is no longer a guard: other proxies may change what it decides".to_owned(),
            ),
            (false, false) | (true, true) => {}
        }
        if old.on_failure != new.on_failure {
            let policy = |release: &Release| match &release.on_failure {
                Some(policy) => format!("`{policy}`"),
                None => "none".to_owned(),
            };
            let (new, old) = (policy(new), policy(old));
            let wants = format!("wants another `on-failure`: {new}, was {old}");
            change.more.push(wants);
        }
        change
    }

    fn version(&mut self, old: &Release, new: &Release) {
        let text = |release: &Release| release.version.clone().unwrap_or_else(|| "none".to_owned());
        let parse = |release: &Release| semver::Version::parse(release.version.as_deref()?).ok();
        let words = format!("version {}, was {}", text(new), text(old));
        // Whoever publishes a file rebuilds it, but nothing else is published under a version that others have.
        let is_published = matches!(new.source, Source::Registry(_));
        if let Some(version) = &new.version
            && is_published
            && old.version == new.version
            && old.digest != new.digest
        {
            let other = format!("is another component than before, of the same version, {version}");
            self.more.push(other);
            return;
        }
        match (parse(old), parse(new)) {
            (Some(older), Some(newer)) if older <= newer => self.same.push(words),
            _ if old.version == new.version => self.same.push(words),
            _ => self.more.push(format!("goes back: {words}")),
        }
    }

    /// Compares two lists. `is_relied_on` means that less needs consent, too.
    fn list(&mut self, what: &str, old: &[String], new: &[String], is_relied_on: bool) {
        let added = new.iter().filter(|one| !old.contains(one));
        self.more
            .extend(added.map(|one| format!("also wants the {what} `{one}`")));
        let removed = old.iter().filter(|one| !new.contains(one));
        if is_relied_on {
            self.more.extend(
                removed.map(|one| format!("is a guard, and no longer wants the {what} `{one}`")),
            );
        } else {
            self.same
                .extend(removed.map(|one| format!("no longer wants the {what} `{one}`")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Digest;
    use acp_chain_channel::FailurePolicy;

    const KEY: &str = "RWRUwsTAnYnA+dNkr3IL424GjF9C4+9ChmNWNHv2mXLOZLQzFNovQ3Fl";

    fn release() -> Release {
        Release {
            source: "ghcr.io/org/it:1".parse().unwrap(),
            version: Some("1.2.0".to_owned()),
            manifest: None,
            digest: Digest::of(b"old"),
            size: 3,
            wit: "0.1.0".to_owned(),
            imports: vec!["a:b/c".to_owned()],
            powers: vec!["prompts.read".to_owned(), "prompts.change".to_owned()],
            signer: Some(KEY.parse().unwrap()),
            on_failure: Some(FailurePolicy::Refuse),
            guard: false,
            methods: [("_x".to_owned(), vec!["read".to_owned()])].into(),
            limits: [("memory".to_owned(), "16 MiB".to_owned())].into(),
        }
    }

    fn changed(change: impl Fn(&mut Release)) -> Change {
        let mut new = release();
        change(&mut new);
        Change::between(&release(), &new)
    }

    #[test]
    fn a_change_to_less_needs_no_consent() {
        let less = changed(|new| {
            new.digest = Digest::of(b"new");
            new.version = Some("1.10.0".to_owned());
            new.powers.pop();
            new.imports.clear();
            new.methods.clear();
            new.limits.clear();
        });
        assert_eq!(less.more, [""; 0]);
        assert_eq!(
            less.same,
            [
                "version 1.10.0, was 1.2.0",
                "no longer wants the power `prompts.change`",
                "no longer wants the import `a:b/c`",
                "no longer wants the method `read _x`",
                "no longer wants the limit `memory = 16 MiB`",
            ]
        );
    }

    #[test]
    fn a_file_may_be_built_again() {
        let file = |digest| Release {
            source: "./it.wasm".parse().unwrap(),
            digest,
            ..release()
        };
        let [old, new] = [b"old", b"new"].map(|bytes| file(Digest::of(bytes)));
        assert_eq!(Change::between(&old, &new).more, [""; 0]);
    }

    #[test]
    fn what_has_no_version_is_updated_by_its_content() {
        let [old, new] = [b"old", b"new"].map(|bytes| Release {
            version: None,
            digest: Digest::of(bytes),
            ..release()
        });
        assert_eq!(Change::between(&old, &new).more, [""; 0]);
    }

    #[test]
    fn a_change_to_more_needs_consent() {
        type Edit = fn(&mut Release);
        let cases: [(Edit, &str); 14] = [
            (
                |new| new.digest = Digest::of(b"new"),
                "is another component than before, of the same version, 1.2.0",
            ),
            (
                |new| new.powers.push("tools".to_owned()),
                "also wants the power `tools`",
            ),
            (
                |new| new.imports.push("d:e/f".to_owned()),
                "also wants the import `d:e/f`",
            ),
            (
                |new| new.version = Some("1.1.9".to_owned()),
                "goes back: version 1.1.9, was 1.2.0",
            ),
            (
                |new| new.version = None,
                "goes back: version none, was 1.2.0",
            ),
            (
                |new| new.version = Some("newest".to_owned()),
                "goes back: version newest, was 1.2.0",
            ),
            (
                |new| new.signer = None,
                "is no longer signed, was signed by RWR",
            ),
            (
                |new| new.source = "ghcr.io/other/it:1".parse().unwrap(),
                "comes from ghcr.io/other/it:1, no longer from ghcr.io/org/it:1",
            ),
            (
                |new| drop(new.methods.insert("_y".to_owned(), vec!["read".to_owned()])),
                "also wants the method `read _y`",
            ),
            (
                |new| drop(new.methods.insert("_x".to_owned(), vec!["send".to_owned()])),
                "also wants the method `send _x`",
            ),
            (
                |new| drop(new.limits.insert("held".to_owned(), "9".to_owned())),
                "also wants the limit `held = 9`",
            ),
            (|new| new.guard = true, "becomes a guard: "),
            (
                |new| new.on_failure = Some(FailurePolicy::Bypass),
                "wants another `on-failure`: `bypass`, was `refuse`",
            ),
            (
                |new| new.on_failure = None,
                "wants another `on-failure`: none, was `refuse`",
            ),
        ];
        for (edit, expected) in cases {
            let [more] = &changed(edit).more[..] else {
                panic!("{expected}");
            };
            assert!(more.starts_with(expected), "{more}");
        }
        let guard = Release {
            guard: true,
            ..release()
        };
        let [more] = &Change::between(&guard, &release()).more[..] else {
            panic!("other proxies may change what it decides");
        };
        assert!(more.starts_with("is no longer a guard: "), "{more}");
        let blind = Release {
            powers: Vec::new(),
            methods: [].into(),
            ..guard.clone()
        };
        assert_eq!(
            Change::between(&guard, &blind).more,
            [
                "is a guard, and no longer wants the power `prompts.read`",
                "is a guard, and no longer wants the power `prompts.change`",
                "is a guard, and no longer wants the method `read _x`",
            ]
        );
    }
}
