//! Parameters, shapes, grouping of elements and samples that reductions over axes share.
//!
//! Without axes, or with all of them, and without `keepdims`, the result has shape `[1]`, because MXNet's scalars have
//! one axis.

use crate::dtypes::NUMBERS;
use crate::families::gradients;
use crate::inference::{learn, learn_dim, resolve_axis, unify_dtypes};
use mxrs_op::param::ShapeAttr;
use mxrs_op::{Accuracy, InputNames, OpDef, OpParams, Sample, op_params};
use mxrs_types::{PartialShape, Result, Shape};

op_params! {
    /// Parameters of reductions.
    pub struct ReduceParams for "reduction" {
        /// Axes to reduce; all axes if absent.
        axis: Option<ShapeAttr> = None,
        /// Whether reduced axes are kept with size 1.
        keepdims: bool = false,
        /// Whether to reduce the axes that are not in `axis`.
        exclude: bool = false,
    }
}

/// Defines a reduction with the parameters `axis`, `keepdims` and `exclude`. The caller adds the summary and the
/// reference kernel.
pub fn define(name: &'static str) -> OpDef {
    OpDef {
        infer_shape,
        dtypes: NUMBERS,
        accuracy: Accuracy::Reduction,
        samples,
        ..OpDef::new(name).params::<ReduceParams>()
    }
}

/// Defines the backward operator of a reduction: it takes (ograd, data) and returns a tensor of data's shape. The content of
/// data is not read.
pub fn define_backward(name: &'static str) -> OpDef {
    OpDef {
        inputs: InputNames::Fixed(&["ograd", "data"]),
        infer_shape: |params, inputs, outputs| gradients::infer_shape_by(infer_shape, params, inputs, outputs),
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "data"),
        ignored_inputs: &[1],
        accuracy: Accuracy::Elementwise,
        samples: || gradients::samples_after(&define("reduction")),
        ..define(name)
    }
}

/// Returns, for each element of data in row-major order, the flat position of the result that it contributes to.
pub fn results(params: &OpParams, shape: &Shape) -> Result<Vec<usize>> {
    let mut results = vec![0; shape.n_elements()];
    for (result, group) in groups(shape, &params.get::<ReduceParams>().reduced(shape.ndim())?).iter().enumerate() {
        group.iter().for_each(|i| results[*i] = result);
    }
    Ok(results)
}

impl ReduceParams {
    /// Whether each axis is reduced.
    pub fn reduced(&self, ndim: usize) -> Result<Vec<bool>> {
        let axes: &[i64] = self.axis.as_deref().unwrap_or(&[]);
        if axes.is_empty() {
            return Ok(vec![true; ndim]);
        }
        let mut reduced = vec![self.exclude; ndim];
        for axis in axes {
            reduced[resolve_axis(*axis, ndim, "data")?] = !self.exclude;
        }
        Ok(reduced)
    }
}

/// Infers the shape of a reduction's result, and from a known result the shape of its input.
pub fn learn_reduced(
    data: &mut PartialShape,
    output: &mut PartialShape,
    reduced: &[bool],
    is_keeping: bool,
) -> Result<()> {
    let dims = data.dims().unwrap_or_default().to_vec();
    let mut kept: Vec<(usize, Option<usize>)> = Vec::new();
    for (axis, size) in dims.iter().enumerate() {
        match (reduced[axis], is_keeping) {
            (false, _) => kept.push((axis, *size)),
            (true, true) => kept.push((axis, Some(1))),
            (true, false) => {}
        }
    }
    if kept.is_empty() {
        return learn(output, &Shape::from([1]).into(), "output");
    }
    learn(output, &PartialShape::new(kept.iter().map(|(_, size)| *size)), "output")?;
    for (position, (axis, _)) in kept.into_iter().enumerate() {
        if !reduced[axis] {
            learn_dim(data, axis, output.dim(position), "data")?;
        }
    }
    Ok(())
}

/// The shape inference of a reduction.
pub fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let params = params.get::<ReduceParams>();
    let Some(ndim) = inputs[0].ndim() else { return Ok(()) };
    learn_reduced(&mut inputs[0], &mut outputs[0], &params.reduced(ndim)?, params.keepdims)
}

/// Returns, for each result in row-major order, the flat positions of the elements that it reduces, in ascending order.
pub fn groups(shape: &Shape, reduced: &[bool]) -> Vec<Vec<usize>> {
    let kept: Shape = (0..shape.ndim()).filter(|a| !reduced[*a]).map(|a| shape[a]).collect();
    let mut groups = vec![Vec::new(); kept.n_elements()];
    let mut position = 0;
    crate::families::indexing::for_each_index(shape, |index| {
        let kept_index: Vec<usize> = (0..index.len()).filter(|a| !reduced[*a]).map(|a| index[a]).collect();
        groups[crate::families::indexing::flat(&kept, &kept_index)].push(position);
        position += 1;
    });
    groups
}

fn samples() -> Vec<Sample> {
    vec![
        Sample::plain("all", &[&[3, 5]]),
        Sample::new("last", [("axis", "-1")], &[&[2, 3, 7]]),
        Sample::new("first", [("axis", "0")], &[&[5, 3]]),
        Sample::new("space", [("axis", "(2, 3)"), ("keepdims", "True")], &[&[2, 3, 4, 5]]),
        Sample::new("exclude", [("axis", "1"), ("exclude", "True")], &[&[2, 3, 4]]),
        Sample::plain("one", &[&[1]]),
        Sample::new("no_rows", [("axis", "1")], &[&[0, 3]]),
    ]
}
