//! Fuzzing on stable Rust: libFuzzer, guided by the coverage that LLVM's own pass records.
//!
//! The targets and their properties are in `crates/fuzz`; `crates/fuzz/libfuzzer` is the program
//! around them. Inputs that are found on the way stay in `target/fuzz-corpus`; `--keep` adds those
//! that increase the coverage to the repository's corpus.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use crate::clients::workspace;
use crate::process::Running;

/// Fuzz every parser
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The target, or all
    #[arg(value_parser = target, default_value = "all")]
    target: String,
    /// How long to run each target
    #[arg(long, value_name = "N", default_value_t = 1)]
    minutes: u64,
    /// Add inputs that reach new code to the repository's corpus
    #[arg(long)]
    keep: bool,
}

/// What `rustc` passes on to LLVM, so that libFuzzer sees which code an input reached.
const COVERAGE: &str = "-Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

/// An input that takes longer is a finding, in seconds of wall time; machines are busy.
const SLOWEST: u64 = 5;
/// An input that needs more memory is a finding, too.
const MOST_MEMORY_MB: u64 = 512;
const MOST_AT_ONCE_MB: u64 = 64;
const LONGEST_INPUT: u64 = 16 << 10;
/// The limit for the corpus: every checkout carries it.
const LONGEST_KEPT: u64 = 700;
const MERGE_LIMIT: Duration = Duration::from_secs(600);

/// Every target has a corpus with its name; a test checks that.
fn targets() -> Vec<String> {
    let corpus = workspace().join("crates/fuzz/corpus");
    let folders = fs::read_dir(corpus).expect("the corpus is there");
    let mut names: Vec<String> = folders
        .flatten()
        .map(|folder| folder.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn target(text: &str) -> Result<String, String> {
    let names = targets();
    if text == "all" || names.iter().any(|name| name == text) {
        Ok(text.into())
    } else {
        Err(format!(
            "the target must be one of {}, or all",
            names.join(", ")
        ))
    }
}

#[expect(clippy::print_stdout, reason = "the table is its output")]
pub fn run(args: &Args) -> ExitCode {
    let Some(program) = build() else {
        return ExitCode::FAILURE;
    };
    let mut failed = false;
    println!(
        "{:<11} {:>12} {:>8} {:>9} {:>8} {:>8}  result",
        "target", "executions", "per s", "coverage", "slowest", "memory"
    );
    for target in targets() {
        if args.target != "all" && args.target != target {
            continue;
        }
        let bench = Bench::new(&program, &target);
        let tried = bench.try_for(Duration::from_secs(args.minutes * 60));
        failed |= tried.found.is_some();
        println!(
            "{target:<11} {:>12} {:>8} {:>9} {:>6} s {:>5} MB  {}",
            tried.executions,
            tried.per_second,
            tried.coverage,
            tried.slowest,
            tried.memory,
            tried.found.as_deref().unwrap_or("nothing found")
        );
        if args.keep && tried.found.is_none() {
            println!("{target:<11} {} inputs in the corpus now", bench.keep());
        }
    }
    if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

/// Builds the fuzzer in a target folder of its own, because its flags differ from the product's.
fn build() -> Option<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let folder = workspace().join("target/fuzz");
    let done = Command::new(cargo)
        .args(["build", "--release", "--quiet", "--locked"])
        .env("CARGO_TARGET_DIR", &folder)
        .env("RUSTFLAGS", COVERAGE)
        .current_dir(workspace().join("crates/fuzz/libfuzzer"))
        .stdin(Stdio::null())
        .status();
    if !done.is_ok_and(|status| status.success()) {
        return None;
    }
    let built = fs::read_dir(folder).ok()?;
    let mut programs = built
        .filter_map(|entry| Some(entry.ok()?.path().join("release/mainspring-libfuzzer")))
        .filter(|path| path.is_file());
    programs.next()
}

/// One target, its corpus in the repository, and the inputs found beyond it.
struct Bench {
    program: PathBuf,
    target: String,
    corpus: PathBuf,
    beyond: PathBuf,
    findings: PathBuf,
}

impl Bench {
    fn new(program: &std::path::Path, target: &str) -> Self {
        let bench = Self {
            program: program.into(),
            target: target.into(),
            corpus: workspace().join("crates/fuzz/corpus").join(target),
            beyond: workspace().join("target/fuzz-corpus").join(target),
            findings: workspace().join("target/fuzz-findings").join(target),
        };
        for folder in [&bench.beyond, &bench.findings] {
            fs::create_dir_all(folder).expect("the target folder is ours");
        }
        bench
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .env_clear()
            .env("FUZZ_TARGET", &self.target)
            .current_dir(&self.findings)
            .arg(format!("-artifact_prefix={}/", self.findings.display()));
        command
    }

    fn try_for(&self, time: Duration) -> Tried {
        let mut command = self.command();
        command
            .arg(format!("-max_total_time={}", time.as_secs()))
            .arg(format!("-timeout={SLOWEST}"))
            .arg(format!("-rss_limit_mb={MOST_MEMORY_MB}"))
            .arg(format!("-malloc_limit_mb={MOST_AT_ONCE_MB}"))
            .arg(format!("-max_len={LONGEST_INPUT}"))
            .args(["-print_final_stats=1", "-verbosity=1"])
            .args([&self.beyond, &self.corpus]);
        let done = Running::start(&mut command).wait(time * 2 + MERGE_LIMIT);
        let said = done.stderr_text();
        let mut tried = Tried::read(&said);
        if !done.succeeded() {
            let log = self.findings.join("log");
            fs::write(&log, said.as_bytes()).expect("the target folder is ours");
            tried.found = Some(format!("FOUND something: {}", log.display()));
        }
        tried
    }

    /// Returns how many inputs the repository's corpus has afterwards.
    fn keep(&self) -> usize {
        let mut command = self.command();
        command
            // The fewest inputs that reach every edge that any of them reaches.
            .args(["-set_cover_merge=1", "-use_counters=0", "-use_cmp=0"])
            .arg(format!("-max_len={LONGEST_KEPT}"))
            .args([&self.corpus, &self.beyond]);
        let done = Running::start(&mut command).wait(MERGE_LIMIT);
        assert!(done.succeeded(), "{}", done.stderr_text());
        fs::read_dir(&self.corpus).expect("it is there").count()
    }
}

/// The statistics that libFuzzer printed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tried {
    executions: u64,
    per_second: u64,
    coverage: u64,
    slowest: u64,
    memory: u64,
    found: Option<String>,
}

impl Tried {
    fn read(log: &str) -> Self {
        let stat = |name: &str| {
            let line = log.lines().rev().find_map(|line| {
                let (said, number) = line.strip_prefix("stat::")?.split_once(':')?;
                (said == name).then(|| number.trim().parse().ok())?
            });
            line.unwrap_or(0)
        };
        let coverage = log.lines().rev().find_map(|line| {
            let (_, after) = line.split_once(" cov: ")?;
            after.split(' ').next()?.parse().ok()
        });
        Self {
            executions: stat("number_of_executed_units"),
            per_second: stat("average_exec_per_sec"),
            coverage: coverage.unwrap_or(0),
            slowest: stat("slowest_unit_time_sec"),
            memory: stat("peak_rss_mb"),
            found: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runs_figures_are_read_from_its_log() {
        let log = "#2\tINITED cov: 9 ft: 9 corp: 1/1b\n#40\tDONE   cov: 31 ft: 9 corp: 4/16b\n\
                   stat::number_of_executed_units: 40528248\nstat::average_exec_per_sec:     1929916\n\
                   stat::new_units_added:          3\nstat::slowest_unit_time_sec:    0\nstat::peak_rss_mb:              27\n";
        let expected = Tried {
            executions: 40_528_248,
            per_second: 1_929_916,
            coverage: 31,
            slowest: 0,
            memory: 27,
            found: None,
        };
        assert_eq!(Tried::read(log), expected);
        assert_eq!(Tried::read("no stats"), Tried::default());
    }

    #[test]
    fn a_target_is_named_like_its_corpus() {
        for name in targets() {
            assert!(target(&name).is_ok());
        }
        assert!(target("evnt").unwrap_err().contains("event, fsm"));
    }
}
