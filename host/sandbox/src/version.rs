//! Versions of the interface `acp-chain:proxy`, and which of them run here.
//!
//! Later patch versions of one minor version only add to the interface, so components of all earlier ones run. wasmtime
//! finds their imports and exports under the names of their own version.

use semver::Version;

/// The host's version.
pub const VERSION: &str = "0.1.2";

/// The prefix of the names of the package's interfaces.
const PACKAGE: &str = "acp-chain:proxy/";

/// The interface in the name of an import or export, if it belongs to this package, and to a version that runs here.
pub fn interface(name: &str) -> Option<&str> {
    let (interface, version) = split(name)?;
    runs(version, VERSION).then_some(interface)
}

/// The version in the name of an import or export of this package, if it does not run here.
pub fn other(name: &str) -> Option<&str> {
    let (_, version) = split(name)?;
    Some(version).filter(|version| !runs(version, VERSION))
}

fn split(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix(PACKAGE)?.split_once('@')
}

/// Whether a component of this version runs in a host of that one.
fn runs(component: &str, host: &str) -> bool {
    let [component, host] = [component, host].map(Version::parse);
    let (Ok(component), Ok(host)) = (component, host) else {
        return false;
    };
    let line = |version: &Version| (version.major, version.minor, version.pre.clone());
    line(&component) == line(&host) && component.patch <= host.patch
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_of_earlier_versions_of_the_same_minor_run() {
        for (component, host) in [("0.1.0", "0.1.0"), ("0.1.0", "0.1.7"), ("0.1.7", "0.1.7")] {
            assert!(runs(component, host), "{component} in {host}");
        }
        for (component, host) in [
            ("0.1.8", "0.1.7"),
            ("0.2.0", "0.1.7"),
            ("0.0.9", "0.1.7"),
            ("1.1.0", "0.1.7"),
            ("0.1.0-rc.1", "0.1.0"),
            ("0.1", "0.1.0"),
            ("", "0.1.0"),
        ] {
            assert!(!runs(component, host), "{component} in {host}");
        }
    }

    #[test]
    fn only_names_of_this_package_with_a_version_are_of_the_interface() {
        let ours = format!("acp-chain:proxy/channel@{VERSION}");
        assert_eq!((interface(&ours), other(&ours)), (Some("channel"), None));
        let newer = "acp-chain:proxy/channel@0.1.999";
        assert_eq!((interface(newer), other(newer)), (None, Some("0.1.999")));
        for name in [
            "acp-chain:proxy/channel",
            "wasi:io/streams@0.2.6",
            "channel",
        ] {
            assert_eq!((interface(name), other(name)), (None, None), "{name}");
        }
    }
}
