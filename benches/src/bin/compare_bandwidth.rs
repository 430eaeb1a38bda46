//! Measures optimizer updates, reductions, softmax and normalization against the bandwidth of memory: `cargo xtask compare
//! bandwidth`.

use anyhow::{Result, ensure};
use clap::Parser;
use mxrs::Runtime;
use mxrs::env::MapSource;
use mxrs_benches::bandwidth::{Arena, Bound, Probe, all};
use mxrs_benches::machine::Machine;
use mxrs_benches::report::{Cell, Format, Report, Section, print_or_fail};
use mxrs_benches::rounds::{Budget, Progress};
use mxrs_benches::summary::Summary;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// How long the bandwidth is measured before each call and after the last.
const PATIENCE: Duration = Duration::from_millis(60);

/// Compares operators with the bandwidth of memory.
#[derive(Parser)]
struct Args {
    /// Seconds to spend in all
    #[arg(long, default_value_t = 60.0)]
    seconds: f64,
    /// MB of the largest tensor of each call, if its elements have 4 bytes
    #[arg(long, default_value_t = 100.0)]
    megabytes: f64,
    /// Only operators whose names contain one of these texts
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Has no effect: the threads of a runtime are tied to CPUs by its settings
    #[arg(long)]
    pin: bool,
    /// How the report is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

fn main() -> ExitCode {
    let args = Args::parse();
    print_or_fail(report(&args).map(|report| report.render(args.format)))
}

fn report(args: &Args) -> Result<Report> {
    ensure!((0.01..=4000.0).contains(&args.megabytes), "--megabytes {}: expected 0.01 to 4000", args.megabytes);
    let runtime = Runtime::builder().env(&MapSource::new([("", ""); 0])).build()?;
    let mut cases = all(runtime.ops(), (args.megabytes * 1e6 / 4.0) as usize)?;
    if !args.only.is_empty() {
        cases.retain(|case| args.only.iter().any(|text| case.op.contains(text.as_str())));
    }
    ensure!(!cases.is_empty(), "--only {}: no operator has such a name", args.only.join(","));
    let progress = Progress::new(cases.len());
    let budget = Budget::share(args.seconds, cases.len());
    let patience = if args.seconds < 1.0 { Duration::ZERO } else { PATIENCE };
    let (mut arena, mut probe, backends) = (Arena::default(), Probe::new()?, runtime.backends().list());
    // Other programs on the machine use the memory too, so the bandwidth is measured again between the calls.
    let mut peaks = vec![probe.measure(runtime.team(), patience)];
    let mut measured = Vec::new();
    for case in &cases {
        progress.case(&format!("{} {}", case.op, case.what));
        let times = match Bound::new(runtime.ops(), &backends, case, &mut arena) {
            Ok(bound) => {
                bound.run(runtime.team(), &mut arena)?;
                let started = Instant::now();
                let mut times = Vec::new();
                while times.len() < budget.min_rounds || started.elapsed() < budget.time {
                    times.push(bound.run(runtime.team(), &mut arena)?);
                }
                Ok((bound.kernel().to_owned(), bound.bytes(), times))
            }
            Err(error) => Err(error),
        };
        measured.push(times);
        peaks.push(probe.measure(runtime.team(), patience));
        progress.case_done();
    }
    let mut section = Section::new(
        "calls",
        "Bytes per second of each call",
        &[
            ("operator", "operator"),
            ("call", "call"),
            ("kernel", "kernel"),
            ("megabytes", "MB"),
            ("milliseconds", "ms"),
            ("gbs", "GB/s"),
            ("probe_gbs", "probe, GB/s"),
            ("share", "share"),
            ("rounds", "rounds"),
        ],
    );
    for ((case, measured), peaks) in cases.iter().zip(measured).zip(peaks.windows(2)) {
        let peak = peaks[0].max(peaks[1]);
        let name = [Cell::text(&case.op), Cell::text(&case.what)];
        let rest = match measured {
            Ok((kernel, bytes, times)) => {
                let best = Summary::of(&times).map(|summary| summary.min);
                let speed = best.map(|best| bytes as f64 / best);
                vec![
                    Cell::text(kernel),
                    Cell::Number(bytes as f64 / 1e6, 1),
                    Cell::summary(Summary::of(&times), 1e-3, 2, ""),
                    Cell::number(speed.map(|speed| speed / 1e9), 1, ""),
                    Cell::Number(peak / 1e9, 1),
                    Cell::number(speed.map(|speed| speed / peak), 2, ""),
                    Cell::Number(times.len() as f64, 0),
                ]
            }
            Err(error) => {
                let mut absent = vec![Cell::Absent(format!("{error:#}"))];
                absent.extend((0..6).map(|_| Cell::Absent(String::new())));
                absent
            }
        };
        section.row(name.into_iter().chain(rest).collect());
    }
    Ok(Report {
        title: "Operators and the bandwidth of memory".into(),
        machine: Machine::this(),
        peers: Vec::new(),
        sections: vec![section],
        notes: vec![
            format!(
                "Probe: the bandwidth of memory by the loop a[i] = b[i] + s c[i] on {} threads, before and after the call; the \
                 larger one. Arrays and tensors lie on huge pages, as arrays of a program do.",
                runtime.team().size()
            ),
            "MB: each tensor that is read, and each that is written, once; a tensor updated in place counts twice. GB/s and \
             share: of the fastest round. ms: the median."
                .into(),
        ],
    })
}
