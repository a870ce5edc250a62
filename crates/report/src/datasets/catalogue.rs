//! The catalogue and downloads as text.

use quadcast_data::{Family, FetchReport, Variant, variants};

use crate::terminal::WIDTH;
use crate::{counted, plain_table, shown};

/// The known benchmark variants, one table per task; with sources and quirks if `verbose`.
pub fn catalogue_text(verbose: bool) -> String {
    let mut text = tables();
    text.push_str("✓ counted and hashed by this project, the rest as published\n");
    text.push_str("↓ `quadcast data fetch` can download it; -v shows sources and quirks\n");
    if verbose {
        text.extend(variants().iter().map(details));
    }
    text
}

fn tables() -> String {
    let families =
        [Family::Forecasting, Family::Completion, Family::Intervals, Family::Evolving, Family::Static];
    let number = |count: Option<usize>| count.map_or_else(|| "–".to_owned(), |count| counted(count as u64));
    let mut text = String::new();
    for family in families {
        let mut table =
            plain_table(&["name", "", "entities", "relations", "train", "valid", "test", "time"], 2..7);
        for variant in variants().iter().filter(|variant| variant.family == family) {
            table.add_row([
                variant.name.to_owned(),
                format!("{}{}", mark(variant.stored, "✓"), mark(!variant.files.is_empty(), "↓")),
                number(variant.entities),
                number(variant.relations),
                number(variant.train),
                number(variant.valid),
                number(variant.test),
                variant.time.to_owned(),
            ]);
        }
        text.push_str(&format!("{}\n{}\n\n", family.word(), table.within(WIDTH, 7).text()));
    }
    text
}

const fn mark(set: bool, sign: &str) -> &str {
    if set { sign } else { "" }
}

/// Source, licence, other names and quirks of a variant.
fn details(variant: &Variant) -> String {
    let mut text =
        format!("\n{}\n  source: {}\n  licence: {}\n", variant.name, variant.source, variant.licence);
    if !variant.aliases.is_empty() {
        text.push_str(&format!("  also called: {}\n", variant.aliases.join(", ")));
    }
    text.extend(variant.quirks.iter().map(|quirk| format!("  - {quirk}\n")));
    text
}

/// What was downloaded, and what to do next. A dataset in the cache is `cached` and found by its name.
pub fn fetch_text(report: &FetchReport, cached: bool) -> String {
    let bytes: u64 = report.files.iter().map(|file| file.bytes).sum();
    let new = report.files.iter().filter(|file| file.url.is_some()).count();
    let how = if new == 0 { "all there already".to_owned() } else { format!("{new} downloaded") };
    let folder = shown(report.folder.display());
    let data = if cached { report.name.to_owned() } else { folder.to_string() };
    format!(
        "{}: {} files, {bytes} bytes, {how}, checksums as published\n  folder:  {folder}\n  source:  {}\n  \
         licence: {}\n\nNext: quadcast data info {data}\n",
        report.name,
        report.files.len(),
        report.source,
        report.licence,
    )
}
