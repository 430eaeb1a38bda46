//! Facts about every value of the graph, inferred before nodes are written: shape, dtype, and which sizes depend on the
//! batch.

use super::ExportOptions;
use indexmap::IndexMap;
use mxrs_format::Tensor;
use mxrs_graph::{EntryId, Graph, infer_dtypes, infer_shapes};
use mxrs_types::{DType, PartialShape, Result, ResultExt, Shape};

/// Shapes and types of all values of a graph.
pub(super) struct Facts {
    shapes: Vec<Shape>,
    dtypes: Vec<DType>,
    /// The shapes that the values have if the batch is twice as large; `None` if the batch size is fixed.
    doubled: Option<Vec<Shape>>,
}

impl Facts {
    /// Infers all shapes and types from the inputs and the parameters.
    ///
    /// Returns the errors of inference. If the batch size is open (dynamic), shapes are also inferred for a batch of
    /// twice the size, so a graph that works for only one batch size is an error.
    pub fn new(graph: &Graph, params: &IndexMap<String, Tensor>, options: &ExportOptions) -> Result<Self> {
        let is_variable = |name: &str| graph.find(name).is_some_and(|id| graph.node(id).is_variable());
        let known: Vec<(&str, &Tensor)> =
            params.iter().map(|(name, tensor)| (name.as_str(), tensor)).filter(|(name, _)| is_variable(name)).collect();
        let infer = |factor: usize| {
            let of_params =
                known.iter().filter_map(|(name, tensor)| Some((*name, PartialShape::from(tensor.shape()?))));
            let of_inputs = options.inputs.iter().map(|(name, shape)| {
                let mut shape = shape.clone();
                if let Some(batch) = shape.dims_mut().first_mut() {
                    *batch = batch.saturating_mul(factor);
                }
                (name.as_str(), PartialShape::from(shape))
            });
            infer_shapes(graph, of_params.chain(of_inputs))?.complete(graph)
        };
        let shapes = infer(1)?;
        let doubled = match options.has_dynamic_batch {
            true => Some(infer(2).context(|| "inferring shapes for another batch size, which is to stay open")?),
            false => None,
        };
        // Parameters that are not floats keep their dtype; the dtypes of floats are inferred from the inputs.
        let of_params = known.iter().filter_map(|(name, tensor)| Some((*name, tensor.dtype()?)));
        let of_params = of_params.filter(|(_, dtype)| !dtype.is_float());
        let of_inputs = options.inputs.iter().map(|(name, _)| (name.as_str(), options.dtype));
        let dtypes = infer_dtypes(graph, of_params.chain(of_inputs), Some(options.dtype))?.complete(graph)?;
        Ok(Self { shapes, dtypes, doubled })
    }

    /// The shape of a value, for the batch size in the input shapes of [`ExportOptions`].
    pub fn shape(&self, entry: EntryId) -> &Shape {
        &self.shapes[entry.index()]
    }

    /// The element type of a value.
    pub fn dtype(&self, entry: EntryId) -> DType {
        self.dtypes[entry.index()]
    }

    /// The sizes of a value; `None` in place of each size that depends on the batch size.
    pub fn fixed_sizes(&self, entry: EntryId) -> Vec<Option<usize>> {
        let shape = self.shape(entry);
        let doubled = self.doubled.as_ref().map_or(shape, |doubled| &doubled[entry.index()]);
        // Both shapes have the same number of axes, because the number of axes does not depend on the batch size.
        shape.iter().zip(doubled.iter()).map(|(a, b)| (a == b).then_some(*a)).collect()
    }

    /// Whether the batch size is open (dynamic) and the size of axis `axis` is the batch size.
    pub fn is_batch(&self, entry: EntryId, axis: usize, batch: usize) -> bool {
        let size = |shapes: &[Shape]| shapes[entry.index()].get(axis).copied();
        let Some(doubled) = &self.doubled else { return false };
        size(&self.shapes) == Some(batch) && size(doubled) == Some(2 * batch)
    }
}
