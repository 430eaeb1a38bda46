//! ReLU with a slope below 0, elementwise. Where data is positive, `out` is data (times λ for `selu`); elsewhere it is
//! `slope · x` (leaky), `gamma · x` (prelu), `slope · (e^x - 1)` (elu) or `λ α (e^x - 1)` (selu). For `gelu`,
//! `out = x / 2 · (1 + erf(x / √2))` everywhere. Gamma of `prelu` is `[C]` for data `[N, C, …]`, or `[1]`.
//!
//! Gradient: `ograd` times the slope at data; gamma gets the sum of `ograd · x` over its negative elements. At 0 the slope is
//! that of the negative side. MXNet's gradient of `selu` differs where data is negative: it is not the derivative.
//!
//! MXNet: `LeakyReLU`, also `_npx_leaky_relu`. Dtypes: f32 f64 f16 bf16. The random slopes of `rrelu` are not built.

use crate::dtypes::FLOATS;
use crate::families::backward::samples_of;
use crate::families::gradients::{Answers, call_with_params};
use crate::inference::{OP, learn, unify, unify_dtypes};
use crate::numeric;
use mxrs_op::{
    Accuracy, Fill, Gradient, GradientScope, InputNames, OpDef, OpParams, Precision, RefInput, RefOutput, Sample,
    op_enum, op_params,
};
use mxrs_types::{Error, PartialShape, Result, Shape};
use std::f64::consts::FRAC_1_SQRT_2;

op_enum! {
    /// The function.
    pub enum LeakyType {
        Elu = "elu",
        Gelu = "gelu",
        Leaky = "leaky",
        PRelu = "prelu",
        RRelu = "rrelu",
        Selu = "selu",
    }
}

op_params! {
    /// Parameters of `LeakyReLU`.
    pub struct LeakyReluParams for "LeakyReLU" {
        /// The function.
        act_type: LeakyType = LeakyType::Leaky,
        /// Slope of `leaky`, and factor of `elu`.
        slope: f32 = 0.25,
        /// Smallest slope of `rrelu`.
        lower_bound: f32 = 0.125,
        /// Largest slope of `rrelu`.
        upper_bound: f32 = 0.334,
    }
}

/// α of `selu` (Klambauer et al., "Self-normalizing neural networks", 2017).
pub const SELU_ALPHA: f64 = 1.673_263_242_354_377_2;
/// λ of `selu`.
pub const SELU_LAMBDA: f64 = 1.050_700_987_355_480_5;

impl LeakyReluParams {
    fn has_gamma(&self) -> bool {
        self.act_type == LeakyType::PRelu
    }

    /// The output and its slope at `x`; `gamma` is that of the element's channel.
    fn at(&self, x: f64, gamma: f64) -> (f64, f64) {
        let slope = f64::from(self.slope);
        match self.act_type {
            LeakyType::Gelu => {
                let below = 0.5 * (1.0 + libm::erf(x * FRAC_1_SQRT_2));
                let density = (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
                (x * below, below + x * density)
            }
            LeakyType::Selu if x > 0.0 => (SELU_LAMBDA * x, SELU_LAMBDA),
            LeakyType::Selu => (SELU_LAMBDA * SELU_ALPHA * x.exp_m1(), SELU_LAMBDA * SELU_ALPHA * x.exp()),
            _ if x > 0.0 => (x, 1.0),
            LeakyType::Elu => (slope * x.exp_m1(), slope * x.exp()),
            LeakyType::PRelu => (gamma * x, gamma),
            LeakyType::Leaky | LeakyType::RRelu => (slope * x, slope),
        }
    }
}

const BACKWARD: &str = "_backward_LeakyReLU";
const BACKWARD_GAMMA: &str = "_backward_LeakyReLU_gamma";

/// Defines the operator `LeakyReLU`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_npx_leaky_relu"],
        summary: "ReLU with a slope below 0",
        inputs: InputNames::ByParams {
            all: &["data", "gamma"],
            chosen: |params| match params.get::<LeakyReluParams>().has_gamma() {
                true => vec!["data", "gamma"],
                false => vec!["data"],
            },
        },
        infer_shape,
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "gamma"),
        dtypes: FLOATS,
        inplace: &[(0, 0)],
        accuracy: Accuracy::Elementwise,
        precision,
        gradient: Gradient::By(|_, scope| gradient(scope)),
        companions: || vec![backward(), backward_gamma()],
        reference: Some(|params, inputs, outputs, _| {
            let params = params.get::<LeakyReluParams>();
            let gamma = gammas(&inputs[0].desc.shape, inputs.get(1));
            let values = numeric::read(&inputs[0]).into_iter().enumerate().map(|(i, x)| params.at(x, gamma(i)).0);
            numeric::write(&mut outputs[0], &values.collect::<Vec<f64>>());
            Ok(())
        }),
        samples,
        ..OpDef::new("LeakyReLU").params::<LeakyReluParams>()
    }
}

/// `elu` and `selu` compute in float32, as in MXNet. `prelu` needs data and gamma of one type; the other functions take any
/// type.
fn precision(params: &OpParams) -> Precision {
    match params.get::<LeakyReluParams>().act_type {
        LeakyType::Elu | LeakyType::Selu => Precision::Float32,
        LeakyType::PRelu => Precision::Widest,
        LeakyType::Gelu | LeakyType::Leaky | LeakyType::RRelu => Precision::Follows,
    }
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    if params.get::<LeakyReluParams>().act_type == LeakyType::RRelu {
        return Err(Error::not_built("LeakyReLU with act_type rrelu", "random slopes do not exist in this version"));
    }
    unify(&mut inputs[0], &mut outputs[0], "output")?;
    let [data, gamma] = inputs else { return Ok(()) };
    let Some(ndim) = data.ndim() else { return Ok(()) };
    if ndim == 0 {
        return Err(Error::shape(OP, "data", "at least one axis", &*data));
    }
    // A gamma of one element applies to all channels.
    let channels = data.dim(1.min(ndim - 1));
    if gamma.known().is_some_and(|gamma| gamma == Shape::from([1])) {
        return Ok(());
    }
    learn(gamma, &PartialShape::new([channels]), "gamma")
}

/// The element of gamma for each position in data; 0 without gamma.
fn gammas(data: &Shape, gamma: Option<&RefInput<'_>>) -> impl Fn(usize) -> f64 + use<> {
    let values = gamma.map(numeric::read).unwrap_or_default();
    let place = channel(data, values.len());
    move |i| values.get(place(i)).copied().unwrap_or(0.0)
}

/// Returns a function from a position in data to the position of its channel in gamma.
fn channel(data: &Shape, n_gammas: usize) -> impl Fn(usize) -> usize + use<> {
    let axis = 1.min(data.ndim().saturating_sub(1));
    let inner: usize = data.iter().skip(axis + 1).product();
    move |i| if n_gammas > 1 { i / inner % n_gammas } else { 0 }
}

fn gradient(scope: &mut dyn GradientScope) -> Answers {
    let saved: Vec<_> = (0..scope.n_inputs()).map(|i| scope.input(i)).collect();
    let mut answers = vec![Some(call_with_params(scope, BACKWARD, &saved)?)];
    if saved.len() > 1 {
        answers.push(if scope.wants(1) { Some(call_with_params(scope, BACKWARD_GAMMA, &saved)?) } else { None });
    }
    Ok(answers)
}

fn backward() -> OpDef {
    OpDef {
        name: BACKWARD,
        aliases: &[],
        summary: "gradient of LeakyReLU",
        inputs: InputNames::ByParams {
            all: &["ograd", "data", "gamma"],
            chosen: |params| match params.get::<LeakyReluParams>().has_gamma() {
                true => vec!["ograd", "data", "gamma"],
                false => vec!["ograd", "data"],
            },
        },
        infer_shape: |params, inputs, outputs| {
            let [ograd, inputs @ ..] = inputs else { return Ok(()) };
            unify(ograd, &mut outputs[0], "output")?;
            infer_shape(params, inputs, outputs)?;
            unify(ograd, &mut outputs[0], "output")
        },
        gradient: Gradient::Undefined,
        companions: Vec::new,
        reference: Some(|params, inputs, outputs, _| {
            let params = params.get::<LeakyReluParams>();
            let gamma = gammas(&inputs[1].desc.shape, inputs.get(2));
            let (ograd, data) = (numeric::read(&inputs[0]), numeric::read(&inputs[1]));
            let slopes = data.into_iter().zip(ograd).enumerate().map(|(i, (x, g))| g * params.at(x, gamma(i)).1);
            numeric::write(&mut outputs[0], &slopes.collect::<Vec<f64>>());
            Ok(())
        }),
        samples: || backward_samples(false),
        ..define()
    }
}

fn backward_gamma() -> OpDef {
    OpDef {
        name: BACKWARD_GAMMA,
        summary: "gradient of gamma of LeakyReLU",
        inputs: InputNames::Fixed(&["ograd", "data", "gamma"]),
        infer_shape: |params, inputs, outputs| {
            let [ograd, inputs @ ..] = inputs else { return Ok(()) };
            unify(&mut inputs[1], &mut outputs[0], "output")?;
            infer_shape(params, inputs, std::slice::from_mut(ograd))?;
            unify(&mut inputs[1], &mut outputs[0], "output")
        },
        inplace: &[],
        ignored_inputs: &[2],
        accuracy: Accuracy::Reduction,
        reference: Some(|_, inputs, outputs, _| {
            sum_by_channel(inputs, &mut outputs[0]);
            Ok(())
        }),
        samples: || backward_samples(true),
        ..backward()
    }
}

fn sum_by_channel(inputs: &[RefInput<'_>], out: &mut RefOutput<'_>) {
    let mut sums = vec![0.0; out.desc.shape.n_elements()];
    let place = channel(&inputs[1].desc.shape, sums.len());
    let (ograd, data) = (numeric::read(&inputs[0]), numeric::read(&inputs[1]));
    for (i, (g, x)) in ograd.into_iter().zip(data).enumerate().filter(|(_, (_, x))| *x <= 0.0) {
        sums[place(i)] += g * x;
    }
    numeric::write(out, &sums);
}

fn backward_samples(with_gamma: bool) -> Vec<Sample> {
    samples_of(&define(), |sample, outputs| {
        // `prelu_of_one` is left out: the shape of its gamma, which applies to all channels, cannot be inferred from data
        // and ograd.
        let is_chosen = (!with_gamma || sample.inputs.len() > 1) && sample.name != "prelu_of_one";
        is_chosen.then(|| [&outputs[..1], &sample.inputs].concat())
    })
}

fn samples() -> Vec<Sample> {
    let wide = Fill::Uniform(-3.0, 3.0);
    let of =
        |name, act_type, shapes: &[&[usize]]| Sample::new(name, [("act_type", act_type)], shapes).fill(0, wide.clone());
    vec![
        of("leaky", "leaky", &[&[3, 5]]),
        of("elu", "elu", &[&[2, 3, 4]]),
        of("gelu", "gelu", &[&[3, 5]]),
        of("selu", "selu", &[&[7]]),
        of("prelu", "prelu", &[&[2, 3, 4], &[3]]),
        of("prelu_of_images", "prelu", &[&[2, 3, 2, 2], &[3]]),
        of("prelu_of_rows", "prelu", &[&[2, 3], &[3]]),
        of("prelu_of_one", "prelu", &[&[2, 3], &[1]]),
        of("empty", "prelu", &[&[0, 3], &[3]]),
        of("one", "leaky", &[&[1]]),
    ]
}
