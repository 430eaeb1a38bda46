//! Gradients of operators that are linear in data and in a weight: fully-connected layers and convolutions.
//!
//! Let `out = F(data, weight) + bias`, and `g` the gradient of out. Three operators compute the gradients, and each is
//! called only if its result is needed: `_backward_F_data(g, weight)`, `_backward_F_weight(g, data)` and
//! `_backward_F_bias(g)`. Each of them also has a last input, the tensor whose gradient it computes; only the shape of
//! this tensor is used. Because F is bilinear, `_backward_F_data` and `_backward_F_weight` are bilinear too, and their
//! gradients are calls of F and of each other. So these operators have gradients of every order.

use crate::dtypes::FLOATS;
use crate::families::backward::{samples_of, uniform};
use crate::families::gradients::{Answers, params_of};
use crate::families::indexing::around_axis;
use crate::inference::{OP, learn, learn_dim, unify, unify_dtypes};
use crate::numeric;
use mxrs_op::param::Parameters;
use mxrs_op::{
    Accuracy, GradValue, Gradient, GradientScope, InputNames, OpDef, OpParams, RefInput, RefOutput, ReferenceFn,
    RunMode, TensorDesc,
};
use mxrs_types::{DType, Error, PartialShape, Result, Shape};

/// An operator with inputs data, weight and, unless `no_bias`, bias, that is linear in each of the first two.
pub trait Product {
    /// Type of the operator's parameters.
    type Params: Parameters;
    /// Name of the operator.
    const FORWARD: &'static str;
    /// Name of the operator that computes the gradient of data.
    const TO_DATA: &'static str;
    /// Name of the operator that computes the gradient of the weight.
    const TO_WEIGHT: &'static str;
    /// Name of the operator that computes the gradient of the bias.
    const TO_BIAS: &'static str;
    /// Name of the operator that computes the gradient of [`Self::TO_BIAS`].
    const FROM_BIAS: &'static str;
    /// Defines the operator.
    fn define() -> OpDef;
    /// Whether there is no bias.
    fn no_bias(params: &Self::Params) -> bool;
    /// Infers the shapes of the inputs (`data`, `weight` and, if there is one, `bias`) and of the output.
    ///
    /// # Errors
    /// Fails if the shapes contradict each other or the parameters.
    fn infer_shape(params: &Self::Params, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()>;
    /// Computes the output, of shape `out`, from the inputs `data`, `weight` and, if there is one, `bias`. The values are in
    /// row-major order and not yet rounded.
    ///
    /// # Errors
    /// Fails if the operator cannot run with these parameters.
    fn values(params: &Self::Params, inputs: &[RefInput<'_>], out: &Shape) -> Result<Vec<f64>>;
    /// The axis of the output that has one element of the bias per position.
    fn bias_axis(params: &Self::Params, ndim: usize) -> usize;
    /// Reference kernel of `(g, weight, data) -> gradient of data`.
    const DATA_KERNEL: ReferenceFn;
    /// Reference kernel of `(g, data, weight) -> gradient of the weight`.
    const WEIGHT_KERNEL: ReferenceFn;
}

/// The definition of the product `P`, without aliases, summary and samples.
pub fn operator<P: Product>() -> OpDef {
    OpDef {
        inputs: InputNames::ByParams {
            all: &["data", "weight", "bias"],
            chosen: |params| match P::no_bias(params.get()) {
                true => vec!["data", "weight"],
                false => vec!["data", "weight", "bias"],
            },
        },
        infer_shape: |params, inputs, outputs| P::infer_shape(params.get(), inputs, outputs),
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "weight"),
        dtypes: FLOATS,
        is_costly: true,
        is_product: true,
        accuracy: Accuracy::Product,
        multiply_adds: |call| of_product(call.outputs.first(), call.inputs.get(1)),
        gradient: Gradient::By(gradient::<P>),
        companions: companions::<P>,
        reference: Some(|params, inputs, outputs, _| {
            let y = P::values(params.get(), inputs, &outputs[0].desc.shape)?;
            numeric::write(&mut outputs[0], &y);
            Ok(())
        }),
        ..OpDef::new(P::FORWARD).params::<P::Params>()
    }
}

/// The operators that compute the gradients of the product `P`.
pub fn companions<P: Product>() -> Vec<OpDef> {
    let define = |name| OpDef {
        infer_dtype,
        dtypes: FLOATS,
        is_costly: true,
        is_product: true,
        accuracy: Accuracy::Product,
        ..OpDef::new(name).params::<P::Params>()
    };
    vec![
        OpDef {
            summary: "gradient of data",
            inputs: InputNames::Fixed(&["ograd", "weight", "data"]),
            ignored_inputs: &[2],
            infer_shape: infer_data::<P>,
            multiply_adds: |call| of_product(call.inputs.first(), call.inputs.get(1)),
            reference: Some(P::DATA_KERNEL),
            gradient: Gradient::By(gradient_of_data::<P>),
            samples: || {
                samples_of(&P::define(), |s, outputs| {
                    Some(vec![outputs.first()?.clone(), s.inputs.get(1)?.clone(), s.inputs.first()?.clone()])
                })
            },
            ..define(P::TO_DATA)
        },
        OpDef {
            summary: "gradient of the weight",
            inputs: InputNames::Fixed(&["ograd", "data", "weight"]),
            infer_dtype: infer_sum_dtype,
            ignored_inputs: &[2],
            infer_shape: infer_weight::<P>,
            multiply_adds: |call| of_product(call.inputs.first(), call.outputs.first()),
            reference: Some(P::WEIGHT_KERNEL),
            gradient: Gradient::By(gradient_of_weight::<P>),
            samples: || {
                samples_of(&P::define(), |s, outputs| {
                    Some(vec![outputs.first()?.clone(), s.inputs.first()?.clone(), s.inputs.get(1)?.clone()])
                })
            },
            ..define(P::TO_WEIGHT)
        },
        OpDef {
            summary: "gradient of the bias",
            // This operator only sums elements of `ograd`; it multiplies nothing.
            is_product: false,
            inputs: InputNames::Fixed(&["ograd", "bias"]),
            infer_dtype: infer_sum_dtype,
            ignored_inputs: &[1],
            infer_shape: infer_bias::<P>,
            reference: Some(sum_to_bias::<P>),
            gradient: Gradient::By(gradient_of_bias::<P>),
            samples: || {
                samples_of(&P::define(), |s, outputs| Some(vec![outputs.first()?.clone(), s.inputs.get(2)?.clone()]))
            },
            ..define(P::TO_BIAS)
        },
        OpDef {
            summary: "gradient of the bias's gradient: a bias, once for every cell of out",
            // This operator only copies the bias; it multiplies nothing.
            is_product: false,
            inputs: InputNames::Fixed(&["bias", "ograd"]),
            ignored_inputs: &[1],
            infer_shape: infer_from_bias::<P>,
            reference: Some(spread_bias::<P>),
            accuracy: Accuracy::Exact,
            gradient: Gradient::By(gradient_from_bias::<P>),
            samples: || {
                samples_of(&P::define(), |s, outputs| {
                    Some(vec![uniform(&s.inputs.get(2)?.shape), outputs.first()?.clone()])
                })
            },
            ..define(P::FROM_BIAS)
        },
    ]
}

/// Counts the multiplications. Each element of out sums one product per weight value of its channel. The gradients of data
/// and weight each need the same number of multiplications.
fn of_product(out: Option<&TensorDesc>, weight: Option<&TensorDesc>) -> u64 {
    let (Some(out), Some(weight)) = (out, weight) else { return 0 };
    let per_channel = weight.shape.iter().skip(1).fold(1u64, |product, size| product.saturating_mul(*size as u64));
    per_channel.saturating_mul(out.shape.n_elements() as u64)
}

/// Calls operator `op` on `inputs`, with the attributes of the differentiated call.
fn call(scope: &mut dyn GradientScope, op: &str, inputs: &[GradValue]) -> Result<Option<GradValue>> {
    let attrs = params_of(scope);
    Ok(scope.call(op, attrs, inputs)?.first().copied())
}

/// Calls `F(data, weight)` without a bias, with the attributes of the differentiated call.
fn call_forward<P: Product>(
    scope: &mut dyn GradientScope,
    data: GradValue,
    weight: GradValue,
) -> Result<Option<GradValue>> {
    let mut attrs = params_of(scope);
    attrs.set("no_bias", "True");
    Ok(scope.call(P::FORWARD, attrs, &[data, weight])?.first().copied())
}

/// Gradient of the forward operator.
fn gradient<P: Product>(_: &OpParams, scope: &mut dyn GradientScope) -> Answers {
    let g = scope.out_grad(0)?;
    let mut gradients = vec![None; scope.n_inputs()];
    if scope.wants(0) {
        let inputs = [g, scope.input(1), scope.input(0)];
        gradients[0] = call(scope, P::TO_DATA, &inputs)?;
    }
    if scope.wants(1) {
        let inputs = [g, scope.input(0), scope.input(1)];
        gradients[1] = call(scope, P::TO_WEIGHT, &inputs)?;
    }
    if scope.n_inputs() > 2 && scope.wants(2) {
        let inputs = [g, scope.input(2)];
        gradients[2] = call(scope, P::TO_BIAS, &inputs)?;
    }
    Ok(gradients)
}

/// Gradient of the operator `(ograd, weight, data) -> gradient of data`. It follows from the inner product of that
/// operator's result with a fixed `g`, which is `⟨ograd, F(g, weight)⟩`.
fn gradient_of_data<P: Product>(_: &OpParams, scope: &mut dyn GradientScope) -> Answers {
    let (g, ograd, weight) = (scope.out_grad(0)?, scope.input(0), scope.input(1));
    let to_ograd = if scope.wants(0) { call_forward::<P>(scope, g, weight)? } else { None };
    let to_weight = if scope.wants(1) { call(scope, P::TO_WEIGHT, &[ograd, g, weight])? } else { None };
    Ok(vec![to_ograd, to_weight, None])
}

/// Gradient of the operator `(ograd, data, weight) -> gradient of the weight`. It follows from the inner product of that
/// operator's result with a fixed `g`, which is `⟨ograd, F(data, g)⟩`.
fn gradient_of_weight<P: Product>(_: &OpParams, scope: &mut dyn GradientScope) -> Answers {
    let (g, ograd, data) = (scope.out_grad(0)?, scope.input(0), scope.input(1));
    let to_ograd = if scope.wants(0) { call_forward::<P>(scope, data, g)? } else { None };
    let to_data = if scope.wants(1) { call(scope, P::TO_DATA, &[ograd, g, data])? } else { None };
    Ok(vec![to_ograd, to_data, None])
}

fn gradient_of_bias<P: Product>(_: &OpParams, scope: &mut dyn GradientScope) -> Answers {
    let inputs = [scope.out_grad(0)?, scope.input(0)];
    Ok(vec![call(scope, P::FROM_BIAS, &inputs)?, None])
}

fn gradient_from_bias<P: Product>(_: &OpParams, scope: &mut dyn GradientScope) -> Answers {
    let inputs = [scope.out_grad(0)?, scope.input(0)];
    Ok(vec![call(scope, P::TO_BIAS, &inputs)?, None])
}

pub(crate) fn infer_dtype(_: &OpParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    unify_dtypes(inputs.iter_mut().chain(outputs), "ograd")
}

/// Infers the dtypes of the operators that compute the gradients of weight and bias, whose inputs are (ograd, data,
/// weight) and (ograd, bias). The result has the type of the last input. The last input has type float32 or the type of
/// the other inputs.
fn infer_sum_dtype(_: &OpParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    let Some((like, factors)) = inputs.split_last_mut() else { return Ok(()) };
    unify_dtypes(factors.iter_mut(), "ograd")?;
    unify_dtypes([&mut *like, &mut outputs[0]], "output")?;
    match (factors[0], *like) {
        (Some(DType::F16 | DType::BF16), Some(DType::F32)) => Ok(()),
        _ => unify_dtypes(factors.iter_mut().chain([like, &mut outputs[0]]), "ograd"),
    }
}

/// Applies the shape inference of the forward operator to data, weight and the gradient of the output.
pub(crate) fn infer_forward<P: Product>(
    params: &OpParams,
    data: &mut PartialShape,
    weight: &mut PartialShape,
    ograd: &mut PartialShape,
) -> Result<()> {
    let mut inputs = [std::mem::take(data), std::mem::take(weight)];
    let result = P::infer_shape(params.get(), &mut inputs, std::slice::from_mut(ograd));
    [*data, *weight] = inputs;
    result
}

fn infer_data<P: Product>(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let [ograd, weight, data] = inputs else { return Ok(()) };
    unify(data, &mut outputs[0], "output")?;
    infer_forward::<P>(params, data, weight, ograd)?;
    learn(&mut outputs[0], data, "output")
}

fn infer_weight<P: Product>(
    params: &OpParams,
    inputs: &mut [PartialShape],
    outputs: &mut [PartialShape],
) -> Result<()> {
    let [ograd, data, weight] = inputs else { return Ok(()) };
    unify(weight, &mut outputs[0], "output")?;
    infer_forward::<P>(params, data, weight, ograd)?;
    learn(&mut outputs[0], weight, "output")
}

/// Infers the shapes of a bias and of the gradient of out from each other.
fn relate<P: Product>(params: &OpParams, bias: &mut PartialShape, ograd: &mut PartialShape) -> Result<()> {
    learn(bias, &PartialShape::of_rank(1), "bias")?;
    let Some(ndim) = ograd.ndim() else { return Ok(()) };
    let axis = P::bias_axis(params.get::<P::Params>(), ndim);
    if axis >= ndim {
        return Err(Error::shape(OP, "ograd", format!("at least {} axes", axis + 1), &*ograd));
    }
    learn_dim(bias, 0, ograd.dim(axis), "bias")?;
    learn_dim(ograd, axis, bias.dim(0), "ograd")
}

fn infer_bias<P: Product>(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let [ograd, bias] = inputs else { return Ok(()) };
    unify(bias, &mut outputs[0], "output")?;
    relate::<P>(params, bias, ograd)?;
    learn(&mut outputs[0], bias, "output")
}

fn infer_from_bias<P: Product>(
    params: &OpParams,
    inputs: &mut [PartialShape],
    outputs: &mut [PartialShape],
) -> Result<()> {
    let [bias, ograd] = inputs else { return Ok(()) };
    unify(ograd, &mut outputs[0], "output")?;
    relate::<P>(params, bias, ograd)?;
    learn(&mut outputs[0], ograd, "output")
}

fn sum_to_bias<P: Product>(
    params: &OpParams,
    inputs: &[RefInput<'_>],
    outputs: &mut [RefOutput<'_>],
    _: RunMode,
) -> Result<()> {
    let shape = &inputs[0].desc.shape;
    let (outer, size, inner) = around_axis(shape, P::bias_axis(params.get::<P::Params>(), shape.ndim()));
    let g = numeric::read(&inputs[0]);
    let sum =
        |c: usize| (0..outer).flat_map(|o| (0..inner).map(move |i| (o * size + c) * inner + i)).map(|i| g[i]).sum();
    let sums: Vec<f64> = (0..size).map(sum).collect();
    numeric::write(&mut outputs[0], &sums);
    Ok(())
}

fn spread_bias<P: Product>(
    params: &OpParams,
    inputs: &[RefInput<'_>],
    outputs: &mut [RefOutput<'_>],
    _: RunMode,
) -> Result<()> {
    let shape = &outputs[0].desc.shape;
    let (_, size, inner) = around_axis(shape, P::bias_axis(params.get::<P::Params>(), shape.ndim()));
    let bias = numeric::read(&inputs[0]);
    let spread: Vec<f64> = (0..shape.n_elements()).map(|i| bias[i / inner % size]).collect();
    numeric::write(&mut outputs[0], &spread);
    Ok(())
}
