//! Files that are odd, hostile or large: the right answer or a clear error, in bounded time and memory.

mod bombs;
mod files;
mod support;
mod texts;
