//! Operators that move elements: each element of the output is an element of one input, or a constant.
//!
//! A [`Move`] says which element goes where. From it follow the operator, its gradient `_backward_<name>` (each element of the
//! input gets the sum of the gradients of its copies), and the gradient of that, which moves again.

use crate::dtypes::MOVABLE;
use crate::families::backward::samples_of;
use crate::families::gradients::{Answers, call_with_params, params_of};
use crate::inference::{unify, unify_dtypes};
use crate::numeric;
use mxrs_op::{
    Gradient, GradientScope, InputNames, MovedParts, MovedRows, Moves, OpDef, OpParams, Parameters, Precision,
    RefInput, RefOutput, RunMode, Sample, elements,
};
use mxrs_types::{DType, Error, PartialShape, Result, Shape};

/// An operator that moves elements.
pub trait Move: Sized + 'static {
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
    /// Names of the inputs.
    const INPUTS: &'static [&'static str] = &["data"];
    /// `ograd`, then [`Self::INPUTS`].
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "data"];
    /// The input whose elements are moved.
    const MOVED: usize = 0;
    /// Inputs of which only the shape matters.
    const IGNORED: &'static [usize] = &[];
    /// Inputs of the gradient of which only the shape is read: [`Self::MOVED`] and [`Self::IGNORED`], each plus 1 because
    /// `ograd` comes first.
    const IGNORED_IN_BACKWARD: &'static [usize] = &[1];
    /// The parameter that holds the constant, if there is one.
    const CONSTANT: Option<&'static str> = None;
    /// Types of the moved elements.
    const DTYPES: &'static [DType] = MOVABLE;
    /// Whether the content of an input says which rows move; [`Self::rows`] then returns them.
    const BY_CONTENT: bool = false;
    /// Whether mixed precision computes in float32 instead of the type of the input.
    const IS_FLOAT32: bool = false;

    /// Number of inputs of a call, if it depends on the parameters.
    fn n_inputs(params: &Self::Params) -> usize {
        let _ = params;
        Self::INPUTS.len()
    }

    /// Shape inference.
    fn infer_shape(params: &Self::Params, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()>;

    /// Type inference. The inputs and the output have one type by default.
    fn infer_dtype(params: &Self::Params, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
        let _ = params;
        unify_dtypes(inputs.iter_mut().chain(outputs), "data")
    }

    /// For each element of the output in row-major order, the position of the element that goes there; `None` for the
    /// constant. The default is for operators that have [`Self::rows`].
    fn sources(params: &Self::Params, inputs: &[RefInput<'_>], out: &Shape) -> Result<Vec<Option<usize>>> {
        Ok(Self::rows(params, inputs, out)?.sources())
    }

    /// The same moves as parts with constant steps, which faster kernels copy. They follow from the shapes of the inputs and
    /// of the output. `None` if the operator, or a call with these parameters, has no such description.
    fn parts(params: &Self::Params, inputs: &[&Shape], out: &Shape) -> Result<Option<MovedParts>> {
        let _ = (params, inputs, out);
        Ok(None)
    }

    /// The rows that move, if they depend on the content of an input.
    fn rows(params: &Self::Params, inputs: &[RefInput<'_>], out: &Shape) -> Result<MovedRows> {
        let _ = (params, inputs, out);
        Err(Error::not_built(format!("rows of {}", Self::NAME), "its elements do not move in rows"))
    }

    /// The constant.
    fn constant(params: &Self::Params) -> f64 {
        let _ = params;
        0.0
    }

    /// Example calls.
    fn samples() -> Vec<Sample>;
}

/// Defines the operator.
pub fn define<M: Move>() -> OpDef {
    OpDef {
        aliases: M::ALIASES,
        summary: M::SUMMARY,
        inputs: names::<M>(M::INPUTS, 0),
        infer_shape: |params, inputs, outputs| M::infer_shape(params.get(), inputs, outputs),
        infer_dtype: |params, inputs, outputs| M::infer_dtype(params.get(), inputs, outputs),
        dtypes: M::DTYPES,
        ignored_inputs: M::IGNORED,
        moves: moves_of::<M>(false),
        precision: if M::IS_FLOAT32 { Precision::float32 } else { Precision::follows },
        gradient: Gradient::By(|_, scope| gradient::<M>(scope)),
        companions: || vec![backward::<M>()],
        reference: Some(forward::<M>),
        samples: M::samples,
        ..OpDef::new(M::NAME).params::<M::Params>()
    }
}

/// Describes the moves of the operator, or of its gradient, for faster kernels.
fn moves_of<M: Move>(is_backward: bool) -> Moves {
    if M::BY_CONTENT {
        let rows = |params: &OpParams, inputs: &[RefInput<'_>], out: &Shape| M::rows(params.get(), inputs, out);
        return Moves::Rows { rows, moved: M::MOVED + usize::from(is_backward), is_backward };
    }
    match is_backward {
        false => Moves::Parts(|params, inputs, outputs| M::parts(params.get(), inputs, outputs[0])),
        true => Moves::Parts(|params, inputs, _| {
            Ok(M::parts(params.get(), &inputs[1..], inputs[0])?.map(|moved| moved.back(M::MOVED)))
        }),
    }
}

/// The names of the inputs of the operator if `n_before` is 0, otherwise of its gradient, where `ograd` comes before them.
fn names<M: Move>(all: &'static [&'static str], n_before: usize) -> InputNames {
    if M::INPUTS.len() < 2 {
        return InputNames::Fixed(all);
    }
    let chosen = match n_before {
        0 => |params: &OpParams| M::INPUTS[..M::n_inputs(params.get())].to_vec(),
        _ => |params: &OpParams| M::BACKWARD_INPUTS[..1 + M::n_inputs(params.get())].to_vec(),
    };
    InputNames::ByParams { all, chosen }
}

fn forward<M: Move>(
    params: &OpParams,
    inputs: &[RefInput<'_>],
    outputs: &mut [RefOutput<'_>],
    _: RunMode,
) -> Result<()> {
    let params: &M::Params = params.get();
    let (from, out) = (&inputs[M::MOVED], &mut outputs[0]);
    let sources = M::sources(params, inputs, &out.desc.shape)?;
    let size = out.desc.dtype.size_of();
    let mut constant = [0u64; 1];
    let constant = &mut bytemuck::cast_slice_mut::<u64, u8>(&mut constant)[..size];
    elements::write_f64(&[M::constant(params)], out.desc.dtype, constant);
    for (to, source) in out.bytes.chunks_exact_mut(size).zip(sources) {
        to.copy_from_slice(source.map_or(&*constant, |at| &from.bytes[at * size..][..size]));
    }
    Ok(())
}

fn gradient<M: Move>(scope: &mut dyn GradientScope) -> Answers {
    let n = scope.n_inputs();
    let saved: Vec<_> = (0..n).map(|i| scope.input(i)).collect();
    let mut answers = vec![None; n];
    answers[M::MOVED] = Some(call_with_params(scope, M::BACKWARD, &saved)?);
    Ok(answers)
}

fn backward<M: Move>() -> OpDef {
    OpDef {
        summary: "gradient of an operator that moves elements",
        inputs: names::<M>(M::BACKWARD_INPUTS, 1),
        infer_shape: |params, inputs, outputs| {
            let [ograd, inputs @ ..] = inputs else { return Ok(()) };
            unify(&mut inputs[M::MOVED], &mut outputs[0], "data")?;
            M::infer_shape(params.get(), inputs, std::slice::from_mut(ograd))?;
            unify(&mut inputs[M::MOVED], &mut outputs[0], "data")
        },
        infer_dtype: |params, inputs, outputs| {
            let [ograd, inputs @ ..] = inputs else { return Ok(()) };
            unify_dtypes([&mut *ograd, &mut inputs[M::MOVED], &mut outputs[0]], "data")?;
            M::infer_dtype(params.get(), inputs, std::slice::from_mut(ograd))
        },
        dtypes: M::DTYPES,
        ignored_inputs: M::IGNORED_IN_BACKWARD,
        moves: moves_of::<M>(true),
        accuracy: mxrs_op::Accuracy::Reduction,
        gradient: Gradient::By(|_, scope| {
            let mut inputs: Vec<_> = (1..scope.n_inputs()).map(|i| scope.input(i)).collect();
            inputs[M::MOVED] = scope.out_grad(0)?;
            let mut answers = vec![None; scope.n_inputs()];
            let mut attrs = params_of(scope);
            if let Some(key) = M::CONSTANT {
                // This call moves the gradient of the gradient. The constant does not depend on data, so its derivative 0
                // takes its place.
                attrs.set(key, "0");
            }
            answers[0] = Some(scope.call(M::NAME, attrs, &inputs)?[0]);
            Ok(answers)
        }),
        reference: Some(|params, inputs, outputs, _| {
            let (ograd, inputs) = (&inputs[0], &inputs[1..]);
            let sources = M::sources(params.get(), inputs, &ograd.desc.shape)?;
            add_at(ograd, &mut outputs[0], &sources);
            Ok(())
        }),
        samples: || {
            samples_of(&define::<M>(), |sample, outputs| {
                let mut inputs = sample.inputs.clone();
                inputs[M::MOVED].fill = mxrs_op::Fill::Uniform(-1.0, 1.0);
                inputs.insert(0, outputs[0].clone());
                Some(inputs)
            })
        },
        ..OpDef::new(M::BACKWARD).params::<M::Params>()
    }
}

/// Adds each element of `from` to the element of `to` at its position, if it has one. `to` holds 0 where nothing is added.
pub fn add_at(from: &RefInput<'_>, to: &mut RefOutput<'_>, positions: &[Option<usize>]) {
    let n = to.desc.shape.n_elements();
    if to.desc.dtype.is_float() {
        let mut sums = vec![0.0; n];
        let terms = positions.iter().zip(numeric::read(from));
        terms.for_each(|(at, x)| at.iter().for_each(|at| sums[*at] += x));
        numeric::write(to, &sums);
    } else {
        let mut sums = vec![0i64; n];
        let terms = positions.iter().zip(numeric::read_integers(from));
        terms.for_each(|(at, x)| at.iter().for_each(|at| sums[*at] = sums[*at].wrapping_add(x)));
        numeric::write_integers(to, &sums);
    }
}

/// Calls `source` with every index of `out` in row-major order, and returns the positions that it gives.
pub fn by_index(out: &Shape, mut source: impl FnMut(&[usize]) -> Option<usize>) -> Vec<Option<usize>> {
    let mut positions = Vec::with_capacity(out.n_elements());
    crate::families::indexing::for_each_index(out, |index| positions.push(source(index)));
    positions
}

/// Declares several operators that move elements, each with one input, and the functions that define them.
macro_rules! moves {
    ($($type:ident($params:ident) $name:literal [$($alias:literal),*] [$input:literal] $summary:literal, {
        $($item:item)*
    })*) => {
        $(
            struct $type;

            impl $crate::families::moved::Move for $type {
                type Params = $params;
                const NAME: &'static str = $name;
                const ALIASES: &'static [&'static str] = &[$($alias),*];
                const SUMMARY: &'static str = $summary;
                const BACKWARD: &'static str = concat!("_backward", $name);
                const INPUTS: &'static [&'static str] = &[$input];
                const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", $input];
                $($item)*
            }
        )*

        /// Functions that define the operators.
        pub const DEFINITIONS: &[fn() -> mxrs_op::OpDef] = &[$($crate::families::moved::define::<$type>),*];
    };
}
pub(crate) use moves;
