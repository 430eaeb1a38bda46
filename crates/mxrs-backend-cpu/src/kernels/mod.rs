//! Kernels with loops of their own, one file per family.

mod argmax;
mod broadcast;
mod dropout;
mod fold_weight;
mod moves;
mod philox;
mod reduce;
mod reduce_back;
mod rows;
mod short;
mod softmax;
mod softmax_loss;
mod transpose;
mod update;

use crate::level::Level;
use crate::plan::Planned;
use mxrs_op::OpCall;
use mxrs_types::DType;

/// Plans a call of an operator that is not pointwise.
///
/// # Errors
/// Why it cannot be planned.
pub fn plan(call: &OpCall<'_>, level: Level) -> Planned {
    if let Some(planned) = moves::plan(call).or_else(|| transpose::plan(call)).or_else(|| dropout::plan(call, level)) {
        return planned;
    }
    // Before what widens all inputs alike: its inputs are of two types.
    if let Some(planned) = fold_weight::plan(call, level) {
        return planned;
    }
    let is_short = |dtype| matches!(dtype, DType::F16 | DType::BF16);
    if call.inputs.iter().chain(call.outputs).any(|desc| is_short(desc.dtype)) {
        return short::plan(call, |wide| arithmetic(wide, level));
    }
    arithmetic(call, level)
}

/// Plans a call of an operator that updates weights; `None` for others. Asked before whether an operator is pointwise: one
/// of them is.
pub fn plan_update(call: &OpCall<'_>, level: Level) -> Option<Planned> {
    update::plan(call, level)
}

/// Kernels that compute in the type of their tensors.
fn arithmetic(call: &OpCall<'_>, level: Level) -> Planned {
    let families = [broadcast::plan, reduce::plan, reduce_back::plan, argmax::plan, softmax::plan, softmax_loss::plan];
    let found = families.iter().find_map(|family| family(call, level));
    found.unwrap_or_else(|| Err(format!("no kernel for {}", call.op.name)))
}

/// An expression with the type alias given, for a type with arithmetic that is not of 16 bits.
macro_rules! for_number {
    ($call:expr, $dtype:expr, $t:ident => $make:expr) => {
        $crate::number::for_integers!($dtype, $t => $make, other => $crate::kernels::for_float!($call, other, $t => $make))
    };
}

/// As [`for_number`], for floats only.
macro_rules! for_float {
    ($call:expr, $dtype:expr, $t:ident => $make:expr) => {
        $crate::number::for_types!([F32: f32, F64: f64], $dtype, $t => $make,
            other => Err(format!("{} on {other}", $call.op.name)))
    };
}

/// An expression with the type alias given, for any type that is only moved and added.
macro_rules! for_element {
    ($call:expr, $dtype:expr, $t:ident => $make:expr) => {
        $crate::number::for_types!([F16: ::half::f16, BF16: ::half::bf16, Bool: u8], $dtype, $t => $make,
            other => $crate::kernels::for_number!($call, other, $t => $make))
    };
}
use {for_element, for_float, for_number};

/// The sizes of a tensor around one of its axes: the product before, its own, the product after.
fn around(shape: &[usize], axis: usize) -> (usize, usize, usize) {
    (shape[..axis].iter().product(), shape[axis], shape[axis + 1..].iter().product())
}
