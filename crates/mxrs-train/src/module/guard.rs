//! Checks while training: labels that are not classes, outputs and parameters that are not finite, bad records that were
//! skipped.

use super::Module;
use crate::metric::View;
use crate::resume::Position;
use mxrs_data::{DataBatch, DataIter};
use mxrs_format::{Checkpoint, Tensor};
use mxrs_ndarray::{NdArray, Reading};
use mxrs_types::{Error, Result};
use std::collections::VecDeque;
use std::path::Path;

/// Checks that the values of one label input are valid classes.
pub(super) struct LabelCheck {
    /// Index of the label among the labels of the module.
    label: usize,
    /// Name of the node that reads the label.
    node: String,
    n_classes: usize,
    /// Label value that the node ignores.
    ignored: Option<f64>,
}

impl LabelCheck {
    /// One check for each label that a `SoftmaxOutput` reads.
    pub fn of(module: &Module) -> Result<Vec<Self>> {
        let group = module.first()?;
        let executor = group.executor();
        let graph = module.graph();
        let mut checks = Vec::new();
        for (_, node) in graph.iter().filter(|(_, node)| node.op_name() == "SoftmaxOutput") {
            let Some(label) = node.inputs.get(1).map(|entry| graph.entry_name(graph.entry_id(*entry))) else {
                continue;
            };
            let Some(label) = group.labels.iter().position(|desc| desc.name == label) else { continue };
            let output = executor.output_names().iter().position(|name| *name == format!("{}_output", node.name));
            let Some(output) = output.and_then(|at| executor.outputs().get(at)) else { continue };
            let shape = output.shape();
            let is_true = |key: &str| node.attrs.get(key).is_some_and(|v| ["True", "true", "1"].contains(&v));
            let axis = if is_true("preserve_shape") { shape.ndim().saturating_sub(1) } else { 1 };
            let Some(&n_classes) = shape.get(axis) else { continue };
            // A label with the shape of the output holds probabilities, so it is not checked.
            if executor.argument(&group.labels[label].name)?.shape() == shape {
                continue;
            }
            let number = |key: &str| node.attrs.get(key).and_then(|text| text.parse().ok());
            let ignored = is_true("use_ignore").then(|| number("ignore_label").unwrap_or(-1.0));
            checks.push(Self { label, node: node.name.clone(), n_classes, ignored });
        }
        Ok(checks)
    }

    /// Checks that every label of a batch is a class.
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

/// Logs, at the end of an epoch or of its validation, how many bad records were skipped so far.
pub(super) fn tell_bad_records(epoch: u64, what: &str, data: &dyn DataIter) {
    let n = data.n_bad_records();
    if n > 0 {
        tracing::warn!("Epoch[{epoch}] {what}: bad records left out so far: {n}");
    }
}

/// The first element of an output that is not finite, if there is one.
type Look = Result<Option<f64>>;

/// Checks outputs for elements that are not finite in engine tasks, so that no thread waits for them.
#[derive(Default)]
pub(super) struct FiniteWatch {
    /// Epoch, batch and result of the checks that are not finished.
    pending: VecDeque<(u64, u64, Reading<Look>)>,
    is_told: bool,
}

impl FiniteWatch {
    /// Starts to check the outputs of a batch. The first output that is not finite is reported once.
    pub fn look(&mut self, module: &Module, epoch: u64, nbatch: u64) -> Result<()> {
        if self.is_told {
            return Ok(());
        }
        for output in module.outputs_of_parts()? {
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

    /// Reports finished checks, waiting for the oldest until at most `left` are pending.
    pub fn tell(&mut self, left: usize) -> Result<()> {
        while self.pending.len() > left {
            let Some((epoch, nbatch, reading)) = self.pending.pop_front() else { break };
            // Errors of the output are ignored here, because code that reads the output gets the same error.
            if let Ok(Ok(Some(value))) = reading.wait()
                && !std::mem::replace(&mut self.is_told, true)
            {
                tracing::warn!(
                    "Epoch[{epoch}] Batch [{nbatch}]: the output is {value}. A smaller learning rate, gradient clipping or \
                     --monitor-nan may help; this is reported only once"
                );
                self.pending.clear();
            }
        }
        Ok(())
    }
}

/// A parameter or auxiliary state with an element that is not finite.
#[derive(Debug, PartialEq)]
pub(crate) struct NotFinite {
    name: String,
    value: f64,
}

/// The first trained parameter or auxiliary state with an element that is NaN or infinite. Parameters in `fixed` are not
/// checked: a fixed parameter may be a mask that contains minus infinity.
pub(crate) fn not_finite(params: &Checkpoint, fixed: &[String]) -> Option<NotFinite> {
    let trained = params.arg.iter().filter(|(name, _)| !fixed.contains(name));
    trained.chain(&params.aux).find_map(|(name, tensor)| {
        let value = first_not_finite(tensor)?;
        Some(NotFinite { name: name.clone(), value })
    })
}

fn first_not_finite(tensor: &Tensor) -> Option<f64> {
    if let Ok(elements) = tensor.as_slice::<f32>() {
        return elements.iter().find(|v| !v.is_finite()).map(|v| f64::from(*v));
    }
    let dense = tensor.as_dense().ok()?;
    let n_rows = dense.shape().first().copied().unwrap_or(1);
    View::new(dense.shape(), dense.dtype(), dense.bytes(), n_rows).ok()?.iter().find(|v| !v.is_finite())
}

/// The error if a checkpoint at `position` would contain a parameter that is not finite. `saved` is the newest checkpoint,
/// if there is one.
pub(crate) fn diverged(found: &NotFinite, position: Position, prefix: &Path, saved: Option<Position>) -> Error {
    let epoch = if position.batch == 0 { position.epoch.saturating_sub(1) } else { position.epoch };
    let last = match saved {
        Some(saved) => format!("The last good checkpoint is \"{}\"", saved.path(prefix, ".params").display()),
        None => "There is no earlier checkpoint".to_owned(),
    };
    Error::invalid(
        format!("parameter `{}` after epoch {epoch}", found.name),
        found.value,
        format!(
            "finite numbers, so no checkpoint {position} was written. {last}. A smaller learning rate or gradient clipping may help"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use indexmap::IndexMap;
    use mxrs_types::DType;

    #[test]
    fn numbers_that_are_not_finite_are_found_in_every_element_type() {
        let tensor = |values: &[f64], dtype| Tensor::from_slice([values.len()], values).unwrap().cast(dtype);
        for dtype in [DType::F32, DType::F64, DType::F16, DType::BF16] {
            let of = |values: &[f64]| {
                let params = IndexMap::from([("w".to_owned(), tensor(values, dtype))]);
                let as_aux = Checkpoint::new(IndexMap::new(), params.clone());
                let [arg, aux] = [Checkpoint::new(params, IndexMap::new()), as_aux]
                    .map(|params| not_finite(&params, &[]).map(|found| found.value.to_string()));
                assert_eq!(arg, aux);
                arg
            };
            assert_eq!(of(&[1.0, -3.5, 0.0]), None, "{dtype}");
            assert_eq!(of(&[]), None, "{dtype}");
            assert_eq!(of(&[1.0, f64::NAN]).as_deref(), Some("NaN"), "{dtype}");
            assert_eq!(of(&[f64::NEG_INFINITY, 1.0]).as_deref(), Some("-inf"), "{dtype}");
        }
    }

    #[test]
    fn fixed_parameters_may_be_infinite() {
        let mask = Tensor::from_slice([2], &[0.0f32, f32::NEG_INFINITY]).unwrap();
        let params = Checkpoint::new(IndexMap::from([("mask".to_owned(), mask)]), IndexMap::new());
        assert!(not_finite(&params, &[]).is_some_and(|found| found.name == "mask"));
        assert_eq!(not_finite(&params, &["mask".to_owned()]), None);
    }
}
