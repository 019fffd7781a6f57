//! The client of a trial. It grants permission requests, and serves the files of the project.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tokio::io::DuplexStream;

use crate::cli::typed::wire::{Wire, answer, is_request};
use crate::rpc::code;

/// The maximum number of bytes of a file.
const MOST: u64 = 1 << 20;

pub struct Client {
    wire: Wire,
    /// The project.
    folder: PathBuf,
}

impl Client {
    pub fn new(stream: DuplexStream, folder: PathBuf) -> Self {
        Self {
            wire: Wire::new(stream),
            folder,
        }
    }

    /// Sends a request, and serves incoming messages until it is answered by a result or an error. Fails if the chain
    /// has gone.
    pub async fn ask(
        &mut self,
        method: &str,
        params: &Value,
    ) -> Result<Result<Value, Value>, String> {
        let asked = self.answered(method, params).await;
        asked.map_err(|error| format!("the chain is gone: {error}"))
    }

    async fn answered(&mut self, method: &str, params: &Value) -> io::Result<Result<Value, Value>> {
        let id = self.wire.request(method, params).await?;
        while let Some(message) = self.wire.receive().await? {
            if let Some(answer) = answer(&message, id) {
                return Ok(answer);
            }
            if is_request(&message) {
                self.serve(&message).await?;
            }
        }
        Err(io::ErrorKind::UnexpectedEof.into())
    }

    async fn serve(&mut self, request: &Value) -> io::Result<()> {
        let params = &request["params"];
        match request["method"].as_str().unwrap_or_default() {
            "session/request_permission" => {
                let options = params["options"].as_array();
                let first = options.and_then(|options| options.first());
                let first = first.map_or(&Value::Null, |option| &option["optionId"]);
                let outcome = json!({ "outcome": "selected", "optionId": first });
                self.wire
                    .respond(request, &json!({ "outcome": outcome }))
                    .await
            }
            "fs/read_text_file" => match self.read(params["path"].as_str().unwrap_or_default()) {
                Ok(content) => {
                    let content = json!({ "content": content });
                    self.wire.respond(request, &content).await
                }
                Err(error) => {
                    let why = error.to_string();
                    self.wire.refuse(request, code::INTERNAL_ERROR, &why).await
                }
            },
            _ => {
                let why = "the client of a trial does not know that";
                self.wire.refuse(request, code::METHOD_NOT_FOUND, why).await
            }
        }
    }

    /// A file of the project, and no others.
    fn read(&self, path: &str) -> io::Result<String> {
        let path = Path::new(path).canonicalize()?;
        if !path.starts_with(&self.folder) || !path.is_file() {
            return Err(io::Error::other("it is not a file of the project"));
        }
        let mut content = String::new();
        File::open(path)?.take(MOST).read_to_string(&mut content)?;
        Ok(content)
    }
}
