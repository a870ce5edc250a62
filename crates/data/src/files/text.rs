//! Text that can be read line by line in little memory: the checks that all text readers share.
//!
//! Lines end in a line feed, with or without a carriage return before it. A text that begins without any line feed, but has
//! carriage returns, ends its lines in these alone, as spreadsheets on the Mac still write them; they become line feeds here,
//! so that no reader needs to know.

use std::io::{self, BufRead, Read};
use std::path::Path;

use super::open::{Compression, ReadFault, failure, file_name, stream};
use crate::DataError;

/// The longest line in bytes. Rows of published datasets have at most a few hundred; the rest is for events with long texts
/// in columns that are not read.
pub const LONGEST_LINE: usize = 1 << 20;

/// Bytes that are looked at together. A line that is too long spans several of these.
const BUFFER: usize = 1 << 16;

/// What a text must be like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checks {
    /// Bytes of the longest line.
    longest: usize,
    /// What divides the fields, if NUL is refused.
    nul: Option<Separator>,
}

#[derive(Clone, Copy, Debug)]
enum Separator {
    /// Tabs where there are some, else blanks.
    Blank,
    Comma,
}

impl Checks {
    /// Rows divided by tabs or blanks.
    pub(crate) const ROWS: Self = Self { longest: LONGEST_LINE, nul: Some(Separator::Blank) };
    /// Rows that may list as many things as there are.
    pub(crate) const LONG_ROWS: Self = Self { longest: usize::MAX, ..Self::ROWS };
    /// Rows divided by commas.
    pub(crate) const COMMAS: Self = Self { nul: Some(Separator::Comma), ..Self::ROWS };
    /// Lines whose fields somebody else checks.
    pub(crate) const LINES: Self = Self { nul: None, ..Self::ROWS };
    /// Anything: JSON as a whole checks itself.
    pub(crate) const NONE: Self = Self { longest: usize::MAX, nul: None };
}

/// A text while it is checked.
pub(crate) struct CheckedText<R> {
    source: R,
    checks: Checks,
    buffer: Vec<u8>,
    taken: usize,
    /// Complete lines before the end of the buffer.
    lines: u64,
    /// The line that the buffer leaves unfinished.
    unfinished: LineStart,
    /// Whether carriage returns alone end lines; decided by the first bytes.
    returns: Option<bool>,
    /// Why the source ended early; it waits until everything before it is taken, so that the right line is named.
    failed: Option<io::Error>,
}

impl<R: Read> CheckedText<R> {
    pub(crate) fn new(source: R, checks: Checks) -> Self {
        let (buffer, unfinished) = (Vec::with_capacity(BUFFER), LineStart::default());
        Self { source, checks, buffer, taken: 0, lines: 0, unfinished, returns: None, failed: None }
    }

    /// Whether carriage returns alone end the lines.
    pub(crate) fn ends_in_returns(&self) -> bool {
        self.returns == Some(true)
    }

    fn fill(&mut self) -> io::Result<()> {
        self.buffer.clear();
        self.taken = 0;
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        match self.source.by_ref().take(BUFFER as u64).read_to_end(&mut self.buffer) {
            Err(error) if self.buffer.is_empty() => return Err(error),
            read => self.failed = read.err(),
        }
        let bytes = self.buffer.as_mut_slice();
        // At the end of a full buffer, a line feed may still follow.
        let decided = &bytes[..bytes.len() - usize::from(bytes.len() == BUFFER)];
        let returns = *self.returns.get_or_insert_with(|| {
            memchr::memchr(b'\n', bytes).is_none() && memchr::memchr(b'\r', decided).is_some()
        });
        if returns {
            bytes.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
        }
        self.check().map_err(|fault| {
            // Nothing of a text with a fault is handed out later.
            self.buffer.clear();
            fault.into()
        })
    }

    fn check(&mut self) -> Result<(), ReadFault> {
        let bytes = self.buffer.as_slice();
        let nul = self.checks.nul.and_then(|separator| Some((memchr::memchr(0, bytes)?, separator)));
        let first_end = memchr::memchr(b'\n', bytes).unwrap_or(bytes.len());
        if self.unfinished.length + first_end > self.checks.longest {
            return Err(too_long(self.lines + 1));
        }
        if let Some((nul, separator)) = nul {
            let lines = self.lines + memchr::memchr_iter(b'\n', &bytes[..nul]).count() as u64;
            let start = match memchr::memrchr(b'\n', &bytes[..nul]) {
                Some(end) => LineStart::default().followed_by(&bytes[end + 1..nul]),
                None => self.unfinished.followed_by(&bytes[..nul]),
            };
            return Err(found_nul(lines + 1, start.column(separator)));
        }
        self.lines += memchr::memchr_iter(b'\n', bytes).count() as u64;
        self.unfinished = match memchr::memrchr(b'\n', bytes) {
            Some(end) => LineStart::default().followed_by(&bytes[end + 1..]),
            None => self.unfinished.followed_by(bytes),
        };
        Ok(())
    }
}

impl<R: Read> BufRead for CheckedText<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.taken == self.buffer.len() {
            self.fill()?;
        }
        Ok(&self.buffer[self.taken..])
    }

    fn consume(&mut self, count: usize) {
        self.taken += count;
    }
}

impl<R: Read> Read for CheckedText<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

fn too_long(line: u64) -> ReadFault {
    let problem = format!(
        "the line is longer than {LONGEST_LINE} bytes, expected a row per line; check that the file is text and ends its lines"
    );
    ReadFault::Row { line, column: 1, problem }
}

fn found_nul(line: u64, column: usize) -> ReadFault {
    let problem = "found a NUL byte, expected text in UTF-8; save the file as UTF-8 (this is not UTF-16?), or remove the byte";
    ReadFault::Row { line, column, problem: problem.to_owned() }
}

/// What is known about the start of a line.
#[derive(Clone, Copy, Debug, Default)]
struct LineStart {
    length: usize,
    tabs: usize,
    /// Commas outside of quotes.
    commas: usize,
    quoted: bool,
    /// Fields between blanks.
    words: usize,
    in_word: bool,
}

impl LineStart {
    fn followed_by(mut self, bytes: &[u8]) -> Self {
        self.length += bytes.len();
        for &byte in bytes {
            self.tabs += usize::from(byte == b'\t');
            self.quoted ^= byte == b'"';
            self.commas += usize::from(byte == b',' && !self.quoted);
            let in_word = !matches!(byte, b' ' | b'\t');
            self.words += usize::from(in_word && !self.in_word);
            self.in_word = in_word;
        }
        self
    }

    /// The field of the byte that follows, counted from 1.
    const fn column(self, separator: Separator) -> usize {
        match separator {
            Separator::Comma => self.commas + 1,
            Separator::Blank if self.tabs > 0 => self.tabs + 1,
            Separator::Blank => self.words + !self.in_word as usize,
        }
    }
}

/// Reads a file of text as a whole, plain or compressed as its name says, for somebody else to take apart. Lines longer than
/// [`LONGEST_LINE`] are refused, NUL, and files that unpack to hundreds of times their size; every fault has its place.
pub fn read_lines(path: &Path) -> Result<Vec<u8>, DataError> {
    let compression = Compression::of(&file_name(path)).0;
    let mut text = Vec::new();
    let read = CheckedText::new(stream(path, compression)?, Checks::COMMAS).read_to_end(&mut text);
    read.map_err(|source| failure(path, compression, source))?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], checks: Checks) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        let read = CheckedText::new(text, checks).read_to_end(&mut bytes);
        read.map(|_| bytes).map_err(|error| error.to_string())
    }

    #[test]
    fn only_returns_alone_become_line_feeds() {
        assert_eq!(read(b"a\rb\r\rc", Checks::ROWS).unwrap(), b"a\nb\n\nc");
        for same in [&b"a\r\nb\rc\r\n"[..], b"a\nb\rc", b"", b"\n\r", b"a"] {
            assert_eq!(read(same, Checks::ROWS).unwrap(), same);
        }
        // The line feed of the first line end lies in the next buffer.
        let mut late = vec![b'x'; BUFFER - 1];
        late.extend(b"\r\ny\r\n");
        assert_eq!(read(&late, Checks::ROWS).unwrap(), late);
    }

    #[test]
    fn lines_before_a_break_are_handed_out_before_the_error() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("broken"))
            }
        }
        let mut text = CheckedText::new((&b"a\nb\nc"[..]).chain(Broken), Checks::ROWS);
        let mut line = String::new();
        for expected in ["a\n", "b\n"] {
            line.clear();
            text.read_line(&mut line).expect("a whole line");
            assert_eq!(line, expected);
        }
        assert_eq!(text.read_line(&mut line).expect_err("the third line").to_string(), "broken");
    }

    #[test]
    fn long_lines_are_refused_with_their_number() {
        let line = |length: usize| [&b"a\n\n"[..], &vec![b'x'; length], b"\nb\n"].concat();
        assert_eq!(read(&line(LONGEST_LINE), Checks::ROWS).unwrap().len(), LONGEST_LINE + 6);
        let error = read(&line(LONGEST_LINE + 1), Checks::ROWS).unwrap_err();
        assert!(error.starts_with("line 3, column 1: the line is longer than 1048576 bytes"), "{error}");
        assert!(read(&line(2 * LONGEST_LINE), Checks::NONE).is_ok());
    }

    #[test]
    fn nul_is_refused_at_its_field() {
        let place = |text: &[u8], checks| {
            let error = read(text, checks).unwrap_err();
            error.split(": ").next().unwrap_or_default().to_owned()
        };
        assert_eq!(place(b"0 0 1 0\n0  0 \0", Checks::ROWS), "line 2, column 3");
        assert_eq!(place(b"0 0 1 0\n0  0\0", Checks::ROWS), "line 2, column 2");
        assert_eq!(place(b"a b\tc\0d\t\0", Checks::ROWS), "line 1, column 2");
        assert_eq!(place(b"\"a,b\",c\0", Checks::COMMAS), "line 1, column 2");
        let far = [&vec![b'x'; BUFFER][..], b" y z\0"].concat();
        assert_eq!(place(&far, Checks::ROWS), "line 1, column 3");
        assert_eq!(read(b"a\0b", Checks::LINES).unwrap(), b"a\0b");
    }
}
