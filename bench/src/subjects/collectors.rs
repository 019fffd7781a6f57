//! OpenTelemetry collectors, for chains that export their turns. They listen as long as this process runs.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use super::Collector;

/// How long the slow one takes for an answer: longer than the exporter waits.
const SLOW: Duration = Duration::from_secs(15);

/// Nobody listens here: it is the port of an extinct service.
const DEAD: &str = "http://127.0.0.1:9";

/// Where they are.
#[derive(Clone, Debug)]
pub struct Collectors {
    there: String,
    slow: String,
}

impl Collectors {
    /// Starts to listen.
    ///
    /// # Errors
    /// If there are no ports.
    pub fn start() -> io::Result<Self> {
        Ok(Self {
            there: listen(Duration::ZERO)?,
            slow: listen(SLOW)?,
        })
    }

    pub(super) fn endpoint(&self, collector: Collector) -> &str {
        match collector {
            Collector::There => &self.there,
            Collector::Slow => &self.slow,
            Collector::Dead => DEAD,
        }
    }
}

fn listen(pause: Duration) -> io::Result<String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let endpoint = format!("http://{}", listener.local_addr()?);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that has left meanwhile does not matter.
            thread::spawn(move || serve(stream, pause));
        }
    });
    Ok(endpoint)
}

/// Answers requests on a connection.
fn serve(stream: TcpStream, pause: Duration) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let line = line.trim().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or_default();
            }
            if line.is_empty() {
                break;
            }
        }
        io::copy(&mut stream.by_ref().take(length), &mut io::sink())?;
        thread::sleep(pause);
        stream
            .get_mut()
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")?;
    }
}
