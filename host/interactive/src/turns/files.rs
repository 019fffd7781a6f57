//! The files of the session's folder, as the client of the chain reads and writes them for the agent and the proxies.
//!
//! Invariants: nothing outside of the folder is read or written, whatever links, `..` and special files a path leads
//! through; and a file that is read has a bounded size.

use std::path::{Component, Path, PathBuf};

use acp_chain_acp::{READ, WRITE};
use acp_chain_ends::Request;
use acp_chain_project::{FileError, Root};
use acp_chain_rpc::code;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_sandbox::{Directories, Directory};
use serde_json::{Value, json};

use crate::Result;

/// The maximum size of a file that is read, in bytes.
const MOST: usize = 4 << 20;

/// The open folder of a session.
#[derive(Debug)]
pub struct Files {
    folder: PathBuf,
    root: Root,
    directories: Directories,
}

/// Why a request is refused: the code of the JSON-RPC error, and its message.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal(pub i64, pub String);

impl Files {
    /// Opens an absolute folder.
    pub fn open(folder: &Path) -> Result<Self> {
        let directory = Directory {
            path: folder.to_owned(),
            name: "folder".to_owned(),
            write: true,
        };
        Ok(Self {
            folder: folder.to_owned(),
            root: Root::open(folder)?,
            directories: Directories::open(&[directory])?,
        })
    }

    /// The folder, for a process that keeps the rights to it alone.
    pub fn directories(&self) -> Directories {
        self.directories.clone()
    }

    /// The result of `fs/read_text_file`.
    fn read(&self, params: &Value) -> Result<Value, Refusal> {
        let path = self.within(params)?;
        let text = self.root.text_beneath(path, MOST).map_err(failed)?;
        let missing = || format!("{} does not exist", shown(path));
        let text = text.ok_or_else(|| Refusal(code::RESOURCE_NOT_FOUND, missing()))?;
        Ok(json!({ "content": part(&text, params) }))
    }

    /// The result of `fs/write_text_file`.
    fn write(&self, params: &Value) -> Result<Value, Refusal> {
        let path = self.within(params)?;
        let text = params["content"].as_str();
        let text = text.ok_or_else(|| unusable("`content` must be a text"))?;
        self.root.write(path, text.as_bytes()).map_err(failed)?;
        Ok(json!({}))
    }

    /// The path of a request, relative to the folder.
    fn within<'p>(&self, params: &'p Value) -> Result<&'p Path, Refusal> {
        let text = params["path"].as_str();
        let named = Path::new(text.ok_or_else(|| unusable("`path` must be a text"))?);
        let inner = named.strip_prefix(&self.folder).ok();
        let is_within = |inner: &&Path| {
            let mut parts = inner.components();
            *inner != Path::new("") && parts.all(|name| matches!(name, Component::Normal(_)))
        };
        inner.filter(is_within).ok_or_else(|| {
            unusable(&format!(
                "{} is not a path beneath {}, without `..`: `acp-chain try` has no other files",
                shown(named),
                shown(&self.folder)
            ))
        })
    }
}

/// The answer to a request for a file, or to one that this client does not support; and the path of the file that was
/// written, quoted.
pub fn answer(files: Option<&Files>, request: &Request) -> (Value, Option<String>) {
    let params = request.params();
    let outcome = match (request.method(), files) {
        (READ, Some(files)) => files.read(params),
        (WRITE, Some(files)) => files.write(params),
        _ => {
            let why = "the client of `acp-chain try` does not support this method";
            return (request.refuse(code::METHOD_NOT_FOUND, why), None);
        }
    };
    match outcome {
        Ok(result) => {
            let path = params["path"].as_str().map(Path::new).map(shown);
            let written = path.filter(|_| request.method() == WRITE);
            (request.respond(result), written)
        }
        Err(Refusal(code, why)) => (request.refuse(code, &why), None),
    }
}

/// The lines that a request wants: `limit` from the one with the number `line`, the first being 1.
fn part(text: &str, params: &Value) -> String {
    let number = |key: &str| {
        let number = params[key].as_u64()?;
        Some(usize::try_from(number).unwrap_or(usize::MAX))
    };
    let skipped = number("line").unwrap_or(1).saturating_sub(1);
    let lines = text.split_inclusive('\n').skip(skipped);
    lines.take(number("limit").unwrap_or(usize::MAX)).collect()
}

fn unusable(why: &str) -> Refusal {
    Refusal(code::INVALID_PARAMS, why.to_owned())
}

fn failed(error: FileError) -> Refusal {
    Refusal(code::INTERNAL_ERROR, error.to_string())
}

fn shown(path: &Path) -> String {
    quote(&path.display().to_string(), MAX_QUOTE)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn files() -> (tempfile::TempDir, Files) {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().canonicalize().unwrap().join("work");
        fs::create_dir(&folder).unwrap();
        fs::write(outer.path().join("outside"), "theirs").unwrap();
        let files = Files::open(&folder).unwrap();
        (outer, files)
    }

    #[test]
    fn files_beneath_the_folder_are_written_and_read_in_whole_or_in_part() {
        let (_outer, files) = files();
        let path = files.folder.join("a/b.txt");
        let params = json!({ "path": path, "content": "one\ntwo\nthree" });
        assert_eq!(files.write(&params), Ok(json!({})));
        let read = |line: Value, limit: Value| {
            let params = json!({ "path": path, "line": line, "limit": limit });
            files.read(&params).unwrap()["content"].clone()
        };
        assert_eq!(read(Value::Null, Value::Null), "one\ntwo\nthree");
        assert_eq!(read(json!(2), json!(1)), "two\n");
        assert_eq!(read(json!(3), Value::Null), "three");
        assert_eq!(read(json!(4), json!(u64::MAX)), "");
        assert_eq!(read(json!(0), json!(0)), "");
    }

    #[test]
    fn nothing_else_is_read_or_written() {
        let (outer, files) = files();
        let folder = files.folder.clone();
        let outside = folder.with_file_name("outside");
        let paths = [
            outside.clone(),
            folder.join("../outside"),
            folder.join("a/../../outside"),
            folder.join("in/../it"),
            folder.clone(),
            "outside".into(),
            "".into(),
            "/etc/passwd".into(),
        ];
        for path in paths {
            let params = json!({ "path": path, "content": "ours" });
            for outcome in [files.read(&params), files.write(&params)] {
                let refusal = outcome.unwrap_err();
                assert_eq!(refusal.0, code::INVALID_PARAMS, "{}", path.display());
            }
        }
        for params in [json!({}), json!({ "path": 1 }), Value::Null] {
            files.read(&params).unwrap_err();
            files.write(&params).unwrap_err();
        }
        assert_eq!(fs::read_to_string(outside).unwrap(), "theirs");
        assert_eq!(fs::read_dir(outer.path().join("work")).unwrap().count(), 0);
    }

    #[test]
    fn a_missing_file_is_told_from_one_that_is_too_large() {
        let (_outer, files) = files();
        let path = files.folder.join("it");
        let refused = || files.read(&json!({ "path": path })).unwrap_err().0;
        assert_eq!(refused(), code::RESOURCE_NOT_FOUND);
        let large = fs::File::create(&path).unwrap();
        large.set_len(MOST as u64 + 1).unwrap();
        assert_eq!(refused(), code::INTERNAL_ERROR);
    }
}
