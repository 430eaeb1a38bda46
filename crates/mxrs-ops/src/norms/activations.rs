//! Softmax in other forms, and moments: `SoftmaxActivation` over the last axis (`instance`) or over the channels at each
//! position (`channel`); `softmin`, the softmax of the negative data; `moments`, the mean and the variance over axes; and
//! `softmax_cross_entropy`, the sum over examples of the negative logarithm of the softmax of their class, for data `[n, k]`
//! and label `[n]`.
//!
//! Gradient: of data.
//!
//! Dtypes: f32 f64 f16 bf16. `softmin` with `use_length` is not built, as MXNet gives it no input for the lengths.

use crate::dtypes::{FloatWord, dtype_of};
use crate::families::folded::{learn_result, members, of_axes};
use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::families::sorted::Axis;
use crate::inference::{OP, learn, learn_dim, learn_dtype, require_ndim, resolve_axis, unify, unify_dtypes};
use mxrs_op::param::{NoParams, ShapeAttr};
use mxrs_op::{Fill, OpDef, Sample, op_enum, op_params};
use mxrs_types::{DType, Error, PartialShape, Result, Shape};

op_enum! {
    /// Over which elements the softmax is taken.
    pub enum SoftmaxMode { Instance = "instance", Channel = "channel" }
}

op_params! {
    /// Parameters of `SoftmaxActivation`.
    pub struct SoftmaxActivationParams for "SoftmaxActivation" {
        /// Over which elements the softmax is taken.
        mode: SoftmaxMode = SoftmaxMode::Instance,
    }
}

op_params! {
    /// Parameters of `softmin`.
    pub struct SoftminParams for "softmin" {
        /// The axis along which to compute.
        axis: i32 = -1,
        /// Divides data before the exponential.
        temperature: Option<f64> = None,
        /// Element type of the output; that of data if absent.
        dtype: Option<FloatWord> = None,
        /// Whether lengths are given. Only False is built.
        use_length: Option<bool> = Some(false),
    }
}

op_params! {
    /// Parameters of `moments`.
    pub struct MomentsParams for "moments" {
        /// Axes over which the moments are taken; all axes if absent.
        axes: Option<ShapeAttr> = None,
        /// Whether these axes are kept with size 1.
        keepdims: bool = false,
    }
}

/// Functions that define the operators.
pub const DEFINITIONS: &[fn() -> OpDef] = &[
    formula::define::<SoftmaxActivation>,
    formula::define::<Softmin>,
    formula::define::<Moments>,
    formula::define::<SoftmaxCrossEntropy>,
];

/// The softmax of some numbers.
fn softmax<T: Number>(values: &[T]) -> Vec<T> {
    let largest = values.iter().fold(f64::NEG_INFINITY, |most, x| most.max(x.value()));
    let powers: Vec<T> = values.iter().map(|x| (*x - T::of(largest)).exp()).collect();
    let sum = powers.iter().fold(T::of(0.0), |sum, x| sum + *x);
    powers.into_iter().map(|x| x / sum).collect()
}

/// Emits the softmax of the elements at these positions.
fn emit_softmax<T: Number>(positions: &[usize], value: impl Fn(usize) -> T, emit: Emit<'_, T>) {
    let values: Vec<T> = positions.iter().map(|at| value(*at)).collect();
    positions.iter().zip(softmax(&values)).for_each(|(at, y)| emit(0, *at, y));
}

struct SoftmaxActivation;

impl SoftmaxActivation {
    /// The axes over which the softmax is taken.
    fn reduced(params: &SoftmaxActivationParams, ndim: usize) -> Vec<bool> {
        (0..ndim).map(|axis| if params.mode == SoftmaxMode::Instance { axis + 1 == ndim } else { axis == 1 }).collect()
    }
}

impl Formula for SoftmaxActivation {
    type Params = SoftmaxActivationParams;
    const NAME: &'static str = "SoftmaxActivation";
    const SUMMARY: &'static str = "softmax over the last axis, or over channels";
    const BACKWARD: &'static str = "_backward_SoftmaxActivation";

    fn infer_shape(
        params: &SoftmaxActivationParams,
        inputs: &mut [PartialShape],
        outputs: &mut [PartialShape],
    ) -> Result<()> {
        let least = if params.mode == SoftmaxMode::Instance { 2 } else { 3 };
        if inputs[0].ndim().is_some_and(|ndim| ndim < least) {
            return Err(Error::shape(OP, "data", format!("at least {least} axes"), &inputs[0]));
        }
        unify(&mut inputs[0], &mut outputs[0], "output")
    }

    fn n_parts(params: &SoftmaxActivationParams, inputs: &[Shape], _: &[Shape]) -> usize {
        let reduced = Self::reduced(params, inputs[0].ndim());
        (0..inputs[0].ndim()).filter(|axis| !reduced[*axis]).map(|axis| inputs[0][axis]).product()
    }

    fn part<T: Number>(
        params: &SoftmaxActivationParams,
        tensors: &Tensors<'_, T>,
        part: usize,
        emit: Emit<'_, T>,
    ) -> Result<()> {
        let shape = &tensors.inputs[0];
        emit_softmax(&members(shape, &Self::reduced(params, shape.ndim()), part), |at| tensors.at(0, at), emit);
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        vec![
            Sample::plain("rows", &[&[3, 4]]),
            Sample::plain("instance", &[&[2, 3, 2]]),
            Sample::new("channel", [("mode", "channel")], &[&[2, 3, 2]]),
            Sample::plain("empty", &[&[0, 3]]),
        ]
    }
}

struct Softmin;

impl Formula for Softmin {
    type Params = SoftminParams;
    const NAME: &'static str = "softmin";
    const SUMMARY: &'static str = "softmax of -data along an axis";
    const BACKWARD: &'static str = "_backward_softmin";

    fn infer_shape(params: &SoftminParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        if params.use_length == Some(true) {
            return Err(Error::not_built("softmin with use_length", "MXNet has no input for the lengths"));
        }
        inputs[0].ndim().map(|ndim| resolve_axis(i64::from(params.axis), ndim, "data")).transpose()?;
        unify(&mut inputs[0], &mut outputs[0], "output")
    }

    fn infer_dtype(params: &SoftminParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
        match params.dtype {
            Some(word) => learn_dtype(&mut outputs[0], dtype_of(word), "output"),
            None => unify_dtypes([&mut inputs[0], &mut outputs[0]], "output"),
        }
    }

    fn n_parts(params: &SoftminParams, inputs: &[Shape], _: &[Shape]) -> usize {
        Axis::of(&inputs[0], Some(params.axis)).map_or(0, |axis| axis.n_lines())
    }

    fn part<T: Number>(params: &SoftminParams, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        let axis = Axis::of(&tensors.inputs[0], Some(params.axis))?;
        let positions: Vec<usize> = (0..axis.size).map(|i| axis.position(part, i, axis.size)).collect();
        let factor = T::of(-1.0 / params.temperature.unwrap_or(1.0));
        emit_softmax(&positions, |at| tensors.at(0, at) * factor, emit);
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        vec![
            Sample::plain("rows", &[&[3, 4]]),
            Sample::new("columns", [("axis", "0")], &[&[4, 3]]),
            Sample::new("warm", [("temperature", "2.5")], &[&[2, 3, 2]]),
            Sample::plain("empty", &[&[0, 3]]),
        ]
    }
}

struct Moments;

impl Formula for Moments {
    type Params = MomentsParams;
    const NAME: &'static str = "moments";
    const SUMMARY: &'static str = "mean and variance over axes";
    const BACKWARD: &'static str = "_backward_moments";
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd_mean", "ograd_var", "data"];
    const OUTPUTS: &'static [&'static str] = &["output0", "output1"];

    fn infer_shape(params: &MomentsParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let Some(ndim) = inputs[0].ndim() else { return Ok(()) };
        let reduced = of_axes(&params.axes, ndim)?;
        outputs
            .iter_mut()
            .try_for_each(|output| learn_result(&mut inputs[0], output, (reduced.clone(), params.keepdims), false))
    }

    fn part<T: Number>(params: &MomentsParams, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        let shape = &tensors.inputs[0];
        let values: Vec<T> = members(shape, &of_axes(&params.axes, shape.ndim())?, part)
            .into_iter()
            .map(|at| tensors.at(0, at))
            .collect();
        let n = T::of(values.len() as f64);
        let mean = values.iter().fold(T::of(0.0), |sum, x| sum + *x) / n;
        let squares = values.iter().fold(T::of(0.0), |sum, x| sum + (*x - mean) * (*x - mean));
        emit(0, part, mean);
        emit(1, part, squares / n);
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        vec![
            Sample::new("rows", [("axes", "(1,)")], &[&[3, 4]]),
            Sample::new("kept", [("axes", "(0, -1)"), ("keepdims", "True")], &[&[2, 3, 2]]),
            Sample::plain("all", &[&[2, 3]]),
            Sample::new("empty", [("axes", "(1,)")], &[&[0, 3]]),
        ]
    }
}

struct SoftmaxCrossEntropy;

impl Formula for SoftmaxCrossEntropy {
    type Params = NoParams;
    const NAME: &'static str = "softmax_cross_entropy";
    const SUMMARY: &'static str = "sum of the cross entropies of the softmax and the labels";
    const BACKWARD: &'static str = "_backward_softmax_cross_entropy";
    const INPUTS: &'static [&'static str] = &["data", "label"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "data", "label"];

    fn infer_shape(_: &NoParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let ([data, label], [out]) = (inputs, outputs) else { return Ok(()) };
        require_ndim(data, 2, "data")?;
        learn(label, &PartialShape::new([data.dim(0)]), "label")?;
        learn_dim(data, 0, label.dim(0), "data")?;
        learn(out, &PartialShape::new([Some(1)]), "output")
    }

    fn part<T: Number>(_: &NoParams, tensors: &Tensors<'_, T>, _: usize, emit: Emit<'_, T>) -> Result<()> {
        let (n, k) = (tensors.inputs[0][0], tensors.inputs[0][1]);
        let mut loss = T::of(0.0);
        for row in 0..n {
            // A label that is not an integer is truncated.
            let label = tensors.values(1)[row].trunc();
            if !(0.0..k as f64).contains(&label) {
                return Err(Error::invalid("label", label, format!("the number of a class, below {k}")));
            }
            let values: Vec<T> = (0..k).map(|i| tensors.at(0, row * k + i)).collect();
            // As in MXNet, a probability counts as at least 1e-8.
            let p = softmax(&values)[label as usize];
            loss = loss - if p.value() < 1e-8 { T::of(1e-8f64.ln()) } else { p.ln() };
        }
        emit(0, 0, loss);
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let of = |name, n: usize, k: usize| Sample::plain(name, &[&[n, k], &[n]]).fill(1, Fill::Integers(0, k as i64));
        vec![of("three", 3, 4), of("one", 1, 2), of("more", 5, 3), of("empty", 0, 3)]
    }
}
