//! VS Code and its derivatives. Each extension for ACP has its own key for agents. Each profile has its own settings,
//! and so does a machine to which windows of another one are connected: agents are launched there.

use std::fs;
use std::path::{Path, PathBuf};

use super::editor::{Editor, Kind};
use crate::agents::Dialect;
use crate::places::Folders;

/// The folders of their settings.
const FLAVOURS: [&str; 5] = ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"];

/// Further folders of settings, relative to the home: of other derivatives, and of Flatpaks.
const OTHERS: [&str; 9] = [
    ".config/Antigravity",
    ".config/Code - OSS",
    ".config/Kiro",
    ".config/Positron",
    ".config/Trae",
    ".local/share/code-server",
    ".var/app/com.visualstudio.code/config/Code",
    ".var/app/com.vscodium.codium/config/VSCodium",
    ".var/app/com.visualstudio.code-oss/config/Code - OSS",
];

/// The folders of the servers for windows of other machines, relative to the home.
const SERVERS: [&str; 8] = [
    ".vscode-server",
    ".vscode-server-insiders",
    ".vscode-server-oss",
    ".vscode-remote",
    ".vscodium-server",
    ".cursor-server",
    ".windsurf-server",
    ".antigravity-server",
];

/// The maximum number of profiles.
const PROFILES: usize = 100;

/// The settings of the user within the folder of a flavour.
fn of_user(folder: &Path) -> PathBuf {
    folder.join("User").join("settings.json")
}

fn further(places: &Folders) -> Vec<PathBuf> {
    let usual = FLAVOURS.map(|name| places.settings.join(name));
    let others = OTHERS.map(|folder| places.home.join(folder));
    let profiles = usual.iter().chain(&others).flat_map(|folder| {
        let profiles = fs::read_dir(folder.join("User/profiles"));
        let profiles = profiles.into_iter().flatten().flatten().take(PROFILES);
        let mut files: Vec<_> = profiles
            .map(|profile| profile.path().join("settings.json"))
            .collect();
        files.sort();
        files
    });
    let mut files: Vec<_> = profiles.collect();
    files.extend(others.iter().map(|folder| of_user(folder)));
    let servers = SERVERS.map(|folder| places.home.join(folder));
    files.extend(servers.map(|folder| folder.join("data/Machine/settings.json")));
    files
}

pub(super) const VSCODE: Editor = Editor {
    name: "vscode",
    title: "VS Code",
    kind: Kind::Agents {
        files: |places| {
            let files = FLAVOURS.map(|name| of_user(&places.settings.join(name)));
            files.to_vec()
        },
        further,
        dialect: Dialect {
            // From the extensions ACP Client, and ACP Plugin with its older names.
            keys: &[
                "acp.agents",
                "agent_servers",
                "acp.agent_servers",
                "acp.agentServers",
            ],
            // The settings of a `.code-workspace` are under this key.
            overrides: &[&["settings"]],
            systems: &[],
            lines: false,
            kind: None,
        },
        alone: Some("Agents of other extensions, such as Copilot,"),
    },
};
