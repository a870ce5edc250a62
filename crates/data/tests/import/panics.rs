//! No input makes the import panic, and whatever it writes can be read.

use proptest::collection::vec;
use proptest::prelude::*;
use quadcast_data::{LoadOptions, load};

use crate::support::imported;

/// Bits of which tables are made.
const BITS: [&str; 24] = [
    ",",
    ";",
    "\t",
    "\n",
    "\r\n",
    "\"",
    "\"\"",
    " ",
    "A",
    "B",
    "subject,relation,object,date\n",
    "2031-01-01",
    "04/05/2031",
    "2031",
    "1935331507",
    "{\"subject\":",
    "}",
    "\u{feff}",
    "é",
    "A,r,B,2031-01-01\n",
    "B,r,C,2031-01-02\n",
    "C,r,A,2031-01-03\n",
    "x\ty\tz\t2031-02-03\n",
    "\u{0}",
];

const NAMES: [&str; 4] = ["x.csv", "x.tsv", "x.jsonl", "x.csv.gz"];

fn attempt(name: &str, content: &[u8], columns: bool, skip_bad: bool) {
    let (result, desk) = imported(name, content, |options| {
        options.skip_bad = skip_bad;
        options.columns = columns.then(|| "subject,relation,object,date".parse().expect("columns"));
    });
    if let Ok(report) = result {
        let loaded = load(&desk.path("out"), &LoadOptions::default()).expect("what was written can be read");
        drop((loaded, serde_json::to_string(&report)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes(content in vec(any::<u8>(), 0..300), name in 0..NAMES.len(), columns: bool, skip: bool) {
        attempt(NAMES[name], &content, columns, skip);
    }

    #[test]
    fn broken_tables(bits in vec(0..BITS.len(), 0..60), name in 0..3_usize, columns: bool, skip: bool) {
        let content: String = bits.into_iter().map(|bit| BITS[bit]).collect();
        attempt(NAMES[name], content.as_bytes(), columns, skip);
    }

    #[test]
    fn damaged_rows(at in 0..160_usize, byte: u8, columns: bool, skip: bool) {
        let mut content = b"subject,relation,object,date\n".to_vec();
        for day in 1..=8 {
            content.extend_from_slice(format!("A,r,\"B {day}\",2031-01-0{day}\n").as_bytes());
        }
        let at = at.min(content.len() - 1);
        content[at] = byte;
        attempt("x.csv", &content, columns, skip);
    }
}
