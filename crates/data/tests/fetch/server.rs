//! A server on this machine that misbehaves as told.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What the server does with a request.
#[derive(Clone, Copy, Debug)]
pub enum Behaviour {
    /// Answers with the file, or the part that is asked for.
    Good,
    /// Announces everything, sends this many bytes and hangs up.
    CutAfter(usize),
    /// Sends everything, whatever part is asked for.
    IgnoreRange,
    /// Takes the request and never answers.
    Silent,
    /// Sends this many bytes and then nothing more.
    StallAfter(usize),
    /// Answers with a status and no file.
    Status(u16),
}

/// A server that gives the same content under every path.
pub struct Server {
    port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Starts a server. The first requests meet these behaviours, all later ones are answered properly.
    pub fn start(content: Vec<u8>, script: Vec<Behaviour>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        let content = Arc::new(content);
        thread::spawn(move || {
            let mut script = script.into_iter();
            for stream in listener.incoming().map_while(Result::ok) {
                let behaviour = script.next().unwrap_or(Behaviour::Good);
                let (content, seen) = (Arc::clone(&content), Arc::clone(&seen));
                thread::spawn(move || answer(stream, &content, behaviour, &seen));
            }
        });
        Self { port, requests }
    }

    /// An address of this server.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.port)
    }

    /// The requests so far, in lower case.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("no panic").clone()
    }

    /// An address at which nobody listens.
    pub fn nobody() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        format!("http://127.0.0.1:{}/train.txt", listener.local_addr().expect("an address").port())
    }
}

fn answer(mut stream: TcpStream, content: &[u8], behaviour: Behaviour, seen: &Mutex<Vec<String>>) {
    let mut request = String::new();
    let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
    while reader.read_line(&mut request).is_ok_and(|count| count > 2) {}
    let request = request.to_lowercase();
    let range = request
        .lines()
        .find_map(|line| line.strip_prefix("range: bytes=")?.trim_end_matches('-').parse().ok());
    seen.lock().expect("no panic").push(request.clone());
    let start: usize = if matches!(behaviour, Behaviour::IgnoreRange) { 0 } else { range.unwrap_or(0) };
    let body = &content[start.min(content.len())..];
    let all = content.len();
    let head = match start {
        0 => format!("HTTP/1.1 200 OK\r\nContent-Length: {all}\r\nConnection: close\r\n\r\n"),
        _ => format!(
            "HTTP/1.1 206 Partial Content\r\nContent-Length: {}\r\nContent-Range: bytes {start}-{}/{all}\r\nConnection: close\r\n\r\n",
            body.len(),
            all - 1
        ),
    };
    // A client that hangs up is no failure of the server.
    let mut send = |bytes: &[u8]| stream.write_all(bytes).and_then(|()| stream.flush()).ok();
    match behaviour {
        Behaviour::Good | Behaviour::IgnoreRange => {
            send(head.as_bytes());
            send(body);
        }
        Behaviour::CutAfter(bytes) | Behaviour::StallAfter(bytes) => {
            send(head.as_bytes());
            send(&body[..bytes.min(body.len())]);
            if matches!(behaviour, Behaviour::StallAfter(_)) {
                thread::sleep(Duration::from_secs(10));
            }
        }
        Behaviour::Silent => thread::sleep(Duration::from_secs(10)),
        Behaviour::Status(status) => {
            send(
                format!("HTTP/1.1 {status} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").as_bytes(),
            );
        }
    }
}
