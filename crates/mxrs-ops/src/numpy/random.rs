//! NumPy's random numbers. Each parameter is a number, or, if it is `None`, a tensor input; tensors broadcast to `size`, or decide
//! the shape together if there is no size. In `_npi_uniform_n` and `_npi_normal_n`, `size` comes before the axes of the tensors.
//!
//! Gradient: of tensors of the location and the scale, if the result is location + scale · noise, with the noise as a hidden output.
//! All others are zero. Dtypes: float32, or the parameter `dtype`; tensors f32 f64 f16 bf16. Only the numbers differ from MXNet's.

use crate::dtypes::{FLOATS, FloatWord, dtype_of};
use crate::families::broadcast::{positions, whole_shape};
use crate::families::broadcast_back;
use crate::families::draws::{self, Stream};
use crate::inference::{OP, bad_attribute, learn, learn_dtype, unify, unify_dtypes};
use crate::numeric;
use mxrs_op::param::{Parameters, ShapeAttr};
use mxrs_op::{
    Accuracy, Fill, Gradient, GradientScope, InputNames, OpDef, OpParams, OutputCount, RefInput, RefOutput, RunMode,
    Sample, op_params,
};
use mxrs_types::{DType, Error, PartialShape, Result};

/// A distribution with one or two parameters, each a number or a tensor.
trait Drawn: Parameters {
    /// Names of the parameters.
    const NAMES: &'static [&'static str];
    /// Whether the result is location + scale · noise, or scale · noise with one parameter.
    const IS_SCALED: bool;
    /// Whether the noise is a hidden output.
    const HAS_NOISE: bool;
    /// Whether `size` comes before the axes of the tensors.
    const IS_BEFORE: bool;
    /// The parameters; `None` for tensors.
    fn numbers(&self) -> Vec<Option<f32>>;
    fn size(&self) -> Option<&ShapeAttr>;
    fn dtype(&self) -> DType;
    /// Whether a parameter of the distribution may have this value.
    fn accepts(which: usize, value: f64) -> bool;
    /// Draws the noise of the scaled distributions, or the result.
    fn draw(stream: &mut Stream, params: [f64; 2]) -> f64;
}

const INPUTS: &[&str] = &["input1", "input2"];

fn n_tensors<D: Drawn>(params: &OpParams) -> usize {
    params.get::<D>().numbers().iter().filter(|number| number.is_none()).count()
}

fn define<D: Drawn>(name: &'static str) -> OpDef {
    OpDef {
        summary: "random numbers of a distribution",
        inputs: InputNames::ByParams {
            all: &INPUTS[..D::NAMES.len()],
            chosen: |params| INPUTS[..n_tensors::<D>(params)].to_vec(),
        },
        n_outputs: OutputCount::Fixed(if D::HAS_NOISE { 2 } else { 1 }),
        output_names: &["output", "noise"],
        infer_shape: infer_shape::<D>,
        infer_dtype: |params, inputs, outputs| {
            let dtype = params.get::<D>().dtype();
            inputs.iter_mut().for_each(|input| *input = input.or(Some(dtype)));
            outputs.iter_mut().try_for_each(|output| learn_dtype(output, dtype, "output"))
        },
        dtypes: FLOATS,
        is_random: |_, _| true,
        gradient: if D::IS_SCALED { Gradient::By(gradient::<D>) } else { Gradient::Zero },
        reference: Some(run::<D>),
        samples: samples::<D>,
        ..OpDef::new(name).params::<D>()
    }
}

fn infer_shape<D: Drawn>(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let params: &D = params.get();
    for (which, number) in params.numbers().into_iter().enumerate() {
        if let Some(number) = number.filter(|number| !D::accepts(which, f64::from(*number))) {
            return Err(bad_attribute(D::OP, D::NAMES[which], "a parameter of the distribution", number));
        }
    }
    let size = match params.size() {
        None => None,
        Some(size) => Some(crate::random::laws::sizes(D::OP, size)?),
    };
    // The shape to which the tensors broadcast.
    let mut together = Some(Vec::new());
    for input in inputs.iter() {
        let (Some(all), Some(dims)) = (together, input.known()) else {
            together = None;
            break;
        };
        together = Some(
            whole_shape(&all, &dims)
                .ok_or_else(|| Error::shape(OP, "input2", format!("a shape that broadcasts with {all:?}"), &dims))?,
        );
    }
    let out = match (size, together) {
        (Some(size), None) if !D::IS_BEFORE => PartialShape::new(size),
        (Some(size), Some(all)) if !D::IS_BEFORE => {
            let known: Option<Vec<usize>> = size.iter().copied().collect();
            if known.as_ref().is_some_and(|known| whole_shape(known, &all).as_ref() != Some(known)) {
                return Err(Error::shape(
                    OP,
                    "size",
                    format!("a shape to which {all:?} broadcasts"),
                    format!("{known:?}"),
                ));
            }
            PartialShape::new(size)
        }
        (size, Some(all)) => PartialShape::new(size.unwrap_or_default().into_iter().chain(all.into_iter().map(Some))),
        (_, None) => return Ok(()),
    };
    outputs.iter_mut().try_for_each(|output| learn(output, &out, "output"))
}

fn run<D: Drawn>(
    params: &OpParams,
    inputs: &[RefInput<'_>],
    outputs: &mut [RefOutput<'_>],
    mode: RunMode,
) -> Result<()> {
    let shape = outputs[0].desc.shape.clone();
    let mut tensors = inputs.iter().map(|input| (numeric::read(input), positions(&input.desc.shape, &shape)));
    let sources: Vec<_> = params
        .get::<D>()
        .numbers()
        .into_iter()
        .map(|number| match number {
            Some(number) => Ok((vec![f64::from(number)], vec![0; shape.n_elements()])),
            None => tensors.next().ok_or_else(|| Error::invalid("inputs", inputs.len(), "one for each parameter None")),
        })
        .collect::<Result<_>>()?;
    let at = |which: usize, i: usize| sources.get(which).map_or(0.0, |(values, positions)| values[positions[i]]);
    for (which, name) in D::NAMES.iter().enumerate() {
        if let Some(i) = (0..shape.n_elements()).find(|i| !D::accepts(which, at(which, *i))) {
            return Err(Error::invalid(*name, at(which, i), "a parameter of the distribution"));
        }
    }
    let mut noise = vec![0.0; shape.n_elements()];
    let is_scaled = D::IS_SCALED;
    draws::fill(&mut outputs[0], mode, |stream, i| {
        noise[i] = D::draw(stream, [at(0, i), at(1, i)]);
        match (is_scaled, D::NAMES.len()) {
            (false, _) => noise[i],
            (true, 1) => at(0, i) * noise[i],
            (true, _) => at(0, i) + at(1, i) * noise[i],
        }
    })?;
    outputs[1..].iter_mut().for_each(|output| numeric::write(output, &noise));
    Ok(())
}

fn gradient<D: Drawn>(params: &OpParams, scope: &mut dyn GradientScope) -> crate::families::gradients::Answers {
    let mut answers = Vec::new();
    for (which, number) in params.get::<D>().numbers().into_iter().enumerate() {
        if number.is_some() {
            continue;
        }
        let (head, tensor) = (scope.out_grad(0)?, scope.input(answers.len()));
        let is_scale = which + 1 == D::NAMES.len();
        answers.push(Some(if is_scale {
            let noise = scope.output(1);
            scope.call_one(SCALE, &[head, tensor, noise])?
        } else {
            scope.call_one(LOCATION, &[head, tensor])?
        }));
    }
    Ok(answers)
}

const LOCATION: &str = "_backward_npi_location";
const SCALE: &str = "_backward_npi_scale";

/// Defines the operators of the gradients of a location, from (ograd, data), and of a scale, from (ograd, data, noise). Of data,
/// only the shape and the type matter.
pub fn companions() -> [OpDef; 2] {
    [backward(LOCATION, &["ograd", "data"]), backward(SCALE, &["ograd", "data", "noise"])]
}

fn backward(name: &'static str, inputs: &'static [&'static str]) -> OpDef {
    OpDef {
        summary: "gradient of a parameter of random numbers",
        inputs: InputNames::Fixed(inputs),
        infer_shape: |params, inputs, outputs| {
            let (of_sum, noise) = inputs.split_at_mut(2);
            noise.iter_mut().try_for_each(|noise| unify(&mut of_sum[0], noise, "noise"))?;
            (broadcast_back::sum_like().infer_shape)(params, of_sum, outputs)?;
            noise.iter_mut().try_for_each(|noise| unify(&mut of_sum[0], noise, "noise"))
        },
        infer_dtype: |_, inputs, outputs| {
            let [ograd, data, noise @ ..] = inputs else { return Ok(()) };
            noise.iter_mut().try_for_each(|noise| unify_dtypes([&mut *ograd, noise], "noise"))?;
            *data = data.or(outputs[0]).or(*ograd);
            unify_dtypes([data, &mut outputs[0]], "data")
        },
        dtypes: FLOATS,
        ignored_inputs: &[1],
        accuracy: Accuracy::Reduction,
        reference: Some(|_, inputs, outputs, _| {
            let ograd = numeric::read(&inputs[0]);
            let noise = inputs.get(2).map(numeric::read);
            let to = positions(&outputs[0].desc.shape, &inputs[0].desc.shape);
            let mut sums = vec![0.0; outputs[0].desc.shape.n_elements()];
            for (i, (g, to)) in ograd.iter().zip(to).enumerate() {
                sums[to] += g * noise.as_ref().map_or(1.0, |noise| noise[i]);
            }
            numeric::write(&mut outputs[0], &sums);
            Ok(())
        }),
        samples: match inputs.len() {
            2 => || (broadcast_back::sum_like().samples)(),
            _ => || {
                let with_noise = |mut sample: Sample| {
                    sample.inputs.push(sample.inputs[0].clone());
                    sample
                };
                (broadcast_back::sum_like().samples)().into_iter().map(with_noise).collect()
            },
        },
        ..OpDef::new(name)
    }
}

fn samples<D: Drawn>() -> Vec<Sample> {
    let of = |name, numbers: [&'static str; 2], size: Option<&'static str>, shapes: &[&[usize]]| {
        let mut sample = Sample::plain(name, shapes);
        for (name, number) in D::NAMES.iter().copied().zip(numbers).chain(size.map(|size| ("size", size))) {
            sample.attrs.set(name, number);
        }
        sample.inputs.iter_mut().for_each(|input| input.fill = Fill::Uniform(0.5, 0.9));
        sample
    };
    let n = D::NAMES.len();
    let tensors: Vec<&[usize]> = vec![&[2, 3]; n];
    let empty: Vec<&[usize]> = vec![&[0, 3]; n];
    vec![
        of("numbers", ["0.5", "0.75"], Some("(3, 4)"), &[]),
        of("tensors", ["None", "None"], None, &tensors),
        of("one", ["None", "0.9"], Some(if D::IS_BEFORE { "(2,)" } else { "(2, 3)" }), &[&[3]]),
        of("scalar", ["0.5", "0.75"], None, &[]),
        of("empty", ["None", "None"], None, &empty),
    ]
}

macro_rules! distributions {
    ($($params:ident $name:literal { $($(#[doc = $doc:literal])* $field:ident $(= $default:expr)?),* } $(dtype $dtype:ident)?
        scaled $scaled:literal noise $noise:literal before $before:literal
        accepts |$which:pat_param, $value:ident| $accepts:expr, |$stream:ident, $given:pat_param| $draw:expr;)*) => {
        $(op_params! {
            #[doc = concat!("Parameters of `", $name, "`.")]
            pub struct $params for $name {
                $($(#[doc = $doc])* $field: Option<f32> $(= $default)?,)*
                /// Shape of the output; that of the tensors if absent.
                size: Option<ShapeAttr> = None,
                /// Device, such as `cpu(0)`. The graph decides where nodes run; kernels ignore it.
                ctx: String = "cpu".into(),
                $(/// Element type of the output.
                $dtype: FloatWord = FloatWord::F32,)?
            }
        }

        impl Drawn for $params {
            const NAMES: &'static [&'static str] = &[$(stringify!($field)),*];
            const IS_SCALED: bool = $scaled;
            const HAS_NOISE: bool = $noise;
            const IS_BEFORE: bool = $before;
            fn numbers(&self) -> Vec<Option<f32>> {
                vec![$(self.$field),*]
            }
            fn size(&self) -> Option<&ShapeAttr> {
                self.size.as_ref()
            }
            fn dtype(&self) -> DType {
                let given: Option<FloatWord> = None;
                $(let given = given.or(Some(self.$dtype));)?
                given.map_or(DType::F32, dtype_of)
            }
            fn accepts($which: usize, $value: f64) -> bool {
                $accepts
            }
            fn draw($stream: &mut Stream, $given: [f64; 2]) -> f64 {
                $draw
            }
        })*

        /// Functions that define the operators.
        pub const DEFINITIONS: &[fn() -> OpDef] = &[$(|| define::<$params>($name)),*];
    };
}

distributions! {
    UniformParams "_npi_uniform" {
        /// Lower bound.
        low,
        /// Upper bound.
        high
    } dtype dtype scaled false noise false before false
        accepts |_, _value| true, |stream, [low, high]| low + (high - low) * stream.uniform();
    UniformNParams "_npi_uniform_n" {
        /// Lower bound.
        low,
        /// Upper bound.
        high
    } dtype dtype scaled false noise false before true
        accepts |_, _value| true, |stream, [low, high]| low + (high - low) * stream.uniform();
    NormalParams "_npi_normal" {
        /// Mean.
        loc,
        /// Standard deviation.
        scale
    } dtype dtype scaled true noise true before false
        accepts |which, value| which == 0 || value >= 0.0, |stream, _| stream.normal();
    NormalNParams "_npi_normal_n" {
        /// Mean.
        loc,
        /// Standard deviation.
        scale
    } dtype dtype scaled true noise true before true
        accepts |which, value| which == 0 || value >= 0.0, |stream, _| stream.normal();
    GammaParams "_npi_gamma" {
        /// Shape of the distribution.
        shape,
        /// Scale.
        scale
    } dtype dtype scaled false noise false before false
        accepts |_, value| value > 0.0, |stream, [shape, scale]| scale * stream.gamma(shape);
    GumbelParams "_npi_gumbel" {
        /// Location.
        loc,
        /// Scale.
        scale
    } scaled true noise true before false
        accepts |which, value| which == 0 || value >= 0.0, |stream, _| -stream.exponential().ln();
    LogisticParams "_npi_logistic" {
        /// Location.
        loc,
        /// Scale.
        scale
    } scaled true noise true before false
        accepts |which, value| which == 0 || value >= 0.0, |stream, _| {
            let u = stream.uniform();
            (u / (1.0 - u)).ln()
        };
    ExponentialParams "_npi_exponential" {
        /// Mean.
        scale = Some(1.0)
    } scaled true noise true before false
        accepts |_, value| value >= 0.0, |stream, _| stream.exponential();
    RayleighParams "_npi_rayleigh" {
        /// Scale.
        scale = Some(1.0)
    } scaled true noise true before false
        accepts |_, value| value >= 0.0, |stream, _| (2.0 * stream.exponential()).sqrt();
    ParetoParams "_npi_pareto" {
        /// Shape of the distribution.
        a = None
    } scaled false noise true before false
        accepts |_, value| value > 0.0, |stream, [a, _]| (stream.exponential() / a).exp_m1();
    WeibullParams "_npi_weibull" {
        /// Shape of the distribution.
        a = None
    } scaled false noise true before false
        accepts |_, value| value > 0.0, |stream, [a, _]| stream.exponential().powf(1.0 / a);
}

op_params! {
    /// Parameters of `_npi_powerd`.
    pub struct PowerParams for "_npi_powerd" {
        /// Exponent of the distribution function.
        a: Option<f32> = None,
        /// Shape of the output; that of the tensor if absent.
        size: Option<ShapeAttr> = None,
    }
}

impl Drawn for PowerParams {
    const NAMES: &'static [&'static str] = &["a"];
    const IS_SCALED: bool = false;
    const HAS_NOISE: bool = false;
    const IS_BEFORE: bool = false;
    fn numbers(&self) -> Vec<Option<f32>> {
        vec![self.a]
    }
    fn size(&self) -> Option<&ShapeAttr> {
        self.size.as_ref()
    }
    fn dtype(&self) -> DType {
        DType::F32
    }
    fn accepts(_: usize, value: f64) -> bool {
        value > 0.0
    }
    fn draw(stream: &mut Stream, [a, _]: [f64; 2]) -> f64 {
        (1.0 - stream.uniform()).powf(1.0 / a)
    }
}

/// Defines the operator `_npi_powerd`: numbers from 0 to 1 with the distribution function `x^a`.
pub fn powerd() -> OpDef {
    define::<PowerParams>("_npi_powerd")
}
