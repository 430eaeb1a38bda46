//! Statistics of tensors while a network trains: outputs of nodes, parameters, gradients, auxiliary states.

use crate::metric::View;
use mxrs_exec::Executor;
use mxrs_ndarray::{NdArray, Reading};
use mxrs_sync::Mutex;
use mxrs_sync::atomic::{AtomicBool, Ordering};
use mxrs_types::{Device, Error, Result};
use regex::Regex;
use std::sync::Arc;

/// A function that computes one number from the elements of a tensor, such as their root mean square.
pub type Statistic = Arc<dyn Fn(&View<'_>) -> f64 + Send + Sync>;

/// Which tensors are observed, and how often.
#[derive(Clone)]
pub struct MonitorOptions {
    /// Every `interval`-th batch is observed, beginning with the first; 0 means that no batch is observed.
    pub interval: u64,
    /// The statistic of each tensor. The default is the norm divided by the square root of the number of elements.
    pub statistic: Statistic,
    /// Regular expression that the beginning of a tensor's name must match. The default matches all.
    pub pattern: String,
    /// Whether the lines are sorted by name.
    pub sort: bool,
    /// Whether inputs of nodes are observed too.
    pub monitor_all: bool,
    /// Whether every batch is observed, and the first tensor with an element that is not finite ends the training.
    pub monitor_nan: bool,
}

impl MonitorOptions {
    /// Options that print the norm of every tensor every `interval` batches; 0 means never.
    pub fn new(interval: u64) -> Self {
        let statistic = |view: &View<'_>| (view.iter().map(|v| v * v).sum::<f64>() / view.len() as f64).sqrt();
        Self {
            interval,
            statistic: Arc::new(statistic),
            pattern: ".*".into(),
            sort: false,
            monitor_all: false,
            monitor_nan: false,
        }
    }
}

/// One observed tensor.
struct Seen {
    step: u64,
    name: String,
    device: Device,
    /// The statistic, and whether every element is finite.
    value: Reading<Result<(f64, bool)>>,
}

/// What the executor's callback shares with the monitor.
struct Shared {
    seen: Mutex<Vec<Seen>>,
    is_active: AtomicBool,
    step: mxrs_sync::atomic::AtomicU64,
    /// The first error that occurred when the callback started to read a tensor.
    failure: Mutex<Option<Error>>,
}

/// Prints a line `Batch:       1 fc1_output                     0.123456` for each tensor whose name matches. The executor
/// runs an observed batch node by node.
pub struct Monitor {
    options: MonitorOptions,
    pattern: Regex,
    shared: Arc<Shared>,
    step: u64,
}

impl Monitor {
    /// A monitor with these options.
    ///
    /// # Errors
    /// Returns an error if the pattern is not a regular expression.
    pub fn new(options: MonitorOptions) -> Result<Self> {
        let pattern = Regex::new(&format!("^(?:{})", options.pattern)).map_err(|e| {
            Error::invalid("pattern of a monitor", &options.pattern, format!("a regular expression: {e}"))
        })?;
        let shared = Shared {
            seen: Mutex::new(Vec::new()),
            is_active: AtomicBool::new(false),
            step: mxrs_sync::atomic::AtomicU64::new(0),
            failure: Mutex::new(None),
        };
        Ok(Self { options, pattern, shared: Arc::new(shared), step: 0 })
    }

    /// Whether the statistics of the batch that comes after `n_before` batches are printed.
    fn prints(&self, n_before: u64) -> bool {
        self.options.interval > 0 && n_before.is_multiple_of(self.options.interval)
    }

    fn start(name: &str, array: &NdArray, step: u64, statistic: &Statistic) -> Result<Seen> {
        let (shape, dtype, statistic) = (array.shape().clone(), array.dtype(), statistic.clone());
        let value = NdArray::read_later(&[array], move |bytes| {
            let n = shape.first().copied().unwrap_or(1);
            let view = View::new(&shape, dtype, bytes.first().unwrap_or(&&[][..]), n)?;
            Ok((statistic(&view), view.iter().all(f64::is_finite)))
        })?;
        Ok(Seen { step, name: name.to_owned(), device: array.device(), value })
    }

    /// Begins a batch that `executor` will run. Call it before `forward`.
    pub fn tic(&mut self, executor: &Executor) {
        self.tic_all(&[executor]);
    }

    /// Begins a batch whose parts these executors will run, each on its own context.
    pub fn tic_all(&mut self, executors: &[&Executor]) {
        if self.options.monitor_nan || self.prints(self.step) {
            self.shared.seen.lock().clear();
            self.shared.is_active.store(true, Ordering::Relaxed);
            executors.iter().for_each(|executor| self.watch(executor));
        }
        self.step += 1;
        self.shared.step.store(self.step, Ordering::Relaxed);
    }

    /// Lets an executor report its tensors.
    fn watch(&self, executor: &Executor) {
        let (shared, pattern, statistic) = (self.shared.clone(), self.pattern.clone(), self.options.statistic.clone());
        executor.set_monitor(
            move |monitored| {
                if !shared.is_active.load(Ordering::Relaxed) || !pattern.is_match(monitored.name) {
                    return;
                }
                let step = shared.step.load(Ordering::Relaxed);
                match Self::start(monitored.name, monitored.array, step, &statistic) {
                    Ok(seen) => shared.seen.lock().push(seen),
                    Err(error) => drop(shared.failure.lock().get_or_insert(error)),
                }
            },
            self.options.monitor_all,
        );
    }

    /// Ends the batch and returns batch number (from 1), name and statistic of each observed tensor. Parameters, gradients
    /// (`<name>_grad`) and auxiliary states come last. The result is empty if the batch was not observed.
    ///
    /// # Errors
    /// Returns an error if a tensor could not be computed; with [`MonitorOptions::monitor_nan`], also if a tensor is not
    /// finite.
    pub fn toc(&mut self, executor: &Executor) -> Result<Vec<(u64, String, f64)>> {
        self.toc_all(&[executor])
    }

    /// [`toc`](Self::toc) for a batch that began with [`tic_all`](Self::tic_all). Every tensor occurs once for each executor,
    /// in the order of the executors.
    ///
    /// # Errors
    /// Fails as [`toc`](Self::toc) does. Of several executors, the error of a tensor names the device.
    pub fn toc_all(&mut self, executors: &[&Executor]) -> Result<Vec<(u64, String, f64)>> {
        if !self.shared.is_active.swap(false, Ordering::Relaxed) {
            return Ok(Vec::new());
        }
        executors.iter().for_each(|executor| executor.remove_monitor());
        let mut seen = std::mem::take(&mut *self.shared.seen.lock());
        if let Some(error) = self.shared.failure.lock().take() {
            return Err(error);
        }
        for executor in executors {
            let gradients =
                executor.gradients().iter().map(|gradient| (format!("{}_grad", gradient.name), &gradient.array));
            let arrays = executor.arrays().iter().map(|(name, array)| (name.clone(), array));
            for (name, array) in arrays.chain(gradients).filter(|(name, _)| self.pattern.is_match(name)) {
                seen.push(Self::start(&name, array, self.step, &self.options.statistic)?);
            }
        }
        let mut values = Vec::with_capacity(seen.len());
        let mut first_bad = None;
        for Seen { step, name, device, value } in seen {
            let (value, is_finite) = value.wait()??;
            if !is_finite && first_bad.is_none() {
                let place = if executors.len() > 1 { format!(" on {device}") } else { String::new() };
                first_bad = Some(format!("`{name}`{place}"));
            }
            values.push((step, name, value));
        }
        if let Some(name) = first_bad.filter(|_| self.options.monitor_nan) {
            let what = format!("tensor {name} of batch {}", self.step);
            return Err(Error::invalid(what, "an element that is not finite", "finite numbers"));
        }
        if !self.options.monitor_nan || self.prints(self.step - 1) {
            if self.options.sort {
                values.sort_by(|a, b| a.1.cmp(&b.1));
            }
            return Ok(values);
        }
        Ok(Vec::new())
    }

    /// Ends the batch and prints the observed statistics.
    ///
    /// # Errors
    /// Fails as [`Self::toc`] does.
    pub fn toc_print(&mut self, executor: &Executor) -> Result<()> {
        self.toc_print_all(&[executor])
    }

    /// Ends a batch that began with [`tic_all`](Self::tic_all) and prints the observed statistics.
    ///
    /// # Errors
    /// Fails as [`Self::toc_all`] does.
    pub fn toc_print_all(&mut self, executors: &[&Executor]) -> Result<()> {
        for (step, name, value) in self.toc_all(executors)? {
            tracing::info!("Batch: {step:7} {name:30} {}\t", python(value as f32));
        }
        Ok(())
    }
}

/// A float as NumPy's `str` writes a float32.
fn python(value: f32) -> String {
    let size = value.abs();
    if value.is_nan() {
        "nan".into()
    } else if value.is_infinite() {
        if value > 0.0 { "inf".into() } else { "-inf".into() }
    } else if size == 0.0 || (1e-4..1e16).contains(&size) {
        format!("{value:?}")
    } else {
        let text = format!("{value:e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, digits) = exponent.strip_prefix('-').map_or(("+", exponent), |digits| ("-", digits));
        format!("{mantissa}e{sign}{digits:0>2}")
    }
}

#[cfg(test)]
mod tests {
    use super::python;

    #[test]
    fn numbers_are_written_as_numpy_does() {
        let expected = [(0.5, "0.5"), (1.0, "1.0"), (0.1, "0.1"), (1e-5, "1e-05"), (1.5e-10, "1.5e-10"), (0.0, "0.0")];
        for (value, text) in expected {
            assert_eq!(python(value), text);
        }
        assert_eq!(
            (python(2e20), python(f32::NAN), python(f32::NEG_INFINITY)),
            ("2e+20".into(), "nan".into(), "-inf".into())
        );
    }
}
