//! One file from one address: resumed with a range request, checked at the end.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;
use std::thread;

use quadcast_core::Progress;
use sha2::{Digest, Sha256};
use ureq::Agent;
use ureq::http::Response;

use super::dataset::FetchOptions;
use super::error::Cause;
use crate::Download;
use crate::files::open_file;

/// Bytes that are copied at a time.
const CHUNK: usize = 1 << 16;

const OK: u16 = 200;
const PARTIAL_CONTENT: u16 = 206;
const RANGE_NOT_SATISFIABLE: u16 = 416;

/// Why an attempt failed.
pub(super) enum Failure {
    /// The other side is to blame.
    Remote(Cause),
    /// The disk is to blame.
    Local(io::Error),
}

/// Downloads files as the options say.
pub(super) struct Client<'a> {
    agent: Agent,
    pub options: &'a FetchOptions,
    pub progress: &'a dyn Progress,
}

impl<'a> Client<'a> {
    /// A client that gives up when nothing comes for as long as the options allow.
    pub(super) fn new(options: &'a FetchOptions, progress: &'a dyn Progress) -> Self {
        let patience = Some(options.patience);
        let config = Agent::config_builder()
            .user_agent(concat!("quadcast/", env!("CARGO_PKG_VERSION")))
            .http_status_as_error(false)
            .timeout_resolve(patience)
            .timeout_connect(patience)
            .timeout_recv_response(patience)
            .timeout_per_read(patience)
            .build();
        Self { agent: config.new_agent(), options, progress }
    }

    /// Tries one address several times, with longer and longer pauses, as long as another attempt makes sense.
    pub(super) fn persistently(&self, url: &str, part: &Path, file: &Download) -> Result<(), Failure> {
        let mut pause = self.options.pause;
        for _ in 1..self.options.attempts {
            match self.download(url, part, file) {
                Err(Failure::Remote(cause)) if cause.is_passing() => {
                    thread::sleep(pause);
                    pause *= 2;
                }
                done => return done,
            }
        }
        self.download(url, part, file)
    }

    /// Downloads into `part`, going on where an earlier attempt stopped, and checks the content. A wrong content is removed.
    fn download(&self, url: &str, part: &Path, expected: &Download) -> Result<(), Failure> {
        let mut have = fs::metadata(part).map_or(0, |file| file.len());
        if have < expected.bytes || have == 0 {
            let mut request = self.agent.get(url);
            if have > 0 {
                request = request.header("Range", format!("bytes={have}-"));
            }
            let response = request.call().map_err(|error| Failure::Remote(self.cause(&error)))?;
            have = accepted(&response, have, part)?;
            let mut file = OpenOptions::new().create(true).append(true).open(part).map_err(Failure::Local)?;
            if have == 0 {
                file.set_len(0).map_err(Failure::Local)?;
            }
            let body = response.into_body().into_reader();
            have += self.copy(body, &mut file, expected.bytes - have)?;
        }
        if have < expected.bytes {
            return Err(Failure::Remote(Cause::Cut(have, expected.bytes)));
        }
        let found = sha256(part).map_err(Failure::Local)?;
        if found == expected.sha256 {
            return Ok(());
        }
        fs::remove_file(part).map_err(Failure::Local)?;
        Err(Failure::Remote(Cause::Checksum(expected.sha256.to_owned(), found)))
    }

    /// Copies the body; a byte more than expected is enough to know that the content is another.
    fn copy(&self, mut body: impl Read, file: &mut File, wanted: u64) -> Result<u64, Failure> {
        let mut copied = 0;
        let mut chunk = vec![0; CHUNK];
        while copied <= wanted {
            let count = match body.read(&mut chunk) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if is_timeout(&error) => {
                    return Err(Failure::Remote(Cause::TimedOut(self.options.patience.as_secs())));
                }
                // What has come so far is kept; the length says that some is missing.
                Err(_) => break,
            };
            file.write_all(&chunk[..count]).map_err(Failure::Local)?;
            copied += count as u64;
            self.progress.advance(count as u64);
        }
        Ok(copied)
    }

    fn cause(&self, error: &ureq::Error) -> Cause {
        let seconds = self.options.patience.as_secs();
        match error {
            ureq::Error::Timeout(ureq::Timeout::Resolve | ureq::Timeout::Connect) => {
                Cause::Unreachable(format!("no answer within {seconds} s"))
            }
            ureq::Error::Timeout(_) => Cause::TimedOut(seconds),
            ureq::Error::HostNotFound => Cause::Unreachable("the name of the host is not known".to_owned()),
            ureq::Error::ConnectionFailed => Cause::Unreachable("no connection".to_owned()),
            ureq::Error::Io(error) if is_timeout(error) => Cause::TimedOut(seconds),
            ureq::Error::Io(error) => Cause::Unreachable(error.to_string()),
            other => Cause::Other(other.to_string()),
        }
    }
}

/// Where in the file the answer starts: a server that cannot resume starts from 0.
fn accepted<B>(response: &Response<B>, have: u64, part: &Path) -> Result<u64, Failure> {
    match response.status().as_u16() {
        OK => Ok(0),
        PARTIAL_CONTENT => {
            let range = response.headers().get("content-range").and_then(|value| value.to_str().ok());
            let start = range.and_then(|range| range.strip_prefix("bytes ")?.split('-').next()?.parse().ok());
            if start == Some(have) {
                return Ok(have);
            }
            Err(Failure::Remote(Cause::Other(format!(
                "the server sent the range {range:?}, not from {have}"
            ))))
        }
        status => {
            if status == RANGE_NOT_SATISFIABLE {
                // The part does not fit the file; the next attempt starts anew.
                fs::remove_file(part).map_err(Failure::Local)?;
            }
            Err(Failure::Remote(Cause::Status(status)))
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<ureq::Error>());
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)
        || matches!(inner, Some(ureq::Error::Timeout(_)))
}

/// SHA-256 of a file in hexadecimal.
pub(super) fn sha256(path: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    io::copy(&mut open_file(path)?, &mut hasher)?;
    Ok(format!("{:x}", hasher.finalize()))
}
