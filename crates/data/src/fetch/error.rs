//! What can go wrong in a download.

use std::fmt;
use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a mirror did not give a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// No connection.
    Unreachable(String),
    /// Nothing came for this many seconds.
    TimedOut(u64),
    /// The server answered with this status.
    Status(u16),
    /// The connection was cut after this many of the expected bytes.
    Cut(u64, u64),
    /// Another content than published: expected and found SHA-256.
    Checksum(String, String),
    /// Anything else.
    Other(String),
}

impl Cause {
    /// Whether another attempt at the same address could succeed.
    pub(super) const fn is_passing(&self) -> bool {
        match self {
            Self::TimedOut(_) | Self::Cut(..) | Self::Unreachable(_) | Self::Other(_) => true,
            Self::Status(status) => matches!(status, 408 | 416 | 425 | 429 | 500..),
            Self::Checksum(..) => false,
        }
    }

    const fn advice(&self) -> &'static str {
        match self {
            Self::Unreachable(_) => {
                "this machine seems to be offline: check the connection or the proxy (HTTPS_PROXY)"
            }
            Self::TimedOut(_) | Self::Cut(..) => "run the command again, it goes on where it stopped",
            Self::Status(_) | Self::Other(_) => "try again later, or name another source with --from URL",
            Self::Checksum(..) => "the damaged file was removed; name another source with --from URL",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(why) => write!(f, "cannot be reached ({why})"),
            Self::TimedOut(seconds) => write!(f, "nothing came for {seconds} s"),
            Self::Status(404) => f.write_str("no such file (status 404)"),
            Self::Status(status) => write!(f, "the server answered with status {status}"),
            Self::Cut(have, expected) => write!(f, "the connection was cut after {have} of {expected} bytes"),
            Self::Checksum(expected, found) => {
                write!(f, "another content than published: SHA-256 {found}, expected {expected}")
            }
            Self::Other(why) => f.write_str(why),
        }
    }
}

/// An address and why it failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirror {
    /// The address.
    pub url: String,
    /// Why.
    pub cause: Cause,
}

/// Whatever can go wrong when a dataset is fetched.
#[derive(Debug, Error)]
pub enum FetchError {
    /// A variant without addresses, or no folder to fetch into: why, and what to do.
    #[error("{0}")]
    Refused(String),
    /// No mirror gave a file.
    #[error("{file} of {name} could not be fetched:{}\n{}", listed(mirrors), advice(mirrors))]
    Failed {
        /// The variant.
        name: &'static str,
        /// The file.
        file: &'static str,
        /// What was tried.
        mirrors: Vec<Mirror>,
    },
    /// Writing failed.
    #[error("{}: cannot be written: {source}; choose another folder with --out", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

fn listed(mirrors: &[Mirror]) -> String {
    let lines: Vec<String> =
        mirrors.iter().map(|mirror| format!("\n  {}: {}", mirror.url, mirror.cause)).collect();
    lines.concat()
}

fn advice(mirrors: &[Mirror]) -> &'static str {
    mirrors.last().map_or("no address is known", |mirror| mirror.cause.advice())
}
