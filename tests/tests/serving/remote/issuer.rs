//! An identity provider: keys that sign, and a server that publishes them, or does not.

use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rcgen::{KeyPair, PKCS_ED25519, PublicKeyData, SigningKey};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// The value of `iss`.
pub const NAME: &str = "https://id.example";

/// A key that signs tokens.
pub struct Signer {
    name: &'static str,
    key: KeyPair,
}

impl Signer {
    pub fn new(name: &'static str) -> Self {
        let key = KeyPair::generate_for(&PKCS_ED25519).unwrap();
        Self { name, key }
    }

    /// The published form of the key.
    pub fn jwk(&self) -> Value {
        let public = URL_SAFE_NO_PAD.encode(self.key.der_bytes());
        json!({"kty": "OKP", "crv": "Ed25519", "kid": self.name, "x": public})
    }

    /// A token for this user that expires in `left` seconds.
    pub fn token(&self, user: &str, left: i64) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let exp = i64::try_from(now.as_secs()).unwrap() + left;
        let header = json!({"alg": "EdDSA", "kid": self.name});
        let claims = json!({"iss": NAME, "aud": "acp", "sub": user, "exp": exp});
        let parts = [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string()));
        let signature = self.key.sign(parts.join(".").as_bytes()).unwrap();
        let signature = URL_SAFE_NO_PAD.encode(signature);
        format!("{}.{}.{signature}", parts[0], parts[1])
    }
}

/// A server's answer to a request for its keys.
#[derive(Clone)]
pub enum Answer {
    /// A document.
    Text(String),
    /// This many bytes, with or without a `Content-Length`.
    Long { bytes: usize, says_so: bool },
    /// A letter every tenth of a second.
    Drips,
    /// No answer.
    Nothing,
    /// A redirect.
    Moved(String),
    /// A server error.
    Fails,
}

impl Answer {
    pub fn keys(signers: &[&Signer]) -> Self {
        let keys: Vec<_> = signers.iter().map(|signer| signer.jwk()).collect();
        Self::Text(json!({ "keys": keys }).to_string())
    }
}

/// A server that publishes keys.
pub struct KeyServer {
    pub url: String,
    answer: Arc<Mutex<Answer>>,
}

impl KeyServer {
    pub async fn start(answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/keys", listener.local_addr().unwrap());
        let answer = Arc::new(Mutex::new(answer));
        let now = answer.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let answer = now.lock().unwrap().clone();
                tokio::spawn(serve(stream, answer));
            }
        });
        Self { url, answer }
    }

    /// Changes the answer.
    pub fn says(&self, answer: Answer) {
        *self.answer.lock().unwrap() = answer;
    }
}

/// An error means that the client disconnected early.
async fn serve(stream: TcpStream, answer: Answer) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    while line != "\r\n" {
        line.clear();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(());
        }
    }
    let ok = "HTTP/1.1 200 OK\r\nconnection: close\r\n";
    match answer {
        Answer::Text(text) => {
            stream
                .write_all(format!("{ok}\r\n{text}").as_bytes())
                .await?;
        }
        Answer::Long { bytes, says_so } => {
            let length = if says_so {
                format!("content-length: {bytes}\r\n")
            } else {
                String::new()
            };
            stream
                .write_all(format!("{ok}{length}\r\n").as_bytes())
                .await?;
            let part = [b' '; 4096];
            for _ in 0..bytes / part.len() {
                stream.write_all(&part).await?;
            }
        }
        Answer::Drips => {
            stream.write_all(format!("{ok}\r\n").as_bytes()).await?;
            let mut drops = tokio::time::interval(std::time::Duration::from_millis(100));
            loop {
                drops.tick().await;
                stream.write_all(b" ").await?;
            }
        }
        Answer::Nothing => std::future::pending().await,
        Answer::Moved(to) => {
            let answer = format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\n\r\n");
            stream.write_all(answer.as_bytes()).await?;
        }
        Answer::Fails => {
            let answer = b"HTTP/1.1 500 No\r\ncontent-length: 5\r\n\r\n\x1b[31m";
            stream.write_all(answer).await?;
        }
    }
    stream.shutdown().await
}
