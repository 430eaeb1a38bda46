//! Cumulative sums (`_np_cumsum`), sums of diagonals (`_np_trace`), and positions of the largest or smallest element:
//! `_npi_argmax`, `_npi_argmin`, and `argmax_channel`, which is `argmax` along the last axis of a matrix.
//!
//! Cumulative sums of bools are int64, and so are positions. Without an axis, data is flattened. NaN counts as the largest
//! element, and as the smallest one too.
//!
//! Gradient: of the sums; positions have the gradient 0.
//!
//! MXNet: `_np_cumsum` is also `cumsum`.

use crate::dtypes::{MOVABLE, NUMBERS, dtype_of};
use crate::families::diagonals::Diagonal;
use crate::families::folded::learn_result;
use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::families::np_reduced::SpreadDtype;
use crate::families::sorted::Axis;
use crate::inference::{learn, learn_dtype, product, resolve_axis, unify};
use crate::numeric;
use crate::reduce::argmax::{self, ArgmaxParams};
use mxrs_op::{Gradient, OpDef, OpParams, Precision, RefInput, RefOutput, RunMode, Sample, op_params};
use mxrs_types::{DType, PartialShape, Result, Shape};

op_params! {
    /// Parameters of `_np_cumsum`.
    pub struct CumsumParams for "_np_cumsum" {
        /// Axis along which to sum; the flattened data if absent.
        axis: Option<i32> = None,
        /// Element type of the result; that of the input if absent.
        dtype: Option<SpreadDtype> = None,
    }
}

op_params! {
    /// Parameters of `_np_trace`.
    pub struct TraceParams for "_np_trace" {
        /// The diagonal: 0 is the main one, positive numbers are above it.
        offset: i32 = 0,
        /// The axis of the rows.
        axis1: i32 = 0,
        /// The axis of the columns.
        axis2: i32 = 1,
    }
}

/// Functions that define the operators.
pub const DEFINITIONS: &[fn() -> OpDef] =
    &[cumsum, formula::define::<Trace>, places::<false>, places::<true>, argmax_channel];

struct Cumsum;

impl Formula for Cumsum {
    type Params = CumsumParams;
    const NAME: &'static str = "_np_cumsum";
    const ALIASES: &'static [&'static str] = &["cumsum"];
    const SUMMARY: &'static str = "sums of leading elements";
    const BACKWARD: &'static str = "_backward_np_cumsum";
    const INPUTS: &'static [&'static str] = &["a"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "a"];
    const IGNORED_IN_BACKWARD: &'static [usize] = &[1];
    const DTYPES: &'static [DType] = MOVABLE;

    fn infer_shape(params: &CumsumParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        match params.axis {
            None => learn(&mut outputs[0], &PartialShape::new([inputs[0].dims().and_then(product)]), "output"),
            Some(axis) => {
                inputs[0].ndim().map(|ndim| resolve_axis(i64::from(axis), ndim, "a")).transpose()?;
                unify(&mut inputs[0], &mut outputs[0], "output")
            }
        }
    }

    fn infer_dtype(params: &CumsumParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
        if let (None, None, Some(out)) = (params.dtype, inputs[0], outputs[0])
            && out.is_float()
        {
            inputs[0] = Some(out);
        }
        match (params.dtype, inputs[0]) {
            (Some(word), _) => learn_dtype(&mut outputs[0], dtype_of(word), "output"),
            (None, Some(DType::Bool)) => learn_dtype(&mut outputs[0], DType::I64, "output"),
            (None, Some(data)) => learn_dtype(&mut outputs[0], data, "output"),
            (None, None) => Ok(()),
        }
    }

    /// One part for each line along the axis.
    fn n_parts(params: &CumsumParams, inputs: &[Shape], _: &[Shape]) -> usize {
        Axis::of(&inputs[0], params.axis).map_or(0, |axis| axis.n_lines())
    }

    fn part<T: Number>(params: &CumsumParams, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        let axis = Axis::of(&tensors.inputs[0], params.axis)?;
        let mut sum = T::of(0.0);
        for i in 0..axis.size {
            let at = axis.position(part, i, axis.size);
            sum = sum + tensors.at(0, at);
            emit(0, at, sum);
        }
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        vec![
            Sample::plain("flat", &[&[2, 3]]),
            Sample::new("last", [("axis", "-1")], &[&[2, 3, 2]]),
            Sample::new("first", [("axis", "0")], &[&[3, 2]]),
            Sample::new("empty", [("axis", "1")], &[&[0, 3]]),
        ]
    }
}

fn cumsum() -> OpDef {
    OpDef { reference: Some(run_cumsum), ..formula::define::<Cumsum>() }
}

/// Integers are summed as integers, of which results keep the low bits.
fn run_cumsum(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], mode: RunMode) -> Result<()> {
    if inputs[0].desc.dtype.is_float() || outputs[0].desc.dtype.is_float() {
        return formula::forward::<Cumsum>(params, inputs, outputs, mode);
    }
    let axis = Axis::of(&inputs[0].desc.shape, params.get::<CumsumParams>().axis)?;
    let mut values = numeric::read_integers(&inputs[0]);
    for line in 0..axis.n_lines() {
        for i in 1..axis.size {
            let (before, at) = (axis.position(line, i - 1, axis.size), axis.position(line, i, axis.size));
            values[at] = values[at].wrapping_add(values[before]);
        }
    }
    numeric::write_integers(&mut outputs[0], &values);
    Ok(())
}

struct Trace;

impl Formula for Trace {
    type Params = TraceParams;
    const NAME: &'static str = "_np_trace";
    const SUMMARY: &'static str = "sum of a diagonal";
    const BACKWARD: &'static str = "_backward_np_trace";
    const IGNORED_IN_BACKWARD: &'static [usize] = &[1];
    const DTYPES: &'static [DType] = NUMBERS;

    fn infer_shape(params: &TraceParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let Some(ndim) = inputs[0].ndim() else { return Ok(()) };
        let sizes = Diagonal::new(params.offset, params.axis1, params.axis2, ndim)?.sizes(&inputs[0]);
        let Some(dims) = sizes.as_ref().and_then(|sizes| sizes.dims()) else { return Ok(()) };
        learn(&mut outputs[0], &PartialShape::new(dims[..ndim - 2].iter().copied()), "output")
    }

    fn part<T: Number>(params: &TraceParams, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        let data = &tensors.inputs[0];
        let diagonal = Diagonal::new(params.offset, params.axis1, params.axis2, data.ndim())?;
        let len = diagonal.len(data[diagonal.rows], data[diagonal.columns]);
        let all: Shape = tensors.outputs[0].iter().copied().chain([len]).collect();
        let sources = diagonal.sources(data, &all);
        let terms = sources[part * len..(part + 1) * len].iter().flatten();
        emit(0, part, terms.fold(T::of(0.0), |sum, at| sum + tensors.at(0, *at)));
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        vec![
            Sample::plain("matrix", &[&[3, 4]]),
            Sample::new("above", [("offset", "1"), ("axis1", "0"), ("axis2", "2")], &[&[2, 3, 2]]),
            Sample::new("below", [("offset", "-1"), ("axis1", "-1"), ("axis2", "1")], &[&[2, 3, 4]]),
            Sample::plain("empty", &[&[0, 3]]),
        ]
    }
}

/// `_npi_argmin`, or else `_npi_argmax`.
fn places<const IS_MIN: bool>() -> OpDef {
    OpDef {
        infer_shape: |params, inputs, outputs| {
            let params: &ArgmaxParams = params.get();
            let Some(ndim) = inputs[0].ndim() else { return Ok(()) };
            let axis = params.axis.map(|axis| resolve_axis(i64::from(axis), ndim, "data")).transpose()?;
            let reduced = (0..ndim).map(|i| axis.is_none_or(|axis| axis == i)).collect();
            learn_result(&mut inputs[0], &mut outputs[0], (reduced, params.keepdims), true)
        },
        infer_dtype: |_, _, outputs| learn_dtype(&mut outputs[0], DType::I64, "output"),
        summary: if IS_MIN { "place of the minimum" } else { "place of the maximum" },
        precision_float16: None,
        ..argmax::define_as::<IS_MIN>(if IS_MIN { "_npi_argmin" } else { "_npi_argmax" })
    }
}

fn argmax_channel() -> OpDef {
    OpDef {
        summary: "place of the maximum of each row",
        dtypes: NUMBERS,
        gradient: Gradient::Zero,
        infer_shape: |_, inputs, outputs| {
            crate::inference::require_ndim(&mut inputs[0], 2, "data")?;
            let rows = inputs[0].dim(0);
            learn(&mut outputs[0], &PartialShape::new([rows]), "output")?;
            let rows = outputs[0].dim(0);
            crate::inference::learn_dim(&mut inputs[0], 0, rows, "data")
        },
        reference: Some(|_, inputs, outputs, mode| {
            let rows = OpParams::new(ArgmaxParams { axis: Some(1), keepdims: false });
            match argmax::define().reference {
                Some(function) => function(&rows, inputs, outputs, mode),
                None => Ok(()),
            }
        }),
        samples: || {
            vec![
                Sample::plain("matrix", &[&[4, 5]]),
                Sample::plain("row", &[&[1, 7]]),
                Sample::plain("one", &[&[1, 1]]),
                Sample::plain("empty", &[&[0, 3]]),
            ]
        },
        precision_float16: Some(Precision::follows),
        ..OpDef::new("argmax_channel")
    }
}
