//! Random numbers of distributions, in three forms: `_random_<name>` has the parameters and a shape, `_random_<name>_like` the
//! parameters and an array whose shape and type the result has, and `_sample_<name>` an array for each parameter: arrays of shape
//! `[a]` and `shape` (s) give `[a, s]`, with s numbers for each element of the arrays.
//!
//! Gradient: zero.
//!
//! MXNet: the same names. Dtypes: f32 f64 f16 bf16. The numbers differ from MXNet's, the distributions do not.

use crate::dtypes::FLOATS;
use crate::families::draws::{self, Law};
use crate::families::random::{self, Distribution, RandomDtype};
use crate::inference::{bad_attribute, learn, learn_dtype, unify_all, unify_dtypes};
use crate::init::full::ShapeOrNone;
use crate::numeric;
use mxrs_op::param::{Parameters, ShapeAttr};
use mxrs_op::{
    Fill, Gradient, InputNames, OpDef, OpParams, Precision, RandomCall, RefInput, RefOutput, RunMode, Sample, op_params,
};
use mxrs_types::{Error, PartialShape, Result};

/// The parameters of a distribution, given as numbers of the call, with their names.
trait Given: Parameters {
    type Of: Law;
    const NAMES: &'static [&'static str];
    fn numbers(&self) -> [f64; 2];

    fn accept(&self, op: &str) -> Result<()> {
        let numbers = self.numbers();
        Self::Of::accepts(numbers).map_err(|(at, expected)| bad_attribute(op, Self::NAMES[at], expected, numbers[at]))
    }
}

macro_rules! likes {
    ($($params:ident($law:ident) $name:literal { $($(#[doc = $doc:literal])* $field:ident: $type:ty = $default:expr),* };)*) => {
        $(op_params! {
            #[doc = concat!("Parameters of `", $name, "`.")]
            pub struct $params for $name { $($(#[doc = $doc])* $field: $type = $default),* }
        }

        impl Given for $params {
            type Of = draws::$law;
            const NAMES: &'static [&'static str] = &[$(stringify!($field)),*];
            fn numbers(&self) -> [f64; 2] {
                let mut numbers = [0.0; 2];
                numbers.iter_mut().zip([$(f64::from(self.$field)),*]).for_each(|(to, from)| *to = from);
                numbers
            }
        })*

        /// Functions that define the operators whose result is like an array.
        pub const LIKES: &[fn() -> OpDef] = &[$(|| like::<$params>($name)),*];
    };
}

likes! {
    UniformLike(Uniform) "_random_uniform_like" {
        /// Lower bound.
        low: f32 = 0.0,
        /// Upper bound.
        high: f32 = 1.0
    };
    NormalLike(Normal) "_random_normal_like" {
        /// Mean.
        loc: f32 = 0.0,
        /// Standard deviation.
        scale: f32 = 1.0
    };
    ExponentialLike(Exponential) "_random_exponential_like" {
        /// Rate.
        lam: f32 = 1.0
    };
    GammaLike(Gamma) "_random_gamma_like" {
        /// Shape.
        alpha: f32 = 1.0,
        /// Scale.
        beta: f32 = 1.0
    };
    PoissonLike(Poisson) "_random_poisson_like" {
        /// Mean.
        lam: f32 = 1.0
    };
    NegativeBinomialLike(NegativeBinomial) "_random_negative_binomial_like" {
        /// Number of successes.
        k: i32 = 1,
        /// Probability of a success.
        p: f32 = 1.0
    };
    GeneralizedLike(GeneralizedNegativeBinomial) "_random_generalized_negative_binomial_like" {
        /// Mean.
        mu: f32 = 1.0,
        /// Dispersion.
        alpha: f32 = 1.0
    };
}

fn like<G: Given>(name: &'static str) -> OpDef {
    OpDef {
        summary: "random numbers, shaped like data",
        infer_shape: |params, inputs, outputs| {
            params.get::<G>().accept(G::OP)?;
            unify_all(inputs, outputs, "data")
        },
        dtypes: FLOATS,
        ignored_inputs: &[0],
        is_random: |_, _| true,
        gradient: Gradient::Zero,
        reference: Some(|params, _, outputs, mode| {
            let numbers = params.get::<G>().numbers();
            draws::fill(&mut outputs[0], mode, |stream, _| G::Of::draw(stream, numbers))
        }),
        samples: || {
            vec![
                Sample::plain("matrix", &[&[3, 5]]),
                Sample::plain("vector", &[&[7]]),
                Sample::plain("one", &[&[1]]),
                Sample::plain("empty", &[&[0, 3]]),
            ]
        },
        precision_float16: Some(Precision::follows),
        ..OpDef::new(name).params::<G>()
    }
}

macro_rules! plain {
    ($($params:ident($law:ident) $name:literal [$($alias:literal),*]
        { $($(#[doc = $doc:literal])* $field:ident: $type:ty = $default:expr),* };)*) => {
        $(op_params! {
            #[doc = concat!("Parameters of `", $name, "`.")]
            pub struct $params for $name {
                $($(#[doc = $doc])* $field: $type = $default,)*
                /// Shape of the output. A size of 0, or an absent shape, is inferred from where the output is used.
                shape: ShapeOrNone = ShapeOrNone(None),
                /// Device, such as `cpu(0)`. The graph decides where nodes run; kernels ignore it.
                ctx: String = String::new(),
                /// Element type of the output.
                dtype: RandomDtype = RandomDtype::None,
            }
        }

        impl Given for $params {
            type Of = draws::$law;
            const NAMES: &'static [&'static str] = &[$(stringify!($field)),*];
            fn numbers(&self) -> [f64; 2] {
                let mut numbers = [0.0; 2];
                numbers.iter_mut().zip([$(f64::from(self.$field)),*]).for_each(|(to, from)| *to = from);
                numbers
            }
        }

        impl Distribution for $params {
            fn shape(&self) -> &ShapeOrNone {
                &self.shape
            }
            fn dtype(&self) -> RandomDtype {
                self.dtype
            }
            fn check(&self) -> Result<()> {
                self.accept($name)
            }
            fn draw(&self, random: RandomCall, index: u64) -> f64 {
                <draws::$law as Law>::draw(&mut draws::Stream::new(random, index as usize), self.numbers())
            }
        })*

        /// Functions that define the operators with parameters and a shape.
        pub const PLAIN: &[fn() -> OpDef] = &[$(|| OpDef {
            aliases: &[$($alias),*],
            summary: "random numbers of a distribution",
            samples: shapes,
            ..random::define::<$params>($name)
        }),*];
    };
}

plain! {
    RandomGamma(Gamma) "_random_gamma" ["random_gamma"] {
        /// Shape.
        alpha: f32 = 1.0,
        /// Scale.
        beta: f32 = 1.0
    };
    RandomPoisson(Poisson) "_random_poisson" ["random_poisson"] {
        /// Mean.
        lam: f32 = 1.0
    };
    RandomNegativeBinomial(NegativeBinomial) "_random_negative_binomial" ["random_negative_binomial"] {
        /// Number of successes.
        k: i32 = 1,
        /// Probability of a success.
        p: f32 = 1.0
    };
    RandomGeneralized(GeneralizedNegativeBinomial) "_random_generalized_negative_binomial"
        ["random_generalized_negative_binomial"] {
        /// Mean.
        mu: f32 = 1.0,
        /// Dispersion.
        alpha: f32 = 1.0
    };
}

fn shapes() -> Vec<Sample> {
    vec![
        Sample::new("matrix", [("shape", "(3, 5)")], &[]),
        Sample::new("vector", [("shape", "(7,)")], &[]),
        Sample::new("half", [("shape", "(2, 3)"), ("dtype", "float16")], &[]),
        Sample::new("double", [("shape", "(4,)"), ("dtype", "float64")], &[]),
    ]
}

op_params! {
    /// Parameters of `_sample_*`.
    pub struct SampleParams for "_sample_uniform" {
        /// Shape of the numbers for each element of the arrays.
        shape: ShapeAttr = ShapeAttr::default(),
        /// Element type of the output; float32 if it is `None`.
        dtype: RandomDtype = RandomDtype::None,
    }
}

/// An operator whose parameters are arrays.
trait Sampled: 'static {
    type Of: Law;
    const NAME: &'static str;
    const ALIASES: &'static [&'static str];
    const INPUTS: &'static [&'static str];
}

macro_rules! sampled {
    ($($type:ident($law:ident) $name:literal [$alias:literal] [$($input:literal),*];)*) => {
        $(struct $type;

        impl Sampled for $type {
            type Of = draws::$law;
            const NAME: &'static str = $name;
            const ALIASES: &'static [&'static str] = &[$alias];
            const INPUTS: &'static [&'static str] = &[$($input),*];
        })*

        /// Functions that define the operators whose parameters are arrays.
        pub const SAMPLED: &[fn() -> OpDef] = &[$(sampled::<$type>),*];
    };
}

sampled! {
    SampleUniform(Uniform) "_sample_uniform" ["sample_uniform"] ["low", "high"];
    SampleNormal(Normal) "_sample_normal" ["sample_normal"] ["mu", "sigma"];
    SampleExponential(Exponential) "_sample_exponential" ["sample_exponential"] ["lam"];
    SampleGamma(Gamma) "_sample_gamma" ["sample_gamma"] ["alpha", "beta"];
    SamplePoisson(Poisson) "_sample_poisson" ["sample_poisson"] ["lam"];
    SampleNegativeBinomial(NegativeBinomial) "_sample_negative_binomial" ["sample_negative_binomial"] ["k", "p"];
    SampleGeneralized(GeneralizedNegativeBinomial) "_sample_generalized_negative_binomial"
        ["sample_generalized_negative_binomial"] ["mu", "alpha"];
}

/// The sizes of `shape`.
///
/// # Errors
/// Fails if a size is negative.
pub fn sizes(op: &str, shape: &ShapeAttr) -> Result<Vec<Option<usize>>> {
    let size = |size: &i64| usize::try_from(*size).map(Some);
    let sizes: std::result::Result<Vec<_>, _> = shape.iter().map(size).collect();
    sizes.map_err(|_| bad_attribute(op, "shape", "no negative size", shape.to_text()))
}

fn sampled<S: Sampled>() -> OpDef {
    OpDef {
        aliases: S::ALIASES,
        summary: "random numbers for each element of the parameters",
        inputs: InputNames::Fixed(S::INPUTS),
        infer_shape: |params, inputs, outputs| {
            let more = sizes(S::NAME, &params.get::<SampleParams>().shape)?;
            unify_all(inputs, &mut [], "parameters")?;
            let Some(dims) = inputs[0].dims() else { return Ok(()) };
            learn(&mut outputs[0], &PartialShape::new(dims.iter().copied().chain(more)), "output")
        },
        infer_dtype: |params, inputs, outputs| {
            unify_dtypes(inputs.iter_mut(), "parameters")?;
            learn_dtype(&mut outputs[0], params.get::<SampleParams>().dtype.dtype(), "output")
        },
        dtypes: FLOATS,
        is_random: |_, _| true,
        gradient: Gradient::Zero,
        reference: Some(run_sampled::<S>),
        samples: || {
            let of = |name, attrs: &[(&str, &str)], shape: &[usize]| Sample {
                attrs: attrs.iter().copied().collect(),
                ..Sample::plain(name, &vec![shape; S::INPUTS.len()])
            };
            // Every distribution accepts numbers from these ranges as its parameters.
            let fill = |mut sample: Sample| {
                let fills = [Fill::Uniform(0.1, 0.4), Fill::Uniform(0.5, 0.9)];
                sample.inputs.iter_mut().zip(fills).for_each(|(input, fill)| input.fill = fill);
                sample
            };
            vec![
                fill(of("one_each", &[], &[4])),
                fill(of("many", &[("shape", "(2, 3)")], &[2, 2])),
                fill(of("vector", &[("shape", "(5,)")], &[1])),
                of("empty", &[("shape", "(2,)")], &[0]),
            ]
        },
        precision_float16: Some(Precision::follows),
        ..OpDef::new(S::NAME).params::<SampleParams>()
    }
}

fn run_sampled<S: Sampled>(
    _: &OpParams,
    inputs: &[RefInput<'_>],
    outputs: &mut [RefOutput<'_>],
    mode: RunMode,
) -> Result<()> {
    let values: Vec<Vec<f64>> = inputs.iter().map(numeric::read).collect();
    let n = inputs[0].desc.shape.n_elements();
    let per_element = outputs[0].desc.shape.n_elements().checked_div(n).unwrap_or(0);
    let numbers = |i: usize| [values[0][i], values.get(1).map_or(0.0, |second| second[i])];
    for i in 0..n {
        S::Of::accepts(numbers(i)).map_err(|(at, expected)| Error::invalid(S::INPUTS[at], numbers(i)[at], expected))?;
    }
    draws::fill(&mut outputs[0], mode, |stream, at| S::Of::draw(stream, numbers(at / per_element)))
}
