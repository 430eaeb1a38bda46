//! Kernels that have their own loops, unlike those of `pointwise`, which share one loop. There is one file per family of
//! operators.

mod argmax;
mod batch_norm;
mod broadcast;
mod choose;
mod dropout;
mod fold_weight;
mod gather;
mod half_precision;
mod lrn;
mod moves;
mod narrow_sums;
mod normalized;
mod one_hot;
mod philox;
mod pool_back;
mod prelu;
mod reduce;
mod reduce_back;
mod rows;
mod softmax;
mod softmax_loss;
mod sort;
mod strided;
mod update;

use crate::level::Level;
use crate::plan::Planned;
use mxrs_op::OpCall;
use mxrs_types::DType;

/// Plans a call of a family; `None` for operators of other families.
type Family = for<'a> fn(&OpCall<'a>, Level) -> Option<Planned>;

/// Families that take 16-bit floats without [`half_precision`]: they only copy elements, or widen them themselves.
/// [`fold_weight`] does so because its inputs have two types, which `half_precision` does not support.
const OF_ANY_TYPE: [Family; 10] = [
    |call, _| moves::plan(call),
    strided::plan,
    gather::plan,
    choose::plan,
    |call, _| one_hot::plan(call),
    |call, _| sort::plan(call),
    dropout::plan,
    fold_weight::plan,
    softmax::plan,
    normalized::plan,
];

/// Families that compute in the type of their tensors. For 16-bit floats, [`half_precision`] runs them in `f32`.
const ARITHMETIC: [Family; 10] = [
    prelu::plan,
    strided::plan_sums,
    broadcast::plan,
    reduce::plan,
    reduce_back::plan,
    argmax::plan,
    softmax_loss::plan,
    pool_back::plan,
    batch_norm::plan,
    lrn::plan,
];

/// Plans a call of an operator that is not pointwise.
///
/// # Errors
/// Returns the reason why the call cannot be planned.
pub fn plan(call: &OpCall<'_>, level: Level) -> Planned {
    if let Some(planned) = first(&OF_ANY_TYPE, call, level) {
        return planned;
    }
    let arithmetic = |call: &OpCall<'_>| {
        first(&ARITHMETIC, call, level).unwrap_or_else(|| Err(format!("no kernel for {}", call.op.name)))
    };
    let is_half = |dtype| matches!(dtype, DType::F16 | DType::BF16);
    if call.inputs.iter().chain(call.outputs).any(|desc| is_half(desc.dtype)) {
        return half_precision::plan(call, level, arithmetic);
    }
    arithmetic(call)
}

/// The plan of the first of these families that has the operator.
fn first(families: &[Family], call: &OpCall<'_>, level: Level) -> Option<Planned> {
    families.iter().find_map(|family| family(call, level))
}

/// Plans a call of an operator that updates weights; `None` for others. Callers try this before the
/// pointwise operators, because one of the updates is pointwise.
pub fn plan_update(call: &OpCall<'_>, level: Level) -> Option<Planned> {
    update::plan(call, level)
}

/// Plans a kernel whose sums of 16-bit floats are also 16-bit floats; `None` for calls without such a kernel.
pub fn plan_narrow_sums(call: &OpCall<'_>) -> Option<Planned> {
    narrow_sums::plan(call)
}

/// Evaluates an expression in which `$t` is a type alias for the type of `$dtype`, which may be any dtype with
/// arithmetic except 16-bit floats.
macro_rules! for_number {
    ($call:expr, $dtype:expr, $t:ident => $make:expr) => {
        $crate::number::for_integers!($dtype, $t => $make, other => $crate::kernels::for_float!($call, other, $t => $make))
    };
}

/// Does the same as [`for_number`], but only for `f32` and `f64`.
macro_rules! for_float {
    ($call:expr, $dtype:expr, $t:ident => $make:expr) => {
        $crate::number::for_types!([F32: f32, F64: f64], $dtype, $t => $make,
            other => Err(format!("{} on {other}", $call.op.name)))
    };
}

/// Evaluates an expression in which `$t` is a type alias for the type of `$dtype`, which may be any dtype. The
/// expression may only move and add elements.
macro_rules! for_element {
    ($call:expr, $dtype:expr, $t:ident => $make:expr) => {
        $crate::number::for_types!([F16: ::half::f16, BF16: ::half::bf16, Bool: u8], $dtype, $t => $make,
            other => $crate::kernels::for_number!($call, other, $t => $make))
    };
}
use {for_element, for_float, for_number};

/// Returns three numbers of elements: the product of the sizes before `axis`, the size of `axis`, and the product of the
/// sizes after it.
fn around(shape: &[usize], axis: usize) -> (usize, usize, usize) {
    (shape[..axis].iter().product(), shape[axis], shape[axis + 1..].iter().product())
}
