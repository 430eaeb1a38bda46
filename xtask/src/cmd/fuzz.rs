//! `cargo xtask fuzz`: runs the targets of `fuzz/` under libFuzzer and prints a table of the results.
//!
//! This does not need cargo-fuzz: the coverage flags are set here. With the nightly toolchain the address sanitizer is on
//! too. Each run starts from `fuzz/corpus/<target>`. New inputs go to a cache folder, or with `--keep` to the corpus.
//! `--random-graphs` runs random graphs without guidance by coverage instead.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::elapsed;
use crate::session::Session;
use crate::workspace::read_manifest;

/// Flags with which rustc records coverage for libFuzzer.
const COVERAGE: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 -Cdebug-assertions=on";
/// Flags without the recording of coverage.
const CHECKED: &str = "--cfg fuzzing -Cdebug-assertions=on";
const SANITIZER: &str = "-Zsanitizer=address";

/// libFuzzer reports a single allocation above this limit as an error, because no input of a target justifies it.
const MALLOC_LIMIT: &str = "-malloc_limit_mb=512";

const EXECS: NonZeroU64 = NonZeroU64::new(100_000).unwrap();

/// Arguments of `fuzz`.
#[derive(clap::Args)]
pub struct Args {
    /// Run only this target instead of all
    #[arg(long)]
    target: Option<String>,
    /// Executions per target
    #[arg(long, default_value_t = EXECS, conflicts_with = "seconds")]
    execs: NonZeroU64,
    /// Seconds per target, instead of a number of executions
    #[arg(long)]
    seconds: Option<NonZeroU64>,
    /// Seed of the random inputs; with the same corpus, the same seed gives the same inputs
    #[arg(long)]
    seed: Option<NonZeroU32>,
    /// Keep new inputs in fuzz/corpus
    #[arg(long)]
    keep: bool,
    /// Bind and run this many random graphs without guidance by coverage, several times as many per second
    #[arg(long, conflicts_with_all = ["target", "execs", "seconds", "keep"])]
    random_graphs: Option<NonZeroU64>,
}

/// Results of one target.
struct Outcome {
    target: String,
    n_executions: Option<u64>,
    time: String,
    n_new: usize,
    n_crashes: usize,
    failed: bool,
}

/// Runs the command.
///
/// # Errors
/// Fails if the targets do not build, no target has the given name, or a target crashed.
pub fn run(args: &Args) -> Result<()> {
    let session = Session::rust_only()?;
    if let Some(n_graphs) = args.random_graphs {
        return random_graphs(&session, n_graphs, args.seed.unwrap_or(NonZeroU32::MIN));
    }
    let targets = chosen(&session.workspace.root, args.target.as_deref())?;
    let programs = build(&session)?;
    let outcomes = targets.iter().map(|target| fuzz(&session, &programs, target, args)).collect::<Result<Vec<_>>>()?;
    println!("\n{}", table(&outcomes));
    let failed: Vec<_> = outcomes.iter().filter(|o| o.failed).map(|o| o.target.as_str()).collect();
    if !failed.is_empty() {
        bail!("crashed: {}; the inputs are in fuzz/artifacts", failed.join(", "));
    }
    Ok(())
}

/// The targets to run: all binaries in `fuzz/Cargo.toml`, or the requested one.
fn chosen(root: &Path, wanted: Option<&str>) -> Result<Vec<String>> {
    let manifest = read_manifest(&root.join("fuzz/Cargo.toml"))?;
    let bins = manifest.get("bin").and_then(|bins| bins.as_array()).context("fuzz/Cargo.toml declares no [[bin]]")?;
    let names: Vec<_> = bins.iter().filter_map(|bin| bin.get("name")?.as_str()).map(str::to_owned).collect();
    match wanted {
        None => Ok(names),
        Some(wanted) if names.iter().any(|name| name == wanted) => Ok(vec![wanted.to_owned()]),
        Some(wanted) => bail!("no fuzz target `{wanted}`; there are {}", names.join(", ")),
    }
}

/// Builds all targets; returns the folder of the programs.
fn build(session: &Session) -> Result<PathBuf> {
    Ok(build_with(session, COVERAGE, "--bins")?.join("release"))
}

/// Builds what `kind` selects, with these flags of rustc and the address sanitizer; returns the folder of the build.
fn build_with(session: &Session, flags: &str, kind: &str) -> Result<PathBuf> {
    let nightly = session.nightly("cargo").arg("--version").succeeds();
    let flags = if nightly {
        format!("{flags} {SANITIZER}")
    } else {
        eprintln!("fuzz: no nightly toolchain; going on without the address sanitizer");
        flags.to_owned()
    };
    let host = session.host()?;
    let target_dir = session.target_dir().join("fuzz");
    let cargo = if nightly { session.nightly("cargo").arg("build") } else { session.cargo("build") };
    // If the target is named, cargo does not apply the flags to build scripts and procedural macros.
    let cargo = cargo.args(["--manifest-path", "fuzz/Cargo.toml", "--release", kind, "--target", &host]);
    cargo.env("RUSTFLAGS", flags).env("CARGO_TARGET_DIR", &target_dir).stream()?;
    Ok(target_dir.join(host))
}

/// Builds and runs `fuzz/examples/random_graphs.rs`.
fn random_graphs(session: &Session, n_graphs: NonZeroU64, seed: NonZeroU32) -> Result<()> {
    let program = build_with(session, CHECKED, "--examples")?.join("release/examples/random_graphs");
    let artifacts = session.workspace.root.join("fuzz/artifacts/run_graph");
    std::fs::create_dir_all(&artifacts).with_context(|| format!("making {}", artifacts.display()))?;
    let run = session.program(program).args([n_graphs.to_string(), seed.to_string()]).arg(&artifacts);
    run.stream().with_context(|| format!("random graphs; inputs that panicked are in {}", artifacts.display()))
}

fn fuzz(session: &Session, programs: &Path, target: &str, args: &Args) -> Result<Outcome> {
    let fuzz_dir = session.workspace.root.join("fuzz");
    let corpus = fuzz_dir.join("corpus").join(target);
    let artifacts = fuzz_dir.join("artifacts").join(target);
    let found = if args.keep { corpus.clone() } else { session.target_dir().join("fuzz").join("found").join(target) };
    for dir in [&corpus, &artifacts, &found] {
        std::fs::create_dir_all(dir).with_context(|| format!("making {}", dir.display()))?;
    }
    let limit = match args.seconds {
        Some(seconds) => format!("-max_total_time={seconds}"),
        None => format!("-runs={}", args.execs),
    };
    let n_before = (n_files(&found), n_files(&artifacts));
    let started = Instant::now();
    // libFuzzer prints to standard error; the shell redirects it to standard output, which is read below.
    let script = "exec \"$0\" \"$@\" 2>&1";
    let run = session.program("sh").args(["-c", script]).arg(programs.join(target)).arg(limit);
    let run = run.args(["-print_final_stats=1", "-rss_limit_mb=4096", MALLOC_LIMIT, "-timeout=20"]);
    let run = match args.seed {
        Some(seed) => run.arg(format!("-seed={seed}")),
        None => run,
    };
    let run = run.arg(format!("-artifact_prefix={}/", artifacts.display())).arg(&found);
    let run = if args.keep { run } else { run.arg(&corpus) };
    let mut n_executions = None;
    let result = run.stream_lines(|line| n_executions = executions(line).or(n_executions));
    if let Err(error) = &result {
        eprintln!("fuzz: {target}: {error:#}");
    }
    Ok(Outcome {
        target: target.to_owned(),
        n_executions,
        time: elapsed::show(started.elapsed()),
        n_new: n_files(&found).saturating_sub(n_before.0),
        n_crashes: n_files(&artifacts).saturating_sub(n_before.1),
        failed: result.is_err(),
    })
}

/// The number of executions in libFuzzer's final statistics, if `line` contains it.
fn executions(line: &str) -> Option<u64> {
    line.strip_prefix("stat::number_of_executed_units:")?.trim().parse().ok()
}

fn n_files(dir: &Path) -> usize {
    std::fs::read_dir(dir).map_or(0, |entries| entries.flatten().filter(|entry| entry.path().is_file()).count())
}

fn table(outcomes: &[Outcome]) -> String {
    let mut text = format!("{:<24}{:>12}{:>10}{:>12}{:>9}\n", "target", "executions", "time", "new inputs", "crashes");
    for outcome in outcomes {
        let executions = outcome.n_executions.map_or("?".to_owned(), |n| n.to_string());
        let Outcome { target, time, n_new, n_crashes, .. } = outcome;
        text += &format!("{target:<24}{executions:>12}{time:>10}{n_new:>12}{n_crashes:>9}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_come_from_the_manifest() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("fuzz")).unwrap();
        let manifest = "[package]\nname = \"f\"\n[[bin]]\nname = \"params\"\n[[bin]]\nname = \"symbol\"\n";
        std::fs::write(root.path().join("fuzz/Cargo.toml"), manifest).unwrap();
        assert_eq!(chosen(root.path(), None).unwrap(), ["params", "symbol"]);
        assert_eq!(chosen(root.path(), Some("symbol")).unwrap(), ["symbol"]);
        let error = chosen(root.path(), Some("nope")).unwrap_err().to_string();
        assert_eq!(error, "no fuzz target `nope`; there are params, symbol");
    }

    #[test]
    fn executions_are_read_from_the_statistics() {
        assert_eq!(executions("stat::number_of_executed_units: 100000"), Some(100_000));
        assert_eq!(executions("#100000 DONE cov: 12"), None);
    }
}
