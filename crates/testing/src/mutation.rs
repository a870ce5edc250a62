//! Damaged copies of good files, and a watch over what reads them: a panic, a hang or a claim of memory without end is a finding, not
//! the end of the test.

use std::env;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How long a reader may take for an input of some kilobytes, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// An input of some kilobytes that makes its reader ask for more bytes than this would end a process with less memory. Tests that run
/// beside it take a tenth of it.
const MOST_MEMORY: u64 = 4 << 30;

/// A target ends after so many failures: the others are often the same.
const ENOUGH: usize = 5;

/// What is put in: separators, line ends, numbers at the limits of their types, lengths that lie, text that is none.
const TELLING: [&[u8]; 26] = [
    b"\0",
    b"\r",
    b"\n",
    b"\r\n",
    b"\t",
    b" ",
    b",",
    b"\"",
    b"{",
    b"}",
    b"-",
    b"+",
    b"#",
    b"\xff",
    b"\xc3",
    b"\xef\xbb\xbf",
    b"4294967295",
    b"4294967296",
    b"9223372036854775807",
    b"-9223372036854775808",
    b"99999999999999999999",
    b"1e999",
    b"NaN",
    b"\\u0000",
    b"\xff\xff\xff\xff\xff\xff\xff\xff",
    b"\0\0\0\x80",
];

/// A number from the environment: how many rounds, how many seconds, which seed.
pub fn number_from(variable: &str, usual: u64) -> u64 {
    env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// A sequence of numbers that a seed determines (`SplitMix64`).
pub struct Numbers(u64);

impl Numbers {
    /// The sequence of one input of a seed.
    pub fn new(seed: u64, input: u64) -> Self {
        Self(seed ^ input.wrapping_mul(0xd134_2543_de82_ef95))
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below a limit; 0 below 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.draw() % limit.max(1) as u64) as usize
    }

    /// A fraction from 0 to below 1.
    pub fn fraction(&mut self) -> f64 {
        (self.draw() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Flips one bit of bytes that are not empty.
pub fn flip(bytes: &mut [u8], numbers: &mut Numbers) {
    let bit = numbers.below(8 * bytes.len());
    bytes[bit / 8] ^= 1 << (bit % 8);
}

/// Damages bytes: cuts, repeats, splices, flips bits, puts telling bytes in. `other` is what a part can be taken from.
pub fn damage(bytes: &mut Vec<u8>, other: &[u8], numbers: &mut Numbers) {
    let at = numbers.below(bytes.len() + 1);
    let end = (at + numbers.below(40)).min(bytes.len());
    match numbers.below(8) {
        0 if at < bytes.len() => bytes[at] ^= 1 << numbers.below(8),
        1 if at < bytes.len() => bytes[at] = numbers.draw() as u8,
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(at..end)),
        4 => {
            let part = bytes[at..end].to_vec();
            let times = 1 + numbers.below(300);
            bytes.splice(at..at, part.repeat(times));
        }
        5 => {
            let start = numbers.below(other.len() + 1);
            let stop = (start + numbers.below(200)).min(other.len());
            bytes.splice(at..end, other[start..stop].iter().copied());
        }
        _ => drop(bytes.splice(
            at..(at + numbers.below(3)).min(bytes.len()),
            TELLING[numbers.below(TELLING.len())].iter().copied(),
        )),
    }
}

/// How a call failed that must not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It panicked.
    Panic,
    /// It did not end in time.
    Hang,
    /// It asked the system for more memory than any such input needs, used or not.
    Memory,
}

/// A thread that works on inputs one after the other; one that hangs is left behind and replaced.
pub struct Watched<I, O> {
    work: Arc<dyn Fn(I) -> O + Send + Sync>,
    inputs: Sender<I>,
    results: Receiver<Result<O, Failure>>,
}

impl<I: Send + 'static, O: Send + 'static> Watched<I, O> {
    /// A thread that does this work.
    pub fn new(work: impl Fn(I) -> O + Send + Sync + 'static) -> Self {
        let work: Arc<dyn Fn(I) -> O + Send + Sync> = Arc::new(work);
        let (inputs, results) = start(Arc::clone(&work));
        Self { work, inputs, results }
    }

    /// The result for an input.
    pub fn result(&mut self, input: I) -> Result<O, Failure> {
        let before = most_address_space();
        self.inputs.send(input).expect("the thread waits for inputs");
        let result = self.results.recv_timeout(PATIENCE).unwrap_or_else(|_| {
            (self.inputs, self.results) = start(Arc::clone(&self.work));
            Err(Failure::Hang)
        });
        match (before, most_address_space()) {
            (Some(before), Some(after)) if after > before + MOST_MEMORY => result.and(Err(Failure::Memory)),
            _ => result,
        }
    }
}

/// The largest address space of this process so far, where the system tells (Linux). It also counts what was asked for and never
/// touched.
fn most_address_space() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmPeak:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// Inputs of one kind: what they are called, how one is made, and how one that fails is kept for whoever mends the reader.
pub struct Target<'a, I> {
    /// For the line that says what was tried.
    pub name: &'a str,
    /// How many seconds it takes if `QUADCAST_FUZZ_SECONDS` does not say.
    pub seconds: u64,
    /// An input, determined by the numbers.
    pub input: &'a dyn Fn(&mut Numbers) -> I,
    /// Writes an input into a folder.
    pub keep: &'a dyn Fn(&Path, &I),
}

impl<I: Send + 'static> Target<'_, I> {
    /// Tries inputs until the time is over, and says what came of it. `work` says whether the input was accepted, or what is wrong
    /// with what it led to; then, or after a panic, a hang or a claim of memory without end, the test fails.
    pub fn try_inputs(&self, work: impl Fn(I) -> Result<bool, String> + Send + Sync + 'static) {
        let (seconds, seed) =
            (number_from("QUADCAST_FUZZ_SECONDS", self.seconds), number_from("QUADCAST_FUZZ_SEED", 1));
        let (start, mut watched) = (Instant::now(), Watched::new(work));
        let (mut tried, mut accepted, mut failures) = (0, 0, Vec::new());
        let [mut wrong, mut panics, mut hangs, mut claims] = [0; 4];
        while start.elapsed() < Duration::from_secs(seconds) && failures.len() < ENOUGH {
            let input = (self.input)(&mut Numbers::new(seed, tried));
            let why = match watched.result(input) {
                Ok(Ok(good)) => {
                    accepted += u64::from(good);
                    tried += 1;
                    continue;
                }
                Ok(Err(why)) => (&mut wrong, why),
                Err(Failure::Panic) => (&mut panics, "a panic".to_owned()),
                Err(Failure::Hang) => (&mut hangs, "a hang".to_owned()),
                Err(Failure::Memory) => (&mut claims, "memory without end".to_owned()),
            };
            *why.0 += 1;
            let folder = self.folder(seed, tried);
            (self.keep)(&folder, &(self.input)(&mut Numbers::new(seed, tried)));
            failures.push(format!("{}: input {tried} of seed {seed}, kept in {}", why.1, folder.display()));
            tried += 1;
        }
        println!(
            "{}, seed {seed}: {tried} inputs tried, {accepted} accepted, {wrong} with wrong results, {panics} panics, {hangs} hangs, \
             {claims} claims of memory without end",
            self.name
        );
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    }

    fn folder(&self, seed: u64, number: u64) -> PathBuf {
        env::temp_dir().join(format!("quadcast-{}-{seed}-{number}", self.name.replace(' ', "-")))
    }
}

type Ends<I, O> = (Sender<I>, Receiver<Result<O, Failure>>);

fn start<I: Send + 'static, O: Send + 'static>(work: Arc<dyn Fn(I) -> O + Send + Sync>) -> Ends<I, O> {
    let (inputs, next) = channel();
    let (said, results) = channel();
    thread::spawn(move || {
        for input in next {
            let result = catch_unwind(AssertUnwindSafe(|| work(input))).map_err(|_| Failure::Panic);
            if said.send(result).is_err() {
                return;
            }
        }
    });
    (inputs, results)
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use super::*;

    /// What a process claims is seen by all of its threads: one test at a time.
    fn alone() -> MutexGuard<'static, ()> {
        static ALONE: Mutex<()> = Mutex::new(());
        ALONE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[test]
    fn the_same_numbers_do_the_same_damage() {
        let damaged = |input| {
            let mut bytes = b"some bytes that are good".to_vec();
            damage(&mut bytes, b"others", &mut Numbers::new(7, input));
            bytes
        };
        assert!((0..50).all(|input| damaged(input) == damaged(input)));
        assert!((1..50).any(|input| damaged(input) != damaged(0)));
    }

    #[test]
    fn a_panic_is_a_result() {
        let _alone = alone();
        let mut watched = Watched::new(|number: u32| 6 / number);
        assert_eq!(watched.result(2), Ok(3));
        assert_eq!(watched.result(0), Err(Failure::Panic));
        assert_eq!(watched.result(3), Ok(2));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_claim_of_memory_is_a_result() {
        let _alone = alone();
        // Never touched, so that the test itself costs nothing. A machine with little memory may refuse it.
        let mut watched = Watched::new(|bytes: u64| {
            let mut room = Vec::<u8>::new();
            let given = room.try_reserve_exact(bytes as usize).is_ok();
            std::hint::black_box(&room);
            given
        });
        assert_eq!(watched.result(1), Ok(true));
        let claimed = watched.result(MOST_MEMORY + (1 << 30));
        assert!([Err(Failure::Memory), Ok(false)].contains(&claimed), "{claimed:?}");
        assert_eq!(watched.result(1), Ok(true));
    }

    #[test]
    #[should_panic(expected = "it is odd: input ")]
    fn a_target_fails_with_the_inputs_that_failed() {
        let _alone = alone();
        let folder = tempfile::tempdir().expect("a folder");
        let keep = |_: &Path, number: &u64| {
            fs::write(folder.path().join("kept"), number.to_le_bytes()).expect("room");
        };
        let target = Target { name: "numbers", seconds: 5, input: &Numbers::draw, keep: &keep };
        target.try_inputs(|number| if number % 2 == 1 { Err("it is odd".to_owned()) } else { Ok(true) });
    }
}
