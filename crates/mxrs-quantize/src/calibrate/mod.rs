//! Calibration: runs the float network on examples and collects the ranges of all values that will be quantized.

mod collect;
pub mod entropy;
pub mod histogram;

use crate::table::CalibrationTable;
use crate::{CalibMode, QuantizedDType};
use collect::Collector;
use indexmap::IndexMap;
use mxrs_exec::{BindOptions, Executor};
use mxrs_format::Tensor;
use mxrs_graph::{Graph, select_outputs};
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_sync::{Arc, Mutex};
use mxrs_types::{Error, Result, ResultExt, Shape};

/// Runs a float network on batches and collects ranges of its values.
///
/// The caller feeds the batches one by one, so the caller can show progress and stop early.
pub struct Calibrator {
    graph: Graph,
    params: IndexMap<String, NdArray>,
    context: ArrayContext,
    options: BindOptions,
    bound: Option<(Vec<(String, Shape)>, Executor)>,
    watched: Arc<Watched>,
    mode: CalibMode,
    dtype: QuantizedDType,
    examples: u64,
}

/// What the executor's monitor has observed.
struct Watched {
    collectors: Mutex<IndexMap<String, Collector>>,
    /// The first error in a call of the monitor. It is kept here because the monitor cannot return errors.
    error: Mutex<Option<Error>>,
}

impl Calibrator {
    /// Prepares to observe `values` (names such as `conv0_output` or `data`) of a graph with these parameters.
    ///
    /// # Errors
    /// Fails for a value that the graph does not have, for an empty list of values, for the calibration mode `none`, and if
    /// memory runs out.
    pub fn new(
        graph: &Graph,
        params: &IndexMap<String, Tensor>,
        values: &[String],
        mode: CalibMode,
        dtype: QuantizedDType,
        context: &ArrayContext,
        options: &BindOptions,
    ) -> Result<Self> {
        if mode == CalibMode::None {
            return Err(Error::invalid("calibration mode", "none", "naive or entropy"));
        }
        let names: Vec<&str> = values.iter().map(String::as_str).collect();
        let graph = select_outputs(graph, &names)?;
        let mut arrays = IndexMap::new();
        for (name, tensor) in params {
            if graph.find(name).is_some_and(|id| graph.node(id).is_variable()) {
                let dense = tensor.as_dense().context(|| format!("loading parameter `{name}`"))?;
                let array = NdArray::from_bytes(context, dense.shape().clone(), dense.dtype(), dense.bytes())?;
                arrays.insert(name.clone(), array);
            }
        }
        let collectors = values.iter().map(|name| (name.clone(), Collector::new(mode))).collect();
        // The monitor must see every value of the graph, so calls are neither merged nor fused.
        let options = BindOptions {
            eliminate_common: false,
            fuse: false,
            patterns: std::sync::Arc::new([]),
            gradients: None,
            ..options.clone()
        };
        Ok(Self {
            graph,
            params: arrays,
            context: context.clone(),
            options,
            bound: None,
            watched: Arc::new(Watched { collectors: Mutex::new(collectors), error: Mutex::new(None) }),
            mode,
            dtype,
            examples: 0,
        })
    }

    /// Runs one batch: each input with its shape and row-major values. The first size of the first input is the number
    /// of examples.
    ///
    /// # Errors
    /// Fails for inputs that the network does not have or that have wrong shapes, and for values that are not finite;
    /// returns the errors of kernels.
    pub fn feed(&mut self, inputs: &[(&str, Shape, &[f32])]) -> Result<()> {
        let shapes: Vec<(String, Shape)> =
            inputs.iter().map(|(name, shape, _)| ((*name).to_owned(), shape.clone())).collect();
        let executor = match self.bound.take() {
            Some((bound, executor)) if bound == shapes => executor,
            _ => self.bind(inputs)?,
        };
        for (name, _, values) in inputs {
            executor.argument(name)?.copy_from(values).context(|| format!("filling input `{name}`"))?;
            self.watched.add(name, values);
        }
        executor.forward()?;
        // An error of a kernel is returned only when its result is read. The monitor has read all results except the outputs
        // of the network.
        for output in executor.outputs() {
            output.wait_to_read()?;
        }
        if let Some(error) = self.watched.error.lock().take() {
            return Err(error.context(format!("calibrating with the batch that starts at example {}", self.examples)));
        }
        self.examples += inputs.first().and_then(|(_, shape, _)| shape.first().copied()).unwrap_or(0) as u64;
        self.bound = Some((shapes, executor));
        Ok(())
    }

    fn bind(&self, inputs: &[(&str, Shape, &[f32])]) -> Result<Executor> {
        let shapes: Vec<(&str, Shape)> = inputs.iter().map(|(name, shape, _)| (*name, shape.clone())).collect();
        let text = || shapes.iter().map(|(name, shape)| format!("`{name}` {shape}")).collect::<Vec<_>>().join(", ");
        let executor = Executor::bind(&self.graph, &self.context, &shapes, &self.params, &self.options)
            .context(|| format!("binding the network to {}", text()))?;
        let watched = Arc::clone(&self.watched);
        executor.set_monitor(move |seen| watched.see(seen.name, seen.array), false);
        Ok(executor)
    }

    /// Number of examples fed so far.
    pub fn examples(&self) -> u64 {
        self.examples
    }

    /// Returns the calibration table.
    ///
    /// # Errors
    /// Fails if there were no examples, or if a value was never computed.
    pub fn finish(self) -> Result<CalibrationTable> {
        self.finish_while(|| Ok(()))
    }

    /// Returns the calibration table, as [`Self::finish`] does, but can be interrupted. The search for thresholds may
    /// take seconds per value. It calls `check_interrupt` for each threshold that it tries, and stops if that returns
    /// an error.
    ///
    /// # Errors
    /// Returns the errors of [`Self::finish`], and the error of `check_interrupt`.
    pub fn finish_while(self, mut check_interrupt: impl FnMut() -> Result<()>) -> Result<CalibrationTable> {
        if self.examples == 0 {
            return Err(Error::invalid("calibration data", "no examples", "at least one"));
        }
        let collectors = std::mem::take(&mut *self.watched.collectors.lock());
        let mut ranges = IndexMap::with_capacity(collectors.len());
        for (name, collector) in collectors {
            let found = collector
                .finish(self.dtype, &mut check_interrupt)?
                .ok_or_else(|| Error::invalid("value to calibrate", format!("`{name}` never computed"), "a value"))?;
            ranges.insert(name, found);
        }
        Ok(CalibrationTable { mode: self.mode.to_string(), examples: self.examples, ranges })
    }
}

impl Watched {
    fn see(&self, name: &str, array: &NdArray) {
        if !self.collectors.lock().contains_key(name) {
            return;
        }
        match array.to_vec::<f32>() {
            Ok(values) => self.add(name, &values),
            Err(error) => self.fail(error),
        }
    }

    fn add(&self, name: &str, values: &[f32]) {
        let mut collectors = self.collectors.lock();
        let Some(collector) = collectors.get_mut(name) else { return };
        let added = collector.add(values);
        drop(collectors);
        if let Err(value) = added {
            self.fail(Error::invalid(format!("values of `{name}`"), value, "finite numbers"));
        }
    }

    fn fail(&self, error: Error) {
        self.error.lock().get_or_insert(error);
    }
}
