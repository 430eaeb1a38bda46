//! Compares single operators in mxrs, MXNet 1.9.1 and PyTorch, in alternating rounds: `cargo xtask compare operators`.

use anyhow::{Context, Result, ensure};
use clap::Parser;
use mxrs_benches::machine::Machine;
use mxrs_benches::operators::contest::{Contest, Plan, Seat, contest};
use mxrs_benches::operators::list::{self, Row};
use mxrs_benches::operators::{Peer, inputs, ours, tables, write_scripts};
use mxrs_benches::report::{Format, Report, print_or_fail};
use mxrs_benches::rounds::Progress;
use mxrs_benches::score::Failure;
use mxrs_benches::score::limits::Limit;
use mxrs_benches::score::process::Process;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

/// Compares operators: time per call, each library in its own process.
#[derive(Parser)]
struct Args {
    /// Only calls whose family, name or operator contains one of these words [default: all]
    #[arg(long, value_delimiter = ',', value_name = "WORD,…")]
    filter: Vec<String>,
    /// Libraries that take part [default: all]
    #[arg(long, value_enum, value_delimiter = ',')]
    peer: Vec<Peer>,
    /// Threads of each library
    #[arg(long, default_value = "2")]
    threads: NonZeroUsize,
    /// Number of measured rounds; one if a call takes more than half a second
    #[arg(long, default_value = "5")]
    rounds: NonZeroUsize,
    /// Seconds that each library calls the operator in a round; it calls it at least once
    #[arg(long, default_value_t = 0.04)]
    round_seconds: f64,
    /// Seconds after which a library that does not answer is killed
    #[arg(long, default_value_t = 30.0)]
    timeout: f64,
    /// The widest instructions that libraries may use; the report says how each was limited
    #[arg(long, value_enum)]
    isa: Option<Limit>,
    /// A Python with mxnet 1.9.1
    #[arg(long, value_name = "PATH")]
    mxnet_python: Option<PathBuf>,
    /// A Python with torch and torchvision
    #[arg(long, value_name = "PATH")]
    torch_python: Option<PathBuf>,
    /// How the report is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Run as the process of mxrs (this program starts itself with this flag)
    #[arg(long, hide = true)]
    serve: bool,
}

/// If a call of any library takes more seconds, one round is measured.
const SLOW_S: f64 = 0.5;

fn main() -> ExitCode {
    let args = Args::parse();
    print_or_fail(if args.serve {
        // `serve` prints its answers itself, so the text to print at the end is empty.
        ours::serve(args.threads, args.isa).map(|()| String::new())
    } else {
        report(&args).map(|report| report.render(args.format))
    })
}

/// The calls to measure.
fn chosen(args: &Args) -> Result<Vec<Row>> {
    let all = list::all()?;
    for word in &args.filter {
        let families = || {
            let families: BTreeSet<&str> = all.iter().map(|row| row.family.as_str()).collect();
            families.into_iter().collect::<Vec<_>>().join(", ")
        };
        ensure!(all.iter().any(|row| row.has(word)), "--filter {word}: there are the families {}", families());
    }
    let is_chosen = |row: &Row| args.filter.is_empty() || args.filter.iter().any(|word| row.has(word));
    Ok(all.into_iter().filter(is_chosen).collect())
}

/// Starts the process of a library.
fn start(peer: Peer, args: &Args, this: &Path, scripts: &Path) -> Result<Process, Failure> {
    let threads = args.threads.to_string();
    let (python, flag) = match peer {
        Peer::Mxrs => (None, ""),
        Peer::Mxnet => (args.mxnet_python.as_ref(), "--mxnet-python"),
        Peer::Torch => (args.torch_python.as_ref(), "--torch-python"),
    };
    let mut command = match (peer.script(), python) {
        (None, _) => {
            let mut command = Command::new(this);
            command.args(["--serve", "--threads", &threads]);
            command.args(args.isa.map(|isa| format!("--isa={}", isa.word())));
            command
        }
        (Some(script), Some(python)) => {
            let mut command = Command::new(python);
            command.arg("-u").arg(scripts.join(script));
            command
        }
        (Some(_), None) => return Err(Failure::new("not run", format!("give {flag} PATH"))),
    };
    // Libraries read these variables when they are loaded.
    for variable in ["OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"] {
        command.env(variable, &threads);
    }
    if let Some(isa) = args.isa {
        isa.set(&mut command);
    }
    Process::start(command, None)
}

fn report(args: &Args) -> Result<Report> {
    let seconds = |flag: &str, seconds: f64| Duration::try_from_secs_f64(seconds).with_context(|| flag.to_owned());
    let round_s = seconds("--round-seconds", args.round_seconds)?.as_secs_f64();
    args.isa.map_or(Ok(()), Limit::expect_here)?;
    let limit = seconds("--timeout", args.timeout)?;
    let plan = Plan { rounds: args.rounds.get(), round_s, slow_s: SLOW_S, threads: args.threads.get(), limit };
    let (rows, this) = (chosen(args)?, std::env::current_exe().context("where this program is")?);
    let folder = tempfile::tempdir()?;
    write_scripts(folder.path())?;
    let peers: Vec<Peer> =
        Peer::ALL.into_iter().filter(|peer| args.peer.is_empty() || args.peer.contains(peer)).collect();
    let seat = |peer: &Peer| {
        let (peer, this, scripts) = (*peer, &this, folder.path());
        Seat::new(peer, Box::new(move || start(peer, args, this, scripts)))
    };
    let mut seats: Vec<Seat<'_>> = peers.iter().map(seat).collect();
    let progress = Progress::new(rows.iter().map(|row| row.passes.len()).sum());
    let mut contests: Vec<Contest> = Vec::new();
    for row in &rows {
        let files = inputs::write(&row.inputs, folder.path())?;
        for pass in &row.passes {
            progress.case(&format!("{} ({})", row.name, pass.word()));
            contests.push(contest(row, *pass, &files, &mut seats, plan));
            progress.case_done();
        }
    }
    Ok(Report {
        title: "Operators in float32".into(),
        machine: Machine::this(),
        peers: tables::statuses(&contests, &peers),
        sections: tables::sections(&contests, &peers),
        notes: notes(args, &contests, round_s),
    })
}

fn notes(args: &Args, contests: &[Contest], round_s: f64) -> Vec<String> {
    let mut notes = tables::reasons(contests);
    notes.push(format!(
        "{} rounds; in each every library calls the operator for {round_s} s, and at least once, while the others are stopped. \
         The first round does not count. {} threads. A call ends when its results are computed, and the next begins then. \
         The times of MXNet and PyTorch include those of Python.",
        args.rounds, args.threads,
    ));
    notes.push(
        "forward: at inference; gradients: a call in training and the gradients of all inputs, together; update: in place. \
         PyTorch's comparisons make bytes and its places 64-bit integers, where MXNet and mxrs make float32. Where PyTorch \
         would return a view, it copies. Results are compared with those of mxrs before they are timed, unless they are random \
         or have another form."
            .into(),
    );
    let slow = tables::with_one_round(contests);
    if args.rounds.get() > 1 && !slow.is_empty() {
        notes.push(format!("One round, because a call takes more than {SLOW_S} s: {}.", slow.join(", ")));
    }
    notes.extend(args.isa.map(|isa| {
        let word = isa.word();
        format!(
            "Limited to {word}: mxrs (MXRS_ISA), MXNet (DNNL_MAX_CPU_ISA, OPENBLAS_CORETYPE; its own loops have no switch), \
             PyTorch (ATEN_CPU_CAPABILITY, ONEDNN_MAX_CPU_ISA, MKL_ENABLE_INSTRUCTIONS)."
        )
    }));
    notes
}
