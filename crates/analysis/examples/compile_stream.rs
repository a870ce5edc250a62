//! How long a benchmark takes to compile, and how much memory, without the command line around it.
//!
//! ```text
//! cargo run --release -p quadcast-analysis --example compile_stream -- make 9500000 operations.txt
//! cargo run --release -p quadcast-analysis --example compile_stream -- compile operations.txt benchmark
//! ```

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use quadcast_analysis::{
    BenchmarkLayout, BenchmarkTarget, CompileOptions, FrequencyFilter, compile_to, synth_operations,
};
use quadcast_data::{FaultPolicy, StreamFormat, read_operations, write_operations};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["make", operations, file] => {
            let file = Path::new(file);
            write_operations(file, &synth_operations(operations.parse()?, 1), StreamFormat::of(file))?;
        }
        ["compile", file, folder] => {
            let mut last = (Instant::now(), processor());
            let mut tell = |what: &str| {
                let (wall, spent) = (last.0.elapsed().as_secs_f64(), processor() - last.1);
                println!("{what} in {wall:.2} s ({spent:.2} s of processors), peak memory so far {}", peak());
                last = (Instant::now(), processor());
            };
            let stream = read_operations(Path::new(file), FaultPolicy::Error)?;
            tell(&format!("{} operations read", stream.len()));
            // Without a filter everything is kept: the most work.
            let options = CompileOptions { filter: FrequencyFilter::OFF, ..CompileOptions::default() };
            let layout = BenchmarkLayout::WikidataEvolve;
            let target = BenchmarkTarget { folder: Path::new(folder), layout, operations: None };
            let written = compile_to(&stream, &options, target)?;
            let [compiling, writing] = [written.compiling, written.writing].map(|time| time.as_secs_f64());
            tell(&format!("compiled ({compiling:.2} s) and written ({writing:.2} s)"));
        }
        _ => return Err("expected: make OPERATIONS FILE, or compile FILE FOLDER".into()),
    }
    Ok(())
}

/// The most memory that the process had, as the operating system says.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or_else(|| "unknown".to_owned(), |size| size.trim().to_owned())
}

/// Seconds of processor time so far; on a machine that is shared they say more than the clock.
fn processor() -> f64 {
    const TICKS_PER_SECOND: f64 = 100.0;
    let status = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<f64> = status.split(' ').map(|field| field.parse().unwrap_or_default()).collect();
    fields.get(13..15).map_or(0.0, |times| (times[0] + times[1]) / TICKS_PER_SECOND)
}
