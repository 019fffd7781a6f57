//! Facts stated once per connection, or once per session. All are saved, for a later instance.

use std::cell::Cell;

use acp_chain_proxy::{Request, Response, Sessions, Version};
use serde::{Deserialize, Serialize};

use crate::project::Project;

#[derive(Default, Deserialize, Serialize)]
pub(crate) struct State {
    client_reads: Cell<bool>,
    version: Cell<Version>,
    /// Whether the user was notified that there are no tools.
    told: Cell<bool>,
    sessions: Sessions,
}

impl State {
    /// Examines a request. Returns true if something changed.
    pub(crate) fn on_request(&self, request: &Request) -> bool {
        if request.head.method != "initialize" {
            return self.sessions.on_request(request);
        }
        // Version 2 has no such capability: there the client reads no files for an agent.
        let reads = request.head.read("/clientCapabilities/fs/readTextFile");
        self.client_reads.set(reads.unwrap_or_default());
        true
    }

    /// Examines a response. Returns true if something changed.
    pub(crate) fn on_response(&self, response: &Response) -> bool {
        if let Some(version) = Version::agreed(response) {
            self.version.set(version);
            return true;
        }
        self.sessions.on_response(response)
    }

    /// The protocol version, if the user must now be notified that there are no tools.
    pub(crate) fn to_tell(&self) -> Option<Version> {
        let told = self.client_reads.get() || self.told.replace(true);
        (!told).then_some(self.version.get())
    }

    pub(crate) fn client_reads(&self) -> bool {
        self.client_reads.get()
    }

    pub(crate) fn project(&self, session: &str) -> Option<Project> {
        let session = self.sessions.get(session)?;
        Some(Project::new(session.cwd))
    }
}
