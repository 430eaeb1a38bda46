//! Changes of the colors of an image `[h, w, c]` with one or three channels, by random numbers or by given ones:
//!
//! - `_image_random_brightness` multiplies elements by a factor, uniform from `min_factor` to `max_factor`;
//!   `_image_random_contrast` their distances from the mean brightness, `_image_random_saturation` those from a gray;
//!   `_image_random_hue` turns the hue by such a part of the circle of colors;
//! - `_image_random_color_jitter` does these four in random order: the first three with factors from `1 - x` to `1 + x`, where `x` is
//!   the parameter, the last one by `-x` to `x`. A change whose parameter is not positive is left out;
//! - `_image_adjust_lighting` moves all pixels by three numbers, along the main directions of the colors of photographs;
//!   `_image_random_lighting` draws these numbers from a normal distribution.
//!
//! A call draws its numbers once, for the whole image. They are not MXNet's numbers: only the distributions are the same. Images with
//! one channel keep their elements, except with new brightness or contrast, and results without any change are copies; MXNet leaves
//! some of these results unset. `families/colors.rs` has the arithmetic.
//!
//! Gradient: `ograd`, passed on as it is, as in MXNet.
//!
//! MXNet: also `_npx__image_random_brightness` and so on. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::dtypes::NUMBERS;
use crate::families::colors::{self, Step};
use crate::families::draws::Stream;
use crate::families::gradients;
use crate::inference::{OP, bad_attribute, require_ndim, unify};
use mxrs_op::param::Floats;
use mxrs_op::{
    Accuracy, Fill, Gradient, OpDef, OpParams, Parameters, Precision, RandomCall, RefInput, RefOutput, RunMode, Sample,
    op_params,
};
use mxrs_types::{Error, PartialShape, Result};

op_params! {
    /// Parameters of `_image_random_brightness`, `_image_random_contrast`, `_image_random_saturation` and `_image_random_hue`.
    pub struct FactorParams for "_image_random_brightness" {
        /// Smallest factor.
        min_factor: f32,
        /// Largest factor.
        max_factor: f32,
    }
}

op_params! {
    /// Parameters of `_image_random_color_jitter`.
    pub struct JitterParams for "_image_random_color_jitter" {
        /// Largest change of the brightness.
        brightness: f32,
        /// Largest change of the contrast.
        contrast: f32,
        /// Largest change of the saturation.
        saturation: f32,
        /// Largest turn of the hue.
        hue: f32,
    }
}

op_params! {
    /// Parameters of `_image_adjust_lighting`.
    pub struct AdjustLightingParams for "_image_adjust_lighting" {
        /// How far the pixels move in each direction: three numbers.
        alpha: Floats,
    }
}

op_params! {
    /// Parameters of `_image_random_lighting`.
    pub struct RandomLightingParams for "_image_random_lighting" {
        /// Standard deviation of how far the pixels move in each direction.
        alpha_std: f32 = 0.05,
    }
}

/// Parameters of a change.
trait Settings: Parameters {
    /// Refuses impossible values.
    fn check(&self) -> Result<()>;
    /// Attributes of the samples.
    fn attrs() -> &'static [(&'static str, &'static str)];
}

impl FactorParams {
    fn draw(&self, draws: &mut Stream) -> f32 {
        between(draws, self.min_factor, self.max_factor)
    }
}

impl Settings for FactorParams {
    fn check(&self) -> Result<()> {
        // NaN is in none of the ranges.
        if !(0.0..=f32::MAX).contains(&self.min_factor) {
            return Err(bad_attribute(Self::OP, "min_factor", "a finite number that is not negative", self.min_factor));
        }
        if !(self.min_factor..=f32::MAX).contains(&self.max_factor) {
            return Err(bad_attribute(Self::OP, "max_factor", "a finite number from min_factor on", self.max_factor));
        }
        Ok(())
    }

    fn attrs() -> &'static [(&'static str, &'static str)] {
        &[("min_factor", "0.2"), ("max_factor", "0.7")]
    }
}

impl JitterParams {
    fn amounts(&self) -> [(&'static str, f32); 4] {
        let Self { brightness, contrast, saturation, hue } = *self;
        [("brightness", brightness), ("contrast", contrast), ("saturation", saturation), ("hue", hue)]
    }

    fn draw(&self, draws: &mut Stream) -> Vec<Step> {
        let kinds: [fn(f32) -> Step; 4] =
            [|x| Step::Brightness(1.0 + x), |x| Step::Contrast(1.0 + x), |x| Step::Saturation(1.0 + x), Step::Hue];
        let mut steps = Vec::new();
        for ((_, amount), kind) in self.amounts().into_iter().zip(kinds) {
            if amount > 0.0 {
                steps.push(kind(between(draws, -amount, amount)));
            }
        }
        for i in (1..steps.len()).rev() {
            steps.swap(i, (draws.uniform() * (i + 1) as f64) as usize);
        }
        steps
    }
}

impl Settings for JitterParams {
    fn check(&self) -> Result<()> {
        match self.amounts().into_iter().find(|(_, amount)| !amount.is_finite()) {
            Some((name, amount)) => Err(bad_attribute(Self::OP, name, "a finite number", amount)),
            None => Ok(()),
        }
    }

    fn attrs() -> &'static [(&'static str, &'static str)] {
        &[("brightness", "0.4"), ("contrast", "0.3"), ("saturation", "0.5"), ("hue", "0.1")]
    }
}

impl AdjustLightingParams {
    /// The first three numbers. MXNet ignores further ones.
    fn first(&self) -> Result<[f32; 3]> {
        match *self.alpha.0.as_slice() {
            [a, b, c, ..] if [a, b, c].iter().all(|x| x.is_finite()) => Ok([a, b, c]),
            _ => Err(bad_attribute(Self::OP, "alpha", "three finite numbers", format!("{:?}", self.alpha.0))),
        }
    }
}

impl Settings for AdjustLightingParams {
    fn check(&self) -> Result<()> {
        self.first().map(drop)
    }

    fn attrs() -> &'static [(&'static str, &'static str)] {
        &[("alpha", "(0.1, -0.2, 0.3)")]
    }
}

impl Settings for RandomLightingParams {
    fn check(&self) -> Result<()> {
        match (0.0..=f32::MAX).contains(&self.alpha_std) {
            true => Ok(()),
            false => Err(bad_attribute(Self::OP, "alpha_std", "a finite number that is not negative", self.alpha_std)),
        }
    }

    fn attrs() -> &'static [(&'static str, &'static str)] {
        &[("alpha_std", "0.5")]
    }
}

/// A number uniform between these two.
fn between(draws: &mut Stream, low: f32, high: f32) -> f32 {
    (f64::from(low) + (f64::from(high) - f64::from(low)) * draws.uniform()) as f32
}

/// Infers the shapes of an image with one or three channels, and of a result of the same shape.
pub(super) fn infer_image(inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    require_ndim(&mut inputs[0], 3, "data")?;
    unify(&mut inputs[0], &mut outputs[0], "output")?;
    match inputs[0].dim(2) {
        None | Some(1 | 3) => Ok(()),
        Some(_) => Err(Error::shape(OP, "data", "an image [h, w, c] with one or three channels", &inputs[0])),
    }
}

/// An operator that changes colors.
trait Change: 'static {
    type Params: Settings;
    const NAME: &'static str;
    const ALIASES: &'static [&'static str];
    const SUMMARY: &'static str;
    const IS_RANDOM: bool;

    /// The changes of a call, in their order.
    fn steps(params: &Self::Params, draws: &mut Stream) -> Result<Vec<Step>>;
}

fn define<C: Change>() -> OpDef {
    OpDef {
        aliases: C::ALIASES,
        summary: C::SUMMARY,
        infer_shape: |params, inputs, outputs| {
            params.get::<C::Params>().check()?;
            infer_image(inputs, outputs)
        },
        dtypes: NUMBERS,
        inplace: &[(0, 0)],
        is_random: |_, _| C::IS_RANDOM,
        gradient: Gradient::By(gradients::pass_to_all),
        precision_float16: Some(Precision::follows),
        accuracy: Accuracy::Reduction,
        reference: Some(run::<C>),
        samples: samples::<C>,
        ..OpDef::new(C::NAME).params::<C::Params>()
    }
}

fn run<C: Change>(
    params: &OpParams,
    inputs: &[RefInput<'_>],
    outputs: &mut [RefOutput<'_>],
    mode: RunMode,
) -> Result<()> {
    let random = match mode.random {
        Some(random) => random,
        // No number is drawn.
        None if !C::IS_RANDOM => RandomCall { seed: 0, number: 0 },
        None => return Err(Error::invalid("random numbers", "none", "a seed and a number")),
    };
    colors::apply(C::steps(params.get(), &mut Stream::new(random, 0))?, inputs, outputs);
    Ok(())
}

fn samples<C: Change>() -> Vec<Sample> {
    let of = |name, shape: &[usize]| Sample {
        attrs: C::Params::attrs().iter().copied().collect(),
        ..Sample::plain(name, &[shape]).fill(0, Fill::Uniform(0.0, 25.0))
    };
    vec![of("picture", &[4, 5, 3]), of("gray", &[3, 4, 1]), of("pixel", &[1, 1, 3]), of("empty", &[0, 4, 3])]
}

macro_rules! changes {
    ($($type:ident($params:ident) $name:literal $summary:literal, random: $is_random:literal,
        |$given:ident, $draws:ident| $steps:expr;)*) => {
        $(
            struct $type;

            impl Change for $type {
                type Params = $params;
                const NAME: &'static str = $name;
                const ALIASES: &'static [&'static str] = &[concat!("_npx_", $name)];
                const SUMMARY: &'static str = $summary;
                const IS_RANDOM: bool = $is_random;

                fn steps($given: &$params, $draws: &mut Stream) -> Result<Vec<Step>> {
                    Ok($steps)
                }
            }
        )*

        /// Functions that define the operators.
        pub const DEFINITIONS: &[fn() -> OpDef] = &[$(define::<$type>),*];
    };
}

changes! {
    Brightness(FactorParams) "_image_random_brightness" "an image with a random brightness", random: true,
        |params, draws| vec![Step::Brightness(params.draw(draws))];
    Contrast(FactorParams) "_image_random_contrast" "an image with a random contrast", random: true,
        |params, draws| vec![Step::Contrast(params.draw(draws))];
    Saturation(FactorParams) "_image_random_saturation" "an image with a random saturation", random: true,
        |params, draws| vec![Step::Saturation(params.draw(draws))];
    Hue(FactorParams) "_image_random_hue" "an image whose hue is turned at random", random: true,
        |params, draws| vec![Step::Hue(params.draw(draws))];
    Jitter(JitterParams) "_image_random_color_jitter" "an image with random brightness, contrast, saturation and hue", random: true,
        |params, draws| params.draw(draws);
    Adjusted(AdjustLightingParams) "_image_adjust_lighting" "an image with another lighting", random: false,
        |params, _draws| vec![Step::Lighting(params.first()?)];
    Lighting(RandomLightingParams) "_image_random_lighting" "an image with a random lighting", random: true,
        |params, draws| {
            vec![Step::Lighting([(); 3].map(|()| (draws.normal() * f64::from(params.alpha_std)) as f32))]
        };
}
