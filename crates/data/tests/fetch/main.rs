//! Downloads against a small server on this machine: whole, damaged, cut, slow, missing, offline.

mod server;

use std::fs;
use std::path::Path;
use std::time::Duration;

use quadcast_core::Silent;
use quadcast_data::{
    Cause, DataError, Download, FetchError, FetchOptions, FetchReport, Variant, fetch, lookup,
};
use server::{Behaviour, Server};
use tempfile::TempDir;

/// What the server gives: more than one buffer.
fn content() -> Vec<u8> {
    (0..300_000_u32).map(|number| (number % 251) as u8).collect()
}

/// SHA-256 of [`content`], from `sha256sum`.
const SHA256: &str = "3c65ea93424a9c362fec0e3a69ea36031e8a358441479dd665cc6110eabe7b08";

/// A variant of one file with these addresses, which live as long as the test.
fn variant(urls: &[String], sha256: &'static str) -> Variant {
    let urls: Vec<&'static str> = urls.iter().map(|url| &*url.clone().leak()).collect();
    let file = Download { path: "deep/train.txt", urls: urls.leak(), bytes: content().len() as u64, sha256 };
    Variant { name: "small", files: vec![file].leak(), ..*lookup("ICEWS14").expect("a known variant") }
}

fn served(script: Vec<Behaviour>) -> (Server, TempDir) {
    (Server::start(content(), script), TempDir::new().expect("a folder"))
}

fn quick(folder: &TempDir) -> FetchOptions {
    FetchOptions {
        out: Some(folder.path().join("small")),
        patience: Duration::from_secs(1),
        pause: Duration::from_millis(5),
        ..FetchOptions::default()
    }
}

fn attempt(servers: &[&Server], folder: &TempDir) -> Result<FetchReport, DataError> {
    let urls: Vec<String> = servers.iter().map(|server| server.url("deep/train.txt")).collect();
    fetch(&variant(&urls, SHA256), &quick(folder), &Silent)
}

fn causes(error: DataError) -> Vec<Cause> {
    let DataError::Fetch(FetchError::Failed { mirrors, .. }) = error else { panic!("{error}") };
    mirrors.into_iter().map(|mirror| mirror.cause).collect()
}

fn assert_whole(folder: &TempDir) {
    let path = folder.path().join("small/deep/train.txt");
    assert!(fs::read(path).expect("the file") == content());
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 1, "nothing else is left");
}

fn part(folder: &TempDir) -> std::path::PathBuf {
    folder.path().join(".small.partial/deep/train.txt.part")
}

#[test]
fn a_file_arrives_and_is_not_fetched_twice() {
    let (server, folder) = served(vec![]);
    let report = attempt(&[&server], &folder).expect("a download");
    assert_whole(&folder);
    assert_eq!(report.files[0].url, Some(server.url("deep/train.txt")));
    let again = attempt(&[&server], &folder).expect("it is there");
    assert_eq!(again.files[0].url, None);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_wrong_content_is_removed_and_said() {
    let folder = TempDir::new().expect("a folder");
    let server = Server::start(b"something else".repeat(30_000), vec![]);
    let error = attempt(&[&server], &folder).expect_err("a wrong checksum");
    let text = error.to_string();
    assert!(text.contains("another content than published") && text.contains(SHA256), "{text}");
    assert!(text.contains("the damaged file was removed"), "{text}");
    assert!(!part(&folder).exists() && !folder.path().join("small").exists());
    assert_eq!(server.requests().len(), 1, "another attempt would bring the same");
}

#[test]
fn a_cut_connection_is_resumed_with_a_range() {
    let (server, folder) = served(vec![Behaviour::CutAfter(100_000)]);
    attempt(&[&server], &folder).expect("the second attempt goes on");
    assert_whole(&folder);
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert!(!requests[0].contains("range:"), "{}", requests[0]);
    let range = requests[1].lines().find_map(|line| line.strip_prefix("range: bytes=")).expect("a range");
    let start: u64 = range.trim_end_matches('-').parse().expect("a number");
    assert!(start > 0 && start <= 100_000, "{range}");
}

#[test]
fn a_later_command_resumes_too() {
    let folder = TempDir::new().expect("a folder");
    fs::create_dir_all(part(&folder).parent().expect("a parent")).expect("a folder");
    fs::write(part(&folder), &content()[..200_000]).expect("a part");
    let server = Server::start(content(), vec![]);
    attempt(&[&server], &folder).expect("the rest");
    assert_whole(&folder);
    assert!(server.requests()[0].contains("range: bytes=200000-"));
}

#[test]
fn a_server_without_ranges_starts_from_the_beginning() {
    let (server, folder) = served(vec![Behaviour::CutAfter(100_000), Behaviour::IgnoreRange]);
    attempt(&[&server], &folder).expect("the whole file");
    assert_whole(&folder);
}

#[test]
fn a_slow_server_is_given_up() {
    let (server, folder) = served(vec![Behaviour::Silent; 3]);
    let error = attempt(&[&server], &folder).expect_err("nothing comes");
    assert!(error.to_string().contains("nothing came for 1 s"), "{error}");
    assert_eq!(causes(error), [Cause::TimedOut(1)]);
    let stalled = Server::start(content(), vec![Behaviour::StallAfter(1000); 3]);
    let error = attempt(&[&stalled], &folder).expect_err("it stops coming");
    assert_eq!(causes(error), [Cause::TimedOut(1)]);
}

#[test]
fn the_next_mirror_is_tried() {
    let (missing, folder) = served(vec![Behaviour::Status(404)]);
    let good = Server::start(content(), vec![]);
    let report = attempt(&[&missing, &good], &folder).expect("the second mirror has it");
    assert_eq!(report.files[0].url, Some(good.url("deep/train.txt")));
    assert_eq!(missing.requests().len(), 1, "a missing file is not asked for again");
    assert_whole(&folder);
}

#[test]
fn a_busy_server_is_asked_again() {
    let (server, folder) = served(vec![Behaviour::Status(503), Behaviour::Status(503)]);
    attempt(&[&server], &folder).expect("the third attempt");
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn offline_is_said() {
    let folder = TempDir::new().expect("a folder");
    let urls = [Server::nobody()];
    let error = fetch(&variant(&urls, SHA256), &quick(&folder), &Silent).expect_err("nobody listens");
    let text = error.to_string();
    assert!(text.contains("cannot be reached") && text.contains("seems to be offline"), "{text}");
}

#[test]
fn another_source_can_be_named() {
    let (server, folder) = served(vec![]);
    let options = FetchOptions { from: Some(server.url("mirror/")), ..quick(&folder) };
    fetch(&variant(&[Server::nobody()], SHA256), &options, &Silent).expect("the named source");
    assert!(server.requests()[0].starts_with("get /mirror/deep/train.txt "));
}

#[test]
fn other_content_in_the_folder_is_left_alone() {
    let folder = TempDir::new().expect("a folder");
    fs::create_dir(folder.path().join("small")).expect("a folder");
    fs::write(folder.path().join("small/notes.txt"), "mine").expect("a file");
    let error = fetch(&variant(&[], SHA256), &quick(&folder), &Silent).expect_err("not ours");
    assert!(error.to_string().contains("holds other content"), "{error}");
    assert!(Path::new(&folder.path().join("small/notes.txt")).exists());
}

#[test]
fn variants_without_addresses_say_so() {
    let wiki = lookup("WIKI").expect("a known variant");
    let error = fetch(wiki, &FetchOptions::default(), &Silent).expect_err("no addresses");
    assert!(error.to_string().contains("WIKI cannot be fetched"), "{error}");
}

#[test]
fn the_catalogue_has_sound_addresses() {
    for file in quadcast_data::variants().iter().flat_map(|variant| variant.files) {
        assert_eq!(file.sha256.len(), 64, "{}", file.path);
        assert!(file.bytes > 0 && !file.urls.is_empty());
        assert!(file.urls.iter().all(|url| url.starts_with("https://") && url.ends_with(file.path)));
    }
}
