//! Compares our team of threads, OpenMP and rayon on loops of a few microseconds, in alternating rounds: `cargo xtask
//! compare team`.

use anyhow::{Context, Result};
use clap::Parser;
use mxrs_benches::machine::Machine;
use mxrs_benches::report::{Cell, Format, PeerStatus, Report, Section, print_or_fail};
use mxrs_benches::rounds::{Budget, Contestant, Progress, interleave};
use mxrs_benches::summary::Summary;
use mxrs_benches::team::{Answer, Kind, Order, Seat, openmp, seat, work};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Serial work of one loop, in microseconds.
const WORK_US: [u64; 3] = [5, 20, 100];
/// Time between two loops, in microseconds.
const GAPS_US: [u64; 3] = [0, 10, 200];

/// Compares thread teams: time of one loop that two threads share.
#[derive(Parser)]
struct Args {
    /// Seconds to spend in all
    #[arg(long, default_value_t = 60.0)]
    seconds: f64,
    /// Microseconds that one round takes
    #[arg(long, default_value_t = 10_000)]
    round_us: u64,
    /// The C compiler for OpenMP's loop
    #[arg(long, default_value = "gcc")]
    cc: String,
    /// Tie threads to CPUs
    #[arg(long)]
    pin: bool,
    /// How the report is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Run as the process of this contestant (this program starts itself with this flag)
    #[arg(long, hide = true)]
    serve: Option<String>,
    /// The compiled library with OpenMP's loop
    #[arg(long, hide = true)]
    openmp_library: Option<PathBuf>,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let text = match &args.serve {
        // `serve` prints its answers itself, so the text to print at the end is empty.
        Some(word) => Kind::parse(word)
            .and_then(|kind| seat::serve(kind, args.openmp_library.as_deref(), args.pin))
            .map(|()| String::new()),
        None => report(&args).map(|report| report.render(args.format)),
    };
    print_or_fail(text)
}

fn report(args: &Args) -> Result<Report> {
    let this = std::env::current_exe().context("where this program is")?;
    let openmp = openmp::build(&args.cc, &this.with_file_name("compare-team"));
    let (seats, peers) = seats(&this, &openmp, args)?;
    let steps_per_us = work::steps_for(Duration::from_micros(1000)) as f64 / 1000.0;
    let cases: Vec<(u64, u64)> = WORK_US.iter().flat_map(|work| GAPS_US.map(|gap| (*work, gap))).collect();
    let progress = Progress::new(cases.len());
    let mut section = Section::new(
        "loops",
        "Microseconds per loop shared by two threads",
        &[
            ("work_us", "work"),
            ("gap_us", "gap"),
            ("contestant", "contestant"),
            ("loop_us", "loop"),
            ("best_us", "best round"),
            ("p90_us", "90 % below"),
            ("overhead_us", "overhead"),
            ("speed_up", "speed-up"),
            ("ratio", "time / OpenMP"),
            ("rounds", "rounds"),
        ],
    );
    for (work_us, gap_us) in &cases {
        progress.case(&format!("{work_us} µs of work, {gap_us} µs between loops"));
        let order = Order {
            steps: (*work_us as f64 * steps_per_us) as u64,
            n_loops: (args.round_us / (work_us + gap_us)).max(10) as usize,
            gap_ns: gap_us * 1000,
        };
        let measured = measure(&seats, order, Budget::share(args.seconds, cases.len()), &progress)?;
        for row in rows(&seats, &measured) {
            let place = [Cell::Number(*work_us as f64, 0), Cell::Number(*gap_us as f64, 0)];
            section.row(place.into_iter().chain(row).collect());
        }
        progress.case_done();
    }
    Ok(Report {
        title: "Thread teams".into(),
        machine: Machine::this(),
        peers,
        sections: vec![section],
        notes: notes(args),
    })
}

/// Starts one process for each contestant that can run.
fn seats(this: &Path, openmp: &Result<PathBuf>, args: &Args) -> Result<(Vec<RefCell<Seat>>, Vec<PeerStatus>)> {
    let mut seats = Vec::new();
    for kind in Kind::ALL {
        if kind.is_openmp() && openmp.is_err() {
            continue;
        }
        seats.push(RefCell::new(Seat::start(this, kind, openmp.as_deref().ok(), args.pin)?));
    }
    let missing = openmp.as_ref().err().map(|error| format!("give --cc PATH of a C compiler with OpenMP ({error:#})"));
    let peers = vec![
        PeerStatus { name: "OpenMP (libgomp)".into(), missing },
        PeerStatus { name: "rayon".into(), missing: None },
    ];
    Ok((seats, peers))
}

/// Runs the rounds and returns the answers of each contestant's process, round by round.
fn measure(seats: &[RefCell<Seat>], order: Order, budget: Budget, progress: &Progress) -> Result<Vec<Vec<Answer>>> {
    let answers: Vec<RefCell<Vec<Answer>>> = seats.iter().map(|_| RefCell::new(Vec::new())).collect();
    let mut turns: Vec<Contestant<'_>> = seats
        .iter()
        .zip(&answers)
        .map(|(seat, answers)| {
            Contestant::new(seat.borrow().kind().word(), move || {
                let answer = seat.borrow_mut().round(order)?;
                answers.borrow_mut().push(answer);
                Ok(answer.median_ns)
            })
        })
        .collect();
    let n_rounds = interleave(&mut turns, budget, progress)?.first().map_or(0, Vec::len);
    drop(turns);
    // The first round of each contestant is a warm-up and does not count.
    let counted = |answers: RefCell<Vec<Answer>>| {
        let answers = answers.into_inner();
        answers[answers.len() - n_rounds..].to_vec()
    };
    Ok(answers.into_iter().map(counted).collect())
}

/// One row per contestant, without the leading columns that name the case.
fn rows(seats: &[RefCell<Seat>], measured: &[Vec<Answer>]) -> Vec<Vec<Cell>> {
    let medians = |at: usize| -> Vec<f64> { measured[at].iter().map(|answer| answer.median_ns).collect() };
    let place = |kind: Kind| seats.iter().position(|seat| seat.borrow().kind() == kind);
    let serial = place(Kind::Serial).map_or_else(Vec::new, medians);
    let first_peer = place(Kind::OpenMp).map(medians);
    let row = |at: usize| {
        let kind = seats[at].borrow().kind();
        let times = medians(at);
        let slow: Vec<f64> = measured[at].iter().map(|answer| answer.p90_ns).collect();
        let is_shared = kind != Kind::Serial;
        let overhead: Vec<f64> = times.iter().zip(&serial).map(|(time, serial)| time - serial / 2.0).collect();
        let overhead = Summary::of(&overhead).filter(|_| is_shared);
        let speed_up = Summary::of_ratios(&serial, &times).filter(|_| is_shared);
        let ratio = first_peer.as_ref().and_then(|first| Summary::of_ratios(&times, first));
        vec![
            Cell::text(kind.word()),
            Cell::summary(Summary::of(&times), 1000.0, 2, ""),
            Cell::number(Summary::of(&times).map(|s| s.min / 1000.0), 2, ""),
            Cell::number(Summary::of(&slow).map(|s| s.median / 1000.0), 2, ""),
            Cell::number(overhead.map(|s| s.median / 1000.0), 2, ""),
            Cell::summary(speed_up, 1.0, 2, ""),
            Cell::summary(ratio, 1.0, 2, "not found"),
            Cell::Number(times.len() as f64, 0),
        ]
    };
    (0..seats.len()).map(row).collect()
}

fn notes(args: &Args) -> Vec<String> {
    let threads = if args.pin { "pinned" } else { "not pinned" };
    vec![
        format!(
            "Each contestant has a process of its own, stopped while others have their turn; two threads, {threads}. In \
             the gap between two loops the calling thread is busy."
        ),
        "Work and gap in µs. Loop: the median over rounds of the median loop of a round; 90 % below: likewise for the \
         slowest tenth. Overhead: loop less half the serial loop of the same round. Speed-up: against the serial loop."
            .into(),
        "OpenMP is a static loop in C that calls the same body; active and passive are OMP_WAIT_POLICY. rayon is called \
         from a thread of its pool."
            .into(),
    ]
}
