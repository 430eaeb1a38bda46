//! NumPy's functions of two numbers: tensors that broadcast, and a tensor with a scalar. Operands may have different types.
//!
//! The result of two types: the float of a float and an integer or a bool; the wider of two floats; the integer of an integer
//! and a bool. Two different integers are refused, as in MXNet. A scalar that is a fraction makes integers float64.

use crate::dtypes::{FLOATS, MOVABLE, NUMBERS};
use crate::families::broadcast::{self, positions};
use crate::families::gradients::params_of;
use crate::families::twins;
use crate::families::with_scalar::{self, ScalarParams};
use crate::inference::{OP, learn_dtype, unify, unify_dtypes};
use crate::numeric;
use crate::tables::BinaryFn;
use mxrs_op::{
    Accuracy, Fill, Gradient, InputNames, OpDef, OpParams, OutputCount, Pointwise, RefInput, RefOutput, RunMode, Sample,
};
use mxrs_types::{DType, Error, PartialShape, Result};

/// The gradient of an operand, from the gradient of the result and both operands.
type Slope = fn(f64, f64, f64) -> f64;

/// A function of two numbers.
#[derive(Clone, Copy)]
pub struct Two {
    /// Description in one line.
    pub summary: &'static str,
    /// The range of the arguments in samples.
    pub domain: (f64, f64),
    /// The function of floats.
    pub float: fn(f64, f64) -> f64,
    /// The function of integers.
    pub integer: fn(i64, i64) -> i64,
    /// The gradients of the operands, from the gradient of the result and both operands; `None` if they are zero.
    pub slopes: Option<[Slope; 2]>,
}

impl Two {
    /// The function of an entry of `tables/binary.rs`.
    pub const fn of<F: BinaryFn>() -> Self {
        Self {
            summary: F::SUMMARY,
            domain: F::DOMAIN,
            float: F::value::<f64>,
            integer: F::integer,
            slopes: if F::HAS_GRADIENT { Some([F::by_lhs::<f64>, F::by_rhs::<f64>]) } else { None },
        }
    }
}

/// Which types a function takes, and which it gives.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Types {
    /// Operands of different types give their common type.
    Common,
    /// As [`Self::Common`], but integers and bools give float32.
    Float,
    /// Operands have one type, and the result is a bool.
    Bool,
    /// Operands and result have one type, a float.
    OneFloat,
    /// Operands and result have one type.
    One,
    /// Operands and result have one type, an integer or a bool.
    OneInteger,
}

const INTEGERS: &[DType] = &[DType::I32, DType::U8, DType::I8, DType::I64, DType::Bool];

impl Types {
    const fn dtypes(self) -> &'static [DType] {
        match self {
            Self::Common | Self::One => NUMBERS,
            Self::Float | Self::Bool => MOVABLE,
            Self::OneFloat => FLOATS,
            Self::OneInteger => INTEGERS,
        }
    }

    /// Whether operands and result have one type.
    const fn is_one(self) -> bool {
        matches!(self, Self::One | Self::OneFloat | Self::OneInteger)
    }

    /// The type of the result of two tensors.
    fn of_tensors(self, lhs: DType, rhs: DType) -> Result<DType> {
        let wrong = || Error::dtype(OP, "rhs", format!("a type that goes with {}", lhs.name()), rhs.name());
        match self {
            Self::Common => common(lhs, rhs).ok_or_else(wrong),
            Self::Float => {
                let common = common(lhs, rhs).ok_or_else(wrong)?;
                Ok(if common.is_float() { common } else { DType::F32 })
            }
            _ if lhs != rhs => Err(Error::dtype(OP, "rhs", lhs.name(), rhs.name())),
            Self::Bool => Ok(DType::Bool),
            _ => Ok(lhs),
        }
    }

    /// The type of the result of a tensor and a scalar.
    fn of_scalar(self, data: DType, params: &ScalarParams) -> DType {
        match self {
            Self::Bool => DType::Bool,
            Self::OneInteger => data,
            _ if data.is_float() => data,
            Self::Float => DType::F32,
            _ if !params.is_int => DType::F64,
            _ if data == DType::Bool => DType::I64,
            _ => data,
        }
    }
}

/// The common type of two operands, if there is one.
fn common(a: DType, b: DType) -> Option<DType> {
    match (a.is_float(), b.is_float()) {
        _ if a == b => Some(a),
        (true, false) => Some(a),
        (false, true) => Some(b),
        (false, false) if a == DType::Bool => Some(b),
        (false, false) if b == DType::Bool => Some(a),
        (false, false) => None,
        // float16 and bfloat16 have no common type, because neither holds all numbers of the other.
        (true, true) if a.size_of() == b.size_of() => None,
        (true, true) => Some(if a.size_of() > b.size_of() { a } else { b }),
    }
}

/// An operator of two tensors.
pub trait Pair: Sized + 'static {
    /// MXNet's name.
    const NAME: &'static str;
    /// Names of the inputs.
    const INPUTS: &'static [&'static str];
    /// The function.
    const TWO: Two;
    /// The types.
    const TYPES: Types;
    /// Name of the operator that computes the gradients.
    const BACKWARD: &'static str;
}

/// Defines the operator of two tensors.
pub fn define<P: Pair>() -> OpDef {
    OpDef {
        summary: P::TWO.summary,
        inputs: InputNames::Fixed(P::INPUTS),
        inplace: &[],
        infer_dtype: |_, inputs, outputs| {
            let [lhs, rhs] = inputs else { return Ok(()) };
            if P::TYPES.is_one() {
                unify_dtypes(inputs.iter_mut().chain(outputs), "rhs")
            } else {
                // An operand of unknown type has that of the other one.
                let both = lhs.or(*rhs);
                (*lhs, *rhs) = (lhs.or(both), rhs.or(both));
                let (Some(a), Some(b)) = (*lhs, *rhs) else { return Ok(()) };
                learn_dtype(&mut outputs[0], P::TYPES.of_tensors(a, b)?, "output")
            }
        },
        dtypes: P::TYPES.dtypes(),
        gradient: match P::TWO.slopes {
            None => Gradient::Zero,
            Some(_) => Gradient::By(|_, scope| {
                let (head, lhs, rhs) = (scope.out_grad(0)?, scope.input(0), scope.input(1));
                let made = scope.call(P::BACKWARD, params_of(scope), &[head, lhs, rhs])?;
                Ok(made.into_iter().map(Some).collect())
            }),
        },
        companions: || if P::TWO.slopes.is_some() { vec![backward::<P>()] } else { Vec::new() },
        same_as: Some(twins::of_pair),
        reference: Some(|_, inputs, outputs, _| {
            let at = [0, 1].map(|i| positions(&inputs[i].desc.shape, &outputs[0].desc.shape));
            let pairs = at[0].iter().zip(&at[1]);
            if is_of_floats::<P>(inputs, outputs) {
                let [a, b] = [0, 1].map(|i| numeric::read(&inputs[i]));
                let out: Vec<f64> = pairs.map(|(l, r)| (P::TWO.float)(a[*l], b[*r])).collect();
                numeric::write(&mut outputs[0], &out);
            } else {
                let [a, b] = [0, 1].map(|i| numeric::read_integers(&inputs[i]));
                let out: Vec<i64> = pairs.map(|(l, r)| (P::TWO.integer)(a[*l], b[*r])).collect();
                numeric::write_integers(&mut outputs[0], &out);
            }
            Ok(())
        }),
        samples: samples::<P>,
        ..broadcast::define(P::NAME)
    }
}

fn is_of_floats<P: Pair>(inputs: &[RefInput<'_>], outputs: &[RefOutput<'_>]) -> bool {
    P::TYPES == Types::Float
        || outputs[0].desc.dtype.is_float()
        || inputs.iter().any(|input| input.desc.dtype.is_float())
}

fn samples<P: Pair>() -> Vec<Sample> {
    let mut samples = (broadcast::define(P::NAME).samples)();
    for input in samples.iter_mut().flat_map(|sample| &mut sample.inputs) {
        input.fill = Fill::Uniform(P::TWO.domain.0, P::TWO.domain.1);
    }
    samples
}

fn backward<P: Pair>() -> OpDef {
    OpDef {
        summary: "gradients of a function of two tensors",
        inputs: InputNames::Fixed(&["ograd", "lhs", "rhs"]),
        n_outputs: OutputCount::Fixed(2),
        n_visible: OutputCount::Fixed(2),
        output_names: &["lhs", "rhs"],
        infer_shape: |params, inputs, outputs| {
            let ([ograd, lhs, rhs], [to_lhs, to_rhs]) = (inputs, outputs) else { return Ok(()) };
            let forward = broadcast::define(P::NAME).infer_shape;
            let mut shared = |sides: &mut [PartialShape; 2]| {
                unify(&mut sides[0], to_lhs, "lhs")?;
                unify(&mut sides[1], to_rhs, "rhs")
            };
            let mut sides = [lhs.clone(), rhs.clone()];
            shared(&mut sides)?;
            forward(params, &mut sides, std::slice::from_mut(ograd))?;
            shared(&mut sides)?;
            [*lhs, *rhs] = sides;
            Ok(())
        },
        infer_dtype: |_, inputs, outputs| {
            let ([ograd, lhs, rhs], [to_lhs, to_rhs]) = (inputs, outputs) else { return Ok(()) };
            if lhs.is_none() && rhs.is_none() && to_lhs.is_none() && to_rhs.is_none() {
                (*lhs, *rhs) = (*ograd, *ograd);
            }
            unify_dtypes([&mut *lhs, to_lhs], "lhs")?;
            unify_dtypes([&mut *rhs, to_rhs], "rhs")?;
            match (*lhs, *rhs) {
                (Some(a), Some(b)) => learn_dtype(ograd, P::TYPES.of_tensors(a, b)?, "ograd"),
                _ => Ok(()),
            }
        },
        // Integers have no gradients.
        dtypes: FLOATS,
        accuracy: Accuracy::Reduction,
        reference: Some(run_backward::<P>),
        samples: || {
            crate::families::backward::samples_of(&define::<P>(), |sample, outputs| {
                Some([&outputs[..1], &sample.inputs].concat())
            })
        },
        ..OpDef::new(P::BACKWARD)
    }
}

fn run_backward<P: Pair>(
    _: &OpParams,
    inputs: &[RefInput<'_>],
    outputs: &mut [RefOutput<'_>],
    _: RunMode,
) -> Result<()> {
    let Some(slopes) = P::TWO.slopes else { return Ok(()) };
    let [ograd, a, b] = [0, 1, 2].map(|i| numeric::read(&inputs[i]));
    let at = [1, 2].map(|i| positions(&inputs[i].desc.shape, &inputs[0].desc.shape));
    for side in [0, 1] {
        let mut sums = vec![0.0; outputs[side].desc.shape.n_elements()];
        for (i, g) in ograd.iter().enumerate() {
            sums[at[side][i]] += slopes[side](*g, a[at[0][i]], b[at[1][i]]);
        }
        numeric::write(&mut outputs[side], &sums);
    }
    Ok(())
}

/// An operator of a tensor and a scalar.
pub trait WithScalar: Sized + 'static {
    /// MXNet's name.
    const NAME: &'static str;
    /// The function.
    const TWO: Two;
    /// The types.
    const TYPES: Types;
    /// Whether the scalar is the left operand.
    const IS_REVERSED: bool;
    /// Name of the operator that computes the gradient.
    const BACKWARD: &'static str;
}

/// Defines the operator of a tensor and a scalar.
pub fn define_scalar<S: WithScalar>() -> OpDef {
    OpDef {
        summary: S::TWO.summary,
        inplace: &[],
        pointwise: Pointwise::No,
        infer_dtype: |params, inputs, outputs| {
            let params: &ScalarParams = params.get();
            if let (None, Some(out)) = (inputs[0], outputs[0])
                && out.is_float()
                && params.is_int
                && S::TYPES != Types::Float
            {
                inputs[0] = Some(out);
            }
            let Some(data) = inputs[0] else { return Ok(()) };
            learn_dtype(&mut outputs[0], S::TYPES.of_scalar(data, params), "output")
        },
        dtypes: match S::TYPES {
            Types::Common => MOVABLE,
            types => types.dtypes(),
        },
        gradient: match S::TWO.slopes {
            None => Gradient::Zero,
            Some(_) => Gradient::By(|_, scope| crate::families::gradients::from_input(scope, S::BACKWARD)),
        },
        companions: || if S::TWO.slopes.is_some() { vec![backward_of_scalar::<S>()] } else { Vec::new() },
        same_as: Some(twins::of_scalar),
        reference: Some(|params, inputs, outputs, _| {
            let (params, data, out) = (params.get::<ScalarParams>(), inputs[0].desc.dtype, outputs[0].desc.dtype);
            let is_of_floats = data.is_float() || out.is_float() || !(params.is_int || S::TYPES == Types::OneInteger);
            if is_of_floats {
                let scalar = if data.is_float() { numeric::rounded_to(data, params.scalar) } else { params.scalar };
                let function =
                    |x: f64| if S::IS_REVERSED { (S::TWO.float)(scalar, x) } else { (S::TWO.float)(x, scalar) };
                let values: Vec<f64> = numeric::read(&inputs[0]).into_iter().map(function).collect();
                numeric::write(&mut outputs[0], &values);
            } else {
                let scalar = params.scalar as i64;
                let function =
                    |x: i64| if S::IS_REVERSED { (S::TWO.integer)(scalar, x) } else { (S::TWO.integer)(x, scalar) };
                let values: Vec<i64> = numeric::read_integers(&inputs[0]).into_iter().map(function).collect();
                numeric::write_integers(&mut outputs[0], &values);
            }
            Ok(())
        }),
        ..with_scalar::define(S::NAME)
    }
}

fn backward_of_scalar<S: WithScalar>() -> OpDef {
    OpDef {
        inplace: &[],
        pointwise: Pointwise::No,
        summary: "gradient of a function of a tensor and a scalar",
        dtypes: FLOATS,
        reference: Some(|params, inputs, outputs, _| {
            let [by_lhs, by_rhs] = S::TWO.slopes.unwrap_or([|_, _, _| 0.0; 2]);
            with_scalar::apply_backward(params, inputs, outputs, |g, x, s| {
                if S::IS_REVERSED { by_rhs(g, s, x) } else { by_lhs(g, x, s) }
            });
            Ok(())
        }),
        ..with_scalar::define_backward(S::BACKWARD)
    }
}
