//! In which type operators compute in mixed precision: MXNet's lists for bfloat16 (`contrib/amp/lists/symbol_bf16.py`), of
//! the operators that are built here. What is in none of them computes in float32.
//!
//! One difference: operators that only move elements, and `Dropout`, compute in what they get, as in MXNet's lists for
//! float16. Its kernels for them lacked bfloat16; ours have it, and widened elements would be rounded back to the same
//! ones by the next product.

use crate::nn::activation::{ActType, ActivationParams};
use mxrs_op::{OpDef, OpParams, Precision};

/// `BF16_FUNCS`.
const SHORT: &[&str] = &["Convolution", "FullyConnected"];

/// `BF16_FP32_FUNCS`.
const FOLLOWS: &[&str] = &["BatchNorm", "Concat", "LRN", "Pooling", "abs", "clip", "relu", "sqrt", "square", "tanh"];

/// What moves elements or drops them.
const MOVES: &[&str] = &["Dropout", "Flatten", "Reshape", "_copy", "expand_dims", "slice_axis", "squeeze", "transpose"];

/// `WIDEST_TYPE_CASTS`.
const WIDEST: &[&str] = &[
    "add_n",
    "broadcast_add",
    "broadcast_div",
    "broadcast_sub",
    "elemwise_add",
    "elemwise_div",
    "elemwise_mul",
    "elemwise_sub",
];

/// `CONDITIONAL_FP32_FUNCS`: all functions but softrelu.
fn of_activation(params: &OpParams) -> Precision {
    match params.get::<ActivationParams>().act_type {
        ActType::SoftRelu => Precision::Float32,
        _ => Precision::Follows,
    }
}

/// The operator with what the lists say.
pub fn with_precision(op: OpDef) -> OpDef {
    let has = |list: &[&str]| list.contains(&op.name);
    let precision: fn(&OpParams) -> Precision = match op.name {
        "Activation" => of_activation,
        _ if has(SHORT) => Precision::short,
        _ if has(FOLLOWS) || has(MOVES) => Precision::follows,
        _ if has(WIDEST) => Precision::widest,
        _ => return op,
    };
    OpDef { precision, ..op }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_op::Attrs;

    #[test]
    fn every_listed_operator_is_built() {
        let ops = crate::catalogue();
        for name in [SHORT, FOLLOWS, MOVES, WIDEST].concat() {
            let op = ops.find(name).unwrap_or_else(|| panic!("{name}"));
            assert_eq!(op.name, name, "a canonical name");
        }
    }

    #[test]
    fn an_activation_depends_on_its_function() {
        let op = crate::catalogue().get("Activation").unwrap().clone();
        let precision = |word| (op.precision)(&op.parse(&Attrs::from([("act_type", word)])).unwrap());
        assert_eq!(precision("relu"), Precision::Follows);
        assert_eq!(precision("softrelu"), Precision::Float32);
    }
}
