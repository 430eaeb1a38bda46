//! `cargo xtask compare`: measures mxrs and other libraries (the peers) on this machine, one file per comparison.
//!
//! Programs of the package `mxrs-benches` do the measuring. This module builds them in release mode and runs them with the
//! paths of the peers. It judges no result: the exit code reports only whether something failed.

mod bandwidth;
mod engine;
mod gemm;
mod kvstore;
mod memory;
mod operators;
mod score;
mod storage;
mod team;
mod venv;

use anyhow::Result;
use clap::{Subcommand, ValueEnum};

use crate::process::Run;
use crate::session::Session;

/// Arguments of `compare`.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Optimizer updates, reductions, softmax and normalization, and the bandwidth of memory
    Bandwidth(bandwidth::Args),
    /// Dependency engines: MXNet 1.9.1's through the C interface of its wheel, and ours
    Engine(engine::Args),
    /// Products of matrices: ours, OpenBLAS's and oneDNN's
    Gemm(gemm::Args),
    /// Key-value stores: MXNet 1.9.1's and ours, on the gradients of a network
    Kvstore(kvstore::Args),
    /// Memory of networks: MXNet 1.9.1's and ours, planned and resident; and training with and without recomputation
    Memory(memory::Args),
    /// Single operators on the sizes of MXNet's benchmark: ours, MXNet 1.9.1's and PyTorch's, with and without gradients
    Operators(operators::Args),
    /// Speed of networks at inference or in training: ours, MXNet 1.9.1's, OpenVINO's, ONNX Runtime's, MNN's, ncnn's,
    /// PyTorch's, tract's and Candle's
    Score(Box<score::Args>),
    /// Memory pools: ours, glibc's malloc and mimalloc, on traces of training and on warm allocations of one size
    Storage(storage::Args),
    /// Thread teams: ours, OpenMP (libgomp) and rayon on loops of 5, 20 and 100 µs
    Team(team::Args),
}

/// The longest time that may be requested: a week.
const MOST_SECONDS: f64 = 7.0 * 24.0 * 3600.0;

/// Arguments that several comparisons have in common.
#[derive(clap::Args)]
struct Common {
    /// Seconds to spend in total; each comparison has its own default
    #[arg(long, value_parser = seconds)]
    seconds: Option<f64>,
    /// Tie threads to CPUs
    #[arg(long)]
    pin: bool,
    /// How the report is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Reads a number of seconds.
fn seconds(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "expected a number".to_owned())?;
    if (0.0..=MOST_SECONDS).contains(&number) {
        Ok(number)
    } else {
        Err(format!("expected a number from 0 to {MOST_SECONDS}"))
    }
}

/// How the report is printed.
#[derive(Clone, Copy, Default, ValueEnum)]
enum Format {
    /// Aligned tables
    #[default]
    Table,
    /// Markdown tables
    Markdown,
    /// One JSON object
    Json,
}

/// The widest instructions that measured libraries may use.
#[derive(Clone, Copy, ValueEnum)]
enum Isa {
    /// Those of every processor; libraries other than mxrs use SSE4
    Portable,
    /// AVX2 and FMA
    Avx2,
}

/// Name of a value on the command line.
fn word<T: ValueEnum>(value: &T) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// Runs the chosen comparison.
///
/// # Errors
/// Fails if the comparison's program does not build or fails.
pub fn run(args: &Args) -> Result<()> {
    match &args.what {
        What::Bandwidth(args) => bandwidth::run(args),
        What::Engine(args) => engine::run(args),
        What::Gemm(args) => gemm::run(args),
        What::Kvstore(args) => kvstore::run(args),
        What::Memory(args) => memory::run(args),
        What::Operators(args) => operators::run(args),
        What::Score(args) => score::run(args),
        What::Storage(args) => storage::run(args),
        What::Team(args) => team::run(args),
    }
}

/// Builds the program called `name` and prepares a run of it.
fn program(session: &Session, name: &str, common: &Common) -> Result<Run> {
    Ok(built(session, name, &[])?.args(common.flags()))
}

/// Builds the program called `name`, with these flags of cargo, and prepares a run of it.
///
/// The environment variables of MXNet, of the thread libraries and of the kernel libraries are removed, so that each
/// measured library has its documented defaults.
fn built(session: &Session, name: &str, flags: &[&str]) -> Result<Run> {
    session.cargo("build").args(["--release", "-p", "mxrs-benches", "--bin", name]).args(flags).stream()?;
    let mut run = session.program(session.target_dir().join("release").join(name));
    for (variable, _) in std::env::vars_os() {
        if is_a_setting(&variable.to_string_lossy()) {
            run = run.without_env(variable);
        }
    }
    Ok(run)
}

/// Whether an environment variable may change how a measured library behaves.
fn is_a_setting(variable: &str) -> bool {
    const PREFIXES: [&str; 13] = [
        "MXNET_",
        "MXRS_",
        "OMP_",
        "GOMP_",
        "KMP_",
        "MKL_",
        "ONEDNN_",
        "DNNL_",
        "OPENBLAS_",
        "ATEN_",
        "RAYON_",
        "MALLOC_",
        "MIMALLOC_",
    ];
    PREFIXES.iter().any(|prefix| variable.starts_with(prefix))
}

/// The flags that have a value, each followed by its value.
fn given(flags: impl IntoIterator<Item = (&'static str, Option<String>)>) -> impl Iterator<Item = String> {
    flags.into_iter().filter_map(|(flag, value)| Some([flag.to_owned(), value?])).flatten()
}

impl Common {
    fn flags(&self) -> Vec<String> {
        let mut flags = Vec::new();
        if let Some(seconds) = self.seconds {
            flags.extend(["--seconds".to_owned(), seconds.to_string()]);
        }
        if self.pin {
            flags.push("--pin".to_owned());
        }
        flags.extend(self.format.flags());
        flags
    }
}

impl Format {
    /// The flags for this format; none for the default.
    fn flags(self) -> Vec<String> {
        let word = match self {
            Format::Table => return Vec::new(),
            Format::Markdown => "markdown",
            Format::Json => "json",
        };
        vec!["--format".to_owned(), word.to_owned()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_asked_for_is_passed_on() {
        let common = Common { seconds: None, pin: false, format: Format::Table };
        assert_eq!(common.flags(), [""; 0]);
        let common = Common { seconds: Some(1.5), pin: true, format: Format::Json };
        assert_eq!(common.flags(), ["--seconds", "1.5", "--pin", "--format", "json"]);
    }

    #[test]
    fn seconds_are_finite_and_not_negative() {
        assert_eq!((seconds("0"), seconds("1.5")), (Ok(0.0), Ok(1.5)));
        for text in ["-1", "inf", "NaN", "1e300", "", "one", "1s"] {
            assert!(seconds(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn settings_of_contestants_are_known_from_other_variables() {
        for variable in ["MXNET_ENGINE_TYPE", "OMP_NUM_THREADS", "ONEDNN_MAX_CPU_ISA", "DNNL_VERBOSE", "MKL_DYNAMIC"] {
            assert!(is_a_setting(variable), "{variable}");
        }
        assert!(!is_a_setting("PATH") && !is_a_setting("LD_LIBRARY_PATH") && !is_a_setting("HOME"));
    }
}
