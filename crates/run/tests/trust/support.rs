//! Plans, runs of them, and checksums that are forged.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use quadcast_core::{Procedure, Run};
use quadcast_run::{Place, Plan, RunError, Session, read_results};
use quadcast_testing::mutation::number_from;
use sha2::{Digest, Sha256};

use crate::plans::{QUICK_TRANSE, circles, example, plan};

/// The files of a folder, by their paths from there.
pub type Files = BTreeMap<PathBuf, Vec<u8>>;

/// Settings with which the network trains in a moment, and is compared after every epoch.
pub const QUICK_CYGNET: &[&str] = &["dimension=4", "epochs=2", "first_validation=1"];

/// Bit flips per file; `QUADCAST_FLIPS` says how many on request.
pub fn flips() -> u64 {
    number_from("QUADCAST_FLIPS", 40)
}

pub fn harbour(model: &str, settings: &[&str]) -> Plan {
    plan(model, &example("harbour"), settings)
}

/// A plan on a graph that changes, whose model goes on learning.
pub fn evolving(data: &Path) -> Plan {
    circles(data);
    let mut plan = plan("transe", data, QUICK_TRANSE);
    plan.protocol.procedure = Some(Procedure::Incremental);
    plan
}

pub fn complete_as(plan: Plan, out: &Path, run: Run) -> Result<PathBuf, RunError> {
    let place = Place { out: Some(out.to_owned()), ..Place::default() };
    Session::open(plan, run)?.complete(&place)
}

pub fn complete(plan: Plan, out: &Path) -> Result<PathBuf, RunError> {
    complete_as(plan, out, Run::silent(1))
}

pub fn finished(plan: Plan) -> (tempfile::TempDir, PathBuf) {
    let room = tempfile::tempdir().expect("a folder");
    let run = complete(plan, &room.path().join("run")).expect("a run");
    (room, run)
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

/// Writes the checksums of a folder anew, as somebody who forges a run would.
pub fn forge_checksums(run: &Path) {
    let text = fs::read_to_string(run.join("SHA256SUMS")).expect("checksums");
    let line = |line: &str| {
        let name = line.split("  ").nth(1).expect("a name");
        let sum = Sha256::digest(fs::read(run.join(name)).expect("a file"));
        format!("{}  {name}\n", hex(&sum))
    };
    fs::write(run.join("SHA256SUMS"), text.lines().map(line).collect::<Vec<_>>().concat()).expect("room");
}

/// What reading the results of a run says.
pub fn refusal(run: &Path) -> String {
    read_results(run).map(drop).expect_err("it must be noticed").to_string()
}

/// What is wrong with an error about an input that cannot be used: another exit code than 2.
pub fn refused(error: &RunError) -> Result<(), String> {
    match error.exit_code() {
        2 => Ok(()),
        code => Err(format!("exit code {code}: {error}")),
    }
}
