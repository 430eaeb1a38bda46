//! Code shared by the metrics: values are computed in engine tasks and added to two sums, one for the epoch and one since
//! the last print.

use super::{EvalMetric, View, Wanted};
use mxrs_ndarray::{NdArray, Reading};
use mxrs_types::{Error, Result, Shape};
use std::collections::VecDeque;
use std::sync::Arc;

/// The computation of one metric.
pub(super) trait Measure: Send + Sync + 'static {
    /// Result for one label and one prediction.
    type Part: Send + 'static;
    /// The sum over batches.
    type Total: Default + Send;

    /// The metric's name if the caller chose none.
    fn default_name(&self) -> String;

    /// Whether the metric reads labels.
    fn reads_labels(&self) -> bool {
        true
    }

    /// Computes the result for one prediction and its label. If the metric does not read labels, `label` is the prediction.
    fn measure(&self, label: &View<'_>, pred: &View<'_>) -> Result<Self::Part>;

    /// Adds the results of one batch, one for each prediction.
    fn add(&self, total: &mut Self::Total, parts: &[Self::Part]);

    /// The value of the metric; NaN if nothing was counted.
    fn value(&self, total: &Self::Total) -> f64;
}

/// A sum and the number of summed values.
#[derive(Default)]
pub(super) struct Mean {
    pub sum: f64,
    pub count: f64,
}

impl Mean {
    pub fn add(&mut self, sum: f64, count: f64) {
        self.sum += sum;
        self.count += count;
    }

    /// The mean; NaN if nothing was counted.
    pub fn value(&self) -> f64 {
        if self.count == 0.0 { f64::NAN } else { self.sum / self.count }
    }
}

/// A batch whose results may not be computed yet.
struct Pending<P> {
    readings: Vec<Reading<Result<P>>>,
    /// Whether the batch came after the last call of [`EvalMetric::reset_local`].
    is_local: bool,
}

/// A metric whose values a [`Measure`] computes in engine tasks.
pub(super) struct Deferred<M: Measure> {
    measure: Arc<M>,
    name: String,
    wanted: Wanted,
    pending: VecDeque<Pending<M::Part>>,
    local: M::Total,
    global: M::Total,
}

/// Largest number of batches that may be pending. With more, `update` waits for the oldest batch. This bounds the memory that
/// pending batches hold.
const MOST_PENDING: usize = 64;

impl<M: Measure> Deferred<M> {
    pub fn new(measure: M, name: Option<String>, wanted: Wanted) -> Self {
        let name = name.unwrap_or_else(|| measure.default_name());
        let (local, global) = Default::default();
        Self { measure: Arc::new(measure), name, wanted, pending: VecDeque::new(), local, global }
    }

    /// Adds the results of pending batches in order, until at most `left` are pending.
    fn collect(&mut self, left: usize) -> Result<()> {
        while self.pending.len() > left {
            let Some(Pending { readings, is_local }) = self.pending.pop_front() else { break };
            let name = &self.name;
            let part =
                |reading: Reading<Result<M::Part>>| reading.wait()?.map_err(|e| e.context(format!("metric {name}")));
            let parts = readings.into_iter().map(part).collect::<Result<Vec<_>>>()?;
            self.measure.add(&mut self.global, &parts);
            if is_local {
                self.measure.add(&mut self.local, &parts);
            }
        }
        Ok(())
    }
}

/// Number of rows of an array that are counted if the last `pad` of the label's `n` rows are padding. An array may have
/// several rows per example.
fn rows(shape: &Shape, n: usize, pad: usize) -> usize {
    let rows = shape.first().copied().unwrap_or(1);
    match rows.checked_div(n) {
        Some(each) if each * n == rows => rows - each * pad.min(n),
        // The array has no row per example (it is a summed loss), so no row can be left out.
        _ => rows,
    }
}

impl<M: Measure> EvalMetric for Deferred<M> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn update(&mut self, labels: &[&NdArray], preds: &[&NdArray], pad: usize) -> Result<()> {
        let reads_labels = self.measure.reads_labels();
        if reads_labels && labels.len() != preds.len() {
            let expected = format!("{}, one for each label", labels.len());
            return Err(Error::invalid(format!("metric {}: number of predictions", self.name), preds.len(), expected));
        }
        let mut readings = Vec::with_capacity(preds.len());
        for (i, &pred) in preds.iter().enumerate() {
            let label = labels.get(i).copied();
            let n = label.or(labels.first().copied()).unwrap_or(pred).shape().first().copied().unwrap_or(1);
            let read = if reads_labels { label.unwrap_or(pred) } else { pred };
            let describe = |array: &NdArray| (array.shape().clone(), array.dtype(), rows(array.shape(), n, pad));
            let (of_label, of_pred, measure) = (describe(read), describe(pred), self.measure.clone());
            readings.push(NdArray::read_later(&[read, pred], move |bytes| {
                let view = |(shape, dtype, rows): &(Shape, _, usize), bytes| View::new(shape, *dtype, bytes, *rows);
                let [label, pred] = bytes else { return Err(Error::invalid("arrays read", bytes.len(), "2")) };
                measure.measure(&view(&of_label, label)?, &view(&of_pred, pred)?)
            })?);
        }
        self.pending.push_back(Pending { readings, is_local: true });
        self.collect(MOST_PENDING)
    }

    fn get(&mut self) -> Result<Vec<(String, f64)>> {
        self.collect(0)?;
        Ok(vec![(self.name.clone(), self.measure.value(&self.local))])
    }

    fn get_global(&mut self) -> Result<Vec<(String, f64)>> {
        self.collect(0)?;
        Ok(vec![(self.name.clone(), self.measure.value(&self.global))])
    }

    fn reset(&mut self) {
        self.pending.clear();
        (self.local, self.global) = Default::default();
    }

    fn reset_local(&mut self) {
        self.pending.iter_mut().for_each(|pending| pending.is_local = false);
        self.local = M::Total::default();
    }

    fn wanted(&self) -> Wanted {
        self.wanted.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::rows;

    #[test]
    fn rows_that_fill_up_are_left_out() {
        assert_eq!(rows(&[8, 3].into(), 8, 3), 5);
        assert_eq!(rows(&[24].into(), 8, 3), 15, "three rows per example");
        assert_eq!(rows(&[1].into(), 8, 3), 1, "a summed loss");
        assert_eq!(rows(&[8].into(), 8, 9), 0);
    }
}
