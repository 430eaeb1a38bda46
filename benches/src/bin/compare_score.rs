//! Speed of inference and of training, networks here and in other libraries, in turns: `cargo xtask compare score`.

use anyhow::{Context, Result, ensure};
use clap::Parser;
use mxrs_benches::machine::Machine;
use mxrs_benches::memory::Mode;
use mxrs_benches::memory::subject::COMPARED;
use mxrs_benches::report::{Format, PeerStatus, Report};
use mxrs_benches::rounds::Progress;
use mxrs_benches::score::concurrent::{self, Pair};
use mxrs_benches::score::contest::{Contest, Plan, contest};
use mxrs_benches::score::files::Files;
use mxrs_benches::score::peers::{Peer, Places, write_scripts};
use mxrs_benches::score::{Case, Dtype, Failure, load, ours, plot, saved, tables};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Compares speed of inference or training: images per second of networks with the same weights, each library in its own process.
#[derive(Parser)]
struct Args {
    /// Networks
    #[arg(long, value_delimiter = ',', default_values_t = COMPARED.map(str::to_owned))]
    network: Vec<String>,
    /// Batch sizes
    #[arg(long, value_delimiter = ',', default_values_t = [1, 32])]
    batch: Vec<usize>,
    /// Element types
    #[arg(long, value_enum, value_delimiter = ',', default_value = "float32")]
    dtype: Vec<Dtype>,
    /// What is done with a batch: inference, or a step of training with momentum
    #[arg(long, value_enum, value_delimiter = ',', default_value = "inference")]
    mode: Vec<Mode>,
    /// Threads of each library; several numbers make a table of how it scales
    #[arg(long, value_delimiter = ',', default_value = "2")]
    threads: Vec<usize>,
    /// Who takes part [default: all]
    #[arg(long, value_enum, value_delimiter = ',')]
    peer: Vec<Peer>,
    /// Rounds that count
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Seconds of each library in a round; a batch is run in any case
    #[arg(long, default_value_t = 1.0)]
    round_seconds: f64,
    /// Images whose answers are compared with ours
    #[arg(long, default_value_t = 4)]
    check: usize,
    /// Also two processes at once, with batch 1 and a core each
    #[arg(long)]
    concurrent: bool,
    /// Seconds after which a library that does not answer is killed
    #[arg(long, default_value_t = 600.0)]
    timeout: f64,
    /// The program mxrs, which writes the files of the networks
    #[arg(long, value_name = "FILE", required_unless_present = "serve")]
    mxrs: Option<PathBuf>,
    #[command(flatten)]
    places: Places,
    /// Where files of networks are put for a while [default: the system's folder for such]
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Write every round as JSON
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Draw bars as SVG
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// How the report is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Be our side of the comparison (used by this program on itself)
    #[arg(long, hide = true)]
    serve: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let done = if args.serve { ours::run(&args.places.set) } else { compare(&args) };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// What was measured.
#[derive(Default)]
struct Found {
    contests: Vec<Contest>,
    pairs: Vec<(String, Peer, Result<Pair, Failure>)>,
}

fn compare(args: &Args) -> Result<()> {
    let (machine, peers) = (Machine::this(), peers(args));
    let begin = load::average();
    let found = measure(args, &peers)?;
    // Figures are printed and saved before anything is drawn, which might fail.
    let report = report(args, &machine, &peers, &found, begin)?;
    print!("{}", report.render(args.format));
    if let Some(path) = &args.save {
        let saved = format!("{:#}\n", saved::json(&machine, &found.contests, &found.pairs));
        std::fs::write(path, saved).with_context(|| format!("writing {}", path.display()))?;
    }
    if let Some(path) = &args.plot {
        let drawn = plot::svg(&found.contests, &peers, &machine.to_string())?;
        std::fs::write(path, drawn).with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(())
}

fn peers(args: &Args) -> Vec<Peer> {
    let all = <Peer as clap::ValueEnum>::value_variants();
    all.iter().copied().filter(|peer| args.peer.is_empty() || args.peer.contains(peer)).collect()
}

fn measure(args: &Args, peers: &[Peer]) -> Result<Found> {
    ensure!(args.batch.iter().chain(&args.threads).all(|n| *n > 0), "batch sizes and threads are at least 1");
    ensure!(args.rounds > 0, "--rounds is at least 1");
    let mxrs = args.mxrs.as_deref().context("give --mxrs FILE")?;
    let seconds = |seconds: f64, flag: &str| Duration::try_from_secs_f64(seconds).with_context(|| flag.to_owned());
    let round_s = seconds(args.round_seconds, "--round-seconds")?.as_secs_f64();
    let limit = seconds(args.timeout, "--timeout")?;
    let plan = Plan { rounds: args.rounds, round_s, n_checked: args.check, limit };
    let scripts = tempfile::tempdir()?;
    write_scripts(scripts.path())?;
    let below = args.folder.clone().unwrap_or_else(std::env::temp_dir);
    std::fs::create_dir_all(&below).with_context(|| format!("making {}", below.display()))?;
    let kinds = kinds(args);
    let n_pairs = if args.concurrent { args.network.len() } else { 0 };
    let progress = Progress::new(args.network.len() * args.batch.len() * kinds.len() + n_pairs);
    let mut found = Found::default();
    for network in &args.network {
        for batch in &args.batch {
            let files =
                Files::export(mxrs, network, *batch, &below).map_err(|e| Failure::new("no files", format!("{e:#}")));
            for &(mode, dtype, threads) in &kinds {
                let case = Case { network: network.clone(), batch: *batch, dtype, threads, mode };
                progress.case(&case.to_string());
                found.contests.push(match &files {
                    Ok(files) => contest(&case, peers, &args.places, scripts.path(), files, plan, &progress),
                    Err(failure) => Contest::of_failure(&case, peers, failure),
                });
                progress.case_done();
            }
        }
        if args.concurrent {
            progress.case(&format!("{network}, two at once"));
            let pairs = pairs(network, peers, &args.places, scripts.path(), mxrs, &below, plan);
            found.pairs.extend(pairs.into_iter().map(|(peer, pair)| (network.clone(), peer, pair)));
            progress.case_done();
        }
    }
    Ok(found)
}

/// What every network is run as at each batch size.
fn kinds(args: &Args) -> Vec<(Mode, Dtype, usize)> {
    let of_mode = |mode: &Mode| {
        let mode = *mode;
        let of_dtype = move |dtype: &Dtype| {
            let dtype = *dtype;
            args.threads.iter().map(move |threads| (mode, dtype, *threads))
        };
        args.dtype.iter().flat_map(of_dtype)
    };
    args.mode.iter().flat_map(of_mode).collect()
}

/// Two processes at once, for every peer.
fn pairs(
    network: &str,
    peers: &[Peer],
    places: &Places,
    scripts: &Path,
    mxrs: &Path,
    below: &Path,
    plan: Plan,
) -> Vec<(Peer, Result<Pair, Failure>)> {
    let mode = Mode::Inference;
    let case = Case { network: network.to_owned(), batch: 1, dtype: Dtype::Float32, threads: 1, mode };
    let files = Files::export(mxrs, network, 1, below).map_err(|e| Failure::new("no files", format!("{e:#}")));
    let pair = |peer: &Peer| {
        let files = files.as_ref().map_err(Failure::clone)?;
        concurrent::pair(&case, *peer, places, scripts, files, plan)
    };
    peers.iter().map(|peer| (*peer, pair(peer))).collect()
}

fn report(args: &Args, machine: &Machine, peers: &[Peer], found: &Found, begin: Option<f64>) -> Result<Report> {
    let mut sections = tables::sections(&found.contests, peers);
    let mut notes = tables::reasons(&found.contests);
    if args.concurrent {
        let mut section = concurrent::section();
        for (network, peer, pair) in &found.pairs {
            section.row(concurrent::row(network, *peer, pair));
            if let Err(failure) = pair {
                notes.push(format!("{} ({network}, two at once): {failure}", peer.heading()));
            }
        }
        sections.push(section);
    }
    notes.extend(explanations(args, found, begin));
    let title = format!("Images per second, random weights (mxrs with {})", ours::backends(&args.places.set)?);
    Ok(Report { title, machine: machine.clone(), peers: statuses(peers, found), sections, notes })
}

/// CPUs that others may keep busy before the report says that it is no basis for a claim.
const BUSY: f64 = 0.25;

/// Everybody with the name it tells, or why it never took part.
fn statuses(peers: &[Peer], found: &Found) -> Vec<PeerStatus> {
    let status = |peer: &Peer| {
        let measured = found.contests.iter().find_map(|contest| contest.measured(*peer));
        let outcomes = found.contests.iter().flat_map(|contest| &contest.outcomes);
        let why = outcomes.filter(|(other, _)| other == peer).find_map(|(_, outcome)| outcome.as_ref().err());
        match measured {
            Some(measured) => PeerStatus { name: measured.name.clone(), missing: None },
            None => PeerStatus {
                name: peer.heading().into(),
                missing: Some(why.map_or_else(String::new, |w| w.why.clone())),
            },
        }
    };
    peers.iter().filter(|peer| **peer != Peer::Mxrs).map(status).collect()
}

fn explanations(args: &Args, found: &Found, begin: Option<f64>) -> Vec<String> {
    let others = found.contests.iter().filter_map(|contest| contest.others).reduce(f64::max);
    let average =
        |average: Option<f64>| average.map_or_else(|| "unknown".to_owned(), |average| format!("{average:.1}"));
    let trust = if others.is_some_and(|others| others > BUSY) { " Too many for figures to be quoted." } else { "" };
    vec![
        format!(
            "Load of the machine: {} before, {} after; programs other than these kept at most {} CPUs busy during \
             the rounds of a case.{trust}",
            average(begin),
            average(load::average()),
            others.map_or_else(|| "unknown".to_owned(), |others| format!("{others:.2}")),
        ),
        format!(
            "{} rounds; in each every library runs batches for {} s, and at least one, while the others are stopped (SIGSTOP: \
             no thread of theirs spins). The first round does not count. ± is half the distance of the quartiles.",
            args.rounds, args.round_seconds,
        ),
        "All have the same random weights: MXNet and mxrs as a symbol and a parameter file, the others as the ONNX file that \
         mxrs exports."
            .into(),
        "Seconds to load do not hold the start of the program or the import of a Python package; MiB resident do.".into(),
    ]
}
