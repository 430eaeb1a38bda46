//! Profiles a command: starts the profiler of the process before it, and afterwards writes the files and prints a summary.

use crate::exit::{Failure, Outcome, expect_writable};
use crate::{start, terminal};
use mxrs::env::Settings;
use mxrs::profiler::{Config, Costs, Peaks, Profiler, State, process};
use mxrs::settings;
use mxrs_processor::{peak_bandwidth, peak_flops};
use mxrs_sync::{Team, physical_cores};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long each peak of the machine is measured.
const PATIENCE: Duration = Duration::from_millis(300);
/// The number of operators in the printed table.
const ROWS: usize = 12;

/// What is recorded and which files are written.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The settings of the profiler, without the peaks of the machine.
    pub config: Config,
    /// A file for the summary as JSON.
    pub json: Option<PathBuf>,
}

impl Wanted {
    /// Records everything that MXNet's profiler records (`profile_all`), and writes it to this trace.
    pub fn all(trace: &Path) -> Self {
        let filename = trace.to_owned();
        let config = Config { filename, profile_all: true, aggregate_stats: true, ..Config::default() };
        Self { config, json: None }
    }

    /// The files of one of several workers. Their names begin with `rank0_`, `rank1_` and so on, as in MXNet's examples, so that
    /// `mxrs profile merge` can merge the traces.
    fn of_rank(&self, rank: usize) -> Self {
        let of = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            path.with_file_name(format!("rank{rank}_{name}"))
        };
        let config = Config {
            filename: of(&self.config.filename),
            report: self.config.report.as_ref().map(of),
            perfetto: self.config.perfetto.as_ref().map(of),
            folded: self.config.folded.as_ref().map(of),
            memory_csv_prefix: self.config.memory_csv_prefix.as_ref().map(of),
            ..self.config.clone()
        };
        Self { config, json: self.json.as_ref().map(of) }
    }
}

/// The number of this process, if a launcher has started several workers.
fn rank() -> Outcome<Option<usize>> {
    let (settings, _) = Settings::from_snapshot(&start::snapshot(None)?)?;
    let place = settings.place().filter(|place| place.size.is_some_and(|size| size > 1));
    Ok(place.map(|place| place.rank))
}

/// One operator in the summary.
#[derive(Serialize)]
struct Row {
    operator: &'static str,
    calls: u64,
    total_ms: f64,
    /// This operator's part of the time of all operators.
    share_of_time: f64,
    mean_us: f64,
    gflop_per_s: f64,
    gbyte_per_s: f64,
    /// The least time that the machine would need for the operator at its peaks, divided by the measured time.
    share_of_peak: f64,
    /// What limits the operator's speed: `compute`, `memory` or `overhead`.
    limit: String,
}

/// The summary.
#[derive(Serialize)]
struct Summary {
    trace: PathBuf,
    report: Option<PathBuf>,
    dropped_records: u64,
    peak_gflop_per_s: f64,
    peak_gbyte_per_s: f64,
    operators: Vec<Row>,
}

/// Runs a command, and profiles it if that is wanted. The files are written even if the command fails.
///
/// # Errors
/// Returns the error of the command; otherwise fails if a file cannot be written.
pub fn profiled(wanted: Option<&Wanted>, command: impl FnOnce() -> Outcome) -> Outcome {
    let Some(wanted) = wanted else { return command() };
    let wanted = &rank()?.map_or_else(|| wanted.clone(), |rank| wanted.of_rank(rank));
    // The machine's peaks are measured before and after the command, because other programs may slow down one measurement.
    let before = peaks()?;
    let profiler = begin(wanted)?;
    let outcome = command();
    let finished = finish(profiler, wanted, before);
    outcome.and(finished)
}

/// The machine's peaks, measured with a team of threads like that of the command's runtime. No runtime is made for this,
/// because making one would log the warnings of the settings again.
fn peaks() -> Outcome<Peaks> {
    let (settings, _) = Settings::from_snapshot(&start::snapshot(None)?)?;
    // The runtime of the command logs the warning that this returns.
    settings::limit_instructions(&settings)?;
    let topology = settings::topology(&settings);
    let team = Team::new(settings::team(&settings, physical_cores(), topology.as_ref()))?;
    Ok(Peaks { flops_per_s: peak_flops(&team, PATIENCE), bytes_per_s: peak_bandwidth(&team, PATIENCE) })
}

fn begin(wanted: &Wanted) -> Outcome<&'static Profiler> {
    let Config { report, folded, .. } = &wanted.config;
    [report, folded, &wanted.json].into_iter().flatten().try_for_each(|path| expect_writable(path))?;
    let profiler = process()?;
    profiler.set_config(wanted.config.clone())?;
    profiler.set_state(State::Run)?;
    Ok(profiler)
}

fn finish(profiler: &Profiler, wanted: &Wanted, before: Peaks) -> Outcome {
    profiler.set_state(State::Stop)?;
    let after = peaks()?;
    let peaks = Peaks {
        flops_per_s: before.flops_per_s.max(after.flops_per_s),
        bytes_per_s: before.bytes_per_s.max(after.bytes_per_s),
    };
    profiler.set_config(Config { peaks: Some(peaks), ..profiler.config() })?;
    let summary = Summary {
        trace: profiler.trace_path().unwrap_or_else(|| wanted.config.filename.clone()),
        report: wanted.config.report.clone(),
        dropped_records: profiler.n_dropped(),
        peak_gflop_per_s: peaks.flops_per_s * 1e-9,
        peak_gbyte_per_s: peaks.bytes_per_s * 1e-9,
        operators: rows(&profiler.costs(), peaks),
    };
    profiler.dump(true)?;
    if let Some(path) = &wanted.json {
        mxrs::format::write_atomically(path, |sink| {
            std::io::Write::write_all(sink, terminal::json(&summary).as_bytes())
                .map_err(|error| mxrs::Error::io(path, &error))
        })
        .map_err(Failure::Run)?;
    }
    terminal::print(&text(&summary))
}

fn rows(costs: &[(&'static str, Costs)], peaks: Peaks) -> Vec<Row> {
    let all: u64 = costs.iter().map(|(_, costs)| costs.ns).sum();
    let row = |(operator, costs): &(&'static str, Costs)| {
        let ns = costs.ns.max(1) as f64;
        let (share_of_peak, limit) = costs.share(peaks);
        Row {
            operator,
            calls: costs.n_calls,
            total_ms: ns * 1e-6,
            share_of_time: ns / all.max(1) as f64,
            mean_us: ns * 1e-3 / costs.n_calls.max(1) as f64,
            gflop_per_s: costs.flops / ns,
            gbyte_per_s: costs.bytes / ns,
            share_of_peak,
            limit: limit.to_string(),
        }
    };
    costs.iter().map(row).collect()
}

fn text(summary: &Summary) -> String {
    let headings = ["operator", "calls", "total ms", "time", "mean us", "GFLOP/s", "GB/s", "of peak", "limited by"];
    let mut table = terminal::table(&headings);
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    for row in summary.operators.iter().take(ROWS) {
        table.add_row([
            row.operator.to_owned(),
            row.calls.to_string(),
            format!("{:.3}", row.total_ms),
            percent(row.share_of_time),
            format!("{:.1}", row.mean_us),
            format!("{:.1}", row.gflop_per_s),
            format!("{:.1}", row.gbyte_per_s),
            percent(row.share_of_peak),
            row.limit.clone(),
        ]);
    }
    table
        .column_iter_mut()
        .skip(1)
        .take(7)
        .for_each(|column| column.set_cell_alignment(comfy_table::CellAlignment::Right));
    let mut text = match summary.operators.is_empty() {
        true => "no operator was recorded\n".to_owned(),
        false => format!("{table}\n"),
    };
    if let Some(more) = summary.operators.len().checked_sub(ROWS).filter(|more| *more > 0) {
        text += &format!("{more} more operators are in the trace\n");
    }
    text += &format!(
        "peak of this machine: {:.0} GFLOP/s, {:.1} GB/s\n",
        summary.peak_gflop_per_s, summary.peak_gbyte_per_s
    );
    if summary.dropped_records > 0 {
        text += &format!("{} records were dropped, because they were made too fast\n", summary.dropped_records);
    }
    text += &format!("trace: {} (open it in https://ui.perfetto.dev or chrome://tracing)\n", summary.trace.display());
    if let Some(report) = &summary.report {
        text += &format!("report: {} (open it in a browser)\n", report.display());
    }
    text
}
