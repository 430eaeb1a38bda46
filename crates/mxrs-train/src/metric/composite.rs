//! Several metrics combined into one.

use super::{EvalMetric, Named};
use mxrs_ndarray::NdArray;
use mxrs_types::Result;

/// Metrics that are updated with the same batches. Their values are returned in the order in which they were added.
#[derive(Default)]
pub struct CompositeEvalMetric {
    metrics: Vec<Box<dyn EvalMetric>>,
}

impl CompositeEvalMetric {
    /// A metric that combines these metrics.
    pub fn new(metrics: Vec<Box<dyn EvalMetric>>) -> Self {
        Self { metrics }
    }

    /// Adds a metric.
    pub fn add(&mut self, metric: Box<dyn EvalMetric>) {
        self.metrics.push(metric);
    }

    /// The metrics that were added.
    pub fn metrics(&self) -> &[Box<dyn EvalMetric>] {
        &self.metrics
    }
}

impl EvalMetric for CompositeEvalMetric {
    fn name(&self) -> String {
        "composite".into()
    }

    fn update(&mut self, labels: &[&NdArray], preds: &[&NdArray], pad: usize) -> Result<()> {
        self.metrics.iter_mut().try_for_each(|metric| metric.update(labels, preds, pad))
    }

    fn get(&mut self) -> Result<Vec<(String, f64)>> {
        let values = self.metrics.iter_mut().map(|metric| metric.get()).collect::<Result<Vec<_>>>()?;
        Ok(values.into_iter().flatten().collect())
    }

    fn get_global(&mut self) -> Result<Vec<(String, f64)>> {
        let values = self.metrics.iter_mut().map(|metric| metric.get_global()).collect::<Result<Vec<_>>>()?;
        Ok(values.into_iter().flatten().collect())
    }

    fn reset(&mut self) {
        self.metrics.iter_mut().for_each(|metric| metric.reset());
    }

    fn reset_local(&mut self) {
        self.metrics.iter_mut().for_each(|metric| metric.reset_local());
    }

    fn update_named(&mut self, labels: &Named<'_>, preds: &Named<'_>, pad: usize) -> Result<()> {
        self.metrics.iter_mut().try_for_each(|metric| metric.update_named(labels, preds, pad))
    }
}
