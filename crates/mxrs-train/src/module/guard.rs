//! What is noticed while training: labels no class belongs to, outputs that are no numbers any more, records left out.

use super::Module;
use crate::metric::View;
use mxrs_data::{DataBatch, DataIter};
use mxrs_ndarray::{NdArray, Reading};
use mxrs_types::{Error, Result};
use std::collections::VecDeque;

/// Labels of one input of the network that are classes.
pub(super) struct LabelCheck {
    /// Position among the labels.
    label: usize,
    /// The node that reads them.
    node: String,
    n_classes: usize,
    /// A label that the node ignores.
    ignored: Option<f64>,
}

impl LabelCheck {
    /// One for each label that a `SoftmaxOutput` reads.
    pub fn of(module: &Module) -> Result<Vec<Self>> {
        let bound = module.first()?;
        let graph = module.graph();
        let mut checks = Vec::new();
        for (_, node) in graph.iter().filter(|(_, node)| node.op_name() == "SoftmaxOutput") {
            let Some(label) = node.inputs.get(1).map(|entry| graph.entry_name(graph.entry_id(*entry))) else {
                continue;
            };
            let Some(label) = bound.labels.iter().position(|desc| desc.name == label) else { continue };
            let output = bound.executor.output_names().iter().position(|name| *name == format!("{}_output", node.name));
            let Some(output) = output.and_then(|at| bound.executor.outputs().get(at)) else { continue };
            let shape = output.shape();
            let is_true = |key: &str| node.attrs.get(key).is_some_and(|v| ["True", "true", "1"].contains(&v));
            let axis = if is_true("preserve_shape") { shape.ndim().saturating_sub(1) } else { 1 };
            let Some(&n_classes) = shape.get(axis) else { continue };
            // A label of the output's shape holds probabilities.
            if bound.labels[label].shape == *shape {
                continue;
            }
            let number = |key: &str| node.attrs.get(key).and_then(|text| text.parse().ok());
            let ignored = is_true("use_ignore").then(|| number("ignore_label").unwrap_or(-1.0));
            checks.push(Self { label, node: node.name.clone(), n_classes, ignored });
        }
        Ok(checks)
    }

    /// Compares the labels of a batch with the classes.
    pub fn check(&self, batch: &DataBatch, nbatch: u64) -> Result<()> {
        let Some(tensor) = batch.labels.get(self.label) else { return Ok(()) };
        let view = View::new(tensor.shape(), tensor.dtype(), tensor.bytes(), batch.n_valid())?;
        let fits = |label: f64| (label >= 0.0 && label < self.n_classes as f64) || self.ignored == Some(label);
        let Some(at) = view.iter().position(|label| !fits(label)) else { return Ok(()) };
        let row = at / (view.len() / view.shape().first().copied().unwrap_or(1).max(1)).max(1);
        let example = batch.index.get(row).map(|id| format!(" (example {id})")).unwrap_or_default();
        Err(Error::invalid(
            format!("label of row {row}{example} of batch {nbatch}"),
            view.at(at),
            format!("0 to {}: `{}` has {} classes", self.n_classes.saturating_sub(1), self.node, self.n_classes),
        ))
    }
}

/// Tells at the end of an epoch, or of its validation, how many records could not be used.
pub(super) fn tell_bad_records(epoch: u64, what: &str, data: &dyn DataIter) {
    let n = data.n_bad_records();
    if n > 0 {
        tracing::warn!("Epoch[{epoch}] {what}: bad records left out so far: {n}");
    }
}

/// The first number of an output that is not finite.
type Look = Result<Option<f64>>;

/// Looks for outputs that are not finite, without making anybody wait.
#[derive(Default)]
pub(super) struct FiniteWatch {
    /// Epoch and batch of what is being looked at.
    pending: VecDeque<(u64, u64, Reading<Look>)>,
    is_told: bool,
}

impl FiniteWatch {
    /// Looks at the outputs of a batch, and tells once of one that was not finite.
    pub fn look(&mut self, module: &Module, epoch: u64, nbatch: u64) -> Result<()> {
        if self.is_told {
            return Ok(());
        }
        for output in module.get_outputs()? {
            let (shape, dtype) = (output.shape().clone(), output.dtype());
            let n = shape.first().copied().unwrap_or(1);
            let reading = NdArray::read_later(&[output], move |bytes| {
                let view = View::new(&shape, dtype, bytes.first().unwrap_or(&&[][..]), n)?;
                Ok(view.iter().find(|v| !v.is_finite()))
            })?;
            self.pending.push_back((epoch, nbatch, reading));
        }
        self.tell(16)
    }

    /// Tells what was found, waiting only for what is more than `left` looks behind.
    pub fn tell(&mut self, left: usize) -> Result<()> {
        while self.pending.len() > left {
            let Some((epoch, nbatch, reading)) = self.pending.pop_front() else { break };
            // An error of the kernel comes with the outputs.
            if let Ok(Ok(Some(value))) = reading.wait()
                && !std::mem::replace(&mut self.is_told, true)
            {
                tracing::warn!(
                    "Epoch[{epoch}] Batch [{nbatch}]: the output is {value}. A smaller learning rate, gradient clipping or \
                     --monitor-nan may help; this is not told again"
                );
                self.pending.clear();
            }
        }
        Ok(())
    }
}
