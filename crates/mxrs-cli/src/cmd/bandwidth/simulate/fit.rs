//! The costs of messages, fitted to measurements.

use crate::exit::{Failure, Outcome};
use mxrs::kvstore::dist::{Machine, SimulatedKey, SimulatedStore, simulate};
use mxrs::types::{Error, Result};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// If the keys of an exchange have more bytes than this together, its arrays do not stay in the caches of a core: values,
/// stored sums and results together take three times as many bytes.
const NEAR_BYTES: usize = 6 << 20;
/// The factors by which the fit changes a cost, from coarse to fine.
const FACTORS: [f64; 6] = [2.0, 1.4, 1.15, 1.05, 1.02, 1.007];

/// The costs of messages within one machine, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    message: f64,
    key: f64,
    step: f64,
    /// The time to switch to another thread, for each piece of work if there are more threads than processors.
    switch: f64,
    /// The times to copy a byte and to add a byte, if it is in the caches.
    near: [f64; 2],
    /// The times to copy a byte and to add a byte, if it is not in the caches.
    far: [f64; 2],
}

impl Default for Costs {
    /// Costs fitted to measurements of two and four workers on two cores of a Xeon with AMX, with Open MPI 4.1.4.
    fn default() -> Self {
        let (near, far) = ([1.54e-10, 0.51e-10], [2.67e-10, 0.92e-10]);
        Self { message: 4e-6, key: 9.6e-6, step: 0.4e-6, switch: 2.6e-9, near, far }
    }
}

impl Costs {
    /// The machine with these costs, for exchanges of this many bytes. `processors` is the number of processors that the
    /// threads of all workers share; `None` if each worker has a processor of its own.
    pub fn machine(&self, bytes: usize, processors: Option<usize>) -> Machine {
        let [copy, add] = if bytes > NEAR_BYTES { self.far } else { self.near };
        Machine {
            latency_s: 0.0,
            link_s_per_byte: 0.0,
            eager_bytes: usize::MAX,
            message_s: self.message,
            copy_s_per_byte: copy,
            add_s_per_byte: add,
            key_s: self.key,
            step_s: self.step,
            switch_s: self.switch,
            processors,
        }
    }

    fn values(&mut self) -> [&mut f64; 8] {
        let ([near_copy, near_add], [far_copy, far_add]) = (&mut self.near, &mut self.far);
        [&mut self.message, &mut self.key, &mut self.step, &mut self.switch, near_copy, near_add, far_copy, far_add]
    }
}

/// One measurement.
#[derive(Clone, Debug)]
pub struct Measured {
    pub kv_store: String,
    pub workers: usize,
    pub keys: usize,
    pub bytes: usize,
    pub seconds: f64,
    /// The time that the model predicts with the fitted costs, in seconds.
    pub predicted: f64,
    /// Whether the costs were fitted to this measurement.
    pub is_fitted: bool,
}

/// The costs, with all measurements.
pub struct Fitted {
    pub costs: Costs,
    pub all: Vec<Measured>,
}

#[derive(Deserialize)]
struct Report {
    kv_store: String,
    workers: usize,
    #[serde(default = "one")]
    processors: usize,
    cases: Vec<Case>,
}

fn one() -> usize {
    1
}

#[derive(Deserialize)]
struct Case {
    keys: usize,
    bytes: usize,
    store: Option<Speed>,
}

#[derive(Deserialize)]
struct Speed {
    seconds: [f64; 3],
}

/// Fits the costs to all reports except those with the largest number of workers, and predicts the times of all reports.
///
/// # Errors
/// [`Failure::Input`] if a file is not a report, or if there is no measurement of at least two workers.
pub fn fit(paths: &[PathBuf]) -> Outcome<Fitted> {
    let mut all = Vec::new();
    let mut processors = usize::MAX;
    for path in paths {
        let report = read(path).map_err(Failure::Input)?;
        processors = processors.min(report.processors.max(1));
        let of = |case: &Case| {
            let seconds = case.store.as_ref()?.seconds[0];
            let (kv_store, workers) = (report.kv_store.clone(), report.workers);
            let is_usable = seconds > 0.0 && case.keys > 0 && workers > 1;
            let measured = Measured {
                kv_store,
                workers,
                keys: case.keys,
                bytes: case.bytes,
                seconds,
                predicted: 0.0,
                is_fitted: false,
            };
            is_usable.then_some(measured)
        };
        all.extend(report.cases.iter().filter_map(of));
    }
    let numbers = all.iter().map(|measured| measured.workers);
    let Some((fewest, most)) = numbers.clone().min().zip(numbers.max()) else {
        let error = Error::invalid("--measured", "no measurement of several workers", "reports of `mxrs bandwidth`");
        return Err(Failure::Input(error));
    };
    let is_fitted = |measured: &Measured| measured.workers < most || fewest == most;
    all.iter_mut().for_each(|measured| measured.is_fitted = is_fitted(measured));
    let used: Vec<Measured> = all.iter().filter(|measured| measured.is_fitted).cloned().collect();
    let mut costs = Costs::default();
    let loss = |costs: &Costs| -> Result<f64> {
        let errors =
            used.iter().map(|measured| Ok((predict(costs, measured, processors)? / measured.seconds).ln().powi(2)));
        errors.sum()
    };
    let mut best = loss(&costs).map_err(Failure::Run)?;
    for factor in FACTORS {
        loop {
            let before = best;
            for (i, j) in pairs() {
                for factor in [factor, 1.0 / factor] {
                    let mut changed = costs;
                    *changed.values()[i] *= factor;
                    // A larger cost can compensate for a smaller one. So changing each cost alone may find no improvement
                    // although a pair does.
                    if let Some(j) = j {
                        *changed.values()[j] /= factor;
                    }
                    let is = loss(&changed).map_err(Failure::Run)?;
                    if is < best {
                        (costs, best) = (changed, is);
                    }
                }
            }
            if best >= before * 0.998 {
                break;
            }
        }
    }
    for measured in &mut all {
        measured.predicted = predict(&costs, measured, processors).map_err(Failure::Run)?;
    }
    Ok(Fitted { costs, all })
}

/// The costs that the fit changes together: each cost alone, and each pair of costs.
fn pairs() -> impl Iterator<Item = (usize, Option<usize>)> {
    let n = Costs::default().values().len();
    let alone = (0..n).map(|i| (i, None));
    alone.chain((0..n).flat_map(move |i| (0..i).map(move |j| (i, Some(j)))))
}

fn read(path: &Path) -> Result<Report> {
    let text = std::fs::read_to_string(path).map_err(|error| Error::io(path, &error))?;
    // `mxrs launch` writes a mark such as `[worker 0 12:00:00.000] ` before each line of a worker. The marks are removed
    // here.
    let unmarked = |line: &str| match line.split_once("] ") {
        Some((mark, rest)) if mark.starts_with("[worker ") => rest.to_owned(),
        _ => line.to_owned(),
    };
    let text: String = text.lines().map(unmarked).collect::<Vec<_>>().join("\n");
    serde_json::from_str(&text).map_err(|error| {
        Error::invalid(format!("report {}", path.display()), error, "the output of `mxrs bandwidth --format json`")
    })
}

/// How many seconds the exchange takes by the model.
fn predict(costs: &Costs, measured: &Measured, processors: usize) -> Result<f64> {
    let n_elements = measured.bytes / 4 / measured.keys.max(1);
    let keys = vec![SimulatedKey { n_elements, forward_s: 0.0, backward_s: 0.0 }; measured.keys];
    let slice_elements = (measured.kv_store == "p3").then_some(super::SLICE);
    let store = SimulatedStore { big_array_elements: super::BIG_ARRAY, slice_elements, by_priority: true };
    Ok(simulate(&keys, measured.workers, store, &costs.machine(measured.bytes, Some(processors)))?.seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The measurements of this test are times that the model computes from known costs. The fit, which starts from other
    /// costs, finds costs that predict them.
    #[test]
    fn costs_are_found_again() {
        let truth =
            Costs { message: 9e-6, key: 20e-6, step: 150e-6, switch: 5e-6, near: [2e-10, 1e-10], far: [5e-10, 2e-10] };
        let dir = tempfile::tempdir().unwrap();
        let report = |workers: usize| {
            let case = |keys: usize, bytes: usize| {
                let measured = Measured {
                    kv_store: "dist_sync".into(),
                    workers,
                    keys,
                    bytes,
                    seconds: 0.0,
                    predicted: 0.0,
                    is_fitted: false,
                };
                let seconds = predict(&truth, &measured, 2).unwrap();
                format!(r#"{{"keys":{keys},"bytes":{bytes},"store":{{"seconds":[{seconds},0,0],"bus_gb_per_s":1}}}}"#)
            };
            let cases = [case(1, 1 << 20), case(1, 4 << 20), case(1, 16 << 20), case(1, 64 << 20), case(100, 1 << 20)];
            let text = format!(
                r#"{{"kv_store":"dist_sync","workers":{workers},"processors":2,"cases":[{}]}}"#,
                cases.join(",")
            );
            let path = dir.path().join(format!("{workers}.json"));
            std::fs::write(&path, text.lines().map(|line| format!("[worker 0 1] {line}\n")).collect::<String>())
                .unwrap();
            path
        };
        let fitted = fit(&[report(4), report(2), report(6)]).unwrap_or_else(|failure| panic!("{failure}"));
        assert_eq!(fitted.all.iter().filter(|measured| measured.is_fitted).count(), 10);
        for measured in &fitted.all {
            let error = measured.predicted / measured.seconds - 1.0;
            // The times of six workers, the largest number, are predicted and not fitted, so their error may be larger.
            let bound = if measured.is_fitted { 0.05 } else { 0.1 };
            assert!(error.abs() < bound, "{measured:?}");
        }
    }
}
