//! The output of `bandwidth`: a log line for each round in MXNet's format, a table, and JSON.

use super::ELEMENT_BYTES;
use crate::terminal;
use mxrs::kvstore::bandwidth::Rounds;
use serde::Serialize;
use std::time::Duration;

/// The times of the rounds of one measurement.
#[derive(Serialize)]
struct Speed {
    /// Median, shortest and longest time of the rounds.
    seconds: [f64; 3],
    /// The number of bytes that each worker must at least send and receive to sum the arrays, divided by the median time.
    bus_gb_per_s: f64,
}

impl Speed {
    fn new(times: &[Duration], bus_bytes: f64) -> Option<Self> {
        let mut sorted: Vec<f64> = times.iter().map(Duration::as_secs_f64).collect();
        sorted.sort_by(f64::total_cmp);
        let seconds = [*sorted.get(sorted.len() / 2)?, *sorted.first()?, *sorted.last()?];
        Some(Self { seconds, bus_gb_per_s: bus_bytes / seconds[0].max(1e-9) * 1e-9 })
    }

    fn cells(&self) -> [String; 3] {
        let [median, least, most] = self.seconds.map(|seconds| seconds * 1e3);
        [format!("{median:.3}"), format!("{least:.3} to {most:.3}"), format!("{:.2}", self.bus_gb_per_s)]
    }
}

/// One measurement.
#[derive(Serialize)]
pub struct Case {
    keys: usize,
    bytes: usize,
    store: Option<Speed>,
    /// Median time from the start of a round until the sum of the first key is there, in seconds.
    first_s: Option<f64>,
    /// The times of the MPI library's all-reduce on one array of the same total size.
    mpi_allreduce: Option<Speed>,
    /// The bandwidth of the store divided by that of the MPI library.
    ratio: Option<f64>,
    /// The relative difference of the computed sums from the expected ones.
    error: f64,
}

/// The number of bytes that each of `n` workers must at least send, and also receive, to sum arrays of this many bytes.
fn bus_bytes(bytes: usize, n_workers: usize) -> f64 {
    let n = n_workers as f64;
    bytes as f64 * 2.0 * (n - 1.0) / n
}

impl Case {
    /// The measurement of keys with these numbers of elements, from the times of its rounds.
    pub fn new(sizes: &[usize], n_workers: usize, rounds: &Rounds) -> Self {
        let bytes = ELEMENT_BYTES * sizes.iter().sum::<usize>();
        let speed = |times: &[Duration]| Speed::new(times, bus_bytes(bytes, n_workers));
        let (store, mpi_allreduce) = (speed(&rounds.store), speed(&rounds.transport));
        let ratio = store.as_ref().zip(mpi_allreduce.as_ref());
        let ratio = ratio.map(|(store, peer)| peer.seconds[0] / store.seconds[0].max(1e-9));
        let first_s = speed(&rounds.first).map(|first| first.seconds[0]);
        Self { keys: sizes.len(), bytes, store, first_s, mpi_allreduce, ratio, error: rounds.error }
    }

    /// Logs each round, as MXNet's program does.
    pub fn log(&self, rounds: &Rounds, n_workers: usize) {
        tracing::info!("num of arrays = {}, total size = {:.6} MB", self.keys, self.bytes as f64 * 1e-6);
        for (i, time) in rounds.store.iter().enumerate() {
            let seconds = time.as_secs_f64();
            let speed = bus_bytes(self.bytes, n_workers) / seconds.max(1e-9) * 1e-9;
            tracing::info!("iter {}, {seconds:.6} sec, {speed:.6} GB/sec per worker, error {:.6}", i + 1, self.error);
        }
    }
}

/// All measurements.
#[derive(Serialize)]
pub struct Report {
    mxrs: &'static str,
    kv_store: String,
    workers: usize,
    /// The number of physical cores of the machine on which this worker runs.
    processors: usize,
    compression: String,
    rounds: u32,
    cases: Vec<Case>,
}

impl Report {
    /// An empty report.
    pub fn new(kv_store: &str, workers: usize, compression: &str, rounds: u32) -> Self {
        let (kv_store, compression) = (kv_store.to_owned(), compression.to_owned());
        let (mxrs, processors) = (env!("CARGO_PKG_VERSION"), mxrs_sync::physical_cores());
        Self { mxrs, kv_store, workers, processors, compression, rounds, cases: Vec::new() }
    }

    /// Adds a measurement.
    pub fn add(&mut self, case: Case) {
        self.cases.push(case);
    }

    /// The table.
    pub fn table(&self) -> String {
        let headings = [
            "keys",
            "MB",
            "ms",
            "from, to",
            "bus GB/s",
            "first key ms",
            "MPI_Allreduce ms",
            "from, to",
            "bus GB/s",
            "ratio",
            "error",
        ];
        let mut table = terminal::table(&headings);
        let none = || ["-", "-", "-"].map(str::to_owned);
        for case in &self.cases {
            let mut row = vec![case.keys.to_string(), format!("{:.3}", case.bytes as f64 * 1e-6)];
            row.extend(case.store.as_ref().map_or_else(none, Speed::cells));
            row.push(case.first_s.map_or("-".to_owned(), |first| format!("{:.3}", first * 1e3)));
            row.extend(case.mpi_allreduce.as_ref().map_or_else(none, Speed::cells));
            row.push(case.ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}")));
            row.push(format!("{:.6}", case.error));
            table.add_row(row);
        }
        table.column_iter_mut().for_each(|column| column.set_cell_alignment(comfy_table::CellAlignment::Right));
        format!("{}, {} workers, median of {} rounds\n{table}\n", self.kv_store, self.workers, self.rounds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bandwidth_is_that_of_the_bus() {
        let ms = |n| Duration::from_millis(n);
        let store = vec![ms(30), ms(10), ms(20)];
        let rounds = Rounds { store, first: vec![ms(5)], transport: vec![ms(10)], error: 0.0 };
        // Of 4 workers, each sends 3/4 of 80 MB to the others, and gets 3/4 of the sums: 120 MB in 20 ms.
        let case = Case::new(&[10_000_000; 2], 4, &rounds);
        let store = case.store.as_ref().unwrap();
        assert_eq!((store.seconds, case.ratio), ([0.02, 0.01, 0.03], Some(0.5)));
        assert!((store.bus_gb_per_s - 6.0).abs() < 1e-9);
        let mut report = Report::new("dist_sync", 4, "none", 3);
        report.add(case);
        report.add(Case::new(&[1], 4, &Rounds { store: vec![ms(1)], ..Rounds::default() }));
        let table = report.table();
        assert!(table.contains("10.000 to 30.000") && table.contains("6.00") && table.contains("0.50"), "{table}");
    }
}
