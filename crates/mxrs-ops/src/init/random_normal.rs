//! Random numbers of the normal distribution with mean `loc` and standard deviation `scale`. No inputs.
//!
//! Gradient: zero.
//!
//! MXNet: `_random_normal`, also `normal`, `random_normal`. Dtypes: f32 f64 f16 bf16; float32 without the parameter `dtype`.
//! The numbers differ from MXNet's, the distribution does not.

use crate::families::random::{self, Distribution, RandomDtype};
use crate::inference::bad_attribute;
use crate::init::full::ShapeOrNone;
use mxrs_op::{OpDef, RandomCall, Sample, op_params};
use mxrs_types::Result;

op_params! {
    /// Parameters of `_random_normal`.
    pub struct RandomNormalParams for "_random_normal" {
        /// Mean.
        loc: f32 = 0.0,
        /// Standard deviation.
        scale: f32 = 1.0,
        /// Shape of the output. A size of 0, or an absent shape, is inferred from where the output is used.
        shape: ShapeOrNone = ShapeOrNone(None),
        /// Device, such as `cpu(0)`. The graph decides where nodes run; kernels ignore it.
        ctx: String = String::new(),
        /// Element type of the output.
        dtype: RandomDtype = RandomDtype::None,
    }
}

impl Distribution for RandomNormalParams {
    fn shape(&self) -> &ShapeOrNone {
        &self.shape
    }

    fn dtype(&self) -> RandomDtype {
        self.dtype
    }

    fn check(&self) -> Result<()> {
        if self.scale.is_nan() || self.scale < 0.0 {
            return Err(bad_attribute("_random_normal", "scale", "a number that is not negative", self.scale));
        }
        Ok(())
    }

    fn draw(&self, random: RandomCall, index: u64) -> f64 {
        f64::from(self.loc) + f64::from(self.scale) * random::normal(random.block(index))
    }
}

/// Defines the operator `_random_normal`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["normal", "random_normal"],
        summary: "normally distributed random numbers",
        samples: || {
            vec![
                Sample::new("matrix", [("shape", "(3, 5)")], &[]),
                Sample::new("parameters", [("shape", "(7,)"), ("loc", "2"), ("scale", "0.5")], &[]),
                Sample::new("half", [("shape", "(2, 3)"), ("dtype", "float16")], &[]),
                Sample::new("double", [("shape", "(4,)"), ("dtype", "float64")], &[]),
            ]
        },
        ..random::define::<RandomNormalParams>("_random_normal")
    }
}
