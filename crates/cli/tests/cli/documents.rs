//! Every command in the README and in the book is executed, page by page, and must succeed. Every test that a page names exists.

use std::fs;
use std::path::{Path, PathBuf};

use quadcast_testing::files;

use crate::common::{Room, example};

/// The repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The README and the pages of the book.
fn pages() -> Vec<PathBuf> {
    let root = root();
    let mut pages = vec![root.join("README.md")];
    for folder in [root.join("docs"), root.join("docs/models")] {
        let entries = fs::read_dir(&folder).expect("the book is committed");
        let files = entries.map(|entry| entry.expect("a readable folder").path());
        pages.extend(files.filter(|path| path.extension().is_some_and(|ending| ending == "md")));
    }
    pages.sort();
    pages
}

/// The lines of the blocks marked `sh`.
fn commands(page: &Path) -> Vec<String> {
    let text = fs::read_to_string(page).expect("a page");
    let mut commands = Vec::new();
    let mut block: Option<&str> = None;
    for line in text.lines() {
        match (line.strip_prefix("```"), block) {
            (Some(_), Some(_)) => block = None,
            (Some(kind), None) => block = Some(kind),
            (None, Some("sh")) if !line.trim().is_empty() => commands.push(line.to_owned()),
            (None, _) => {}
        }
    }
    commands
}

/// What follows `quadcast` in a command; `None` for commands that build or test the project itself.
fn arguments(command: &str) -> Option<&str> {
    let rest = command.strip_prefix("cargo run --release -- ").or_else(|| command.strip_prefix("quadcast "));
    if rest.is_none() {
        let own =
            ["cargo test --workspace", "cargo install", "cargo bench", "cargo build", "cargo doc", "./check"];
        assert!(own.iter().any(|known| command.starts_with(known)), "an unknown command: {command}");
    }
    rest
}

#[test]
fn commands_of_the_documents_succeed() {
    let mut executed = 0;
    for page in pages() {
        let room = Room::new();
        room.place_harbour("examples/harbour");
        for file in ["market/events.csv", "news.txt"] {
            room.write(format!("examples/{file}"), example(file));
        }
        for command in commands(&page) {
            if let Some(arguments) = arguments(&command) {
                room.quadcast(arguments).success();
                executed += 1;
            }
        }
    }
    assert!(executed > 10, "the documents hold commands");
}

/// What stands in back-ticks in the last column of the tables of a page.
fn last_column(text: &str) -> Vec<&str> {
    let rows = text.lines().filter_map(|line| line.trim().strip_prefix('|')?.strip_suffix('|'));
    let cells = rows.filter_map(|row| row.rsplit('|').next());
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect()
}

#[test]
fn tests_of_the_promises_exist() {
    let text = fs::read_to_string(root().join("docs/promises.md")).expect("the book is committed");
    let sources: String = files(&root().join("crates"))
        .into_iter()
        .filter(|(path, _)| path.extension().is_some_and(|ending| ending == "rs"))
        .map(|(_, source)| String::from_utf8(source).expect("source code is UTF-8"))
        .collect();
    let tests = last_column(&text);
    for test in &tests {
        let exists = if test.contains('/') {
            root().join(test).is_file()
        } else {
            sources.contains(&format!("fn {test}("))
        };
        assert!(exists, "docs/promises.md names {test}, which does not exist");
    }
    assert!(tests.len() > 20, "the tables name tests: {tests:?}");
}
