//! Facts with names and ISO dates: `subject⇥relation⇥object⇥YYYY-MM-DD`, the layout of the completion benchmarks.
//! Times of day, written `YYYY-MM-DDTHH:MM`, are read too ([`super::dates`]).
//!
//! Names are kept as written (also a no-break space at their end); ids come from a JSON map next to the facts, or
//! from the first appearance in train, valid, test.

use std::path::PathBuf;

use quadcast_core::{Names, Splits, Triple, Vocabulary};
use rustc_hash::FxHashMap;

use super::Reading;
use super::dates::{calendar_since_1970, in_unit, iso_minute, unit_of};
use super::id_files::names_by_id;
use super::input::{Folder, Input};
use super::json::JsonIds;
use super::lines::{At, Lines, excerpt, tab_fields};
use super::notes::{Appearance, Notes};
use super::quoting::{Evidence, unquoted};
use super::splits::{Naming, open_splits, parse_splits};
use super::temporal::{TimedFacts, assemble};
use crate::DataError;
use crate::error::IdKind;
use crate::files::file_name;

const COLUMNS: &str = "subject, relation, object, date (separated by tabs)";

pub(super) fn read(folder: &mut Folder, notes: &mut Notes) -> Result<Reading, DataError> {
    let inputs = open_splits(folder, Naming::Plain)?;
    let maps = [JsonIds::find(folder, IdKind::Entity)?, JsonIds::find(folder, IdKind::Relation)?];
    let evidence = parse_splits(&inputs, |input| {
        input.utf8()?;
        Ok(Evidence::of(input.text()))
    })?;
    let evidence = evidence.train.with(evidence.valid).with(evidence.test);
    describe(&inputs, &maps, evidence, notes);

    let [entities, relations] = maps;
    let quoted = evidence.proves_quoting();
    let mut entities = Interner::new(IdKind::Entity, entities, quoted);
    let mut relations = Interner::new(IdKind::Relation, relations, quoted);
    let mut facts = Splits {
        train: parse(&inputs.train, &mut entities, &mut relations)?,
        valid: parse(&inputs.valid, &mut entities, &mut relations)?,
        test: parse(&inputs.test, &mut entities, &mut relations)?,
    };
    let vocabulary = Vocabulary { entities: entities.into_names(), relations: relations.into_names() };
    let unit = unit_of(folder, &facts, notes)?;
    for facts in [&mut facts.train, &mut facts.valid, &mut facts.test] {
        facts.convert(|minute| in_unit(unit, minute));
    }
    Ok(assemble(folder.name(), vocabulary, &inputs, facts, Some(calendar_since_1970(unit)), notes))
}

fn parse<'a>(
    input: &'a Input,
    entities: &mut Interner<'a>,
    relations: &mut Interner<'a>,
) -> Result<TimedFacts, DataError> {
    let mut facts = TimedFacts::default();
    for (line, text) in Lines::new(input.text()) {
        let (fields, count) = tab_fields::<4>(text);
        let at = |column| At { path: &input.path, line, column };
        if count < 4 {
            return Err(at(1).missing_column(count, COLUMNS));
        }
        let subject = entities.id(at(1), fields[0])?;
        let relation = relations.id(at(2), fields[1])?;
        let object = entities.id(at(3), fields[2])?;
        let date = fields[3].trim_ascii();
        let time = iso_minute(date).ok_or_else(|| at(4).not_a_date(date, "YYYY-MM-DD"))?;
        facts.push(line, Triple::new(subject, relation, object), time);
    }
    input.refuse_empty(facts.facts.len())?;
    Ok(facts)
}

/// Turns names into ids. A field is looked up as it stands in the file; only a field that was never seen before is
/// unquoted and copied.
pub(super) struct Interner<'a> {
    kind: IdKind,
    quoted: bool,
    seen: FxHashMap<&'a [u8], u32>,
    ids: FxHashMap<String, u32>,
    size: usize,
    /// The map that is the authority on names, if there is one.
    list: Option<PathBuf>,
}

impl<'a> Interner<'a> {
    pub(super) fn new(kind: IdKind, map: Option<JsonIds>, quoted: bool) -> Self {
        let (ids, size, list) = match map {
            Some(map) => (map.ids, map.size, Some(map.path)),
            None => (FxHashMap::default(), 0, None),
        };
        Self { kind, quoted, seen: FxHashMap::default(), ids, size, list }
    }

    pub(super) fn id(&mut self, at: At<'_>, field: &'a [u8]) -> Result<u32, DataError> {
        if let Some(&id) = self.seen.get(field) {
            return Ok(id);
        }
        // The file was checked to be UTF-8, and fields are cut at tabs.
        let text = String::from_utf8_lossy(field);
        let name = if self.quoted { unquoted(&text) } else { text.into_owned() };
        if name.is_empty() {
            return Err(at.empty_name(self.kind));
        }
        let id = match (self.ids.get(&name), &self.list) {
            (Some(&id), _) => id,
            (None, Some(list)) => {
                let (kind, found, list) = (self.kind, excerpt(name.as_bytes()), file_name(list));
                return Err(at.wrong(format!(
                    "found {kind} {found}, which {list} does not list; add it there, or remove that file"
                )));
            }
            (None, None) => {
                let id = self.size as u32;
                self.size += 1;
                self.ids.insert(name, id);
                id
            }
        };
        self.seen.insert(field, id);
        Ok(id)
    }

    pub(super) fn into_names(self) -> Names {
        names_by_id(self.size, self.ids, None)
    }
}

fn describe(inputs: &Splits<Input>, maps: &[Option<JsonIds>; 2], evidence: Evidence, notes: &mut Notes) {
    notes.compression(
        inputs.iter().map(|(_, i)| i.path.as_path()).chain(maps.iter().flatten().map(|m| m.path.as_path())),
    );
    notes.returns(inputs.iter().map(|(_, input)| input));
    let looks: Vec<Appearance> = inputs.iter().map(|(_, input)| Appearance::of(&input.bytes)).collect();
    if looks.iter().any(|look| look.crlf) {
        notes.add("Lines end in carriage return and line feed (CRLF).");
    }
    if evidence.proves_quoting() {
        let fields = evidence.quoted;
        notes.add(format!(
            "Names with quotes are quoted as in CSV ({fields} fields, none speaks against it); unquoted."
        ));
    } else if evidence.quoted + evidence.plain > 0 {
        notes.add("Quotes are part of the names: the fields with quotes are not quoted as in CSV.");
    }
    for (kind, map) in IdKind::ALL.into_iter().zip(maps) {
        match map {
            Some(map) => notes.add(format!("{kind} ids from {} ({}).", file_name(&map.path), map.ids.len())),
            None => notes
                .add(format!("No map of {kind} ids: numbered by first appearance in train, valid, test.")),
        }
    }
}
