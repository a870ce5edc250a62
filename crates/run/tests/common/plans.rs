//! Small data and plans on it.

use std::path::{Path, PathBuf};

use quadcast_run::Plan;

/// Settings with which the model trains in a moment.
pub const QUICK_TRANSE: &[&str] = &["dimension=8", "epochs=4", "validate_every=2", "batches=2"];

/// A dataset of the repository.
pub fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

/// A graph of two steps in the LKGE layout: everybody likes everybody of the same parity.
pub fn circles(folder: &Path) {
    for step in 0..2 {
        let at = folder.join(step.to_string());
        std::fs::create_dir_all(&at).expect("a folder");
        let mut splits = [String::new(), String::new(), String::new()];
        for a in 0..10_u32 {
            for b in (0..10_u32).filter(|b| a % 2 == b % 2 && a != *b) {
                let row = a * 10 + b;
                if row % 2 == step % 2 {
                    let split = match row % 7 {
                        0 => 1,
                        1 => 2,
                        _ => 0,
                    };
                    splits[split] += &format!("p{a}\tlikes\tp{b}\n");
                }
            }
        }
        for (name, text) in ["train", "valid", "test"].iter().zip(&splits) {
            std::fs::write(at.join(format!("{name}.txt")), text).expect("a file");
        }
    }
}

/// A plan with these settings.
pub fn plan(model: &str, data: &Path, settings: &[&str]) -> Plan {
    let settings = settings.iter().map(|setting| (*setting).to_owned()).collect();
    Plan { settings, ..Plan::new(model, data.display().to_string()) }
}
