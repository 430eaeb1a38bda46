//! Compares MXNet's engine with ours on the same operators with empty bodies, in alternating rounds: `cargo xtask compare
//! engine`.

use anyhow::{Result, ensure};
use clap::Parser;
use mxrs_benches::counting::{self, Counting};
use mxrs_benches::engine::dag::StaticGraph;
use mxrs_benches::engine::mxnet::Mxnet;
use mxrs_benches::engine::ours::Ours;
use mxrs_benches::engine::unnamed::Rayon;
use mxrs_benches::engine::{Assignment, Load, Peer, Sharing, with_crew};
use mxrs_benches::machine::{self, Machine};
use mxrs_benches::report::{Cell, Format, PeerStatus, Report, Section, print_or_fail};
use mxrs_benches::rounds::{Budget, Contestant, Progress, interleave};
use mxrs_benches::summary::Summary;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Indices into the list of contestants.
const OURS: usize = 0;
const RAYON: usize = 1;
const STATIC: usize = 2;
const MXNET: usize = 3;

/// Compares dependency engines: millions of operators per second, from the first push until all operators have run.
#[derive(Parser)]
struct Args {
    /// MXNet's library, libmxnet.so of the 1.9 wheel
    #[arg(long, value_name = "FILE")]
    mxnet: Option<PathBuf>,
    /// Seconds to spend in all
    #[arg(long, default_value_t = 60.0)]
    seconds: f64,
    /// Operators per round
    #[arg(long, default_value_t = 200_000)]
    operators: usize,
    /// Measure only loads (sequences of operators) whose name contains this text
    #[arg(long)]
    load: Option<String>,
    /// Tie each pushing thread to a CPU of its own, and all workers to the other CPUs
    #[arg(long)]
    pin: bool,
    /// How the report is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

fn main() -> ExitCode {
    print_or_fail(report(&Args::parse()).map(|(report, format)| report.render(format)))
}

/// Results of one case. `speeds` has one list per contestant, which is empty if the contestant did not take part.
struct Measured {
    speeds: Vec<Vec<f64>>,
    allocations_short: f64,
    allocations_long: f64,
}

fn report(args: &Args) -> Result<(Report, Format)> {
    let loads = [
        Load::chain(),
        Load::independent(1000),
        Load::four_reads_one_write(100, 1),
        Load::fan(16),
        Load::network("resnet-50")?,
    ];
    let names = loads.each_ref().map(|load| format!("`{}`", load.name())).join(", ");
    let loads: Vec<Load> =
        loads.into_iter().filter(|load| args.load.as_ref().is_none_or(|part| load.name().contains(part))).collect();
    ensure!(!loads.is_empty(), "--load fits no load; there are {names}");
    let modes = [(1, Sharing::Disjoint), (2, Sharing::Disjoint), (2, Sharing::Crossing)];
    let cases: Vec<Assignment<'_>> = modes
        .iter()
        .flat_map(|(n_threads, sharing)| loads.iter().map(move |load| (load, *n_threads, *sharing)))
        .map(|(load, n_threads, sharing)| Assignment { load, n_threads, sharing })
        .collect();
    let progress = Progress::new(cases.len() + 1);
    progress.case("idle workers");
    let idle = idle(&loads, args)?;
    progress.case_done();
    let (mut peers, status) = contestants(args)?;
    let cpus = mxrs_sync::affinity::current().unwrap_or_default();
    let mut speed = Section::new(
        "operators",
        "Million operators per second (median, ± half the distance of the quartiles); allocations per push",
        &[
            ("load", "load"),
            ("threads", "threads"),
            ("variables", "variables"),
            ("mxrs", "mxrs"),
            ("mxnet", "MXNet"),
            ("ratio", "mxrs / MXNet"),
            ("ratio_of_best", "best / best"),
            ("allocations_per_push", "allocations"),
            ("allocations_per_push_long", "long rounds"),
            ("rounds", "rounds"),
        ],
    );
    let mut orientation = Section::new(
        "orientation",
        "For orientation, million tasks per second: these do less (see below)",
        &[("load", "load"), ("peer", "peer"), ("peer_speed", "speed"), ("ratio", "mxrs / peer")],
    );
    for case in &cases {
        progress.case(&format!("{}, {} threads, {}", case.load.name(), case.n_threads, word(case.sharing)));
        let measured = measure(&mut peers, case, args, &cpus, Budget::share(args.seconds, cases.len()), &progress)?;
        speed.row(row(case, &measured));
        for peer in [RAYON, STATIC] {
            let speeds = &measured.speeds[peer];
            if !speeds.is_empty() {
                orientation.row(vec![
                    Cell::text(case.load.name()),
                    Cell::text(peers[peer].name()),
                    Cell::summary(Summary::of(speeds), 1e6, 2, ""),
                    Cell::summary(Summary::of_ratios(&measured.speeds[OURS], speeds), 1.0, 2, ""),
                ]);
            }
        }
        progress.case_done();
    }
    let mut sections = vec![speed];
    if orientation.has_rows() {
        sections.push(orientation);
    }
    sections.push(idle);
    let title = "Dependency engines, empty operators".to_owned();
    Ok((Report { title, machine: Machine::this(), peers: status, sections, notes: notes(args) }, args.format))
}

/// The engines that take part: ours first; MXNet's last, and only if its library is given.
type Peers = Vec<Box<dyn Peer>>;

fn contestants(args: &Args) -> Result<(Peers, Vec<PeerStatus>)> {
    let mut peers: Peers = vec![Box::new(Ours::new()?), Box::new(Rayon::new(2)?), Box::new(StaticGraph::new(2))];
    let status = match &args.mxnet {
        None => PeerStatus {
            name: "MXNet".into(),
            missing: Some("give --mxnet PATH (libmxnet.so of the 1.9.1 wheel)".into()),
        },
        Some(path) => {
            let mxnet = Mxnet::load(path)?;
            let name = format!("MXNet {}", mxnet.version_text());
            peers.push(Box::new(mxnet));
            PeerStatus { name, missing: None }
        }
    };
    Ok((peers, vec![status]))
}

/// Whether contestant number `peer` is measured in this case.
fn takes_part(peer: usize, case: &Assignment<'_>) -> bool {
    match peer {
        OURS => true,
        MXNET => case.sharing == Sharing::Disjoint || case.load.has_single_variables(),
        RAYON => case.n_threads == 1 && case.load.has_single_variables() && case.load.operators().len() > 1,
        _ => case.n_threads == 1 && case.load.name() == "resnet-50",
    }
}

fn measure(
    peers: &mut [Box<dyn Peer>],
    case: &Assignment<'_>,
    args: &Args,
    cpus: &[usize],
    budget: Budget,
    progress: &Progress,
) -> Result<Measured> {
    let period = case.load.operators().len();
    let n_operators = args.operators.div_ceil(period).max(1) * period;
    for peer in peers.iter_mut() {
        peer.prepare(case)?;
    }
    let numbers: Vec<usize> = (0..peers.len()).filter(|peer| takes_part(*peer, case)).collect();
    let mut speeds = vec![Vec::new(); MXNET + 1];
    let (measured, allocations_short, allocations_long) = with_crew(peers, case.n_threads, |crew| {
        if args.pin {
            numbers.iter().try_for_each(|peer| crew.round(*peer, period).map(drop))?;
            crew.pin(cpus)?;
        }
        let mut turns: Vec<Contestant<'_>> = numbers
            .iter()
            .map(|peer| Contestant::new(peers[*peer].name(), || crew.round(*peer, n_operators)))
            .collect();
        let measured = interleave(&mut turns, budget, progress)?;
        let allocations = |rounds: usize, length: usize| -> Result<f64> {
            let mut result = Ok(());
            let count = counting::allocations(|| {
                result = (0..rounds).try_for_each(|_| crew.round(OURS, length).map(drop));
            });
            result.map(|()| count as f64 / (rounds * length) as f64)
        };
        let short = n_operators.min(1000);
        Ok::<_, anyhow::Error>((measured, allocations(n_operators / short, short)?, allocations(1, n_operators)?))
    })?;
    for (peer, measured) in numbers.into_iter().zip(measured) {
        speeds[peer] = measured;
    }
    Ok(Measured { speeds, allocations_short, allocations_long })
}

fn row(case: &Assignment<'_>, measured: &Measured) -> Vec<Cell> {
    let (ours, mxnet) = (&measured.speeds[OURS], &measured.speeds[MXNET]);
    let ratio = Summary::of_ratios(ours, mxnet);
    let (ours, mxnet) = (Summary::of(ours), Summary::of(mxnet));
    let why = if takes_part(MXNET, case) { "not found" } else { "can block" };
    vec![
        Cell::text(case.load.name()),
        Cell::Number(case.n_threads as f64, 0),
        Cell::text(word(case.sharing)),
        Cell::summary(ours, 1e6, 2, ""),
        Cell::summary(mxnet, 1e6, 2, why),
        Cell::summary(ratio, 1.0, 2, ""),
        Cell::number(ours.zip(mxnet).map(|(ours, mxnet)| ours.max / mxnet.max), 2, ""),
        Cell::Number(measured.allocations_short, 4),
        Cell::Number(measured.allocations_long, 4),
        Cell::Number(ours.map_or(0, |s| s.n) as f64, 0),
    ]
}

/// Measures the processor time that our engine's workers use while there is nothing to do. Runs before any peer starts
/// threads.
fn idle(loads: &[Load], args: &Args) -> Result<Section> {
    let mut ours = Ours::new()?;
    for load in loads {
        ours.prepare(&Assignment { load, n_threads: 1, sharing: Sharing::Disjoint })?;
        ours.push(0, 1000)?;
        ours.wait()?;
    }
    let time = Duration::from_secs_f64(args.seconds.clamp(0.1, 1.0));
    // Waits first, because a worker without work may search for some for a moment before it parks.
    std::thread::sleep(time / 10);
    let used = machine::idle_processor_time(time);
    let title = "Processor time of idle workers (mxrs)";
    let mut section = Section::new("idle", title, &[("seconds", "seconds idle"), ("used_us", "processor time, µs")]);
    section.row(vec![Cell::Number(time.as_secs_f64(), 1), Cell::Number(used.as_secs_f64() * 1e6, 0)]);
    Ok(section)
}

fn word(sharing: Sharing) -> &'static str {
    match sharing {
        Sharing::Disjoint => "own",
        Sharing::Crossing => "shared",
    }
}

fn notes(args: &Args) -> Vec<String> {
    let threads = if args.pin { "pinned" } else { "not pinned" };
    vec![
        format!(
            "A round is about {} operators, contestants in turn, threads {threads}; each engine has its documented \
             default of one worker for cpu(0).",
            args.operators
        ),
        "mxrs / MXNet is the median of the ratios of neighboring rounds, best / best that of the fastest rounds.".into(),
        "Allocations are those of ours, on all threads, once warm: in rounds of 1,000 operators, and in full-length rounds."
            .into(),
        "\"can block\": two threads that push crossing sets of variables can block MXNet's engine forever, so it is not \
         run."
            .into(),
        "rayon scope (2 threads): tasks name no variables, run in any order, cannot fail, and only the scope can be waited \
         for. Static graph (2 threads): the order is worked out beforehand, running it counts predecessors down; nothing \
         is pushed, no version, error or single wait exists, and repetitions do not overlap."
            .into(),
    ]
}
