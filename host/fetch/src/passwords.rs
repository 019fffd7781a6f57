//! The user's passwords for registries, as Docker and Podman store them: in files, and in helpers that these files
//! name. A password that cannot be read is not an error, since most registries need none.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use docker_credential::{
    CredentialRetrievalError as Error, DockerCredential, get_credential_from_reader,
};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::time::timeout;

/// The host of Docker Hub, its usual name, and the names under which its password is stored: by `docker login`, also in
/// helpers, and by other tools.
const DOCKER_HUB: (&str, &str, [&str; 2]) = (
    "registry-1.docker.io",
    "docker.io",
    ["https://index.docker.io/v1/", "index.docker.io"],
);

/// The byte order mark that some editors write before a text.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// The result of a search: the password if there is one, or why it may have been missed.
type SearchResult = Result<Option<DockerCredential>, String>;

/// The members of a file that have names of registries.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Config {
    auths: Option<BTreeMap<String, Value>>,
    creds_store: Option<String>,
    cred_helpers: Option<BTreeMap<String, String>>,
}

/// The maximum duration of a search. A helper may prompt the user.
const PATIENCE: Duration = Duration::from_mins(2);

/// Searches these files for the password of a repository, for at most [`PATIENCE`].
pub async fn find(files: &[PathBuf], registry: &str, repository: &str) -> SearchResult {
    let files = files.to_owned();
    let (registry, repository) = (registry.to_owned(), repository.to_owned());
    within_patience(move || search(&files, &registry, &repository)).await
}

/// Runs the search in a new thread, which a runtime that ends does not wait for.
async fn within_patience(search: impl FnOnce() -> SearchResult + Send + 'static) -> SearchResult {
    let (sender, receiver) = oneshot::channel();
    let begun = thread::Builder::new().spawn(move || sender.send(search()));
    begun.map_err(|error| error.to_string())?;
    let found = timeout(PATIENCE, receiver).await.map_err(|_| {
        let seconds = PATIENCE.as_secs();
        format!("the credential helper in Docker's settings did not answer within {seconds} s")
    })?;
    found.map_err(|error| error.to_string())?
}

/// The paths of the user's files with passwords, Docker's first.
pub fn files() -> Vec<PathBuf> {
    let variable = |name| {
        let value = std::env::var_os(name).filter(|value| !value.is_empty());
        value.map(PathBuf::from)
    };
    // Another one would depend on the working directory.
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    let of_home = |folder: &str| home.as_ref().map(|home| home.join(folder));
    let docker = variable("DOCKER_CONFIG").or_else(|| of_home(".docker"));
    let docker = docker.map(|folder| folder.join("config.json"));
    let podman = variable("REGISTRY_AUTH_FILE").map_or_else(
        || {
            let config = variable("XDG_CONFIG_HOME").or_else(|| of_home(".config"));
            let folders = [variable("XDG_RUNTIME_DIR"), config].into_iter().flatten();
            let files = folders.map(|folder| folder.join("containers/auth.json"));
            files.collect()
        },
        |file| vec![file],
    );
    docker.into_iter().chain(podman).collect()
}

/// Searches these files for the first password of a repository.
fn search(files: &[PathBuf], registry: &str, repository: &str) -> SearchResult {
    let mut wrong = None;
    for file in files {
        match search_file(file, registry, repository) {
            Ok(None) => {}
            Ok(found) => return Ok(found),
            Err(why) => {
                wrong.get_or_insert_with(|| format!("{}: {why}", file.display()));
            }
        }
    }
    wrong.map_or(Ok(None), Err)
}

fn search_file(file: &Path, registry: &str, repository: &str) -> SearchResult {
    let text = match fs::read(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        read => read.map_err(|error| error.to_string())?,
    };
    let text = text.strip_prefix(BOM).unwrap_or(&text);
    let config: Config = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let mut wrong = None;
    for name in config.names(registry, repository) {
        match get_credential_from_reader(text, &name) {
            Ok(credential) if is_empty(&credential) => {}
            Ok(credential) => return Ok(Some(credential)),
            Err(error) if is_none(&error) => {}
            Err(error) => {
                wrong.get_or_insert_with(|| config.why(&name, &error));
            }
        }
    }
    wrong.map_or(Ok(None), Err)
}

impl Config {
    /// The names under which a password may be stored, the most specific first: Podman also stores passwords for a part
    /// of a registry.
    fn names(&self, registry: &str, repository: &str) -> Vec<String> {
        let (host, usual, stored) = DOCKER_HUB;
        let (usual, whole) = if registry == host {
            (usual, stored.map(str::to_owned).to_vec())
        } else {
            (registry, vec![registry.to_owned()])
        };
        let mut parts = Vec::new();
        let mut part = repository;
        loop {
            let name = format!("{usual}/{part}");
            let is_there = self
                .auths
                .as_ref()
                .is_some_and(|auths| auths.contains_key(&name));
            parts.extend(is_there.then_some(name));
            match part.rsplit_once('/') {
                Some((above, _)) => part = above,
                None => break,
            }
        }
        parts.into_iter().chain(whole).collect()
    }

    /// The cause of a failed search under a name.
    fn why(&self, name: &str, error: &Error) -> String {
        let of_name = self
            .cred_helpers
            .as_ref()
            .and_then(|helpers| helpers.get(name));
        let helper = of_name.or(self.creds_store.as_ref());
        let helper = helper.map_or("", String::as_str);
        match error {
            Error::HelperCommunicationError => {
                format!("the helper `docker-credential-{helper}` cannot be run")
            }
            Error::MalformedHelperResponse => {
                format!(
                    "the helper `docker-credential-{helper}` prints no user name with a password"
                )
            }
            Error::HelperFailure {
                helper,
                stdout,
                stderr,
            } => {
                let said = [stderr, stdout].map(|said| said.trim());
                let said = said.into_iter().find(|said| !said.is_empty());
                let said = said.unwrap_or("it prints nothing");
                format!("the helper `{helper}` fails: {said}")
            }
            error => error.to_string(),
        }
    }
}

/// Whether the error only means that there is no password.
fn is_none(error: &Error) -> bool {
    match error {
        Error::NoCredentialConfigured => true,
        // The output of a helper without a password.
        Error::HelperFailure { stdout, .. } => stdout.contains("credentials not found"),
        _ => false,
    }
}

/// Whether a helper printed an empty password, since it has none.
fn is_empty(credential: &DockerCredential) -> bool {
    let (DockerCredential::IdentityToken(secret) | DockerCredential::UsernamePassword(_, secret)) =
        credential;
    secret.is_empty()
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    /// Searches files with these contents.
    fn found(contents: &[&str], registry: &str, repository: &str) -> SearchResult {
        let folder = TempDir::new().unwrap();
        let files = contents.iter().enumerate().map(|(at, content)| {
            let file = folder.path().join(at.to_string());
            fs::write(&file, content).unwrap();
            file
        });
        let files: Vec<_> = files.collect();
        search(&files, registry, repository)
    }

    fn user(found: SearchResult) -> String {
        match found {
            Ok(Some(DockerCredential::UsernamePassword(user, _))) => user,
            other => panic!("{other:?}"),
        }
    }

    /// The content of a file with a password of the user `me`.
    fn file(name: &str) -> String {
        format!(r#"{{"auths":{{"{name}":{{"auth":"bWU6c2VjcmV0"}}}}}}"#)
    }

    #[test]
    fn the_password_of_docker_hub_is_found_under_each_of_its_names() {
        for name in [
            "https://index.docker.io/v1/",
            "index.docker.io",
            "docker.io",
            "registry-1.docker.io",
            "docker.io/org",
        ] {
            let found = found(&[&file(name)], "registry-1.docker.io", "org/it");
            assert_eq!(user(found), "me", "{name}");
        }
    }

    #[test]
    fn the_password_for_a_part_of_a_registry_comes_before_that_for_all_of_it() {
        // `you:secret` and `me:secret`, as `podman login` writes them.
        let both = r#"{"auths":{
            "quay.io/org/it":{"auth":"eW91OnNlY3JldA=="},"quay.io":{"auth":"bWU6c2VjcmV0"}}}"#;
        for (repository, expected) in [
            ("org/it", "you"),
            ("org/it/deep", "you"),
            ("org/item", "me"),
            ("it", "me"),
        ] {
            assert_eq!(user(found(&[both], "quay.io", repository)), expected);
        }
        assert_eq!(found(&[both], "quay.io.evil", "org/it"), Ok(None));
    }

    #[test]
    fn a_file_is_read_after_one_without_the_password() {
        for docker in [
            "{}",
            r#"{"auths":{"ghcr.io":{}}}"#,
            r#"{"auths":null,"credsStore":"acp-chain-missing"}"#,
            "no JSON",
            "",
        ] {
            let found = found(&[docker, &file("ghcr.io")], "ghcr.io", "org/it");
            assert_eq!(user(found), "me", "{docker}");
        }
        let marked = format!("\u{feff}{}", file("ghcr.io"));
        assert_eq!(user(found(&[&marked], "ghcr.io", "org/it")), "me");
    }

    #[test]
    fn an_error_names_the_file_and_the_helper() {
        for (content, says) in [
            (
                r#"{"credsStore":"acp-chain-missing"}"#,
                "0: the helper `docker-credential-acp-chain-missing` cannot be run",
            ),
            (
                r#"{"credHelpers":{"ghcr.io":"acp-chain-other"},"credsStore":"desktop"}"#,
                "0: the helper `docker-credential-acp-chain-other` cannot be run",
            ),
            ("{", "0: EOF while parsing"),
            (
                r#"{"auths":{"ghcr.io":{"auth":"?"}}}"#,
                "0: Unable to decode credential",
            ),
        ] {
            let wrong = found(&[content], "ghcr.io", "org/it").unwrap_err();
            assert!(wrong.contains(says), "{wrong}\nlacks\n{says}");
        }
        assert_eq!(found(&["{}"], "ghcr.io", "org/it"), Ok(None));
    }

    #[tokio::test(start_paused = true)]
    async fn a_helper_that_hangs_is_not_waited_for() {
        let hangs = || {
            loop {
                thread::park();
            }
        };
        let wrong = within_patience(hangs).await.unwrap_err();
        assert!(wrong.contains("did not answer within 120 s"), "{wrong}");
    }

    #[test]
    fn a_helper_without_a_password_is_not_an_error() {
        let said = |stdout: &str| Error::HelperFailure {
            helper: "docker-credential-pass".to_owned(),
            stdout: stdout.to_owned(),
            stderr: String::new(),
        };
        assert!(is_none(&said("credentials not found in native keychain\n")));
        let locked = said("error getting credentials: the keychain is locked\n");
        assert!(!is_none(&locked));
        let why = Config::default().why("ghcr.io", &locked);
        assert_eq!(
            why,
            "the helper `docker-credential-pass` fails: error getting credentials: the keychain is locked"
        );
        let none = DockerCredential::UsernamePassword(String::new(), String::new());
        assert!(is_empty(&none));
    }
}
