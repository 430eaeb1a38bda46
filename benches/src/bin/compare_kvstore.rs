//! Compares key-value stores of MXNet and of mxrs on the gradients of a network, in alternating rounds: `cargo xtask compare
//! kvstore`.

use anyhow::{Result, ensure};
use clap::Parser;
use mxrs_benches::kvstore::{Call, Case, MAX_STEPS, Seat, gradients, ours};
use mxrs_benches::machine::Machine;
use mxrs_benches::report::{Cell, Format, PeerStatus, Report, Section, print_or_fail};
use mxrs_benches::rounds::{Budget, Contestant, Progress, interleave};
use mxrs_benches::summary::Summary;
use std::path::PathBuf;
use std::process::ExitCode;

/// Compares key-value stores: seconds in which the gradients of all devices are summed and the sums copied back.
#[derive(Parser)]
struct Args {
    /// The network with the gradients
    #[arg(long, default_value = "resnetv1-50")]
    network: String,
    /// Stores
    #[arg(long, value_delimiter = ',', default_value = "local,device")]
    store: Vec<String>,
    /// Numbers of CPU contexts
    #[arg(long, value_delimiter = ',', default_value = "2,4")]
    devices: Vec<usize>,
    /// Steps per round
    #[arg(long, default_value_t = 4)]
    steps: usize,
    /// Seconds to spend in all
    #[arg(long, default_value_t = 120.0)]
    seconds: f64,
    /// A Python 3.11 with mxnet 1.9.1 and numpy 1.23.5
    #[arg(long, value_name = "PATH", default_value = "python3")]
    python: PathBuf,
    /// How the report is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Run as a contestant's process (this program starts itself with this flag)
    #[arg(long, hide = true)]
    serve: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    // `serve` prints its answers itself, so the text to print at the end is empty.
    let text = match args.serve {
        true => ours::serve().map(|()| String::new()),
        false => report(&args).map(|report| report.render(args.format)),
    };
    print_or_fail(text)
}

fn report(args: &Args) -> Result<Report> {
    let is_good = (1..=MAX_STEPS).contains(&args.steps);
    ensure!(is_good, "--steps {}: expected 1 to {MAX_STEPS}", args.steps);
    for &n in &args.devices {
        ensure!((1..=4).contains(&n), "--devices {n}: expected 1 to 4");
    }
    let shapes = gradients::shapes(&args.network)?;
    let on = |store: &String, n_devices: &usize| Case { store: store.clone(), n_devices: *n_devices };
    let cases: Vec<Case> = args.store.iter().flat_map(|s| args.devices.iter().map(move |n| on(s, n))).collect();
    let progress = Progress::new(cases.len());
    let mut peer = PeerStatus { name: "MXNet".into(), missing: None };
    let mut section = section();
    for case in &cases {
        progress.case(&format!("{}, {} devices", case.store, case.n_devices));
        let mut seats = vec![Seat::ours(case, &shapes)?];
        if peer.missing.is_none() {
            match Seat::mxnet(&args.python, case, &shapes) {
                Ok(seat) => {
                    peer.name.clone_from(&seat.name);
                    seats.push(seat);
                }
                Err(error) => {
                    let hint = "give --python PATH of a Python 3.11 with mxnet==1.9.1 and numpy==1.23.5";
                    peer.missing = Some(format!("{hint} ({error:#})"));
                }
            }
        }
        for call in [Call::PushPull, Call::Pushpull] {
            let budget = Budget::share(args.seconds, 2 * cases.len());
            let mut contestants: Vec<Contestant<'_>> = seats
                .iter_mut()
                .map(|seat| Contestant::new(seat.name.clone(), || seat.seconds_per_step(call, args.steps)))
                .collect();
            let measured = interleave(&mut contestants, budget, &progress)?;
            section.row(row(case, call, gradients::n_bytes(&shapes), &measured));
        }
        progress.case_done();
    }
    let title = format!(
        "Key-value stores, gradients of {} ({} arrays, {:.0} MB per device)",
        args.network,
        shapes.len(),
        gradients::n_bytes(&shapes) as f64 / 1e6
    );
    let sections = vec![section];
    Ok(Report { title, machine: Machine::this(), peers: vec![peer], sections, notes: notes(args) })
}

fn section() -> Section {
    Section::new(
        "steps",
        "Seconds of a step in which every device pushes all arrays and pulls their sums (median, ± half the distance of \
         the quartiles)",
        &[
            ("store", "store"),
            ("devices", "devices"),
            ("calls", "calls"),
            ("mxrs_s", "mxrs, s"),
            ("mxnet_s", "MXNet, s"),
            ("mxrs_gbs", "mxrs, GB/s"),
            ("mxnet_gbs", "MXNet, GB/s"),
            ("ratio", "MXNet / mxrs"),
            ("rounds", "rounds"),
        ],
    )
}

fn row(case: &Case, call: Call, n_bytes: usize, measured: &[Vec<f64>]) -> Vec<Cell> {
    let empty = Vec::new();
    let (ours, mxnet) = (&measured[0], measured.get(1).unwrap_or(&empty));
    let ratio = Summary::of_ratios(mxnet, ours);
    let (ours, mxnet) = (Summary::of(ours), Summary::of(mxnet));
    let moved = (2 * case.n_devices * n_bytes) as f64 / 1e9;
    let speed = |seconds: Option<Summary>| seconds.map(|seconds| moved / seconds.median);
    vec![
        Cell::text(case.store.clone()),
        Cell::Number(case.n_devices as f64, 0),
        Cell::text(call.word()),
        Cell::summary(ours, 1.0, 4, ""),
        Cell::summary(mxnet, 1.0, 4, "not found"),
        Cell::number(speed(ours), 1, ""),
        Cell::number(speed(mxnet), 1, ""),
        Cell::summary(ratio, 1.0, 2, ""),
        Cell::Number(ours.map_or(0, |s| s.n) as f64, 0),
    ]
}

fn notes(args: &Args) -> Vec<String> {
    vec![
        format!(
            "All devices are CPU contexts. A round is {} steps; mxrs and MXNet take turns, each in a process of its own, with \
             its default settings. Both check their sums.",
            args.steps
        ),
        "MXNet / mxrs is the median of the ratios of neighboring rounds.".into(),
        "GB/s counts the bytes that devices push and pull, not those that a store reads and writes for it.".into(),
    ]
}
