//! Compares our pools, glibc's malloc and mimalloc on the same traces, in alternating rounds: `cargo xtask compare storage`.

use anyhow::{Context, Result, bail};
use clap::Parser;
use mxrs_benches::machine::Machine;
use mxrs_benches::report::{Cell, Format, PeerStatus, Report, Section, print_or_fail};
use mxrs_benches::rounds::{Budget, Contestant, Progress, interleave};
use mxrs_benches::storage::heap::{Glibc, Pool};
use mxrs_benches::storage::replay::{self, Table};
use mxrs_benches::storage::{Choice, Heap, hit};
use mxrs_benches::summary::Summary;
use mxrs_benches::traces::Trace;
use std::process::{Command, ExitCode};

/// Sizes in bytes of the two small blocks that are allocated and released again and again. The large block has [`LARGE`]
/// bytes.
const SIZES: [usize; 2] = [16 << 10, 48 << 10];
const LARGE: usize = 1 << 20;
/// Number of training steps of a trace that are timed. The number is small because a heap that requests every block from the
/// system is slow.
const TIMED_STEPS: usize = 5;

/// Compares memory pools: time per call, and the ratio of memory held to memory live.
#[derive(Parser)]
struct Args {
    /// Seconds to spend in all
    #[arg(long, default_value_t = 60.0)]
    seconds: f64,
    /// Training steps of each trace
    #[arg(long, default_value_t = 50)]
    iterations: usize,
    /// Pairs of allocation and release in a round that repeats the same size
    #[arg(long, default_value_t = 100_000)]
    pairs: usize,
    /// Tie threads to CPUs
    #[arg(long)]
    pin: bool,
    /// How the report is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Only print the largest number of bytes that this heap holds while the trace of --trace is replayed (this program
    /// starts itself with this flag)
    #[arg(long, hide = true, requires = "trace")]
    held_by: Option<String>,
    /// The trace that --held-by replays
    #[arg(long, hide = true)]
    trace: Option<String>,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let text = match (&args.held_by, &args.trace) {
        (Some(heap), Some(trace)) => held_here(heap, trace, args.iterations).map(|bytes| format!("{bytes}\n")),
        _ => report(&args).map(|report| report.render(args.format)),
    };
    print_or_fail(text)
}

fn report(args: &Args) -> Result<Report> {
    let (present, absent): (Vec<_>, Vec<_>) = Choice::all().into_iter().partition(|choice| choice.missing().is_none());
    let n_cases = replay::WORDS.len() + 1;
    let progress = Progress::new(n_cases + replay::WORDS.len());
    let budget = Budget::share(args.seconds, n_cases);
    let mut traces = Section::new(
        "traces",
        "Traces: nanoseconds per pair of allocation and release; bytes held at most over bytes live at most",
        &[
            ("trace", "trace"),
            ("heap", "heap"),
            ("pair_ns", "ns per pair"),
            ("time_ratio", "time / glibc"),
            ("held_over_live", "held / live"),
            ("held_mib", "held, MiB"),
            ("rounds", "rounds"),
        ],
    );
    let mut notes = Vec::new();
    for word in replay::WORDS {
        let trace = replay::trace(word, args.iterations)?;
        progress.case(&format!("{word}: bytes held"));
        let held: Vec<u64> = present.iter().map(|choice| held_in_child(*choice, word, args)).collect::<Result<_>>()?;
        progress.case_done();
        progress.case(&format!("{word}: time"));
        let measured = {
            let timed = replay::trace(word, args.iterations.min(TIMED_STEPS))?;
            let mut turns = present.iter().map(|choice| replays(*choice, &timed)).collect::<Result<Vec<_>>>()?;
            interleave(&mut turns, budget, &progress)?
        };
        let live = trace.peak_live();
        for ((choice, times), held) in present.iter().zip(&measured).zip(held) {
            traces.row(vec![
                Cell::text(word),
                Cell::text(choice.word()),
                Cell::summary(Summary::of(times), 1.0, 1, ""),
                ratio_to_first(&present, &measured, times),
                Cell::Number(held as f64 / live as f64, 3),
                Cell::Number(held as f64 / f64::from(1 << 20), 0),
                Cell::Number(times.len() as f64, 0),
            ]);
        }
        notes.push(format!(
            "{word}: {} steps, {} allocations, {} MiB live at most.",
            args.iterations,
            trace.n_allocations(),
            live >> 20
        ));
        progress.case_done();
    }
    progress.case("warm hits");
    let hits = hits(&present, args, budget, &progress)?;
    progress.case_done();
    notes.extend(general_notes(args));
    let missing = absent.iter().map(|choice| PeerStatus { name: choice.word(), missing: choice.missing() });
    Ok(Report {
        title: "Memory pools, memory untouched".into(),
        machine: Machine::this(),
        peers: present.iter().map(|choice| PeerStatus { name: named(*choice), missing: None }).chain(missing).collect(),
        sections: vec![traces, hits],
        notes,
    })
}

fn named(choice: Choice) -> String {
    match choice {
        #[cfg(feature = "mimalloc")]
        Choice::Mimalloc => format!("mimalloc {}", mxrs_benches::storage::heap::Mimalloc::version_text()),
        _ => choice.word(),
    }
}

/// Ratio of a heap's time to that of glibc; absent if glibc was not measured.
fn ratio_to_first(present: &[Choice], measured: &[Vec<f64>], times: &[f64]) -> Cell {
    let first = present.iter().position(|choice| *choice == Choice::Glibc);
    Cell::summary(first.and_then(|first| Summary::of_ratios(times, &measured[first])), 1.0, 2, "not found")
}

fn general_notes(args: &Args) -> Vec<String> {
    let threads = if args.pin { "pinned" } else { "not pinned" };
    vec![
        format!(
            "Time: warm replays of the first {TIMED_STEPS} steps in one process, heaps in turn. Large blocks of glibc, and \
             all of Unpooled, go to the system and come back as fresh pages at every call; what those cost when they are \
             first touched is not in it."
        ),
        "Held: the first replay in a process of its own, by the heap's own account: the pools' peak of reserved bytes; \
         glibc's mallinfo2 (arena + hblkhd) after each allocation; mimalloc's peak of committed bytes."
            .into(),
        format!(
            "Warm hits: {} pairs a round, threads {threads}; two / one compares the mean of both threads with the mean of \
             the same two sizes on one thread.",
            args.pairs
        ),
    ]
}

/// A function on a heap, generic over the heap's type.
trait Use {
    type Output;
    fn with<H: Heap + 'static>(self, heap: H) -> Self::Output;
}

/// Creates the heap `choice` and runs `work` on it.
fn with_heap<U: Use>(choice: Choice, work: U) -> Result<U::Output> {
    Ok(match choice {
        Choice::Glibc => work.with(Glibc),
        #[cfg(feature = "mimalloc")]
        Choice::Mimalloc => work.with(mxrs_benches::storage::heap::Mimalloc),
        Choice::Pool(kind) => work.with(Pool::new(kind)?),
        #[allow(unreachable_patterns)]
        _ => bail!("{} is not built in", choice.word()),
    })
}

struct MostHeld<'t>(&'t Trace);

impl Use for MostHeld<'_> {
    type Output = Result<u64>;

    fn with<H: Heap + 'static>(self, heap: H) -> Result<u64> {
        replay::most_held(&heap, self.0)
    }
}

fn held_here(heap: &str, trace: &str, n_iterations: usize) -> Result<u64> {
    with_heap(Choice::parse(heap)?, MostHeld(&replay::trace(trace, n_iterations)?))?
}

/// Measures the largest number of bytes that a heap holds. Runs in a separate process, so that nothing else is counted.
fn held_in_child(choice: Choice, word: &str, args: &Args) -> Result<u64> {
    let this = std::env::current_exe().context("where this program is")?;
    let iterations = args.iterations.to_string();
    let flags = ["--held-by", &choice.word(), "--trace", word, "--iterations", &iterations];
    let output = Command::new(this).args(flags).output().context("starting this program again")?;
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        bail!("{} on {word}: {}", choice.word(), stderr.trim());
    }
    stdout.trim().parse().with_context(|| format!("the answer `{}`", stdout.trim()))
}

struct Replays<'t>(String, &'t Trace);

impl<'t> Use for Replays<'t> {
    type Output = Contestant<'t>;

    fn with<H: Heap + 'static>(self, heap: H) -> Contestant<'t> {
        let Self(name, trace) = self;
        let mut table = Table::of(trace);
        Contestant::new(name, move || replay::replay(&heap, trace, &mut table))
    }
}

fn replays<'t>(choice: Choice, trace: &'t Trace) -> Result<Contestant<'t>> {
    with_heap(choice, Replays(choice.word(), trace))
}

/// Times warm allocations of one heap in three rounds: small sizes on one thread, the large size on one thread, small
/// sizes on two threads.
struct Hits<'a> {
    name: String,
    n_pairs: usize,
    cpus: Option<&'a [usize]>,
}

impl<'a> Use for Hits<'a> {
    type Output = Vec<Contestant<'a>>;

    fn with<H: Heap + 'static>(self, heap: H) -> Vec<Contestant<'a>> {
        let Self { name, n_pairs, cpus } = self;
        let heap = std::sync::Arc::new(heap);
        let round = |sizes: Vec<Vec<usize>>| {
            let heap = std::sync::Arc::clone(&heap);
            Contestant::new(name.clone(), move || {
                let times = sizes.iter().map(|sizes| hit::pairs_at_once(&*heap, sizes, n_pairs, cpus));
                Ok(times.sum::<Result<f64>>()? / sizes.len() as f64)
            })
        };
        // First round: the two small sizes one after the other. Second: the large size. Third: the two small sizes at the
        // same time, on two threads.
        vec![round(SIZES.map(|size| vec![size]).to_vec()), round(vec![vec![LARGE]]), round(vec![SIZES.to_vec()])]
    }
}

fn hits(present: &[Choice], args: &Args, budget: Budget, progress: &Progress) -> Result<Section> {
    let cpus = if args.pin { mxrs_sync::affinity::current() } else { None };
    let mut turns = Vec::new();
    for choice in present {
        let hits = Hits { name: choice.word(), n_pairs: args.pairs, cpus: cpus.as_deref() };
        turns.extend(with_heap(*choice, hits)?);
    }
    let measured = interleave(&mut turns, budget, progress)?;
    let mut section = Section::new(
        "hits",
        "Warm hits: nanoseconds per pair of allocation and release",
        &[
            ("heap", "heap"),
            ("one_thread_ns", "16 and 48 KiB, one thread"),
            ("large_ns", "1 MiB, one thread"),
            ("two_threads_ns", "16 | 48 KiB, two threads"),
            ("two_over_one", "two / one"),
            ("best_one_ns", "best, one"),
            ("best_two_ns", "best, two"),
            ("rounds", "rounds"),
        ],
    );
    for (choice, times) in present.iter().zip(measured.chunks(3)) {
        let [one, large, two] = times else { bail!("three measurements per heap") };
        let best = |times| Cell::number(Summary::of(times).map(|s| s.min), 1, "");
        section.row(vec![
            Cell::text(choice.word()),
            Cell::summary(Summary::of(one), 1.0, 1, ""),
            Cell::summary(Summary::of(large), 1.0, 1, ""),
            Cell::summary(Summary::of(two), 1.0, 1, ""),
            Cell::summary(Summary::of_ratios(two, one), 1.0, 2, ""),
            best(one),
            best(two),
            Cell::Number(one.len() as f64, 0),
        ]);
    }
    Ok(section)
}
