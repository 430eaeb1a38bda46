//! Random integers, uniform from `low` up to but not including `high`. No inputs.
//!
//! Gradient: zero.
//!
//! MXNet: `_random_randint`, also `_npi_random_randint`, `random_randint`. Dtypes: i32 i64; int32 without the parameter `dtype`.
//! The numbers differ from MXNet's, the distribution does not.

use crate::families::filled::learn_shape;
use crate::inference::{bad_attribute, learn_dtype};
use crate::init::full::ShapeOrNone;
use crate::numeric;
use mxrs_op::{Gradient, InputNames, OpDef, Sample, op_enum, op_params};
use mxrs_types::{DType, Error};

op_enum! {
    /// Element type of random integers; `None` is int32.
    pub enum RandintDtype { None = "None", I32 = "int32", I64 = "int64" }
}

op_params! {
    /// Parameters of `_random_randint`.
    pub struct RandintParams for "_random_randint" {
        /// Smallest number.
        low: i64,
        /// The end, which is not included.
        high: i64,
        /// Shape of the output. A size of 0, or an absent shape, is inferred from where the output is used.
        shape: ShapeOrNone = ShapeOrNone(None),
        /// Device, such as `cpu(0)`. The graph decides where nodes run; kernels ignore it.
        ctx: String = String::new(),
        /// Element type of the output.
        dtype: RandintDtype = RandintDtype::None,
    }
}

/// Defines the operator `_random_randint`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_npi_random_randint", "random_randint"],
        summary: "uniform random integers",
        inputs: InputNames::Fixed(&[]),
        infer_shape: |params, _, outputs| {
            let params: &RandintParams = params.get();
            if params.high <= params.low {
                return Err(bad_attribute("_random_randint", "high", "a number above low", params.high));
            }
            learn_shape(params.shape.0.as_deref().unwrap_or(&[]), &mut outputs[0])
        },
        infer_dtype: |params, _, outputs| match params.get::<RandintParams>().dtype {
            RandintDtype::None if outputs[0] == Some(DType::I64) => Ok(()),
            RandintDtype::I64 => learn_dtype(&mut outputs[0], DType::I64, "output"),
            _ => learn_dtype(&mut outputs[0], DType::I32, "output"),
        },
        dtypes: &[DType::I32, DType::I64],
        is_random: |_, _| true,
        gradient: Gradient::Zero,
        reference: Some(|params, _, outputs, mode| {
            let params: &RandintParams = params.get();
            let random = mode.random.ok_or_else(|| Error::invalid("random numbers", "none", "a seed and a number"))?;
            let count = params.high.wrapping_sub(params.low) as u64;
            let draw = |i: u64| {
                let [a, b, ..] = random.block(i);
                // The high half of a product of 64 bits is uniform up to a relative error of count / 2^64.
                let product = u128::from(u64::from(a) << 32 | u64::from(b)) * u128::from(count);
                params.low.wrapping_add((product >> 64) as i64)
            };
            let values: Vec<i64> = (0..outputs[0].desc.shape.n_elements() as u64).map(draw).collect();
            numeric::write_integers(&mut outputs[0], &values);
            Ok(())
        }),
        samples: || {
            let range = [("low", "-3"), ("high", "7")];
            vec![
                Sample::new("matrix", [range[0], range[1], ("shape", "(3, 5)")], &[]),
                Sample::new("vector", [range[0], range[1], ("shape", "(7,)")], &[]),
                Sample::new("one", [("low", "5"), ("high", "6"), ("shape", "(2,)")], &[]),
                Sample::new("long", [range[0], range[1], ("shape", "(4,)"), ("dtype", "int64")], &[]),
            ]
        },
        ..OpDef::new("_random_randint").params::<RandintParams>()
    }
}
