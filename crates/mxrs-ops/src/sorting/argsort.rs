//! The places of the elements along an axis in sorted order; of the flattened data if `axis` is absent, which gives `[n]`. Equal
//! elements keep their order.
//!
//! Gradient: 0.
//!
//! MXNet: `argsort`, also `_npi_argsort`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64; out as `dtype` says.

use super::sort::infer_shape;
use crate::dtypes::{NUMBERS, dtype_of};
use crate::families::sorted::{Axis, ranks};
use crate::inference::learn_dtype;
use crate::numeric;
use mxrs_op::{Gradient, OpDef, Sample, op_enum, op_params};

op_enum! {
    /// Element type of places.
    pub enum PlaceDtype {
        U8 = "uint8",
        I32 = "int32",
        I64 = "int64",
        F16 = "float16",
        F32 = "float32",
        F64 = "float64",
    }
}

op_params! {
    /// Parameters of `argsort`.
    pub struct ArgsortParams for "argsort" {
        /// Axis along which to sort; the flattened data if absent.
        axis: Option<i32> = Some(-1),
        /// Whether the smallest element comes first.
        is_ascend: bool = true,
        /// Element type of the output.
        dtype: PlaceDtype = PlaceDtype::F32,
    }
}

/// Defines the operator `argsort`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_npi_argsort"],
        summary: "places of the elements in sorted order",
        infer_shape: |params, inputs, outputs| {
            infer_shape(params.get::<ArgsortParams>().axis, &mut inputs[0], &mut outputs[0])
        },
        infer_dtype: |params, _, outputs| {
            learn_dtype(&mut outputs[0], dtype_of(params.get::<ArgsortParams>().dtype), "output")
        },
        dtypes: NUMBERS,
        gradient: Gradient::Zero,
        reference: Some(|params, inputs, outputs, _| {
            let params: &ArgsortParams = params.get();
            let axis = Axis::of(&inputs[0].desc.shape, params.axis)?;
            let mut out = vec![0.0; outputs[0].desc.shape.n_elements()];
            for (line, places) in ranks(&inputs[0], axis, params.is_ascend).into_iter().enumerate() {
                for (rank, place) in places.into_iter().enumerate() {
                    out[axis.position(line, rank, axis.size)] = place as f64;
                }
            }
            numeric::write(&mut outputs[0], &out);
            Ok(())
        }),
        samples: || {
            vec![
                Sample::plain("rows", &[&[3, 5]]),
                Sample::new("columns", [("axis", "0"), ("is_ascend", "False")], &[&[4, 3]]),
                Sample::new("flat", [("axis", "None"), ("dtype", "int32")], &[&[2, 3]]),
                Sample::plain("empty", &[&[0, 3]]),
            ]
        },
        ..OpDef::new("argsort").params::<ArgsortParams>()
    }
}
