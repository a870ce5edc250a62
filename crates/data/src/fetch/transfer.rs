//! One file from one address: resumed with a range request, checked at the end.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

use quadcast_core::Progress;
use sha2::{Digest, Sha256};
use ureq::Agent;
use ureq::http::Response;

use super::error::Cause;

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

/// What a file must be.
#[derive(Clone, Copy)]
pub(super) struct Expected<'a> {
    pub bytes: u64,
    pub sha256: &'a str,
}

/// A client that gives up when nothing comes for `patience`.
pub(super) fn agent(patience: Duration) -> Agent {
    let config = Agent::config_builder()
        .user_agent(concat!("quadcast/", env!("CARGO_PKG_VERSION")))
        .http_status_as_error(false)
        .timeout_resolve(Some(patience))
        .timeout_connect(Some(patience))
        .timeout_recv_response(Some(patience))
        .timeout_per_read(Some(patience))
        .build();
    config.new_agent()
}

/// Downloads into `part`, going on where an earlier attempt stopped, and checks the content. A wrong content is removed.
pub(super) fn download(
    agent: &Agent,
    url: &str,
    part: &Path,
    expected: Expected<'_>,
    patience: Duration,
    progress: &dyn Progress,
) -> Result<(), Failure> {
    let mut have = fs::metadata(part).map_or(0, |file| file.len());
    if have < expected.bytes || have == 0 {
        let remote = |error: &ureq::Error| Failure::Remote(cause(error, patience));
        let mut request = agent.get(url);
        if have > 0 {
            request = request.header("Range", format!("bytes={have}-"));
        }
        let response = request.call().map_err(|error| remote(&error))?;
        have = accepted(&response, have, part)?;
        let mut file = OpenOptions::new().create(true).append(true).open(part).map_err(Failure::Local)?;
        if have == 0 {
            file.set_len(0).map_err(Failure::Local)?;
        }
        let body = response.into_body().into_reader();
        have += copy(body, &mut file, expected.bytes - have, patience, progress)?;
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

/// Copies the body; a byte more than expected is enough to know that the content is another.
fn copy(
    mut body: impl Read,
    file: &mut File,
    wanted: u64,
    patience: Duration,
    progress: &dyn Progress,
) -> Result<u64, Failure> {
    let mut copied = 0;
    let mut chunk = vec![0; CHUNK];
    while copied <= wanted {
        let count = match body.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) if is_timeout(&error) => {
                return Err(Failure::Remote(Cause::TimedOut(patience.as_secs())));
            }
            // What has come so far is kept; the length says that some is missing.
            Err(_) => break,
        };
        file.write_all(&chunk[..count]).map_err(Failure::Local)?;
        copied += count as u64;
        progress.advance(count as u64);
    }
    Ok(copied)
}

fn is_timeout(error: &io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<ureq::Error>());
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)
        || matches!(inner, Some(ureq::Error::Timeout(_)))
}

fn cause(error: &ureq::Error, patience: Duration) -> Cause {
    match error {
        ureq::Error::Timeout(ureq::Timeout::Resolve | ureq::Timeout::Connect) => {
            Cause::Unreachable(format!("no answer within {} s", patience.as_secs()))
        }
        ureq::Error::Timeout(_) => Cause::TimedOut(patience.as_secs()),
        ureq::Error::HostNotFound => Cause::Unreachable("the name of the host is not known".to_owned()),
        ureq::Error::ConnectionFailed => Cause::Unreachable("no connection".to_owned()),
        ureq::Error::Io(error) if is_timeout(error) => Cause::TimedOut(patience.as_secs()),
        ureq::Error::Io(error) => Cause::Unreachable(error.to_string()),
        other => Cause::Other(other.to_string()),
    }
}

/// SHA-256 of a file in hexadecimal.
pub(super) fn sha256(path: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    io::copy(&mut File::open(path)?, &mut hasher)?;
    Ok(format!("{:x}", hasher.finalize()))
}
