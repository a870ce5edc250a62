//! One JSON object per line, streamed. Only the four wanted values are kept, in buffers that are used again.

use std::borrow::Cow;
use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use super::columns::Role;
use super::rows::{BUFFER, EventRow, Next, Problem, Rows, SkipReason, Stop};

pub(super) struct JsonLines<R> {
    reader: BufReader<R>,
    text: Vec<u8>,
    line: u64,
    object: Object,
}

/// The wanted values of an object.
#[derive(Default)]
struct Object {
    /// Keys of the roles.
    wanted: [String; 4],
    texts: [Vec<u8>; 4],
    /// Position of each key in the object, counted from 1; 0 where it is missing.
    columns: [usize; 4],
    /// Number of keys.
    keys: usize,
}

impl<R: Read> JsonLines<R> {
    pub(super) fn new(text: R, wanted: [String; 4]) -> Self {
        let reader = BufReader::with_capacity(BUFFER, text);
        Self { reader, text: Vec::new(), line: 0, object: Object { wanted, ..Object::default() } }
    }

    fn parse(&mut self) -> Result<(), serde_json::Error> {
        self.object.columns = [0; 4];
        self.object.keys = 0;
        let mut input = serde_json::Deserializer::from_slice(&self.text);
        self.object.deserialize(&mut input)?;
        input.end()
    }

    fn problem(&self, column: usize, message: String) -> Problem {
        Problem { line: self.line, column, reason: SkipReason::Json, message }
    }
}

impl<R: Read> Rows for JsonLines<R> {
    fn next(&mut self) -> Result<Next<'_>, Stop> {
        loop {
            self.text.clear();
            if self.reader.read_until(b'\n', &mut self.text).map_err(Stop::Read)? == 0 {
                return Ok(Next::End);
            }
            self.line += 1;
            if !self.text.trim_ascii().is_empty() {
                break;
            }
        }
        if let Err(error) = self.parse() {
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            return Ok(Next::Bad(self.problem(
                error.column(),
                format!("the line is not usable as JSON ({message}), expected one object per line; correct the line"),
            )));
        }
        if let Some(role) = Role::ALL.into_iter().find(|role| self.object.columns[*role as usize] == 0) {
            let key = &self.object.wanted[role as usize];
            return Ok(Next::Bad(self.problem(
                self.object.keys + 1,
                format!("the key {key:?} ({role}) is missing; complete the object"),
            )));
        }
        let fields = self.object.texts.each_ref().map(Vec::as_slice);
        Ok(Next::Row(EventRow::new(self.line, self.object.columns, fields)))
    }
}

impl<'de> DeserializeSeed<'de> for &mut Object {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut Object {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Key(key)) = map.next_key()? {
            self.keys += 1;
            match self.wanted.iter().position(|wanted| *wanted == key) {
                Some(role) => {
                    self.columns[role] = self.keys;
                    self.texts[role].clear();
                    map.next_value_seed(Text { key: &key, text: &mut self.texts[role] })?;
                }
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// A key, borrowed where it has no escapes.
#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

/// A value as text: strings as they are, numbers as they are usually written, null as nothing.
struct Text<'a> {
    key: &'a str,
    text: &'a mut Vec<u8>,
}

impl<'de> DeserializeSeed<'de> for Text<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Text<'_> {
    fn put<E: Error>(self, value: impl fmt::Display) -> Result<(), E> {
        write!(self.text, "{value}").map_err(E::custom)
    }
}

impl Visitor<'_> for Text<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "text or a number for {:?}", self.key)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        self.text.extend_from_slice(value.as_bytes());
        Ok(())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.put(value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.put(value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.put(value)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.put(value)
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }
}
