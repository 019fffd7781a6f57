//! Tools for the agent to explore a project: outlines of files, and a search; and a map of the whole project as a
//! resource. All files are read through the client, as a component has no file system. See the README for how files are
//! found, and for the limits.

mod language;
mod outline;
mod project;
mod references;
mod search;
mod state;
mod walk;

use acp_chain_proxy::{
    Action, Call, Contents, Json, Peer, Proxy, Request, Resource, Resources, Response, Result,
    Sessions, Structured, Subscription, Tool, Tools, Version, debug, export, save, warn,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use project::Project;
use references::{ENTRIES, Reference};
use search::Search;
use state::State;
use walk::{File, Outcome, Walk};

/// The maximum number of declarations in a result.
const MOST_DECLARATIONS: usize = 1500;
/// The maximum number of declarations in a file.
const MOST_IN_A_FILE: usize = 300;
/// The maximum number of matches in a result.
const MOST_MATCHES: usize = 200;

#[derive(Default, Deserialize, Serialize)]
struct ProjectMap {
    seen: State,
}

/// The files to read.
#[derive(Default, Deserialize, JsonSchema)]
struct FileSelection {
    /// Files, absolute or relative to the project's directory. By default the common files of a project: README.md,
    /// Cargo.toml, package.json, go.mod, pyproject.toml, src/index.ts …
    #[serde(default)]
    #[schemars(length(max = 100))]
    paths: Vec<String>,
    /// Whether to also read the files that these refer to: by modules, relative imports, includes, links, members of a
    /// workspace. By default true without `paths`, and false with them.
    follow: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
struct Find {
    /// The text or expression to find in each line.
    pattern: String,
    /// Whether `pattern` is a regular expression, in the syntax of Rust's `regex`: ASCII classes, no lookaround, no
    /// backreferences.
    #[serde(default)]
    regex: bool,
    /// Whether to ignore the case of ASCII letters.
    #[serde(default)]
    ignore_case: bool,
    #[serde(flatten)]
    place: FileSelection,
}

#[derive(Serialize, JsonSchema)]
struct Outlines {
    files: Vec<Outline>,
    /// The files that could not be read, with the reasons.
    unread: Vec<String>,
    /// Why the result is incomplete; null if it is complete.
    stopped: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Outline {
    path: String,
    language: Option<&'static str>,
    lines: usize,
    /// Each as `LINE: TEXT`.
    declarations: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct SearchResult {
    /// Each as `PATH:LINE: TEXT`.
    matches: Vec<String>,
    /// The number of files that were searched.
    files: usize,
    /// The files that could not be read, with the reasons.
    unread: Vec<String>,
    /// Why the result is incomplete; null if it is complete.
    stopped: Option<String>,
}

impl Proxy for ProjectMap {
    const SUBSCRIPTIONS: &[Subscription] = &[
        Subscription::requests("initialize")
            .from(Peer::Client)
            .without_body(),
        Version::SUBSCRIPTION,
        // During a turn, a notice can be shown to the user.
        Subscription::responses("session/prompt")
            .from(Peer::Agent)
            .without_body(),
    ];

    fn subscriptions(&self) -> Vec<Subscription> {
        Sessions::beside(Self::SUBSCRIPTIONS)
    }

    fn restore(&mut self, saved: Json) -> Result<()> {
        *self = saved.parse()?;
        Ok(())
    }

    async fn on_request(&self, request: Request) -> Result {
        if self.seen.on_request(&request) {
            self.save();
        }
        Ok(Action::Forward)
    }

    async fn on_response(&self, response: Response) -> Result {
        if response.head.method == "session/prompt" {
            self.tell(response.head.session.as_deref().unwrap_or_default());
            return Ok(Action::Forward);
        }
        if self.seen.on_response(&response) {
            self.save();
        }
        Ok(Action::Forward)
    }
}

impl Tools for ProjectMap {
    fn instructions(&self, _session: Option<&str>) -> Option<String> {
        let text = "To find your way in the project: `outline` without paths for a map of what can be \
                    found from its manifests, then `find` and `outline` with paths. There is no list of \
                    all files: what nothing refers to is not found, so give paths that you know.";
        Some(text.into())
    }

    /// None if the client cannot read files: every call would fail.
    fn tools(&self, _session: Option<&str>) -> Vec<Tool<Self>> {
        if !self.seen.client_reads() {
            warn!(
                "there are no tools: this client reads no files for agents \
                 (`clientCapabilities.fs.readTextFile` in `initialize`)",
            );
            return Vec::new();
        }
        vec![
            Tool::new(
                "outline",
                "Lists the declarations of files (functions, types, classes, headings) with their line \
                 numbers: of the given paths, or of the whole project as far as its manifests, modules \
                 and imports lead. Knows Rust, Python, JavaScript, TypeScript, Go, C, C++, Java and \
                 Markdown.",
                Self::outline,
            )
            .title("Outline files")
            .read_only()
            .closed_world(),
            Tool::new(
                "find",
                "Finds lines that contain a text or match a regular expression, in the given paths, or \
                 in the whole project as far as its manifests, modules and imports lead.",
                Self::find,
            )
            .title("Find in files")
            .read_only()
            .closed_world(),
        ]
    }
}

/// The URI of the map of the whole project.
const MAP: &str = "project-map:/map";

impl Resources for ProjectMap {
    /// None if the client cannot read files, as with the tools.
    fn resources(&self, _session: Option<&str>) -> Vec<Resource> {
        let map = Resource::new(MAP, "map")
            .title("Map of the project")
            .description(
                "The declarations of the project's files, as far as its manifests, modules and imports \
                 lead: what the tool `outline` gives without paths.",
            )
            .mime_type("application/json");
        if self.seen.client_reads() {
            vec![map]
        } else {
            Vec::new()
        }
    }

    async fn read(&self, call: Call<String>) -> Result<Option<Contents>> {
        if call.arguments != MAP || !self.seen.client_reads() {
            return Ok(None);
        }
        let map = self.outlines(&call, &FileSelection::default()).await?;
        let text = Json::of(&map)?.to_string();
        Ok(Some(Contents::text(text).mime_type("application/json")))
    }
}

impl ProjectMap {
    async fn outline(&self, call: Call<FileSelection>) -> Result<Structured<Outlines>> {
        self.outlines(&call, &call.arguments).await.map(Structured)
    }

    async fn outlines<A>(&self, call: &Call<A>, place: &FileSelection) -> Result<Outlines> {
        let (mut files, mut count) = (Vec::new(), 0);
        let outcome = self
            .walk(call, place, |file| {
                let outline = outline_of(file);
                count += outline.declarations.len();
                files.push(outline);
                (count >= MOST_DECLARATIONS)
                    .then_some("there are more declarations than one result has")
            })
            .await?;
        Ok(Outlines {
            files,
            unread: outcome.unread,
            stopped: outcome.stopped.map(Into::into),
        })
    }

    async fn find(&self, call: Call<Find>) -> Result<Structured<SearchResult>> {
        let Find {
            pattern,
            regex,
            ignore_case,
            place,
        } = &call.arguments;
        let search = Search::new(pattern, *regex, *ignore_case)?;
        let mut matches = Vec::new();
        let outcome = self
            .walk(&call, place, |file| {
                for (number, line) in (1..).zip(file.text.lines()) {
                    match search.is_in(line) {
                        Ok(false) => {}
                        Ok(true) if matches.len() == MOST_MATCHES => {
                            return Some("there are more matches than one result has");
                        }
                        Ok(true) => {
                            let line = outline::shown(line.trim_start());
                            matches.push(format!("{}:{number}: {line}", file.name));
                        }
                        Err(too_much) => return Some(too_much),
                    }
                }
                None
            })
            .await?;
        Ok(Structured(SearchResult {
            matches,
            files: outcome.read,
            unread: outcome.unread,
            stopped: outcome.stopped.map(Into::into),
        }))
    }

    /// Reads the files for a call, and reports its progress.
    async fn walk<A>(
        &self,
        call: &Call<A>,
        place: &FileSelection,
        mut visit: impl FnMut(&File) -> Option<&'static str>,
    ) -> Result<Outcome> {
        let session = call.session.as_deref();
        let session = session
            .ok_or("the session of this call is unknown; call again in a turn, while no other session has one")?;
        let project = self.project(session)?;
        let start: Vec<_> = match place.paths.as_slice() {
            [] => ENTRIES
                .iter()
                .map(|name| Reference::guess(vec![(*name).into()]))
                .collect(),
            paths => paths
                .iter()
                .map(|path| Reference::sure(path, vec![path.clone()]))
                .collect(),
        };
        let follow = place.follow.unwrap_or(place.paths.is_empty());
        #[allow(clippy::cast_precision_loss, reason = "there are few files")]
        let total = (!follow).then_some(start.len() as f64);
        let walk = Walk::new(&project, session);
        let outcome = walk
            .read(start, follow, |file, read| {
                #[allow(clippy::cast_precision_loss, reason = "there are few files")]
                call.progress(read as f64, total, Some(&file.name));
                visit(file)
            })
            .await;
        Ok(outcome)
    }

    /// Notifies the user once if there are no tools.
    fn tell(&self, session: &str) {
        let Some(version) = self.seen.to_tell() else {
            return;
        };
        self.save();
        let text =
            "the agent has no tools from this proxy, since this editor reads no files for agents";
        if let Err(error) = version.tell(session, text) {
            debug!("the user was not notified: {error}");
        }
    }

    fn project(&self, session: &str) -> std::result::Result<Project, &'static str> {
        let project = self.seen.project(session);
        project.ok_or(
            "the directory of this session is unknown, since this server did not see the session open",
        )
    }

    fn save(&self) {
        if let Err(error) = save(self) {
            warn!("state not saved, a restarted instance will not know its sessions: {error}");
        }
    }
}

fn outline_of(file: &File) -> Outline {
    let language = file.language;
    let mut declarations = language
        .map(|language| outline::outline(language, &file.text))
        .unwrap_or_default();
    if declarations.len() > MOST_IN_A_FILE {
        let more = declarations.len() - MOST_IN_A_FILE;
        declarations.truncate(MOST_IN_A_FILE);
        declarations.push(format!("({more} more are left out)"));
    }
    Outline {
        path: file.name.clone(),
        language: language.map(language::Language::name),
        lines: file.text.lines().count(),
        declarations,
    }
}

export!(ProjectMap: Tools, Resources);

#[cfg(test)]
mod tests;
