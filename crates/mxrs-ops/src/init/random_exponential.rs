//! Random numbers of the exponential distribution with rate `lam`: mean `1 / lam`. No inputs.
//!
//! Gradient: zero.
//!
//! MXNet: `_random_exponential`, also `random_exponential`. Dtypes: f32 f64 f16 bf16; float32 without the parameter `dtype`.
//! The numbers differ from MXNet's, the distribution does not.

use crate::families::random::{self, Distribution, RandomDtype};
use crate::inference::bad_attribute;
use crate::init::full::ShapeOrNone;
use mxrs_op::{OpDef, RandomCall, Sample, op_params};
use mxrs_types::Result;

op_params! {
    /// Parameters of `_random_exponential`.
    pub struct RandomExponentialParams for "_random_exponential" {
        /// Rate.
        lam: f32 = 1.0,
        /// Shape of the output. A size of 0, or an absent shape, is inferred from where the output is used.
        shape: ShapeOrNone = ShapeOrNone(None),
        /// Device, such as `cpu(0)`. The graph decides where nodes run; kernels ignore it.
        ctx: String = String::new(),
        /// Element type of the output.
        dtype: RandomDtype = RandomDtype::None,
    }
}

impl Distribution for RandomExponentialParams {
    fn shape(&self) -> &ShapeOrNone {
        &self.shape
    }

    fn dtype(&self) -> RandomDtype {
        self.dtype
    }

    fn check(&self) -> Result<()> {
        if self.lam.is_nan() || self.lam <= 0.0 {
            return Err(bad_attribute("_random_exponential", "lam", "a positive number", self.lam));
        }
        Ok(())
    }

    fn draw(&self, random: RandomCall, index: u64) -> f64 {
        let [a, b, ..] = random.block(index);
        -(1.0 - random::uniform([a, b])).ln() / f64::from(self.lam)
    }
}

/// Defines the operator `_random_exponential`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["random_exponential"],
        summary: "exponentially distributed random numbers",
        samples: || {
            vec![
                Sample::new("matrix", [("shape", "(3, 5)")], &[]),
                Sample::new("parameters", [("shape", "(7,)"), ("lam", "4")], &[]),
                Sample::new("half", [("shape", "(2, 3)"), ("dtype", "float16")], &[]),
                Sample::new("double", [("shape", "(4,)"), ("dtype", "float64")], &[]),
            ]
        },
        ..random::define::<RandomExponentialParams>("_random_exponential")
    }
}
