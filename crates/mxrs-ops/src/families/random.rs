//! Operators that draw random numbers of one distribution. Element `i` of the output uses block `i` of the call's random
//! numbers, so the bits do not depend on the number of threads. They are not MXNet's bits: only the distribution is the same.

use crate::dtypes::FLOATS;
use crate::families::filled::learn_shape;
use crate::inference::learn_dtype;
use crate::init::full::ShapeOrNone;
use crate::numeric;
use mxrs_op::param::Choice;
use mxrs_op::{Gradient, InputNames, OpDef, OpParams, Parameters, RandomCall, RefOutput, RunMode, op_enum};
use mxrs_types::{DType, Error, PartialShape, Result};

op_enum! {
    /// Element type of random numbers; `None` is float32.
    pub enum RandomDtype { None = "None", F16 = "float16", F32 = "float32", F64 = "float64" }
}

impl RandomDtype {
    /// The element type that the word names.
    pub fn dtype(self) -> DType {
        if self == Self::None { DType::F32 } else { self.to_word().parse().unwrap_or_default() }
    }
}

/// A distribution together with its parameters and the shape and type of the output.
pub trait Distribution: Parameters {
    /// The shape of the output.
    fn shape(&self) -> &ShapeOrNone;
    /// The element type of the output.
    fn dtype(&self) -> RandomDtype;
    /// Refuses parameters that the distribution cannot have.
    fn check(&self) -> Result<()>;
    /// Draws the number for element `index` of the output.
    fn draw(&self, random: RandomCall, index: u64) -> f64;
}

/// Defines an operator whose parameters are a distribution. The caller adds aliases, summary and samples.
pub fn define<D: Distribution>(name: &'static str) -> OpDef {
    OpDef {
        inputs: InputNames::Fixed(&[]),
        infer_shape: |params: &OpParams, _: &mut [PartialShape], outputs: &mut [PartialShape]| {
            let params: &D = params.get();
            params.check()?;
            learn_shape(params.shape().0.as_deref().unwrap_or(&[]), &mut outputs[0])
        },
        infer_dtype: |params, _, outputs| {
            // Without the parameter `dtype`, an output of a known float type, such as a given array, keeps its type.
            match params.get::<D>().dtype() {
                RandomDtype::None if outputs[0].is_some_and(DType::is_float) => Ok(()),
                dtype => learn_dtype(&mut outputs[0], dtype.dtype(), "output"),
            }
        },
        dtypes: FLOATS,
        is_random: |_, _| true,
        gradient: Gradient::Zero,
        reference: Some(|params, _, outputs, mode| fill::<D>(params.get(), &mut outputs[0], mode)),
        ..OpDef::new(name).params::<D>()
    }
}

fn fill<D: Distribution>(params: &D, output: &mut RefOutput<'_>, mode: RunMode) -> Result<()> {
    let random = mode.random.ok_or_else(|| Error::invalid("random numbers", "none", "a seed and a number"))?;
    let values: Vec<f64> = (0..output.desc.shape.n_elements() as u64).map(|i| params.draw(random, i)).collect();
    numeric::write(output, &values);
    Ok(())
}

/// A number from the uniform distribution on [0, 1), with 53 random bits taken from two random 32-bit words.
pub fn uniform([high, low]: [u32; 2]) -> f64 {
    let bits = (u64::from(high) << 21) ^ u64::from(low >> 11);
    bits as f64 * (1.0 / 9_007_199_254_740_992.0)
}

/// A number of the normal distribution with mean 0 and variance 1, computed from four random words (Box and Muller).
pub fn normal([a, b, c, d]: [u32; 4]) -> f64 {
    let radius = (-2.0 * (1.0 - uniform([a, b])).ln()).sqrt();
    radius * (std::f64::consts::TAU * uniform([c, d])).cos()
}
