//! `out = data`, in another storage type. Arrays are dense, so only the type `default` is built.
//!
//! Gradient: `ograd`.
//!
//! MXNet: `cast_storage`, also `_sparse_cast_storage`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::elemwise::copy;
use crate::families::dots::StorageWord;
use crate::inference::unify_all;
use mxrs_op::{Attrs, OpDef, Sample, op_params};
use mxrs_types::Error;

op_params! {
    /// Parameters of `cast_storage`.
    pub struct CastStorageParams for "cast_storage" {
        /// Storage type of the output. Only `default`, dense, is built.
        stype: StorageWord,
    }
}

/// Defines the operator `cast_storage`.
pub fn define() -> OpDef {
    let copy = copy::define();
    OpDef {
        name: "cast_storage",
        aliases: &["_sparse_cast_storage"],
        summary: "out = data, in another storage type",
        infer_shape: |params, inputs, outputs| {
            if params.get::<CastStorageParams>().stype != StorageWord::Default {
                return Err(Error::not_built("cast_storage to a sparse storage type", "arrays are dense"));
            }
            unify_all(inputs, outputs, "output")
        },
        samples: || {
            let with_stype = |sample| Sample { attrs: Attrs::from([("stype", "default")]), ..sample };
            (copy::define().samples)().into_iter().map(with_stype).collect()
        },
        ..copy.params::<CastStorageParams>()
    }
}
