//! Compares products of matrices in mxrs, OpenBLAS and oneDNN, in alternating rounds: `cargo xtask compare gemm`.

use anyhow::{Context, Result, ensure};
use clap::Parser;
use mxrs_benches::gemm::contest::{Contest, Plan, Seat, contest};
use mxrs_benches::gemm::shapes::{self, Number, Shape};
use mxrs_benches::gemm::{Peer, library, onednn::OneDnn, openblas::OpenBlas, ours::Ours, tables};
use mxrs_benches::machine::Machine;
use mxrs_benches::report::{Format, PeerStatus, Report, print_or_fail};
use mxrs_benches::rounds::Progress;
use mxrs_benches::score::Failure;
use mxrs_benches::score::limits::Limit;
use mxrs_benches::score::process::Process;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

/// Compares products of matrices: floating-point operations per second, each library in its own process.
#[derive(Parser)]
struct Args {
    /// Products from the list in benches/src/gemm/shapes.txt, by name or by a part of the name [default: all]
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    shape: Vec<String>,
    /// Type of the numbers
    #[arg(long, value_enum, default_value_t)]
    dtype: Number,
    /// Threads of each library
    #[arg(long, default_value = "2")]
    threads: NonZeroUsize,
    /// Number of measured rounds
    #[arg(long, default_value = "5")]
    rounds: NonZeroUsize,
    /// Seconds that each library runs in a round; it computes at least one product
    #[arg(long, default_value_t = 0.05)]
    round_seconds: f64,
    /// Seconds after which a library that does not answer is killed
    #[arg(long, default_value_t = 60.0)]
    timeout: f64,
    /// The widest instructions that libraries may use: mxrs by MXRS_ISA, OpenBLAS by OPENBLAS_CORETYPE, oneDNN by
    /// ONEDNN_MAX_CPU_ISA
    #[arg(long, value_enum)]
    isa: Option<Limit>,
    /// Shared library of OpenBLAS with 32-bit sizes
    #[arg(long, value_name = "FILE")]
    openblas: Option<PathBuf>,
    /// Shared library of oneDNN 3
    #[arg(long, value_name = "FILE")]
    onednn: Option<PathBuf>,
    /// How the report is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Run as the process of this library (this program starts itself with this flag)
    #[arg(long, hide = true)]
    serve: Option<Peer>,
}

fn main() -> ExitCode {
    let args = Args::parse();
    print_or_fail(match args.serve {
        // `serve` prints its answers itself, so the text to print at the end is empty.
        Some(peer) => serve(peer, &args).map(|()| String::new()),
        None => report(&args).map(|report| report.render(args.format)),
    })
}

fn serve(peer: Peer, args: &Args) -> Result<()> {
    let path = |path: &Option<PathBuf>| path.clone().with_context(|| format!("no library of {}", peer.heading()));
    match peer {
        Peer::Mxrs => library::serve(&Ours::new(args.threads, args.isa)?),
        Peer::Openblas => library::serve(&OpenBlas::load(&path(&args.openblas)?, args.threads.get())?),
        Peer::Onednn => library::serve(&OneDnn::load(&path(&args.onednn)?)?),
    }
}

/// The products to measure.
fn chosen(args: &Args) -> Result<Vec<Shape>> {
    let all = shapes::all()?;
    for part in &args.shape {
        let names = || all.iter().map(|shape| shape.name.as_str()).collect::<Vec<_>>().join(", ");
        ensure!(all.iter().any(|shape| shape.name.contains(part)), "--shape {part}: there are {}", names());
    }
    let is_chosen = |shape: &Shape| args.shape.is_empty() || args.shape.iter().any(|part| shape.name.contains(part));
    Ok(all.into_iter().filter(is_chosen).map(|shape| Shape { number: args.dtype, ..shape }).collect())
}

/// Starts the process of a library.
fn start(peer: Peer, args: &Args, this: &Path) -> Result<Process, Failure> {
    let (flag, library) = match peer {
        Peer::Mxrs => ("", None),
        Peer::Openblas => ("--openblas", args.openblas.as_ref()),
        Peer::Onednn => ("--onednn", args.onednn.as_ref()),
    };
    if library.is_none() && peer != Peer::Mxrs {
        return Err(Failure::new("not run", format!("give {flag} FILE")));
    }
    let threads = args.threads.to_string();
    let mut command = Command::new(this);
    command.args(["--serve", peer.key(), "--threads", &threads]).env("OMP_NUM_THREADS", &threads);
    if let Some(library) = library {
        command.arg(flag).arg(library);
    }
    if let Some(isa) = args.isa {
        command.args(["--isa", isa.word()]);
        isa.set(&mut command);
    }
    Process::start(command, None)
}

fn report(args: &Args) -> Result<Report> {
    let seconds = |flag: &str, seconds: f64| Duration::try_from_secs_f64(seconds).with_context(|| flag.to_owned());
    let round_s = seconds("--round-seconds", args.round_seconds)?.as_secs_f64();
    args.isa.map_or(Ok(()), Limit::expect_here)?;
    let plan = Plan { rounds: args.rounds.get(), round_s, limit: seconds("--timeout", args.timeout)? };
    let (shapes, this) = (chosen(args)?, std::env::current_exe().context("where this program is")?);
    let mut seats = Peer::ALL.map(|peer| Seat { peer, process: start(peer, args, &this) });
    let progress = Progress::new(shapes.len());
    let mut contests = Vec::new();
    for shape in &shapes {
        progress.case(&shape.to_string());
        contests.push(contest(shape, &mut seats, plan));
        progress.case_done();
    }
    let mut notes = tables::notes(&contests);
    notes.push(format!(
        "{} rounds; in each every library runs for {round_s} s, and computes at least one product, while the others are \
         stopped. The first round does not count. {} threads. Before it is timed, each product's result is checked against \
         sums in double precision.",
        args.rounds, args.threads,
    ));
    notes.push(
        match args.dtype {
            Number::Float32 => {
                "nn: the right matrix is stored by steps; nt: by columns. No library packs a matrix before the rounds."
            }
            Number::Bfloat16 => {
                "nn: the right matrix is stored by steps; nt: by columns. mxrs and oneDNN pack it once, before the rounds, \
                 as the weights of a network. Results are in bfloat16, sums in float32. mxrs has no fast kernel for \
                 batches in bfloat16."
            }
        }
        .into(),
    );
    notes.extend(args.isa.map(|isa| {
        let word = isa.word();
        format!("Limited to {word}: mxrs (MXRS_ISA), OpenBLAS (OPENBLAS_CORETYPE), oneDNN (ONEDNN_MAX_CPU_ISA).")
    }));
    Ok(Report {
        title: format!("Products of matrices in {}", args.dtype.word()),
        machine: Machine::this(),
        peers: statuses(&contests),
        sections: tables::sections(&contests, &Peer::ALL),
        notes,
    })
}

/// Every other library: the name that it reports, or why it never took part.
fn statuses(contests: &[Contest]) -> Vec<PeerStatus> {
    let status = |peer: Peer| {
        if let Some(measured) = contests.iter().find_map(|contest| contest.measured(peer)) {
            return PeerStatus { name: measured.name.clone(), missing: None };
        }
        let outcomes = contests.iter().flat_map(|contest| &contest.outcomes);
        let why = outcomes.filter(|(other, _)| *other == peer).find_map(|(_, outcome)| outcome.as_ref().err());
        let missing = Some(why.map_or_else(String::new, |failure| failure.why.clone()));
        PeerStatus { name: peer.heading().into(), missing }
    };
    Peer::ALL.into_iter().filter(|peer| *peer != Peer::Mxrs).map(status).collect()
}
