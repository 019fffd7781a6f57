//! VS Code and its derivatives. Its extensions for ACP have agents under keys of their own.

use super::editor::{Editor, Kind};
use crate::agents::Dialect;

/// The folders of their settings.
const FLAVOURS: [&str; 5] = ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"];

pub(super) const VSCODE: Editor = Editor {
    name: "vscode",
    title: "VS Code",
    kind: Kind::Agents {
        files: |places| {
            let files = FLAVOURS.map(|name| places.settings.join(name).join("User/settings.json"));
            files.to_vec()
        },
        dialect: Dialect {
            // From the extensions ACP Client, and ACP Plugin with its older names.
            keys: &[
                "acp.agents",
                "agent_servers",
                "acp.agent_servers",
                "acp.agentServers",
            ],
            lines: false,
            kind: None,
        },
    },
};
