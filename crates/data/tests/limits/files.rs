//! What is no regular file is refused at once.

use std::path::Path;
use std::process::Command;

use crate::support::{Desk, FACTS, READERS, assert_texts, good, in_time, read};

/// Makes a pipe, if the system can.
fn pipe(path: &Path) -> bool {
    let made = Command::new("mkfifo").arg(path).status().is_ok_and(|status| status.success());
    if !made {
        quadcast_testing::real::skip("no mkfifo");
    }
    made
}

#[test]
fn pipes_do_not_block() {
    for (reader, name) in
        READERS.into_iter().chain([("scores", "s.npy"), ("scores", "s.npz"), ("import", "t.csv.gz")])
    {
        let desk = Desk::new();
        let path = desk.path(name);
        if !pipe(&path) {
            return;
        }
        let message = in_time(reader, move || read(reader, &path)).expect_err(reader);
        assert_texts(&message, &[name, "this is a pipe, expected a regular file", "save its output"]);
    }
    for name in ["train.txt", "entity2id.txt", "division.json"] {
        let desk = Desk::with_splits();
        if name == "train.txt" {
            desk.remove(name);
        }
        pipe(&desk.path(name));
        let message = in_time(name, move || desk.refusal());
        assert_texts(&message, &[name, "this is a pipe, expected a regular file"]);
    }
}

#[test]
fn folders_are_no_files() {
    for (reader, name) in READERS {
        let desk = Desk::new();
        desk.write(&format!("{name}/inner"), "");
        let message = read(reader, &desk.path(name)).expect_err(reader);
        assert_texts(&message, &[name, "this is a folder, expected a regular file"]);
    }
}

#[cfg(unix)]
#[test]
fn links_are_what_they_point_to() {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    let desk = Desk::with_splits();
    desk.remove("train.txt");
    symlink(desk.write("elsewhere/facts", FACTS), desk.path("train.txt")).expect("a link");
    desk.load().expect("a link to a file");
    desk.remove("train.txt");
    symlink("/dev/zero", desk.path("train.txt")).expect("a link");
    let message = in_time("a device", move || desk.refusal());
    assert_texts(&message, &["train.txt: this is a device, expected a regular file"]);

    let desk = Desk::with_splits();
    desk.remove("train.txt");
    let _listener = UnixListener::bind(desk.path("train.txt")).expect("a socket");
    assert_texts(&desk.refusal(), &["train.txt: this is a socket, expected a regular file"]);
}

#[test]
fn the_files_of_these_tests_are_good() {
    for (reader, name) in READERS {
        let desk = Desk::new();
        read(reader, &desk.write(name, good(reader))).unwrap_or_else(|error| panic!("{reader}: {error}"));
    }
}
