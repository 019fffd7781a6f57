//! A web server on this machine: a registry of agents, archives, and package indexes for npm and Python.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;

/// The served files.
#[derive(Default)]
struct Files {
    by_path: BTreeMap<String, Vec<u8>>,
    /// The path whose transfer stops halfway, and the sender to notify.
    stops: Option<(String, Sender<()>)>,
    /// The path whose transfer breaks off halfway.
    cut: Option<String>,
}

pub struct Server {
    address: String,
    files: Arc<Mutex<Files>>,
}

impl Server {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let files = Arc::<Mutex<Files>>::default();
        let served = files.clone();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let files = served.clone();
                thread::spawn(move || answer(client, &files));
            }
        });
        Self { address, files }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn put(&self, path: &str, bytes: impl Into<Vec<u8>>) {
        let mut files = self.files.lock().unwrap();
        files.by_path.insert(path.to_owned(), bytes.into());
    }

    pub fn get(&self, path: &str) -> String {
        let files = self.files.lock().unwrap();
        String::from_utf8(files.by_path[path].clone()).unwrap()
    }

    pub fn remove(&self, path: &str) {
        self.files.lock().unwrap().by_path.remove(path);
    }

    /// Sends only half of this file from now on. Notifies the receiver whenever a client waits for the rest.
    pub fn stop_halfway(&self, path: &str) -> Receiver<()> {
        let (told, waits) = mpsc::channel();
        self.files.lock().unwrap().stops = Some((path.to_owned(), told));
        waits
    }

    /// Closes the connection after half of this file from now on.
    pub fn cut_halfway(&self, path: &str) {
        self.files.lock().unwrap().cut = Some(path.to_owned());
    }

    pub fn go_on(&self) {
        self.files.lock().unwrap().stops = None;
    }
}

/// Answers one request.
fn answer(client: TcpStream, files: &Mutex<Files>) {
    let mut client = BufReader::new(client);
    let mut request = String::new();
    let mut line = String::new();
    while client.read_line(&mut line).is_ok_and(|read| read > 2) {
        request.push_str(&line);
        line.clear();
    }
    let path = request.split(' ').nth(1).unwrap_or_default();
    let path = path.replace("%2f", "/").replace("%2F", "/");
    let files = files.lock().unwrap();
    let found = files.by_path.get(&path).cloned();
    let stops = files.stops.clone().filter(|(stops, _)| *stops == path);
    let is_cut = files.cut.as_ref() == Some(&path);
    drop(files);
    let status = if found.is_some() {
        "200 OK"
    } else {
        "404 Not Found"
    };
    let kind = if path.contains("/simple/") {
        "text/html"
    } else {
        "application/octet-stream"
    };
    let body = found.unwrap_or_default();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let mut client = client.into_inner();
    let _ = client.write_all(head.as_bytes());
    match stops {
        None if is_cut => drop(client.write_all(&body[..body.len() / 2])),
        None => drop(client.write_all(&body)),
        Some((_, told)) => {
            let _ = client.write_all(&body[..body.len() / 2]);
            let _ = told.send(());
            // Until the client disconnects.
            let _ = client.read(&mut [0]);
        }
    }
}
