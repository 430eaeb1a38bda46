//! Compares the speed of inference and of training in mxrs and in other libraries, in alternating rounds: `cargo xtask
//! compare score`.

use anyhow::{Context, Result, ensure};
use clap::Parser;
use clap::builder::PossibleValuesParser;
use mxrs_benches::machine::Machine;
use mxrs_benches::memory::Mode;
use mxrs_benches::memory::subject::COMPARED;
use mxrs_benches::report::Format;
use mxrs_benches::rounds::Progress;
use mxrs_benches::score::concurrent::{self, Pair};
use mxrs_benches::score::contest::{Contest, Plan, contest};
use mxrs_benches::score::files::Files;
use mxrs_benches::score::found::{Found, Together};
use mxrs_benches::score::limits::Limit;
use mxrs_benches::score::outputs::{self, Outputs};
use mxrs_benches::score::peers::{Peer, Places, Tools, write_scripts};
use mxrs_benches::score::{Case, Dtype, Failure, agreement, exported, load, networks, ours, saved};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Compares speed of inference or training: images per second of networks with the same weights, each library in its own process.
#[derive(Parser)]
struct Args {
    /// Networks [default: six of mxrs; all of PyTorch with --onnx]
    #[arg(long, value_delimiter = ',', hide_possible_values = true)]
    #[arg(value_parser = PossibleValuesParser::new(networks().chain(exported::networks().map(|(name, _)| name))))]
    network: Vec<String>,
    /// Networks as PyTorch exports them to ONNX, with outputs compared with PyTorch's
    #[arg(long)]
    onnx: bool,
    /// Batch sizes [default: 1,32; 1,8 with --onnx]
    #[arg(long, visible_alias = "batch-size", value_delimiter = ',')]
    batch: Vec<NonZeroUsize>,
    /// Element types
    #[arg(long, value_enum, value_delimiter = ',', default_value = "float32")]
    dtype: Vec<Dtype>,
    /// Inference, or training steps with momentum
    #[arg(long, value_enum, value_delimiter = ',', default_value = "inference")]
    mode: Vec<Mode>,
    /// Threads of each library; several values add a table of how speed depends on them
    #[arg(long, value_delimiter = ',', default_value = "2")]
    threads: Vec<NonZeroUsize>,
    /// The widest instructions that libraries may use; the report says which libraries have a switch for it
    #[arg(long, value_enum)]
    isa: Option<Limit>,
    /// Libraries that take part [default: all; with --onnx mxrs, OpenVINO, ONNX Runtime, MNN and ncnn]
    #[arg(long, value_enum, value_delimiter = ',')]
    peer: Vec<Peer>,
    /// Number of measured rounds
    #[arg(long, default_value = "5")]
    rounds: NonZeroUsize,
    /// Seconds that each library runs in a round; it runs at least one batch
    #[arg(long, default_value = "1", value_parser = seconds)]
    round_seconds: Duration,
    /// Number of images for which the outputs of each library are compared with ours
    #[arg(long, default_value_t = 4)]
    check: usize,
    /// Also run two instances at the same time, with batch 1 and one core each: two processes, and two threads of one mxrs
    /// process
    #[arg(long)]
    concurrent: bool,
    /// Seconds after which a library that does not answer is killed, and likewise a program that writes files for a library
    #[arg(long, default_value = "600", value_parser = seconds)]
    timeout: Duration,
    /// The program mxrs, which writes the files of the networks
    #[arg(long, value_name = "FILE", required_unless_present_any = ["serve", "from"])]
    mxrs: Option<PathBuf>,
    #[command(flatten)]
    places: Places,
    /// Folder for temporary files of networks [default: the system's temporary folder]
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Measure nothing; report the results that were saved in this file
    #[arg(long, value_name = "FILE.json")]
    #[arg(conflicts_with_all = ["network", "batch", "dtype", "mode", "threads", "peer", "rounds", "concurrent"])]
    #[arg(conflicts_with_all = ["round_seconds", "check", "timeout", "set", "onnx", "isa"])]
    from: Option<PathBuf>,
    /// Write the report as text and Markdown, every round as JSON, and bars as SVG: to PATH.txt and so on, or into the
    /// folder PATH
    #[arg(long, value_name = "PATH")]
    save: Option<PathBuf>,
    /// Write a bar chart as SVG
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// How the report is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Run mxrs as one of the libraries (this program starts itself with this flag)
    #[arg(long, hide = true)]
    serve: bool,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
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

fn compare(args: &Args) -> Result<()> {
    // Creates the output folder before anything is measured, so that a folder that cannot be created is reported early.
    let outputs = args.save.as_deref().map(Outputs::at).transpose()?;
    let found = match &args.from {
        Some(path) => {
            let reading = || format!("reading {}", path.display());
            let text = std::fs::read_to_string(path).with_context(reading)?;
            saved::read(&text).with_context(reading)?
        }
        None => measured(args)?,
    };
    // The report is printed and saved before the chart is drawn, because drawing might fail.
    print!("{}", found.report().render(args.format));
    if let Some(outputs) = outputs {
        outputs.write(&found)?;
    }
    if let Some(path) = &args.plot {
        outputs::write(path, &found.chart()?)?;
    }
    Ok(())
}

/// Libraries that are measured on networks that PyTorch exports, unless others are requested.
const WITH_ONNX: [Peer; 5] = [Peer::Mxrs, Peer::Openvino, Peer::Onnxruntime, Peer::Mnn, Peer::Ncnn];

fn peers(args: &Args) -> Vec<Peer> {
    let all = <Peer as clap::ValueEnum>::value_variants();
    let wanted = if args.onnx && args.peer.is_empty() { &WITH_ONNX[..] } else { &args.peer };
    all.iter().copied().filter(|peer| wanted.is_empty() || wanted.contains(peer)).collect()
}

/// The networks to measure, with the names that reports use.
fn chosen(args: &Args) -> Result<Vec<String>> {
    if args.onnx {
        let all = || exported::networks().map(|(name, _)| name.to_owned()).collect();
        let names: Vec<String> = if args.network.is_empty() { all() } else { args.network.clone() };
        return names.iter().map(|name| exported::in_reports(name)).collect();
    }
    if args.network.is_empty() {
        return Ok(COMPARED.map(str::to_owned).to_vec());
    }
    let unknown = args.network.iter().find(|name| !networks().any(|other| other == **name));
    ensure!(unknown.is_none(), "{} is a network of --onnx only", unknown.map_or("", String::as_str));
    Ok(args.network.clone())
}

/// The batch sizes to measure.
fn batches(args: &Args) -> Vec<usize> {
    let given = args.batch.iter().map(|batch| batch.get()).collect::<Vec<_>>();
    match (given.is_empty(), args.onnx) {
        (false, _) => given,
        (true, true) => exported::BATCHES.to_vec(),
        (true, false) => vec![1, 32],
    }
}

fn measured(args: &Args) -> Result<Found> {
    let (machine, peers, begin) = (Machine::this(), peers(args), load::average());
    args.isa.map_or(Ok(()), Limit::expect_here)?;
    let networks = chosen(args)?;
    let mxrs = args.mxrs.as_deref().context("give --mxrs FILE")?;
    let title = format!("Images per second, random weights (mxrs with {})", ours::backends(&args.places.set)?);
    let scripts = tempfile::tempdir()?;
    write_scripts(scripts.path())?;
    let below = args.folder.clone().unwrap_or_else(std::env::temp_dir);
    std::fs::create_dir_all(&below).with_context(|| format!("making {}", below.display()))?;
    let tools = Tools { mxrs, places: &args.places, scripts: scripts.path(), isa: args.isa };
    let (contests, pairs) = measure(args, &networks, &peers, tools, &below);
    let mut notes = explanations(args, &contests, begin);
    notes.extend(args.isa.map(|isa| isa.note(&peers)));
    Ok(Found { title, machine, peers, contests, pairs, notes })
}

fn measure(
    args: &Args,
    networks: &[String],
    peers: &[Peer],
    tools: Tools<'_>,
    below: &Path,
) -> (Vec<Contest>, Vec<Together>) {
    let round_s = args.round_seconds.as_secs_f64();
    let plan = Plan { rounds: args.rounds.get(), round_s, n_checked: args.check, limit: args.timeout };
    let kinds = kinds(args);
    let batches = batches(args);
    let n_pairs = if args.concurrent { networks.len() } else { 0 };
    let progress = Progress::new(networks.len() * batches.len() * kinds.len() + n_pairs);
    let (mut contests, mut all_pairs) = (Vec::new(), Vec::new());
    for network in networks {
        for &batch in &batches {
            let files = files(tools, network, batch, below, plan);
            for &(mode, dtype, threads) in &kinds {
                let case = Case { network: network.clone(), batch, dtype, threads, mode };
                progress.case(&case.to_string());
                contests.push(match &files {
                    Ok(files) => contest(&case, peers, tools, files, plan, &progress),
                    Err(failure) => Contest::of_failure(&case, peers, failure),
                });
                progress.case_done();
            }
        }
        if args.concurrent {
            progress.case(&format!("{network}, two at once"));
            let pairs = pairs(network, peers, tools, below, plan);
            all_pairs.extend(pairs.into_iter().map(|(peer, pair)| (network.clone(), peer, pair)));
            progress.case_done();
        }
    }
    (contests, all_pairs)
}

fn files(tools: Tools<'_>, network: &str, batch: usize, below: &Path, plan: Plan) -> Result<Files, Failure> {
    let files = Files::make(tools, network, batch, below, plan.n_checked, plan.limit);
    files.map_err(|error| Failure::new("no files", format!("{error:#}")))
}

/// Combinations of mode, element type and number of threads that every network runs in at each batch size.
fn kinds(args: &Args) -> Vec<(Mode, Dtype, usize)> {
    let of_mode = |mode: &Mode| {
        let mode = *mode;
        let of_dtype = move |dtype: &Dtype| {
            let dtype = *dtype;
            args.threads.iter().map(move |threads| (mode, dtype, threads.get()))
        };
        args.dtype.iter().flat_map(of_dtype)
    };
    args.mode.iter().flat_map(of_mode).collect()
}

/// Runs two instances at the same time, for every peer.
fn pairs(
    network: &str,
    peers: &[Peer],
    tools: Tools<'_>,
    below: &Path,
    plan: Plan,
) -> Vec<(Peer, Result<Pair, Failure>)> {
    let mode = Mode::Inference;
    let case = Case { network: network.to_owned(), batch: 1, dtype: Dtype::Float32, threads: 1, mode };
    let files = files(tools, network, 1, below, plan);
    let pair = |peer: &Peer| {
        let files = files.as_ref().map_err(Failure::clone)?;
        concurrent::pair(&case, *peer, tools, files, plan)
    };
    peers.iter().map(|peer| (*peer, pair(peer))).collect()
}

/// Number of CPUs that other programs may keep busy. If they use more, the report says that its numbers should not be
/// quoted.
const BUSY: f64 = 0.25;

const OF_MXRS: &str = "All have the same random weights: MXNet and mxrs as a symbol and a parameter file, the others as the \
                       ONNX file that mxrs exports, or what their own converter makes of it (MNN, ncnn). ncnn runs the \
                       images of a batch one after the other.";
const OF_PYTORCH: &str = "All load the ONNX file that PyTorch exports, with random weights: mxrs as the symbol and the \
                          parameters that mxrs convert onnx import makes of it, MNN and ncnn as what their own converter \
                          makes of it. ncnn runs the images of a batch one after the other. A library whose outputs \
                          differ from PyTorch's has no speed.";

fn explanations(args: &Args, contests: &[Contest], begin: Option<f64>) -> Vec<String> {
    let others = contests.iter().filter_map(|contest| contest.others).reduce(f64::max);
    let average =
        |average: Option<f64>| average.map_or_else(|| "unknown".to_owned(), |average| format!("{average:.1}"));
    let trust = if others.is_some_and(|others| others > BUSY) { " Too many for figures to be quoted." } else { "" };
    let mut notes = vec![
        format!(
            "Load of the machine: {} before, {} after; programs other than these kept at most {} CPUs busy during \
             the rounds of a case.{trust}",
            average(begin),
            average(load::average()),
            others.map_or_else(|| "unknown".to_owned(), |others| format!("{others:.2}")),
        ),
        format!(
            "{} rounds; in each every library runs batches for {} s, and at least one, while the others are stopped \
             (SIGSTOP: no thread of theirs spins). The first round does not count. ± is half the distance of the \
             quartiles.",
            args.rounds,
            args.round_seconds.as_secs_f64(),
        ),
        if args.onnx { OF_PYTORCH } else { OF_MXRS }.into(),
        "Seconds to load do not hold the start of the program or the import of a Python package; MiB resident do."
            .into(),
    ];
    if args.dtype.contains(&Dtype::Int8) {
        notes.push(format!(
            "int8: each library quantizes the same network with ranges from the same random images (mxrs quantize, \
             NNCF, ONNX Runtime's quantize_static), which is in no figure. Each rounds in its own way: a class counts \
             as the same where ours in float32 gives it at least {:.0} % of the likeliest one's probability.",
            100.0 * (1.0 - agreement::TOLERANCE_IN_8_BITS),
        ));
    }
    if args.concurrent {
        notes.push(
            "Two at once: the one alone and each of two processes may use one CPU, two threads of one process the \
             same two, with OMP_NUM_THREADS=1 and MXNET_CPU_WORKER_NTHREADS=2."
                .into(),
        );
    }
    notes
}
