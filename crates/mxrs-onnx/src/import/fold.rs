//! Computes calls whose inputs are small constants, and small calls without inputs. Models compute shapes by such calls: they
//! read sizes, change them and concatenate them to the shape of a `Reshape`. The reference kernels compute the calls.

use mxrs_format::{AlignedBytes, Tensor};
use mxrs_op::{OpDef, OpParams, RefInput, RefOutput, RunMode, TensorDesc};
use mxrs_types::{DType, PartialShape, Shape};

/// Constants with more elements are left to the graph.
const MOST: usize = 64;

/// Whether a value of this shape has few elements. Sizes of 0 count as 1: a kernel may loop over the other axes.
pub(super) fn is_small(shape: &Shape) -> bool {
    shape.iter().fold(1, |n: usize, size| n.saturating_mul((*size).max(1))) <= MOST
}

/// The only output of a call; `None` if an input is too large or the call cannot be computed here.
pub(super) fn folded(def: &OpDef, params: &OpParams, inputs: &[Tensor], output: &PartialShape) -> Option<Tensor> {
    let reference = def.reference?;
    let shape: Shape = output.known()?;
    let is_plain = def.n_outputs.get(params) == 1 && !def.has_effect(params, false);
    // A sum over many letters has many terms, even if its inputs and its output are small.
    if !is_plain || def.name == "_npi_einsum" || !is_small(&shape) {
        return None;
    }
    let mut dtypes: Vec<Option<DType>> = inputs.iter().map(Tensor::dtype).collect();
    let mut results = [None];
    (def.infer_dtype)(params, &mut dtypes, &mut results).ok()?;
    let is_taken = dtypes.first().is_none_or(|dtype| dtype.is_some_and(|dtype| def.dtypes.contains(&dtype)));
    if !is_taken || dtypes.iter().zip(inputs).any(|(dtype, input)| *dtype != input.dtype()) {
        return None;
    }
    let mut descs = Vec::with_capacity(inputs.len());
    for input in inputs {
        let shape = input.shape()?.clone();
        if !is_small(&shape) {
            return None;
        }
        descs.push(TensorDesc::dense(shape, input.dtype()?));
    }
    let given = descs.iter().zip(inputs).map(|(desc, input)| RefInput { desc, bytes: input.stored_bytes() });
    let given: Vec<RefInput<'_>> = given.collect();
    let desc = TensorDesc::dense(shape.clone(), results[0]?);
    let mut memory = AlignedBytes::zeroed(desc.size_bytes());
    let mut outputs = [RefOutput { desc: &desc, bytes: &mut memory }];
    reference(params, &given, &mut outputs, RunMode { is_train: false, random: None }).ok()?;
    Tensor::dense(desc.dtype, shape, memory).ok()
}
