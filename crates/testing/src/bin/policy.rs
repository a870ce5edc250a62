//! Enforces `deny.toml` where cargo-deny is not installed: licences, banned crates, second versions and sources.
//!
//! Licences and versions are those of what is built here (`cargo tree`: default features, this platform, tests included).
//! Bans and sources hold for all of `Cargo.lock`. Security advisories are not checked; only cargo-deny knows them.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Write, stderr, stdout};
use std::process::{Command, ExitCode};

use toml::{Table, Value};

/// Where all packages come from that are not ours.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// What `deny.toml` says.
struct Policy {
    licences: Vec<String>,
    banned: Vec<String>,
    /// Name and beginning of the version.
    second_versions: Vec<(String, String)>,
}

/// The strings of a list, which may stand under the key `crate` of a table.
fn strings(table: &Table, section: &str, key: &str) -> Result<Vec<String>, String> {
    let list = table.get(section).and_then(|section| section.get(key)).and_then(Value::as_array);
    let list = list.ok_or_else(|| format!("deny.toml: no list {section}.{key}"))?;
    let text = |value: &Value| value.as_str().or_else(|| value.get("crate")?.as_str()).map(str::to_owned);
    list.iter()
        .map(|value| text(value).ok_or_else(|| format!("deny.toml: {section}.{key}: {value} is no name")))
        .collect()
}

impl Policy {
    fn parse(text: &str) -> Result<Self, String> {
        let table: Table = text.parse().map_err(|error| format!("deny.toml: {error}"))?;
        let split = |entry: String| match entry.split_once(':') {
            Some((name, version)) => (name.to_owned(), format!("{version}.")),
            None => (entry, String::new()),
        };
        Ok(Self {
            licences: strings(&table, "licenses", "allow")?,
            banned: strings(&table, "bans", "deny")?,
            second_versions: strings(&table, "bans", "skip")?.into_iter().map(split).collect(),
        })
    }

    /// Whether a licence expression can be met with allowed licences. `AND` binds tighter than `OR`, as in SPDX.
    fn allows(&self, expression: &str) -> bool {
        let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
        let words: Vec<&str> = spaced.split_whitespace().collect();
        let mut rest = words.as_slice();
        self.any(&mut rest) && rest.is_empty()
    }

    fn any(&self, words: &mut &[&str]) -> bool {
        let mut allowed = self.all(words);
        while let ["OR", rest @ ..] = words {
            *words = rest;
            allowed |= self.all(words);
        }
        allowed
    }

    fn all(&self, words: &mut &[&str]) -> bool {
        let mut allowed = self.one(words);
        while let ["AND", rest @ ..] = words {
            *words = rest;
            allowed &= self.one(words);
        }
        allowed
    }

    fn one(&self, words: &mut &[&str]) -> bool {
        match words {
            ["(", rest @ ..] => {
                *words = rest;
                let allowed = self.any(words);
                let closed = words.first() == Some(&")");
                *words = words.get(1..).unwrap_or_default();
                allowed && closed
            }
            [name, "WITH", exception, rest @ ..] => {
                *words = rest;
                self.licences.contains(&format!("{name} WITH {exception}"))
            }
            [name, rest @ ..] => {
                *words = rest;
                self.licences.iter().any(|licence| licence == name)
            }
            [] => false,
        }
    }

    /// What is wrong with packages that are built: lines of name, version and licence, separated by tabs.
    fn built(&self, tree: &str) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let mut lines: Vec<&str> = tree.lines().filter(|line| !line.is_empty()).collect();
        lines.sort_unstable();
        lines.dedup();
        for line in lines {
            // The tree marks packages that it has shown before.
            let line = line.trim_end().trim_end_matches(" (*)");
            let (package, licence) = line.split_once('\t').unwrap_or((line, ""));
            let mut words = package.split_whitespace();
            let (name, version) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            let version = version.trim_start_matches('v');
            if !self.allows(licence) {
                wrong.push(format!("{name} {version}: licence {licence:?} is not allowed by deny.toml"));
            }
            let tolerated = |(skip, beginning): &(String, String)| {
                skip == name && version.starts_with(beginning.as_str())
            };
            let known = versions.entry(name).or_default();
            if !self.second_versions.iter().any(tolerated) && !known.contains(&version) {
                known.push(version);
            }
        }
        for (name, versions) in versions.iter().filter(|(_, versions)| versions.len() > 1) {
            wrong.push(format!("{name}: versions {}; deny.toml allows one", versions.join(" and ")));
        }
        wrong
    }

    /// What is wrong with the packages of `Cargo.lock`.
    fn locked(&self, lock: &str) -> Result<Vec<String>, String> {
        let lock: Table = lock.parse().map_err(|error| format!("Cargo.lock: {error}"))?;
        let packages = lock.get("package").and_then(Value::as_array).ok_or("Cargo.lock: no packages")?;
        let mut wrong = Vec::new();
        for package in packages {
            let field = |key: &str| package.get(key).and_then(Value::as_str);
            let name = field("name").ok_or("Cargo.lock: a package without a name")?;
            if self.banned.iter().any(|banned| banned == name) {
                wrong.push(format!("{name}: banned by deny.toml"));
            }
            // A package without a source is a folder: only ours may be.
            let source = field("source");
            if source.map_or(!name.starts_with("quadcast"), |source| source != REGISTRY) {
                wrong.push(format!("{name}: source {source:?}, expected the registry"));
            }
        }
        Ok(wrong)
    }
}

fn output(arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("cargo").args(arguments).output().map_err(|error| format!("cargo: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    String::from_utf8(output.stdout).map_err(|error| format!("cargo tree: {error}"))
}

fn run() -> Result<usize, String> {
    let read = |path: &str| fs::read_to_string(path).map_err(|error| format!("{path}: {error}"));
    let policy = Policy::parse(&read("deny.toml")?)?;
    let tree = output(&[
        "tree",
        "--offline",
        "--locked",
        "--workspace",
        "--edges=normal,build,dev",
        "--prefix=none",
        "--no-dedupe",
        "--format={p}\t{l}",
    ])?;
    let mut wrong = policy.built(&tree);
    wrong.extend(policy.locked(&read("Cargo.lock")?)?);
    if wrong.is_empty() { Ok(policy.licences.len()) } else { Err(wrong.join("\n")) }
}

fn main() -> ExitCode {
    // Nobody is left to tell when the output is closed.
    let _ = match run() {
        Ok(licences) => {
            writeln!(
                stdout(),
                "licences ({licences} allowed), bans, versions and sources are as deny.toml says"
            )
        }
        Err(error) => {
            let _ = writeln!(stderr(), "error: {error}");
            return ExitCode::FAILURE;
        }
    };
    ExitCode::SUCCESS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> Policy {
        let text = r#"
            [licenses]
            allow = ["MIT", "ISC", "X WITH Y"]
            [bans]
            deny = [{ crate = "bad" }]
            skip = ["two:0.2", { crate = "many" }]
        "#;
        Policy::parse(text).expect("a policy")
    }

    #[test]
    fn licence_expressions() {
        let allowed =
            ["MIT", "GPL OR MIT", "GPL/MIT", "(GPL OR MIT) AND ISC", "GPL AND A OR ISC", "X WITH Y"];
        let refused = ["", "GPL", "MIT AND GPL", "X", "(MIT", "MIT)", "MIT ISC", "MIT AND (GPL OR A)"];
        assert!(allowed.iter().all(|licence| policy().allows(licence)));
        assert!(!refused.iter().any(|licence| policy().allows(licence)));
    }

    #[test]
    fn versions_of_built_packages() {
        let fine =
            "two v0.2.1\tMIT\ntwo v1.0.0\tMIT\nmany v1.0.0\tMIT\nmany v2.0.0\tMIT\ntwo v1.0.0\tMIT (*)\n";
        assert_eq!(policy().built(fine), [""; 0]);
        let wrong = policy().built("a v1.0.0\tMIT\na v2.0.0 (proc-macro)\tGPL\n");
        assert_eq!(wrong.len(), 2, "{wrong:?}");
    }

    #[test]
    fn names_and_sources_of_locked_packages() {
        let of = |name: &str, source: &str| {
            let source = if source.is_empty() { String::new() } else { format!("source = \"{source}\"") };
            policy().locked(&format!("[[package]]\nname = \"{name}\"\n{source}")).expect("a file").len()
        };
        assert_eq!((of("good", REGISTRY), of("quadcast-core", "")), (0, 0));
        assert_eq!((of("bad", REGISTRY), of("good", ""), of("good", "git+https://x.example/y")), (1, 1, 1));
    }
}
