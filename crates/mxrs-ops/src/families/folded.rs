//! Reductions over axes. Each computes one result from a group: the elements that differ only in their position on the
//! reduced axes. It is written as a formula of the group's elements, from which the gradient follows.

use crate::dtypes::NUMBERS;
use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::families::indexing::for_each_index;
use crate::families::reduction::learn_reduced;
use crate::families::twins;
use crate::inference::{learn, learn_dim, learn_dtype, resolve_axis};
use crate::numeric;
use mxrs_op::param::ShapeAttr;
use mxrs_op::{OpDef, OpParams, Parameters, RefInput, RefOutput, RunMode, Sample};
use mxrs_types::{DType, PartialShape, Result, Shape};
use std::marker::PhantomData;

/// What distinguishes one reduction from another.
pub trait Folded: Sized + 'static {
    /// Parameters of the operator.
    type Params: Parameters;
    /// MXNet's name.
    const NAME: &'static str;
    /// Other names.
    const ALIASES: &'static [&'static str] = &[];
    /// Description in one line.
    const SUMMARY: &'static str;
    /// Name of the operator that computes the gradient.
    const BACKWARD: &'static str;
    /// Name of the input.
    const INPUTS: &'static [&'static str] = &["a"];
    /// Names of the inputs of the gradient: `ograd`, then the input.
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "a"];
    /// The inputs that have a gradient: `&[0]`, or empty if the gradient is zero.
    const DIFFERENTIATED: &'static [usize] = &[0];
    /// The inputs of the gradient of which only the shape is read: `&[1]` if the gradient does not depend on the elements.
    const IGNORED_IN_BACKWARD: &'static [usize] = &[];
    /// Element types of the input.
    const DTYPES: &'static [DType] = NUMBERS;
    /// Whether a result over all axes is a scalar, as in NumPy. Otherwise its shape is `[1]`.
    const IS_NUMPY: bool = true;

    /// Whether each axis is reduced, and whether reduced axes are kept with size 1.
    fn axes(params: &Self::Params, ndim: usize) -> Result<(Vec<bool>, bool)>;

    /// Refuses parameters that are not built.
    fn check(params: &Self::Params) -> Result<()> {
        let _ = params;
        Ok(())
    }

    /// The type of the results for data of this type. By default it is the same type.
    fn out_dtype(params: &Self::Params, data: DType) -> DType {
        let _ = params;
        data
    }

    /// The result of a group.
    fn fold<T: Number>(params: &Self::Params, values: &[T]) -> T;

    /// Number of hidden outputs, of the shape and type of the result. They hold zeros, because nothing reads them.
    const N_HIDDEN: usize = 0;

    /// Computes a group exactly if data and result are integers; absent if `fold` computes them too. The low bits are kept.
    const INTEGERS: Option<fn(&[i64]) -> i64> = None;

    /// Example calls.
    fn samples() -> Vec<Sample>;
}

/// Whether each axis is reduced; all are if `axis` is absent, none if it is empty.
pub fn of_axes(axis: &Option<ShapeAttr>, ndim: usize) -> Result<Vec<bool>> {
    let mut reduced = vec![axis.is_none(); ndim];
    for axis in axis.iter().flat_map(|axes| axes.iter()) {
        reduced[resolve_axis(*axis, ndim, "data")?] = true;
    }
    Ok(reduced)
}

/// The flat positions of the elements of one group, in row-major order. Groups are numbered in row-major order of the axes that
/// are not reduced.
pub fn members(shape: &Shape, reduced: &[bool], mut group: usize) -> Vec<usize> {
    let strides = shape.strides();
    let mut first = 0;
    for axis in (0..shape.ndim()).rev().filter(|axis| !reduced[*axis]) {
        first += group % shape[axis] * strides[axis];
        group /= shape[axis];
    }
    let axes: Vec<usize> = (0..shape.ndim()).filter(|axis| reduced[*axis]).collect();
    let sizes: Vec<usize> = axes.iter().map(|axis| shape[*axis]).collect();
    let mut members = Vec::new();
    for_each_index(&sizes, |index| {
        members.push(first + index.iter().zip(&axes).map(|(i, axis)| i * strides[*axis]).sum::<usize>());
    });
    members
}

/// Infers the shape of a result, and from a known result the shape of the input. If `is_numpy`, a result over all axes is a
/// scalar.
pub fn learn_result(
    data: &mut PartialShape,
    out: &mut PartialShape,
    (reduced, keeps): (Vec<bool>, bool),
    is_numpy: bool,
) -> Result<()> {
    if !reduced.is_empty() && (keeps || !is_numpy || reduced.iter().any(|is_reduced| !is_reduced)) {
        return learn_reduced(data, out, &reduced, keeps);
    }
    learn(out, &PartialShape::new([]), "output")?;
    (0..reduced.len()).try_for_each(|axis| learn_dim(data, axis, None, "data"))
}

struct Fold<F>(PhantomData<F>);

impl<F: Folded> Formula for Fold<F> {
    type Params = F::Params;
    const NAME: &'static str = F::NAME;
    const ALIASES: &'static [&'static str] = F::ALIASES;
    const SUMMARY: &'static str = F::SUMMARY;
    const BACKWARD: &'static str = F::BACKWARD;
    const INPUTS: &'static [&'static str] = F::INPUTS;
    const BACKWARD_INPUTS: &'static [&'static str] = F::BACKWARD_INPUTS;
    const DIFFERENTIATED: &'static [usize] = F::DIFFERENTIATED;
    const IGNORED_IN_BACKWARD: &'static [usize] = F::IGNORED_IN_BACKWARD;
    const DTYPES: &'static [DType] = F::DTYPES;
    const OUTPUTS: &'static [&'static str] = if F::N_HIDDEN == 0 { &["output"] } else { &["output", "hidden"] };
    const N_HIDDEN: usize = F::N_HIDDEN;

    fn infer_shape(params: &F::Params, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        F::check(params)?;
        let Some(ndim) = inputs[0].ndim() else { return Ok(()) };
        learn_result(&mut inputs[0], &mut outputs[0], F::axes(params, ndim)?, F::IS_NUMPY)?;
        let (out, hidden) = outputs.split_at_mut(1);
        hidden.iter_mut().try_for_each(|hidden| learn(hidden, &out[0], "hidden"))
    }

    fn infer_dtype(params: &F::Params, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
        if let (None, Some(out)) = (inputs[0], outputs[0])
            && F::out_dtype(params, out) == out
            && F::out_dtype(params, DType::I32) != out
        {
            inputs[0] = Some(out);
        }
        let Some(data) = inputs[0] else { return Ok(()) };
        outputs.iter_mut().try_for_each(|out| learn_dtype(out, F::out_dtype(params, data), "output"))
    }

    fn part<T: Number>(params: &F::Params, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        let shape = &tensors.inputs[0];
        let (reduced, _) = F::axes(params, shape.ndim())?;
        let values: Vec<T> = members(shape, &reduced, part).into_iter().map(|at| tensors.at(0, at)).collect();
        emit(0, part, F::fold(params, &values));
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        F::samples()
    }
}

/// Defines the operator.
pub fn define<F: Folded>() -> OpDef {
    OpDef { reference: Some(run::<F>), same_as: Some(twins::of_reduction), ..formula::define::<Fold<F>>() }
}

fn run<F: Folded>(
    params: &OpParams,
    inputs: &[RefInput<'_>],
    outputs: &mut [RefOutput<'_>],
    mode: RunMode,
) -> Result<()> {
    let (data, out) = (&inputs[0], &mut outputs[0]);
    match F::INTEGERS {
        Some(fold) if !data.desc.dtype.is_float() && !out.desc.dtype.is_float() => {
            let (reduced, _) = F::axes(params.get(), data.desc.shape.ndim())?;
            let values = numeric::read_integers(data);
            let group = |group| members(&data.desc.shape, &reduced, group).into_iter().map(|at| values[at]);
            let results = (0..out.desc.shape.n_elements()).map(|at| fold(&group(at).collect::<Vec<i64>>()));
            numeric::write_integers(out, &results.collect::<Vec<i64>>());
            Ok(())
        }
        _ => formula::forward::<Fold<F>>(params, inputs, outputs, mode),
    }
}
