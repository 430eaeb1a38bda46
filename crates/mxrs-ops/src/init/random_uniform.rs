//! Random numbers uniform between `low` (included) and `high` (excluded). No inputs.
//!
//! Gradient: zero.
//!
//! MXNet: `_random_uniform`, also `random_uniform`, `uniform`. Dtypes: f32 f64 f16 bf16; float32 without the parameter `dtype`.
//! The numbers differ from MXNet's, the distribution does not.

use crate::families::random::{self, Distribution, RandomDtype};
use crate::inference::bad_attribute;
use crate::init::full::ShapeOrNone;
use mxrs_op::{OpDef, RandomCall, Sample, op_params};
use mxrs_types::Result;

op_params! {
    /// Parameters of `_random_uniform`.
    pub struct RandomUniformParams for "_random_uniform" {
        /// Lower bound.
        low: f32 = 0.0,
        /// Upper bound.
        high: f32 = 1.0,
        /// Shape of the output. A size of 0, or an absent shape, is inferred from where the output is used.
        shape: ShapeOrNone = ShapeOrNone(None),
        /// Device, such as `cpu(0)`. The graph decides where nodes run; kernels ignore it.
        ctx: String = String::new(),
        /// Element type of the output.
        dtype: RandomDtype = RandomDtype::None,
    }
}

impl Distribution for RandomUniformParams {
    fn shape(&self) -> &ShapeOrNone {
        &self.shape
    }

    fn dtype(&self) -> RandomDtype {
        self.dtype
    }

    fn check(&self) -> Result<()> {
        if self.high.is_nan() || self.low.is_nan() || self.high < self.low {
            return Err(bad_attribute("_random_uniform", "high", "a number that is not below low", self.high));
        }
        Ok(())
    }

    fn draw(&self, random: RandomCall, index: u64) -> f64 {
        let (low, high) = (f64::from(self.low), f64::from(self.high));
        let [a, b, ..] = random.block(index);
        low + (high - low) * random::uniform([a, b])
    }
}

/// Defines the operator `_random_uniform`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["random_uniform", "uniform"],
        summary: "uniform random numbers",
        samples: || {
            vec![
                Sample::new("matrix", [("shape", "(3, 5)")], &[]),
                Sample::new("parameters", [("shape", "(7,)"), ("low", "-2"), ("high", "3")], &[]),
                Sample::new("half", [("shape", "(2, 3)"), ("dtype", "float16")], &[]),
                Sample::new("double", [("shape", "(4,)"), ("dtype", "float64")], &[]),
            ]
        },
        ..random::define::<RandomUniformParams>("_random_uniform")
    }
}
