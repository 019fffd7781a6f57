//! Zed. Its channels share one `settings.json`; the sandbox of a Flatpak has a separate one. Settings may be overridden
//! for a channel, a system or a profile.

use super::editor::{Editor, Kind};
use crate::agents::Dialect;

pub(super) const ZED: Editor = Editor {
    name: "zed",
    title: "Zed",
    kind: Kind::Agents {
        files: |places| {
            let mut files = places.in_settings("zed/settings.json");
            files.push(places.settings.join("Zed").join("settings.json"));
            for application in ["dev.zed.Zed", "dev.zed.Zed-Preview"] {
                let folder = places.in_home(".var/app").join(application);
                files.push(folder.join("config/zed/settings.json"));
            }
            files
        },
        further: |_| Vec::new(),
        dialect: Dialect {
            keys: &["agent_servers"],
            overrides: &[
                &["dev"],
                &["nightly"],
                &["preview"],
                &["stable"],
                &["profiles", "*"],
                &["profiles", "*", "settings"],
            ],
            systems: &["linux", "macos", "windows"],
            lines: false,
            kind: Some("custom"),
        },
        alone: Some("Zed's own agent, and those that it installs by itself,"),
    },
};
