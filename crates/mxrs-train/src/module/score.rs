//! Inference of a module over a data iterator: metrics and predictions.

use super::Module;
use crate::callback::{BatchEnd, BatchEndCallback};
use crate::metric::EvalMetric;
use mxrs_data::DataIter;
use mxrs_format::{AlignedBytes, Tensor};
use mxrs_ndarray::{NdArray, Reading};
use mxrs_sync::atomic::{AtomicBool, Ordering};
use mxrs_types::{Error, Result, Shape};
use std::time::Instant;

impl Module {
    /// Runs the first epoch of `data` in inference mode and returns the values of the metric, which is reset first. Runs at
    /// most `n_batches` batches if that is given. The iterator is not reset afterwards.
    ///
    /// # Errors
    /// Returns errors of the iterator, of [`Self::forward`] and of the metric.
    pub fn score(
        &mut self,
        data: &mut dyn DataIter,
        metric: &mut dyn EvalMetric,
        n_batches: Option<u64>,
    ) -> Result<Vec<(String, f64)>> {
        Ok(self.score_with(data, metric, n_batches, 0, &mut [], None)?.unwrap_or_default())
    }

    /// Like [`Self::score`], as the validation after `epoch`. Returns `None` if `interrupt` is true while batches are left.
    pub(super) fn score_with(
        &mut self,
        data: &mut dyn DataIter,
        metric: &mut dyn EvalMetric,
        n_batches: Option<u64>,
        epoch: u64,
        callbacks: &mut [Box<dyn BatchEndCallback>],
        interrupt: Option<&AtomicBool>,
    ) -> Result<Option<Vec<(String, f64)>>> {
        data.seek(0, 0)?;
        metric.reset();
        let mut nbatch = 0;
        while n_batches.is_none_or(|most| nbatch < most) {
            let asked = Instant::now();
            let Some(batch) = data.next_batch()? else { break };
            if interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
                return Ok(None);
            }
            let (waited, pad) = (asked.elapsed(), batch.pad);
            self.forward(batch, false)?;
            self.update_metric(metric, pad)?;
            for callback in &mut *callbacks {
                let loss_scale = None;
                callback.batch_end(&mut BatchEnd { epoch, nbatch, waited, loss_scale, metric: Some(&mut *metric) })?;
            }
            nbatch += 1;
        }
        metric.get_global().map(Some)
    }

    /// Runs the first epoch of `data` in inference mode and returns every output: the rows of all batches in order, without
    /// padding rows.
    ///
    /// # Errors
    /// Returns errors of the iterator and of [`Self::forward`]; fails if an output does not have rows for each example.
    pub fn predict(&mut self, data: &mut dyn DataIter, n_batches: Option<u64>) -> Result<Vec<Tensor>> {
        data.seek(0, 0)?;
        let mut parts: Vec<Vec<Part>> = Vec::new();
        let mut nbatch = 0;
        while n_batches.is_none_or(|most| nbatch < most) {
            let Some(batch) = data.next_batch()? else { break };
            let (pad, n) = (batch.pad, batch.index.len());
            self.forward(batch, false)?;
            let outputs = self.get_outputs()?;
            parts.resize_with(outputs.len(), Vec::new);
            for (parts, output) in parts.iter_mut().zip(outputs) {
                parts.push(Part::start(output, n, pad)?);
            }
            nbatch += 1;
        }
        parts.into_iter().map(join).collect()
    }
}

/// The rows of one output of one batch, while they are being read.
struct Part {
    shape: Shape,
    dtype: mxrs_types::DType,
    reading: Reading<Vec<u8>>,
}

impl Part {
    fn start(output: &NdArray, n: usize, pad: usize) -> Result<Self> {
        let mut shape = output.shape().clone();
        let rows = shape.first().copied().unwrap_or(0);
        if n == 0 || rows % n != 0 || rows == 0 {
            return Err(Error::shape("predict", "output", format!("rows for each of {n} examples"), output.shape()));
        }
        shape.dims_mut()[0] = rows / n * (n - pad.min(n));
        let len = shape.checked_size_bytes(output.dtype())?;
        let reading = NdArray::read_later(&[output], move |bytes| {
            bytes.first().and_then(|b| b.get(..len)).unwrap_or(&[]).to_vec()
        })?;
        Ok(Self { shape, dtype: output.dtype(), reading })
    }
}

fn join(parts: Vec<Part>) -> Result<Tensor> {
    let Some(first) = parts.first() else { return Ok(Tensor::None) };
    let (mut shape, dtype) = (first.shape.clone(), first.dtype);
    shape.dims_mut()[0] = parts.iter().map(|part| part.shape[0]).sum();
    let mut bytes = Vec::with_capacity(shape.checked_size_bytes(dtype)?);
    for part in parts {
        bytes.extend(part.reading.wait()?);
    }
    Tensor::dense(dtype, shape, AlignedBytes::copy_of(&bytes))
}
