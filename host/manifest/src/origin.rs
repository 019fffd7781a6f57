//! Which extension a component is, in all of its versions.

use std::path::Path;

use acp_chain_extension::installed::Found;
use acp_chain_extension::{Location, Source};
use acp_chain_package::Package;

/// An extension, whatever its version is: values that it stores belong to all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The name in manifests; for a component that is named by its path, the name in its package, or else the id of the
    /// proxy.
    pub name: String,
    /// Where it comes from, by the lock. The path of a file is absolute.
    pub source: Source,
}

impl Origin {
    /// That of the extension of this name, which may be in the lock in this folder; otherwise it is built in.
    pub(super) fn installed(name: &str, found: Option<&Found>, folder: &Path) -> Self {
        let release = found.and_then(|found| found.locked.as_ref());
        Self {
            name: name.to_owned(),
            source: match release {
                Some(release) => release.source.clone().from_folder(folder),
                None => Source::BuiltIn(name.to_owned()),
            },
        }
    }

    /// That of a component in a file, which need not have a package.
    pub(super) fn in_file(file: &Location, package: Option<&Package>, id: &str) -> Self {
        let path = file.path().map(Path::to_owned);
        Self {
            name: package.map_or(id, |package| &*package.name).to_owned(),
            source: Source::File(path.unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use acp_chain_extension::{Installed, Lock};
    use acp_chain_package::{About, Asks, Version};

    use super::*;
    use crate::{Manifest, ProxyKind, User};

    fn package() -> Package {
        Package {
            name: "it".to_owned(),
            version: Version::new(1, 0, 0),
            about: About::default(),
            asks: Asks::default(),
            imports: Vec::new(),
            exports: Vec::new(),
            draft: false,
        }
    }

    /// The source of an extension that a lock in `/project` has from this one.
    fn locked(source: &str) -> Source {
        let text = format!(
            "version = 1\n[[extension]]\nname = \"it\"\n[extension.agreed]\nsource = \"{source}\"\n\
             digest = \"sha256:{}\"\nsize = 3\nwit = \"0.1.0\"\nimports = []\npowers = []\n",
            "0".repeat(64)
        );
        let lock = Lock::parse(&text, Path::new("/project/acp-chain.lock")).unwrap();
        let found = Found {
            location: Location::File("/store/it.wasm".into()),
            package: package(),
            locked: lock.get("it").map(|locked| locked.agreed.clone()),
        };
        Origin::installed("it", Some(&found), Path::new("/project")).source
    }

    #[test]
    fn an_installed_extension_comes_from_where_its_lock_says() {
        assert_eq!(
            locked("./it.wasm"),
            Source::File("/project/./it.wasm".into())
        );
        assert_eq!(locked("/opt/it.wasm"), Source::File("/opt/it.wasm".into()));
        assert_eq!(locked("ghcr.io/org/it:1").to_string(), "ghcr.io/org/it:1");
        let built_in = Origin::installed("it", None, Path::new("/project"));
        assert_eq!(built_in.source, Source::BuiltIn("it".to_owned()));
    }

    #[test]
    fn a_component_in_a_file_has_the_name_in_its_package_or_that_of_its_proxy() {
        let file = Location::File("/project/it.wasm".into());
        assert_eq!(Origin::in_file(&file, Some(&package()), "one").name, "it");
        let text = "[[proxy]]\nid = \"one\"\npath = \"it.wasm\"\n";
        let path = Path::new("/project/acp-chain.toml");
        let (user, installed) = (User::default(), Installed::default());
        let manifest = Manifest::parse(text, path, &user, &installed).unwrap();
        let ProxyKind::Component(component) = &manifest.proxies[0].kind else {
            panic!("a component")
        };
        let expected = Origin {
            name: "one".to_owned(),
            source: Source::File("/project/it.wasm".into()),
        };
        assert_eq!(component.origin, expected);
    }
}
