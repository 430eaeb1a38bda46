//! Operators that are written as formulas of the elements of their inputs.
//!
//! A [`Formula`] computes the outputs part by part, with any kind of [`Number`]. With plain numbers it is the reference
//! kernel. With numbers that a tape records it is the gradient: `_backward_<name>` takes the gradients of the outputs and the
//! inputs, and returns the gradient of each input that has one. The tape is emptied after each part, so parts should be small.
//! Such gradients have no gradients themselves, like most of MXNet's.

mod number;

use crate::dtypes::FLOATS;
use crate::families::backward::samples_of;
use crate::families::gradients::{Answers, params_of};
use crate::inference::{unify, unify_dtypes};
use crate::numeric;
use mxrs_op::{
    Accuracy, DescribeProducts, Gradient, GradientScope, InputNames, OpDef, OpParams, OutputCount, Parameters,
    Precision, RefInput, RefOutput, RunMode, Sample,
};
use mxrs_types::{DType, PartialShape, Result, Shape};
pub use number::Number;
use number::{Tape, Taped, Whole};
use std::cell::RefCell;

/// The tensors of a call of a formula.
pub struct Tensors<'a, T> {
    /// Shapes of the inputs.
    pub inputs: &'a [Shape],
    /// Shapes of the outputs.
    pub outputs: &'a [Shape],
    /// Element type of the first input.
    pub dtype: DType,
    read: &'a dyn Fn(usize, usize) -> T,
    values: &'a [Vec<f64>],
}

impl<T> Tensors<'_, T> {
    /// Element number `at` of input number `input`, in row-major order.
    pub fn at(&self, input: usize, at: usize) -> T {
        (self.read)(input, at)
    }

    /// The values of an input, as constants.
    pub fn values(&self, input: usize) -> &[f64] {
        &self.values[input]
    }
}

/// Receives an element of an output: the number of the output, the position of the element in row-major order, and its value.
pub type Emit<'a, T> = &'a mut dyn FnMut(usize, usize, T);

/// An operator written as a formula.
pub trait Formula: Sized + 'static {
    /// Parameters of the operator.
    type Params: Parameters;
    /// MXNet's name.
    const NAME: &'static str;
    /// Other names.
    const ALIASES: &'static [&'static str] = &[];
    /// Description in one line.
    const SUMMARY: &'static str;
    /// Name of the operator that computes the gradients.
    const BACKWARD: &'static str;
    /// Names of the inputs.
    const INPUTS: &'static [&'static str] = &["data"];
    /// A name for the gradient of each output, then [`Self::INPUTS`].
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "data"];
    /// Names of the outputs.
    const OUTPUTS: &'static [&'static str] = &["output"];
    /// Inputs that have a gradient. With [`Self::VARIABLE`] every input has one.
    const DIFFERENTIATED: &'static [usize] = &[0];
    /// Set if the operator has a variable number of inputs: the prefix of their names, the name under which the C API lists
    /// them, and the parameter that holds their number. [`Self::INPUTS`] is then empty.
    const VARIABLE: Option<[&'static str; 3]> = None;
    /// How many of the last outputs are hidden. They exist because MXNet's operator has them, and hold zeros because nothing
    /// reads them. In the gradient, shape inference gets only the outputs before them.
    const N_HIDDEN: usize = 0;
    /// Element types of the first input.
    const DTYPES: &'static [DType] = FLOATS;
    /// How closely kernels agree with the formula.
    const ACCURACY: Accuracy = Accuracy::Reduction;
    /// Whether mixed precision converts all inputs to the widest type among them; otherwise, it computes in float32.
    const IS_WIDEST: bool = false;
    /// What mixed precision in float16 does, if that differs from [`Self::IS_WIDEST`].
    const PRECISION_FLOAT16: Option<fn(&OpParams) -> Precision> = None;
    /// Inputs of the gradient of which only the shape is read, as positions in [`Self::BACKWARD_INPUTS`].
    const IGNORED_IN_BACKWARD: &'static [usize] = &[];

    /// Element types of the gradient's first input, the gradient of output 0. Set if the outputs have other types than the
    /// inputs.
    const BACKWARD_DTYPES: Option<&'static [DType]> = None;
    /// Whether the operator computes sums of products with a weight.
    const IS_PRODUCT: bool = false;
    /// Whether integers are computed exactly, in 64 bits that wrap; otherwise they are computed as `f64`.
    const IS_WHOLE: bool = false;

    /// Describes calls that are products of matrices.
    const PRODUCTS: Option<DescribeProducts> = None;

    /// Number of inputs of a call, if it depends on the parameters: the first ones of [`Self::INPUTS`].
    fn n_inputs(params: &Self::Params) -> usize {
        let _ = params;
        Self::INPUTS.len()
    }

    /// Names of the inputs of a call, if they are not the first ones of [`Self::INPUTS`].
    fn input_names(params: &Self::Params) -> Vec<&'static str> {
        Self::INPUTS[..Self::n_inputs(params)].to_vec()
    }

    /// The inputs of a call that have a gradient.
    fn differentiated(params: &Self::Params) -> Vec<usize> {
        (0..Self::n_inputs(params)).filter(|i| Self::VARIABLE.is_some() || Self::DIFFERENTIATED.contains(i)).collect()
    }

    /// Shape inference.
    fn infer_shape(params: &Self::Params, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()>;

    /// Type inference. All inputs and outputs have one type by default.
    fn infer_dtype(params: &Self::Params, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
        let _ = params;
        unify_dtypes(inputs.iter_mut().chain(outputs), "data")
    }

    /// Number of parts. One for each element of the first output by default.
    fn n_parts(params: &Self::Params, inputs: &[Shape], outputs: &[Shape]) -> usize {
        let _ = (params, inputs);
        outputs[0].n_elements()
    }

    /// Computes the elements of one part. An element is emitted at most once; elements that no part emits are 0.
    ///
    /// # Errors
    /// Fails if the inputs hold values that have no result.
    fn part<T: Number>(params: &Self::Params, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()>;

    /// Example calls.
    fn samples() -> Vec<Sample>;
}

/// Number of visible outputs.
fn n_outputs<F: Formula>() -> usize {
    F::BACKWARD_INPUTS.len() - F::INPUTS.len()
}

fn has_no_gradient<F: Formula>() -> bool {
    F::DIFFERENTIATED.is_empty() && F::VARIABLE.is_none()
}

/// Defines the operator.
pub fn define<F: Formula>() -> OpDef {
    let has_none = has_no_gradient::<F>();
    OpDef {
        aliases: F::ALIASES,
        summary: F::SUMMARY,
        inputs: names::<F, false>(),
        n_outputs: OutputCount::Fixed(n_outputs::<F>() + F::N_HIDDEN),
        n_visible: OutputCount::Fixed(n_outputs::<F>()),
        output_names: F::OUTPUTS,
        infer_shape: |params, inputs, outputs| F::infer_shape(params.get(), inputs, outputs),
        infer_dtype: |params, inputs, outputs| F::infer_dtype(params.get(), inputs, outputs),
        dtypes: F::DTYPES,
        precision: if F::IS_WIDEST { Precision::widest } else { Precision::float32 },
        accuracy: if F::PRODUCTS.is_some() { Accuracy::Product } else { F::ACCURACY },
        precision_float16: F::PRECISION_FLOAT16,
        is_product: F::IS_PRODUCT,
        gradient: if has_none { Gradient::Zero } else { Gradient::By(gradient::<F>) },
        companions: || if has_no_gradient::<F>() { Vec::new() } else { vec![backward::<F>()] },
        products: F::PRODUCTS,
        multiply_adds: match F::PRODUCTS {
            None => OpDef::new(F::NAME).multiply_adds,
            Some(_) => |call| F::PRODUCTS.and_then(|of| of(call)).map_or(0, |products| products.multiply_adds()),
        },
        reference: Some(forward::<F>),
        samples: F::samples,
        ..OpDef::new(F::NAME).params::<F::Params>()
    }
}

/// The names of the inputs of a call, or of its gradient.
fn names<F: Formula, const IS_BACKWARD: bool>() -> InputNames {
    if let Some([prefix, listed, key]) = F::VARIABLE {
        let count = match IS_BACKWARD {
            false => |params: &OpParams| F::n_inputs(params.get()),
            true => |params: &OpParams| n_outputs::<F>() + F::n_inputs(params.get()),
        };
        return InputNames::Variable { prefix, listed, key, count };
    }
    let all = if IS_BACKWARD { F::BACKWARD_INPUTS } else { F::INPUTS };
    if F::INPUTS.len() < 2 {
        return InputNames::Fixed(all);
    }
    let chosen = match IS_BACKWARD {
        false => |params: &OpParams| F::input_names(params.get()),
        true => |params: &OpParams| [&F::BACKWARD_INPUTS[..n_outputs::<F>()], &F::input_names(params.get())].concat(),
    };
    InputNames::ByParams { all, chosen }
}

fn shapes_of(inputs: &[RefInput<'_>]) -> Vec<Shape> {
    inputs.iter().map(|input| input.desc.shape.clone()).collect()
}

/// The reference kernel of the operator.
///
/// # Errors
/// Returns the errors of the parts.
pub fn forward<F: Formula>(
    params: &OpParams,
    inputs: &[RefInput<'_>],
    outputs: &mut [RefOutput<'_>],
    _: RunMode,
) -> Result<()> {
    let is_whole = |dtype: DType| !dtype.is_float();
    if F::IS_WHOLE && is_whole(inputs[0].desc.dtype) && outputs.iter().all(|output| is_whole(output.desc.dtype)) {
        let read = |input: &RefInput<'_>| numeric::read_integers(input).into_iter().map(Whole).collect();
        return run::<F, Whole>(params, inputs, outputs, read, |output, results| {
            numeric::write_integers(output, &results.iter().map(|Whole(value)| *value).collect::<Vec<i64>>());
        });
    }
    run::<F, f64>(params, inputs, outputs, numeric::read, numeric::write)
}

/// Computes the outputs with one kind of number.
fn run<F: Formula, T: Number>(
    params: &OpParams,
    inputs: &[RefInput<'_>],
    outputs: &mut [RefOutput<'_>],
    read: impl Fn(&RefInput<'_>) -> Vec<T>,
    write: impl Fn(&mut RefOutput<'_>, &[T]),
) -> Result<()> {
    let params: &F::Params = params.get();
    let shapes: Vec<Shape> = outputs.iter().map(|output| output.desc.shape.clone()).collect();
    let mut results: Vec<Vec<T>> = shapes.iter().map(|shape| vec![T::of(0.0); shape.n_elements()]).collect();
    let numbers: Vec<Vec<T>> = inputs.iter().map(read).collect();
    let values: Vec<Vec<f64>> = inputs.iter().map(numeric::read).collect();
    let tensors = Tensors {
        inputs: &shapes_of(inputs),
        outputs: &shapes,
        dtype: inputs[0].desc.dtype,
        read: &|input, at| numbers[input][at],
        values: &values,
    };
    for part in 0..F::n_parts(params, tensors.inputs, &shapes) {
        F::part(params, &tensors, part, &mut |output, at, value| results[output][at] = value)?;
    }
    outputs.iter_mut().zip(results).for_each(|(output, values)| write(output, &values));
    Ok(())
}

fn gradient<F: Formula>(params: &OpParams, scope: &mut dyn GradientScope) -> Answers {
    let n = scope.n_inputs();
    let mut inputs = (0..n_outputs::<F>()).map(|i| scope.out_grad(i)).collect::<Result<Vec<_>>>()?;
    inputs.extend((0..n).map(|i| scope.input(i)));
    let attrs = params_of(scope);
    let made = scope.call(F::BACKWARD, attrs, &inputs)?;
    let mut answers = vec![None; n];
    F::differentiated(params.get()).into_iter().zip(made).for_each(|(i, made)| answers[i] = Some(made));
    Ok(answers)
}

/// The number of inputs with a gradient. If the number of inputs comes from a file, no list of them may be made before the number
/// is checked.
fn n_differentiated<F: Formula>(params: &OpParams) -> usize {
    match F::VARIABLE {
        Some(_) => F::n_inputs(params.get()),
        None => F::differentiated(params.get()).len(),
    }
}

fn backward<F: Formula>() -> OpDef {
    OpDef {
        summary: "gradient of an operator that is a formula",
        inputs: names::<F, true>(),
        n_outputs: OutputCount::ByParams(n_differentiated::<F>),
        n_visible: OutputCount::ByParams(n_differentiated::<F>),
        infer_shape: |params, inputs, outputs| {
            let (ograds, inputs) = inputs.split_at_mut(n_outputs::<F>());
            let mut shared = |inputs: &mut [PartialShape]| {
                let mut pairs = F::differentiated(params.get()).into_iter().zip(outputs.iter_mut());
                pairs.try_for_each(|(i, output)| unify(&mut inputs[i], output, "data"))
            };
            shared(inputs)?;
            F::infer_shape(params.get(), inputs, ograds)?;
            shared(inputs)
        },
        infer_dtype: |params, inputs, outputs| {
            let (ograds, inputs) = inputs.split_at_mut(n_outputs::<F>());
            let mut shared = |inputs: &mut [Option<DType>]| {
                let mut pairs = F::differentiated(params.get()).into_iter().zip(outputs.iter_mut());
                pairs.try_for_each(|(i, output)| unify_dtypes([&mut inputs[i], output], "data"))
            };
            shared(inputs)?;
            F::infer_dtype(params.get(), inputs, ograds)?;
            shared(inputs)
        },
        // Integers have no gradients.
        dtypes: F::BACKWARD_DTYPES.unwrap_or(if F::DTYPES.len() > FLOATS.len() { FLOATS } else { F::DTYPES }),
        accuracy: F::ACCURACY,
        is_product: F::IS_PRODUCT,
        ignored_inputs: F::IGNORED_IN_BACKWARD,
        reference: Some(run_backward::<F>),
        samples: || {
            let n = n_outputs::<F>();
            let mut samples =
                samples_of(&define::<F>(), |sample, outputs| Some([&outputs[..n], &sample.inputs].concat()));
            if let Some([only]) = F::BACKWARD_DTYPES {
                samples.iter_mut().flat_map(|s| &mut s.inputs[..n]).for_each(|ograd| ograd.dtype = Some(*only));
            }
            samples
        },
        ..OpDef::new(F::BACKWARD).params::<F::Params>()
    }
}

fn run_backward<F: Formula>(
    params: &OpParams,
    inputs: &[RefInput<'_>],
    outputs: &mut [RefOutput<'_>],
    _: RunMode,
) -> Result<()> {
    let params: &F::Params = params.get();
    let (ograds, inputs) = inputs.split_at(n_outputs::<F>());
    let (in_shapes, out_shapes) = (shapes_of(inputs), shapes_of(ograds));
    let ignored = |i: &usize| F::IGNORED_IN_BACKWARD.contains(&(i + ograds.len()));
    // An input of which only the shape matters may have no content.
    let values: Vec<Vec<f64>> = inputs
        .iter()
        .enumerate()
        .map(|(i, input)| if ignored(&i) { vec![0.0; input.desc.shape.n_elements()] } else { numeric::read(input) })
        .collect();
    let ograds: Vec<Vec<f64>> = ograds.iter().map(numeric::read).collect();
    let mut sums: Vec<Vec<f64>> = in_shapes.iter().map(|shape| vec![0.0; shape.n_elements()]).collect();
    let differentiated = F::differentiated(params);
    let mut tape = Tape::default();
    for part in 0..F::n_parts(params, &in_shapes, &out_shapes) {
        let read_at = RefCell::new(Vec::new());
        let mut seeds = Vec::new();
        {
            let read = |input: usize, at: usize| {
                let value = values[input][at];
                if !differentiated.contains(&input) {
                    return Taped::of(value);
                }
                let leaf = tape.leaf(value);
                read_at.borrow_mut().push((leaf.at(), input, at));
                leaf
            };
            let tensors = Tensors {
                inputs: &in_shapes,
                outputs: &out_shapes,
                dtype: inputs[0].desc.dtype,
                read: &read,
                values: &values,
            };
            F::part(params, &tensors, part, &mut |output, at, value: Taped<'_>| {
                seeds.push((value.at(), ograds[output][at]));
            })?;
        }
        let slopes = tape.sweep(&seeds);
        read_at.into_inner().into_iter().for_each(|(node, input, at)| sums[input][at] += slopes[node]);
    }
    for (i, output) in differentiated.iter().zip(outputs) {
        numeric::write(output, &sums[*i]);
    }
    Ok(())
}
