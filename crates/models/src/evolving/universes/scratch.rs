//! Words in a file without a name, which are read as if they were in memory.
//!
//! The system holds as much of them as there is room for, and finds the rest on the disk.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::Deref;
use std::path::Path;

use bytemuck::Pod;
use memmap2::Mmap;

/// Words of a cache line.
const LINE: usize = 16;

/// Writes words.
pub(super) struct Writer {
    out: BufWriter<File>,
    words: usize,
}

impl Writer {
    pub fn new(folder: &Path) -> io::Result<Self> {
        Ok(Self { out: BufWriter::with_capacity(1 << 18, tempfile::tempfile_in(folder)?), words: 0 })
    }

    /// Words that were put so far.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Puts numbers of four bytes, each of them a word.
    pub fn put<T: Pod>(&mut self, numbers: &[T]) -> io::Result<()> {
        const { assert!(size_of::<T>() == size_of::<u32>(), "a word has four bytes") };
        self.words += numbers.len();
        self.out.write_all(bytemuck::cast_slice(numbers))
    }

    /// Goes on at the beginning of a cache line.
    pub fn align(&mut self) -> io::Result<()> {
        self.put(&[0_u32; LINE][..self.words.next_multiple_of(LINE) - self.words])
    }

    #[expect(unsafe_code, reason = "memory that belongs to a file: see below why nobody changes it")]
    pub fn finish(self) -> io::Result<Words> {
        let file = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        // SAFETY: the words must not change while they are lent out. This file was opened above without a name, or had one
        // for the moment of being opened; nobody else has it, and after this function nobody can write to it at all.
        let map = unsafe { Mmap::map(&file) }?;
        Ok(Words(map))
    }
}

/// Words that never change.
#[derive(Debug)]
pub(super) struct Words(Mmap);

impl Deref for Words {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        // Maps begin with a page, and whole words were written.
        bytemuck::cast_slice(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back_from_a_folder_that_stays_empty() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut writer = Writer::new(folder.path()).expect("a file");
        writer.put(&[1_u32, 2, 3]).expect("room");
        writer.align().expect("room");
        assert_eq!(writer.words(), 16);
        writer.put(&[1.5_f32]).expect("room");
        let words = writer.finish().expect("a map");
        assert_eq!(words.len(), 17);
        assert_eq!((&words[..4], words[16]), (&[1, 2, 3, 0][..], 1.5_f32.to_bits()));
        assert_eq!(words[16..].as_ptr().align_offset(64), 0, "a cache line");
        assert_eq!(folder.path().read_dir().expect("a folder").count(), 0);
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(Writer::new(&folder.path().join("nowhere")).is_err());
    }
}
